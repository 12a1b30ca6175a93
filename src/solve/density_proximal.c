/* Density-proximal pessimism (paper, appendix C, "State-wise proximal pessimistic algorithms"):
 *   v = A^π(r_D + γP_D v) − κ·|d_π − d_π̂|,   d_π(s) = (1−γ)·Σ_t γ^t P(s_t = s) from ρ in the empirical model,
 * with κ = α/(1−γ)², or κ = α in absorbed units. The penalty of a state depends on the whole policy, so E_ρ[v] is
 * optimised over all policies at once: with D = d_π/(1−γ),
 *   E_ρ[v^π] = F(π) = Σ_s D(s)·(r^π(s) − κ·|d_π(s) − d_π̂(s)|).
 * By the adjoint method dF/dπ(a|s) = D(s)·Q(s,a), where Q are the action values of π in the empirical model with the
 * bonus g(s) = ∂F/∂D(s) = −κ(|d − d̂| + d·sign(d − d̂)) at every step: one factorisation, two solves.
 *
 * F is not concave and has a kink wherever d = d̂, where much of a good answer lies. So this is a local method: π is a
 * softmax, |z| is rounded off as √(z² + μ²) − μ with μ falling in steps, and each F_μ is climbed by L-BFGS. It starts
 * from three mixtures of naive and imitation, with F at once and by way of a concave surrogate; naive and imitation are
 * candidates themselves, so the answer is never worse than either, and the best F is kept. "converged" means that every
 * climb came to rest, not that no better policy exists. α = 0 is naive exactly; as α grows the visitation tends to that
 * of imitation. */
#include "core/lbfgs.h"
#include "core/memory.h"
#include "solve/algorithm.h"
#include "solve/check.h"
#include "solve/evaluator.h"
#include "solve/horizon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_MU 0.1                                /* μ, in units of the largest d̂; falls tenfold until … */
#define LAST_MU 5e-8                                /* … it is below this */
#define SECOND_MU 1e-4                              /* where F takes over from its surrogate */
#define SOFTENING 1e-2                              /* falls with μ */
enum { STEPS = 500 };                               /* of each climb */
static const double mixtures[] = {0.05, 0.5, 0.95}; /* shares of naive at the start */

typedef struct density {
    const pess__problem *problem;
    double kappa, mu;
    bool surrogate;                      /* the weight D(s) of the penalty is held at that of imitation */
    double *target;                      /* [S] d_π̂ */
    double *visits, *adjoint, *constant; /* [S] D, the values of the adjoint problem, its rewards */
    double *pi, *theta, *bonus, *q;      /* [S*A] */
    double *best;                        /* [S*A] policy */
    double best_value;
    pess__evaluator *evaluator;
    pess__monitor monitor;
    int64_t evaluations;
    bool unfinished; /* some climb ran out of steps */
} density;

static pess_status coefficient(const pess__problem *problem, double *kappa, pess_error *error) {
    const pess_solve_options *options = problem->options;
    PESS_TRY(pess__no_horizon(problem, "'density-proximal'", error));
    if (!(options->gamma < 1))
        return pess__fail(error, PESS_ARGUMENT,
                          "'density-proximal' needs a discount below 1: discounted visits have no distribution at %g",
                          options->gamma);
    const double horizon = 1 / (1 - options->gamma);
    *kappa = problem->absorbed ? problem->alpha : problem->alpha * horizon * horizon;
    return PESS_OK;
}

/* F_μ(π) from D; the gradient's g(s) goes to bonus where it is asked for. evaluator->constant is r^π. With the weight
 * D(s) of the penalty held at D̂(s) = d̂(s)/(1−γ) it is concave in the occupancies, and like F near d = d̂. */
static double objective(density *run, double mu, bool gradient) {
    const pess_model *model = run->problem->model;
    const double rate = 1 - run->problem->options->gamma;
    double sum = 0;
    for (int64_t s = 0; s < model->states; s++) {
        const double d = rate * run->visits[s], away = d - run->target[s], size = sqrt(away * away + mu * mu);
        const double weight = run->surrogate ? run->target[s] / rate : run->visits[s];
        sum += run->visits[s] * run->evaluator->constant[s] - run->kappa * weight * (size - mu);
        if (!gradient) continue;
        const double g = -run->kappa * ((run->surrogate ? 0 : size - mu) + rate * weight * away / size);
        for (int64_t z = s * model->actions; z < (s + 1) * model->actions; z++) run->bonus[z] = g;
    }
    return sum;
}

static pess_status visit(density *run, const double *pi, pess_error *error) {
    PESS_TRY(pess__evaluator_fill_policy(run->evaluator, pi, NULL, error));
    return pess__evaluator_visitation(run->evaluator, run->problem->start, 0.01 * run->problem->options->tolerance,
                                      run->visits, error);
}

/* π(·|s) = softmax of θ over the actions that the state has. */
static void softmax(const pess_model *model, const double *theta, double *pi) {
    for (int64_t s = 0; s < model->states; s++) {
        const int64_t first = s * model->actions, last = first + model->actions;
        double top = -INFINITY, sum = 0;
        for (int64_t z = first; z < last; z++)
            if (model->kind[z] != PESS_ROW_NONE) top = fmax(top, theta[z]);
        for (int64_t z = first; z < last; z++) sum += pi[z] = model->kind[z] != PESS_ROW_NONE ? exp(theta[z] - top) : 0;
        for (int64_t z = first; z < last && sum > 0; z++) pi[z] /= sum;
    }
}

/* θ of a policy, with a little of every action: a softmax has no slope where a probability is 0. */
static void soften(const pess_model *model, const double *pi, double share, double *theta) {
    for (int64_t z = 0; z < model->states * model->actions; z++)
        theta[z] = log((1 - share) * pi[z] + share / (double)model->actions);
}

/* F_μ and dF_μ/dθ(s,a) = D(s)π(a|s)(Q(s,a) − Σ_b π(b|s)Q(s,b)). */
static pess_status evaluate_theta(void *context, const double *theta, double *f, double *gradient, pess_error *error) {
    density *run = context;
    const pess_model *model = run->problem->model;
    run->monitor.done = (double)++run->evaluations;
    softmax(model, theta, run->pi);
    PESS_TRY(visit(run, run->pi, error));
    *f = objective(run, run->mu, true);
    for (int64_t s = 0; s < model->states; s++)
        run->constant[s] = model->terminal[s] ? 0 : run->evaluator->constant[s] + run->bonus[s * model->actions];
    pess__evaluator_result result;
    PESS_TRY(pess__evaluator_again(run->evaluator, run->constant, run->problem->options->tolerance, run->adjoint,
                                   &result, error));
    pess__q_values(run->problem, run->bonus, run->adjoint, run->q);
    for (int64_t s = 0; s < model->states; s++) {
        const int64_t first = s * model->actions, last = first + model->actions;
        double mean = 0;
        for (int64_t z = first; z < last; z++)
            if (run->pi[z] > 0) mean += run->pi[z] * run->q[z];
        for (int64_t z = first; z < last; z++)
            gradient[z] = run->pi[z] > 0 ? run->visits[s] * run->pi[z] * (run->q[z] - mean) : 0;
    }
    return PESS_OK;
}

/* Keeps the policy if its F, without any rounding off, is the best so far. */
static pess_status consider(density *run, const double *pi, pess_error *error) {
    const int64_t pairs = run->problem->model->states * run->problem->model->actions;
    PESS_TRY(visit(run, pi, error));
    const double value = objective(run, 0, false);
    if (!(value > run->best_value)) return PESS_OK;
    run->best_value = value;
    memcpy(run->best, pi, (size_t)pairs * sizeof(double));
    return PESS_OK;
}

/* Climbs F_μ (or its surrogate) from run->pi with μ from `mu` down to the last level. */
static pess_status climb(density *run, bool surrogate, double mu, pess_error *error) {
    const pess_model *model = run->problem->model;
    const int64_t limit = run->problem->options->max_iterations;
    const pess__lbfgs search = {.n = model->states * model->actions,
                                .context = run,
                                .evaluate = evaluate_theta,
                                .max_steps = STEPS < limit ? STEPS : limit,
                                .tolerance = 1e-12};
    double largest = 0;
    for (int64_t s = 0; s < model->states; s++) largest = fmax(largest, run->target[s]);
    for (; mu > LAST_MU && pess__monitor_check(&run->monitor); mu *= 0.1) {
        double f;
        int64_t steps;
        soften(model, run->pi, fmin(SOFTENING, mu), run->theta);
        run->mu = mu * largest;
        run->surrogate = surrogate;
        PESS_TRY(pess__lbfgs_maximise(&search, run->theta, &f, &steps, error));
        run->surrogate = false;
        if (mu < 10 * LAST_MU && steps >= search.max_steps) run->unfinished = true;
        softmax(model, run->theta, run->pi);
        PESS_TRY(consider(run, run->pi, error));
    }
    return PESS_OK;
}

/* From every mixture of naive and imitation. */
static pess_status search(density *run, const double *naive, const double *empirical, pess_error *error) {
    const pess_model *model = run->problem->model;
    const int64_t pairs = model->states * model->actions;
    PESS_TRY(consider(run, naive, error));
    PESS_TRY(consider(run, empirical, error));
    for (size_t i = 0; i < 2 * sizeof mixtures / sizeof *mixtures; i++) {
        const double share = mixtures[i / 2];
        for (int64_t z = 0; z < pairs; z++) run->pi[z] = share * naive[z] + (1 - share) * empirical[z];
        if (i % 2 == 0) {
            PESS_TRY(climb(run, false, FIRST_MU, error));
        } else {
            PESS_TRY(climb(run, true, FIRST_MU, error));
            PESS_TRY(climb(run, false, SECOND_MU, error));
        }
    }
    return PESS_OK;
}

static pess_status create(density *run, pess_error *error) {
    const pess__problem *problem = run->problem;
    const int64_t states = problem->model->states, pairs = states * problem->model->actions;
    double **const per_state[] = {&run->target, &run->visits, &run->adjoint, &run->constant};
    double **const per_pair[] = {&run->pi, &run->theta, &run->bonus, &run->q, &run->best};
    for (size_t i = 0; i < sizeof per_state / sizeof *per_state; i++)
        PESS_TRY(pess__allocate(per_state[i], states, sizeof(double), "the visitations", error));
    for (size_t i = 0; i < sizeof per_pair / sizeof *per_pair; i++)
        PESS_TRY(pess__allocate(per_pair[i], pairs, sizeof(double), "the policies", error));
    run->monitor = pess__monitor_start(&problem->options->progress, "solving", problem->deadline);
    run->best_value = -INFINITY;
    return pess__evaluator_create(problem->model, problem->options->gamma, problem->v_lo, problem->options->evaluation,
                                  problem->threads, &run->monitor, &run->evaluator, error);
}

static void destroy(density *run) {
    double *const all[] = {run->target, run->visits, run->adjoint, run->constant, run->pi,
                           run->theta,  run->bonus,  run->q,       run->best};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    pess__evaluator_destroy(run->evaluator);
}

static pess_status aim(density *run, const pess_policy *empirical, pess_error *error) {
    PESS_TRY(visit(run, empirical->probability, error));
    const double rate = 1 - run->problem->options->gamma;
    for (int64_t s = 0; s < run->problem->model->states; s++) run->target[s] = rate * run->visits[s];
    return PESS_OK;
}

/* v of solution->policy: the penalty is a bonus that does not depend on the action. */
static pess_status value_of(density *run, pess_solution *solution, pess_error *error) {
    const pess_model *model = run->problem->model;
    const double rate = 1 - run->problem->options->gamma;
    PESS_TRY(visit(run, solution->policy->probability, error));
    for (int64_t s = 0; s < model->states; s++)
        for (int64_t z = s * model->actions; z < (s + 1) * model->actions; z++)
            run->bonus[z] = -run->kappa * fabs(rate * run->visits[s] - run->target[s]);
    const pess__local local = {.bonus = run->bonus};
    return pess__evaluate_local(run->problem, &local, solution, error);
}

static pess_status optimise(density *run, const pess_policy *empirical, pess_solution *solution, pess_error *error) {
    const pess__problem *problem = run->problem;
    const int64_t pairs = problem->model->states * problem->model->actions;
    const pess__local none = {0};
    PESS_TRY(pess__optimise(problem, &none, solution, error)); /* leaves naive in solution->policy */
    PESS_TRY(search(run, solution->policy->probability, empirical->probability, error));
    if (run->monitor.interrupted) return pess__fail(error, PESS_INTERRUPTED, "interrupted while solving");
    const bool late = run->monitor.late;
    run->monitor.deadline = INFINITY;
    run->monitor.late = false; /* the answer is there; its value belongs to it */
    memcpy(solution->policy->probability, run->best, (size_t)pairs * sizeof(double));
    pess__problem last = *problem;
    last.deadline = INFINITY;
    run->problem = &last;
    const pess_status status = value_of(run, solution, error);
    run->problem = problem;
    PESS_TRY(status);
    solution->info.iterations = run->evaluations;
    solution->info.method = "l-bfgs (local)";
    if (late)
        solution->info.outcome = PESS_OUTCOME_TIME_LIMIT;
    else if (run->unfinished)
        solution->info.outcome = PESS_OUTCOME_ITERATION_LIMIT;
    return PESS_OK;
}

static pess_status run_algorithm(const pess__problem *problem, bool optimising, pess_solution *solution,
                                 pess_error *error) {
    const pess__local naive = {0};
    density run = {.problem = problem};
    PESS_TRY(coefficient(problem, &run.kappa, error));
    if (run.kappa == 0)
        return optimising ? pess__optimise(problem, &naive, solution, error)
                          : pess__evaluate_local(problem, &naive, solution, error);
    pess_policy *empirical = NULL;
    PESS_TRY(pess_policy_empirical(problem->counts, problem->model, &empirical, error));
    pess_status status = create(&run, error);
    if (status == PESS_OK) status = aim(&run, empirical, error);
    if (status == PESS_OK)
        status = optimising ? optimise(&run, empirical, solution, error) : value_of(&run, solution, error);
    destroy(&run);
    pess_policy_destroy(empirical);
    return status;
}

static pess_status solve(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return run_algorithm(problem, true, solution, error);
}

static pess_status evaluate(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return run_algorithm(problem, false, solution, error);
}

const pess__algorithm pess__algorithm_density_proximal = {
    .info = {.name = "density-proximal",
             .summary = "stay near the states that the logging policy visits; a local method",
             .equation = "v = A^π(r_D + γ·P_D·v) − α·|d_π − d_π̂|   [theory units: α·|d_π − d_π̂| / (1-γ)²]",
             .source = "Buckman, Gelada & Bellemare 2021, appendix C, state-wise proximal pessimistic algorithms",
             .settings = "alpha absorbed-alpha max-iterations"},
    .own_way = "it follows the gradient of the whole policy",
    .pairs_alone = true,
    .solve = solve,
    .evaluate = evaluate,
};
