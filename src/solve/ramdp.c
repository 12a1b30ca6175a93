/* RaMDP: rewards adjusted by the count (Petrik, Ghavamzadeh, Chow 2016): r(s,a) − α/√n(s,a). */
#include "core/memory.h"
#include "solve/algorithm.h"

#include <math.h>
#include <stdlib.h>

/* bonus = −α·min(1/√n, W); a pair that was never seen pays α·W. */
static pess_status fill_bonus(const pess__problem *problem, double *bonus, pess_error *error) {
    const double width = (problem->v_hi - problem->v_lo) / problem->unit, alpha = problem->alpha;
    for (int64_t z = 0; z < problem->model->states * problem->model->actions; z++) {
        if (alpha == 0 || problem->model->kind[z] == PESS_ROW_NONE) continue;
        const int64_t n = problem->counts->n[z];
        if (n == 0 && !isfinite(width)) return pess__unseen_without_limit(problem, z, error);
        const double u = n > 0 ? 1 / sqrt((double)n) : width;
        bonus[z] = -alpha * (u < width ? u : width);
    }
    return PESS_OK;
}

typedef pess_status action(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                           pess_error *error);

static pess_status with_bonus(const pess__problem *problem, pess_solution *solution, action *act, pess_error *error) {
    double *bonus = NULL;
    PESS_TRY(pess__allocate(&bonus, problem->model->states * problem->model->actions, sizeof(double),
                            "the adjusted rewards", error));
    pess_status status = fill_bonus(problem, bonus, error);
    const pess__local local = {.bonus = bonus};
    if (status == PESS_OK) status = act(problem, &local, solution, error);
    free(bonus);
    return status;
}

static pess_status solve(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return with_bonus(problem, solution, pess__optimise, error);
}

static pess_status evaluate(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return with_bonus(problem, solution, pess__evaluate_local, error);
}

const pess__algorithm pess__algorithm_ramdp = {
    .info = {.name = "ramdp",
             .summary = "rewards lowered by alpha over the square root of the count",
             .equation = "v = max_π A^π(r_D − α·min(1/√n, W) + γ·P_D·v)",
             .source = "Petrik, Ghavamzadeh, Chow 2016; equal to ua with count in absorbed units",
             .settings = "alpha absorbed-alpha " PESS__READS_METHOD},
    .pairs_alone = true,
    .solve = solve,
    .evaluate = evaluate};
