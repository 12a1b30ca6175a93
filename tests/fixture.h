/* Small random problems for the tests of the solvers, built by hand. */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

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
#include "policy/policy.h"

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        const pess_status ok_status = (call);                                                                          \
        if (ok_status != PESS_OK) fail_msg("%s: %s", #call, error.message);                                            \
    } while (0)

typedef struct fixture_shape {
    int64_t states, actions, branching;
    int64_t terminals;         /* the last states are terminal */
    double end, uniform, sink; /* shares of pairs that can end, are uniform, are sinks */
    double missing;            /* share of pairs that do not exist (action 0 always does) */
} fixture_shape;

/* Five small shapes with everything that a model can have. */
#define FIXTURE_SHAPES                                                                                                 \
    {.states = 12, .actions = 3, .branching = 3},                                                                      \
        {.states = 40, .actions = 4, .branching = 5, .terminals = 3, .end = 0.3},                                      \
        {.states = 33, .actions = 2, .branching = 4, .uniform = 0.3, .sink = 0.2},                                     \
        {.states = 50,                                                                                                 \
         .actions = 5,                                                                                                 \
         .branching = 2,                                                                                               \
         .terminals = 2,                                                                                               \
         .uniform = 0.2,                                                                                               \
         .sink = 0.1,                                                                                                  \
         .end = 0.2,                                                                                                   \
         .missing = 0.4},                                                                                              \
    {                                                                                                                  \
        .states = 1, .actions = 3, .branching = 1                                                                      \
    }

static inline void fixture_row(pess_model *model, int64_t z, const fixture_shape *shape, pess__rng *rng) {
    const int64_t alive = shape->states - shape->terminals;
    double total = 0;
    int64_t at = model->row[z];
    /* Distinct and ascending: one from each of `count` equal parts of the states. */
    const int64_t count = shape->branching < alive ? shape->branching : alive;
    for (int64_t k = 0; k < count; k++) {
        const int64_t from = k * alive / count, to = (k + 1) * alive / count;
        model->next[at] = (uint32_t)(from + (int64_t)pess__rng_below(rng, (uint64_t)(to - from)));
        model->probability[at] = 0.05 + pess__rng_uniform(rng);
        total += model->probability[at++];
    }
    const bool ends = pess__rng_uniform(rng) < shape->end;
    const double end = ends ? 0.1 + 0.5 * pess__rng_uniform(rng) : 0.0;
    model->end_mass[z] = end;
    if (ends) model->has_terminals = true;
    for (int64_t k = model->row[z]; k < at; k++) model->probability[k] *= (1 - end) / total;
    model->row[z + 1] = at;
}

static inline pess_model *fixture_model(const fixture_shape *shape, uint64_t seed) {
    pess_error error = {0};
    pess_model *model = NULL;
    const int64_t pairs = shape->states * shape->actions;
    OK(pess__model_create(shape->states, shape->actions, pairs * shape->branching, &model, &error));
    pess__rng rng = pess__rng_stream(seed, "fixture model", 0);
    model->reward_lo = -0.5; /* below every reward, so that V_lo is not 0 */
    model->reward_hi = 1;
    model->reward_declared = true;
    if (shape->terminals > 0) model->has_terminals = true;
    for (int64_t z = 0; z < pairs; z++) {
        const int64_t s = z / shape->actions, a = z % shape->actions;
        model->row[z + 1] = model->row[z];
        model->terminal[s] = s >= shape->states - shape->terminals;
        const double u = pess__rng_uniform(&rng), r = pess__rng_uniform(&rng);
        if (model->terminal[s] || (a > 0 && pess__rng_uniform(&rng) < shape->missing)) continue;
        model->reward[z] = r;
        if (u < shape->uniform)
            model->kind[z] = PESS_ROW_UNIFORM;
        else if (u < shape->uniform + shape->sink) {
            model->kind[z] = PESS_ROW_SINK;
            model->reward[z] = model->reward_lo;
        } else {
            model->kind[z] = PESS_ROW_SPARSE;
            fixture_row(model, z, shape, &rng);
        }
    }
    return model;
}

/* Counts that fit the model in shape only: n(s,a) between 0 and `most`, some states never seen. */
static inline pess_counts *fixture_counts(const pess_model *model, int64_t most, uint64_t seed) {
    pess_error error = {0};
    const int64_t states = model->states, pairs = states * model->actions;
    pess_counts *counts = NULL;
    OK(pess__allocate(&counts, 1, sizeof *counts, "counts", &error));
    counts->states = states;
    counts->actions = model->actions;
    OK(pess__counts_allocate(counts, model->row[pairs], &error));
    counts->reward_max = 1;
    pess__rng rng = pess__rng_stream(seed, "fixture counts", 0);
    for (int64_t z = 0; z < pairs; z++) {
        const int64_t s = z / model->actions;
        const double share = pess__rng_uniform(&rng);
        counts->row[z + 1] = counts->row[z];
        if (model->kind[z] != PESS_ROW_SPARSE || s % 7 == 3) continue;
        int64_t n = (int64_t)(share * share * (double)(most + 1));
        const int64_t width = model->row[z + 1] - model->row[z];
        if (n < width) n = 0; /* every successor at least once, or the pair never */
        if (n == 0) continue;
        counts->n[z] = n;
        counts->n_state[s] += n;
        counts->transitions += n;
        counts->pairs_seen++;
        counts->reward_sum[z] = counts->reward_offset[z] = model->reward[z] * (double)n; /* origin 0 */
        counts->reward_square[z] = model->reward[z] * (double)n;                         /* rewards 0 or 1 */
        int64_t rest = n;
        for (int64_t k = 0; k < width; k++) {
            const int64_t at = counts->row[z] + k, m = k + 1 == width ? rest : 1;
            counts->next[at] = model->next[model->row[z] + k];
            counts->n_next[at] = m;
            counts->next_offset[at] = model->reward[z] * (double)m;
            rest -= m;
        }
        counts->row[z + 1] = counts->row[z] + width;
    }
    return counts;
}

static inline double *fixture_start(const pess_model *model) {
    pess_error error = {0};
    double *start = NULL;
    OK(pess__allocate(&start, model->states, sizeof(double), "start", &error));
    OK(pess_start_uniform(model, start, &error));
    return start;
}

/* Random stochastic policy on the actions that exist. */
static inline pess_policy *fixture_policy(const pess_model *model, uint64_t seed) {
    pess_error error = {0};
    pess_policy *policy = NULL;
    OK(pess__policy_allocate(model->states, model->actions, &policy, &error));
    pess__rng rng = pess__rng_stream(seed, "fixture policy", 0);
    for (int64_t s = 0; s < model->states; s++) {
        double total = 0;
        double *row = policy->probability + s * model->actions;
        for (int64_t a = 0; a < model->actions; a++) {
            const double u = pess__rng_uniform(&rng);
            row[a] = model->kind[s * model->actions + a] == PESS_ROW_NONE || (a > 0 && u < 0.3) ? 0.0 : u + 0.01;
            total += row[a];
        }
        for (int64_t a = 0; a < model->actions && total > 0; a++) row[a] /= total;
    }
    return policy;
}

/* (Pv)(z) by the definition of each kind of row. */
static inline double fixture_next_value(const pess_model *model, double gamma, int64_t z, const double *v) {
    double lo, hi, sum = 0;
    pess__value_range(model, gamma, &lo, &hi);
    switch ((pess_row_kind)model->kind[z]) {
        case PESS_ROW_NONE: return 0;
        case PESS_ROW_SINK: return lo;
        case PESS_ROW_UNIFORM:
            for (int64_t s = 0; s < model->states; s++) sum += v[s];
            return sum / (double)model->states;
        case PESS_ROW_SPARSE: break;
    }
    for (int64_t k = model->row[z]; k < model->row[z + 1]; k++) sum += model->probability[k] * v[model->next[k]];
    return sum;
}

static inline double fixture_difference(const double *x, const double *y, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(x[i] - y[i]) <= most)) most = fabs(x[i] - y[i]);
    return most;
}

/* Ax = b by elimination with partial pivoting: the plain version. a [n*n] and b are overwritten. */
static inline void fixture_linear_solve(double *a, double *b, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
        for (int64_t j = 0; j < n; j++) {
            const double swap = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = swap;
        }
        const double swap = b[k];
        b[k] = b[pivot];
        b[pivot] = swap;
        for (int64_t i = k + 1; i < n; i++) {
            const double factor = a[i * n + k] / a[k * n + k];
            for (int64_t j = k; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t j = i + 1; j < n; j++) b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
}

/* v^π by a dense linear solve written out from the definition. */
static inline double *fixture_evaluate(const pess_model *model, const pess_policy *policy, double gamma) {
    pess_error error = {0};
    const int64_t n = model->states;
    double *a = NULL, *v = NULL, *unit = NULL;
    OK(pess__allocate(&a, n * n, sizeof(double), "a", &error));
    OK(pess__allocate(&v, n, sizeof(double), "v", &error));
    OK(pess__allocate(&unit, n, sizeof(double), "unit", &error));
    for (int64_t s = 0; s < n; s++) a[s * n + s] = 1;
    for (int64_t z = 0; z < n * model->actions; z++) {
        const int64_t s = z / model->actions;
        const double p = policy->probability[z];
        if (p <= 0) continue;
        const double future = fixture_next_value(model, gamma, z, unit); /* at v = 0: what does not depend on v */
        v[s] += p * (model->reward[z] + (model->kind[z] == PESS_ROW_SINK ? gamma * future : 0));
        if (model->kind[z] == PESS_ROW_SPARSE)
            for (int64_t k = model->row[z]; k < model->row[z + 1]; k++)
                a[s * n + model->next[k]] -= p * gamma * model->probability[k];
        if (model->kind[z] == PESS_ROW_UNIFORM)
            for (int64_t t = 0; t < n; t++) a[s * n + t] -= p * gamma / (double)n;
    }
    fixture_linear_solve(a, v, n);
    free(a);
    free(unit);
    return v;
}

#endif
