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
    /* A minibatch: sample i has `outputs` labels. */
    int64_t *sample, *first;
    int32_t *which;
    pess__real *labels;
} lesson;

static pess_status open_lesson(lesson *l, pess_error *error) {
    static const char what[] = "a regression";
    const int64_t labels = l->batch * l->outputs;
    PESS_TRY(pess__allocate(&l->sample, l->batch, sizeof *l->sample, what, error));
    PESS_TRY(pess__allocate(&l->first, l->batch + 1, sizeof *l->first, what, error));
    PESS_TRY(pess__allocate(&l->which, labels, sizeof *l->which, what, error));
    PESS_TRY(pess__allocate(&l->labels, labels, sizeof *l->labels, what, error));
    for (int64_t i = 0; i <= l->batch; i++) l->first[i] = i * l->outputs;
    for (int64_t i = 0; i < labels; i++) l->which[i] = (int32_t)(i % l->outputs);
    return PESS_OK;
}

static void close_lesson(lesson *l) {
    void *const owned[] = {l->sample, l->first, l->which, l->labels};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

static pess_status teach(pess__fitted *f, lesson *l, pess__trainer *trainer, pess_error *error) {
    const pess_protocol *p = &f->options.protocol;
    const int64_t steps = (3 * p->updates * p->steps + 4) / 5;
    const pess__loss loss = {.kind = PESS__LOSS_SQUARED};
    const pess__bits_rows rows = {f->data->observations, f->data->bytes, l->sample};
    const pess__labels labels = {.actions = l->which, .targets = l->labels, .first = l->first};
    pess__rng rng = pess__rng_stream(f->options.seed, "doubt rows", 0);
    for (int64_t step = 0; step < steps; step++) {
        pess__step_info info;
        for (int64_t i = 0; i < l->batch; i++) {
            l->sample[i] = f->data->state[pess__rng_below(&rng, (uint64_t)f->data->transitions)];
            f->learner->doubt->label(f, l->sample[i], l->labels + i * l->outputs);
        }
        trainer->optimiser.rate = FASTER * p->imitation_rate * (1 - (double)step / (double)steps);
        PESS_TRY(pess__trainer_step(trainer, &rows, &labels, l->batch, &loss, &info, error));
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
