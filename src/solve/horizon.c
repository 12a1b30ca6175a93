#include "solve/horizon.h"

#include "core/memory.h"
#include "solve/optimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

pess_status pess__no_horizon(const pess__problem *problem, const char *whom, pess_error *error) {
    if (problem->options->horizon == 0) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT,
                      "%s takes no horizon; algorithms whose penalty does not depend on the values do (such as naive, "
                      "ua with one number per pair, proximal, spibb)",
                      whom);
}

static const double *table_of(const pess_policy *policy, int64_t step) {
    return policy->probability + (policy->steps > 1 ? step : 0) * policy->states * policy->actions;
}

/* What one step of the backward induction needs. A sink is worth the least that is possible in the steps left. */
typedef struct stages {
    pess__problem problem; /* v_lo is that of the steps after the present one */
    const pess__local *local;
    int64_t states, actions, horizon;
    double *v, *next; /* [S] */
    double *q;        /* [S*A] */
} stages;

static void stages_release(stages *g) {
    free(g->v);
    free(g->next);
    free(g->q);
}

static pess_status stages_create(const pess__problem *problem, const pess__local *local, stages *g, pess_error *error) {
    const int64_t states = problem->model->states, actions = problem->model->actions;
    *g = (stages){.problem = *problem,
                  .local = local,
                  .states = states,
                  .actions = actions,
                  .horizon = problem->options->horizon};
    pess_status status = pess__allocate(&g->v, states, sizeof(double), "the values", error);
    if (status == PESS_OK) status = pess__allocate(&g->next, states, sizeof(double), "the values", error);
    if (status == PESS_OK) status = pess__allocate(&g->q, states * actions, sizeof(double), "the action values", error);
    if (status != PESS_OK) stages_release(g);
    return status;
}

/* q of step t from the values of the next one, in v. */
static void look_back(stages *g, int64_t t, const double *bonus) {
    double hi;
    pess__horizon_range(g->problem.model, g->problem.options->gamma, g->horizon - 1 - t, &g->problem.v_lo, &hi);
    pess__q_values(&g->problem, bonus, g->v, g->q);
}

static void swap(stages *g) {
    double *keep = g->v;
    g->v = g->next;
    g->next = keep;
}

/* The best row of the policy at a state, and its value. */
static double improve_state(const stages *g, int64_t s, double *row) {
    const double *q = g->q + s * g->actions;
    if (g->local->improve != NULL) return g->local->improve(g->local->context, s, q, row);
    const int64_t best = pess__greedy_action(q, g->actions);
    row[best] = 1;
    return q[best];
}

static void improve_step(stages *g, int64_t t, pess_policy *policy) {
    double *table = policy->probability + t * g->states * g->actions;
    look_back(g, t, g->local->bonus);
    for (int64_t s = 0; s < g->states; s++)
        g->next[s] = g->problem.model->terminal[s] ? 0 : improve_state(g, s, table + s * g->actions);
    swap(g);
}

/* v = Σ_a π_t(a)·q − penalty(π_t); without a penalty where `local` is NULL. */
static void evaluate_step(stages *g, int64_t t, const double *table, const pess__local *local) {
    look_back(g, t, local != NULL ? local->bonus : NULL);
    for (int64_t s = 0; s < g->states; s++) {
        const double *pi = table + s * g->actions, *q = g->q + s * g->actions;
        g->next[s] = 0;
        if (g->problem.model->terminal[s]) continue;
        for (int64_t a = 0; a < g->actions; a++)
            if (pi[a] > 0) g->next[s] += pi[a] * q[a];
        if (local != NULL && local->penalty != NULL) g->next[s] -= local->penalty(local->context, s, pi);
    }
    swap(g);
}

/* Values of the first step, of the policy as it is, with or without the algorithm's penalty. */
static pess_status evaluate_all(stages *g, const pess_policy *policy, const pess__local *local, double **values,
                                pess_error *error) {
    if (*values == NULL) PESS_TRY(pess__allocate(values, g->states, sizeof(double), "the values", error));
    memset(g->v, 0, (size_t)g->states * sizeof *g->v);
    for (int64_t t = g->horizon - 1; t >= 0; t--) evaluate_step(g, t, table_of(policy, t), local);
    memcpy(*values, g->v, (size_t)g->states * sizeof **values);
    return PESS_OK;
}

static pess_status finish(stages *g, const char *method, pess_solution *solution, pess_error *error) {
    pess_solution_info *info = &solution->info;
    info->method = method;
    info->evaluation = "exact";
    info->outcome = PESS_OUTCOME_CONVERGED;
    info->iterations = g->horizon;
    info->residual = 0;
    PESS_TRY(evaluate_all(g, solution->policy, g->local, &solution->values, error));
    return evaluate_all(g, solution->policy, NULL, &solution->naive_values, error);
}

pess_status pess__horizon_optimise(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                                   pess_error *error) {
    stages g;
    PESS_TRY(stages_create(problem, local, &g, error));
    pess_policy_destroy(solution->policy);
    solution->policy = NULL;
    pess_status status = pess__policy_allocate_steps(g.horizon, g.states, g.actions, &solution->policy, error);
    if (status == PESS_OK) {
        for (int64_t t = g.horizon - 1; t >= 0; t--) improve_step(&g, t, solution->policy);
        status = finish(&g, "backward induction", solution, error);
    }
    stages_release(&g);
    return status;
}

pess_status pess__horizon_evaluate(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                                   pess_error *error) {
    stages g;
    PESS_TRY(stages_create(problem, local, &g, error));
    const pess_status status = finish(&g, "evaluation", solution, error);
    stages_release(&g);
    return status;
}

/* ---- visits */

/* next += the states that follow d·π_t; `everywhere` collects what uniform rows spread. */
static void move_on(const pess_model *model, const double *table, const double *d, double *next) {
    double everywhere = 0;
    for (int64_t z = 0; z < model->states * model->actions; z++) {
        const double mass = d[z / model->actions] * table[z];
        if (!(mass > 0)) continue;
        if (model->kind[z] == PESS_ROW_UNIFORM) everywhere += mass / (double)model->states;
        for (int64_t k = model->row[z]; k < model->row[z + 1]; k++)
            next[model->next[k]] += mass * model->probability[k];
    }
    for (int64_t s = 0; s < model->states && everywhere > 0; s++)
        if (!model->terminal[s]) next[s] += everywhere;
}

pess_status pess__horizon_visits(const pess_model *model, const double *start, const pess_policy *policy, double gamma,
                                 int64_t horizon, double *visits, pess_error *error) {
    const int64_t states = model->states, pairs = states * model->actions;
    double *d = NULL, discount = 1;
    PESS_TRY(pess__allocate(&d, 2 * states, sizeof *d, "the visits", error));
    double *now = d, *next = d + states;
    memcpy(now, start, (size_t)states * sizeof *d);
    memset(visits, 0, (size_t)pairs * sizeof *visits);
    for (int64_t t = 0; t < horizon; t++, discount *= gamma) {
        const double *table = table_of(policy, t);
        for (int64_t z = 0; z < pairs; z++) visits[z] += discount * now[z / model->actions] * table[z];
        memset(next, 0, (size_t)states * sizeof *next);
        move_on(model, table, now, next);
        double *keep = now;
        now = next;
        next = keep;
    }
    free(d);
    return PESS_OK;
}
