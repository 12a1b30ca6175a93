/* Robust values: in the worst and in the best process of an ambiguity set. They are bounds for all policies at once. */
#ifndef PESS_CERTIFY_ROBUST_H
#define PESS_CERTIFY_ROBUST_H

#include "certify/holdout.h"
#include "certify/subset_sets.h"
#include "policy/policy.h"

typedef struct pess__robust {
    const pess_counts *counts;
    const pess_model *model;    /* estimated from the counts; pairs never seen are worst */
    pess__subset_sets *subsets; /* l1 and support */
    pess__subset_sets *learned; /* beside them, from the parts of the log; NULL: none. Each bounds P·v, so both do */
    int64_t longest;            /* row of either */
    pess__subset_slot *slots;   /* [longest+1] per thread, pess__apart */
    pess__set *set;             /* good-turing */
    pess__set_scratch *scratch;
    double *reward_low, *reward_high; /* [S*A] bounds of the mean rewards */
    double gamma, v_lo, v_hi;
    const pess__step_ranges *steps; /* NULL: none */
    int threads;
    pess__monitor *monitor; /* NULL: nobody asks to stop */
} pess__robust;

/* δ goes to the transitions, to those of learned supports, to the rewards from below and to the rewards from above. */
typedef struct pess__robust_delta {
    double transitions, learned, rewards_low, rewards_high;
} pess__robust_delta;

/* `first` and `second` are parts of the log behind learned supports; not looked at where their δ is 0. */
pess_status pess__robust_create(const pess__u_problem *problem, const char *uncertainty, const pess_counts *first,
                                const pess_counts *second, pess__robust_delta delta, pess__robust **out,
                                pess_error *error);
void pess__robust_destroy(pess__robust *robust);

/* v(s) = max_a, or Σ_a π(a|s) for a given policy, of reward bound + γ·extreme of P·v: sign 1 the worst process (a lower
 * bound), −1 the best one (an upper bound). Rounding is already taken off, or added. `found` [S] gets the maximising
 * action (-1: none), where it is not NULL; at γ = 1 the value of that policy must be asked for on its own. `sweeps`
 * notes how it ended. */
pess_status pess__robust_value(const pess__robust *robust, double sign, const pess_policy *policy, double *v,
                               int32_t *found, pess__sweeps *sweeps, pess_error *error);

/* The policy that takes found[s] at s, and no action where that is -1. */
pess_status pess__policy_of_actions(const pess_model *model, const int32_t *found, pess_policy **out,
                                    pess_error *error);

/* One sweep from v to `out`, for benchmarks. */
double pess__robust_sweep(const pess__robust *robust, double sign, const pess_policy *policy, const double *v,
                          double *out, int32_t *found);

/* Bounds of the mean of n numbers in [0,1] whose average is m: the largest (smallest) q with n·kl(m,q) <= log_term
 * (Chernoff; holds for every distribution on [0,1], not only for coins). */
double pess__kl_upper(double m, double n, double log_term);
double pess__kl_lower(double m, double n, double log_term);

/* min of q·v over the distributions q on the states with |q − p|₁ <= radius. `scratch` has room for all states. */
typedef struct pess__start_mass {
    double value, mass;
} pess__start_mass;

double pess__worst_start(const pess_model *model, const double *p, const double *v, double radius,
                         pess__start_mass *scratch);

#endif
