#include "deep/tables.h"

#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>

void pess__tables_destroy(pess__tables *t) {
    free(t->prior);
    free(t->penalty);
    free(t->counts);
    free(t->widths);
    *t = (pess__tables){0};
}

/* ---- counts */

/* Counts say something where states come back. Where fewer than one transition in FEW is in a state that occurs more
 * than once, they tell which action was taken and nothing more. */
static void warn(const pess__setup *s, const int32_t *counts, char *warning) {
    enum { FEW = 100 };
    const int64_t actions = s->data->actions, all = s->data->transitions;
    int64_t repeated = 0;
    for (int64_t state = 0; state < s->data->states; state++) {
        int64_t visits = 0;
        for (int64_t a = 0; a < actions; a++) visits += counts[state * actions + a];
        if (visits > 1) repeated += visits;
    }
    if (repeated > 0 && repeated * FEW >= all) return;
    char found[128] = "no state of the data occurs twice";
    if (repeated > 0)
        (void)snprintf(found, sizeof found, "only %lld of %lld transitions are in states that occur more than once",
                       (long long)repeated, (long long)all);
    (void)snprintf(warning, PESS__WARNING_SIZE,
                   "%s: counts tell logged actions from others, and %s of how often a state was seen", found,
                   repeated > 0 ? "little" : "nothing");
}

pess_status pess__tables_count(const pess__setup *s, pess__tables *t, char *warning, pess_error *error) {
    const pess_observations *data = s->data;
    PESS_TRY(pess__allocate(&t->counts, data->states * data->actions, sizeof *t->counts, "the counts of pairs", error));
    for (int64_t i = 0; i < data->transitions; i++) t->counts[data->state[i] * data->actions + data->action[i]]++;
    if (s->learner->counts) warn(s, t->counts, warning);
    return PESS_OK;
}

bool pess__tables_acted(const pess__setup *s, const pess__tables *t, int64_t state) {
    const int64_t actions = s->data->actions;
    for (int64_t a = 0; a < actions; a++)
        if (t->counts[state * actions + a] > 0) return true;
    return false;
}

pess__view pess__tables_view(const pess__setup *s, const pess__tables *t, int64_t state) {
    const int64_t actions = s->data->actions, at = state * actions;
    return (pess__view){.actions = actions,
                        .knobs = s->knobs,
                        .heads = 1,
                        .prior = t->prior != NULL ? t->prior + at : NULL,
                        .widths = t->widths != NULL ? t->widths + at : NULL,
                        .penalty = t->penalty != NULL ? t->penalty + at : NULL,
                        .counts = t->counts != NULL ? t->counts + at : NULL,
                        .cap = s->cap,
                        .relative = s->options.relative};
}

/* ---- going through states */

pess_status pess__network_sweep_create(const pess__setup *s, int64_t least, int64_t outputs, pess__network_sweep *out,
                                       pess_error *error) {
    static const char what[] = "the tables of a training";
    const int64_t states = s->data->states;
    PESS_TRY(pess__allocate(&out->states, states > least ? states : least, sizeof *out->states, what, error));
    PESS_TRY(pess__allocate(&out->place, states, sizeof *out->place, what, error));
    for (int64_t i = 0; i < states; i++) out->place[i] = -1;
    return pess__allocate(&out->outputs, PESS__OUTPUT_CHUNK * outputs, sizeof *out->outputs, what, error);
}

void pess__network_sweep_destroy(pess__network_sweep *sweep) {
    free(sweep->states);
    free(sweep->place);
    free(sweep->outputs);
    *sweep = (pess__network_sweep){0};
}

void pess__network_sweep_add(pess__network_sweep *sweep, int64_t state) {
    if (sweep->place[state] >= 0) return;
    sweep->place[state] = 0;
    sweep->states[sweep->count++] = state;
}

void pess__network_sweep_close(pess__network_sweep *sweep) {
    for (int64_t i = 0; i < sweep->count; i++) sweep->place[sweep->states[i]] = -1;
}

pess_status pess__network_sweep_run(const pess__setup *s, pess__network_sweep *sweep, const pess__net *const *nets,
                                    int64_t net_count, pess__chunk_use *use, void *user, pess_error *error) {
    pess__chunk_outputs outputs = {NULL};
    pess__real *at = sweep->outputs, *starts[PESS__MAX_NETWORKS];
    for (int64_t k = 0; k < net_count; k++) {
        outputs[k] = starts[k] = at;
        at += PESS__OUTPUT_CHUNK * nets[k]->outputs;
    }
    for (int64_t first = 0; first < sweep->count; first += PESS__OUTPUT_CHUNK) {
        const int64_t left = sweep->count - first, count = left < PESS__OUTPUT_CHUNK ? left : PESS__OUTPUT_CHUNK;
        const pess__bits_rows rows = {s->data->observations, s->data->bytes, sweep->states + first};
        for (int64_t k = 0; k < net_count; k++)
            PESS_TRY(pess__net_apply(nets[k], &rows, count, s->options.threads, starts[k], error));
        use(user, sweep->states + first, count, outputs);
    }
    return PESS_OK;
}

/* ---- π̂ */

typedef struct priors {
    int64_t actions;
    float *prior;
} priors;

static void softmax_chunk(void *user, const int64_t *states, int64_t count, const pess__chunk_outputs outputs) {
    const priors *p = user;
    for (int64_t i = 0; i < count; i++)
        pess__softmax(outputs[0] + i * p->actions, p->actions, p->prior + states[i] * p->actions);
}

pess_status pess__tables_priors(const pess__setup *s, const pess__net *imitation, pess__tables *t, pess_error *error) {
    const int64_t states = s->data->states, actions = s->data->actions;
    pess__network_sweep all = {0};
    pess_status status = pess__allocate(&t->prior, states * actions, sizeof *t->prior, "the priors", error);
    if (status == PESS_OK) status = pess__network_sweep_create(s, 0, actions, &all, error);
    if (status == PESS_OK) {
        priors user = {actions, t->prior};
        for (int64_t i = 0; i < states; i++) pess__network_sweep_add(&all, i);
        status = pess__network_sweep_run(s, &all, &imitation, 1, softmax_chunk, &user, error);
    }
    pess__network_sweep_destroy(&all);
    return status;
}
