/* Fitting networks to a fixed dataset in memory, for whoever judges policies: what a policy is worth, and how the data
 * act. Both are the fitted iteration of fitted.c. */
#ifndef PESS_DEEP_EVALUATION_H
#define PESS_DEEP_EVALUATION_H

#include "data/observations.h"

/* What all networks have in common. */
typedef struct pess__fitting {
    const pess_observations *data;
    double gamma;
    const char *network, *kernels; /* NULL: what fits the observations, the best */
    uint64_t seed;
    int threads;
    pess_protocol protocol;
    pess_progress progress;
} pess__fitting;

/* A fitted Q evaluation. */
typedef struct pess__fitted_evaluation {
    const float *policy; /* [states*actions] π(a|s) */
    const float *first;  /* [states] values that the first targets are made of */
    double lo, hi;       /* what values can be */
    const int64_t *rows; /* [row_count] transitions to learn from; NULL: all of the data */
    int64_t row_count;
    const int64_t *states; /* [count] where the value is asked for, … */
    int64_t count;
    double *values; /* … [count] and goes to; `before`: what it was pess__late_updates before the end; may be NULL */
    double *before;
} pess__fitted_evaluation;

/* The last updates, over which it is measured whether values still move: a tenth of them; 0 where there is but one. */
static inline int64_t pess__late_updates(int64_t updates) { return updates < 2 ? 0 : (updates + 9) / 10; }

pess_status pess__evaluate_fitted(const pess__fitting *fitting, const pess__fitted_evaluation *evaluation,
                                  pess_error *error);

/* π̂(a|s) [states*actions] of an imitation network: of that file, or trained where it is NULL. */
pess_status pess__imitate_fitted(const pess__fitting *fitting, const char *file, float *prior, pess_error *error);

#endif
