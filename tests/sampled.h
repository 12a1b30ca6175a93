/* Random worlds with known rows and logs drawn from them, for the tests of bounds and of what rests on them. */
#ifndef TESTS_SAMPLED_H
#define TESTS_SAMPLED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "model/counts.h"
#include "model/model.h"
#include "pess.h"
#include "uncertainty/uncertainty.h"

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        const pess_status ok_status = (call);                                                                          \
        if (ok_status != PESS_OK) fail_msg("%s: %s", #call, error.message);                                            \
    } while (0)

#ifndef assert_double_equal
#define assert_double_equal(x, y, tolerance)                                                                           \
    do {                                                                                                               \
        const double assert_x = (x), assert_y = (y);                                                                   \
        if (!(fabs(assert_x - assert_y) <= (tolerance))) fail_msg("%s = %.17g, not %.17g", #x, assert_x, assert_y);    \
    } while (0)
#endif

/* P(s'|s,a) dense [S*A*(S+1)], the last entry the end; mean rewards paid as 0 or 1. */
typedef struct world {
    int64_t states, actions;
    double *next, *reward;
} world;

/* branching: successors per pair; end: probability that a pair can end, with what share. */
static inline world world_create(int64_t states, int64_t actions, int64_t branching, double end, uint64_t seed) {
    world w = {states, actions, calloc((size_t)(states * actions * (states + 1)), sizeof(double)),
               calloc((size_t)(states * actions), sizeof(double))};
    assert_non_null(w.next);
    assert_non_null(w.reward);
    pess__rng rng = pess__rng_stream(seed, "test world", 0);
    for (int64_t z = 0; z < states * actions; z++) {
        double *row = w.next + z * (states + 1), total = 0;
        for (int64_t i = 0; i < branching; i++)
            row[pess__rng_below(&rng, (uint64_t)states)] += pess__rng_exponential(&rng);
        if (pess__rng_uniform(&rng) < end) row[states] = 0.3 * pess__rng_exponential(&rng);
        for (int64_t s = 0; s <= states; s++) total += row[s];
        for (int64_t s = 0; s <= states; s++) row[s] /= total;
        w.reward[z] = pess__rng_uniform(&rng);
    }
    return w;
}

static inline void world_destroy(world *w) {
    free(w->next);
    free(w->reward);
}

/* Room for a log. */
typedef struct sample_log {
    int64_t rows, room;
    uint32_t *state, *action, *next;
    double *reward;
    uint8_t *end;
} sample_log;

static inline sample_log sample_log_create(int64_t room) {
    const size_t n = (size_t)room + 1;
    sample_log log = {0,
                      room,
                      calloc(n, sizeof(uint32_t)),
                      calloc(n, sizeof(uint32_t)),
                      calloc(n, sizeof(uint32_t)),
                      calloc(n, sizeof(double)),
                      calloc(n, 1)};
    assert_non_null(log.end);
    return log;
}

static inline void sample_log_destroy(sample_log *log) {
    free(log->state);
    free(log->action);
    free(log->next);
    free(log->reward);
    free(log->end);
}

static inline void sample_log_add(sample_log *log, int64_t s, int64_t a, double r, int64_t next, bool end) {
    assert_true(log->rows < log->room);
    log->state[log->rows] = (uint32_t)s;
    log->action[log->rows] = (uint32_t)a;
    log->next[log->rows] = (uint32_t)next;
    log->reward[log->rows] = r;
    log->end[log->rows++] = end ? PESS_END_TERMINAL : PESS_END_NONE;
}

/* n independent samples of pair z, added to the log. A terminal one stays where it was. */
static inline void world_sample(const world *w, int64_t z, int64_t n, pess__rng *rng, sample_log *log) {
    const double *row = w->next + z * (w->states + 1);
    for (int64_t i = 0; i < n; i++) {
        double u = pess__rng_uniform(rng);
        int64_t to = 0;
        while (to < w->states && (u -= row[to]) >= 0) to++;
        while (row[to] == 0) to--; /* rounding at the end of the row */
        const double r = pess__rng_uniform(rng) < w->reward[z] ? 1 : 0;
        sample_log_add(log, z / w->actions, z % w->actions, r, to == w->states ? z / w->actions : to, to == w->states);
    }
}

/* Counts of a log and the model estimated from them, rewards in [0,1]. */
typedef struct estimate {
    pess_counts *counts;
    pess_model *model;
} estimate;

static inline estimate estimate_create(const sample_log *log, int64_t states, int64_t actions, pess_unseen unseen) {
    pess_error error = {0};
    pess_dataset *data = NULL;
    estimate e = {0};
    const pess_columns columns = {.rows = log->rows,
                                  .state = log->state,
                                  .action = log->action,
                                  .next_state = log->next,
                                  .reward = log->reward,
                                  .end = log->end};
    OK(pess_dataset_create(&columns, states, actions, &data, &error));
    OK(pess_counts_create(data, 0, &e.counts, &error));
    pess_dataset_destroy(data);
    pess_model_options options = pess_model_options_defaults();
    options.reward_range[0] = 0, options.reward_range[1] = 1;
    options.unseen = unseen;
    OK(pess_model_estimate(e.counts, &options, &e.model, &error));
    return e;
}

static inline void estimate_destroy(estimate *e) {
    pess_counts_destroy(e->counts);
    pess_model_destroy(e->model);
}

/* A log of a world with between 0 and `most` samples per pair, and its estimate. */
static inline estimate estimate_random(int64_t states, int64_t actions, int64_t branching, double end, int64_t most,
                                       uint64_t seed, pess_unseen unseen) {
    world w = world_create(states, actions, branching, end, seed);
    sample_log log = sample_log_create(states * actions * most);
    pess__rng rng = pess__rng_stream(seed, "test log", 0);
    for (int64_t z = 0; z < states * actions; z++)
        world_sample(&w, z, (int64_t)pess__rng_below(&rng, (uint64_t)most + 1), &rng, &log);
    estimate e = estimate_create(&log, states, actions, unseen);
    sample_log_destroy(&log);
    world_destroy(&w);
    return e;
}

static inline pess__u_problem u_problem_of(const estimate *e, double gamma) {
    pess__u_problem problem = {.counts = e->counts, .model = e->model, .gamma = gamma, .delta = 0.1, .threads = 2};
    pess__value_range(e->model, gamma, &problem.v_lo, &problem.v_hi);
    return problem;
}

#endif
