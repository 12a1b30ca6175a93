/* Policy, value and modified policy iteration over the states of all ranks, for algorithms whose penalty at a state
 * depends on π(·|s) alone: the iterations of solve/optimise.c, each sweep over the own states. */
#include "core/memory.h"
#include "scale/checkpoint.h"
#include "scale/together.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SWEEPS = 30,       /* evaluation sweeps of modified policy iteration */
    FIRST_SWEEPS = 40, /* inexact policy iteration: sweeps before the first evaluation … */
    MORE_SWEEPS = 4    /* … and between two */
};
/* Inexact policy iteration: each evaluation brings the residual down to this share of what the sweep found. */
static const double FORCING = 0.1;

typedef enum switching { NEVER, GAINS, ALWAYS } switching;

typedef struct sweep_result {
    double residual, scale; /* sup|Tv − v|, sup|Tv| */
    bool changed;           /* some row of the policy */
} sweep_result;

typedef struct engine {
    const pess__problem *problem;
    const pess_model *model;
    const pess__local *local;
    const pess__slab *slab;
    bool uniform;    /* some row is uniform */
    double *v, *tv;  /* [places], fresh */
    int32_t *choice; /* [places] where local->improve is NULL */
    double *pi;      /* [places*A] elsewhere */
    double *q, *row; /* [A] */
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
    pess__chain_destroy(e->chain);
}

static pess_status allocate_engine(engine *e, pess_error *error) {
    const int64_t places = e->slab->places, actions = e->model->actions;
    PESS_TRY(pess__allocate(&e->v, places, sizeof(double), "the values", error));
    PESS_TRY(pess__allocate(&e->tv, places, sizeof(double), "the values", error));
    if (e->local->improve == NULL)
        PESS_TRY(pess__allocate(&e->choice, places, sizeof(int32_t), "the policy", error));
    else
        PESS_TRY(pess__allocate(&e->pi, places * actions, sizeof(double), "the policy", error));
    PESS_TRY(pess__allocate(&e->q, actions, sizeof(double), "a row of q", error));
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

static double improve_choice(engine *e, int64_t s, switching how, double threshold, bool *changed) {
    const int64_t best = argmax(e->q, e->model->actions);
    int64_t chosen = e->choice[s];
    if (how == ALWAYS)
        chosen = pess__greedy_action(e->q, e->model->actions);
    else if (how == GAINS && (chosen < 0 || e->q[best] > e->q[chosen] + threshold))
        chosen = best;
    *changed |= chosen != e->choice[s];
    e->choice[s] = (int32_t)chosen;
    return e->q[best];
}

/* Σ_a π(a)q(a) − penalty(π) */
static double local_value(const engine *e, int64_t s, const double *pi) {
    double sum = 0;
    for (int64_t a = 0; a < e->model->actions; a++)
        if (pi[a] > 0) sum += pi[a] * e->q[a];
    return e->local->penalty != NULL ? sum - e->local->penalty(e->local->context, s, pi) : sum;
}

static double improve_row(engine *e, int64_t s, switching how, double threshold, bool *changed) {
    const size_t bytes = (size_t)e->model->actions * sizeof *e->row;
    double *pi = e->pi + s * e->model->actions;
    memset(e->row, 0, bytes);
    const double best = e->local->improve(e->local->context, s, e->q, e->row);
    const bool take = how == ALWAYS || (how == GAINS && local_value(e, s, e->row) > local_value(e, s, pi) + threshold);
    if (take && memcmp(pi, e->row, bytes) != 0) {
        memcpy(pi, e->row, bytes);
        *changed = true;
    }
    return best;
}

/* tv = Tv, (Tv)(s) = max_π Σ_a π(a)q(s,a) − penalty_s(π), and the policy as told. */
static sweep_result sweep(engine *e, switching how, double threshold) {
    const pess_model *model = e->model;
    const double mean = pess__mean_of_all(e->slab, e->v, e->uniform);
    double most[3] = {0, 0, 0};
    bool changed = false;
    for (int64_t s = 0; s < e->slab->spread.own; s++) {
        e->tv[s] = 0;
        if (model->terminal[s]) continue;
        for (int64_t a = 0; a < model->actions; a++) {
            const int64_t z = s * model->actions + a;
            e->q[a] = model->kind[z] == PESS_ROW_NONE ? -INFINITY
                                                      : pess__pair_value(e->problem, z, e->v, mean) +
                                                            (e->local->bonus != NULL ? e->local->bonus[z] : 0);
        }
        e->tv[s] = e->choice != NULL ? improve_choice(e, s, how, threshold, &changed)
                                     : improve_row(e, s, how, threshold, &changed);
        most[0] = fmax(most[0], fabs(e->tv[s] - e->v[s]));
        most[1] = fmax(most[1], fabs(e->tv[s]));
    }
    most[2] = changed;
    MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_DOUBLE, MPI_MAX, pess__ranks_all.comm);
    pess__slab_refresh(e->slab, e->tv);
    return (sweep_result){most[0], most[1], most[2] > 0};
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

static double look_ahead(engine *e, int count, double threshold, double residual) {
    for (int k = 0; k < count; k++) {
        swap_values(e);
        residual = sweep(e, GAINS, threshold).residual;
    }
    return residual;
}

/* As in solve/optimise.c. */
static pess_status policy_iteration(engine *e, bool exact, pess_solution_info *info, pess_error *error) {
    const double tolerance = e->problem->options->tolerance, tightest = 0.25 * tolerance;
    sweep_result found = sweep(e, ALWAYS, 0);
    double residual = found.residual;
    if (!exact) residual = look_ahead(e, FIRST_SWEEPS, tightest, residual);
    while (go_on(e, info)) {
        const double target = exact ? tightest : larger(FORCING * residual, tightest);
        if (!exact) swap_values(e);
        PESS_TRY(evaluate(e, target, error));
        info->iterations++;
        const double threshold = larger(tightest, rounding(found.scale));
        found = sweep(e, GAINS, threshold);
        e->evaluated = !found.changed && target == tightest;
        if (found.residual <= larger(tolerance, rounding(found.scale)) || e->evaluated) {
            info->outcome = PESS_OUTCOME_CONVERGED;
            break;
        }
        PESS_TRY(pess__checkpoint_keep(e->slab, e->v, error));
        residual = found.residual;
        if (!exact && found.changed) residual = look_ahead(e, MORE_SWEEPS, threshold, residual);
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
        if (found.residual <= enough || (!found.changed && change <= 0.25 * enough)) {
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
    if (found.changed || !e->evaluated) {
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
