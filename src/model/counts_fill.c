/* From the records of a counted log to counts: pair by pair, in the order of keys, each range of states by one thread.
 */
#include "core/exact.h"
#include "core/memory.h"
#include "model/counts.h"
#include "model/tally.h"

#include <math.h>
#include <stdlib.h>

/* The records of a compacted partition in the order of keys: rows and sums together. */
typedef struct record_cursor {
    pess__page_cursor rows, sums;
    const pess__row *row; /* the next ones; NULL: no more */
    const pess__sum *sum;
} record_cursor;

static record_cursor first_record(const pess__partition *partition) {
    record_cursor cursor = {.rows = {partition->rows.first, 0}, .sums = {partition->sums.first, 0}};
    cursor.row = pess__page_next(&cursor.rows, sizeof *cursor.row);
    cursor.sum = pess__page_next(&cursor.sums, sizeof *cursor.sum);
    return cursor;
}

/* *square is that of a row, which is in no other record. */
static bool next_record(record_cursor *cursor, double origin, pess__sum *record, double *square) {
    if (cursor->row != NULL && (cursor->sum == NULL || cursor->row->key < cursor->sum->key)) {
        *record = (pess__sum){cursor->row->key, 1, cursor->row->reward, 0};
        *square = pess__square(cursor->row->reward, origin);
        cursor->row = pess__page_next(&cursor->rows, sizeof *cursor->row);
        return true;
    }
    if (cursor->sum == NULL) return false;
    *record = *cursor->sum;
    *square = 0;
    cursor->sum = pess__page_next(&cursor->sums, sizeof *cursor->sum);
    return true;
}

/* What is being filled, by one thread. */
typedef struct filling {
    pess_counts *counts;
    double origin;              /* of the squares and offsets */
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

static void finish_pair(filling *f) {
    if (f->pair < 0) return;
    pess_counts *c = f->counts;
    double part[PESS__EXACT_PARTS];
    const int parts = pess__exact_take(&f->reward, part);
    c->reward_sum[f->pair] = part[0];
    c->reward_offset[f->pair] = offset_of(part[0], parts > 1 ? part[1] : 0, c->n[f->pair], f->origin);
    if (isnan(part[0])) f->overflow = f->pair;
    (void)pess__exact_take(&f->square, part);
    c->reward_square[f->pair] = isnan(part[0]) ? INFINITY : part[0];
    c->n_state[f->pair / c->actions] += c->n[f->pair];
    f->pairs_seen++;
}

/* Several threads may set the same mark. */
static inline void mark(uint8_t *place) { __atomic_store_n(place, 1, __ATOMIC_RELAXED); }

static void add_successor(filling *f, uint32_t next_state, const pess__sum *record) {
    pess_counts *c = f->counts;
    c->next[f->used] = next_state;
    c->n_next[f->used] = record->n;
    c->next_offset[f->used] = offset_of(record->value, record->rest, record->n, f->origin) + 0.0; /* no negative zero */
    f->used++;
    mark(&f->goes_on[next_state]);
}

static void add_record(filling *f, pess__key_bits bits, const pess__sum *record, double square) {
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
    record_cursor cursor = first_record(partition);
    pess__sum record;
    double square = 0;
    f->pair = -1;
    f->row = from * c->actions;
    while (next_record(&cursor, f->origin, &record, &square)) add_record(f, partitions->bits, &record, square);
    finish_pair(f);
    for (; f->row < end; f->row++) c->row[f->row] = f->used;
    pess__page_list_release(&partitions->pool, &partition->rows);
    pess__page_list_release(&partitions->pool, &partition->sums);
}

static pess_status fill_all(pess_counts *c, pess__partitions *partitions, uint8_t *goes_on, pess_error *error) {
    int64_t used[PESS__PARTITIONS + 1] = {0}, seen = 0, overflow = -1;
    for (int i = 0; i < PESS__PARTITIONS; i++) used[i + 1] = used[i] + partitions->partition[i].successors;
    const int threads = pess__partitions_threads(partitions);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) reduction(+ : seen) reduction(max : overflow)
    for (int i = 0; i < PESS__PARTITIONS; i++) {
        filling f = {.counts = c, .origin = partitions->origin, .goes_on = goes_on, .used = used[i], .overflow = -1};
        fill_partition(&f, partitions, i);
        seen += f.pairs_seen;
        overflow = f.overflow > overflow ? f.overflow : overflow;
    }
    c->row[c->states * c->actions] = used[PESS__PARTITIONS];
    c->pairs_seen = seen;
    for (int64_t s = 0; s < c->states; s++) c->terminal[s] = c->terminal[s] && !goes_on[s] && c->n_state[s] == 0;
    if (overflow < 0) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "the rewards of state %lld, action %lld sum to more than a double can hold",
                      (long long)(overflow / c->actions), (long long)(overflow % c->actions));
}

pess_status pess__counts_fill(pess_counts *c, pess__tally *tally, pess_error *error) {
    int64_t successors = 0;
    uint8_t *goes_on = NULL;
    PESS_TRY(pess__tally_finish(tally, error));
    c->reward_origin = tally->partitions.origin;
    for (int i = 0; i < PESS__PARTITIONS; i++) successors += tally->partitions.partition[i].successors;
    PESS_TRY(pess__counts_allocate(c, successors, error));
    PESS_TRY(pess__allocate(&goes_on, c->states, sizeof *goes_on, "successors", error));
    const pess_status status = fill_all(c, &tally->partitions, goes_on, error);
    free(goes_on);
    return status;
}
