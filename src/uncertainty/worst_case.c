/* The extreme of P·v over the set of one pair: move probability from the best successors to the worst possible place.
 * A heap gives the best successors in turn, so the cost is k + t·ln k for a row of k successors of which t are emptied.
 * The highest value is the lowest of −v. */
#include "uncertainty/sets.h"

#include "core/memory.h"
#include "core/ranges.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

pess_status pess__set_scratch_create(const pess__set *set, int count, pess__set_scratch **out, pess_error *error) {
    const int64_t slots = pess__apart(set->longest + 2, sizeof(int32_t));
    pess__set_scratch *scratch;
    double *numbers;
    int32_t *heap;
    PESS_TRY(pess__allocate(&scratch, count, sizeof *scratch, "room for next states", error));
    pess_status status = pess__allocate(&numbers, 2 * slots * count, sizeof *numbers, "room for next states", error);
    if (status == PESS_OK) {
        status = pess__allocate(&heap, slots * count, sizeof *heap, "room for next states", error);
        if (status != PESS_OK) free(numbers);
    }
    if (status != PESS_OK) {
        free(scratch);
        return status;
    }
    for (int64_t i = 0; i < count; i++)
        scratch[i] = (pess__set_scratch){numbers + 2 * slots * i, numbers + 2 * slots * i + slots, heap + slots * i};
    *out = scratch;
    return PESS_OK;
}

void pess__set_scratch_destroy(pess__set_scratch *scratch) {
    if (!scratch) return;
    free(scratch[0].value);
    free(scratch[0].heap);
    free(scratch);
}

/* A row laid out for the search: slots 0..k-1 its successors, k the end, k+1 the worst state anywhere. Values are
 * times `sign`, so that low is always bad. */
typedef struct row_view {
    pess__set_scratch *scratch;
    int64_t successors;
    double floor;       /* value of the worst place outside the row, +infinity where nothing is */
    int64_t floor_slot; /* where its mass goes: k or k+1 */
    int64_t low_slot;   /* the worst slot of the row */
} row_view;

static void sift_down(const pess__set_scratch *scratch, int64_t at, int64_t size) {
    int32_t *heap = scratch->heap;
    const int32_t moving = heap[at];
    for (int64_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && scratch->value[heap[child + 1]] > scratch->value[heap[child]]) child++;
        if (scratch->value[heap[child]] <= scratch->value[moving]) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

/* Takes `amount` from the row, the highest values first. */
static void take(const row_view *view, double amount) {
    const pess__set_scratch *scratch = view->scratch;
    int64_t size = 0;
    for (int64_t i = 0; i <= view->successors; i++)
        if (scratch->mass[i] > 0) scratch->heap[size++] = (int32_t)i;
    for (int64_t i = size / 2 - 1; i >= 0; i--) sift_down(scratch, i, size);
    while (amount > 0 && size > 0) {
        const int32_t top = scratch->heap[0];
        const double taken = fmin(amount, scratch->mass[top]);
        scratch->mass[top] -= taken;
        amount -= taken;
        scratch->heap[0] = scratch->heap[--size];
        if (size > 0) sift_down(scratch, 0, size);
    }
}

static void restore(const pess__set *set, int64_t pair, const row_view *view) {
    const pess_model *model = set->problem.model;
    for (int64_t i = 0; i < view->successors; i++) view->scratch->mass[i] = model->probability[model->row[pair] + i];
    view->scratch->mass[view->successors] = model->end_mass[pair];
    view->scratch->mass[view->successors + 1] = 0;
}

static row_view lay_out(const pess__set *set, int64_t pair, const double *v, double lowest, double sign,
                        pess__set_scratch *scratch) {
    const pess_model *model = set->problem.model;
    const pess__set_pair *limits = &set->pairs[pair];
    const int64_t begin = model->row[pair], successors = model->row[pair + 1] - begin;
    row_view view = {scratch, successors, INFINITY, successors + 1, successors};
    for (int64_t i = 0; i < successors; i++) scratch->value[i] = sign * v[model->next[begin + i]];
    scratch->value[successors] = 0;
    scratch->value[successors + 1] = lowest;
    restore(set, pair, &view);
    double low = model->end_mass[pair] > 0 ? 0 : INFINITY;
    for (int64_t i = 0; i < successors; i++)
        if (scratch->value[i] < low) low = scratch->value[i], view.low_slot = i;
    if (limits->state_open) view.floor = lowest;
    if (limits->end_open && view.floor > 0) view.floor = 0, view.floor_slot = successors;
    return view;
}

#ifndef NDEBUG
static bool has_mass_one(const row_view *view) {
    double sum = 0;
    for (int64_t i = 0; i < view->successors + 2; i++) {
        if (!(view->scratch->mass[i] >= 0)) return false;
        sum += view->scratch->mass[i];
    }
    return fabs(sum - 1) < 1e-6;
}
#endif

static double expectation(const row_view *view) {
    double sum = 0;
    assert(has_mass_one(view));
    for (int64_t i = 0; i < view->successors + 2; i++)
        if (view->scratch->mass[i] != 0) sum += view->scratch->mass[i] * view->scratch->value[i];
    return sum;
}

/* (i): ball/2 is moved, at most `unseen` of it out of the row; the rest to the row's worst. */
static void move_ball(const pess__set_pair *limits, const row_view *view) {
    const pess__set_scratch *scratch = view->scratch;
    const double moved = limits->ball / 2;
    const double out = view->floor < scratch->value[view->low_slot] ? fmin(moved, limits->unseen) : 0;
    take(view, moved);
    scratch->mass[view->floor_slot] += out;
    scratch->mass[view->low_slot] += moved - out;
}

/* (ii): seen_ball/2 is moved within the row; then the share `unseen` of everything out of it, if that is worse. */
static void move_seen(const pess__set_pair *limits, const row_view *view) {
    const pess__set_scratch *scratch = view->scratch;
    const double moved = limits->seen_ball / 2;
    take(view, moved);
    scratch->mass[view->low_slot] += moved;
    if (view->floor >= expectation(view)) return;
    for (int64_t i = 0; i < view->successors + 2; i++) scratch->mass[i] *= 1 - limits->unseen;
    scratch->mass[view->floor_slot] += limits->unseen;
}

static double extreme(const pess__set *set, int64_t pair, const double *v, double lowest, double sign,
                      pess__set_scratch *scratch, double *centre) {
    const pess__set_pair *limits = &set->pairs[pair];
    const row_view view = lay_out(set, pair, v, lowest, sign, scratch);
    if (centre) *centre = sign * expectation(&view);
    double within = -INFINITY;
    if (isfinite(limits->seen_ball)) {
        move_seen(limits, &view);
        within = expectation(&view);
        if (!isfinite(limits->ball)) return sign * within;
        restore(set, pair, &view);
    }
    move_ball(limits, &view);
    const double around = expectation(&view);
    if (around >= within) return sign * around;
    restore(set, pair, &view);
    move_seen(limits, &view);
    return sign * within;
}

double pess__set_worst(const pess__set *set, int64_t pair, const double *v, const pess__extremes *extremes,
                       pess__set_scratch *scratch, double *centre) {
    return extreme(set, pair, v, extremes->lo_state < 0 ? INFINITY : extremes->lo, 1, scratch, centre);
}

double pess__set_best(const pess__set *set, int64_t pair, const double *v, const pess__extremes *extremes,
                      pess__set_scratch *scratch, double *centre) {
    return extreme(set, pair, v, extremes->hi_state < 0 ? INFINITY : -extremes->hi, -1, scratch, centre);
}
