/* Robust values: the worst case over the ambiguity set of every pair on its own (sa-rectangular; Iyengar 2005, Nilim &
 * El Ghaoui 2005):
 *   v(s) = max_a  max(r_D − h, r_lo) + γ·min_{P in set(s,a)} P·v,     and V_lo for a pair that was never seen.
 * With a set that holds for all values and policies at once, v(s) is a lower bound of the value of the policy found,
 * with probability 1−δ. α in [0,1] scales every width, radius and unseen mass, and mixes an unseen pair's V_lo with its
 * model value: 1 is the full set, 0 is naive exactly. Absorbed units make no difference here.
 * A monotone γ-contraction; solved by the guarded Newton method of fixed_point.h, which here is policy iteration with
 * the adversary's answer held fixed (partial policy iteration where the guard steps in). */
#include "core/memory.h"
#include "solve/adversary.h"

#include <math.h>
#include <stdlib.h>

typedef struct worst_case {
    pess__adversary adversary; /* first: pess__adversary_prepare */
    double scale;
} worst_case;

/* (1−α)·naive + α·V_lo, written as an affine piece where the row can carry it; a uniform row is held at its value. */
static double unseen_pair(const worst_case *worst, int64_t pair, double naive, pess_model *frozen) {
    const pess__problem *problem = worst->adversary.problem;
    const pess_model *model = problem->model;
    const double scale = worst->scale;
    const double q = scale < 1 ? (1 - scale) * naive + scale * problem->v_lo : problem->v_lo;
    if (!frozen) return q;
    const int64_t from = model->row[pair], length = model->row[pair + 1] - from, to = frozen->row[pair];
    const bool sparse = model->kind[pair] == PESS_ROW_SPARSE && scale < 1;
    frozen->kind[pair] = PESS_ROW_SPARSE;
    frozen->reward[pair] = sparse ? (1 - scale) * model->reward[pair] + scale * problem->v_lo : q;
    for (int64_t i = 0; i < length; i++)
        frozen->probability[to + i] = sparse ? (1 - scale) * model->probability[from + i] : 0;
    return q;
}

static double robust_pair(const void *context, int thread, int64_t pair, double naive, const double *v,
                          pess_model *frozen) {
    const worst_case *worst = context;
    const pess__problem *problem = worst->adversary.problem;
    if (problem->counts->n[pair] == 0) return unseen_pair(worst, pair, naive, frozen);
    const double lowest = pess__adversary_worst(&worst->adversary, thread, pair, v, 1, NULL, frozen);
    const double reward =
        fmax(problem->model->reward[pair] - worst->adversary.set->pairs[pair].reward_width, problem->model->reward_lo);
    if (frozen) frozen->reward[pair] = reward;
    return reward + problem->options->gamma * lowest;
}

/* u = r_D + γP_D v − q: what the worst case takes off at the final values. */
static pess_status attach_uncertainty(worst_case *worst, pess_solution *solution, pess_error *error) {
    const pess__problem *problem = worst->adversary.problem;
    const pess_model *model = problem->model;
    const int64_t pairs = model->states * model->actions;
    double *u;
    PESS_TRY(pess__allocate(&u, pairs, sizeof *u, "the uncertainty", error));
    pess__q_values(problem, NULL, solution->values, u);
    pess_status status = pess__adversary_prepare(worst, solution->values, error);
    for (int64_t z = 0; z < pairs; z++)
        u[z] = model->kind[z] == PESS_ROW_NONE ? 0 : u[z] - robust_pair(worst, 0, z, u[z], solution->values, NULL);
    return pess__keep_uncertainty(solution, u, status);
}

static pess_status check(const pess__problem *problem, pess_error *error) {
    const double alpha = problem->alpha;
    if (!problem->counts)
        return pess__fail(error, PESS_ARGUMENT, "'robust' needs the counts of a log; an exact model has none");
    if (!(alpha <= 1))
        return pess__fail(error, PESS_ARGUMENT,
                          "'robust' takes α from 0 (naive) to 1 (the full set), which scales the set's radius; %g is "
                          "beyond it",
                          alpha);
    if (!isfinite(problem->v_lo))
        return pess__fail(
            error, PESS_ARGUMENT,
            "'robust' needs a lowest value, and with a discount of %g and rewards down to %g there is none",
            problem->options->gamma, problem->model->reward_lo);
    return PESS_OK;
}

static pess_status run(const pess__problem *problem, bool optimise, pess_solution *solution, pess_error *error) {
    const pess__local naive = {0};
    if (problem->alpha == 0)
        return optimise ? pess__optimise(problem, &naive, solution, error)
                        : pess__evaluate_local(problem, &naive, solution, error);
    PESS_TRY(check(problem, error));
    worst_case worst = {.scale = problem->alpha};
    PESS_TRY(pess__adversary_create(problem, worst.scale, &worst.adversary, error));
    const pess__operator operator_ = {.context = &worst,
                                      .floored = problem->model->return_declared,
                                      .contraction = true,
                                      .prepare = pess__adversary_prepare,
                                      .pair = robust_pair};
    pess_status status = optimise ? pess__fixed_point_optimise(problem, &operator_, solution, error)
                                  : pess__fixed_point_evaluate(problem, &operator_, solution, error);
    if (status == PESS_OK) status = attach_uncertainty(&worst, solution, error);
    pess__adversary_destroy(&worst.adversary);
    return status;
}

static pess_status solve(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return run(problem, true, solution, error);
}

static pess_status evaluate(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return run(problem, false, solution, error);
}

const pess__algorithm pess__algorithm_robust = {
    .info = {.name = "robust",
             .summary = "worst case over the set of worlds that the log allows",
             .equation = "v(s) = max_a min_{(r,P) in set(s,a)} r + γ·P·v   [α from 0 to 1 scales the set]",
             .source = "Iyengar 2005; Nilim & El Ghaoui 2005; Ho, Petrik & Wiesemann 2021",
             .settings = "uncertainty alpha absorbed-alpha " PESS__READS_METHOD,
             .default_uncertainty = "support",
             .takes_sets_only = true},
    .spreads = true,
    .solve = solve,
    .evaluate = evaluate,
};
