/* Density-proximal pessimism (paper, appendix C, "State-wise proximal pessimistic algorithms"):
 *   v = A^π(r_D + γP_D v) − κ·|d_π − d_π̂|,   d_π(s) = (1−γ)·Σ_t γ^t P(s_t = s) from ρ in the empirical model,
 * with κ = α/(1−γ)², or κ = α in absorbed units. The penalty of a state depends on the whole policy, so E_ρ[v] is
 * optimised over policies at once. In occupancies x(s,a), with D(s) = Σ_a x(s,a) = d_π(s)/(1−γ), the policies are a
 * polytope and
 *   E_ρ[v^π] = Σ_{s,a} x(s,a)·r_D(s,a) − κ·Σ_s D(s)·|(1−γ)D(s) − d_π̂(s)|  =: F(x).
 * F is not concave (D|·| is concave where d < d_π̂), so this is a local method: conditional gradient (Frank & Wolfe
 * 1956). A step solves the empirical MDP with the gradient of the penalty as a bonus per state, and moves towards its
 * occupancy as far as F rises along the line, which is looked at directly. F has a kink at d = d_π̂, where much of a
 * good answer lies; |z| is therefore rounded off as √(z² + μ²) in the direction, with μ shrinking. Started from naive,
 * imitation and the best mixture of both; F never falls, the best is kept. "converged" means that no direction rises
 * by more than the tolerance: a stationary point, not a proof of the best policy. α = 0 is naive exactly. */
#include "core/memory.h"
#include "solve/check.h"
#include "solve/evaluator.h"
#include "solve/family.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDINGS = 7, /* values of μ */
    STEPS = 60,    /* conditional gradient steps per μ */
    LINE = 64,     /* points of the line search, refined */
    REFINE = 40
};

typedef struct density {
    const pess__problem *problem;
    double kappa;
    double *target;                 /* [S] d_π̂ */
    double *x, *towards, *best;     /* [S*A] occupancies: the present, the vertex, the best so far */
    double *d_now, *d_towards, *pi; /* [S] D of x and of towards; [S*A] */
    double *bonus;                  /* [S*A] */
    double best_value;
    pess__evaluator *evaluator;
    pess__pulse pulse;
    int64_t iterations;
    double rise; /* what the last direction promised */
} density;

static pess_status coefficient(const pess__problem *problem, double *kappa, pess_error *error) {
    const pess_solve_options *options = problem->options;
    if (!(options->gamma < 1))
        return pess__fail(error, PESS_ARGUMENT,
                          "'density-proximal' needs a discount below 1: visitations are not distributions at %g",
                          options->gamma);
    const double horizon = 1 / (1 - options->gamma);
    *kappa = options->absorbed ? options->alpha : options->alpha * horizon * horizon;
    return PESS_OK;
}

/* Occupancy x(s,a) = D(s)π(a|s) of a policy. */
static pess_status occupancy(density *run, const double *pi, double *x, double *visits, pess_error *error) {
    const pess_model *model = run->problem->model;
    PESS_TRY(pess__evaluator_fill_policy(run->evaluator, pi, NULL, error));
    PESS_TRY(pess__evaluator_visitation(run->evaluator, run->problem->start, 0.01 * run->problem->options->tolerance,
                                        visits, error));
    for (int64_t s = 0; s < model->states; s++)
        for (int64_t z = s * model->actions; z < (s + 1) * model->actions; z++) x[z] = visits[s] * pi[z];
    return PESS_OK;
}

static void state_sums(const pess_model *model, const double *x, double *visits) {
    for (int64_t s = 0; s < model->states; s++) {
        visits[s] = 0;
        for (int64_t z = s * model->actions; z < (s + 1) * model->actions; z++) visits[s] += x[z];
    }
}

/* F at x + t(towards − x); D is linear in t. */
static double objective(const density *run, double gain_now, double gain_towards, double t) {
    const double rate = 1 - run->problem->options->gamma;
    double penalty = 0;
    for (int64_t s = 0; s < run->problem->model->states; s++) {
        const double visits = (1 - t) * run->d_now[s] + t * run->d_towards[s];
        penalty += visits * fabs(rate * visits - run->target[s]);
    }
    return (1 - t) * gain_now + t * gain_towards - run->kappa * penalty;
}

/* What a visit to a pair earns; a sink pays V_lo on top and nothing follows. */
static double pair_reward(const density *run, int64_t z) {
    const pess_model *model = run->problem->model;
    const double sink = run->problem->options->gamma * run->problem->v_lo;
    return model->reward[z] + (model->kind[z] == PESS__ROW_SINK ? sink : 0);
}

static double gain(const density *run, const double *x) {
    const int64_t pairs = run->problem->model->states * run->problem->model->actions;
    double sum = 0;
    for (int64_t z = 0; z < pairs; z++)
        if (x[z] > 0) sum += x[z] * pair_reward(run, z);
    return sum;
}

/* The best point of a grid over (0,1] that is finer near 0, then golden section around it. Returns t, 0 if none rises.
 */
static double line_search(const density *run, double *value) {
    const double now = gain(run, run->x), there = gain(run, run->towards);
    double best = 0, best_value = objective(run, now, there, 0);
    int at = 0;
    for (int i = 1; i <= LINE; i++) {
        const double t = pow(2, -(double)(LINE - i) / 4);
        const double f = objective(run, now, there, t);
        if (f > best_value) best = t, best_value = f, at = i;
    }
    double lo = at <= 1 ? 0 : pow(2, -(double)(LINE - at + 1) / 4),
           hi = at >= LINE ? 1 : pow(2, -(double)(LINE - at - 1) / 4);
    for (int i = 0; i < REFINE && at > 0; i++) {
        const double golden = 0.3819660112501051, a = lo + golden * (hi - lo), b = hi - golden * (hi - lo);
        const double fa = objective(run, now, there, a), fb = objective(run, now, there, b);
        if (fa > best_value) best = a, best_value = fa;
        if (fb > best_value) best = b, best_value = fb;
        if (fa >= fb)
            hi = b;
        else
            lo = a;
    }
    *value = best_value;
    return best;
}

static void move(density *run, double t) {
    const int64_t pairs = run->problem->model->states * run->problem->model->actions;
    for (int64_t z = 0; z < pairs; z++) run->x[z] += t * (run->towards[z] - run->x[z]);
    state_sums(run->problem->model, run->x, run->d_now);
}

/* ∂F/∂D(s) = −κ(|d − d̂| + d·sign(d − d̂)), with |z| rounded off by μ. */
static void fill_gradient(density *run, double mu) {
    const pess_model *model = run->problem->model;
    const double rate = 1 - run->problem->options->gamma;
    for (int64_t s = 0; s < model->states; s++) {
        const double d = rate * run->d_now[s], away = d - run->target[s], size = sqrt(away * away + mu * mu);
        const double slope = -run->kappa * (size + d * away / size);
        for (int64_t z = s * model->actions; z < (s + 1) * model->actions; z++) run->bonus[z] = slope;
    }
}

/* The vertex that the gradient points to: the empirical MDP with a bonus per state. */
static pess_status best_response(density *run, pess_error *error) {
    pess_solution vertex = {0};
    const pess__local local = {.bonus = run->bonus};
    PESS_TRY(pess__optimise(run->problem, &local, &vertex, error));
    const pess_status status = occupancy(run, vertex.policy->probability, run->towards, run->d_towards, error);
    pess_policy_destroy(vertex.policy);
    free(vertex.values);
    free(vertex.naive_values);
    return status;
}

static bool time_left(density *run) {
    run->pulse.done = (double)run->iterations;
    return pess__pulse_beat(&run->pulse);
}

static double promised(const density *run) {
    const pess_model *model = run->problem->model;
    double sum = 0;
    for (int64_t z = 0; z < model->states * model->actions; z++)
        sum += (run->towards[z] - run->x[z]) * (pair_reward(run, z) + run->bonus[z]);
    return sum;
}

/* Conditional gradient from run->x. */
static pess_status climb(density *run, double value, pess_error *error) {
    const pess_solve_options *options = run->problem->options;
    const int64_t pairs = run->problem->model->states * run->problem->model->actions;
    double largest = 0;
    for (int64_t s = 0; s < run->problem->model->states; s++) largest = fmax(largest, run->target[s]);
    double mu = 0.1 * largest;
    for (int level = 0; level < ROUNDINGS; level++, mu *= 0.1) {
        for (int step = 0; step < STEPS; step++) {
            if (!time_left(run) || run->iterations >= options->max_iterations) break;
            fill_gradient(run, mu);
            PESS_TRY(best_response(run, error));
            run->iterations++;
            run->rise = promised(run);
            double higher;
            const double t = line_search(run, &higher);
            if (!(higher > value + 1e-12 * (1 + fabs(value)))) break;
            move(run, t);
            value = higher;
        }
    }
    if (value > run->best_value) {
        run->best_value = value;
        memcpy(run->best, run->x, (size_t)pairs * sizeof(double));
    }
    return PESS_OK;
}

/* π(a|s) = x(s,a)/D(s); the empirical policy where the state is never reached. */
static void policy_of(const pess_model *model, const double *x, const double *visits, const double *fallback,
                      double *pi) {
    for (int64_t s = 0; s < model->states; s++)
        for (int64_t z = s * model->actions; z < (s + 1) * model->actions; z++)
            pi[z] = visits[s] > 0 ? x[z] / visits[s] : fallback[z];
}

static pess_status create(density *run, pess_error *error) {
    const pess__problem *problem = run->problem;
    const int64_t states = problem->model->states, pairs = states * problem->model->actions;
    double **const per_state[] = {&run->target, &run->d_now, &run->d_towards};
    double **const per_pair[] = {&run->x, &run->towards, &run->best, &run->pi, &run->bonus};
    for (size_t i = 0; i < sizeof per_state / sizeof *per_state; i++)
        PESS_TRY(pess__allocate(per_state[i], states, sizeof(double), "the visitations", error));
    for (size_t i = 0; i < sizeof per_pair / sizeof *per_pair; i++)
        PESS_TRY(pess__allocate(per_pair[i], pairs, sizeof(double), "the occupancies", error));
    run->pulse = pess__pulse_start(problem->options, "solving");
    run->pulse.deadline = problem->deadline;
    run->best_value = -INFINITY;
    return pess__evaluator_create(problem->model, problem->options->gamma, problem->v_lo, problem->options->evaluation,
                                  problem->threads, &run->pulse, &run->evaluator, error);
}

static void destroy(density *run) {
    double *const all[] = {run->target,  run->d_now, run->d_towards, run->x,
                           run->towards, run->best,  run->pi,        run->bonus};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    pess__evaluator_destroy(run->evaluator);
}

/* d_π̂ into target; x and d_now are left at imitation. */
static pess_status aim(density *run, const pess_policy *empirical, pess_error *error) {
    PESS_TRY(occupancy(run, empirical->probability, run->x, run->d_now, error));
    const double rate = 1 - run->problem->options->gamma;
    for (int64_t s = 0; s < run->problem->model->states; s++) run->target[s] = rate * run->d_now[s];
    return PESS_OK;
}

/* v of solution->policy: the penalty is a bonus that does not depend on the action. */
static pess_status value_of(density *run, pess_solution *solution, pess_error *error) {
    const pess_model *model = run->problem->model;
    const double rate = 1 - run->problem->options->gamma;
    PESS_TRY(occupancy(run, solution->policy->probability, run->towards, run->d_towards, error));
    for (int64_t s = 0; s < model->states; s++)
        for (int64_t z = s * model->actions; z < (s + 1) * model->actions; z++)
            run->bonus[z] = -run->kappa * fabs(rate * run->d_towards[s] - run->target[s]);
    const pess__local local = {.bonus = run->bonus};
    return pess__evaluate_local(run->problem, &local, solution, error);
}

static pess_status search(density *run, const pess_policy *empirical, pess_error *error) {
    const int64_t pairs = run->problem->model->states * run->problem->model->actions;
    double value;
    PESS_TRY(aim(run, empirical, error));
    memset(run->bonus, 0, (size_t)pairs * sizeof(double));
    PESS_TRY(best_response(run, error)); /* no bonus: naive */
    memcpy(run->best, run->towards, (size_t)pairs * sizeof(double));
    /* From imitation, and from the best mixture of imitation and naive. */
    const double mixture = line_search(run, &value);
    PESS_TRY(climb(run, objective(run, gain(run, run->x), 0, 0), error));
    /* climb overwrote x and towards: the mixture and naive are made again. */
    PESS_TRY(aim(run, empirical, error));
    memset(run->bonus, 0, (size_t)pairs * sizeof(double));
    PESS_TRY(best_response(run, error));
    if (mixture > 0 && mixture < 1) {
        move(run, mixture);
        PESS_TRY(climb(run, value, error));
        memset(run->bonus, 0, (size_t)pairs * sizeof(double));
        PESS_TRY(best_response(run, error));
    }
    memcpy(run->x, run->towards, (size_t)pairs * sizeof(double));
    state_sums(run->problem->model, run->x, run->d_now);
    return climb(run, objective(run, gain(run, run->x), 0, 0), error);
}

static pess_status finish(density *run, const pess_policy *empirical, pess_solution *solution, pess_error *error) {
    const pess_model *model = run->problem->model;
    PESS_TRY(pess__policy_allocate(model->states, model->actions, &solution->policy, error));
    state_sums(model, run->best, run->d_now);
    policy_of(model, run->best, run->d_now, empirical->probability, solution->policy->probability);
    PESS_TRY(value_of(run, solution, error));
    solution->info.iterations = run->iterations;
    solution->info.method = "conditional gradient (local)";
    if (run->pulse.interrupted) return pess__fail(error, PESS_INTERRUPTED, "interrupted while solving");
    if (run->pulse.late)
        solution->info.outcome = PESS_OUTCOME_TIME_LIMIT;
    else if (run->iterations >= run->problem->options->max_iterations)
        solution->info.outcome = PESS_OUTCOME_ITERATION_LIMIT;
    return PESS_OK;
}

static pess_status run_family(const pess__problem *problem, bool optimise, pess_solution *solution, pess_error *error) {
    const pess__local naive = {0};
    density run = {.problem = problem};
    PESS_TRY(coefficient(problem, &run.kappa, error));
    if (run.kappa == 0)
        return optimise ? pess__optimise(problem, &naive, solution, error)
                        : pess__evaluate_local(problem, &naive, solution, error);
    pess_policy *empirical = NULL;
    PESS_TRY(pess_policy_empirical(problem->counts, problem->model, &empirical, error));
    pess_status status = create(&run, error);
    if (status == PESS_OK && optimise) {
        status = search(&run, empirical, error);
        if (status == PESS_OK) status = finish(&run, empirical, solution, error);
    } else if (status == PESS_OK) {
        status = aim(&run, empirical, error);
        if (status == PESS_OK) status = value_of(&run, solution, error);
    }
    destroy(&run);
    pess_policy_destroy(empirical);
    return status;
}

static pess_status solve(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return run_family(problem, true, solution, error);
}

static pess_status evaluate(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return run_family(problem, false, solution, error);
}

const pess__family pess__family_density_proximal = {
    .info = {.name = "density-proximal",
             .summary = "stay near the states that the logging policy visits; a local method",
             .equation = "v = A^π(r_D + γ·P_D·v) − α·|d_π − d_π̂|/(1−γ)²",
             .source = "the paper, appendix C, state-wise proximal pessimistic algorithms",
             .takes_alpha = true,
             .knobs = "absorbed units: α·|d_π − d_π̂|"},
    .solve = solve,
    .evaluate = evaluate,
};
