/* An uncertainty's network learns the uncertainty's labels at the states in which the data act, each as often as it
 * occurs. Equal states of a minibatch are computed once: label and weight are functions of the state. */
#include "deep/neural_uncertainty.h"
#include "deep/regression.h"

static int64_t draw(pess__fitted *f, pess__regression *l, pess__rng *rng) {
    int64_t different = 0;
    for (int64_t i = 0; i < l->batch; i++) {
        const int64_t state = f->data->state[pess__rng_below(rng, (uint64_t)f->data->transitions)], before = different;
        const int64_t u = pess__regression_place(f, l, state, &different);
        if (different > before) {
            l->drawn[u] = 0;
            f->learner->uncertainty->label(f, state, l->labels + u * l->outputs);
        }
        l->drawn[u]++;
    }
    l->first[0] = 0;
    for (int64_t u = 0; u < different; u++) {
        const double weight = (double)(l->drawn[u] * different) / (double)l->batch;
        l->first[u + 1] = l->first[u] + l->outputs;
        for (int64_t k = 0; k < l->outputs; k++) {
            l->which[l->first[u] + k] = (int32_t)k;
            l->weights[l->first[u] + k] = (pess__real)weight;
        }
    }
    pess__regression_clear(f, l, different);
    return different;
}

pess_status pess__regress(pess__fitted *f, pess__net *net, pess_error *error) {
    pess__regression regression = {.loss = {.kind = PESS__LOSS_SQUARED}, .draw = draw};
    return pess__regression_run(f, &regression, net, error);
}
