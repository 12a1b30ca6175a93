/* The short training of an uncertainty's network, before that of the values. What a minibatch is, the uncertainty
 * decides. */
#ifndef PESS_DEEP_REGRESSION_H
#define PESS_DEEP_REGRESSION_H

#include "deep/neural_uncertainty.h"

typedef struct pess__regression pess__regression;

struct pess__regression {
    const pess__uncertainty_training *training;
    pess__loss loss;
    /* Draws `batch` samples, equal states once: fills the columns below and returns how many states differ. */
    int64_t (*draw)(pess__regression *regression, pess__rng *rng);
    const void *user;       /* what draw reads beside the training */
    int64_t batch, outputs; /* of the protocol, a quarter; of the network */
    /* State u of the minibatch has labels first[u] … first[u+1]-1, at most `outputs` of them. */
    int64_t *unique, *first;
    int64_t *drawn;               /* [batch*outputs] at the disposal of draw */
    int32_t *which;               /* outputs that the labels speak of */
    pess__real *labels, *weights; /* the mean of the weights is 1: as if every sample were there */
    int32_t *place;               /* [states] where a state is in the minibatch, or -1 */
};

/* Trains a new network; training, loss and draw are given, the rest is made here. */
pess_status pess__regression_run(pess__regression *regression, pess__net *net, pess_error *error);

/* By least squares to the labels of the learner's uncertainty at the states in which the data act, each as often as the
 * data do. */
pess_status pess__regress_labels(const pess__uncertainty_training *training, pess__net *net, pess_error *error);

/* Where state is among the different states of a minibatch so far; *different grows where it is new. */
static inline int64_t pess__regression_place(pess__regression *r, int64_t state, int64_t *different) {
    if (r->place[state] < 0) {
        r->place[state] = (int32_t)*different;
        r->unique[(*different)++] = state;
    }
    return r->place[state];
}

/* After the draw: the places are free again. */
static inline void pess__regression_clear(pess__regression *r, int64_t different) {
    for (int64_t u = 0; u < different; u++) r->place[r->unique[u]] = -1;
}

#endif
