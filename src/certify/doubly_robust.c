#include "certify/doubly_robust.h"

#include <math.h>

typedef struct walk {
    double sum;      /* S, or S − S_b, of the steps so far */
    double weight;   /* w_{t−1} */
    double discount; /* γ^t */
} walk;

/* Rewards counted from lo. */
static double from_lo(const pess__doubly_robust *dr, const pess_dataset *data, int64_t row) {
    const bool last = data->end[row] == PESS_END_TERMINAL;
    return data->reward[row] - dr->lo + (last ? 0 : dr->gamma * dr->lo);
}

/* Paired: the return from the step `t` on; what a cut-off hides is the most that it can be. Else nothing. */
static double rest(const pess__doubly_robust *dr, const pess_dataset *data, const int64_t *rows, int64_t t,
                   int64_t count) {
    double sum = 0, discount = 1;
    if (!dr->paired) return 0;
    for (; t < count; t++) {
        sum += discount * from_lo(dr, data, rows[t]);
        discount *= dr->gamma;
    }
    if (data->end[rows[count - 1]] != PESS_END_TERMINAL) sum += discount * dr->range;
    return fmin(sum, dr->range);
}

/* Σ over the actions that go on of π·q̂. */
static double value_going_on(const double *pi, const double *q, int64_t actions, const bool *goes) {
    double sum = 0;
    for (int64_t a = 0; a < actions; a++) sum += goes[a] ? pi[a] * q[a] : 0;
    return sum;
}

/* The least that the step can leave behind where action a is taken and goes on: k·(r' − q̂) for k = w_t, or w_t − 1. */
static double least_after(const pess__doubly_robust *dr, double weight, double q) {
    const double k = dr->paired ? weight - 1 : weight;
    return k * ((k > 0 ? dr->reward_least : dr->reward_most) - q) - (dr->paired ? dr->gamma * dr->range : 0);
}

/* Which actions go on, before the action is seen. *base <- the sum with what does not depend on the action. False:
 * none does, or the floor does not allow for those that stop. */
static bool divide(const pess__doubly_robust *dr, const walk *w, int64_t s, int64_t actions, bool *goes, double *base) {
    const double *pi = dr->policy + s * actions, *b = dr->behaviour + s * actions, *q = dr->q + s * actions;
    double own = 0; /* v̂ of the behaviour */
    int64_t left = 0;
    for (int64_t a = 0; a < actions; a++) {
        own += dr->paired ? b[a] * q[a] : 0;
        left += goes[a] = pi[a] > 0 && b[a] > 0;
    }
    for (bool changed = true; changed && left > 0;) {
        changed = false;
        *base = w->sum + w->discount * (w->weight * value_going_on(pi, q, actions, goes) - own);
        for (int64_t a = 0; a < actions; a++) {
            if (!goes[a]) continue;
            const double least = least_after(dr, w->weight * (pi[a] / b[a]), q[a]);
            if (*base + w->discount * least >= -dr->floor) continue;
            goes[a] = false;
            changed = true;
            left--;
        }
    }
    return left > 0 && (!dr->paired || *base - w->discount * dr->range >= -dr->floor);
}

double pess__doubly_robust_sum(const pess__doubly_robust *dr, const pess_dataset *data, const double *probability,
                               const int64_t *rows, int64_t count, bool *scratch) {
    walk w = {0, 1, 1};
    for (int64_t t = 0; t < count; t++) {
        const int64_t row = rows[t], s = data->state[row], a = data->action[row], pair = s * data->actions + a;
        const double b = dr->behaviour[pair];
        double base = 0;
        if (b > 0 && fabs(b - probability[row]) > 1e-9 * b) return NAN;
        if (!divide(dr, &w, s, data->actions, scratch, &base))
            return fmax(w.sum - w.discount * rest(dr, data, rows, t, count) + dr->floor, 0);
        if (!scratch[a]) {
            const double own = dr->paired ? dr->q[pair] : 0;
            return fmax(base + w.discount * (own - rest(dr, data, rows, t, count)) + dr->floor, 0);
        }
        w.weight *= dr->policy[pair] / b;
        const double k = dr->paired ? w.weight - 1 : w.weight;
        w.sum = base + w.discount * k * (from_lo(dr, data, row) - dr->q[pair]);
        w.discount *= dr->gamma;
    }
    return fmax(w.sum - w.discount * rest(dr, data, rows, count, count) + dr->floor, 0);
}
