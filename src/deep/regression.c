/* Three fifths of the steps of the training (or as many as the options say) with minibatches a quarter as large, at
 * three times the step size of imitation, falling to 0: small minibatches learn far more from the same samples here.
 * (Breakout, epsilon 0, counts, states drawn evenly, 1600 steps of 256 at imitation's step size: the smallest u is the
 * logged action's in 42 % of the states; 9600 steps of 64: 78 %, for half as many samples again.) */
#include "deep/regression.h"

#include "core/memory.h"

#include <stdlib.h>

enum { SMALLER = 4, FASTER = 3 }; /* minibatch, step size */

static pess_status open_minibatch(pess__regression *l, pess_error *error) {
    static const char what[] = "the training of an uncertainty";
    const int64_t labels = l->batch * l->outputs;
    PESS_TRY(pess__allocate(&l->unique, l->batch, sizeof *l->unique, what, error));
    PESS_TRY(pess__allocate(&l->first, l->batch + 1, sizeof *l->first, what, error));
    PESS_TRY(pess__allocate(&l->drawn, labels, sizeof *l->drawn, what, error));
    PESS_TRY(pess__allocate(&l->which, labels, sizeof *l->which, what, error));
    PESS_TRY(pess__allocate(&l->labels, labels, sizeof *l->labels, what, error));
    return pess__allocate(&l->weights, labels, sizeof *l->weights, what, error);
}

static void close_minibatch(pess__regression *l) {
    void *const owned[] = {l->unique, l->first, l->drawn, l->which, l->labels, l->weights};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

static pess_status train(pess__fitted *f, pess__regression *l, pess__trainer *trainer, pess_error *error) {
    const pess_protocol *p = &f->options.protocol;
    const int64_t told = f->options.uncertainty_steps, steps = told > 0 ? told : (3 * p->updates * p->steps + 4) / 5;
    const pess__bits_rows rows = {f->data->observations, f->data->bytes, l->unique};
    const pess__labels labels = {.actions = l->which, .targets = l->labels, .weights = l->weights, .first = l->first};
    pess__rng rng = pess__rng_stream(f->options.seed, "doubt rows", 0);
    for (int64_t step = 0; step < steps; step++) {
        pess__step_info info;
        const int64_t samples = l->draw(f, l, &rng);
        trainer->optimiser.rate = FASTER * p->imitation_rate * (1 - (double)step / (double)steps);
        PESS_TRY(pess__trainer_step(trainer, &rows, &labels, samples, &l->loss, &info, error));
        PESS_TRY(pess__fitted_report(f, "uncertainty", step, steps, error));
    }
    return PESS_OK;
}

pess_status pess__regression_run(pess__fitted *f, pess__regression *l, pess__net *net, pess_error *error) {
    pess__trainer *trainer = NULL;
    const pess__optimiser optimiser = pess__optimiser_defaults();
    pess__rng rng = pess__rng_stream(f->options.seed, "doubt network", 0);
    pess__net_initialise(net, &rng);
    l->batch = (f->options.protocol.batch + SMALLER - 1) / SMALLER;
    l->outputs = net->outputs;
    pess_status status = open_minibatch(l, error);
    if (status == PESS_OK) status = pess__trainer_create(net, &optimiser, &trainer, error);
    if (status == PESS_OK) status = train(f, l, trainer, error);
    pess__trainer_destroy(trainer);
    close_minibatch(l);
    return status;
}
