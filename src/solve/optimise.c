/* The engine of every algorithm whose penalty at a state depends on π(·|s) alone: what it holds, and what follows the
 * iterations (iterations.c). */
#include "solve/optimise.h"

#include "core/memory.h"
#include "core/ranges.h"
#include "core/scattered.h"
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
    PARALLEL_FROM = 262144, /* states × actions from which a sweep is shared out, and its rows packed */
    PACKED_AFTER = 2,       /* sweeps; packing costs about two */
    SHARED_FROM = 65536,    /* successors from which it is looked whether rows are shared … */
    SHARED_LENGTH = 16      /* … if they are that long on average */
};

void pess__engine_release(pess__engine *engine) {
    free(engine->v);
    free(engine->tv);
    free(engine->choice);
    free(engine->pi);
    free(engine->q);
    free(engine->row);
    free(engine->part);
    pess__packed_destroy(engine->packed);
    pess__shared_rows_destroy(engine->shared);
    pess__evaluator_destroy(engine->chain);
    pess__structure_release(&engine->structure);
}

pess_status pess__engine_create(const pess__problem *problem, const pess__local *local, pess__engine *engine,
                                pess_error *error) {
    const pess_model *model = problem->model;
    const int64_t states = model->states, actions = model->actions, places = states + PESS__MORE_VALUES;
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
    pess_status status = pess__allocate_scattered(&engine->v, places, sizeof(double), "the values", error);
    if (status == PESS_OK) status = pess__allocate_scattered(&engine->tv, places, sizeof(double), "the values", error);
    if (status == PESS_OK && local->improve == NULL)
        status = pess__allocate(&engine->choice, states, sizeof(int32_t), "the policy", error);
    if (status == PESS_OK && local->improve != NULL)
        status = pess__allocate(&engine->pi, states * actions, sizeof(double), "the policy", error);
    engine->room = pess__sweep_block(actions) * actions;
    const int64_t room = engine->threads * pess__apart(engine->room, sizeof(double));
    const int64_t rows = engine->threads * pess__apart(actions, sizeof(double));
    if (status == PESS_OK) status = pess__allocate(&engine->q, room, sizeof(double), "rows of q", error);
    if (status == PESS_OK) status = pess__allocate(&engine->row, rows, sizeof(double), "a row of the policy", error);
    if (status == PESS_OK)
        status = pess__allocate(&engine->part, engine->threads, sizeof(pess__sweep), "the sweep", error);
    if (status == PESS_OK)
        status = pess__evaluator_create(model, engine->gamma, problem->v_lo, problem->options->evaluation,
                                        problem->threads, &engine->monitor, &engine->chain, error);
    if (status != PESS_OK) {
        pess__engine_release(engine);
        return status;
    }
    engine->chain->moved = 0; /* a sweep counts them */
    if (engine->choice != NULL) memset(engine->choice, 0xff, (size_t)states * sizeof(int32_t));
    return PESS_OK;
}

static bool rows_are_long(const pess_model *model) {
    const int64_t pairs = model->states * model->actions;
    return model->row[pairs] >= SHARED_FROM && model->row[pairs] >= SHARED_LENGTH * pairs;
}

/* Where memory does not suffice, the model's own rows do. */
void pess__engine_pack(pess__engine *engine) {
    const pess_model *model = engine->model;
    pess_error unused;
    engine->sweeps++;
    if (engine->sweeps == 1 && rows_are_long(model)) (void)pess__shared_rows_find(model, &engine->shared, &unused);
    if (engine->sweeps == PACKED_AFTER + 1 && !engine->finishing && engine->shared == NULL &&
        engine->states * engine->actions >= PARALLEL_FROM)
        (void)pess__packed_create(model, engine->local->bonus, engine->threads, &engine->packed, &unused);
}

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

pess_status pess__fill_chain(pess__engine *engine, bool penalised, pess_error *error) {
    const pess__filled wanted = penalised ? PESS__FILLED_PENALISED : PESS__FILLED_PLAIN;
    if (engine->filled == wanted) return PESS_OK;
    const bool factored = engine->filled != PESS__FILLED_NOT && engine->chain->factored;
    engine->filled = PESS__FILLED_NOT;
    PESS_TRY(fill_chain(engine, penalised, error));
    engine->chain->factored = factored; /* the matrix is the same */
    engine->filled = wanted;
    return PESS_OK;
}

pess_status pess__engine_evaluate(pess__engine *engine, double tolerance, pess_error *error) {
    PESS_TRY(pess__fill_chain(engine, true, error));
    pess__evaluator_result result;
    return pess__evaluator_evaluate(engine->chain, tolerance, engine->v, &result, error);
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
    engine->finishing = true;
    const bool keep = engine->problem->endless >= 0;
    const pess__sweep sweep = pess__improve(engine, keep ? PESS__SWITCH_NEVER : PESS__SWITCH_ALWAYS, 0);
    info->residual = sweep.residual;
    if (sweep.changed > 0 || !engine->evaluated) {
        pess__evaluator_result result;
        PESS_TRY(pess__fill_chain(engine, true, error));
        PESS_TRY(pess__evaluator_evaluate(engine->chain, 0.25 * engine->problem->options->tolerance, engine->v, &result,
                                          error));
        const bool same = result.iterations == 0 && !isnan(result.residual); /* the values were those of the policy */
        if (!same) info->residual = pess__improve(engine, PESS__SWITCH_NEVER, 0).residual;
    }
    info->evaluation = engine->chain->evaluation == PESS_EVALUATION_LU ? "lu" : "krylov";
    info->structure = engine->structure.found;
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
    PESS_TRY(pess__fill_chain(engine, false, error));
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
    PESS_TRY(pess__engine_create(problem, local, &engine, error));
    pess_solution_info *info = &solution->info;
    info->iterations = 0;
    pess_status status = pess__iterate(&engine, info, error);
    if (status == PESS_OK && !engine.monitor.interrupted) status = finish(&engine, info, error);
    pess__packed_destroy(engine.packed); /* before the solution takes its memory */
    engine.packed = NULL;
    if (status == PESS_OK && !engine.monitor.interrupted) status = store(&engine, solution, error);
    if (status == PESS_OK && engine.monitor.interrupted) status = interrupted(&engine, info->iterations, error);
    pess__engine_release(&engine);
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
    PESS_TRY(pess__engine_create(problem, local, &engine, error));
    free(engine.choice);
    engine.choice = NULL;
    free(engine.pi);
    engine.pi = solution->policy->probability;
    pess_solution_info *info = &solution->info;
    info->iterations = 1;
    pess_status status = pess__engine_evaluate(&engine, 0.25 * problem->options->tolerance, error);
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
    pess__engine_release(&engine);
    return status;
}

pess_status pess__evaluate_plain(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return pess__evaluate_local(problem, &(pess__local){0}, solution, error);
}
