/* From the records of a counted log to counts: pair by pair, in the order of keys, each range of states by one thread.
 */
#include "core/exact.h"
#include "core/memory.h"
#include "model/counts.h"
#include "model/named.h"
#include "model/tally.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* What is being filled, by one thread. */
typedef struct filling {
    pess_counts *counts;
    uint8_t *goes_on;           /* [S] 1: a transition that goes on leads here */
    int64_t pair;               /* the pair whose records come now; -1: none yet */
    int64_t row;                /* the first pair whose place in counts->row is not set */
    int64_t used;               /* successors so far */
    int64_t pairs_seen;         /* of those that are finished */
    int64_t overflow;           /* a pair whose rewards sum to more than a double holds; -1: none */
    pess__exact reward, square; /* the sums of the pair */
} filling;

/* sum + rest − n·origin, rounded at the end alone. */
static double offset_of(double sum, double rest, int64_t n, double origin) {
    const double product = (double)n * origin;
    return (sum - product) + (rest - fma((double)n, origin, -product));
}

/* Adds a·b. */
static void add_product(pess__exact *to, double a, double b) {
    const double product = a * b;
    pess__exact_add(to, product);
    pess__exact_add(to, fma(a, b, -product));
}

/* Σ (r − o)² = Σr² − 2o·Σr + n·o². The sums are exact, so nothing is lost where the large parts cancel. */
static double square_of(filling *f, const double *part, int parts, int64_t n) {
    const double origin = f->counts->reward_origin, square = origin * origin;
    for (int i = 0; i < parts && origin != 0; i++) add_product(&f->square, -2 * origin, part[i]);
    add_product(&f->square, (double)n, square);
    add_product(&f->square, (double)n, fma(origin, origin, -square));
    double left[PESS__EXACT_PARTS];
    (void)pess__exact_take(&f->square, left);
    return isnan(left[0]) ? INFINITY : fmax(left[0], 0);
}

static void finish_pair(filling *f) {
    if (f->pair < 0) return;
    pess_counts *c = f->counts;
    double part[PESS__EXACT_PARTS];
    const int parts = pess__exact_take(&f->reward, part);
    c->reward_sum[f->pair] = part[0];
    c->reward_offset[f->pair] = offset_of(part[0], parts > 1 ? part[1] : 0, c->n[f->pair], c->reward_origin);
    if (isnan(part[0])) f->overflow = f->pair;
    c->reward_square[f->pair] = square_of(f, part, parts, c->n[f->pair]);
    c->n_state[f->pair / c->actions] += c->n[f->pair];
    f->pairs_seen++;
}

/* Several threads may set the same mark. */
static inline void mark(uint8_t *place) { __atomic_store_n(place, 1, __ATOMIC_RELAXED); }

static void add_successor(filling *f, uint32_t next_state, const pess__sum_record *record) {
    pess_counts *c = f->counts;
    c->next[f->used] = next_state;
    c->n_next[f->used] = record->n;
    c->next_offset[f->used] = offset_of(record->value, record->rest, record->n, c->reward_origin) + 0.0;
    f->used++;
    mark(&f->goes_on[next_state]);
}

static void add_record(filling *f, pess__key_bits bits, const pess__sum_record *record, double square) {
    pess_counts *c = f->counts;
    const pess__key_parts of = pess__key_parts_of(bits, record->key);
    const int64_t pair = of.state * c->actions + of.action;
    if (pair != f->pair) {
        finish_pair(f);
        for (; f->row <= pair; f->row++) c->row[f->row] = f->used;
        f->pair = pair;
    }
    pess__exact *const sum = of.kind == PESS__SQUARES ? &f->square : &f->reward;
    pess__exact_add(sum, record->value);
    if (record->rest != 0) pess__exact_add(sum, record->rest);
    if (square != 0) pess__exact_add(&f->square, square);
    if (record->n == 0) return; /* squares, or more parts of the sum before */
    c->n[pair] += record->n;
    if (of.kind == PESS__GOES_ON) {
        add_successor(f, of.next_state, record);
    } else {
        c->n_terminal[pair] += record->n;
        mark(&c->terminal[of.next_state]);
    }
}

/* The states of a partition; its memory is given back. */
static void fill_partition(filling *f, pess__partitions *partitions, int i) {
    pess_counts *c = f->counts;
    const int64_t from = (int64_t)i << partitions->shift, past = ((int64_t)i + 1) << partitions->shift;
    if (from >= c->states) return;
    const int64_t end = (past < c->states ? past : c->states) * c->actions;
    pess__partition *partition = &partitions->partition[i];
    pess__record_cursor cursor = pess__first_record(partition);
    pess__sum_record record;
    double square = 0;
    f->pair = -1;
    f->row = from * c->actions;
    while (pess__next_record(&cursor, &record, &square)) add_record(f, partitions->bits, &record, square);
    finish_pair(f);
    for (; f->row < end; f->row++) c->row[f->row] = f->used;
    pess__page_list_release(&partitions->pool, &partition->rows);
    pess__page_list_release(&partitions->pool, &partition->sums);
}

static pess_status fill_all(pess_counts *c, pess__partitions *partitions, uint8_t *goes_on, pess_error *error) {
    int64_t used[PESS__PARTITIONS + 1] = {0}, seen[PESS__PARTITIONS], overflows[PESS__PARTITIONS], overflow = -1;
    for (int i = 0; i < PESS__PARTITIONS; i++) used[i + 1] = used[i] + partitions->partition[i].successors;
#pragma omp parallel for schedule(dynamic, 1) num_threads(pess__partitions_threads(partitions))
    for (int i = 0; i < PESS__PARTITIONS; i++) {
        filling f = {.counts = c, .goes_on = goes_on, .used = used[i], .overflow = -1};
        fill_partition(&f, partitions, i);
        seen[i] = f.pairs_seen;
        overflows[i] = f.overflow;
    }
    c->pairs_seen = 0;
    for (int i = 0; i < PESS__PARTITIONS; i++) {
        c->pairs_seen += seen[i];
        overflow = overflows[i] > overflow ? overflows[i] : overflow;
    }
    c->row[c->states * c->actions] = used[PESS__PARTITIONS];
    for (int64_t s = 0; s < c->states; s++) c->terminal[s] = c->terminal[s] && !goes_on[s] && c->n_state[s] == 0;
    if (overflow < 0) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "the rewards of state %s, action %s sum to more than a double can hold",
                      pess__show_id(c->state_names, overflow / c->actions, (char[PESS__ID_SIZE]){0}),
                      pess__show_id(c->action_names, overflow % c->actions, (char[PESS__ID_SIZE]){0}));
}

pess_status pess__counts_fill(pess_counts *c, pess__tally *tally, pess_error *error) {
    int64_t successors = 0;
    uint8_t *goes_on = NULL;
    PESS_TRY(pess__tally_finish(tally, error));
    c->reward_origin = tally->no_range || tally->rows == 0 ? 0 : tally->reward_min;
    for (int i = 0; i < PESS__PARTITIONS; i++) successors += tally->partitions.partition[i].successors;
    PESS_TRY(pess__counts_allocate(c, successors, error));
    PESS_TRY(pess__allocate(&goes_on, c->states, sizeof *goes_on, "successors", error));
    const pess_status status = fill_all(c, &tally->partitions, goes_on, error);
    assert(c->row[c->states * c->actions] == successors);
    free(goes_on);
    return status;
}
