/* Policy iteration, value iteration and modified policy iteration for every algorithm whose penalty at a state depends
 * on π(·|s) alone (Puterman 1994, chapter 6; inexact policy iteration: Gargiani et al. 2024). */
#include "solve/optimise.h"

#include "core/memory.h"
#include "core/ranges.h"
#include "model/named.h"
#include "model/spread.h"
#include "solve/check.h"
#include "solve/horizon.h"
#include "solve/proper.h"
#include "solve/small.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARALLEL_FROM = 262144, /* states × actions from which a sweep is shared out */
    SWEEPS = 30,            /* evaluation sweeps of modified policy iteration */
    FIRST_SWEEPS = 40,      /* inexact policy iteration: sweeps before the first evaluation … */
    MORE_SWEEPS = 4         /* … and between two */
};
/* Inexact policy iteration: each evaluation brings the residual down to this share of what the sweep found. */
static const double FORCING = 0.1;

static void engine_release(pess__engine *engine) {
    free(engine->v);
    free(engine->tv);
    free(engine->choice);
    free(engine->pi);
    free(engine->q);
    free(engine->row);
    free(engine->part);
    pess__evaluator_destroy(engine->chain);
}

static pess_status engine_create(const pess__problem *problem, const pess__local *local, pess__engine *engine,
                                 pess_error *error) {
    const pess_model *model = problem->model;
    const int64_t states = model->states, actions = model->actions;
    *engine = (pess__engine){
        .problem = problem,
        .model = model,
        .local = local,
        .states = states,
        .actions = actions,
        .gamma = problem->options->gamma,
        .threads = states * actions >= PARALLEL_FROM ? problem->threads : 1,
        .monitor = pess__monitor_start(&problem->options->progress, problem->options->algorithm, problem->deadline)};
    for (int64_t z = 0; z < states * actions && !engine->any_uniform; z++)
        engine->any_uniform = model->kind[z] == PESS_ROW_UNIFORM;
    pess_status status = pess__allocate(&engine->v, states, sizeof(double), "the values", error);
    if (status == PESS_OK) status = pess__allocate(&engine->tv, states, sizeof(double), "the values", error);
    if (status == PESS_OK && local->improve == NULL)
        status = pess__allocate(&engine->choice, states, sizeof(int32_t), "the policy", error);
    if (status == PESS_OK && local->improve != NULL)
        status = pess__allocate(&engine->pi, states * actions, sizeof(double), "the policy", error);
    const int64_t buffer = engine->threads * pess__apart(actions, sizeof(double));
    if (status == PESS_OK) status = pess__allocate(&engine->q, buffer, sizeof(double), "a row of q", error);
    if (status == PESS_OK) status = pess__allocate(&engine->row, buffer, sizeof(double), "a row of the policy", error);
    if (status == PESS_OK)
        status = pess__allocate(&engine->part, engine->threads, sizeof(pess__sweep), "the sweep", error);
    if (status == PESS_OK)
        status = pess__evaluator_create(model, engine->gamma, problem->v_lo, problem->options->evaluation,
                                        problem->threads, &engine->monitor, &engine->chain, error);
    if (status != PESS_OK)
        engine_release(engine);
    else if (engine->choice != NULL)
        memset(engine->choice, 0xff, (size_t)states * sizeof(int32_t));
    return status;
}

/* The chain of the present policy, with or without the algorithm's bonus and penalty. */
static pess_status fill_chain(pess__engine *engine, bool penalised, pess_error *error) {
    const pess__local *local = engine->local;
    pess__evaluator *chain = engine->chain;
    const double *bonus = penalised ? local->bonus : NULL;
    if (engine->choice != NULL) return pess__evaluator_fill_choice(chain, engine->choice, bonus, error);
    PESS_TRY(pess__evaluator_fill_policy(chain, engine->pi, bonus, error));
    if (!penalised || local->penalty == NULL) return PESS_OK;
#pragma omp parallel for num_threads(engine->threads) if (engine->threads > 1) schedule(static)
    for (int64_t s = 0; s < engine->states; s++)
        if (!engine->model->terminal[s])
            chain->constant[s] -= local->penalty(local->context, s, engine->pi + s * engine->actions);
    return PESS_OK;
}

/* v = A^π(r + bonus + γPv) − penalty(π) for the present policy. */
static pess_status evaluate(pess__engine *engine, double tolerance, pess_error *error) {
    PESS_TRY(fill_chain(engine, true, error));
    pess__evaluator_result result;
    return pess__evaluator_evaluate(engine->chain, tolerance, engine->v, &result, error);
}

/* Differences below this are rounding. */
static double rounding(double scale) { return 64 * DBL_EPSILON * scale; }

static double larger(double x, double y) { return x > y ? x : y; }

/* Asked once per outer iteration; false: stop, for the reason left in outcome, or interrupted. */
static bool go_on(pess__engine *engine, int64_t iterations, pess_outcome *outcome) {
    engine->monitor.done = (double)iterations;
    if (!pess__monitor_check(&engine->monitor)) {
        *outcome = PESS_OUTCOME_TIME_LIMIT;
        return false;
    }
    if (iterations >= engine->problem->options->max_iterations) {
        *outcome = PESS_OUTCOME_ITERATION_LIMIT;
        return false;
    }
    return true;
}

static void swap_values(pess__engine *engine) {
    double *swap = engine->v;
    engine->v = engine->tv;
    engine->tv = swap;
}

/* `count` more sweeps v ← Tv after the one whose result is in tv; the policy follows. Returns the last residual. */
static double look_ahead(pess__engine *engine, int count, double threshold, double residual) {
    for (int k = 0; k < count && pess__monitor_check(&engine->monitor); k++) {
        swap_values(engine);
        residual = pess__improve(engine, PESS__SWITCH_GAINS, threshold).residual;
    }
    return residual;
}

/* π_{k+1} greedy in v^{π_k}, until no state gains: a row is replaced only where it gains more than a quarter of the
 * tolerance, so that values rise strictly, no policy returns and ties cannot make it cycle. With `exact` each
 * evaluation goes to the end; otherwise to FORCING of the last residual, and some sweeps that cost as much as one step
 * of the linear solver carry each improvement further. */
static pess_status policy_iteration(pess__engine *engine, bool exact, pess_solution_info *info, pess_error *error) {
    const double tolerance = engine->problem->options->tolerance, tightest = 0.25 * tolerance;
    pess__sweep sweep = pess__improve(engine, PESS__SWITCH_ALWAYS, 0);
    double residual = sweep.residual;
    if (!exact) residual = look_ahead(engine, FIRST_SWEEPS, tightest, residual);
    while (go_on(engine, info->iterations, &info->outcome)) {
        const double target = exact ? tightest : larger(FORCING * residual, tightest);
        if (!exact) swap_values(engine);
        PESS_TRY(evaluate(engine, target, error));
        info->iterations++;
        const double threshold = larger(tightest, rounding(sweep.scale));
        sweep = pess__improve(engine, PESS__SWITCH_GAINS, threshold);
        engine->evaluated = sweep.changed == 0 && target == tightest;
        if (sweep.residual <= larger(tolerance, rounding(sweep.scale)) || engine->evaluated) {
            info->outcome = PESS_OUTCOME_CONVERGED;
            break;
        }
        residual = sweep.residual;
        if (!exact && sweep.changed > 0) residual = look_ahead(engine, MORE_SWEEPS, threshold, residual);
    }
    return PESS_OK;
}

/* A policy that ends, where not all do: the way to the nearest end, or, where the algorithm has a say in which policies
 * there are, the logging policy, which every one of them allows. */
static pess_status start_proper(pess__engine *engine, pess_error *error) {
    int64_t never;
    if (engine->choice != NULL)
        return pess__never_ends(engine->model, (pess__taken){NULL, NULL}, engine->choice, &never, error);
    pess_policy *empirical = NULL;
    PESS_TRY(pess_policy_empirical(engine->problem->counts, engine->model, &empirical, error));
    memcpy(engine->pi, empirical->probability, (size_t)(engine->states * engine->actions) * sizeof *engine->pi);
    pess_policy_destroy(empirical);
    return pess__check_proper(engine->model, engine->pi, engine->problem->counts->state_names, error);
}

static pess_status still_proper(const pess__engine *engine, pess_error *error) {
    const pess_counts *counts = engine->problem->counts;
    char shown[PESS__ID_SIZE];
    int64_t never;
    PESS_TRY(pess__never_ends(engine->model, (pess__taken){engine->pi, engine->choice}, NULL, &never, error));
    if (never < 0) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT,
                      "gamma is 1, and from state %s a policy can collect reward for ever: the best return has no "
                      "limit; use gamma < 1",
                      pess__show_id(counts != NULL ? counts->state_names : NULL, never, shown));
}

/* γ = 1 where some policies never end: from a policy that does, by strict gains alone. If the next one π' did not, it
 * would have a recurrent class without an end; with μ its stationary law, μ(T_π' v − v) = μ r_π', and the left side is
 * positive, for a class without a changed state would have been there before. So its mean reward is positive, and
 * returns have no limit: that is refused. Otherwise all policies are proper, and the last one is the best of these, for
 * v ≥ T_π v implies v ≥ v^π where π ends. Values are found to a thousandth of what counts as a gain, so that their
 * errors gain nothing. Breaking ties afterwards could make the policy endless, so they stay as they are. */
static pess_status proper_policy_iteration(pess__engine *engine, pess_solution_info *info, pess_error *error) {
    const double gain = engine->problem->options->tolerance;
    double scale = 0;
    PESS_TRY(start_proper(engine, error));
    while (go_on(engine, info->iterations, &info->outcome)) {
        PESS_TRY(evaluate(engine, 1e-3 * gain, error));
        info->iterations++;
        const pess__sweep sweep = pess__improve(engine, PESS__SWITCH_GAINS, larger(gain, rounding(scale)));
        scale = sweep.scale;
        engine->evaluated = sweep.changed == 0;
        if (engine->evaluated) {
            info->outcome = PESS_OUTCOME_CONVERGED;
            return PESS_OK;
        }
        PESS_TRY(still_proper(engine, error));
    }
    return PESS_OK;
}

/* v ← Tv */
static void value_iteration(pess__engine *engine, pess_solution_info *info) {
    while (go_on(engine, info->iterations, &info->outcome)) {
        const pess__sweep sweep = pess__improve(engine, PESS__SWITCH_NEVER, 0);
        swap_values(engine);
        info->iterations++;
        if (sweep.residual <= larger(engine->problem->options->tolerance, rounding(sweep.scale))) {
            info->outcome = PESS_OUTCOME_CONVERGED;
            return;
        }
    }
}

/* v ← T_π^m T v with π greedy in v. Ends at the tolerance, or where the policy stays and v is its value: a tie given to
 * the smaller action leaves a gain of up to PESS__TIE that no sweep removes. */
static pess_status modified_policy_iteration(pess__engine *engine, pess_solution_info *info, pess_error *error) {
    const double tolerance = engine->problem->options->tolerance;
    double change = INFINITY; /* of the last evaluation sweep: sup|T_π v − v| */
    while (go_on(engine, info->iterations, &info->outcome)) {
        const pess__sweep sweep = pess__improve(engine, PESS__SWITCH_GAINS, 0.25 * tolerance);
        const double enough = larger(tolerance, rounding(sweep.scale));
        swap_values(engine);
        info->iterations++;
        if (sweep.residual <= enough || (sweep.changed == 0 && change <= 0.25 * enough)) {
            info->outcome = PESS_OUTCOME_CONVERGED;
            return PESS_OK;
        }
        PESS_TRY(fill_chain(engine, true, error));
        for (int m = 0; m < SWEEPS; m++) {
            change = pess__evaluator_apply(engine->chain, engine->v, engine->tv);
            swap_values(engine);
        }
    }
    return PESS_OK;
}

static pess_status run(pess__engine *engine, pess_solution_info *info, pess_error *error) {
    const bool direct = engine->chain->evaluation == PESS_EVALUATION_LU;
    const pess_method method = engine->problem->options->method;
    if (engine->problem->endless >= 0) {
        if (method == PESS_METHOD_VALUE_ITERATION || method == PESS_METHOD_MODIFIED_POLICY_ITERATION)
            return pess__need_ends(engine->problem, "this method", error);
        info->method = "policy iteration";
        return proper_policy_iteration(engine, info, error);
    }
    switch (method) {
        case PESS_METHOD_VALUE_ITERATION:
            info->method = "value iteration";
            value_iteration(engine, info);
            return PESS_OK;
        case PESS_METHOD_MODIFIED_POLICY_ITERATION:
            info->method = "modified policy iteration";
            return modified_policy_iteration(engine, info, error);
        case PESS_METHOD_POLICY_ITERATION:
            info->method = "policy iteration";
            return policy_iteration(engine, true, info, error);
        case PESS_METHOD_AUTO: break;
    }
    info->method = direct ? "policy iteration" : "inexact policy iteration";
    return policy_iteration(engine, direct, info, error);
}

static pess_status interrupted(const pess__engine *engine, int64_t iterations, pess_error *error) {
    return pess__fail(error, PESS_INTERRUPTED, "%s: interrupted after %lld iterations",
                      engine->problem->options->algorithm, (long long)iterations);
}

/* Ties to the smallest action, then the value of exactly the policy that is returned and its Bellman residual. The
 * deadline no longer counts here: an answer without its value would be none. */
static pess_status finish(pess__engine *engine, pess_solution_info *info, pess_error *error) {
    engine->monitor.deadline = INFINITY;
    engine->monitor.late = false;
    const bool keep = engine->problem->endless >= 0;
    const pess__sweep sweep = pess__improve(engine, keep ? PESS__SWITCH_NEVER : PESS__SWITCH_ALWAYS, 0);
    info->residual = sweep.residual;
    if (sweep.changed > 0 || !engine->evaluated) {
        PESS_TRY(evaluate(engine, 0.25 * engine->problem->options->tolerance, error));
        info->residual = pess__improve(engine, PESS__SWITCH_NEVER, 0).residual;
    }
    info->evaluation = engine->chain->evaluation == PESS_EVALUATION_LU ? "lu" : "krylov";
    return PESS_OK;
}

static pess_status values_buffer(double **values, int64_t states, pess_error *error) {
    return *values != NULL ? PESS_OK : pess__allocate(values, states, sizeof(double), "the values", error);
}

/* The unpenalised value of the policy: the same matrix, the constant without bonus and penalty. */
static pess_status naive_values(pess__engine *engine, pess_solution *solution, pess_error *error) {
    const size_t bytes = (size_t)engine->states * sizeof(double);
    PESS_TRY(values_buffer(&solution->naive_values, engine->states, error));
    memcpy(solution->naive_values, solution->values, bytes);
    if (engine->local->bonus == NULL && engine->local->penalty == NULL) return PESS_OK;
    PESS_TRY(fill_chain(engine, false, error));
    pess__evaluator_result result;
    return pess__evaluator_again(engine->chain, engine->chain->constant, 0.25 * engine->problem->options->tolerance,
                                 solution->naive_values, &result, error);
}

static pess_status store(pess__engine *engine, pess_solution *solution, pess_error *error) {
    PESS_TRY(values_buffer(&solution->values, engine->states, error));
    memcpy(solution->values, engine->v, (size_t)engine->states * sizeof(double));
    PESS_TRY(naive_values(engine, solution, error));
    if (solution->policy == NULL)
        PESS_TRY(pess__policy_allocate(engine->states, engine->actions, &solution->policy, error));
    double *table = solution->policy->probability;
    const size_t bytes = (size_t)(engine->states * engine->actions) * sizeof *table;
    if (engine->choice == NULL) {
        memcpy(table, engine->pi, bytes);
        return PESS_OK;
    }
    memset(table, 0, bytes);
    for (int64_t s = 0; s < engine->states; s++)
        if (engine->choice[s] >= 0) table[s * engine->actions + engine->choice[s]] = 1.0;
    return PESS_OK;
}

pess_status pess__optimise(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                           pess_error *error) {
    if (problem->model->spread != NULL) return problem->model->spread->optimise(problem, local, solution, error);
    if (problem->options->horizon > 0) return pess__horizon_optimise(problem, local, solution, error);
    if (pess__small_fits(problem, local)) return pess__small_optimise(problem, local, solution, error);
    pess__engine engine;
    PESS_TRY(engine_create(problem, local, &engine, error));
    pess_solution_info *info = &solution->info;
    info->iterations = 0;
    pess_status status = run(&engine, info, error);
    if (status == PESS_OK && !engine.monitor.interrupted) status = finish(&engine, info, error);
    if (status == PESS_OK && !engine.monitor.interrupted) status = store(&engine, solution, error);
    if (status == PESS_OK && engine.monitor.interrupted) status = interrupted(&engine, info->iterations, error);
    engine_release(&engine);
    return status;
}

pess_status pess__evaluate_local(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                                 pess_error *error) {
    const pess_names *names = problem->counts != NULL ? problem->counts->state_names : NULL;
    if (problem->model->spread != NULL) return problem->model->spread->evaluate(problem, local, solution, error);
    if (problem->options->horizon > 0) return pess__horizon_evaluate(problem, local, solution, error);
    if (problem->endless >= 0)
        PESS_TRY(pess__check_proper(problem->model, solution->policy->probability, names, error));
    /* The policy is given, not improved: any local problem has the table form here. */
    pess__engine engine;
    PESS_TRY(engine_create(problem, local, &engine, error));
    free(engine.choice);
    engine.choice = NULL;
    free(engine.pi);
    engine.pi = solution->policy->probability;
    pess_solution_info *info = &solution->info;
    info->iterations = 1;
    pess_status status = evaluate(&engine, 0.25 * problem->options->tolerance, error);
    if (status == PESS_OK) {
        info->residual = pess__evaluator_apply(engine.chain, engine.v, engine.tv);
        info->outcome = engine.monitor.late ? PESS_OUTCOME_TIME_LIMIT : PESS_OUTCOME_CONVERGED;
        info->method = "evaluation";
        info->evaluation = engine.chain->evaluation == PESS_EVALUATION_LU ? "lu" : "krylov";
        engine.monitor.deadline = INFINITY; /* the naive value of the same policy belongs to the answer */
        engine.monitor.late = false;
        status = values_buffer(&solution->values, engine.states, error);
    }
    if (status == PESS_OK) {
        memcpy(solution->values, engine.v, (size_t)engine.states * sizeof(double));
        status = naive_values(&engine, solution, error);
    }
    engine.pi = NULL;
    engine_release(&engine);
    return status;
}

pess_status pess__evaluate_plain(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return pess__evaluate_local(problem, &(pess__local){0}, solution, error);
}
