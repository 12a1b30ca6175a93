/* γ = 1: values are finite for policies that end. A policy is proper where it reaches an end with probability one from
 * every state (Bertsekas & Tsitsiklis 1991). */
#ifndef PESS_SOLVE_PROPER_H
#define PESS_SOLVE_PROPER_H

#include "model/model.h"

/* A state from which some policy can go on for ever; -1: every policy is proper. */
pess_status pess__endless_state(const pess_model *model, int64_t *state, pess_error *error);

/* Which actions are taken: those with pi > 0, the one of `choice`, or, where both are NULL, any. */
typedef struct pess__taken {
    const double *pi;      /* [S*A] */
    const int32_t *choice; /* [S] */
} pess__taken;

/* A state from which the actions taken never reach an end, whatever happens; -1: there is none, and a policy that takes
 * all of them is proper. Where `nearer` [S] is not NULL it gets an action that leads towards an end with positive
 * probability, -1 in terminal states: a proper policy. */
pess_status pess__never_ends(const pess_model *model, pess__taken taken, int32_t *nearer, int64_t *state,
                             pess_error *error);

/* A proper policy that hurries: `choice` [S] gets the action that is likeliest to lead to an end, as far as two passes
 * outwards from the ends know, -1 in terminal states. Actions with the bonus -infinity are avoided where possible;
 * bonus [S*A] may be NULL. Some policy has to be proper. */
pess_status pess__soonest_end(const pess_model *model, const double *bonus, int32_t *choice, pess_error *error);

#endif
