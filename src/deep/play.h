/* Whole episodes of a policy. */
#ifndef PESS_DEEP_PLAY_H
#define PESS_DEEP_PLAY_H

#include "data/observations.h"
#include "policy/policy.h"

/* What else is measured while a policy plays: means over episodes. */
typedef struct pess__play_measures {
    double gamma;                  /* given */
    const pess_observations *data; /* given; NULL: none */
    double predicted;              /* what the policy expects in the first state; NAN */
    double obtained;               /* return, discounted by gamma */
    double outside;                /* share of steps in states that are not in the data; NAN without */
} pess__play_measures;

/* policy NULL: uniformly random; mdp NULL: the game of the options; measures may be NULL. */
pess_status pess__play(const pess_policy *policy, const pess_mdp *mdp, const pess_play_options *options,
                       pess__play_measures *measures, pess_play_result *out, pess_error *error);

/* PESS_INPUT where the policy sees something else than the environments of the batch show. */
pess_status pess__play_check(const pess_policy *policy, const pess_batch *batch, bool mdp, pess_error *error);

#endif
