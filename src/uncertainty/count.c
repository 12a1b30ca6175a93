/* u = min(1/√n, W), W where n = 0: the "constants absorbed into α" of the paper's experiments (section 6). Where the
 * range of values is unbounded (γ = 1) an unseen pair has u = ∞, which only a clipped reward can use. */
#include "uncertainty/uncertainty.h"

#include <math.h>

static double inverse_root(const pess__u_problem *problem, const double *v, int64_t pair) {
    (void)v;
    return 1 / sqrt((double)problem->counts->n[pair]);
}

pess_status pess__u_count(const pess__u_problem *problem, const double *v, double *u, pess_error *error) {
    return pess__u_fill(problem, v, inverse_root, u, error);
}
