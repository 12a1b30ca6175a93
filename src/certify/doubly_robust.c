#include "certify/doubly_robust.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

/* An action of which the behaviour's probability is known. */
typedef struct choice {
    int64_t action;
    double b, ratio; /* ρ = π/b */
    double q;
} choice;

typedef struct state {
    int64_t first, count;      /* its choices */
    double policy, value;      /* Σ π and Σ π·q̂ of them */
    double behaviour, own;     /* Σ b and Σ b·q̂ of them; 0 unless paired */
    double ratio_most, q_most; /* of them */
} state;

struct pess__doubly_robust {
    pess__doubly_robust_setup setup;
    choice *choices; /* of all states */
    state *states;   /* [S] */
};

void pess__doubly_robust_destroy(pess__doubly_robust *dr) {
    if (dr == NULL) return;
    free(dr->choices);
    free(dr->states);
    free(dr);
}

static void list_state(const pess__doubly_robust_setup *u, int64_t s, choice *choices, state *to) {
    for (int64_t a = 0, z = s * u->actions; a < u->actions; a++, z++) {
        const double b = u->behaviour[z], pi = u->policy[z], q = u->q[z];
        if (!(b > 0)) continue;
        choices[to->first + to->count++] = (choice){a, b, pi / b, q};
        to->policy += pi;
        to->value += pi * q;
        to->behaviour += u->paired ? b : 0;
        to->own += u->paired ? b * q : 0;
        to->ratio_most = fmax(to->ratio_most, pi / b);
        to->q_most = fmax(to->q_most, q);
    }
}

static pess_status list_choices(pess__doubly_robust *dr, pess_error *error) {
    const pess__doubly_robust_setup *u = &dr->setup;
    int64_t count = 0;
    for (int64_t z = 0; z < u->states * u->actions; z++) count += u->behaviour[z] > 0;
    PESS_TRY(pess__allocate(&dr->choices, count, sizeof *dr->choices, "doubly robust sums", error));
    PESS_TRY(pess__allocate(&dr->states, u->states, sizeof *dr->states, "doubly robust sums", error));
    for (int64_t s = 0; s < u->states; s++) {
        dr->states[s].first = s > 0 ? dr->states[s - 1].first + dr->states[s - 1].count : 0;
        list_state(u, s, dr->choices, &dr->states[s]);
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

/* As fmin and fmax of numbers, without a call. */
static inline double lesser(double a, double b) { return a < b ? a : b; }
static inline double greater(double a, double b) { return a > b ? a : b; }

typedef struct walk {
    double weight;         /* w_{t−1} */
    double past, discount; /* Σ_{j<t} γ^j·r'_j, between 0 and H; γ^t */
    double control;        /* C of the steps so far */
} walk;

/* A reward counted from lo. */
static double from_lo(const pess__doubly_robust_setup *u, const pess_dataset *data, int64_t row) {
    const bool last = data->end[row] == PESS_END_TERMINAL;
    return data->reward[row] - u->lo + (last ? 0 : u->gamma * u->lo);
}

/* What the control may still lose: the rest of the number is at least 0, paired at least −H. */
static double room_of(const pess__doubly_robust_setup *u, const walk *w) {
    return w->control + u->floor - (u->paired ? u->range : 0);
}

static double k_of(const pess__doubly_robust_setup *u, const walk *w, const choice *c) {
    return w->weight * c->ratio - (u->paired ? 1 : 0);
}

/* Σ_a b·k·z with the whole z of every action, if none of them can lose more than there is room for; else NAN. Found
 * without looking at each: no k is above that of the largest ratio. */
static double whole_control(const pess__doubly_robust_setup *u, const walk *w, const state *at) {
    const double sum =
        w->past * (w->weight * at->policy - at->behaviour) + w->discount * (w->weight * at->value - at->own);
    const double k = greater(w->weight * at->ratio_most - (u->paired ? 1 : 0), 0);
    return room_of(u, w) + sum >= k * (w->past + w->discount * at->q_most) ? sum : NAN;
}

/* The same with smaller z. Those with k < 0 are all scaled by *scale, for half of the room at most. Those with k > 0
 * are cut to *most/k: `most` is what is left of the room, and once more with what the cut ones bring themselves, which
 * is not more than they bring in the end. Returns Σ_a b·k·z. */
static double small_control(const pess__doubly_robust *dr, const walk *w, const state *at, double *scale,
                            double *most) {
    const pess__doubly_robust_setup *u = &dr->setup;
    const choice *choices = dr->choices + at->first;
    const double room = greater(room_of(u, w), 0);
    double lost = 0, brought = 0;
    for (int64_t i = 0; i < at->count; i++)
        lost += choices[i].b * greater(-k_of(u, w, &choices[i]), 0) * (w->past + w->discount * choices[i].q);
    *scale = 2 * lost > room ? room / (2 * lost) : 1;
    for (int round = 0; round < 2; round++) {
        *most = room - *scale * lost + brought;
        brought = 0;
        for (int64_t i = 0; i < at->count; i++) {
            const double k = greater(k_of(u, w, &choices[i]), 0);
            brought += choices[i].b * lesser(k * (w->past + w->discount * choices[i].q), *most);
        }
    }
    return brought - *scale * lost;
}

/* The action among the state's choices, or NULL. */
static const choice *find_choice(const pess__doubly_robust *dr, const state *at, int64_t action) {
    for (const choice *c = dr->choices + at->first, *end = c + at->count; c < end; c++)
        if (c->action == action) return c;
    return NULL;
}

/* C of one more step. */
static double step_control(const pess__doubly_robust *dr, const walk *w, const state *at, int64_t action) {
    double scale = 1, most = INFINITY, sum = whole_control(&dr->setup, w, at);
    if (isnan(sum)) sum = small_control(dr, w, at, &scale, &most);
    const choice *c = find_choice(dr, at, action);
    if (c == NULL) return sum;
    const double k = k_of(&dr->setup, w, c), z = w->past + w->discount * c->q;
    return sum - (k < 0 ? k * scale * z : lesser(k * z, most));
}

double pess__doubly_robust_sum(const pess__doubly_robust *dr, const pess__episode *e) {
    static const double WEIGHT_CAP = 1e100; /* smaller is still valid */
    const pess__doubly_robust_setup *u = &dr->setup;
    const pess_dataset *data = e->data;
    walk w = {.weight = 1, .discount = 1};
    double past = 0;
    for (int64_t t = 0; t < e->count; t++) {
        const int64_t row = e->rows[t], s = data->state[row], pair = s * data->actions + data->action[row];
        const double b = u->behaviour[pair];
        if (b > 0 && fabs(b - e->probability[row]) > 1e-9 * b) return NAN;
        w.control += step_control(dr, &w, &dr->states[s], data->action[row]);
        w.weight = lesser(w.weight * (u->policy[pair] / e->probability[row]), WEIGHT_CAP);
        past += w.discount * from_lo(u, data, row);
        w.past = lesser(greater(past, 0), u->range);
        w.discount *= u->gamma;
    }
    const double earned = w.weight * (e->least - u->lo) - (u->paired ? e->most - u->lo : 0);
    return greater(earned + w.control + u->floor, 0);
}
