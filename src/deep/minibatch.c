#include "deep/training.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

pess_status pess__minibatch_create(int64_t batch, int64_t others, pess__minibatch *out, pess_error *error) {
    static const char what[] = "a minibatch";
    PESS_TRY(pess__allocate(&out->unique, batch, sizeof *out->unique, what, error));
    PESS_TRY(pess__allocate(&out->first, batch + 1, sizeof *out->first, what, error));
    PESS_TRY(pess__allocate(&out->rows, batch, sizeof *out->rows, what, error));
    PESS_TRY(pess__allocate(&out->taken, batch, sizeof *out->taken, what, error));
    if (others > 0) PESS_TRY(pess__allocate(&out->others, batch * others, sizeof *out->others, what, error));
    return pess__allocate(&out->targets, batch, sizeof *out->targets, what, error);
}

void pess__minibatch_destroy(pess__minibatch *m) {
    void *const owned[] = {m->unique, m->first, m->rows, m->taken, m->targets, m->others};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
    *m = (pess__minibatch){0};
}

int64_t pess__minibatch_draw(pess__training *t, int64_t network, pess__rng *rng) {
    const pess__setup *s = &t->setup;
    const pess_observations *data = s->data;
    pess__minibatch *m = &t->minibatch;
    int32_t *place = t->sweep.place;
    int64_t different = 0;
    for (int64_t i = 0; i < s->batch; i++) {
        const int64_t row = pess__rows_next(s, network, rng), state = data->state[row];
        m->rows[i] = row;
        if (place[state] < 0) {
            place[state] = (int32_t)different;
            m->unique[different] = state;
            m->first[++different] = 0;
        }
        m->first[place[state] + 1]++;
    }
    m->first[0] = 0;
    for (int64_t u = 1; u <= different; u++) m->first[u] += m->first[u - 1];
    for (int64_t i = s->batch - 1; i >= 0; i--) { /* first[u+1] walks back to the first label of u */
        const int64_t row = m->rows[i], at = --m->first[place[data->state[row]] + 1];
        m->taken[at] = data->action[row];
        m->targets[at] = s->learner->info.values ? (pess__real)pess__target(s, &t->values, row) : 0;
    }
    /* Now first[u+1] is where u begins: shift down. */
    for (int64_t u = 0; u < different; u++) m->first[u] = m->first[u + 1];
    m->first[different] = s->batch;
    for (int64_t u = 0; u < different; u++) place[m->unique[u]] = -1;
    return different;
}

/* Adds the directions of one network in the states [first, first+count), each with this weight. */
static void add_directions(const pess__trainer *trainer, const pess__bits_rows *rows, int64_t first, int64_t count,
                           double weight, pess__real *others) {
    const pess__net *net = trainer->net;
    const pess__real *q = trainer->pass->activation[net->spec.layer_count - 1];
    double direction[PESS__MOST_DIRECTIONS];
    pess__pass_forward(net, trainer->pass, rows, first, count);
    for (int64_t i = 0; i < count; i++) {
        (void)pess__direction(q + i * net->padded_outputs, net->outputs, direction);
        for (int64_t a = 0; a < net->outputs; a++)
            others[(first + i) * net->outputs + a] += (pess__real)(weight * direction[a]);
    }
}

void pess__minibatch_others(pess__training *t, int64_t network, int64_t samples) {
    const pess__setup *s = &t->setup;
    const pess__minibatch *m = &t->minibatch;
    const int64_t networks = pess__learner_networks(s->learner, s->knobs);
    const pess__bits_rows rows = {s->data->observations, s->data->bytes, m->unique};
    memset(m->others, 0, (size_t)(samples * s->data->actions) * sizeof *m->others);
    for (int64_t k = 0; k < networks; k++) {
        if (k == network) continue;
        const pess__trainer *trainer = t->networks.trainers[k];
        const int64_t capacity = trainer->pass->capacity;
        for (int64_t first = 0; first < samples; first += capacity)
            add_directions(trainer, &rows, first, samples - first < capacity ? samples - first : capacity,
                           1 / (double)(networks - 1), m->others);
    }
}
