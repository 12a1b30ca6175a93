#include "model/tally.h"

#include "core/exact.h"
#include "core/memory.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>

enum {
    DIRECT_BITS = 19,       /* the largest direct table */
    DIRECT_CELLS = 1 << 20, /* of the tables of all threads */
    FEW_ROWS = 1 << 15      /* not worth a team of threads */
};

/* What a block adds to the totals. */
struct pess__tally_summary {
    int64_t terminals, cutoffs;
    double reward_min, reward_max;
};

void pess__tally_begin(pess__tally *tally, int threads) {
    *tally = (pess__tally){.hand_over = PTHREAD_MUTEX_INITIALIZER,
                           .threads = threads,
                           .last_slot = -1,
                           .direct = true,
                           .reward_min = INFINITY,
                           .reward_max = -INFINITY};
    pess__partitions_begin(&tally->partitions, threads);
}

static void free_tables(pess__tally *tally) {
    for (int i = 0; i < tally->tables; i++) {
        free(tally->table[i].cell);
        free(tally->table[i].square);
    }
    free(tally->table);
    tally->table = NULL;
    tally->tables = 0;
}

void pess__tally_free(pess__tally *tally) {
    free_tables(tally);
    pess__partitions_free(&tally->partitions);
    (void)pthread_mutex_destroy(&tally->hand_over);
    free(tally->summary);
    free(tally->first);
    free(tally->starts);
}

/* ------------------------------------------------------------------------------------------------ direct tables */

/* Cells in the order of keys: pair, ended or not, next state. */
static inline uint64_t cell_of(pess__key_bits bits, uint64_t pair, uint32_t ended, uint32_t next_state) {
    return (pair << 1 | ended) << bits.state | next_state;
}

static int bits_for(uint32_t largest) {
    int bits = 0;
    while (largest >> bits != 0) bits++;
    return bits;
}

/* What two numbers no longer hold exactly goes to the partitions. */
static void hand_over(pess__tally *tally, const pess__sum_record *sum) {
    (void)pthread_mutex_lock(&tally->hand_over);
    pess__partitions_add_sum(&tally->partitions, sum);
    (void)pthread_mutex_unlock(&tally->hand_over);
}

static void flush_cell(pess__tally *tally, pess__tally_cell *cell, uint64_t place) {
    const pess__key_bits bits = tally->partitions.bits;
    const uint64_t pair = place >> (bits.state + 1), ended = place >> bits.state & 1;
    const uint64_t next_state = place & (((uint64_t)1 << bits.state) - 1);
    hand_over(tally,
              &(pess__sum_record){(pair << 2 | ended) << bits.state | next_state, cell->n, cell->sum, cell->rest});
    *cell = (pess__tally_cell){0};
}

static void flush_square(pess__tally *tally, pess__tally_square *square, uint64_t pair) {
    const uint64_t key = (pair << 2 | PESS__SQUARES) << tally->partitions.bits.state;
    hand_over(tally, &(pess__sum_record){key, 0, square->sum, square->rest});
    *square = (pess__tally_square){0};
}

static void flush_tables(pess__tally *tally) {
    const pess__key_bits bits = tally->partitions.bits;
    const uint64_t pairs = (uint64_t)1 << (bits.state + bits.action);
    for (int i = 0; i < tally->tables; i++) {
        pess__tally_table *table = &tally->table[i];
        for (uint64_t place = 0; place < pairs << (bits.state + 1); place++)
            if (table->cell[place].n > 0) flush_cell(tally, &table->cell[place], place);
        for (uint64_t pair = 0; pair < pairs; pair++)
            if (table->square[pair].sum != 0) flush_square(tally, &table->square[pair], pair);
    }
}

/* As many tables as threads, unless they would be large. */
static pess_status make_tables(pess__tally *tally, pess_error *error) {
    const pess__key_bits bits = tally->partitions.bits;
    const int64_t pairs = (int64_t)1 << (bits.state + bits.action), cells = pairs << (bits.state + 1);
    const int64_t most = DIRECT_CELLS / cells;
    const int tables = most < tally->threads ? (int)most : tally->threads;
    PESS_TRY(pess__allocate(&tally->table, tables, sizeof *tally->table, "counts", error));
    while (tally->tables < tables) {
        pess__tally_table *table = &tally->table[tally->tables++]; /* counted before it is whole, so that it is freed */
        PESS_TRY(pess__allocate(&table->cell, cells, sizeof *table->cell, "counts", error));
        PESS_TRY(pess__allocate(&table->square, pairs, sizeof *table->square, "counts", error));
    }
    return PESS_OK;
}

static pess__key_bits bits_needed(pess__key_bits old, uint32_t max_state, uint32_t max_action) {
    const int state = bits_for(max_state), action = bits_for(max_action);
    return (pess__key_bits){state > old.state ? state : old.state, action > old.action ? action : old.action};
}

/* Makes keys and direct tables fit; beyond a size there are no tables. */
static pess_status make_room(pess__tally *tally, pess__key_bits bits, pess_error *error) {
    const pess__key_bits old = tally->partitions.bits;
    if (bits.state == old.state && bits.action == old.action && (tally->table != NULL || !tally->direct))
        return PESS_OK;
    flush_tables(tally);
    free_tables(tally);
    pess__partitions_widen(&tally->partitions, bits);
    tally->direct = tally->direct && 2 * bits.state + bits.action + 1 <= DIRECT_BITS;
    return tally->direct ? make_tables(tally, error) : PESS_OK;
}

pess_status pess__tally_finish(pess__tally *tally, pess_error *error) {
    flush_tables(tally);
    free_tables(tally);
    tally->direct = false;
    return pess__partitions_compact(&tally->partitions, error);
}

/* ------------------------------------------------------------------------------------------------ rows */

/* n, Σ r of the cell and Σ r² of its pair. */
static void count_block(pess__tally *tally, pess__tally_table *table, const pess__block *block) {
    const pess__key_bits bits = tally->partitions.bits;
    for (int64_t i = 0; i < block->rows; i++) {
        const double r = block->reward[i];
        const uint64_t pair = (uint64_t)block->state[i] << bits.action | block->action[i];
        const uint64_t place = cell_of(bits, pair, block->end[i] == PESS_END_TERMINAL, block->next_state[i]);
        pess__tally_cell *cell = &table->cell[place];
        if (!pess__add_to_pair(&cell->sum, &cell->rest, r)) {
            flush_cell(tally, cell, place);
            cell->sum = r;
        }
        cell->n++;
        pess__tally_square *square = &table->square[pair];
        if (!pess__add_to_pair(&square->sum, &square->rest, r * r)) {
            flush_square(tally, square, pair);
            square->sum = r * r;
        }
    }
}

static void summarize(const pess__block *block, struct pess__tally_summary *out) {
    enum { LANES = 4 }; /* a fixed number of independent minima: short chains, and the same result everywhere */
    double lo[LANES] = {INFINITY, INFINITY, INFINITY, INFINITY},
           hi[LANES] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    *out = (struct pess__tally_summary){0, 0, INFINITY, -INFINITY};
    int64_t i = 0;
    for (; i + LANES <= block->rows; i += LANES)
        for (int k = 0; k < LANES; k++) {
            const double r = block->reward[i + k];
            lo[k] = r < lo[k] ? r : lo[k];
            hi[k] = r > hi[k] ? r : hi[k];
        }
    for (; i < block->rows; i++) {
        lo[0] = block->reward[i] < lo[0] ? block->reward[i] : lo[0];
        hi[0] = block->reward[i] > hi[0] ? block->reward[i] : hi[0];
    }
    for (int k = 0; k < LANES; k++) {
        out->reward_min = lo[k] < out->reward_min ? lo[k] : out->reward_min;
        out->reward_max = hi[k] > out->reward_max ? hi[k] : out->reward_max;
    }
    for (int64_t k = 0; k < block->rows; k++) {
        out->terminals += block->end[k] == PESS_END_TERMINAL;
        out->cutoffs += block->end[k] == PESS_END_CUTOFF;
    }
}

/* ------------------------------------------------------------------------------------------------ blocks */

/* Totals, starts and counts; direct tables are one for each thread of the team. */
static void count_blocks(pess__tally *tally, const pess__block *blocks, int64_t count, int64_t rows) {
#pragma omp parallel num_threads(tally->direct ? tally->tables : tally->threads) if (rows > FEW_ROWS)
    {
        const int me = omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
        for (int64_t b = -1; b < count; b++) {
            if (b < 0) {
                for (int64_t k = 0; k < count; k++) pess__find_starts(tally, &blocks[k]);
                continue;
            }
            summarize(&blocks[b], &tally->summary[b]);
            if (tally->direct)
                count_block(tally, &tally->table[me], &blocks[b]);
            else
                pess__partitions_split(&tally->partitions, &blocks[b], b, me);
        }
        if (!tally->direct) {
#pragma omp for schedule(static, 8) /* the last ones may be empty */
            for (int i = 0; i < PESS__PARTITIONS; i++) pess__partitions_append(&tally->partitions, i, count);
        }
    }
}

/* The records of a counted log. */
static void add_records(pess__tally *tally, const pess__block *block) {
    const pess__key_bits bits = tally->partitions.bits;
    for (int64_t i = 0; i < block->rows; i++) {
        pess__key_parts of = {block->state[i], block->action[i], block->next_state[i], PESS__GOES_ON};
        if (block->end[i] == PESS_END_TERMINAL) of.kind = PESS__ENDS;
        if (block->end[i] == PESS__END_SQUARES) of = (pess__key_parts){of.state, of.action, 0, PESS__SQUARES};
        const double rest = block->rest != NULL ? block->rest[i] : 0;
        pess__partitions_add_sum(&tally->partitions,
                                 &(pess__sum_record){pess__key_of(bits, of), block->count[i], block->reward[i], rest});
        if (block->square != NULL && block->square[i] > 0) {
            of = (pess__key_parts){of.state, of.action, 0, PESS__SQUARES};
            pess__partitions_add_sum(&tally->partitions,
                                     &(pess__sum_record){pess__key_of(bits, of), 0, block->square[i], 0});
        }
        if (block->count[i] > PESS__MAX_TRANSITIONS - tally->rows) tally->too_many = true;
        if (tally->too_many) return;
        tally->rows += block->count[i];
        if (block->end[i] == PESS_END_TERMINAL) tally->terminals += block->count[i];
        if (block->end[i] == PESS_END_CUTOFF) tally->cutoffs += block->count[i];
        if (block->low != NULL) {
            tally->reward_min = fmin(tally->reward_min, block->low[i]);
            tally->reward_max = fmax(tally->reward_max, block->high[i]);
        }
    }
}

pess_status pess__tally_add_counted(pess__tally *tally, const pess__counted *counted, int64_t states,
                                    pess_error *error) {
    bool fine = true;
    tally->no_squares |= !counted->squares;
    tally->no_range |= !counted->range;
    tally->cutoffs += counted->cutoffs;
    tally->reward_min = fmin(tally->reward_min, counted->reward_min);
    tally->reward_max = fmax(tally->reward_max, counted->reward_max);
    for (int64_t i = 0; i < counted->episodes && fine; i++)
        fine = pess__note_episode(tally, counted->episode[i], counted->step[i], counted->first_state[i]);
    tally->any_end |= counted->starts_known;
    for (int64_t s = 0; counted->starts != NULL && s < states && fine; s++)
        if (counted->starts[s] > 0) fine = pess__note_starts(tally, (uint32_t)s, counted->starts[s]);
    return fine ? PESS_OK : pess__fail(error, PESS_MEMORY, "not enough memory for the counts of the log");
}

static pess_status check(pess__tally *tally, pess_error *error) {
    if (tally->starts_failed) return pess__fail(error, PESS_MEMORY, "not enough memory for the counts of the log");
    if (tally->too_many)
        return pess__fail(error, PESS_LIMIT, "the counts sum to more than %lld transitions",
                          (long long)PESS__MAX_TRANSITIONS);
    return pess__partitions_check(&tally->partitions, error);
}

static void add_summaries(pess__tally *tally, const pess__block *blocks, int64_t count) {
    for (int64_t b = 0; b < count; b++) {
        const struct pess__tally_summary *summary = &tally->summary[b];
        tally->rows += blocks[b].rows;
        tally->terminals += summary->terminals;
        tally->cutoffs += summary->cutoffs;
        tally->reward_min = summary->reward_min < tally->reward_min ? summary->reward_min : tally->reward_min;
        tally->reward_max = summary->reward_max > tally->reward_max ? summary->reward_max : tally->reward_max;
    }
}

pess_status pess__tally_add(pess__tally *tally, const pess__block *blocks, int64_t count, pess_error *error) {
    uint32_t max_state = 0, max_action = 0;
    int64_t rows = 0;
    for (int64_t b = 0; b < count; b++) {
        max_state = blocks[b].max_state > max_state ? blocks[b].max_state : max_state;
        max_action = blocks[b].max_action > max_action ? blocks[b].max_action : max_action;
        rows += blocks[b].rows;
    }
    const pess__key_bits bits = bits_needed(tally->partitions.bits, max_state, max_action);
    if (bits.state + bits.action > PESS__PAIR_BITS) return PESS_OK;
    PESS_TRY(make_room(tally, bits, error));
    PESS_TRY(pess__grow(&tally->summary, &tally->summary_capacity, count, sizeof *tally->summary, "counting", error));
    if (count > 0 && blocks[0].count != NULL) {
        for (int64_t b = 0; b < count; b++) add_records(tally, &blocks[b]);
        return check(tally, error);
    }
    if (!tally->direct) PESS_TRY(pess__partitions_expect(&tally->partitions, blocks, count, error));
    count_blocks(tally, blocks, count, rows);
    add_summaries(tally, blocks, count);
    return check(tally, error);
}

pess_status pess__tally_read(pess__tally *tally, pess__stream *stream, pess_error *error) {
    for (;;) {
        pess__portion portion;
        PESS_TRY(pess__stream_next(stream, &portion, error));
        if (portion.restarted) {
            pess__tally_free(tally);
            pess__tally_begin(tally, stream->threads);
        }
        if (portion.count == 0) break;
        PESS_TRY(pess__tally_add(tally, portion.blocks, portion.count, error));
    }
    return stream->counted != NULL ? pess__tally_add_counted(tally, stream->counted, stream->states, error) : PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ merging */

static uint64_t renumber(const pess__renumbering *to, pess__key_bits old, pess__key_bits bits, uint64_t key) {
    pess__key_parts of = pess__key_parts_of(old, key);
    const int64_t *const states = to->to[PESS__STATES], *const actions = to->to[PESS__ACTIONS];
    if (states != NULL) of.state = (uint32_t)states[of.state];
    if (states != NULL && of.kind != PESS__SQUARES) of.next_state = (uint32_t)states[of.next_state];
    if (actions != NULL) of.action = (uint32_t)actions[of.action];
    return pess__key_of(bits, of);
}

static void absorb_records(pess__partitions *to, pess__partitions *from, const pess__renumbering *renumbering) {
    for (int i = 0; i < PESS__PARTITIONS; i++) {
        pess__partition *partition = &from->partition[i];
        pess__page_cursor rows = {partition->rows.first, 0}, sums = {partition->sums.first, 0};
        for (const pess__row *row; (row = pess__page_next(&rows, sizeof *row)) != NULL;)
            pess__partitions_add_row(to,
                                     &(pess__row){renumber(renumbering, from->bits, to->bits, row->key), row->reward});
        for (const pess__sum_record *sum; (sum = pess__page_next(&sums, sizeof *sum)) != NULL;)
            pess__partitions_add_sum(to, &(pess__sum_record){renumber(renumbering, from->bits, to->bits, sum->key),
                                                             sum->n, sum->value, sum->rest});
        pess__page_list_release(&from->pool, &partition->rows);
        pess__page_list_release(&from->pool, &partition->sums);
    }
}

static bool absorb_starts(pess__tally *to, const pess__tally *from, const pess__renumbering *renumbering) {
    const int64_t *const states = renumbering->to[PESS__STATES], *const episodes = renumbering->to[PESS__EPISODES];
    for (int64_t i = 0; i < from->first_slots; i++) {
        const pess__first_row *row = &from->first[i];
        if (!row->used) continue;
        const int64_t episode = episodes != NULL ? episodes[row->episode] : row->episode;
        const int64_t state = states != NULL ? states[row->state] : row->state;
        if (!pess__note_episode(to, episode, row->step, (uint32_t)state)) return false;
    }
    for (int64_t s = 0; from->any_end && s < from->starts_capacity; s++)
        if (from->starts[s] > 0 && !pess__note_starts(to, (uint32_t)(states != NULL ? states[s] : s), from->starts[s]))
            return false;
    return true;
}

pess_status pess__tally_absorb(pess__tally *to, pess__tally *from, const pess__renumbering *renumbering, int64_t states,
                               int64_t actions, pess_error *error) {
    const pess__key_bits bits = bits_needed(to->partitions.bits, (uint32_t)(states - 1), (uint32_t)(actions - 1));
    PESS_TRY(pess__tally_finish(from, error));
    to->direct = false;
    PESS_TRY(make_room(to, bits, error));
    absorb_records(&to->partitions, &from->partitions, renumbering);
    to->too_many |= from->rows > PESS__MAX_TRANSITIONS - to->rows;
    if (!to->too_many) to->rows += from->rows;
    to->terminals += from->terminals;
    to->cutoffs += from->cutoffs;
    to->reward_min = fmin(to->reward_min, from->reward_min);
    to->reward_max = fmax(to->reward_max, from->reward_max);
    to->no_squares |= from->no_squares;
    to->no_range |= from->no_range;
    to->any_end |= from->any_end;
    to->starts_failed |= !absorb_starts(to, from, renumbering);
    return check(to, error);
}
