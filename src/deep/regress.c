/* A short regression before training: the doubt's network learns its labels at the states in which the data act, each
 * as often as it occurs. Three fifths of the steps of the training with minibatches a quarter as large, at three times
 * the step size of imitation, falling to 0: small minibatches learn far more from the same samples here. (Breakout,
 * epsilon 0, states drawn evenly, 1600 steps of 256 at imitation's step size: the smallest u is the logged action's in
 * 42 % of the states; 9600 steps of 64: 78 %, for half as many samples again.) */
#include "deep/doubt.h"

#include "core/memory.h"

#include <stdlib.h>

enum { SMALLER = 4, FASTER = 3 }; /* minibatch, step size */

typedef struct lesson {
    int64_t batch, outputs;
    /* The different states of a minibatch: each has `outputs` labels, with weights for how often it was drawn. */
    int64_t *unique, *first, *drawn;
    int32_t *which;
    pess__real *labels, *weights;
} lesson;

static pess_status open_lesson(lesson *l, pess_error *error) {
    static const char what[] = "a regression";
    const int64_t labels = l->batch * l->outputs;
    PESS_TRY(pess__allocate(&l->unique, l->batch, sizeof *l->unique, what, error));
    PESS_TRY(pess__allocate(&l->drawn, l->batch, sizeof *l->drawn, what, error));
    PESS_TRY(pess__allocate(&l->first, l->batch + 1, sizeof *l->first, what, error));
    PESS_TRY(pess__allocate(&l->which, labels, sizeof *l->which, what, error));
    PESS_TRY(pess__allocate(&l->labels, labels, sizeof *l->labels, what, error));
    PESS_TRY(pess__allocate(&l->weights, labels, sizeof *l->weights, what, error));
    for (int64_t i = 0; i <= l->batch; i++) l->first[i] = i * l->outputs;
    for (int64_t i = 0; i < labels; i++) l->which[i] = (int32_t)(i % l->outputs);
    return PESS_OK;
}

static void close_lesson(lesson *l) {
    void *const owned[] = {l->unique, l->first, l->drawn, l->which, l->labels, l->weights};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

/* A minibatch in which equal states are computed once: label and weight are functions of the state. The weights are
 * such that their mean over the labels is 1, as if every sample were there. Returns how many states differ. */
static int64_t draw(pess__fitted *f, lesson *l, pess__rng *rng) {
    int64_t different = 0;
    for (int64_t i = 0; i < l->batch; i++) {
        const int64_t state = f->data->state[pess__rng_below(rng, (uint64_t)f->data->transitions)];
        if (f->place[state] < 0) {
            f->place[state] = (int32_t)different;
            l->unique[different] = state;
            l->drawn[different] = 0;
            f->learner->doubt->label(f, state, l->labels + different * l->outputs);
            different++;
        }
        l->drawn[f->place[state]]++;
    }
    for (int64_t u = 0; u < different; u++) {
        const double weight = (double)(l->drawn[u] * different) / (double)l->batch;
        for (int64_t k = 0; k < l->outputs; k++) l->weights[u * l->outputs + k] = (pess__real)weight;
        f->place[l->unique[u]] = -1;
    }
    return different;
}

static pess_status teach(pess__fitted *f, lesson *l, pess__trainer *trainer, pess_error *error) {
    const pess_protocol *p = &f->options.protocol;
    const int64_t steps = (3 * p->updates * p->steps + 4) / 5;
    const pess__loss loss = {.kind = PESS__LOSS_SQUARED};
    const pess__bits_rows rows = {f->data->observations, f->data->bytes, l->unique};
    const pess__labels labels = {.actions = l->which, .targets = l->labels, .weights = l->weights, .first = l->first};
    pess__rng rng = pess__rng_stream(f->options.seed, "doubt rows", 0);
    for (int64_t step = 0; step < steps; step++) {
        pess__step_info info;
        const int64_t samples = draw(f, l, &rng);
        trainer->optimiser.rate = FASTER * p->imitation_rate * (1 - (double)step / (double)steps);
        PESS_TRY(pess__trainer_step(trainer, &rows, &labels, samples, &loss, &info, error));
        PESS_TRY(pess__fitted_report(f, "uncertainty", step, steps, error));
    }
    return PESS_OK;
}

pess_status pess__regress(pess__fitted *f, pess__net *net, pess_error *error) {
    lesson l = {.batch = (f->options.protocol.batch + SMALLER - 1) / SMALLER, .outputs = net->outputs};
    pess__trainer *trainer = NULL;
    const pess__optimiser optimiser = pess__optimiser_defaults();
    pess__rng rng = pess__rng_stream(f->options.seed, "doubt network", 0);
    pess__net_initialise(net, &rng);
    pess_status status = open_lesson(&l, error);
    if (status == PESS_OK) status = pess__trainer_create(net, &optimiser, &trainer, error);
    if (status == PESS_OK) status = teach(f, &l, trainer, error);
    pess__trainer_destroy(trainer);
    close_lesson(&l);
    return status;
}
