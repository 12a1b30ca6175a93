/* γ = 1: values are finite for every policy exactly where no policy can go on for ever. */
#include "core/memory.h"
#include "solve/evaluator.h"

#include <math.h>
#include <stdlib.h>

/* Predecessor pairs of every state, and how many pairs of each state can still stay within the set. */
typedef struct trap {
    int64_t *row;   /* [S+2] */
    int64_t *pair;  /* pairs that can lead to the state */
    int64_t *stays; /* [S] pairs whose whole support is in the set */
    uint8_t *left;  /* [S*A] the pair can leave the set */
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
    static const char what[] = "the check of gamma 1";
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

pess_status pess__check_undiscounted(const pess_model *model, double v_lo, pess_error *error) {
    const int64_t pairs = model->states * model->actions;
    if (!isfinite(v_lo))
        for (int64_t z = 0; z < pairs; z++)
            if (model->kind[z] == PESS_ROW_SINK)
                return pess__fail(error, PESS_ARGUMENT,
                                  "gamma is 1 and state %lld, action %lld is taken to be the worst for ever, which has "
                                  "no finite value here; use gamma < 1 or another choice for unseen pairs",
                                  (long long)(z / model->actions), (long long)(z % model->actions));
    trap t;
    PESS_TRY(trap_allocate(model, &t, error));
    fill_predecessors(model, &t);
    shrink(model, &t);
    int64_t stuck = -1;
    for (int64_t s = 0; s < model->states && stuck < 0; s++)
        if (!t.gone[s]) stuck = s;
    trap_release(&t);
    if (stuck >= 0)
        return pess__fail(error, PESS_ARGUMENT,
                          "gamma is 1, but from state %lld a policy can go on for ever without reaching a terminal; "
                          "use gamma < 1",
                          (long long)stuck);
    return PESS_OK;
}
