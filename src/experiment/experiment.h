/* Experiments: one file per experiment, one row in the table of experiment.c. An experiment says what one trial
 * computes; running many on all cores, keeping finished ones, resuming and summing up are the same for all. */
#ifndef PESS_EXPERIMENT_EXPERIMENT_H
#define PESS_EXPERIMENT_EXPERIMENT_H

#include "core/status.h"

/* A point of a curve, and which of a trial's values it is. */
typedef struct pess__column {
    char algorithm[80];
    double x;
    int64_t value, optimal; /* index into a trial's values: its own, and the optimal policy's */
    double epsilon;
    int64_t transitions;
    double alpha_theory;
} pess__column;

typedef struct pess__experiment_kind {
    pess_experiment_info info;
    int64_t block; /* trials computed together */
    /* Checks and resolves experiment->options, sets value_count and columns, and leaves what blocks need in context. */
    pess_status (*prepare)(pess_experiment *experiment, pess_error *error);
    /* A thread's own room. */
    pess_status (*room_create)(const pess_experiment *experiment, void **out, pess_error *error);
    void (*room_destroy)(void *room);
    /* Values of trials first … first+count-1 to out[trial][value]; they depend on the settings and the trial alone. */
    pess_status (*run)(const pess_experiment *experiment, void *room, int64_t first, int64_t count, double *out,
                       pess_error *error);
    /* After the last trial: the predictions. */
    pess_status (*judge)(pess_experiment *experiment, pess_error *error);
    void (*release)(pess_experiment *experiment); /* frees context */
} pess__experiment_kind;

struct pess_experiment {
    const pess__experiment_kind *kind;
    pess_experiment_options options; /* resolved; its strings are owned */
    char *algorithms, *checkpoint;
    char description[1600];
    int64_t block;
    int64_t value_count; /* values of a trial */
    int64_t column_count, column_room;
    pess__column *columns;         /* curve after curve */
    double *values;                /* [trials*value_count] */
    pess_experiment_point *points; /* [column_count] */
    int64_t prediction_count;
    pess_prediction *predictions;
    double seconds;
    void *context;
};

pess_status pess__experiment_add_column(pess_experiment *experiment, const pess__column *column, pess_error *error);
/* The list of algorithms as it is shown and compared, built name by name. */
pess_status pess__experiment_list_algorithm(pess_experiment *experiment, bool first, const char *name,
                                            pess_error *error);
/* A text that holds every setting that the trials' values depend on, and nothing else. */
void pess__experiment_signature(const pess_experiment *experiment, char *out, size_t size);
/* Mean and 95 % half-width over trials of value b − value a; b < 0: of a alone. */
void pess__experiment_summary(const pess_experiment *experiment, int64_t a, int64_t b, double *mean, double *ci95);
/* A row of the list of predictions. */
pess_prediction *pess__experiment_predict(pess_experiment *experiment, const char *algorithm, const char *claim,
                                          const char *reason, pess_error *error);

extern const pess__experiment_kind pess__experiment_bandit, pess__experiment_gridworld_exploration,
    pess__experiment_gridworld_data, pess__experiment_gridworld_alpha;

#endif
