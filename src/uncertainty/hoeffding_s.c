/* Hoeffding's inequality for a whole local policy at once (paper, appendix B, state-wise bound): Σ_a π(a)·mean of the
 * samples of a is a sum of independent terms of range π(a)·W/n(a), n(a) of them per action, so with a union over S
 * states and |Π_local| local policies
 *   u(s,π) = W·min(√(½·ln(2·S·|Π_local|/δ)·Σ_a π(a)²/n(a)), 1) = min(c·√(Σ_a π(a)²·w(a)), W),  w = 1/n.
 * Data collected by trajectories: a union over every vector of counts of the state's actions, of weight
 * Π_a 1/((n(a)+1)(n(a)+2)), adds Σ_a ln((n(a)+1)(n(a)+2)). Absorbed: c = 1. */
#include "model/spread.h"
#include "uncertainty/uncertainty.h"

#include <math.h>

static double log_counts(const pess__u_problem *problem, int64_t state) {
    const int64_t actions = problem->model->actions;
    double sum = 0;
    for (int64_t a = 0; a < actions; a++) {
        const double n = (double)problem->counts->n[state * actions + a];
        sum += log1p(n) + log(n + 2);
    }
    return sum;
}

static pess_status statewise(const pess__u_problem *problem, double *c, double *w, pess_error *error) {
    PESS_TRY(pess__u_check_counts(problem, error));
    if (!problem->absorbed) PESS_TRY(pess__u_check_range(problem, error));
    const int64_t states = problem->model->states, actions = problem->model->actions;
    const double policies = problem->local_policies > 0 ? problem->local_policies : (double)actions;
    const double fixed = log(2) + log((double)pess__all_states(problem->model)) + log(policies) - log(problem->delta);
    const double width = problem->v_hi - problem->v_lo;
#pragma omp parallel for num_threads(problem->threads) schedule(static) if (states > 1024)
    for (int64_t s = 0; s < states; s++) {
        const double log_term = fixed + (problem->trajectories ? log_counts(problem, s) : 0);
        c[s] = problem->absorbed ? 1 : width * sqrt(0.5 * log_term);
        for (int64_t z = s * actions; z < (s + 1) * actions; z++)
            w[z] = problem->counts->n[z] > 0 ? 1 / (double)problem->counts->n[z] : INFINITY;
    }
    return PESS_OK;
}

const pess__uncertainty pess__uncertainty_hoeffding_s = {
    .info = {.name = "hoeffding-s",
             .summary = "Hoeffding's inequality per state, for a local policy",
             .formula = "W·min(√(½·ln(2·S·|Π_local|/δ)·Σ_a π(a|s)²/n(s,a)), 1)",
             .holds = PESS_HOLDS_FIXED_V,
             .holds_for =
                 "one value function fixed before the data were seen and |Π_local| local policies per state; a "
                 "heuristic for others",
             .absorbed = "√(Σ_a π(a|s)²/n(s,a))",
             .settings = "delta iid local-policies"},
    .pairs_alone = true,
    .statewise = statewise};
