/* The table of bounds, and what they share. */
#include "uncertainty/uncertainty.h"

#include <math.h>
#include <string.h>

static const char holds_nothing[] = "nothing: there is no error probability in it (a heuristic)";
static const char holds_fixed[] =
    "one value function fixed before the data were seen; a heuristic for one that was chosen from them";
static const char holds_all[] = "all value functions and all policies at once";

/* name, summary, formula, holds, in words, per action, depends on v, is a set, absorbed, compute, statewise */
#define BOUNDS(X)                                                                                                                       \
    X("trivial", "the width of the range of values", "W", PESS_HOLDS_EVERYTHING, holds_all, true, false, false, NULL,                   \
      pess__u_trivial, NULL)                                                                                                            \
    X("count", "the inverse root of the count", "min(1/√n, W)", PESS_HOLDS_NOTHING, holds_nothing, true, false, false,                  \
      "1/√n", pess__u_count, NULL)                                                                                                      \
    X("hoeffding", "Hoeffding's inequality per state and action", "W·min(√(ln(2·S·A/δ)/(2n)), 1)", PESS_HOLDS_FIXED_V,                  \
      holds_fixed, true, false, false, "1/√n", pess__u_hoeffding, NULL)                                                                 \
    X("hoeffding-s", "Hoeffding's inequality per state, for a local policy",                                                            \
      "W·min(√(½·ln(2·S·|Π_local|/δ)·Σ_a π(a|s)²/n(s,a)), 1)", PESS_HOLDS_FIXED_V,                                                      \
      "one value function fixed before the data were seen and |Π_local| local policies per state; a heuristic for "                    \
      "others",                                                                                                                         \
      false, false, false, "√(Σ_a π(a|s)²/n(s,a))", NULL, pess__u_hoeffding_s)                                                          \
    X("bernstein", "empirical Bernstein bound on r + γv(s')",                                                                           \
      "min(√(2·Var·L/n) + 7·W·L/(3(n−1)), W), L = ln(2·S·A/δ)", PESS_HOLDS_FIXED_V, holds_fixed, true, true, false,                     \
      NULL, pess__u_bernstein, NULL)                                                                                                    \
    X("l1", "worst case over an L1 ball around the empirical next-state distribution",                                                  \
      "reward ± (r_hi−r_lo)·√(ln(4·S·A/δ)/(2n)); |P − P_D|₁ ≤ √(2(ln(2·S·A/δ) + m·ln 2)/n)", PESS_HOLDS_EVERYTHING,                     \
      holds_all, true, true, true, NULL, pess__u_l1, NULL)                                                                              \
    X("support", "worst case over an L1 ball on the seen next states and a bound on the mass of the unseen",                            \
      "reward as l1; unseen mass ≤ (B + ln(4·S·A/δ))/n; on the k seen |P − P_D|₁ ≤ √(2(B + ln(4·S·A/δ) + k·ln 2)/n), " \
      "0 if k = 1; B = ln C(m,k) + ln m",                                                                                               \
      PESS_HOLDS_EVERYTHING, holds_all, true, true, true, NULL, pess__u_support, NULL)                                                  \
    X("good-turing", "the unseen mass bounded by the share of singletons, intersected with l1",                                         \
      "reward as l1; unseen mass ≤ n₁/n + (2√2+√3)·√(ln(18·S·A/δ)/n); on the k seen "                                     \
      "|P − P_D|₁ ≤ √(2(B + ln(6·S·A/δ) + k·ln 2)/n), 0 if k = 1; and |P − P_D|₁ ≤ √(2(ln(6·S·A/δ) + m·ln 2)/n)",                       \
      PESS_HOLDS_EVERYTHING, holds_all, true, true, true, NULL, pess__u_good_turing, NULL)

static const pess_uncertainty_info infos[] = {
#define INFO_ROW(name, summary, formula, holds, words, per_action, on_values, is_set, absorbed, compute, statewise)    \
    {name, summary, formula, holds, words, per_action, on_values, is_set, absorbed},
    BOUNDS(INFO_ROW)
#undef INFO_ROW
};

static const pess__uncertainty rows[] = {
#define BOUND_ROW(name, summary, formula, holds, words, per_action, on_values, is_set, absorbed, compute, statewise)   \
    {{name, summary, formula, holds, words, per_action, on_values, is_set, absorbed}, compute, statewise},
    BOUNDS(BOUND_ROW)
#undef BOUND_ROW
};

enum { BOUND_COUNT = sizeof rows / sizeof rows[0] };

const pess_uncertainty_info *pess_uncertainty_list(size_t *count) {
    *count = BOUND_COUNT;
    return infos;
}

const pess_uncertainty_info *pess_uncertainty_find(const char *name) {
    for (size_t i = 0; name && i < BOUND_COUNT; i++)
        if (strcmp(infos[i].name, name) == 0) return &infos[i];
    return NULL;
}

const pess__uncertainty *pess__uncertainty_find(const char *name) {
    for (size_t i = 0; name && i < BOUND_COUNT; i++)
        if (strcmp(rows[i].info.name, name) == 0) return &rows[i];
    return NULL;
}

pess_status pess__u_check_counts(const pess__u_problem *problem, pess_error *error) {
    if (problem->counts) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT, "the uncertainty needs the counts of a log; an exact model has none");
}

pess_status pess__u_check_range(const pess__u_problem *problem, pess_error *error) {
    if (isfinite(problem->v_hi - problem->v_lo)) return PESS_OK;
    return pess__fail(
        error, PESS_ARGUMENT,
        "this uncertainty needs a bounded range of values, which runs from %g to %g here: take a discount "
        "below 1 instead of %g",
        problem->v_lo, problem->v_hi, problem->gamma);
}

double pess__u_log_pairs(const pess__u_problem *problem, double delta, int64_t n) {
    const double base = log((double)problem->model->states) + log((double)problem->model->actions) - log(delta);
    return problem->trajectories ? base + log((double)n) + log1p((double)n) : base;
}

pess_status pess__u_fill(const pess__u_problem *problem, const double *v, pess__u_pair *bound, double *u,
                         pess_error *error) {
    PESS_TRY(pess__u_check_counts(problem, error));
    const int64_t pairs = problem->model->states * problem->model->actions;
    const double width = problem->v_hi - problem->v_lo;
#pragma omp parallel for num_threads(problem->threads) schedule(static) if (pairs > 4096)
    for (int64_t z = 0; z < pairs; z++) {
        if (problem->model->kind[z] == PESS__ROW_NONE)
            u[z] = 0;
        else if (problem->counts->n[z] == 0)
            u[z] = width;
        else
            u[z] = fmin(bound(problem, v, z), width);
    }
    return PESS_OK;
}
