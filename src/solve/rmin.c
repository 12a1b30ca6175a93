/* R-MIN: pairs seen less than m times are taken to be the worst for ever (R-MAX of Brafman & Tennenholtz 2002 with the
 * sign turned, as in Laroche et al. 2019): q(s,a) = V_lo where n(s,a) < m. */
#include "core/memory.h"
#include "solve/algorithm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A copy of the model's kinds and rewards in which rarely seen pairs are sinks worth V_lo; the rest is shared. */
static pess_status lower_model(const pess__problem *problem, double least, pess_model *lowered, pess_error *error) {
    const pess_model *model = problem->model;
    const int64_t pairs = model->states * model->actions;
    *lowered = *model;
    lowered->kind = NULL;
    lowered->reward = NULL;
    pess_status status = pess__allocate(&lowered->kind, pairs, 1, "the lowered model", error);
    if (status == PESS_OK) status = pess__allocate(&lowered->reward, pairs, sizeof(double), "the lowered model", error);
    if (status != PESS_OK) return status;
    memcpy(lowered->kind, model->kind, (size_t)pairs);
    memcpy(lowered->reward, model->reward, (size_t)pairs * sizeof(double));
    for (int64_t z = 0; z < pairs; z++) {
        if (model->kind[z] == PESS_ROW_NONE || (double)problem->counts->n[z] >= least) continue;
        if (!isfinite(problem->v_lo))
            return pess__fail(error, PESS_ARGUMENT,
                              "rmin: the worst for ever has no finite value at gamma %g; use gamma < 1",
                              problem->options->gamma);
        lowered->kind[z] = PESS_ROW_SINK;
        if (problem->options->horizon > 0) /* V_lo of the steps left follows */
            lowered->reward[z] = model->has_terminals ? fmin(model->reward_lo, 0) : model->reward_lo;
        else
            lowered->reward[z] =
                problem->v_lo - problem->options->gamma * problem->v_lo; /* q = reward + γV_lo = V_lo */
    }
    return PESS_OK;
}

typedef pess_status action(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                           pess_error *error);

static pess_status with_lowered(const pess__problem *problem, pess_solution *solution, action *act, pess_error *error) {
    pess_model lowered;
    const pess__local greedy = {0};
    pess__problem changed = *problem;
    changed.model = &lowered;
    solution->info.min_count = pess__min_count(problem, 10);
    pess_status status = lower_model(problem, solution->info.min_count, &lowered, error);
    if (status == PESS_OK) status = act(&changed, &greedy, solution, error);
    free(lowered.kind);
    free(lowered.reward);
    /* What the solver took for the naive value is that of the lowered model. */
    free(solution->naive_values);
    solution->naive_values = NULL;
    return status;
}

static pess_status solve(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return with_lowered(problem, solution, pess__optimise, error);
}

static pess_status evaluate(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return with_lowered(problem, solution, pess__evaluate_local, error);
}

const pess__algorithm pess__algorithm_rmin = {
    .info = {.name = "rmin",
             .summary = "pairs seen fewer than min_count times are worth the least there is",
             .equation = "v = max_π A^π q,  q = r_D + γ·P_D·v where n ≥ min_count, V_lo elsewhere",
             .source = "after Brafman, Tennenholtz 2002; Laroche, Trichelair, Tachet des Combes 2019",
             .settings = "min-count " PESS__READS_METHOD},
    .pairs_alone = true,
    .solve = solve,
    .evaluate = evaluate};
