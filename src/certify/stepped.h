/* A problem of H steps is one of any length whose states have the step in them: state s at step t is t·S + s. What
 * follows the last step is one further state, H·S, at which every episode ends. Nothing that is proved for logs asks
 * more of them, so a horizon needs no proofs of its own; and what is learned at one step is not used at another, so
 * that the process may be another one at each. */
#ifndef PESS_CERTIFY_STEPPED_H
#define PESS_CERTIFY_STEPPED_H

#include "data/dataset.h"
#include "policy/policy.h"

typedef struct pess__stepped {
    pess_dataset *data; /* the first H steps of every episode */
    pess_certify_options options;
    pess_policy *policy, *behaviour; /* of the options, one table for states and steps; NULL: none */
    double *start;
} pess__stepped;

/* The log and the options, wide. PESS_INPUT where it is not known at which step a row is. */
pess_status pess__stepped_create(const pess_dataset *data, const pess_certify_options *options, pess__stepped *out,
                                 pess_error *error);
void pess__stepped_release(pess__stepped *stepped);

/* A wide policy as one with a table for each step. Readers of its file expect rows of a state at all steps, or at none
 * where the log shows it after ends only: a state that is an end at some steps acts uniformly there. */
pess_status pess__stepped_fold(const pess_dataset *data, int64_t horizon, const pess_policy *wide, pess_policy **out,
                               pess_error *error);

#endif
