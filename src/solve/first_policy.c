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
    pess__engine *engine;
    int32_t *greedy, *best; /* [S] */
    double *value;          /* [S] of the best … */
    double sum;             /* … and its sum over all states */
} candidates;

static bool available(const pess__engine *engine, int64_t pair) {
    const double *bonus = engine->local->bonus;
    return engine->model->kind[pair] != PESS_ROW_NONE && (bonus == NULL || isfinite(bonus[pair]));
}

/* This action wherever it is available, elsewhere the greedy one. */
static void take_everywhere(const candidates *c, int64_t action) {
    pess__engine *engine = c->engine;
    for (int64_t s = 0; s < engine->states; s++)
        if (engine->choice[s] >= 0)
            engine->choice[s] = available(engine, s * engine->actions + action) ? (int32_t)action : c->greedy[s];
    engine->filled = PESS__FILLED_NOT;
    engine->chain->moved += engine->states;
}

/* Evaluates the present policy and keeps it where it is the best so far. */
static pess_status try_policy(candidates *c, double tolerance, pess_error *error) {
    pess__engine *engine = c->engine;
    PESS_TRY(pess__engine_evaluate(engine, tolerance, error));
    double sum = 0;
    for (int64_t s = 0; s < engine->states; s++) sum += engine->v[s];
    if (!(sum > c->sum)) return PESS_OK; /* NaN is no value */
    c->sum = sum;
    memcpy(c->value, engine->v, (size_t)engine->states * sizeof *c->value);
    memcpy(c->best, engine->choice, (size_t)engine->states * sizeof *c->best);
    return PESS_OK;
}

static pess_status try_all(candidates *c, double tolerance, pess_error *error) {
    pess__engine *engine = c->engine;
    memcpy(c->greedy, engine->choice, (size_t)engine->states * sizeof *c->greedy);
    PESS_TRY(try_policy(c, tolerance, error));
    for (int64_t i = 0; i < TRIED && pess__monitor_check(&engine->monitor); i++) {
        take_everywhere(c, (engine->actions - 1) * i / (TRIED - 1));
        PESS_TRY(try_policy(c, tolerance, error));
    }
    if (c->sum == -INFINITY) { /* none has a value: as if nothing had been tried */
        memcpy(c->best, c->greedy, (size_t)engine->states * sizeof *c->best);
        memset(c->value, 0, (size_t)engine->states * sizeof *c->value);
    }
    memcpy(engine->choice, c->best, (size_t)engine->states * sizeof *c->best);
    memcpy(engine->v, c->value, (size_t)engine->states * sizeof *c->value);
    engine->filled = PESS__FILLED_NOT;
    engine->chain->moved += engine->states;
    return PESS_OK;
}

pess_status pess__begin_with_best(pess__engine *engine, double tolerance, pess_error *error) {
    candidates c = {.engine = engine, .sum = -INFINITY};
    pess_status status = pess__allocate(&c.greedy, engine->states, sizeof *c.greedy, "the first policy", error);
    if (status == PESS_OK) status = pess__allocate(&c.best, engine->states, sizeof *c.best, "the first policy", error);
    if (status == PESS_OK) status = pess__allocate(&c.value, engine->states, sizeof *c.value, "its value", error);
    if (status == PESS_OK) status = try_all(&c, tolerance, error);
    free(c.greedy);
    free(c.best);
    free(c.value);
    return status;
}
