/* naive: the empirical model taken at its word (paper, section 4). */
#include "solve/algorithm.h"

static pess_status solve(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return pess__optimise(problem, &(pess__local){0}, solution, error);
}

const pess__algorithm pess__algorithm_naive = {
    .info = {.name = "naive",
             .summary = "the best policy of the empirical model, as if it were the truth",
             .equation = "v = max_π A^π(r_D + γ·P_D·v)",
             .source = "Buckman, Gelada & Bellemare 2021, section 4",
             .settings = PESS__READS_METHOD},
    .works_without_counts = true,
    .spreads = true,
    .pairs_alone = true,
    .solve = solve,
    .evaluate = pess__evaluate_plain};
