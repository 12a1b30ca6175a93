#include "certify/doubly_robust.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

/* An action that the policy takes and of which the behaviour's probability is known. */
typedef struct choice {
    int64_t action;
    double pi, ratio; /* ρ = π/b */
    double q;
} choice;

struct pess__doubly_robust {
    pess__doubly_robust_setup setup;
    choice *choices; /* of all states */
    int64_t *first;  /* [S+1] those of state s are first[s] … first[s+1]-1 */
    double *own;     /* [S] Σ b·q̂, v̂ of the behaviour; 0 unless paired */
};

void pess__doubly_robust_destroy(pess__doubly_robust *dr) {
    if (dr == NULL) return;
    free(dr->choices);
    free(dr->first);
    free(dr->own);
    free(dr);
}

static pess_status list_choices(pess__doubly_robust *dr, pess_error *error) {
    const pess__doubly_robust_setup *u = &dr->setup;
    const int64_t pairs = u->states * u->actions;
    int64_t count = 0;
    for (int64_t z = 0; z < pairs; z++) count += u->policy[z] > 0 && u->behaviour[z] > 0;
    PESS_TRY(pess__allocate(&dr->choices, count, sizeof *dr->choices, "doubly robust sums", error));
    PESS_TRY(pess__allocate(&dr->first, u->states + 1, sizeof *dr->first, "doubly robust sums", error));
    PESS_TRY(pess__allocate(&dr->own, u->states, sizeof *dr->own, "doubly robust sums", error));
    count = 0;
    for (int64_t z = 0; z < pairs; z++) {
        const int64_t s = z / u->actions;
        if (u->paired) dr->own[s] += u->behaviour[z] * u->q[z];
        if (u->policy[z] > 0 && u->behaviour[z] > 0)
            dr->choices[count++] = (choice){z % u->actions, u->policy[z], u->policy[z] / u->behaviour[z], u->q[z]};
        dr->first[s + 1] = count;
    }
    return PESS_OK;
}

pess_status pess__doubly_robust_create(const pess__doubly_robust_setup *setup, pess__doubly_robust **out,
                                       pess_error *error) {
    pess__doubly_robust *dr = NULL;
    PESS_TRY(pess__allocate(&dr, 1, sizeof *dr, "doubly robust sums", error));
    dr->setup = *setup;
    const pess_status status = list_choices(dr, error);
    if (status == PESS_OK)
        *out = dr;
    else
        pess__doubly_robust_destroy(dr);
    return status;
}

/* ------------------------------------------------------------------------------------------------ an episode */

typedef struct walk {
    double sum;      /* S, or S − S_b, of the steps so far */
    double weight;   /* w_{t−1} */
    double discount; /* γ^t */
} walk;

/* A reward counted from lo. */
static double from_lo(const pess__doubly_robust_setup *u, const pess_dataset *data, int64_t row) {
    const bool last = data->end[row] == PESS_END_TERMINAL;
    return data->reward[row] - u->lo + (last ? 0 : u->gamma * u->lo);
}

/* Paired: the return from the step `t` on; what a cut-off hides is the most that it can be. Else nothing. */
static double rest(const pess__doubly_robust_setup *u, const pess_dataset *data, const int64_t *rows, int64_t t,
                   int64_t count) {
    double sum = 0, discount = 1;
    if (!u->paired) return 0;
    for (; t < count; t++) {
        sum += discount * from_lo(u, data, rows[t]);
        discount *= u->gamma;
    }
    if (data->end[rows[count - 1]] != PESS_END_TERMINAL) sum += discount * u->range;
    return fmin(sum, u->range);
}

/* v̂: Σ over the actions that go on of π·q̂. */
static double value_going_on(const choice *choices, int64_t count, const bool *goes) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += goes[i] ? choices[i].pi * choices[i].q : 0;
    return sum;
}

/* The least that the step can leave behind where an action is taken and goes on: k·(r' − q̂) for k = w_t, or w_t − 1,
 * and paired also the most that the behaviour may still earn. */
static double least_after(const pess__doubly_robust_setup *u, double weight, double q) {
    const double k = u->paired ? weight - 1 : weight;
    return k * ((k > 0 ? u->reward_least : u->reward_most) - q) - (u->paired ? u->gamma * u->range : 0);
}

/* Which of the state's choices go on, before the action is seen. *base <- the sum with what does not depend on the
 * action. False: none does, or the floor does not allow for those that stop. */
static bool divide(const pess__doubly_robust *dr, const walk *w, int64_t s, bool *goes, double *base) {
    const pess__doubly_robust_setup *u = &dr->setup;
    const choice *choices = dr->choices + dr->first[s];
    const int64_t count = dr->first[s + 1] - dr->first[s];
    int64_t left = count;
    for (int64_t i = 0; i < count; i++) goes[i] = true;
    for (bool changed = true; changed && left > 0;) {
        changed = false;
        *base = w->sum + w->discount * (w->weight * value_going_on(choices, count, goes) - dr->own[s]);
        for (int64_t i = 0; i < count; i++) {
            if (!goes[i]) continue;
            const double least = least_after(u, w->weight * choices[i].ratio, choices[i].q);
            if (*base + w->discount * least >= -u->floor) continue;
            goes[i] = false;
            changed = true;
            left--;
        }
    }
    return left > 0 && (!u->paired || *base - w->discount * u->range >= -u->floor);
}

/* The choice that was taken, if it goes on; NULL. */
static const choice *taken(const pess__doubly_robust *dr, int64_t s, int64_t action, const bool *goes) {
    for (int64_t i = dr->first[s]; i < dr->first[s + 1]; i++)
        if (dr->choices[i].action == action) return goes[i - dr->first[s]] ? &dr->choices[i] : NULL;
    return NULL;
}

double pess__doubly_robust_sum(const pess__doubly_robust *dr, const pess_dataset *data, const double *probability,
                               const int64_t *rows, int64_t count, bool *scratch) {
    const pess__doubly_robust_setup *u = &dr->setup;
    walk w = {0, 1, 1};
    for (int64_t t = 0; t < count; t++) {
        const int64_t row = rows[t], s = data->state[row], pair = s * data->actions + data->action[row];
        const double b = u->behaviour[pair];
        double base = 0;
        if (b > 0 && fabs(b - probability[row]) > 1e-9 * b) return NAN;
        if (!divide(dr, &w, s, scratch, &base))
            return fmax(w.sum - w.discount * rest(u, data, rows, t, count) + u->floor, 0);
        const choice *c = taken(dr, s, data->action[row], scratch);
        if (c == NULL) {
            const double own = u->paired ? u->q[pair] : 0;
            return fmax(base + w.discount * (own - rest(u, data, rows, t, count)) + u->floor, 0);
        }
        w.weight *= c->ratio;
        const double k = u->paired ? w.weight - 1 : w.weight;
        w.sum = base + w.discount * k * (from_lo(u, data, row) - c->q);
        w.discount *= u->gamma;
    }
    return fmax(w.sum - w.discount * rest(u, data, rows, count, count) + u->floor, 0);
}
