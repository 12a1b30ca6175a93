/* Tabular MDPs as environments: per pair the cumulative probabilities of its outcomes, one uniform a step. */
#include "env/tables.h"

#include "core/memory.h"
#include "model/mdp.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct pess__mdp_tables {
    atomic_int users;
    int64_t states, actions;
    int64_t *row;       /* [S*A+1] */
    uint32_t *next;     /* [outcomes] */
    double *cumulative; /* [outcomes] within a pair; 1 at its last outcome that can happen, and after it */
    double *reward;     /* [outcomes] */
    uint8_t *terminal;  /* [S] */
    double *start;      /* [S] cumulative, likewise */
};

typedef struct mdp_state {
    int64_t state;
} mdp_state;

/* ---- setup */

/* Running sums of `count` probabilities, with everything from the last positive one on set to one, so that rounding can
 * never select an outcome that has no probability. */
static void accumulate(const double *probability, int64_t count, double *cumulative) {
    double sum = 0;
    int64_t last = 0;
    for (int64_t k = 0; k < count; k++) {
        const double p = probability[k]; /* read first: the two arrays may be one */
        sum += p;
        cumulative[k] = sum;
        if (p > 0) last = k;
    }
    for (int64_t k = last; k < count; k++) cumulative[k] = 1;
}

static pess_status set_start(pess__mdp_tables *t, const double *start, pess_error *error) {
    double sum = 0;
    for (int64_t s = 0; s < t->states; s++) {
        const double p = start != NULL ? start[s] : t->terminal[s] == 0;
        if (!(p >= 0 && p <= INFINITY) || (p > 0 && t->terminal[s] != 0))
            return pess__fail(error, PESS_ARGUMENT,
                              "start distribution, state %lld: found %g, expected a probability, and 0 in a state "
                              "without actions",
                              (long long)s, p);
        sum += p;
        t->start[s] = p;
    }
    if (start != NULL ? fabs(sum - 1) > 1e-6 : sum == 0)
        return pess__fail(error, PESS_ARGUMENT, "start distribution: sums to %g, expected 1", sum);
    for (int64_t s = 0; s < t->states; s++) t->start[s] /= sum;
    accumulate(t->start, t->states, t->start);
    return PESS_OK;
}

static pess_status fill(pess__mdp_tables *t, const pess_mdp *mdp, const double *start, pess_error *error) {
    const int64_t pairs = mdp->states * mdp->actions, outcomes = mdp->row[pairs];
    PESS_TRY(pess__allocate(&t->row, pairs + 1, sizeof *t->row, "the rows of the environment", error));
    PESS_TRY(pess__allocate(&t->next, outcomes, sizeof *t->next, "the outcomes of the environment", error));
    PESS_TRY(pess__allocate(&t->cumulative, outcomes, sizeof *t->cumulative, "the outcomes of the environment", error));
    PESS_TRY(pess__allocate(&t->reward, outcomes, sizeof *t->reward, "the outcomes of the environment", error));
    PESS_TRY(pess__allocate(&t->terminal, mdp->states, 1, "the states of the environment", error));
    PESS_TRY(pess__allocate(&t->start, mdp->states, sizeof *t->start, "the states of the environment", error));
    t->states = mdp->states;
    t->actions = mdp->actions;
    memcpy(t->row, mdp->row, (size_t)(pairs + 1) * sizeof *t->row);
    memcpy(t->next, mdp->next, (size_t)outcomes * sizeof *t->next);
    memcpy(t->reward, mdp->reward, (size_t)outcomes * sizeof *t->reward);
    memcpy(t->terminal, mdp->terminal, (size_t)mdp->states);
    for (int64_t z = 0; z < pairs; z++)
        accumulate(mdp->probability + t->row[z], t->row[z + 1] - t->row[z], t->cumulative + t->row[z]);
    return set_start(t, start, error);
}

pess_status pess__mdp_tables_create(const pess_mdp *mdp, const double *start, const pess_env_options *options,
                                    pess__rules *out, pess_error *error) {
    pess__mdp_tables *t = NULL;
    PESS_TRY(pess__allocate(&t, 1, sizeof *t, "the tables of the environment", error));
    atomic_init(&t->users, 1);
    const pess_status status = fill(t, mdp, start, error);
    if (status != PESS_OK) {
        pess__mdp_tables_release(t);
        return status;
    }
    *out = (pess__rules){.step_limit = options->step_limit > 0 ? options->step_limit : INT64_MAX,
                         .actions = mdp->actions,
                         .tables = t,
                         .bits = mdp->states,
                         .bytes = (mdp->states + 7) / 8};
    return PESS_OK;
}

void pess__mdp_tables_share(pess__mdp_tables *tables) {
    if (tables != NULL) (void)atomic_fetch_add(&tables->users, 1);
}

void pess__mdp_tables_release(pess__mdp_tables *tables) {
    if (tables == NULL || atomic_fetch_sub(&tables->users, 1) > 1) return;
    free(tables->row);
    free(tables->next);
    free(tables->cumulative);
    free(tables->reward);
    free(tables->terminal);
    free(tables->start);
    free(tables);
}

/* ---- acting */

/* The first index whose running sum is above u. */
static int64_t select_next(const double *cumulative, int64_t count, double u) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (u < cumulative[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int64_t pess__mdp_tables_state(const void *state) {
    mdp_state copy; /* saved bytes need not be aligned */
    memcpy(&copy, state, sizeof copy);
    return copy.state;
}

static void mdp_reset(const pess__rules *rules, pess__instance *instance) {
    mdp_state *s = pess__state(instance);
    const double u = pess__draw_uniform(&instance->source, false);
    s->state = select_next(rules->tables->start, rules->tables->states, u);
}

static pess__step_result mdp_step(const pess__rules *rules, pess__instance *instance, int64_t action) {
    const pess__mdp_tables *t = rules->tables;
    mdp_state *s = pess__state(instance);
    const int64_t z = s->state * t->actions + action, begin = t->row[z];
    const double u = pess__draw_uniform(&instance->source, false);
    const int64_t k = begin + select_next(t->cumulative + begin, t->row[z + 1] - begin, u);
    s->state = t->next[k];
    return (pess__step_result){.reward = t->reward[k], .terminal = t->terminal[s->state] != 0};
}

static bool mdp_has_action(const pess__rules *rules, const void *state, int64_t action) {
    const int64_t z = pess__mdp_tables_state(state) * rules->tables->actions + action;
    return rules->tables->row[z] < rules->tables->row[z + 1];
}

static bool mdp_valid(const pess__rules *rules, const void *state) {
    const int64_t s = pess__mdp_tables_state(state);
    return s >= 0 && s < rules->tables->states;
}

static void mdp_run(const pess__span *span) {
    const pess__rules *rules = span->rules;
    const pess_batch_out *out = span->out;
    for (int64_t i = span->first; i < span->last; i++) {
        pess__instance *instance = (pess__instance *)(void *)(span->instances + (size_t)i * span->stride);
        const pess__step_result outcome = mdp_step(rules, instance, span->actions[i]);
        const bool late = ++instance->steps >= rules->step_limit;
        const pess_end end = outcome.terminal ? PESS_END_TERMINAL : late ? PESS_END_CUTOFF : PESS_END_NONE;
        if (out->rewards != NULL) out->rewards[i] = outcome.reward;
        if (out->ends != NULL) out->ends[i] = (uint8_t)end;
        if (end != PESS_END_NONE) {
            memcpy(span->final + i * (int64_t)sizeof(int64_t), pess__state(instance), sizeof(int64_t));
            span->ended[i] = 1;
            mdp_reset(rules, instance);
            instance->steps = 0;
        }
        pess__observe(&pess__game_mdp, rules, instance, out, i);
    }
}

const pess__game pess__game_mdp = {.info = {.name = "mdp", .summary = "a tabular MDP"},
                                   .state_size = sizeof(mdp_state),
                                   .reset = mdp_reset,
                                   .step = mdp_step,
                                   .valid = mdp_valid,
                                   .run = mdp_run,
                                   .has_action = mdp_has_action};
