/* Bellman uncertainty u(s,a): one file per bound, one row in the table of uncertainty.c (paper, appendix B).
 *
 * A bound on |(r + γPv)(s,a) − (r_D + γP_D v)(s,a)|. W = v_hi − v_lo is the width of the range of values; a pair that
 * was never seen has u = W, and no bound is larger than W. A pair that the state does not have (ROW_NONE) has u = 0.
 *
 * Data collected by trajectories: n(s,a) is random and depends on the samples, so the bound for a fixed n is asked to
 * hold for every n ≥ 1 at once. The n-th one gets δ/(n(n+1)), which sums to δ over all n, so nothing has to be known of
 * the length of the log; the price is ln(n(n+1)) beside ln(1/δ). The samples of a pair, in the order in which they
 * were drawn, are independent whatever the collecting policy did. */
#ifndef PESS_UNCERTAINTY_UNCERTAINTY_H
#define PESS_UNCERTAINTY_UNCERTAINTY_H

#include "core/status.h"
#include "model/counts.h"
#include "model/model.h"

/* What every bound may look at; borrowed. */
typedef struct pess__u_problem {
    const pess_counts *counts;
    const pess_model *model;
    double gamma, delta;
    double v_lo, v_hi;      /* range of values; W = v_hi - v_lo */
    bool absorbed;          /* constants dropped; no difference for a bound whose info.absorbed is NULL */
    bool trajectories;      /* n is random and adaptive: pay for every n at once */
    int64_t max_successors; /* m; 0: all states. The end of an episode is one more where the model has terminals */
    double local_policies;  /* |Π_local| for the state-wise bound; 0: the |A| deterministic policies */
    int threads;
    const pess_own_uncertainty *own; /* of the caller; NULL: none */
} pess__u_problem;

struct pess__set_facts;
struct pess__set_pair;

typedef struct pess__uncertainty {
    pess_uncertainty_info info;
    bool pairs_alone; /* of the counts it reads n(s,a), n(s) and `row` alone */
    /* per_action bounds: u [S*A]. `v` [S] is the current value where depends_on_values, else ignored. NULL there asks
     * for the bound that holds for every v within [v_lo, v_hi]. */
    pess_status (*compute)(const pess__u_problem *problem, const double *v, double *u, pess_error *error);
    /* state-wise bounds only: the factor c(s) [S] and the per-pair weights w(s,a) [S*A] of
     * u(s,π) = min(c·√(Σ_a π(a|s)²·w(s,a)), W); w is infinite where the pair was never seen. */
    pess_status (*statewise)(const pess__u_problem *problem, double *c, double *w, pess_error *error);
    /* is_set only: the set of a row from what is known of it (sets.h). */
    void (*set_of)(const struct pess__set_facts *facts, struct pess__set_pair *pair);
} pess__uncertainty;

const pess__uncertainty *pess__uncertainty_find(const char *name);
/* Is it one that can be used? */
pess_status pess__uncertainty_check_own(const pess_own_uncertainty *own, pess_error *error);
/* The row of a caller's own uncertainty (own.c). */
pess__uncertainty pess__uncertainty_of_caller(const pess_own_uncertainty *own);

/* What bounds hold for, in words (info.holds_for). */
extern const char pess__holds_nothing[], pess__holds_fixed_v[], pess__holds_everything[];

/* u of a pair that was seen, n >= 1, before the cap at W. */
typedef double pess__u_pair(const pess__u_problem *problem, const double *v, int64_t pair);
/* u [S*A] from a function of one pair: W where n = 0, never more than W, 0 where there is no such pair. */
pess_status pess__u_fill(const pess__u_problem *problem, const double *v, pess__u_pair *bound, double *u,
                         pess_error *error);
/* 1/√n, what is left of a bound whose constants are absorbed. */
double pess__u_inverse_root(const pess__u_problem *problem, const double *v, int64_t pair);
/* Refuses a problem without counts. */
pess_status pess__u_check_counts(const pess__u_problem *problem, pess_error *error);
/* Refuses an unbounded range of values: rewards of both signs, or no end of episodes, at γ = 1. */
pess_status pess__u_check_range(const pess__u_problem *problem, pess_error *error);
/* Refuses a pair with more successors in the log than were declared. */
pess_status pess__u_check_successors(const pess__u_problem *problem, int64_t pair, int64_t seen, pess_error *error);
/* ln(S·A/δ), plus ln(n(n+1)) where n is adaptive. */
double pess__u_log_pairs(const pess__u_problem *problem, double delta, int64_t n);

#endif
