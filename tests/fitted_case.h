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

/* The tables of a training but for prior and penalty; its networks are the test's to set. The check is every row. */
static inline pess__fitted *by_hand(const char *algorithm, double alpha, const pess_observations *data) {
    pess__fitted *f = room_for(1, sizeof *f);
    f->options = training(NULL, data, algorithm, "by-hand");
    f->data = data;
    f->learner = pess__learner_find(algorithm);
    assert_non_null(f->learner);
    f->alpha = alpha;
    f->cap = f->learner->uncertainty != NULL ? f->learner->uncertainty->info.cap : 0;
    f->updates = f->steps = f->batch = 1;
    const int64_t states = data->states, heads = pess__fitted_heads(f), mixtures = pess__fitted_mixtures(f);
    f->value = room_for(mixtures * states, sizeof *f->value);
    f->place = room_for(states, sizeof *f->place);
    f->wanted = room_for(states + data->transitions, sizeof *f->wanted);
    f->outputs = room_for(PESS__OUTPUT_CHUNK * pess__fitted_networks(f) * heads * ACTIONS, sizeof *f->outputs);
    f->counts = room_for(states * ACTIONS, sizeof *f->counts);
    f->check = room_for(data->transitions, sizeof *f->check);
    f->check_count = data->transitions;
    if (heads > 1) f->mixture = room_for(mixtures * heads, sizeof *f->mixture);
    for (int64_t s = 0; s < states; s++) f->place[s] = -1;
    for (int64_t i = 0; i < data->transitions; i++) {
        f->check[i] = i;
        f->counts[data->state[i] * ACTIONS + data->action[i]]++;
    }
    return f;
}

static inline void put_away(pess__fitted *f) {
    pess__net_destroy(f->net);
    pess__net_destroy(f->frozen);
    pess__net_destroy(f->imitation);
    pess__net_destroy(f->uncertainty_net);
    for (int i = 0; i < PESS__MAX_FURTHER; i++) {
        pess__trainer_destroy(f->further_trainer[i]);
        pess__net_destroy(f->further[i]);
    }
    void *const owned[] = {f->prior,   f->value,  f->place,  f->wanted, f->outputs,
                           f->penalty, f->counts, f->acting, f->check,  f->mixture};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
    free(f);
}

#endif
