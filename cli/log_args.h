/* What solve, evaluate, gaps and certify share: the settings of a log, its model and the solver, and how a log is
 * loaded. */
#ifndef PESS_CLI_LOG_ARGS_H
#define PESS_CLI_LOG_ARGS_H

#include "log_source.h"

typedef struct log_args {
    pess_solve_options solve;
    pess_model_options model;
    log_source source;
    const char *start; /* for pess_problem_read */
    option_list options;
} log_args;

/* Defaults and the shared options but those of the solver named in `except`; a command adds its own after them. */
void log_args_begin(log_args *args, const char *except);
/* Refuses options that `reads` knows nobody to read. Returns -1 to go on or an exit code. */
int log_args_check(const log_args *args, const char *command_name, const char *whom,
                   bool (*reads)(const void *context, const char *setting), const void *context);

/* A log, ready to solve. */
typedef struct loaded_log {
    pess_counts *own;      /* NULL: they are the problem's */
    pess_problem *problem; /* NULL: it is another's */
    const pess_counts *counts;
    const pess_model *model;
    const double *start; /* [S] */
    const pess_names *state_names, *action_names;
    pess_counts_info info;
} loaded_log;

pess_status loaded_log_read(const char *path, const char *command_name, log_args *args, loaded_log *out,
                            pess_error *error);
pess_status loaded_log_create(const pess_dataset *data, int threads, const pess_model_options *model, const char *start,
                              loaded_log *out, pess_error *error);
/* Takes the counts over, also where it fails. */
pess_status loaded_log_of_counts(pess_counts *counts, const pess_model_options *model, const char *start,
                                 loaded_log *out, pess_error *error);
/* The same of a log that several processes share. */
pess_status loaded_log_together(const char *path, log_source *source, const pess_model_options *model,
                                const char *start, loaded_log *out, pess_error *error);
void loaded_log_borrow(const pess_problem *problem, loaded_log *out);
void loaded_log_free(loaded_log *log);

/* --policy FILE and --unknown, for a log: a policy that may lack states of it. */
typedef struct log_policy {
    const char *path; /* NULL: none is given */
    int unknown;      /* pess_unknown */
    pess_policy_fit fit;
} log_policy;

void log_policy_options(option_list *list, log_policy *policy, const char *help);
/* -1 to go on, or an exit code: --unknown without a policy. */
int log_policy_check(const option_list *list, const log_policy *policy, const char *command_name);
pess_status log_policy_read(log_policy *policy, const loaded_log *log, int64_t horizon, pess_policy **out,
                            pess_error *error);
/* What was done where file and log do not fit, as "  - …" lines. */
void log_policy_print(FILE *out, const log_policy *policy);

/* The name, or the number in `buffer`. */
enum { NAME_SIZE = 24 };
const char *name_of(const pess_names *names, int64_t id, char buffer[NAME_SIZE]);

#endif
