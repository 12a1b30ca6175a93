/* A ward with known cells: patients whose two measurements lie around the centre of a hidden condition, which moves on
 * with the action. */
#ifndef TESTS_CELLS_CASE_H
#define TESTS_CELLS_CASE_H

#include "scratch.h"

#include "core/rng.h"

#include <math.h>

enum { WARD_CONDITIONS = 4, WARD_STEPS = 12 };

typedef struct ward {
    int64_t rows, episodes;
    double *values;   /* [rows*2] pulse, lactate */
    uint32_t *action; /* 0 or 1 */
    double *reward;   /* 1 in condition 0 */
    uint8_t *end;     /* the last row of an episode is terminal */
    int64_t *episode;
    int32_t *condition; /* the true cell */
} ward;

static const double ward_pulse[WARD_CONDITIONS] = {60, 80, 100, 120};
static const double ward_lactate[WARD_CONDITIONS] = {1, 6, 2, 9};

/* memory: how much the next condition depends on the last but one; 0: not at all (Markov). */
static inline ward ward_create(int64_t episodes, double memory, uint64_t seed) {
    const int64_t rows = episodes * WARD_STEPS;
    ward w = {rows,
              episodes,
              calloc((size_t)rows * 2, sizeof(double)),
              calloc((size_t)rows, sizeof(uint32_t)),
              calloc((size_t)rows, sizeof(double)),
              calloc((size_t)rows, 1),
              calloc((size_t)rows, sizeof(int64_t)),
              calloc((size_t)rows, sizeof(int32_t))};
    assert_true(w.values && w.action && w.reward && w.end && w.episode && w.condition);
    for (int64_t e = 0; e < episodes; e++) {
        pess__rng rng = pess__rng_stream(seed, "ward", (uint64_t)e);
        int32_t now = (int32_t)pess__rng_below(&rng, WARD_CONDITIONS), before = now;
        for (int64_t t = 0; t < WARD_STEPS; t++) {
            const int64_t i = e * WARD_STEPS + t;
            w.episode[i] = e;
            w.condition[i] = now;
            w.values[2 * i] = ward_pulse[now] + pess__rng_normal(&rng);
            w.values[2 * i + 1] = ward_lactate[now] + 0.2 * pess__rng_normal(&rng);
            w.action[i] = (uint32_t)pess__rng_below(&rng, 2);
            w.reward[i] = now == 0 && pess__rng_uniform(&rng) < 0.8;
            w.end[i] = t == WARD_STEPS - 1 ? PESS_END_TERMINAL : PESS_END_NONE;
            int32_t next = now;
            if (pess__rng_uniform(&rng) < memory)
                next = (before + 1) % WARD_CONDITIONS;
            else if (pess__rng_uniform(&rng) < (w.action[i] == 1 ? 0.7 : 0.3))
                next = now > 0 ? now - 1 : 0;
            else
                next = (int32_t)pess__rng_below(&rng, WARD_CONDITIONS);
            before = now;
            now = next;
        }
    }
    return w;
}

static inline void ward_free(ward *w) {
    free(w->values);
    free(w->action);
    free(w->reward);
    free(w->end);
    free(w->episode);
    free(w->condition);
}

static inline pess_measurements *ward_measurements(const ward *w) {
    static const char *const names[] = {"pulse", "lactate"};
    pess_error error = {0};
    pess_measurements *out = NULL;
    const pess_measurement_columns columns = {.rows = w->rows,
                                              .features = 2,
                                              .names = names,
                                              .values = w->values,
                                              .action = w->action,
                                              .reward = w->reward,
                                              .end = w->end,
                                              .episode = w->episode};
    if (pess_measurements_create(&columns, &out, &error) != PESS_OK) fail_msg("%s", error.message);
    return out;
}

#endif
