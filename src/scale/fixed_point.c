/* Newton's method guarded by the residual, as in solve/fixed_point.c, over the states of all ranks: worst cases over
 * sets and other penalties that depend on the values. */
#include "core/memory.h"
#include "scale/checkpoint.h"
#include "scale/together.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATIENCE = 1000,  /* steps without a new best residual after which a non-contraction is given up */
    LONGEST_WAIT = 64 /* plain sweeps between two attempts at a linear solve */
};

typedef struct iterate {
    double *v, *tv; /* [places], v fresh */
    double residual;
} iterate;

typedef struct run {
    const pess__problem *problem;
    const pess__operator *operator_;
    const pess__slab *slab;
    const double *policy; /* [places*A], NULL: optimise */
    iterate now, trial;
    double *q;      /* [places*A] of the last sweep */
    double *choice; /* [places*A] the policy that is frozen */
    pess_model *frozen;
    pess__chain *chain;
    pess__monitor monitor;
    pess__frozen_way way;
    int64_t iterations;
} run;

/* (Tv)(s) and, when optimising, the largest q as `choice`. */
static double sweep_state(run *r, int64_t s, const double *v) {
    const pess__operator *op = r->operator_;
    const pess_model *model = r->problem->model;
    const int64_t first = s * model->actions;
    double sum = 0;
    int64_t best = first;
    if (model->terminal[s]) return 0;
    for (int64_t z = first; z < first + model->actions; z++) {
        if (r->policy ? !(r->policy[z] > 0) : model->kind[z] == PESS_ROW_NONE) continue;
        r->q[z] = op->pair(op->context, 0, z, r->q[z], v, NULL);
        if (r->policy)
            sum += r->policy[z] * r->q[z];
        else if (r->q[z] > r->q[best])
            best = z;
    }
    if (r->policy) return sum;
    for (int64_t z = first; z < first + model->actions; z++) r->choice[z] = z == best;
    return r->q[best];
}

/* tv = Tv and the residual; v is made fresh. */
static pess_status sweep(run *r, iterate *at, pess_error *error) {
    const double floor = r->problem->v_lo;
    double most = 0;
    pess__slab_refresh(r->slab, at->v);
    pess__q_values(r->problem, NULL, at->v, r->q);
    pess_status status = PESS_OK;
    if (r->operator_->prepare) status = r->operator_->prepare(r->operator_->context, at->v, error);
    PESS__TRY_TOGETHER(status, error);
    for (int64_t s = 0; s < r->slab->spread.own; s++) {
        at->tv[s] = sweep_state(r, s, at->v);
        if (r->operator_->floored && at->tv[s] < floor && !r->problem->model->terminal[s]) at->tv[s] = floor;
        const double size = fabs(at->tv[s] - at->v[s]);
        if (!(size <= most)) most = isnan(size) ? INFINITY : size;
    }
    at->residual = pess__ranks_most(most);
    r->iterations++;
    return PESS_OK;
}

/* The affine pieces at now.v of the pairs that the policy takes. The extremes are those of now.v again. */
static pess_status freeze(run *r, pess_error *error) {
    const pess__operator *op = r->operator_;
    pess_status status = PESS_OK;
    if (op->prepare) status = op->prepare(op->context, r->now.v, error);
    PESS__TRY_TOGETHER(status, error);
    pess__q_values(r->problem, NULL, r->now.v, r->q);
    for (int64_t z = 0; z < r->slab->spread.own * r->problem->model->actions; z++)
        if (r->choice[z] > 0) op->pair(op->context, 0, z, r->q[z], r->now.v, r->frozen);
    return PESS_OK;
}

/* trial.v ← T_frozen trial.v until it moves by no more than `enough`, or often enough; fresh at the end. */
static void sweep_frozen(run *r, double enough) {
    double change = INFINITY;
    for (int64_t k = 0; k < r->way.sweeps && change > enough; k++) {
        change = pess__chain_apply(r->chain, r->trial.v, r->trial.tv);
        double *const swap = r->trial.v;
        r->trial.v = r->trial.tv;
        r->trial.tv = swap;
        pess__slab_refresh(r->slab, r->trial.v);
    }
}

/* trial = the solution of the frozen system, with its own residual. */
static pess_status solve_frozen(run *r, double tolerance, pess_error *error) {
    PESS_TRY(freeze(r, error));
    PESS_TRY(pess__chain_fill(r->chain, NULL, r->choice, NULL, error));
    memcpy(r->trial.v, r->now.tv, (size_t)r->slab->spread.own * sizeof *r->trial.v);
    pess__slab_refresh(r->slab, r->trial.v);
    if (r->way.sweeps > 0)
        sweep_frozen(r, tolerance);
    else
        PESS_TRY(pess__chain_solve(r->chain, tolerance, r->trial.v, error));
    return sweep(r, &r->trial, error);
}

static double target(const run *r) {
    double most = 0;
    for (int64_t s = 0; s < r->slab->spread.own; s++) most = fmax(most, fabs(r->now.v[s]));
    return fmax(r->problem->options->tolerance, 16 * DBL_EPSILON * pess__ranks_most(most));
}

static void plain_step(run *r, double step) {
    for (int64_t s = 0; s < r->slab->spread.own; s++)
        r->now.v[s] = step < 1 ? r->now.v[s] + step * (r->now.tv[s] - r->now.v[s]) : r->now.tv[s];
}

/* Whether there is time and patience left. */
static bool goes_on(run *r, int64_t since_best, pess_solution_info *info) {
    r->monitor.done = (double)r->iterations;
    if (!pess__go_on_together(&r->monitor)) {
        info->outcome = PESS_OUTCOME_TIME_LIMIT;
        return false;
    }
    const bool tired = !r->operator_->contraction && since_best > PATIENCE;
    if (r->iterations < r->problem->options->max_iterations && !tired) return true;
    info->outcome = PESS_OUTCOME_ITERATION_LIMIT;
    return false;
}

/* A linear solve that brought the residual down by at least the discount is kept. */
static pess_status newton_step(run *r, double tolerance, bool *kept, pess_error *error) {
    PESS_TRY(solve_frozen(r, tolerance, error));
    *kept = r->trial.residual < r->problem->options->gamma * r->now.residual;
    if (!*kept) return PESS_OK; /* q and choice are those of the trial until the next sweep */
    const iterate swap = r->now;
    r->now = r->trial;
    r->trial = swap;
    return pess__checkpoint_keep(r->slab, r->now.v, error);
}

static pess_status iterate_all(run *r, pess_solution_info *info, pess_error *error) {
    int64_t wait = 0, failures = 0, since_best = 0;
    double best = INFINITY, step = 1, enough = 0;
    PESS_TRY(sweep(r, &r->now, error));
    while (r->now.residual > (enough = target(r))) {
        since_best = r->now.residual < best ? 0 : since_best + 1;
        best = fmin(best, r->now.residual);
        if (!goes_on(r, since_best, info)) break;
        if (wait == 0 && !r->way.never) {
            bool kept = false;
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

static pess_status allocate(run *r, pess_error *error) {
    const pess_model *model = r->problem->model;
    const int64_t pairs = model->states * model->actions;
    double **const values[] = {&r->now.v, &r->now.tv, &r->trial.v, &r->trial.tv};
    for (size_t i = 0; i < 4; i++)
        PESS_TRY(pess__allocate(values[i], model->states, sizeof(double), "the values", error));
    PESS_TRY(pess__allocate(&r->q, pairs, sizeof(double), "the action values", error));
    PESS_TRY(pess__allocate(&r->choice, pairs, sizeof(double), "the frozen policy", error));
    PESS_TRY(pess__frozen_create(model, &r->frozen, error));
    r->frozen->spread = model->spread;
    if (r->policy) memcpy(r->choice, r->policy, (size_t)pairs * sizeof(double));
    for (int64_t s = 0; r->operator_->floored && s < r->slab->spread.own; s++)
        if (!model->terminal[s]) r->now.v[s] = r->problem->v_lo;
    return PESS_OK;
}

static pess_status create(run *r, pess_error *error) {
    const pess_solve_options *options = r->problem->options;
    PESS__TRY_TOGETHER(allocate(r, error), error);
    r->monitor = pess__monitor_start(&options->progress, "solving", r->problem->deadline);
    if (!r->operator_->floored) PESS_TRY(pess__checkpoint_take(r->slab, r->now.v, error));
    return pess__chain_create(r->frozen, options->gamma, r->problem->v_lo, &r->chain, error);
}

static void destroy(run *r) {
    free(r->now.v);
    free(r->now.tv);
    free(r->trial.v);
    free(r->trial.tv);
    free(r->q);
    free(r->choice);
    pess_model_destroy(r->frozen);
    pess__chain_destroy(r->chain);
}

/* The greedy policy in q at the final v. */
static pess_status make_policy(run *r, pess_solution *solution, pess_error *error) {
    const pess_model *model = r->problem->model;
    pess_policy *policy = NULL;
    PESS_TRY(sweep(r, &r->now, error));
    PESS__TRY_TOGETHER(pess__scale_policy(&r->slab->spread, model->actions, &policy, error), error);
    pess__keep_greedy(model, r->slab->spread.own, r->q, policy, solution);
    return PESS_OK;
}

static void store(run *r, pess_solution *solution) {
    static char name[sizeof r->chain->name];
    memcpy(name, r->chain->name, sizeof name);
    free(solution->values);
    solution->values = r->now.v;
    r->now.v = NULL;
    solution->info.iterations = r->iterations;
    solution->info.residual = r->now.residual;
    solution->info.method = r->way.name;
    solution->info.evaluation = name;
}

pess_status pess__scale_fixed_point(const pess__problem *problem, const pess__operator *operator_, bool optimise,
                                    pess_solution *solution, pess_error *error) {
    run r = {.problem = problem,
             .operator_ = operator_,
             .slab = pess__slab_of(problem->model),
             .way = pess__frozen_way_of(problem, optimise)};
    if (!optimise) r.policy = solution->policy->probability;
    solution->info.outcome = PESS_OUTCOME_CONVERGED;
    pess_status status = create(&r, error);
    if (status == PESS_OK) status = iterate_all(&r, &solution->info, error);
    if (status == PESS_OK && optimise) status = make_policy(&r, solution, error);
    if (status == PESS_OK) store(&r, solution);
    if (status == PESS_OK) pess__checkpoint_done();
    destroy(&r);
    return status;
}
