/* The solver of every algorithm whose penalty at a state depends on π(·|s) alone: what it holds, and what follows the
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

void pess__solver_release(pess__solver *solver) {
    free(solver->v);
    free(solver->tv);
    free(solver->choice);
    free(solver->pi);
    free(solver->q);
    free(solver->row);
    free(solver->part);
    pess__packed_destroy(solver->packed);
    pess__shared_rows_destroy(solver->shared);
    pess__evaluator_destroy(solver->chain);
    pess__structure_release(&solver->structure);
}

pess_status pess__solver_create(const pess__problem *problem, const pess__local *local, pess__solver *solver,
                                pess_error *error) {
    const pess_model *model = problem->model;
    const int64_t states = model->states, actions = model->actions, places = states + PESS__MORE_VALUES;
    *solver = (pess__solver){
        .problem = problem,
        .model = model,
        .local = local,
        .states = states,
        .actions = actions,
        .gamma = problem->options->gamma,
        .threads = states * actions >= PARALLEL_FROM ? problem->threads : 1,
        .monitor = pess__monitor_start(&problem->options->progress, problem->options->algorithm, problem->deadline)};
    for (int64_t z = 0; z < states * actions && !solver->any_uniform; z++)
        solver->any_uniform = model->kind[z] == PESS_ROW_UNIFORM;
    pess_status status = pess__allocate_scattered(&solver->v, places, sizeof(double), "the values", error);
    if (status == PESS_OK) status = pess__allocate_scattered(&solver->tv, places, sizeof(double), "the values", error);
    if (status == PESS_OK && local->improve == NULL)
        status = pess__allocate(&solver->choice, states, sizeof(int32_t), "the policy", error);
    if (status == PESS_OK && local->improve != NULL)
        status = pess__allocate(&solver->pi, states * actions, sizeof(double), "the policy", error);
    solver->room = pess__sweep_block(actions) * actions;
    const int64_t room = solver->threads * pess__apart(solver->room, sizeof(double));
    const int64_t rows = solver->threads * pess__apart(actions, sizeof(double));
    if (status == PESS_OK) status = pess__allocate(&solver->q, room, sizeof(double), "rows of q", error);
    if (status == PESS_OK) status = pess__allocate(&solver->row, rows, sizeof(double), "a row of the policy", error);
    if (status == PESS_OK)
        status = pess__allocate(&solver->part, solver->threads, sizeof(pess__sweep), "the sweep", error);
    if (status == PESS_OK)
        status = pess__evaluator_create(model, solver->gamma, problem->v_lo, problem->options->evaluation,
                                        problem->threads, &solver->monitor, &solver->chain, error);
    if (status != PESS_OK) {
        pess__solver_release(solver);
        return status;
    }
    solver->chain->moved = 0; /* a sweep counts them */
    if (solver->choice != NULL) memset(solver->choice, 0xff, (size_t)states * sizeof(int32_t));
    return PESS_OK;
}

static bool rows_are_long(const pess_model *model) {
    const int64_t pairs = model->states * model->actions;
    return model->row[pairs] >= SHARED_FROM && model->row[pairs] >= SHARED_LENGTH * pairs;
}

/* Where memory does not suffice, the model's own rows do. */
void pess__solver_pack(pess__solver *solver) {
    const pess_model *model = solver->model;
    pess_error unused;
    solver->sweeps++;
    if (solver->sweeps == 1 && rows_are_long(model)) (void)pess__shared_rows_find(model, &solver->shared, &unused);
    if (solver->sweeps == PACKED_AFTER + 1 && !solver->finishing && solver->shared == NULL &&
        solver->states * solver->actions >= PARALLEL_FROM)
        (void)pess__packed_create(model, solver->local->bonus, solver->threads, &solver->packed, &unused);
}

static pess_status fill_chain(pess__solver *solver, bool penalised, pess_error *error) {
    const pess__local *local = solver->local;
    pess__evaluator *chain = solver->chain;
    const double *bonus = penalised ? local->bonus : NULL;
    if (solver->choice != NULL) return pess__evaluator_fill_choice(chain, solver->choice, bonus, error);
    PESS_TRY(pess__evaluator_fill_policy(chain, solver->pi, bonus, error));
    if (!penalised || local->penalty == NULL) return PESS_OK;
#pragma omp parallel for num_threads(solver->threads) if (solver->threads > 1) schedule(static)
    for (int64_t s = 0; s < solver->states; s++)
        if (!solver->model->terminal[s])
            chain->constant[s] -= local->penalty(local->context, s, solver->pi + s * solver->actions);
    return PESS_OK;
}

pess_status pess__fill_chain(pess__solver *solver, bool penalised, pess_error *error) {
    const pess__filled wanted = penalised ? PESS__FILLED_PENALISED : PESS__FILLED_PLAIN;
    if (solver->filled == wanted) return PESS_OK;
    const bool factored = solver->filled != PESS__FILLED_NOT && solver->chain->factored;
    solver->filled = PESS__FILLED_NOT;
    PESS_TRY(fill_chain(solver, penalised, error));
    solver->chain->factored = factored; /* the matrix is the same */
    solver->filled = wanted;
    return PESS_OK;
}

pess_status pess__solver_evaluate(pess__solver *solver, double tolerance, pess_error *error) {
    PESS_TRY(pess__fill_chain(solver, true, error));
    pess__evaluator_result result;
    return pess__evaluator_evaluate(solver->chain, tolerance, solver->v, &result, error);
}

static pess_status interrupted(const pess__solver *solver, int64_t iterations, pess_error *error) {
    return pess__fail(error, PESS_INTERRUPTED, "%s: interrupted after %lld iterations",
                      solver->problem->options->algorithm, (long long)iterations);
}

/* Ties to the smallest action, then the value of exactly the policy that is returned and its Bellman residual. The
 * deadline no longer counts here: an answer without its value would be none. */
static pess_status finish(pess__solver *solver, pess_solution_info *info, pess_error *error) {
    solver->monitor.deadline = INFINITY;
    solver->monitor.late = false;
    solver->finishing = true;
    const bool keep = solver->problem->endless >= 0;
    const pess__sweep sweep = pess__improve(solver, keep ? PESS__SWITCH_NEVER : PESS__SWITCH_ALWAYS, 0);
    info->residual = sweep.residual;
    if (sweep.changed > 0 || !solver->evaluated) {
        pess__evaluator_result result;
        PESS_TRY(pess__fill_chain(solver, true, error));
        PESS_TRY(pess__evaluator_evaluate(solver->chain, 0.25 * solver->problem->options->tolerance, solver->v, &result,
                                          error));
        const bool same = result.iterations == 0 && !isnan(result.residual); /* the values were those of the policy */
        if (!same) info->residual = pess__improve(solver, PESS__SWITCH_NEVER, 0).residual;
    }
    info->evaluation = solver->chain->evaluation == PESS_EVALUATION_LU ? "lu" : "krylov";
    info->structure = solver->structure.found;
    return PESS_OK;
}

static pess_status values_buffer(double **values, int64_t states, pess_error *error) {
    return *values != NULL ? PESS_OK : pess__allocate(values, states, sizeof(double), "the values", error);
}

/* The unpenalised value of the policy: the same matrix, the constant without bonus and penalty. */
static pess_status naive_values(pess__solver *solver, pess_solution *solution, pess_error *error) {
    const size_t bytes = (size_t)solver->states * sizeof(double);
    PESS_TRY(values_buffer(&solution->naive_values, solver->states, error));
    memcpy(solution->naive_values, solution->values, bytes);
    if (solver->local->bonus == NULL && solver->local->penalty == NULL) return PESS_OK;
    PESS_TRY(pess__fill_chain(solver, false, error));
    pess__evaluator_result result;
    return pess__evaluator_again(solver->chain, solver->chain->constant, 0.25 * solver->problem->options->tolerance,
                                 solution->naive_values, &result, error);
}

static pess_status store(pess__solver *solver, pess_solution *solution, pess_error *error) {
    PESS_TRY(values_buffer(&solution->values, solver->states, error));
    memcpy(solution->values, solver->v, (size_t)solver->states * sizeof(double));
    PESS_TRY(naive_values(solver, solution, error));
    if (solution->policy == NULL)
        PESS_TRY(pess__policy_allocate(solver->states, solver->actions, &solution->policy, error));
    double *table = solution->policy->probability;
    const size_t bytes = (size_t)(solver->states * solver->actions) * sizeof *table;
    if (solver->choice == NULL) {
        memcpy(table, solver->pi, bytes);
        return PESS_OK;
    }
    memset(table, 0, bytes);
    for (int64_t s = 0; s < solver->states; s++)
        if (solver->choice[s] >= 0) table[s * solver->actions + solver->choice[s]] = 1.0;
    return PESS_OK;
}

pess_status pess__optimise(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                           pess_error *error) {
    if (problem->model->spread != NULL) return problem->model->spread->optimise(problem, local, solution, error);
    if (problem->options->horizon > 0) return pess__horizon_optimise(problem, local, solution, error);
    if (pess__small_fits(problem, local)) return pess__small_optimise(problem, local, solution, error);
    pess__solver solver;
    PESS_TRY(pess__solver_create(problem, local, &solver, error));
    pess_solution_info *info = &solution->info;
    info->iterations = 0;
    pess_status status = pess__iterate(&solver, info, error);
    if (status == PESS_OK && !solver.monitor.interrupted) status = finish(&solver, info, error);
    pess__packed_destroy(solver.packed); /* before the solution takes its memory */
    solver.packed = NULL;
    if (status == PESS_OK && !solver.monitor.interrupted) status = store(&solver, solution, error);
    if (status == PESS_OK && solver.monitor.interrupted) status = interrupted(&solver, info->iterations, error);
    pess__solver_release(&solver);
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
    pess__solver solver;
    PESS_TRY(pess__solver_create(problem, local, &solver, error));
    free(solver.choice);
    solver.choice = NULL;
    free(solver.pi);
    solver.pi = solution->policy->probability;
    pess_solution_info *info = &solution->info;
    info->iterations = 1;
    pess_status status = pess__solver_evaluate(&solver, 0.25 * problem->options->tolerance, error);
    if (status == PESS_OK) {
        info->residual = pess__evaluator_apply(solver.chain, solver.v, solver.tv);
        info->outcome = solver.monitor.late ? PESS_OUTCOME_TIME_LIMIT : PESS_OUTCOME_CONVERGED;
        info->method = "evaluation";
        info->evaluation = solver.chain->evaluation == PESS_EVALUATION_LU ? "lu" : "krylov";
        solver.monitor.deadline = INFINITY; /* the naive value of the same policy belongs to the answer */
        solver.monitor.late = false;
        status = values_buffer(&solution->values, solver.states, error);
    }
    if (status == PESS_OK) {
        memcpy(solution->values, solver.v, (size_t)solver.states * sizeof(double));
        status = naive_values(&solver, solution, error);
    }
    solver.pi = NULL;
    pess__solver_release(&solver);
    return status;
}

pess_status pess__evaluate_plain(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return pess__evaluate_local(problem, &(pess__local){0}, solution, error);
}
