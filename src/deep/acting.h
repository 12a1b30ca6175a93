/* Acting by what was learnt: from an observation through the outputs of the learner's networks to the probabilities of
 * its policy. Training scores its policies with this, and policies that were written act by it. */
#ifndef PESS_DEEP_ACTING_H
#define PESS_DEEP_ACTING_H

#include "data/observations.h"
#include "deep/learner.h"

/* A learner's policy: its rule and knobs, the networks that it reads, and what the data know of their own states.
 * Everything is borrowed. */
typedef struct pess__learned_policy {
    const pess__learner *learner;
    const void *knobs; /* of the learner's table */
    int64_t actions;
    double cap;    /* of u */
    bool relative; /* u counts from the smallest of its state */
    const pess__net *values[PESS__MAX_VALUE_NETWORKS];
    const pess__net *own[PESS__MAX_OWN_NETWORKS];
    const pess__net *imitation, *uncertainty; /* NULL where the learner has none */
    const pess_observations *data;            /* whose states the tables are of; NULL: none */
    const float *penalty;                     /* [states*actions] u; NULL: none */
    const int32_t *counts;                    /* [states*actions] n(s,a); NULL: none */
    const pess__action_space *space;          /* what the actions stand for; NULL: numbers alone */
} pess__learned_policy;

/* The outputs of those networks for one observation. */
typedef struct pess__outputs {
    const pess__real *values[PESS__MAX_VALUE_NETWORKS];
    const pess__real *own[PESS__MAX_OWN_NETWORKS];
    const pess__real *imitation, *uncertainty; /* uncertainty: not read where the state is one of the data */
} pess__outputs;

/* π(·|s) to probabilities [actions], and what the state is worth; state: its number in the data, or -1. */
double pess__learned_decide(const pess__learned_policy *policy, const pess__outputs *outputs, int64_t state,
                            double *probabilities);

/* A worker's memory for up to `capacity` observations at a time. */
typedef struct pess__learned_passes pess__learned_passes;

pess_status pess__learned_passes_create(const pess__learned_policy *policy, int64_t capacity,
                                        pess__learned_passes **out, pess_error *error);
void pess__learned_passes_destroy(pess__learned_passes *passes);
/* Of `count` observations: probabilities [count*actions], values [count] (NAN where the learner gives none), and
 * numbers of the states in the data [count], -1 outside them. */
void pess__learned_apply(const pess__learned_policy *policy, pess__learned_passes *passes, const pess__bits_rows *rows,
                         int64_t count, double *probabilities, double *values, int64_t *states);

#endif
