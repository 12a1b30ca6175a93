/* The engine of experiments whose trials take milliseconds: blocks of trials on all cores, finished trials in a
 * checkpoint, and curves that are means of the trials' values. A row of the table brings a pess__trial_kind. */
#ifndef PESS_EXPERIMENT_TRIALS_H
#define PESS_EXPERIMENT_TRIALS_H

#include "experiment/checkpoint.h"
#include "experiment/executor.h"
#include "experiment/experiment.h"

/* A point of a curve, and which of a trial's values it is. */
typedef struct pess__column {
    char algorithm[80];
    double x;
    int64_t value, optimal; /* index into a trial's values: its own, and the optimal policy's */
    double epsilon;         /* of the policy that collected the data; NAN: there is none */
    int64_t transitions;    /* in the dataset */
    double alpha_theory;    /* x in the theory's units; NAN: x is no α */
} pess__column;

typedef struct pess__trials pess__trials;

typedef struct pess__trial_kind {
    int64_t block; /* trials computed together */
    /* Checks and resolves the options, sets value_count and columns, describes what is run, and leaves what blocks need
     * in context. */
    pess_status (*prepare)(pess__trials *trials, pess_error *error);
    /* A thread's own memory. */
    pess_status (*workspace_create)(const pess__trials *trials, void **out, pess_error *error);
    void (*workspace_destroy)(void *workspace);
    /* Values of trials first … first+count-1 to out[trial][value]; they depend on the settings and the trial alone. */
    pess_status (*run)(const pess__trials *trials, void *workspace, int64_t first, int64_t count, double *out,
                       pess_error *error);
    /* After the last trial: the claims. */
    pess_status (*judge)(pess__trials *trials, pess_error *error);
    void (*release)(pess__trials *trials); /* frees context */
} pess__trial_kind;

struct pess__trials {
    pess_experiment *experiment;
    pess_experiment_options *options; /* the experiment's */
    void *context;                    /* the row's own */
    pess__shard shard;                /* of the blocks */
    int64_t block;
    int64_t value_count; /* values of a trial */
    int64_t column_count, column_room;
    pess__column *columns; /* curve after curve */
    double *values;        /* [trials*value_count] */
    bool *finished;        /* [trials] */
    pess__checkpoint *checkpoint;
};

/* A point's further values, in the order of PESS__TRIAL_COLUMNS. */
enum {
    PESS__BELOW_OPTIMAL, /* the mean of (optimal − this one) over trials */
    PESS__BELOW_OPTIMAL_CI95,
    PESS__EPSILON,
    PESS__TRANSITIONS,
    PESS__ALPHA_THEORY
};
#define PESS__TRIAL_COLUMNS "below_optimal below_optimal_ci95 epsilon transitions alpha_theory"

/* The tables of the page that all of them have. */
extern const pess__experiment_table pess__trial_tables[];
#define PESS__TRIAL_EXPLANATION "Every trial gives all algorithms the same world and the same dataset."

static inline pess__trials *pess__trials_of(const pess_experiment *experiment) { return experiment->plan; }

/* Points, and where all trials are there, claims. */
pess_status pess__trials_summarise(pess__trials *trials, pess_error *error);
int64_t pess__trials_finished(const pess__trials *trials);
pess_status pess__trials_merge(const char *const *directories, size_t count, const char *out, bool partial,
                               pess_experiment **experiment, pess_error *error);
/* Where finished trials are kept, and every setting that their values depend on. */
void pess__trials_checkpoint(const pess__trials *trials, const char *directory, char path[PESS__EXPERIMENT_PATH],
                             char *signature, size_t size);

pess_status pess__trials_add_column(pess__trials *trials, const pess__column *column, pess_error *error);
/* The list of algorithms as it is shown and compared, built name by name. */
pess_status pess__trials_list_algorithm(pess__trials *trials, bool first, const char *name, pess_error *error);
/* Mean and 95 % half-width over the finished trials of value b − value a; b < 0: of a alone. */
void pess__trials_summary(const pess__trials *trials, int64_t a, int64_t b, double *mean, double *ci95);

#endif
