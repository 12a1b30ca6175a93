#include "solve/fixed_point.h"

#include "core/memory.h"
#include "core/raise.h"
#include "core/threads.h"
#include "model/spread.h"
#include "solve/check.h"
#include "solve/evaluator.h"
#include "solve/horizon.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARALLEL_FROM = 2048, /* states */
    PATIENCE = 1000,      /* steps without a new best residual after which a non-contraction is given up */
    LONGEST_WAIT = 64     /* plain sweeps between two attempts at a linear solve */
};

typedef struct iterate {
    double *v, *tv; /* [S] */
    double residual;
} iterate;

typedef struct run {
    const pess__problem *problem;
    const pess__operator *operator_;
    const pess__frozen_kind *kind;
    const pess__spread *spread; /* NULL: this process has all states */
    int64_t own;                /* states that are here, the first of S */
    const double *policy;       /* [S*A], NULL: optimise */
    iterate now, trial;
    double *q;      /* [S*A] of the last sweep */
    double *choice; /* [S*A] the policy that is frozen: `policy`, or one-hot in the largest q */
    pess_model *frozen;
    void *system; /* the linear system of `frozen` under `choice` */
    pess__monitor monitor;
    pess__frozen_way way;
    int64_t iterations;
} run;

pess__frozen_way pess__frozen_way_of(const pess__problem *problem, bool optimise) {
    const pess__frozen_way newton = {.name = optimise ? "newton" : "newton (fixed policy)", .forcing = 1e-4};
    switch (optimise ? problem->options->method : PESS_METHOD_AUTO) {
        case PESS_METHOD_POLICY_ITERATION: return (pess__frozen_way){.name = "policy iteration"};
        case PESS_METHOD_INEXACT_POLICY_ITERATION:
            return (pess__frozen_way){.name = "inexact policy iteration", .forcing = 0.01};
        case PESS_METHOD_MODIFIED_POLICY_ITERATION:
            return (pess__frozen_way){.name = "modified policy iteration", .forcing = 0.01, .sweeps = 32};
        case PESS_METHOD_VALUE_ITERATION: return (pess__frozen_way){.name = "value iteration", .never = true};
        case PESS_METHOD_GAUSS_SEIDEL:
        case PESS_METHOD_AUTO: break;
    }
    return newton;
}

pess_status pess__frozen_way_check(const pess__problem *problem, pess_error *error) {
    const pess_method method = problem->options->method;
    if (method == PESS_METHOD_GAUSS_SEIDEL)
        return pess__fail(error, PESS_ARGUMENT,
                          "gauss-seidel changes values in the middle of a sweep, but the worst case of a pair looks at "
                          "all of them: use another method for '%s' with '%s'",
                          problem->options->algorithm, problem->uncertainty->info.name);
    if (problem->options->gamma < 1 || method == PESS_METHOD_AUTO || method == PESS_METHOD_VALUE_ITERATION)
        return PESS_OK;
    return pess__fail(
        error, PESS_ARGUMENT,
        "gamma is 1, where a worst case is found by sweeps alone: use the method value-iteration for '%s' "
        "with '%s'",
        problem->options->algorithm, problem->uncertainty->info.name);
}

pess__u_problem pess__u_problem_of(const pess__problem *problem) {
    const pess_solve_options *options = problem->options;
    return (pess__u_problem){.counts = problem->counts,
                             .model = problem->model,
                             .gamma = options->gamma,
                             .delta = options->delta,
                             .v_lo = problem->v_lo / problem->unit,
                             .v_hi = problem->v_hi / problem->unit,
                             .absorbed = problem->absorbed,
                             .trajectories = problem->trajectories,
                             .max_successors = options->max_successors,
                             .local_policies = options->local_policies,
                             .threads = problem->threads,
                             .own = options->own_uncertainty};
}

pess_status pess__frozen_create(const pess_model *model, pess_model **out, pess_error *error) {
    const int64_t pairs = model->states * model->actions;
    pess_model *frozen;
    PESS_TRY(pess__model_create(model->states, model->actions, model->row[pairs] + pairs, &frozen, error));
    memcpy(frozen->reward, model->reward, (size_t)pairs * sizeof *model->reward);
    memcpy(frozen->kind, model->kind, (size_t)pairs * sizeof *model->kind);
    memcpy(frozen->end_mass, model->end_mass, (size_t)pairs * sizeof *model->end_mass);
    memcpy(frozen->terminal, model->terminal, (size_t)model->states * sizeof *model->terminal);
    frozen->reward_lo = model->reward_lo;
    frozen->reward_hi = model->reward_hi;
    frozen->has_terminals = model->has_terminals;
    frozen->spread = model->spread;
    int64_t to = 0;
    for (int64_t z = 0; z < pairs; z++) {
        const int64_t begin = model->row[z], length = model->row[z + 1] - begin;
        memcpy(frozen->next + to, model->next + begin, (size_t)length * sizeof *model->next);
        memcpy(frozen->probability + to, model->probability + begin, (size_t)length * sizeof *model->probability);
        to += model->kind[z] == PESS_ROW_SPARSE ? length + 1 : length;
        frozen->row[z + 1] = to;
    }
    *out = frozen;
    return PESS_OK;
}

/* --------------------------------------------------------------------------------- the system in one process */

static pess_status evaluator_create(const pess__problem *problem, const pess_model *frozen, pess__monitor *monitor,
                                    void **out, pess_error *error) {
    const pess_solve_options *options = problem->options;
    pess__evaluator *evaluator = NULL;
    const pess_status status = pess__evaluator_create(frozen, options->gamma, problem->v_lo, options->evaluation,
                                                      problem->threads, monitor, &evaluator, error);
    *out = evaluator;
    return status;
}

static void evaluator_destroy(void *system) { pess__evaluator_destroy(system); }

static pess_status evaluator_fill(void *system, const double *choice, pess_error *error) {
    return pess__evaluator_fill_policy(system, choice, NULL, error);
}

static double evaluator_apply(void *system, const double *v, double *out) {
    return pess__evaluator_apply(system, v, out);
}

static pess_status evaluator_solve(void *system, double tolerance, double *v, pess_error *error) {
    pess__evaluator_result result;
    return pess__evaluator_evaluate(system, tolerance, v, &result, error);
}

static const char *evaluator_name(const void *system) {
    return ((const pess__evaluator *)system)->evaluation == PESS_EVALUATION_LU ? "lu" : "krylov";
}

static const pess__frozen_kind in_one_process = {.create = evaluator_create,
                                                 .destroy = evaluator_destroy,
                                                 .fill = evaluator_fill,
                                                 .apply = evaluator_apply,
                                                 .solve = evaluator_solve,
                                                 .name = evaluator_name,
                                                 .go_on = pess__monitor_check};

/* ------------------------------------------------------------------------------------------ sweeps and solves */

static int threads_of(const run *r) { return r->spread == NULL && r->own >= PARALLEL_FROM ? r->problem->threads : 1; }

static void refresh(const run *r, double *v) {
    if (r->spread != NULL) r->spread->refresh(r->spread, v);
}

/* (Tv)(s) and, when optimising, the largest q as `choice`. */
static double sweep_state(run *r, int thread, int64_t s, const double *v) {
    const pess__operator *op = r->operator_;
    const int64_t actions = r->problem->model->actions, first = s * actions;
    if (r->problem->model->terminal[s]) return 0;
    double sum = 0;
    int64_t best = first;
    for (int64_t z = first; z < first + actions; z++) {
        if (r->policy ? !(r->policy[z] > 0) : r->problem->model->kind[z] == PESS_ROW_NONE) continue;
        r->q[z] = op->pair(op->context, thread, z, r->q[z], v, NULL);
        if (r->policy)
            sum += r->policy[z] * r->q[z];
        else if (r->q[z] > r->q[best])
            best = z;
    }
    if (r->policy) return sum;
    for (int64_t z = first; z < first + actions; z++) r->choice[z] = z == best;
    return r->q[best];
}

/* tv = T v and the residual sup|Tv − v|; infinite where a value is not a number. */
static pess_status sweep(run *r, iterate *at, pess_error *error) {
    const int64_t states = r->own;
    pess_status status = PESS_OK;
    refresh(r, at->v);
    pess__q_values(r->problem, NULL, at->v, r->q);
    if (r->operator_->prepare) status = r->operator_->prepare(r->operator_->context, at->v, error);
    PESS_TRY(pess__agree_of_all(r->spread, status, error));
    _Atomic double residual = 0;
    const double floor = r->problem->v_lo;
    const int threads = threads_of(r);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        const int thread = omp_get_thread_num();
        double most = 0;
#pragma omp for schedule(static)
        for (int64_t s = 0; s < states; s++) {
            at->tv[s] = sweep_state(r, thread, s, at->v);
            if (r->operator_->floored && at->tv[s] < floor && !r->problem->model->terminal[s]) at->tv[s] = floor;
            const double size = fabs(at->tv[s] - at->v[s]);
            if (!(size <= most)) most = isnan(size) ? INFINITY : size;
        }
        pess__raise(&residual, most);
    }
    at->residual = pess__most_of_all(r->spread, residual);
    r->iterations++;
    return PESS_OK;
}

/* The affine pieces at now.v of the pairs that the policy takes; r->q holds the penalised q, so the naive one is asked
 * for again. */
static void freeze(run *r) {
    const pess__operator *op = r->operator_;
    const int64_t pairs = r->own * r->problem->model->actions;
    pess__q_values(r->problem, NULL, r->now.v, r->q);
    const int threads = threads_of(r);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t z = 0; z < pairs; z++)
        if (r->choice[z] > 0) op->pair(op->context, omp_get_thread_num(), z, r->q[z], r->now.v, r->frozen);
}

/* trial.v ← c + G·trial.v of the frozen system until it moves by no more than `enough`, or often enough. */
static void sweep_frozen(run *r, double enough) {
    double change = INFINITY;
    for (int64_t k = 0; k < r->way.sweeps && change > enough; k++) {
        refresh(r, r->trial.v);
        change = r->kind->apply(r->system, r->trial.v, r->trial.tv);
        double *const swap = r->trial.v;
        r->trial.v = r->trial.tv;
        r->trial.tv = swap;
    }
}

/* trial = the solution of the frozen system, with its own residual. */
static pess_status solve_frozen(run *r, double tolerance, pess_error *error) {
    freeze(r);
    PESS_TRY(r->kind->fill(r->system, r->choice, error));
    memcpy(r->trial.v, r->now.tv, (size_t)r->own * sizeof *r->trial.v);
    if (r->way.sweeps > 0) {
        sweep_frozen(r, tolerance);
    } else {
        refresh(r, r->trial.v);
        PESS_TRY(r->kind->solve(r->system, tolerance, r->trial.v, error));
    }
    return sweep(r, &r->trial, error);
}

/* A linear solve that brings the residual down by at least the discount is kept. */
static pess_status newton_step(run *r, double tolerance, bool *kept, pess_error *error) {
    const double gamma = r->problem->options->gamma;
    *kept = false;
    PESS_TRY(solve_frozen(r, tolerance, error));
    *kept = r->trial.residual < gamma * r->now.residual;
    if (!*kept) return PESS_OK; /* q and choice are those of the trial until the next sweep */
    const iterate swap = r->now;
    r->now = r->trial;
    r->trial = swap;
    return r->kind->keep ? r->kind->keep(r->problem->model, r->now.v, error) : PESS_OK;
}

/* Values that differ by rounding alone leave a residual of this size. */
static double target(const run *r) {
    double most = 0;
    for (int64_t s = 0; s < r->own; s++) most = fmax(most, fabs(r->now.v[s]));
    return fmax(r->problem->options->tolerance, 16 * DBL_EPSILON * pess__most_of_all(r->spread, most));
}

static void plain_step(run *r, double step) {
    for (int64_t s = 0; s < r->own; s++)
        r->now.v[s] = step < 1 ? r->now.v[s] + step * (r->now.tv[s] - r->now.v[s]) : r->now.tv[s];
}

/* Whether there is time and patience left. */
static bool goes_on(run *r, int64_t since_best, pess_solution_info *info) {
    r->monitor.done = (double)r->iterations;
    if (!r->kind->go_on(&r->monitor)) {
        info->outcome = PESS_OUTCOME_TIME_LIMIT;
        return false;
    }
    const bool tired = !r->operator_->contraction && since_best > PATIENCE;
    if (r->iterations < r->problem->options->max_iterations && !tired) return true;
    info->outcome = PESS_OUTCOME_ITERATION_LIMIT;
    return false;
}

/* At γ = 1 a frozen chain need not end, and its system may have no solution: sweeps alone. */
static pess_status iterate_all(run *r, pess_solution_info *info, pess_error *error) {
    const bool sweeps_alone = r->way.never || !(r->problem->options->gamma < 1);
    int64_t wait = 0, failures = 0, since_best = 0;
    double best = INFINITY, step = 1, enough = 0;
    PESS_TRY(sweep(r, &r->now, error));
    while (r->now.residual > (enough = target(r))) {
        since_best = r->now.residual < best ? 0 : since_best + 1;
        best = fmin(best, r->now.residual);
        if (!goes_on(r, since_best, info)) break;
        if (wait == 0 && !sweeps_alone) {
            bool kept;
            PESS_TRY(newton_step(r, fmax(0.1 * enough, r->way.forcing * r->now.residual), &kept, error));
            if (kept) failures = 0;
            if (kept) continue;
            wait = failures < 6 ? (int64_t)1 << failures : LONGEST_WAIT;
            failures++;
        }
        if (wait > 0) wait--;
        const double before = r->now.residual;
        plain_step(r, step);
        PESS_TRY(sweep(r, &r->now, error));
        if (!r->operator_->contraction)
            step = r->now.residual >= before ? fmax(step / 2, 1.0 / 256) : fmin(step * 1.25, 1);
    }
    if (r->monitor.interrupted) return pess__fail(error, PESS_INTERRUPTED, "interrupted while solving");
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------- a whole run */

static pess_status allocate(run *r, pess_error *error) {
    const pess_model *model = r->problem->model;
    const int64_t pairs = model->states * model->actions;
    double **const values[] = {&r->now.v, &r->now.tv, &r->trial.v, &r->trial.tv};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        PESS_TRY(pess__allocate(values[i], model->states, sizeof(double), "the values", error));
    PESS_TRY(pess__allocate(&r->q, pairs, sizeof(double), "the action values", error));
    PESS_TRY(pess__allocate(&r->choice, pairs, sizeof(double), "the frozen policy", error));
    return pess__frozen_create(model, &r->frozen, error);
}

static pess_status create(run *r, pess_error *error) {
    const pess_model *model = r->problem->model;
    const int64_t pairs = model->states * model->actions;
    PESS_TRY(pess__agree_of_all(r->spread, allocate(r, error), error));
    if (r->policy) memcpy(r->choice, r->policy, (size_t)pairs * sizeof(double));
    for (int64_t s = 0; r->operator_->floored && s < r->own; s++)
        if (!model->terminal[s]) r->now.v[s] = r->problem->v_lo;
    if (r->kind->take && !r->operator_->floored) PESS_TRY(r->kind->take(model, r->now.v, error));
    r->monitor = pess__monitor_start(&r->problem->options->progress, "solving", r->problem->deadline);
    return r->kind->create(r->problem, r->frozen, &r->monitor, &r->system, error);
}

static void destroy(run *r) {
    free(r->now.v);
    free(r->now.tv);
    free(r->trial.v);
    free(r->trial.tv);
    free(r->q);
    free(r->choice);
    if (r->system != NULL) r->kind->destroy(r->system);
    pess_model_destroy(r->frozen);
}

void pess__keep_greedy(const pess_model *model, int64_t states, const double *q, pess_policy *policy,
                       pess_solution *solution) {
    for (int64_t s = 0; s < states; s++) {
        const int64_t first = s * model->actions;
        if (!model->terminal[s]) policy->probability[first + pess__greedy_action(q + first, model->actions)] = 1;
    }
    pess_policy_destroy(solution->policy);
    solution->policy = policy;
}

/* The greedy policy in q at the final v. */
static pess_status make_policy(run *r, pess_solution *solution, pess_error *error) {
    const pess_model *model = r->problem->model;
    pess_policy *policy = NULL;
    PESS_TRY(sweep(r, &r->now, error)); /* q may belong to a trial that was turned down */
    const pess_status status = r->spread != NULL ? r->spread->policy(r->spread, model->actions, &policy, error)
                                                 : pess__policy_allocate(model->states, model->actions, &policy, error);
    PESS_TRY(pess__agree_of_all(r->spread, status, error));
    pess__keep_greedy(model, r->own, r->q, policy, solution);
    return PESS_OK;
}

static void store(run *r, pess_solution *solution) {
    free(solution->values);
    solution->values = r->now.v;
    r->now.v = NULL;
    solution->info.iterations = r->iterations;
    solution->info.residual = r->now.residual;
    solution->info.method = r->way.name;
    solution->info.evaluation = r->kind->name(r->system);
    if (r->kind->done) r->kind->done();
}

static pess_status run_all(const pess__problem *problem, const pess__operator *operator_, bool optimise,
                           pess_solution *solution, pess_error *error) {
    const pess__spread *spread = problem->model->spread;
    if (optimise) PESS_TRY(pess__frozen_way_check(problem, error));
    char whom[128];
    (void)snprintf(whom, sizeof whom, "'%.40s' with '%.40s'", problem->options->algorithm,
                   problem->uncertainty->info.name);
    PESS_TRY(pess__no_horizon(problem, whom, error));
    if (!operator_->floored) PESS_TRY(pess__need_ends(problem, whom, error));
    run r = {.problem = problem,
             .operator_ = operator_,
             .kind = spread != NULL ? spread->frozen : &in_one_process,
             .spread = spread,
             .own = pess__own_states(problem->model),
             .policy = optimise ? NULL : solution->policy->probability,
             .way = pess__frozen_way_of(problem, optimise)};
    solution->info.outcome = PESS_OUTCOME_CONVERGED;
    pess_status status = create(&r, error);
    if (status == PESS_OK) status = iterate_all(&r, &solution->info, error);
    if (status == PESS_OK && optimise) status = make_policy(&r, solution, error);
    if (status == PESS_OK) store(&r, solution);
    destroy(&r);
    return status;
}

pess_status pess__fixed_point_optimise(const pess__problem *problem, const pess__operator *operator_,
                                       pess_solution *solution, pess_error *error) {
    return run_all(problem, operator_, true, solution, error);
}

pess_status pess__fixed_point_evaluate(const pess__problem *problem, const pess__operator *operator_,
                                       pess_solution *solution, pess_error *error) {
    return run_all(problem, operator_, false, solution, error);
}
