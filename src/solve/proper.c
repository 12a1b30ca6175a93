#include "solve/proper.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Predecessor pairs of every state, and what is known of states and pairs so far. */
typedef struct trap {
    int64_t *row;   /* [S+2] */
    int64_t *pair;  /* pairs that can lead to the state */
    int64_t *stays; /* [S] pairs whose whole support is in the set of states from which one may go on for ever */
    uint8_t *left;  /* [S*A] the pair can leave that set */
    uint8_t *gone;  /* [S] not in the set */
    int64_t *queue; /* [S] */
    int64_t head, tail;
} trap;

static void trap_release(trap *t) {
    free(t->row);
    free(t->pair);
    free(t->stays);
    free(t->left);
    free(t->gone);
    free(t->queue);
}

static pess_status trap_allocate(const pess_model *model, trap *t, pess_error *error) {
    const int64_t states = model->states, pairs = states * model->actions;
    static const char what[] = "the search for policies that end";
    *t = (trap){0};
    pess_status status = pess__allocate(&t->row, states + 2, sizeof(int64_t), what, error);
    if (status == PESS_OK) status = pess__allocate(&t->pair, model->row[pairs], sizeof(int64_t), what, error);
    if (status == PESS_OK) status = pess__allocate(&t->stays, states, sizeof(int64_t), what, error);
    if (status == PESS_OK) status = pess__allocate(&t->left, pairs, 1, what, error);
    if (status == PESS_OK) status = pess__allocate(&t->gone, states, 1, what, error);
    if (status == PESS_OK) status = pess__allocate(&t->queue, states, sizeof(int64_t), what, error);
    if (status != PESS_OK) trap_release(t);
    return status;
}

static void fill_predecessors(const pess_model *model, trap *t) {
    const int64_t pairs = model->states * model->actions;
    int64_t *at = t->row + 1;
    for (int64_t k = 0; k < model->row[pairs]; k++) at[model->next[k] + 1]++;
    for (int64_t s = 0; s < model->states; s++) at[s + 1] += at[s];
    for (int64_t z = 0; z < pairs; z++)
        for (int64_t k = model->row[z]; k < model->row[z + 1]; k++) t->pair[at[model->next[k]]++] = z;
}

static void remove_state(trap *t, int64_t s) {
    if (t->gone[s]) return;
    t->gone[s] = 1;
    t->queue[t->tail++] = s;
}

static void pair_leaves(const pess_model *model, trap *t, int64_t z) {
    if (t->left[z]) return;
    t->left[z] = 1;
    const int64_t s = z / model->actions;
    if (--t->stays[s] == 0) remove_state(t, s);
}

/* The largest set X of states in which some action of each keeps the whole support in X: X = {s : ∃a, end(s,a) = 0,
 * supp P(s,a) ⊆ X}. It is empty exactly where every policy ends with probability one from every state. */
static void shrink(const pess_model *model, trap *t) {
    const int64_t pairs = model->states * model->actions;
    for (int64_t z = 0; z < pairs; z++) t->stays[z / model->actions] += model->kind[z] != PESS_ROW_NONE;
    for (int64_t s = 0; s < model->states; s++)
        if (model->terminal[s] || t->stays[s] == 0) remove_state(t, s);
    for (int64_t z = 0; z < pairs; z++) {
        const bool sink = model->kind[z] == PESS_ROW_SINK; /* its value is a constant: nothing goes on */
        if (model->kind[z] != PESS_ROW_NONE && (sink || model->end_mass[z] > 0)) pair_leaves(model, t, z);
    }
    bool uniform_left = false;
    while (t->head < t->tail) {
        const int64_t s = t->queue[t->head++];
        for (int64_t k = t->row[s]; k < t->row[s + 1]; k++) pair_leaves(model, t, t->pair[k]);
        if (uniform_left) continue;
        uniform_left = true; /* a uniform row reaches whatever was removed */
        for (int64_t z = 0; z < pairs; z++)
            if (model->kind[z] == PESS_ROW_UNIFORM) pair_leaves(model, t, z);
    }
}

/* The first state that was never removed. */
static int64_t first_left(const pess_model *model, const trap *t) {
    for (int64_t s = 0; s < model->states; s++)
        if (!t->gone[s]) return s;
    return -1;
}

pess_status pess__endless_state(const pess_model *model, int64_t *state, pess_error *error) {
    trap t;
    PESS_TRY(trap_allocate(model, &t, error));
    fill_predecessors(model, &t);
    shrink(model, &t);
    *state = first_left(model, &t);
    trap_release(&t);
    return PESS_OK;
}

static bool is_taken(const pess_model *model, pess__taken taken, int64_t z) {
    if (model->kind[z] == PESS_ROW_NONE) return false;
    if (taken.pi != NULL) return taken.pi[z] > 0;
    return taken.choice == NULL || taken.choice[z / model->actions] == z % model->actions;
}

/* The state has a way to the end, and this pair is its first step. */
static void leads_to_end(const pess_model *model, trap *t, int64_t z, int32_t *nearer) {
    const int64_t s = z / model->actions;
    if (nearer != NULL && !t->gone[s]) nearer[s] = (int32_t)(z % model->actions);
    remove_state(t, s);
}

/* Backwards from the end: a state joins with the first taken action that may lead to one which has. Each such step has
 * positive probability and comes one step nearer, so a policy of these actions ends with probability one. */
static void spread(const pess_model *model, pess__taken taken, trap *t, int32_t *nearer) {
    const int64_t pairs = model->states * model->actions;
    for (int64_t s = 0; s < model->states; s++)
        if (model->terminal[s]) t->gone[s] = 1;
    for (int64_t z = 0; z < pairs; z++) {
        const bool ends = model->kind[z] == PESS_ROW_SINK || model->end_mass[z] > 0;
        if (ends && is_taken(model, taken, z)) leads_to_end(model, t, z, nearer);
    }
    bool uniform_joined = false;
    while (t->head < t->tail) {
        const int64_t s = t->queue[t->head++];
        for (int64_t k = t->row[s]; k < t->row[s + 1]; k++)
            if (is_taken(model, taken, t->pair[k])) leads_to_end(model, t, t->pair[k], nearer);
        if (uniform_joined) continue;
        uniform_joined = true; /* a uniform row leads to every state */
        for (int64_t z = 0; z < pairs; z++)
            if (model->kind[z] == PESS_ROW_UNIFORM && is_taken(model, taken, z)) leads_to_end(model, t, z, nearer);
    }
}

pess_status pess__never_ends(const pess_model *model, pess__taken taken, int32_t *nearer, int64_t *state,
                             pess_error *error) {
    trap t;
    PESS_TRY(trap_allocate(model, &t, error));
    if (nearer != NULL) memset(nearer, 0xff, (size_t)model->states * sizeof *nearer);
    fill_predecessors(model, &t);
    spread(model, taken, &t, nearer);
    *state = first_left(model, &t);
    trap_release(&t);
    return PESS_OK;
}

/* What is known of h(s), the probability of an end: in long double, since it is the product of many steps. */
static long double chance(const pess_model *model, int64_t z, const long double *h, long double mean) {
    long double p = model->end_mass[z];
    switch ((pess_row_kind)model->kind[z]) {
        case PESS_ROW_SPARSE:
            for (int64_t k = model->row[z]; k < model->row[z + 1]; k++) p += model->probability[k] * h[model->next[k]];
            return p;
        case PESS_ROW_UNIFORM: return mean;
        case PESS_ROW_SINK: return 1;
        case PESS_ROW_NONE: break;
    }
    return 0;
}

/* One pass over the states in the order of their distance from an end. An action is left for a better one alone, so
 * that h never falls. Were there a class without an end, h would be no less than its mean over the next states, so the
 * same everywhere in it; but the first of its states to get that value had it from others: there is no such class. */
static void hurry(const pess_model *model, const double *bonus, const trap *t, long double *h, int32_t *choice) {
    long double sum = 0;
    for (int64_t i = 0; i < t->tail; i++) {
        const int64_t s = t->queue[i];
        const long double before = h[s], mean = sum / (long double)model->states;
        for (int64_t z = s * model->actions; z < (s + 1) * model->actions; z++) {
            if (bonus != NULL && !isfinite(bonus[z])) continue;
            const long double p = chance(model, z, h, mean);
            if (!(p > h[s])) continue;
            h[s] = p;
            choice[s] = (int32_t)(z % model->actions);
        }
        sum += h[s] - before;
    }
}

pess_status pess__soonest_end(const pess_model *model, const double *bonus, int32_t *choice, pess_error *error) {
    enum { PASSES = 2 };
    trap t;
    long double *h = NULL;
    PESS_TRY(trap_allocate(model, &t, error));
    pess_status status = pess__allocate(&h, model->states, sizeof *h, "the search for policies that end", error);
    if (status == PESS_OK) {
        memset(choice, 0xff, (size_t)model->states * sizeof *choice);
        fill_predecessors(model, &t);
        spread(model, (pess__taken){NULL, NULL}, &t, choice); /* for those whose h is too small to be told from 0 */
        for (int pass = 0; pass < PASSES; pass++) hurry(model, bonus, &t, h, choice);
    }
    trap_release(&t);
    free(h);
    return status;
}
