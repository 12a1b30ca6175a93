/* The model options that solve, evaluate and their relatives share, and what they load. */
#ifndef PESS_CLI_MODEL_ARGS_H
#define PESS_CLI_MODEL_ARGS_H

#include "command.h"

typedef struct model_args {
    pess_solve_options solve;
    pess_model_options model;
    const char *algorithm, *uncertainty;
    double alpha, absorbed_alpha, reward_range[2];
    bool algorithm_given, uncertainty_given, alpha_given, absorbed_given, reward_given, iid;
    int64_t states, actions, threads;
    const char *start; /* NULL: the log's episode starts where it has an episode column, else uniform */
    int unseen, method, evaluation, clip;
} model_args;

enum { MODEL_OPTION_COUNT = 24, ASSUMPTION_LIMIT = 12 };

model_args model_args_defaults(void);
/* Fills rows[0…MODEL_OPTION_COUNT-1]; a command adds its own after them. */
void model_args_options(model_args *args, option *rows);

/* A log, ready to solve: what pess_solve takes, and in words what it rests on. */
typedef struct loaded_log {
    pess_counts *counts;
    pess_counts_info info;
    pess_model *model;
    double *start; /* [S] */
    char assumptions[ASSUMPTION_LIMIT][400];
    int assumption_count;
} loaded_log;

/* Turns the parsed words into options (checks that need no data); returns -1 to go on or an exit code. */
int model_args_settle(model_args *args, const char *command_name);
/* Whether α is in absorbed units where neither flag says so: only for the defaults whose theory units say nothing. */
void model_args_settle_alpha(model_args *args);
pess_status loaded_log_read(const char *path, const model_args *args, loaded_log *out, pess_error *error);
void loaded_log_free(loaded_log *log);

#endif
