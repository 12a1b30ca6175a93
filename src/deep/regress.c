/* A doubt's network learns the doubt's labels at the states in which the data act, each as often as it occurs. Equal
 * states of a minibatch are computed once: label and weight are functions of the state. */
#include "deep/doubt.h"
#include "deep/lesson.h"

static int64_t draw(pess__fitted *f, pess__lesson *l, pess__rng *rng) {
    int64_t different = 0;
    for (int64_t i = 0; i < l->batch; i++) {
        const int64_t state = f->data->state[pess__rng_below(rng, (uint64_t)f->data->transitions)], before = different;
        const int64_t u = pess__lesson_place(f, l, state, &different);
        if (different > before) {
            l->drawn[u] = 0;
            f->learner->doubt->label(f, state, l->labels + u * l->outputs);
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
    pess__lesson_clear(f, l, different);
    return different;
}

pess_status pess__regress(pess__fitted *f, pess__net *net, pess_error *error) {
    pess__lesson lesson = {.loss = {.kind = PESS__LOSS_SQUARED}, .draw = draw};
    return pess__lesson_run(f, &lesson, net, error);
}
