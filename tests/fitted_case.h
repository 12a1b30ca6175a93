/* A training made by hand: data of a few one-hot states, networks whose outputs are tables, and the tables of a
 * training, with nothing learnt. */
#ifndef PESS_TESTS_FITTED_CASE_H
#define PESS_TESTS_FITTED_CASE_H

#include "deep_case.h"
#include "play_case.h"

static inline void assert_close(const char *what, double found, double wanted) {
    if (!(fabs(found - wanted) <= 1e-6 * (1 + fabs(wanted)))) fail_msg("%s: %.9g is not %.9g", what, found, wanted);
}

static inline void *room_for(int64_t count, size_t element) {
    void *out = calloc((size_t)count, element);
    assert_non_null(out);
    return out;
}

static inline float *copy_of(const float *table, int64_t count) {
    float *out = room_for(count, sizeof *out);
    memcpy(out, table, (size_t)count * sizeof *out);
    return out;
}

/* A transition between the observations with bit `from` and bit `to` alone. */
static inline void add_step(pess_observations *data, int64_t from, int32_t action, double reward, int64_t to,
                            pess_end end) {
    uint8_t before[8] = {0}, after[8] = {0};
    pess_error error;
    before[from / 8] = (uint8_t)(1U << (from % 8));
    after[to / 8] = (uint8_t)(1U << (to % 8));
    OK(pess_observations_add(data, before, action, reward, after, end, &error));
}

static inline pess_observations *no_steps(int64_t bits) {
    pess_observations *data = NULL;
    pess_error error;
    OK(pess_observations_create("mdp", "", &(pess_observation_shape){.length = bits}, ACTIONS, &data, &error));
    return data;
}

/* A training of a learner with its default knobs, or with alpha where that is a number: its tables but for prior and
 * penalty; its networks are the test's to set. The check is every row. */
static inline pess__training *by_hand(const char *algorithm, double alpha, const pess_observations *data) {
    pess__training *f = room_for(1, sizeof *f);
    pess__setup *s = &f->setup;
    pess_error error;
    s->position = &f->position;
    s->options = training(NULL, data, algorithm, "by-hand");
    s->data = data;
    s->learner = pess__learner_find(algorithm);
    assert_non_null(s->learner);
    const pess__alpha_knob knob = {sizeof knob, alpha};
    if (s->learner->info.knobs != NULL) pess_setting_defaults(s->learner->info.knobs, s->knobs);
    if (!isnan(alpha)) memcpy(s->knobs, &knob, sizeof knob);
    s->cap = s->learner->uncertainty != NULL ? s->learner->uncertainty->info.cap : 0;
    s->updates = s->steps = s->batch = 1;
    const int64_t outputs =
        pess__learner_networks(s->learner, s->knobs) * pess__learner_heads(s->learner, s->knobs) * ACTIONS;
    OK(pess__network_sweep_create(s, data->transitions, outputs + s->learner->own_count * ACTIONS, &f->sweep, &error));
    OK(pess__targets_create(s, &f->values, &error));
    OK(pess__tables_count(s, &f->tables, f->warning, &error));
    f->networks.count = pess__learner_networks(s->learner, s->knobs) + s->learner->own_count;
    f->scores.check = room_for(data->transitions, sizeof *f->scores.check);
    f->scores.check_count = data->transitions;
    for (int64_t i = 0; i < data->transitions; i++) f->scores.check[i] = i;
    return f;
}

static inline void make_penalties(pess__training *f) {
    pess_error error;
    f->warning[0] = '\0';
    OK(pess__penalties_create(&f->setup, &f->tables, &f->networks.uncertainty, f->warning, &error));
}

/* A trainer for network i. */
static inline void make_trainer(pess__training *f, int64_t i) {
    const pess__optimiser optimiser = pess__optimiser_defaults();
    pess_error error;
    OK(pess__trainer_create(f->networks.nets[i], &optimiser, &f->networks.trainers[i], &error));
}

static inline void put_away(pess__training *f) {
    pess__networks_destroy(&f->networks);
    pess__tables_destroy(&f->tables);
    pess__network_sweep_destroy(&f->sweep);
    pess__targets_destroy(&f->values);
    free(f->scores.check);
    free(f);
}

#endif
