/* Unseen mass and an L1 ball on the seen successors, by a union over every support.
 *
 * Coverage. Fix a set T of k of the m possible successors. If P(outside T) > ln(1/δ')/n, all n samples fall into T with
 * probability (1−P(outside T))ⁿ < δ'. Given that they do, they are independent draws from P(·|T), so
 * |P_D − P(·|T)|₁ ≥ ε has probability at most 2^k·exp(−nε²/2). The supports of size k share δ_P/(2·S·A·m) evenly in
 * each of the two events, so with B = ln C(m,k) + ln m unseen ≤ (B + ln(2·S·A/δ_P))/n,   ε = √(2(B + ln(2·S·A/δ_P) +
 * k·ln 2)/n), 0 for k = 1 hold for the support that is seen. The rate is 1/n where a row is nearly deterministic. */
#include "uncertainty/sets.h"

#include <math.h>

double pess__set_log_supports(const pess__set_facts *facts) {
    const double m = facts->possible, k = facts->seen;
    return fmax(lgamma(m + 1) - lgamma(k + 1) - lgamma(m - k + 1), 0) + log(m);
}

double pess__set_seen_radius(const pess__set_facts *facts, double log_term) {
    return facts->seen <= 1 ? 0 : sqrt(2 * (log_term + facts->seen * log(2)) / facts->n);
}

static void set_of(const pess__set_facts *facts, pess__set_pair *pair) {
    const double log_term = pess__set_log_supports(facts) + facts->log_pairs + log(2);
    pair->ball = INFINITY;
    pair->unseen = log_term / facts->n;
    pair->seen_ball = pess__set_seen_radius(facts, log_term);
}

static pess_status compute(const pess__u_problem *problem, const double *v, double *u, pess_error *error) {
    return pess__set_compute(problem, "support", v, u, error);
}

const pess__uncertainty pess__uncertainty_support = {
    .info = {.name = "support",
             .summary = "worst case over an L1 ball on the seen next states and a bound on the mass of the unseen",
             .formula = "reward as l1; unseen mass ≤ (B + ln(4·S·A/δ))/n; on the k seen |P − P_D|₁ ≤ "
                        "√(2(B + ln(4·S·A/δ) + k·ln 2)/n), 0 if k = 1; B = ln C(m,k) + ln m",
             PESS__SET_INFO},
    .compute = compute,
    .set_of = set_of};
