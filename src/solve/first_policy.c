/* The policy that inexact policy iteration begins with, where there are many actions. Greedy in v = 0 looks ahead by a
 * few steps: where an action costs now and pays later (a faster server), policy iteration leaves that policy from its
 * rim inwards, a state or so per evaluation. A policy that takes one action everywhere knows nothing, but its value
 * looks all the way ahead; where that is more than the greedy policy's, it is the better start. A heuristic, which
 * decides on time alone: a queue of 3,000 states and 100 speeds takes four evaluations here and 8 more instead of 137.
 */
#include "core/memory.h"
#include "solve/optimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIED = 3 }; /* actions, evenly over all of them */

typedef struct candidates {
    pess__solver *solver;
    int32_t *greedy, *best; /* [S] */
    double *value;          /* [S] of the best … */
    double sum;             /* … and its sum over all states */
} candidates;

static bool available(const pess__solver *solver, int64_t pair) {
    const double *bonus = solver->local->bonus;
    return solver->model->kind[pair] != PESS_ROW_NONE && (bonus == NULL || isfinite(bonus[pair]));
}

/* This action wherever it is available, elsewhere the greedy one. */
static void take_everywhere(const candidates *c, int64_t action) {
    pess__solver *solver = c->solver;
    for (int64_t s = 0; s < solver->states; s++)
        if (solver->choice[s] >= 0)
            solver->choice[s] = available(solver, s * solver->actions + action) ? (int32_t)action : c->greedy[s];
    solver->filled = PESS__FILLED_NOT;
    solver->chain->moved += solver->states;
}

/* Evaluates the present policy and keeps it where it is the best so far. */
static pess_status try_policy(candidates *c, double tolerance, pess_error *error) {
    pess__solver *solver = c->solver;
    PESS_TRY(pess__solver_evaluate(solver, tolerance, error));
    double sum = 0;
    for (int64_t s = 0; s < solver->states; s++) sum += solver->v[s];
    if (!(sum > c->sum)) return PESS_OK; /* NaN is no value */
    c->sum = sum;
    memcpy(c->value, solver->v, (size_t)solver->states * sizeof *c->value);
    memcpy(c->best, solver->choice, (size_t)solver->states * sizeof *c->best);
    return PESS_OK;
}

static pess_status try_all(candidates *c, double tolerance, pess_error *error) {
    pess__solver *solver = c->solver;
    memcpy(c->greedy, solver->choice, (size_t)solver->states * sizeof *c->greedy);
    PESS_TRY(try_policy(c, tolerance, error));
    for (int64_t i = 0; i < TRIED && pess__monitor_check(&solver->monitor); i++) {
        take_everywhere(c, (solver->actions - 1) * i / (TRIED - 1));
        PESS_TRY(try_policy(c, tolerance, error));
    }
    if (c->sum == -INFINITY) { /* none has a value: as if nothing had been tried */
        memcpy(c->best, c->greedy, (size_t)solver->states * sizeof *c->best);
        memset(c->value, 0, (size_t)solver->states * sizeof *c->value);
    }
    memcpy(solver->choice, c->best, (size_t)solver->states * sizeof *c->best);
    memcpy(solver->v, c->value, (size_t)solver->states * sizeof *c->value);
    solver->filled = PESS__FILLED_NOT;
    solver->chain->moved += solver->states;
    return PESS_OK;
}

pess_status pess__begin_with_best(pess__solver *solver, double tolerance, pess_error *error) {
    candidates c = {.solver = solver, .sum = -INFINITY};
    pess_status status = pess__allocate(&c.greedy, solver->states, sizeof *c.greedy, "the first policy", error);
    if (status == PESS_OK) status = pess__allocate(&c.best, solver->states, sizeof *c.best, "the first policy", error);
    if (status == PESS_OK) status = pess__allocate(&c.value, solver->states, sizeof *c.value, "its value", error);
    if (status == PESS_OK) status = try_all(&c, tolerance, error);
    free(c.greedy);
    free(c.best);
    free(c.value);
    return status;
}
