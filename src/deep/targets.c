/* Targets of fitted Q iteration: y = r + γ v(s'), v by the learner's rule from the networks as the last update left
 * them. After a terminal transition nothing follows; a cut-off goes on. Values are computed once per update, for every
 * different state that the update's minibatches lead to. */
#include "deep/training.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

pess_status pess__targets_create(const pess__setup *s, pess__values *out, pess_error *error) {
    static const char what[] = "the values of a training";
    const int64_t heads = pess__learner_heads(s->learner, s->knobs), mixtures = pess__learner_mixtures(s->learner);
    PESS_TRY(pess__allocate(&out->value, mixtures * s->data->states, sizeof *out->value, what, error));
    if (heads == 1) return PESS_OK;
    return pess__allocate(&out->mixture, mixtures * heads, sizeof *out->mixture, what, error);
}

void pess__targets_destroy(pess__values *values) {
    free(values->value);
    free(values->mixture);
    *values = (pess__values){0};
}

double pess__target(const pess__setup *s, const pess__values *values, int64_t row) {
    const pess_observations *data = s->data;
    const double after = data->end[row] == PESS_END_TERMINAL
                             ? 0
                             : (double)values->value[values->mixing * data->states + data->next[row]];
    return (double)data->reward[row] + s->options.gamma * after;
}

/* The states after the transitions that the coming update will draw. */
static void list_nexts(pess__training *t) {
    const pess__setup *s = &t->setup;
    const pess_observations *data = s->data;
    const int64_t draws = s->steps * s->batch, networks = pess__learner_networks(s->learner, s->knobs);
    t->sweep.count = 0;
    if (networks * draws > 8 * data->transitions) {
        for (int64_t i = 0; i < data->transitions; i++) pess__network_sweep_add(&t->sweep, data->next[i]);
    } else {
        for (int64_t k = 0; k < networks; k++) {
            pess__rng rng = pess__rows_stream(s, k);
            for (int64_t i = 0; i < draws; i++)
                pess__network_sweep_add(&t->sweep, data->next[pess__rows_next(s, k, &rng)]);
        }
        for (int64_t i = 0; i < t->scores.check_count; i++)
            pess__network_sweep_add(&t->sweep, data->next[t->scores.check[i]]);
    }
    pess__network_sweep_close(&t->sweep);
}

static void decide_chunk(void *user, const int64_t *states, int64_t count, const pess__chunk_outputs outputs) {
    pess__training *t = user;
    const pess__learner *learner = t->setup.learner;
    const int64_t heads = pess__learner_heads(learner, t->setup.knobs), mixtures = pess__learner_mixtures(learner);
    double policy[PESS__MAX_ACTIONS];
    for (int64_t i = 0; i < count; i++) {
        pess__view view = pess__networks_view(&t->setup, &t->tables, states[i], i, outputs);
        for (int64_t j = 0; j < mixtures; j++) {
            if (t->values.mixture != NULL) view.mixture = t->values.mixture + j * heads;
            t->values.value[j * t->setup.data->states + states[i]] = (float)learner->decide(&view, policy);
        }
    }
}

/* Convex weights of the heads, as in REM: uniform numbers over their sum. */
static void mix(pess__training *t) {
    const pess__setup *s = &t->setup;
    const int64_t heads = pess__learner_heads(s->learner, s->knobs), mixtures = pess__learner_mixtures(s->learner);
    for (int64_t j = 0; j < mixtures && t->values.mixture != NULL; j++) {
        pess__rng rng = pess__rng_stream(s->options.seed, "mixture", (uint64_t)(s->position->update * mixtures + j));
        double *weights = t->values.mixture + j * heads, sum = 0;
        for (int64_t k = 0; k < heads; k++) sum += weights[k] = pess__rng_uniform(&rng);
        for (int64_t k = 0; k < heads; k++) weights[k] = sum > 0 ? weights[k] / sum : 1 / (double)heads;
    }
}

pess_status pess__targets_compute(pess__training *t, pess_error *error) {
    const pess__setup *s = &t->setup;
    const int64_t values = pess__learner_mixtures(s->learner) * s->data->states;
    mix(t);
    if (s->position->update == 0) {
        memset(t->values.value, 0, (size_t)values * sizeof *t->values.value);
        for (int64_t i = 0; t->values.first != NULL && i < values; i++)
            t->values.value[i] = t->values.first[i % s->data->states];
        return PESS_OK;
    }
    list_nexts(t);
    return pess__network_sweep_run(s, &t->sweep, (const pess__net *const *)t->networks.nets, t->networks.count,
                                   decide_chunk, t, error);
}
