/* A comparison: runs are added one by one, then all numbers are computed. */
#ifndef PESS_COMPARE_COMPARE_H
#define PESS_COMPARE_COMPARE_H

#include "compare/statistics.h"

enum { PESS__COMPARE_NAME = 160, PESS__COMPARE_ALGORITHMS = 64 };

typedef struct pess__compare_task {
    char game[40];
    double x; /* NAN: there is none */
} pess__compare_task;

typedef struct pess__compare_run {
    int64_t algorithm, task;
    double score;
} pess__compare_run;

struct pess_comparison {
    pess_comparison_info info;
    char (*names)[PESS__COMPARE_NAME]; /* [name_count] of algorithms, in the order in which they came */
    int64_t name_count, name_room;
    pess__compare_task *tasks; /* [task_count] the same */
    int64_t task_count, task_room;
    pess__compare_run *runs; /* [run_count] */
    int64_t run_count, run_room;
    /* Once it is finished, for the algorithms and tasks that are compared, in their order: */
    int64_t *algorithm, *task;     /* [info.algorithms], [info.tasks] positions above */
    double *scores;                /* all of them, cell after cell, on the common scale */
    double *least, *range;         /* [info.tasks] raw score = least + range·score */
    pess__score_cell *cells;       /* [algorithms*tasks] */
    pess_compared *compared;       /* [algorithms] */
    pess_compared_task *by_task;   /* [tasks*algorithms] */
    pess_improvement *improvement; /* [pairs] */
    pess_interval *profile;        /* [algorithms*PESS_PROFILE_POINTS] */
};

pess_status pess__comparison_open(pess_comparison **out, pess_error *error);
pess_status pess__comparison_add(pess_comparison *comparison, const char *algorithm, const char *game, double x,
                                 double score, pess_error *error);
/* options NULL: the defaults. PESS_INPUT where no task is common to all algorithms. */
pess_status pess__comparison_finish(pess_comparison *comparison, const pess_compare_options *options,
                                    pess_error *error);

/* bootstrap.c: intervals from resamples of the runs of each cell (stratified bootstrap). */
pess_status pess__comparison_bootstrap(pess_comparison *comparison, const pess_compare_options *options,
                                       pess_error *error);

static inline int64_t pess__comparison_pairs(const pess_comparison *c) {
    return c->info.algorithms * (c->info.algorithms - 1) / 2;
}
static inline const pess__score_cell *pess__comparison_cells(const pess_comparison *c, int64_t algorithm) {
    return c->cells + algorithm * c->info.tasks;
}

#endif
