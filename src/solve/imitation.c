/* imitation: the empirical policy itself (paper, section 4). */
#include "solve/algorithm.h"

/* π̂(a|s) = n(s,a)/n(s) */
static pess_status solve(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    PESS_TRY(pess_policy_empirical(problem->counts, problem->model, &solution->policy, error));
    return pess__evaluate_plain(problem, solution, error);
}

const pess__algorithm pess__algorithm_imitation = {
    .info = {.name = "imitation",
             .summary = "the logging policy as the data show it; evaluated naively",
             .equation = "π(a|s) = n(s,a) / n(s)",
             .source = "Buckman, Gelada & Bellemare 2021, section 4"},
    .own_way = "the logging policy is counted, not found",
    .pairs_alone = true,
    .solve = solve,
    .evaluate = pess__evaluate_plain};
