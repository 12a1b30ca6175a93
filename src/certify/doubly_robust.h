/* Doubly robust sums of an episode, followed only as long as they stay above a floor (docs/theory.md, "Episodes").
 *
 * Rewards are counted from lo: r' = r − lo + γ·lo, and r − lo where the episode ends, so that a return from any state
 * on is G' in [0, H], H = hi − lo. q̂ in [0, H] is any function of state and action that the choosing part fixed; w is
 * the weight of the steps so far, ρ = π(a|s)/b(a|s). At each step, before the action is seen, the actions are divided
 * into those that go on and those at which the sum stops, with the least (lo) for what they lead to:
 *
 *   v̂(s) = Σ over actions that go on of π(a|s)·q̂(s,a),
 *   S = Σ_t γ^t·[ w_{t−1}·v̂(s_t) + w_t·(r'_t − q̂(s_t,a_t)) ]      as long as it goes on.
 *
 * Its mean is at most V^π − lo, whatever q̂ is and whatever is hidden. An action goes on only where S cannot fall below
 * −floor, whatever reward follows: so S + floor is a non-negative number and the betting bound applies. Paired, the
 * same sum for the behaviour itself (π = b, w = 1) is subtracted, and what the episode still earns after the stop:
 * S − S_b has a mean of at most V^π − V^b, and is 0 for π = b.
 *
 * b(a|s) must be known before the action is: a policy that looks at the state alone. */
#ifndef PESS_CERTIFY_DOUBLY_ROBUST_H
#define PESS_CERTIFY_DOUBLY_ROBUST_H

#include "data/dataset.h"

typedef struct pess__doubly_robust_setup {
    int64_t states, actions;
    const double *policy;             /* [S*A] */
    const double *behaviour;          /* [S*A]; 0: not known, the action does not go on */
    const double *q;                  /* [S*A] q̂ in [0, range]; 0 where the behaviour is not known */
    double gamma, lo, range;          /* range: H */
    double reward_least, reward_most; /* of r' */
    double floor;                     /* paired: at least `range` */
    bool paired;
} pess__doubly_robust_setup;

/* The setup, and for each state the actions that may go on. */
typedef struct pess__doubly_robust pess__doubly_robust;

pess_status pess__doubly_robust_create(const pess__doubly_robust_setup *setup, pess__doubly_robust **out,
                                       pess_error *error);
void pess__doubly_robust_destroy(pess__doubly_robust *dr); /* NULL is fine */

/* The sum of the episode with these rows, plus the floor: at least 0. scratch [A]. NAN where a logged probability is
 * not that of `behaviour`: it is no such policy. */
double pess__doubly_robust_sum(const pess__doubly_robust *dr, const pess_dataset *data, const double *probability,
                               const int64_t *rows, int64_t count, bool *scratch);

#endif
