#include "deep/training.h"

#include "core/memory.h"

#include <stdlib.h>

pess_status pess__minibatch_create(int64_t batch, pess__minibatch *out, pess_error *error) {
    static const char what[] = "a minibatch";
    PESS_TRY(pess__allocate(&out->unique, batch, sizeof *out->unique, what, error));
    PESS_TRY(pess__allocate(&out->first, batch + 1, sizeof *out->first, what, error));
    PESS_TRY(pess__allocate(&out->rows, batch, sizeof *out->rows, what, error));
    PESS_TRY(pess__allocate(&out->taken, batch, sizeof *out->taken, what, error));
    return pess__allocate(&out->targets, batch, sizeof *out->targets, what, error);
}

void pess__minibatch_destroy(pess__minibatch *m) {
    void *const owned[] = {m->unique, m->first, m->rows, m->taken, m->targets};
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
