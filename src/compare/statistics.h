/* Numbers about runs on tasks, as rliable (Agarwal et al. 2021) defines them. Scores of an algorithm on a task are a
 * cell; an algorithm has one for every task. */
#ifndef PESS_COMPARE_STATISTICS_H
#define PESS_COMPARE_STATISTICS_H

#include "core/sorted.h"
#include "core/status.h"

typedef struct pess__score_cell {
    double *scores; /* [count] */
    int64_t count;
} pess__score_cell;

/* Of all scores in the cells; room [their number] is scratch. */
double pess__cells_iqm(const pess__score_cell *cells, int64_t tasks, double *room);
double pess__cells_mean(const pess__score_cell *cells, int64_t tasks);
/* The median of the tasks' means; room [tasks]. */
double pess__cells_median(const pess__score_cell *cells, int64_t tasks, double *room);
/* (1/M) Σ_m (1/NK) Σ_i Σ_j S(x_i, y_j): S is 1 where x is above y, 1/2 where they are equal. */
double pess__cells_improvement(const pess__score_cell *x, const pess__score_cell *y, int64_t tasks);
/* (1/M) Σ_m (1/N) Σ_i 1{x_i > τ}: the run-score distribution. */
double pess__cells_above(const pess__score_cell *cells, int64_t tasks, double tau);

#endif
