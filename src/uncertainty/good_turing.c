/* The mass of what was not seen, from the share of singletons (McAllester & Schapire 2000): with probability 1−δ' the
 * missing mass is at most n₁/n + (2√2+√3)·√(ln(3/δ')/n). Intersected with `l1` and with the ball of `support` on the
 * seen successors (Taleghan et al. 2015); the three events of a pair share its part of δ_P evenly. */
#include "uncertainty/sets.h"

#include <math.h>

static void set_of(const pess__set_facts *facts, pess__set_pair *pair) {
    const double log_third = facts->log_pairs + log(3);
    const double constant = 2 * sqrt(2) + sqrt(3);
    pair->ball = sqrt(2 * (log_third + facts->possible * log(2)) / facts->n);
    pair->unseen = facts->singletons / facts->n + constant * sqrt((log_third + log(3)) / facts->n);
    pair->seen_ball = pess__set_seen_radius(facts, pess__set_log_supports(facts) + log_third);
}

static pess_status compute(const pess__u_problem *problem, const double *v, double *u, pess_error *error) {
    return pess__set_compute(problem, "good-turing", v, u, error);
}

const pess__uncertainty pess__uncertainty_good_turing = {
    .info = {.name = "good-turing",
             .summary = "the unseen mass bounded by the share of singletons, intersected with l1",
             .formula = "reward as l1; unseen mass ≤ n₁/n + (2√2+√3)·√(ln(18·S·A/δ)/n); on the k seen |P − P_D|₁ ≤ "
                        "√(2(B + ln(6·S·A/δ) + k·ln 2)/n), 0 if k = 1; and |P − P_D|₁ ≤ √(2(ln(6·S·A/δ) + m·ln 2)/n)",
             PESS__SET_INFO},
    .compute = compute,
    .set_of = set_of};
