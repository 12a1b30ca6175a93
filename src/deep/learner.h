/* The algorithms that learn from a fixed dataset with networks. Each is one file that says which policy it draws from
 * the values of a state, and what that policy is worth; each has one row in learners.c. Everything else (targets,
 * training, evaluation, checkpoints) is the same for all. */
#ifndef PESS_DEEP_LEARNER_H
#define PESS_DEEP_LEARNER_H

#include "nn/real.h"
#include "pess.h"

enum { PESS__MAX_ACTIONS = 64 };
#define PESS__HUBER_EDGE 5.0 /* squared error up to here, linear beyond */

/* What is known of a state: the network's values of its actions, and what the data say about them. */
typedef struct pess__sight {
    int64_t actions;
    const pess__real *q; /* [actions]; for imitation the logarithms of its odds */
    const float *prior;  /* [actions] π̂(a|s) of the imitation network; NULL unless info.imitation */
} pess__sight;

typedef struct pess__learner {
    pess_learner_info info;
    /* π(·|s) to policy [actions]; returns what the state is worth under it, penalty included: the value that the
     * targets of the transitions into it bootstrap from. */
    double (*decide)(double alpha, const pess__sight *sight, double *policy);
} pess__learner;

const pess__learner *pess__learner_find(const char *name);

extern const pess__learner pess__learner_imitation, pess__learner_naive, pess__learner_proximal;

/* softmax(outputs) to probabilities [actions]. */
void pess__softmax(const pess__real *outputs, int64_t actions, float *probabilities);

#endif
