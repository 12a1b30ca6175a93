/* Bets on whole episodes: the non-negative numbers of each kind, and the bound that their mean gives. */
#ifndef PESS_CERTIFY_EPISODE_BETS_H
#define PESS_CERTIFY_EPISODE_BETS_H

#include "certify/importance.h"
#include "policy/policy.h"

typedef enum pess__bet_kind {
    PESS__BET_WHOLE,        /* w·(G − lo); paired: (w − 1)(G − lo) + (hi − lo) */
    PESS__BET_PER_DECISION, /* Σ_t γ^t·w_{0:t}·r'_t, rewards counted from lo and none below 0 */
    PESS__BET_DOUBLY_ROBUST /* doubly_robust.h */
} pess__bet_kind;

typedef struct pess__bet {
    pess__bet_kind kind;
    bool paired;  /* on V^π − V^b instead of V^π */
    double cap;   /* numbers are cut to it; INFINITY: not */
    double floor; /* doubly robust, as a multiple of hi − lo */
} pess__bet;

const char *pess__bet_name(pess__bet_kind kind); /* "whole", "per-decision", "doubly-robust" */

/* Episodes of a log, with what is known of them. */
typedef struct pess__episode_log {
    const pess_dataset *data;
    const double *probability; /* [rows] b */
    const pess__trajectories *trajectories;
    const pess__returns *returns;
    double reward_least;    /* of rewards counted from lo */
    const double *by_state; /* [S*A] b(a|s), 0 where not known; NULL: the behaviour is no such policy */
    int threads;
} pess__episode_log;

/* The policy that is bet on. */
typedef struct pess__bet_policy {
    const double *probability; /* [S*A] */
    const double *q;           /* [S*A] q̂ − lo in [0, hi − lo]; NULL: no doubly robust bets */
} pess__bet_policy;

/* weights [to − from] of the episodes [from, to). */
void pess__bet_weights(const pess__episode_log *log, const pess__bet_policy *policy, int64_t from, int64_t to,
                       double *weights);
/* values [to − from] of the same, whose weights these are. *void_bet: a doubly robust bet on a behaviour that is not
 * the policy it was taken for; the values say nothing then. */
pess_status pess__bet_values(const pess__episode_log *log, const pess__bet_policy *policy, const pess__bet *bet,
                             int64_t from, int64_t to, double *weights, double *values, bool *void_bet,
                             pess_error *error);
/* What to add to a bound of the values' mean to have one of V^π, or of V^π − V^b. */
double pess__bet_offset(const pess__episode_log *log, const pess__bet *bet);

#endif
