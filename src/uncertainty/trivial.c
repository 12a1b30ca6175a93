/* u = W: no error of a Bellman update is larger than the range of values. Makes UA into proximal (paper, 5.3). */
#include "uncertainty/uncertainty.h"

static double width(const pess__u_problem *problem, const double *v, int64_t pair) {
    (void)v, (void)pair;
    return problem->v_hi - problem->v_lo;
}

static pess_status compute(const pess__u_problem *problem, const double *v, double *u, pess_error *error) {
    PESS_TRY(pess__u_check_range(problem, error));
    return pess__u_fill(problem, v, width, u, error);
}

const pess__uncertainty pess__uncertainty_trivial = {.info = {.name = "trivial",
                                                              .summary = "the width of the range of values",
                                                              .formula = "W",
                                                              .holds = PESS_HOLDS_EVERYTHING,
                                                              .holds_for = pess__holds_everything,
                                                              .per_action = true},
                                                     .pairs_alone = true,
                                                     .compute = compute};
