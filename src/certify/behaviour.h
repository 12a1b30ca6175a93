/* The behaviour policy's probability of each logged action: as logged, as declared by a policy, or estimated. */
#ifndef PESS_CERTIFY_BEHAVIOUR_H
#define PESS_CERTIFY_BEHAVIOUR_H

#include "data/dataset.h"
#include "model/counts.h"
#include "policy/policy.h"

typedef struct pess__behaviour {
    const char *source;        /* "logged", "declared" or "estimated" */
    const double *probability; /* [rows] b > 0 of the logged actions */
    double *own;               /* the same, where it is not the log's column */
} pess__behaviour;

/* policy: declared, or NULL; estimated: the shares of the actions at each state. With neither, the log's column; where
 * there is none PESS_INPUT. */
pess_status pess__behaviour_create(const pess_dataset *data, const pess_counts *counts, const pess_policy *policy,
                                   bool estimated, pess__behaviour *out, pess_error *error);
void pess__behaviour_release(pess__behaviour *behaviour);

/* Some rows of a log, with b of every row of it. */
typedef struct pess__behaviour_rows {
    const pess_dataset *data;
    const double *probability; /* [data->rows] */
    const int64_t *row;        /* [count] */
    int64_t count;
} pess__behaviour_rows;

/* table [S*A] <- b(a|s) of the pairs that the rows show, 0 elsewhere. False where one pair has two probabilities: then
 * the behaviour looks at more than the state, or changes. */
bool pess__behaviour_by_state(const pess__behaviour_rows *rows, double *table);

/* PESS_INPUT where actions happen that the probabilities make too unlikely. With q̂(a|s) = (n(s,a)+½)/(n(s)+A/2) from
 * the rows before, E[q̂/b | past] <= 1 whatever the behaviour looks at, so that a bettor against a mean of 1 grows rich
 * with probability at most 1e-6 where the probabilities are right. */
pess_status pess__behaviour_check(const pess__behaviour_rows *rows, pess_error *error);

#endif
