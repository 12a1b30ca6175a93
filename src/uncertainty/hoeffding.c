/* Hoeffding's inequality for the mean of n(s,a) samples of r + γv(s') in a range of width W, and a union over all
 * pairs (paper, appendix B, state-action-wise bound):  u = W·min(√(ln(2·S·A/δ)/(2n)), 1). Absorbed: 1/√n. */
#include "uncertainty/uncertainty.h"

#include <math.h>

static double hoeffding(const pess__u_problem *problem, const double *v, int64_t pair) {
    (void)v;
    const int64_t n = problem->counts->n[pair];
    const double log_term = log(2) + pess__u_log_pairs(problem, problem->delta, n);
    return (problem->v_hi - problem->v_lo) * sqrt(log_term / (2 * (double)n));
}

static pess_status compute(const pess__u_problem *problem, const double *v, double *u, pess_error *error) {
    if (problem->absorbed) return pess__u_fill(problem, v, pess__u_inverse_root, u, error);
    PESS_TRY(pess__u_check_range(problem, error));
    return pess__u_fill(problem, v, hoeffding, u, error);
}

const pess__uncertainty pess__uncertainty_hoeffding = {
    .info = {.name = "hoeffding",
             .summary = "Hoeffding's inequality per state and action",
             .formula = "W·min(√(ln(2·S·A/δ)/(2n)), 1)",
             .holds = PESS_HOLDS_FIXED_V,
             .holds_for = pess__holds_fixed_v,
             .per_action = true,
             .absorbed = "1/√n",
             .settings = "delta iid"},
    .pairs_alone = true,
    .compute = compute};
