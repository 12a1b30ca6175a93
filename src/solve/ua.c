/* Uncertainty-aware pessimism (paper, section 5.1):  v = A^π(r_D + γP_D v) − α·u^π.
 *
 * The bound decides how the best policy is found. There are three cases:
 *
 * - One number per pair: greedy in q = r_D + γP_D v − αu.
 *
 * - State-wise (hoeffding-s): the local optimum is stochastic, found by water-filling; where the cap W is reached the
 *   greedy action is compared with it.
 *
 * - Depending on v: a fixed point of v = max_a r_D + γP_D v − αu(v). For a set and α ≤ 1 that is (1−α)·naive +
 *   α·(worst case), a monotone contraction. Beyond α = 1, and for bernstein, it need not be a contraction; whether it
 *   settled is in the outcome.
 *
 * α = 0 is naive exactly. */
#include "core/memory.h"
#include "solve/adversary.h"
#include "solve/waterfill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------- one number per pair */

/* bonus = −αu, or with clipping clip(r − αu) − r: the penalised reward stays within the range of rewards, and an unseen
 * pair has the lowest reward whatever W is (the experiments' code; it drops the uncertainty of transitions). */
static pess_status fill_bonus(const pess__problem *problem, const double *u, double *bonus, pess_error *error) {
    const pess_model *model = problem->model;
    const pess_solve_options *options = problem->options;
    const int64_t pairs = model->states * model->actions;
    for (int64_t z = 0; z < pairs; z++) {
        if (model->kind[z] == PESS_ROW_NONE) continue;
        if (options->clip) {
            const double penalty = problem->counts->n[z] > 0 ? problem->alpha * u[z] : INFINITY;
            bonus[z] = fmin(fmax(model->reward[z] - penalty, model->reward_lo), model->reward_hi) - model->reward[z];
        } else if (isfinite(u[z])) {
            bonus[z] = -problem->alpha * u[z];
        } else {
            return pess__unseen_without_limit(problem, z, error);
        }
    }
    return PESS_OK;
}

static pess_status run_per_pair(const pess__problem *problem, bool optimise, pess_solution *solution,
                                pess_error *error) {
    const int64_t pairs = problem->model->states * problem->model->actions;
    const pess__u_problem u_problem = pess__u_problem_of(problem);
    double *u = NULL, *bonus = NULL;
    pess_status status = pess__allocate(&u, pairs, sizeof *u, "the uncertainty", error);
    if (status == PESS_OK) status = pess__allocate(&bonus, pairs, sizeof *bonus, "the penalties", error);
    if (status == PESS_OK) status = problem->uncertainty->compute(&u_problem, NULL, u, error);
    if (status == PESS_OK) status = fill_bonus(problem, u, bonus, error);
    const pess__local local = {.bonus = bonus};
    if (status == PESS_OK)
        status = optimise ? pess__optimise(problem, &local, solution, error)
                          : pess__evaluate_local(problem, &local, solution, error);
    free(bonus);
    return pess__keep_uncertainty(solution, u, status);
}

/* ---------------------------------------------------------------------------------------- state-wise */

typedef struct statewise {
    int64_t actions;
    double *strength; /* [S] α·c(s) */
    double *w;        /* [S*A] 1/n, infinite where n = 0 */
    double cap;       /* α·W */
} statewise;

/* −min(x, αW) = max(−x, −αW): the better of water-filling and of the greedy action, whose penalty is then the cap. */
static double statewise_improve(const void *context, int64_t state, const double *q, double *pi) {
    const statewise *bound = context;
    const int64_t greedy = pess__greedy_action(q, bound->actions);
    const double capped = q[greedy] - bound->cap;
    const double strength = bound->strength[state];
    if (strength > 0) {
        const double filled = pess__waterfill(q, bound->w + state * bound->actions, bound->actions, strength, pi);
        if (filled >= capped) return filled;
    }
    memset(pi, 0, (size_t)bound->actions * sizeof *pi);
    pi[greedy] = 1;
    return capped;
}

static double statewise_penalty(const void *context, int64_t state, const double *pi) {
    const statewise *bound = context;
    const double *w = bound->w + state * bound->actions;
    double sum = 0;
    for (int64_t a = 0; a < bound->actions; a++)
        if (pi[a] > 0) sum += pi[a] * pi[a] * w[a];
    return fmin(bound->strength[state] * sqrt(sum), bound->cap);
}

static pess_status run_statewise(const pess__problem *problem, bool optimise, pess_solution *solution,
                                 pess_error *error) {
    const pess__u_problem u_problem = pess__u_problem_of(problem);
    const pess_model *model = problem->model;
    const double alpha = problem->alpha;
    statewise bound = {.actions = model->actions, .cap = alpha * (u_problem.v_hi - u_problem.v_lo)};
    PESS_TRY(pess__u_check_range(&u_problem, error));
    pess_status status = pess__allocate(&bound.strength, model->states, sizeof(double), "the uncertainty", error);
    if (status == PESS_OK)
        status = pess__allocate(&bound.w, model->states * model->actions, sizeof(double), "the uncertainty", error);
    if (status == PESS_OK) status = problem->uncertainty->statewise(&u_problem, bound.strength, bound.w, error);
    if (status == PESS_OK) {
        for (int64_t s = 0; s < model->states; s++) bound.strength[s] *= alpha;
        const pess__local local = {.context = &bound, .improve = statewise_improve, .penalty = statewise_penalty};
        status = optimise ? pess__optimise(problem, &local, solution, error)
                          : pess__evaluate_local(problem, &local, solution, error);
    }
    free(bound.strength);
    free(bound.w);
    return status;
}

/* ---------------------------------------------------------------------------------------- depending on v */

typedef struct set_penalty {
    pess__adversary adversary; /* first: pess__adversary_prepare */
    double alpha, width;
} set_penalty;

/* q = r + γPv − α·min(h + γ(P_D v − worst), W); W for an unseen pair. Affine pieces: (1−α)P_D + α·(the worst P), or P_D
 * where the cap holds. */
static double set_pair(const void *context, int thread, int64_t pair, double naive, const double *v,
                       pess_model *frozen) {
    const set_penalty *penalty = context;
    const pess__adversary *adversary = &penalty->adversary;
    const pess__problem *problem = adversary->problem;
    double u = penalty->width, constant = penalty->width, centre;
    if (problem->counts->n[pair] > 0) {
        const double half = adversary->set->pairs[pair].reward_width;
        double weight = penalty->alpha;
        const double worst = pess__adversary_worst(adversary, thread, pair, v, weight, &centre, frozen);
        const double penalised = half + problem->options->gamma * (centre - worst);
        if (penalised < u)
            u = penalised, constant = half;
        else if (frozen)
            pess__adversary_worst(adversary, thread, pair, v, 0, &centre, frozen);
    }
    if (frozen) frozen->reward[pair] = problem->model->reward[pair] - penalty->alpha * constant;
    return naive - penalty->alpha * u;
}

static pess_status run_set(const pess__problem *problem, bool optimise, pess_solution *solution, pess_error *error) {
    set_penalty penalty = {.alpha = problem->alpha, .width = problem->v_hi - problem->v_lo};
    PESS_TRY(pess__adversary_create(problem, 1, &penalty.adversary, error));
    const pess__operator operator_ = {
        .context = &penalty, .contraction = penalty.alpha <= 1, .prepare = pess__adversary_prepare, .pair = set_pair};
    const pess_status status = optimise ? pess__fixed_point_optimise(problem, &operator_, solution, error)
                                        : pess__fixed_point_evaluate(problem, &operator_, solution, error);
    pess__adversary_destroy(&penalty.adversary);
    return status;
}

/* bernstein: u(v) by the bound itself, anew for every sweep; its affine piece holds u as it is. */
typedef struct moving_penalty {
    const pess__problem *problem;
    pess__u_problem u_problem;
    double *u; /* [S*A] */
} moving_penalty;

static pess_status moving_prepare(void *context, const double *v, pess_error *error) {
    const moving_penalty *penalty = context;
    return penalty->problem->uncertainty->compute(&penalty->u_problem, v, penalty->u, error);
}

static double moving_pair(const void *context, int thread, int64_t pair, double naive, const double *v,
                          pess_model *frozen) {
    (void)thread, (void)v;
    const moving_penalty *penalty = context;
    const double amount = penalty->problem->alpha * penalty->u[pair];
    if (frozen) frozen->reward[pair] = penalty->problem->model->reward[pair] - amount;
    return naive - amount;
}

static pess_status run_moving(const pess__problem *problem, bool optimise, pess_solution *solution, pess_error *error) {
    moving_penalty penalty = {.problem = problem, .u_problem = pess__u_problem_of(problem)};
    const int64_t pairs = problem->model->states * problem->model->actions;
    PESS_TRY(pess__allocate(&penalty.u, pairs, sizeof(double), "the uncertainty", error));
    const pess__operator operator_ = {
        .context = &penalty, .contraction = false, .prepare = moving_prepare, .pair = moving_pair};
    const pess_status status = optimise ? pess__fixed_point_optimise(problem, &operator_, solution, error)
                                        : pess__fixed_point_evaluate(problem, &operator_, solution, error);
    free(penalty.u);
    return status;
}

/* u at the final values, for the reader. */
static pess_status attach_uncertainty(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    const pess__u_problem u_problem = pess__u_problem_of(problem);
    const int64_t pairs = problem->model->states * problem->model->actions;
    double *u;
    PESS_TRY(pess__allocate(&u, pairs, sizeof *u, "the uncertainty", error));
    const pess_status status = problem->uncertainty->compute(&u_problem, solution->values, u, error);
    return pess__keep_uncertainty(solution, u, status);
}

/* ---------------------------------------------------------------------------------------- the algorithm */

static pess_status run(const pess__problem *problem, bool optimise, pess_solution *solution, pess_error *error) {
    const pess_uncertainty_info *info = &problem->uncertainty->info;
    if (problem->alpha == 0) {
        const pess__local naive = {0};
        return optimise ? pess__optimise(problem, &naive, solution, error)
                        : pess__evaluate_local(problem, &naive, solution, error);
    }
    if (!problem->counts)
        return pess__fail(error, PESS_ARGUMENT, "'ua' needs the counts of a log; an exact model has none");
    if (problem->options->clip && (!info->per_action || info->depends_on_values))
        return pess__fail(
            error, PESS_ARGUMENT,
            "penalised rewards can be clipped for an uncertainty that is one number per state and action, "
            "not for '%s'",
            info->name);
    if (!info->per_action) return run_statewise(problem, optimise, solution, error);
    if (!info->depends_on_values) return run_per_pair(problem, optimise, solution, error);
    const pess__u_problem u_problem = pess__u_problem_of(problem);
    PESS_TRY(pess__u_check_range(&u_problem, error));
    PESS_TRY(info->is_set ? run_set(problem, optimise, solution, error)
                          : run_moving(problem, optimise, solution, error));
    return attach_uncertainty(problem, solution, error);
}

static pess_status solve(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return run(problem, true, solution, error);
}

static pess_status evaluate(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return run(problem, false, solution, error);
}

const pess__algorithm pess__algorithm_ua = {
    .info = {.name = "ua",
             .summary = "uncertainty-aware: subtract α times the Bellman uncertainty at every step",
             .equation = "v = A^π(r_D + γ·P_D·v) − α·u^π",
             .source = "Buckman, Gelada & Bellemare 2021, section 5.1",
             .settings = "uncertainty alpha absorbed-alpha clip " PESS__READS_METHOD,
             .default_uncertainty = "count"},
    .spreads = true,
    .pairs_alone = true,
    .solve = solve,
    .evaluate = evaluate,
};
