/* L1 ball around the whole row (Weissman et al. 2003): P(|P_D − P|₁ ≥ ε) ≤ 2^m·exp(−nε²/2) for n samples of m possible
 * successors, and a union over the pairs:  ε = √(2(ln(S·A/δ_P) + m·ln 2)/n).  2^m is never formed. */
#include "uncertainty/sets.h"

#include <math.h>

void pess__set_l1(const pess__set_facts *facts, pess__set_pair *pair) {
    pair->ball = sqrt(2 * (facts->log_pairs + facts->possible * log(2)) / facts->n);
    pair->unseen = 1;
    pair->seen_ball = INFINITY;
}

pess_status pess__u_l1(const pess__u_problem *problem, const double *v, double *u, pess_error *error) {
    return pess__set_compute(problem, "l1", v, u, error);
}
