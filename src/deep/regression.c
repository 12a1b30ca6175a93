/* Three fifths of the steps of the training (or as many as the options say) with minibatches a quarter as large, at
 * three times the step size of imitation, falling to 0: small minibatches learn far more from the same samples here.
 * (Breakout, epsilon 0, counts, states drawn evenly, 1600 steps of 256 at imitation's step size: the smallest u is the
 * logged action's in 42 % of the states; 9600 steps of 64: 78 %, for half as many samples again.) */
#include "deep/regression.h"

#include "core/memory.h"

#include <stdlib.h>

enum { SMALLER = 4, FASTER = 3 }; /* minibatch, step size */

static pess_status open_minibatch(pess__regression *r, pess_error *error) {
    static const char what[] = "the training of an uncertainty";
    const int64_t labels = r->batch * r->outputs, states = r->training->setup->data->states;
    PESS_TRY(pess__allocate(&r->unique, r->batch, sizeof *r->unique, what, error));
    PESS_TRY(pess__allocate(&r->first, r->batch + 1, sizeof *r->first, what, error));
    PESS_TRY(pess__allocate(&r->drawn, labels, sizeof *r->drawn, what, error));
    PESS_TRY(pess__allocate(&r->which, labels, sizeof *r->which, what, error));
    PESS_TRY(pess__allocate(&r->labels, labels, sizeof *r->labels, what, error));
    PESS_TRY(pess__allocate(&r->weights, labels, sizeof *r->weights, what, error));
    PESS_TRY(pess__allocate(&r->place, states, sizeof *r->place, what, error));
    for (int64_t i = 0; i < states; i++) r->place[i] = -1;
    return PESS_OK;
}

static void close_minibatch(pess__regression *r) {
    void *const owned[] = {r->unique, r->first, r->drawn, r->which, r->labels, r->weights, r->place};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

/* The streams keep the names they had when results were first written: other names would be other numbers. */
#define ROWS_STREAM "doubt rows"
#define NETWORK_STREAM "doubt network"

static pess_status train(pess__regression *r, pess__trainer *trainer, pess_error *error) {
    const pess__setup *s = r->training->setup;
    const pess_protocol *p = &s->options.protocol;
    const int64_t told = s->options.uncertainty_steps, steps = told > 0 ? told : (3 * p->updates * p->steps + 4) / 5;
    const pess__bits_rows rows = {s->data->observations, s->data->bytes, r->unique};
    const pess__labels labels = {.actions = r->which, .targets = r->labels, .weights = r->weights, .first = r->first};
    pess__rng rng = pess__rng_stream(s->options.seed, ROWS_STREAM, 0);
    for (int64_t step = 0; step < steps; step++) {
        pess__step_info info;
        const int64_t samples = r->draw(r, &rng);
        trainer->optimiser.rate = FASTER * p->imitation_rate * (1 - (double)step / (double)steps);
        PESS_TRY(pess__trainer_step(trainer, &rows, &labels, samples, &r->loss, &info, error));
        PESS_TRY(pess__setup_report(s, "uncertainty", step, steps, error));
    }
    return PESS_OK;
}

pess_status pess__regression_run(pess__regression *r, pess__net *net, pess_error *error) {
    const pess_train_options *o = &r->training->setup->options;
    pess__trainer *trainer = NULL;
    const pess__optimiser optimiser = pess__optimiser_defaults();
    pess__rng rng = pess__rng_stream(o->seed, NETWORK_STREAM, 0);
    pess__net_initialise(net, &rng);
    r->batch = (o->protocol.batch + SMALLER - 1) / SMALLER;
    r->outputs = net->outputs;
    pess_status status = open_minibatch(r, error);
    if (status == PESS_OK) status = pess__trainer_create(net, &optimiser, &trainer, error);
    if (status == PESS_OK) status = train(r, trainer, error);
    pess__trainer_destroy(trainer);
    close_minibatch(r);
    return status;
}

/* ---- labels that are functions of the state */

/* Equal states of a minibatch are computed once, weighted by how often they were drawn. */
static int64_t draw_states(pess__regression *r, pess__rng *rng) {
    const pess__setup *s = r->training->setup;
    const pess_observations *data = s->data;
    int64_t different = 0;
    for (int64_t i = 0; i < r->batch; i++) {
        const int64_t state = data->state[pess__rng_below(rng, (uint64_t)data->transitions)], before = different;
        const int64_t u = pess__regression_place(r, state, &different);
        if (different > before) {
            const pess__view view = pess__tables_view(s, r->training->tables, state);
            r->drawn[u] = 0;
            s->learner->uncertainty->label(&view, r->labels + u * r->outputs);
        }
        r->drawn[u]++;
    }
    r->first[0] = 0;
    for (int64_t u = 0; u < different; u++) {
        const double weight = (double)(r->drawn[u] * different) / (double)r->batch;
        r->first[u + 1] = r->first[u] + r->outputs;
        for (int64_t k = 0; k < r->outputs; k++) {
            r->which[r->first[u] + k] = (int32_t)k;
            r->weights[r->first[u] + k] = (pess__real)weight;
        }
    }
    pess__regression_clear(r, different);
    return different;
}

pess_status pess__regress_labels(const pess__uncertainty_training *training, pess__net *net, pess_error *error) {
    pess__regression regression = {.training = training, .loss = {.kind = PESS__LOSS_SQUARED}, .draw = draw_states};
    return pess__regression_run(&regression, net, error);
}
