/* u = min(1/√n, W), W where n = 0: the "constants absorbed into α" of the paper's experiments (section 6). Where the
 * range of values is unbounded (γ = 1) an unseen pair has u = ∞, which only a clipped reward can use. */
#include "uncertainty/uncertainty.h"

static pess_status compute(const pess__u_problem *problem, const double *v, double *u, pess_error *error) {
    return pess__u_fill(problem, v, pess__u_inverse_root, u, error);
}

const pess__uncertainty pess__uncertainty_count = {.info = {.name = "count",
                                                            .summary = "the inverse square root of the count",
                                                            .formula = "min(1/√n, W)",
                                                            .holds = PESS_HOLDS_NOTHING,
                                                            .holds_for = pess__holds_nothing,
                                                            .per_action = true,
                                                            .absorbed = "1/√n"},
                                                   .pairs_alone = true,
                                                   .compute = compute};
