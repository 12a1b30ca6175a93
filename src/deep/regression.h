/* The short training of an uncertainty's network, before that of the values: what a minibatch is, is decided by the
 * uncertainty. */
#ifndef PESS_DEEP_REGRESSION_H
#define PESS_DEEP_REGRESSION_H

#include "deep/fitted.h"

typedef struct pess__regression pess__regression;

struct pess__regression {
    pess__loss loss;
    /* Draws `batch` samples, equal states once: fills the columns below and returns how many states differ. */
    int64_t (*draw)(pess__fitted *fitted, pess__regression *regression, pess__rng *rng);
    int64_t batch, outputs; /* of the protocol, a quarter; of the network */
    /* State u of the minibatch has labels first[u] … first[u+1]-1, at most `outputs` of them. */
    int64_t *unique, *first;
    int64_t *drawn;               /* [batch*outputs] at the disposal of draw */
    int32_t *which;               /* outputs that the labels speak of */
    pess__real *labels, *weights; /* the mean of the weights is 1: as if every sample were there */
};

/* Trains a new network; loss and draw are given, the rest is made here. */
pess_status pess__regression_run(pess__fitted *fitted, pess__regression *regression, pess__net *net, pess_error *error);

/* Where state is among the different states of a minibatch so far; *different grows where it is new. */
static inline int64_t pess__regression_place(pess__fitted *f, pess__regression *l, int64_t state, int64_t *different) {
    if (f->place[state] < 0) {
        f->place[state] = (int32_t)*different;
        l->unique[(*different)++] = state;
    }
    return f->place[state];
}

/* After the draw: the places are free again. */
static inline void pess__regression_clear(pess__fitted *f, const pess__regression *l, int64_t different) {
    for (int64_t u = 0; u < different; u++) f->place[l->unique[u]] = -1;
}

#endif
