/* Training the networks of a learner's own: each in turn makes the steps of an update on minibatches of logged
 * transitions. Labels are made once, from the networks as they are when the turn begins. */
#include "deep/networks.h"

#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct turn {
    const pess__setup *setup;
    const pess__tables *tables;
    const pess__own_network *own;
    int64_t *rows, *states;                  /* [steps*batch] transitions of all minibatches; [batch] states of one */
    int32_t *which;                          /* [batch] outputs */
    pess__real *targets, *weights;           /* [batch] */
    pess__real *pair_targets, *pair_weights; /* [states*actions] labels of logged pairs */
} turn;

static pess_status open_turn(turn *t, pess_error *error) {
    static const char what[] = "the training of a learner's own network";
    const pess__setup *s = t->setup;
    const int64_t pairs = s->data->states * s->data->actions;
    PESS_TRY(pess__allocate(&t->rows, s->steps * s->batch, sizeof *t->rows, what, error));
    PESS_TRY(pess__allocate(&t->states, s->batch, sizeof *t->states, what, error));
    PESS_TRY(pess__allocate(&t->which, s->batch, sizeof *t->which, what, error));
    PESS_TRY(pess__allocate(&t->targets, s->batch, sizeof *t->targets, what, error));
    PESS_TRY(pess__allocate(&t->weights, s->batch, sizeof *t->weights, what, error));
    PESS_TRY(pess__allocate(&t->pair_targets, pairs, sizeof *t->pair_targets, what, error));
    return pess__allocate(&t->pair_weights, pairs, sizeof *t->pair_weights, what, error);
}

static void close_turn(turn *t) {
    void *const owned[] = {t->rows, t->states, t->which, t->targets, t->weights, t->pair_targets, t->pair_weights};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

/* The transitions of all minibatches, and the list of their states. */
static void draw_rows(turn *t, pess__network_sweep *sweep) {
    const pess__setup *s = t->setup;
    char stream[64];
    (void)snprintf(stream, sizeof stream, "%s rows", t->own->name);
    pess__rng rng = pess__rng_stream(s->options.seed, stream, (uint64_t)s->position->update);
    sweep->count = 0;
    for (int64_t i = 0; i < s->steps * s->batch; i++) {
        t->rows[i] = (int64_t)pess__rng_below(&rng, (uint64_t)s->data->transitions);
        pess__network_sweep_add(sweep, s->data->state[t->rows[i]]);
    }
    pess__network_sweep_close(sweep);
}

/* Labels of the actions that were logged in these states. */
static void label_chunk(void *user, const int64_t *states, int64_t count, const pess__chunk_outputs outputs) {
    turn *t = user;
    const int64_t actions = t->setup->data->actions;
    for (int64_t i = 0; i < count; i++) {
        const pess__view view = pess__networks_view(t->setup, t->tables, states[i], i, outputs);
        for (int64_t a = 0; a < actions; a++) {
            if (view.counts[a] == 0) continue;
            const pess__label label = t->own->label(&view, a);
            t->pair_targets[states[i] * actions + a] = (pess__real)label.target;
            t->pair_weights[states[i] * actions + a] = (pess__real)label.weight;
        }
    }
}

static void fill_minibatch(turn *t, const int64_t *rows) {
    const pess_observations *data = t->setup->data;
    for (int64_t i = 0; i < t->setup->batch; i++) {
        const int64_t row = rows[i], pair = data->state[row] * data->actions + data->action[row];
        t->states[i] = data->state[row];
        t->which[i] = t->own->one_output ? 0 : data->action[row];
        t->targets[i] = t->pair_targets[pair];
        t->weights[i] = t->pair_weights[pair];
    }
}

static pess_status step_through(turn *t, pess__trainer *trainer, pess_error *error) {
    const pess__setup *s = t->setup;
    const pess__loss loss = t->own->loss(s->knobs);
    const pess__bits_rows rows = {s->data->observations, s->data->bytes, t->states};
    const pess__labels labels = {.actions = t->which, .targets = t->targets, .weights = t->weights};
    trainer->optimiser.rate = s->options.protocol.rate;
    for (int64_t step = 0; step < s->steps; step++) {
        pess__step_info info;
        fill_minibatch(t, t->rows + step * s->batch);
        PESS_TRY(pess__trainer_step(trainer, &rows, &labels, s->batch, &loss, &info, error));
        PESS_TRY(
            pess__setup_report(s, t->own->name, s->position->update * s->steps + step, s->updates * s->steps, error));
    }
    return PESS_OK;
}

pess_status pess__own_networks_train(const pess__setup *s, pess__networks *n, const pess__tables *tables,
                                     pess__network_sweep *sweep, pess_error *error) {
    const int64_t first = pess__learner_networks(s->learner, s->knobs);
    pess_status status = PESS_OK;
    for (int64_t k = 0; k < s->learner->own_count && status == PESS_OK; k++) {
        turn t = {.setup = s, .tables = tables, .own = &s->learner->own[k]};
        status = open_turn(&t, error);
        if (status == PESS_OK) {
            draw_rows(&t, sweep);
            status =
                pess__network_sweep_run(s, sweep, (const pess__net *const *)n->nets, n->count, label_chunk, &t, error);
        }
        if (status == PESS_OK) status = step_through(&t, n->trainers[first + k], error);
        close_turn(&t);
    }
    return status;
}
