/* Policy, value and modified policy iteration over the states of all ranks, for algorithms whose penalty at a state
 * depends on π(·|s) alone: the iterations of solve/optimise.c, each sweep over the own states. */
#include "solve/optimise.h"
#include "core/memory.h"
#include "scale/checkpoint.h"
#include "scale/together.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SWEEPS = 30,     /* evaluation sweeps of modified policy iteration */
    PACKED_AFTER = 2 /* sweeps; packing costs about two */
};

int64_t pess__scale_packed_from = 1 << 18;

typedef enum switching { NEVER, GAINS, ALWAYS } switching;

typedef struct sweep_result {
    double residual, scale; /* sup|Tv − v|, sup|Tv| */
    int64_t changed;        /* rows of the policy, on all ranks */
} sweep_result;

typedef struct engine {
    const pess__problem *problem;
    const pess_model *model;
    const pess__local *local;
    const pess__slab *slab;
    bool uniform;         /* some row is uniform */
    double *v, *tv;       /* [places], fresh, and PESS__MORE_VALUES that a sweep sets */
    int32_t *choice;      /* [places] where local->improve is NULL */
    double *pi;           /* [places*A] elsewhere */
    double *q, *row;      /* [block*A] and [A] */
    int64_t block;        /* states whose q are computed together */
    int64_t sweeps;       /* so far */
    pess__packed *packed; /* NULL: not, or not yet */
    pess__chain *chain;
    bool evaluated; /* v is the value of the present policy, to the end */
    pess__monitor monitor;
} engine;

double pess__mean_of_all(const pess__slab *slab, const double *v, bool needed) {
    double sum = 0;
    if (!needed) return 0;
    for (int64_t s = 0; s < slab->spread.own; s++) sum += v[s];
    return pess__ranks_sum(sum) / (double)slab->spread.states;
}

bool pess__has_uniform_rows(const pess_model *model) {
    bool any = false;
    for (int64_t z = 0; z < model->states * model->actions && !any; z++) any = model->kind[z] == PESS_ROW_UNIFORM;
    return pess__ranks_any(any);
}

bool pess__go_on_together(pess__monitor *monitor) {
    (void)pess__monitor_check(monitor);
    monitor->late = pess__ranks_any(monitor->late);
    monitor->interrupted = pess__ranks_any(monitor->interrupted);
    return !monitor->late && !monitor->interrupted;
}

/* ------------------------------------------------------------------------------------------------ the engine */

static void engine_release(engine *e) {
    free(e->v);
    free(e->tv);
    free(e->choice);
    free(e->pi);
    free(e->q);
    free(e->row);
    pess__packed_destroy(e->packed);
    pess__chain_destroy(e->chain);
}

static pess_status allocate_engine(engine *e, pess_error *error) {
    const int64_t places = e->slab->places, actions = e->model->actions, room = places + PESS__MORE_VALUES;
    e->block = pess__sweep_block(actions);
    PESS_TRY(pess__allocate(&e->v, room, sizeof(double), "the values", error));
    PESS_TRY(pess__allocate(&e->tv, room, sizeof(double), "the values", error));
    if (e->local->improve == NULL)
        PESS_TRY(pess__allocate(&e->choice, places, sizeof(int32_t), "the policy", error));
    else
        PESS_TRY(pess__allocate(&e->pi, places * actions, sizeof(double), "the policy", error));
    PESS_TRY(pess__allocate(&e->q, e->block * actions, sizeof(double), "rows of q", error));
    PESS_TRY(pess__allocate(&e->row, actions, sizeof(double), "a row of the policy", error));
    if (e->choice != NULL) memset(e->choice, 0xff, (size_t)places * sizeof *e->choice);
    return PESS_OK;
}

static pess_status engine_create(const pess__problem *problem, const pess__local *local, engine *e, pess_error *error) {
    *e = (engine){.problem = problem,
                  .model = problem->model,
                  .local = local,
                  .slab = pess__slab_of(problem->model),
                  .uniform = pess__has_uniform_rows(problem->model),
                  .monitor =
                      pess__monitor_start(&problem->options->progress, problem->options->algorithm, problem->deadline)};
    pess_status status = pess__agree(allocate_engine(e, error), error);
    if (status == PESS_OK)
        status = pess__chain_create(problem->model, problem->options->gamma, problem->v_lo, &e->chain, error);
    if (status != PESS_OK) engine_release(e);
    return status;
}

static double larger(double x, double y) { return x > y ? x : y; }

/* Differences below this are rounding. */
static double rounding(double scale) { return 64 * DBL_EPSILON * scale; }

/* ------------------------------------------------------------------------------------------------ one sweep */

static int64_t argmax(const double *q, int64_t actions) {
    int64_t best = 0;
    for (int64_t a = 1; a < actions; a++)
        if (q[a] > q[best]) best = a;
    return best;
}

static double improve_choice(engine *e, int64_t s, const double *q, switching how, double threshold, int64_t *changed) {
    const int64_t best = argmax(q, e->model->actions);
    int64_t chosen = e->choice[s];
    if (how == ALWAYS)
        chosen = pess__greedy_action(q, e->model->actions);
    else if (how == GAINS && (chosen < 0 || q[best] > q[chosen] + threshold))
        chosen = best;
    *changed += chosen != e->choice[s];
    e->choice[s] = (int32_t)chosen;
    return q[best];
}

/* Σ_a π(a)q(a) − penalty(π) */
static double local_value(const engine *e, int64_t s, const double *q, const double *pi) {
    double sum = 0;
    for (int64_t a = 0; a < e->model->actions; a++)
        if (pi[a] > 0) sum += pi[a] * q[a];
    return e->local->penalty != NULL ? sum - e->local->penalty(e->local->context, s, pi) : sum;
}

static double improve_row(engine *e, int64_t s, const double *q, switching how, double threshold, int64_t *changed) {
    const size_t bytes = (size_t)e->model->actions * sizeof *e->row;
    double *pi = e->pi + s * e->model->actions;
    memset(e->row, 0, bytes);
    const double best = e->local->improve(e->local->context, s, q, e->row);
    const bool take =
        how == ALWAYS || (how == GAINS && local_value(e, s, q, e->row) > local_value(e, s, q, pi) + threshold);
    if (take && memcmp(pi, e->row, bytes) != 0) {
        memcpy(pi, e->row, bytes);
        ++*changed;
    }
    return best;
}

/* Where memory does not suffice, the model's own rows do. */
static void pack(engine *e) {
    pess_error unused;
    if (++e->sweeps == PACKED_AFTER + 1 && e->slab->spread.own * e->model->actions >= pess__scale_packed_from)
        (void)pess__packed_create(e->model, e->local->bonus, 1, &e->packed, &unused);
}

/* q of the states from … to-1; from is a whole number of blocks. */
static void fill_q(engine *e, int64_t from, int64_t to, double mean) {
    const pess_model *model = e->model;
    const int64_t first = from * model->actions, past = to * model->actions;
    if (e->packed != NULL) {
        pess__packed_q(e->packed, e->problem->options->gamma, e->v, first / PESS__SLICE,
                       (past + PESS__SLICE - 1) / PESS__SLICE, e->q);
        return;
    }
    for (int64_t z = first; z < past; z++)
        e->q[z - first] = model->kind[z] == PESS_ROW_NONE ? -INFINITY
                                                          : pess__pair_value(e->problem, z, e->v, mean) +
                                                                (e->local->bonus != NULL ? e->local->bonus[z] : 0);
}

/* tv = Tv, (Tv)(s) = max_π Σ_a π(a)q(s,a) − penalty_s(π), and the policy as told. */
static sweep_result sweep(engine *e, switching how, double threshold) {
    const pess_model *model = e->model;
    const int64_t own = e->slab->spread.own;
    const double mean = pess__mean_of_all(e->slab, e->v, e->uniform);
    double most[2] = {0, 0};
    int64_t changed = 0;
    e->v[e->slab->places] = mean;
    e->v[e->slab->places + 1] = e->problem->v_lo;
    pack(e);
    for (int64_t first = 0; first < own; first += e->block) {
        const int64_t end = own - first < e->block ? own : first + e->block;
        fill_q(e, first, end, mean);
        for (int64_t s = first; s < end; s++) {
            const double *q = e->q + (s - first) * model->actions;
            e->tv[s] = 0;
            if (model->terminal[s]) continue;
            e->tv[s] = e->choice != NULL ? improve_choice(e, s, q, how, threshold, &changed)
                                         : improve_row(e, s, q, how, threshold, &changed);
            const double size = fabs(e->tv[s] - e->v[s]);
            most[0] = size > most[0] ? size : most[0];
            most[1] = fabs(e->tv[s]) > most[1] ? fabs(e->tv[s]) : most[1];
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, pess__ranks_all.comm);
    pess__slab_refresh(e->slab, e->tv);
    return (sweep_result){most[0], most[1], pess__ranks_total(changed)};
}

static void swap_values(engine *e) {
    double *swap = e->v;
    e->v = e->tv;
    e->tv = swap;
}

/* ------------------------------------------------------------------------------------------------ iterations */

/* The chain of the present policy, with or without the algorithm's bonus and penalty. */
static pess_status fill_chain(engine *e, bool penalised, pess_error *error) {
    PESS_TRY(pess__chain_fill(e->chain, e->choice, e->pi, penalised ? e->local->bonus : NULL, error));
    if (!penalised || e->local->penalty == NULL || e->choice != NULL) return PESS_OK;
    for (int64_t s = 0; s < e->slab->spread.own; s++)
        if (!e->model->terminal[s])
            e->chain->constant[s] -= e->local->penalty(e->local->context, s, e->pi + s * e->model->actions);
    return PESS_OK;
}

static pess_status evaluate(engine *e, double tolerance, pess_error *error) {
    PESS_TRY(fill_chain(e, true, error));
    return pess__chain_solve(e->chain, tolerance, e->v, error);
}

static bool go_on(engine *e, pess_solution_info *info) {
    e->monitor.done = (double)info->iterations;
    if (!pess__go_on_together(&e->monitor)) {
        info->outcome = PESS_OUTCOME_TIME_LIMIT;
        return false;
    }
    if (info->iterations < e->problem->options->max_iterations) return true;
    info->outcome = PESS_OUTCOME_ITERATION_LIMIT;
    return false;
}

/* As in solve/iterations.c. */
static sweep_result look_ahead(engine *e, int sweeps_times_actions, double threshold, sweep_result last) {
    const int count = pess__sweeps_for(e->model->actions, sweeps_times_actions);
    const int64_t few = e->slab->spread.states / PESS__SETTLED;
    for (int k = 0; k < count && (k == 0 || last.changed > few); k++) {
        swap_values(e);
        last = sweep(e, GAINS, threshold);
    }
    return last;
}

/* As in solve/iterations.c. */
static pess_status policy_iteration(engine *e, bool exact, pess_solution_info *info, pess_error *error) {
    const double tolerance = e->problem->options->tolerance, tightest = 0.25 * tolerance;
    sweep_result found = sweep(e, ALWAYS, 0);
    if (!exact) found = look_ahead(e, PESS__FIRST_SWEEPS, tightest, found);
    while (go_on(e, info)) {
        const bool last = exact || found.changed == 0;
        const double target = last ? tightest : larger(PESS__FORCING * found.residual, tightest);
        if (!exact) swap_values(e);
        PESS_TRY(evaluate(e, target, error));
        info->iterations++;
        const double threshold = larger(tightest, rounding(found.scale));
        found = sweep(e, GAINS, threshold);
        e->evaluated = found.changed == 0 && target == tightest;
        if (found.residual <= larger(tolerance, rounding(found.scale)) || e->evaluated) {
            info->outcome = PESS_OUTCOME_CONVERGED;
            break;
        }
        PESS_TRY(pess__checkpoint_keep(e->slab, e->v, error));
        if (!exact && found.changed > 0) found = look_ahead(e, PESS__MORE_SWEEPS, threshold, found);
    }
    return PESS_OK;
}

static pess_status value_iteration(engine *e, pess_solution_info *info, pess_error *error) {
    while (go_on(e, info)) {
        const sweep_result found = sweep(e, NEVER, 0);
        swap_values(e);
        info->iterations++;
        if (found.residual <= larger(e->problem->options->tolerance, rounding(found.scale))) {
            info->outcome = PESS_OUTCOME_CONVERGED;
            break;
        }
        PESS_TRY(pess__checkpoint_keep(e->slab, e->v, error));
    }
    return PESS_OK;
}

static pess_status modified_policy_iteration(engine *e, pess_solution_info *info, pess_error *error) {
    const double tolerance = e->problem->options->tolerance;
    double change = INFINITY; /* of the last evaluation sweep */
    while (go_on(e, info)) {
        const sweep_result found = sweep(e, GAINS, 0.25 * tolerance);
        const double enough = larger(tolerance, rounding(found.scale));
        swap_values(e);
        info->iterations++;
        if (found.residual <= enough || (found.changed == 0 && change <= 0.25 * enough)) {
            info->outcome = PESS_OUTCOME_CONVERGED;
            break;
        }
        PESS_TRY(fill_chain(e, true, error));
        for (int m = 0; m < SWEEPS; m++) {
            change = pess__chain_apply(e->chain, e->v, e->tv);
            swap_values(e);
            pess__slab_refresh(e->slab, e->v);
        }
        PESS_TRY(pess__checkpoint_keep(e->slab, e->v, error));
    }
    return PESS_OK;
}

static pess_status run(engine *e, pess_solution_info *info, pess_error *error) {
    info->iterations = 0;
    PESS_TRY(pess__checkpoint_take(e->slab, e->v, error));
    switch (e->problem->options->method) {
        case PESS_METHOD_VALUE_ITERATION: info->method = "value iteration"; return value_iteration(e, info, error);
        case PESS_METHOD_MODIFIED_POLICY_ITERATION:
            info->method = "modified policy iteration";
            return modified_policy_iteration(e, info, error);
        case PESS_METHOD_POLICY_ITERATION:
            info->method = "policy iteration";
            return policy_iteration(e, true, info, error);
        case PESS_METHOD_GAUSS_SEIDEL:
            return pess__fail(error, PESS_ARGUMENT,
                              "gauss-seidel goes from state to state, which processes cannot share: use 'pess'");
        default: info->method = "inexact policy iteration"; return policy_iteration(e, false, info, error);
    }
}

/* ------------------------------------------------------------------------------------------------ the answer */

/* The name outlives the chain. */
static void name_solver(const engine *e, pess_solution_info *info) {
    static char name[sizeof e->chain->name];
    memcpy(name, e->chain->name, sizeof name);
    info->evaluation = name;
}

/* Ties to the smallest action, then the value of exactly the policy that is returned and its Bellman residual. */
static pess_status finish(engine *e, pess_solution_info *info, pess_error *error) {
    const sweep_result found = sweep(e, ALWAYS, 0);
    info->residual = found.residual;
    if (found.changed > 0 || !e->evaluated) {
        PESS_TRY(evaluate(e, 0.25 * e->problem->options->tolerance, error));
        info->residual = sweep(e, NEVER, 0).residual;
    }
    name_solver(e, info);
    return PESS_OK;
}

static pess_status store_values(engine *e, pess_solution *solution, pess_error *error) {
    const size_t bytes = (size_t)e->slab->places * sizeof(double);
    pess_status status = PESS_OK;
    if (solution->values == NULL)
        status = pess__allocate(&solution->values, e->slab->places, sizeof(double), "the values", error);
    if (status == PESS_OK && solution->naive_values == NULL)
        status = pess__allocate(&solution->naive_values, e->slab->places, sizeof(double), "the values", error);
    PESS__TRY_TOGETHER(status, error);
    memcpy(solution->values, e->v, bytes);
    memcpy(solution->naive_values, e->v, bytes);
    if (e->local->bonus == NULL && e->local->penalty == NULL) return PESS_OK;
    PESS_TRY(fill_chain(e, false, error));
    return pess__chain_solve(e->chain, 0.25 * e->problem->options->tolerance, solution->naive_values, error);
}

static pess_status store_policy(engine *e, pess_solution *solution, pess_error *error) {
    const int64_t actions = e->model->actions;
    if (solution->policy == NULL)
        PESS__TRY_TOGETHER(pess__scale_policy(&e->slab->spread, actions, &solution->policy, error), error);
    double *table = solution->policy->probability;
    if (e->choice == NULL) memcpy(table, e->pi, (size_t)(e->slab->places * actions) * sizeof *table);
    for (int64_t s = 0; e->choice != NULL && s < e->slab->spread.own; s++)
        if (e->choice[s] >= 0) table[s * actions + e->choice[s]] = 1;
    return PESS_OK;
}

pess_status pess__scale_optimise(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                                 pess_error *error) {
    engine e;
    PESS_TRY(engine_create(problem, local, &e, error));
    pess_status status = run(&e, &solution->info, error);
    if (status == PESS_OK && e.monitor.interrupted)
        status = pess__fail(error, PESS_INTERRUPTED, "%s: interrupted after %lld iterations",
                            problem->options->algorithm, (long long)solution->info.iterations);
    if (status == PESS_OK) status = finish(&e, &solution->info, error);
    if (status == PESS_OK) status = store_values(&e, solution, error);
    if (status == PESS_OK) status = store_policy(&e, solution, error);
    if (status == PESS_OK) pess__checkpoint_done();
    engine_release(&e);
    return status;
}

pess_status pess__scale_evaluate(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                                 pess_error *error) {
    engine e;
    PESS_TRY(engine_create(problem, local, &e, error));
    free(e.choice);
    free(e.pi);
    e.choice = NULL;
    e.pi = solution->policy->probability;
    pess_solution_info *info = &solution->info;
    info->iterations = 1;
    info->method = "evaluation";
    info->outcome = PESS_OUTCOME_CONVERGED;
    pess_status status = evaluate(&e, 0.25 * problem->options->tolerance, error);
    if (status == PESS_OK) {
        info->residual = pess__chain_apply(e.chain, e.v, e.tv);
        name_solver(&e, info);
        status = store_values(&e, solution, error);
    }
    e.pi = NULL;
    engine_release(&e);
    return status;
}

pess_status pess__scale_visits(const pess_model *model, const double *start, const pess_policy *policy,
                               const pess_solve_options *options, double *out, pess_error *error) {
    pess__chain *chain = NULL;
    PESS_TRY(pess__chain_create(model, options->gamma, 0, &chain, error));
    pess_status status = pess__chain_fill(chain, NULL, policy->probability, NULL, error);
    if (status == PESS_OK) status = pess__chain_visits(chain, start, options->tolerance, out, error);
    pess__chain_destroy(chain);
    return status;
}
