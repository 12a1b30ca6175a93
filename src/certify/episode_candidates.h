/* Which policy is tested on whole episodes: those of episode_recipes.h, and mixtures of the better ones with the
 * behaviour. Each is cross-fitted on the choosing episodes and scored by the bound that they give. Nothing is paid for
 * the choice: the tested episodes have no say in it. */
#ifndef PESS_CERTIFY_EPISODE_CANDIDATES_H
#define PESS_CERTIFY_EPISODE_CANDIDATES_H

#include "certify/choosing.h"

/* The policy that was chosen, and the bets that are made on it. */
typedef struct pess__chosen_policy {
    pess_policy *policy;
    double *q; /* [S*A] pess__bet_policy */
    pess__bet value, difference;
    int64_t candidate; /* its row in the certificate's list */
} pess__chosen_policy;

typedef struct pess__choice_rule {
    double delta_value, delta_difference;
    double ratio; /* tested episodes over choosing ones, as far as it is known beforehand */
} pess__choice_rule;

/* Where job->options->policy is given, the bets alone are chosen. */
pess_status pess__choose_episode_policy(pess__certification *job, const pess__choosing *choosing,
                                        const pess__choice_rule *rule, pess__chosen_policy *out, pess_error *error);
void pess__chosen_policy_release(pess__chosen_policy *choice);

#endif
