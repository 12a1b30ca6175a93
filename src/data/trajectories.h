/* A log as whole episodes, in the order in which they begin. */
#ifndef PESS_DATA_TRAJECTORIES_H
#define PESS_DATA_TRAJECTORIES_H

#include "data/dataset.h"

typedef struct pess__trajectories {
    int64_t count;  /* episodes */
    int64_t *begin; /* [count+1] episode i is row[begin[i]] … row[begin[i+1]-1] */
    int64_t *row;   /* [rows] rows of the log, each episode in the order of its steps */
} pess__trajectories;

/* The log has an episode column. Without a step column the order of the rows is that of the steps. */
pess_status pess__trajectories_create(const pess_dataset *data, pess__trajectories **out, pess_error *error);
void pess__trajectories_destroy(pess__trajectories *trajectories); /* NULL is fine */

/* Discounted returns of the episodes, [count] each. What follows a cut-off, or an episode without an end, is not known:
 * it is at least lo and at most hi, and so is the return of the whole. */
typedef struct pess__returns {
    double gamma, lo, hi;
    double *least, *most;
} pess__returns;

/* PESS_INPUT, naming the episode, where a return lies outside [lo, hi] by more than rounding. */
pess_status pess__returns_create(const pess_dataset *data, const pess__trajectories *trajectories, double gamma,
                                 double lo, double hi, pess__returns **out, pess_error *error);
void pess__returns_destroy(pess__returns *returns); /* NULL is fine */

/* Is the log compatible with the declaration that the discounted return from any state on lies in [lo, hi]? Holds every
 * row's return, with what follows it in its episode, against it; after a cut-off anything in [lo, hi] may follow.
 * PESS_INPUT, naming the episode, or the row where the log has no episodes. */
pess_status pess__returns_check(const pess_dataset *data, double gamma, double lo, double hi, pess_error *error);

#endif
