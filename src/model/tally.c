#include "model/tally.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256, DIRECT_BITS = 19 };

/* What a block adds to the totals. */
struct pess__tally_summary {
    int64_t terminals, cutoffs;
    double reward_min, reward_max;
};

void pess__tally_begin(pess__tally *tally, int threads) {
    *tally = (pess__tally){
        .threads = threads, .last_slot = -1, .direct = true, .reward_min = INFINITY, .reward_max = -INFINITY};
}

void pess__tally_free(pess__tally *tally) {
    for (int p = 0; p < PESS__TALLY_PARTS; p++) free(tally->part[p].slot);
    free(tally->cell);
    free(tally->place);
    free(tally->from);
    free(tally->summary);
    free(tally->first);
    free(tally->starts);
}

/* ------------------------------------------------------------------------------------------------ hash tables */

/* Top four bits: the part; bits from 20 on: the slot. */
static inline uint64_t hash_of(uint32_t state, uint32_t action, uint32_t next_state, uint32_t terminal) {
    const uint64_t x = ((uint64_t)state << 32 | next_state) * 0x9E3779B97F4A7C15u;
    const uint64_t y = ((uint64_t)action << 1 | terminal) * 0xD6E8FEB86659FD93u;
    const uint64_t z = (x ^ (x >> 29)) + y;
    return z * 0xBF58476D1CE4E5B9u;
}

static inline uint64_t slot_of(uint64_t hash, int64_t slots) { return (hash >> 20) & (uint64_t)(slots - 1); }

static bool grow_part(pess__tally_part *part) {
    const int64_t slots = part->slots == 0 ? FIRST_SLOTS : 2 * part->slots;
    pess__tally_entry *slot = NULL;
    if (pess__allocate(&slot, slots, sizeof *slot, "counts", NULL) != PESS_OK) return false;
    for (int64_t i = 0; i < part->slots; i++) {
        const pess__tally_entry *e = &part->slot[i];
        if (!e->used) continue;
        uint64_t at = slot_of(hash_of(e->state, e->action, e->next_state, e->terminal), slots);
        while (slot[at].used) at = (at + 1) & (uint64_t)(slots - 1);
        slot[at] = *e;
    }
    free(part->slot);
    part->slot = slot;
    part->slots = slots;
    return true;
}

/* The entry of a key, made where there is none; NULL: out of memory. */
static inline pess__tally_entry *entry_of(pess__tally_part *part, uint64_t hash, uint32_t s, uint32_t a, uint32_t t,
                                          uint8_t terminal) {
    if (3 * (part->used + 1) > 2 * part->slots && !grow_part(part)) {
        part->failed = true;
        return NULL;
    }
    const uint64_t mask = (uint64_t)(part->slots - 1);
    uint64_t at = slot_of(hash, part->slots);
    pess__tally_entry *e = &part->slot[at];
    while (e->used && !(e->state == s && e->next_state == t && e->action == a && e->terminal == terminal)) {
        at = (at + 1) & mask;
        e = &part->slot[at];
    }
    if (!e->used) {
        *e = (pess__tally_entry){.state = s, .action = a, .next_state = t, .terminal = terminal, .used = 1};
        part->used++;
    }
    return e;
}

/* ------------------------------------------------------------------------------------------------ direct table */

static inline uint64_t index_of(int state_bits, int action_bits, uint32_t s, uint32_t a, uint32_t t,
                                uint32_t terminal) {
    const uint64_t pair = ((uint64_t)terminal << state_bits | s) << action_bits | a;
    return pair << state_bits | t;
}

static int bits_for(uint32_t largest) {
    int bits = 0;
    while (largest >> bits != 0) bits++;
    return bits;
}

/* Each cell that holds something: into another table of cells, or (cell NULL) into the hash tables. */
static bool move_cells(pess__tally *tally, pess__tally_cell *cell, int state_bits, int action_bits) {
    if (tally->cell == NULL) return true;
    const uint64_t cells = (uint64_t)2 << (2 * tally->state_bits + tally->action_bits);
    const uint64_t states = ((uint64_t)1 << tally->state_bits) - 1, actions = ((uint64_t)1 << tally->action_bits) - 1;
    for (uint64_t i = 0; i < cells; i++) {
        const pess__tally_cell *from = &tally->cell[i];
        if (from->n == 0) continue;
        const uint64_t pair = i >> tally->state_bits;
        const uint32_t t = (uint32_t)(i & states), a = (uint32_t)(pair & actions);
        const uint32_t s = (uint32_t)(pair >> tally->action_bits & states);
        const uint8_t terminal = (uint8_t)(pair >> (tally->action_bits + tally->state_bits));
        if (cell != NULL) {
            cell[index_of(state_bits, action_bits, s, a, t, terminal)] = *from;
            continue;
        }
        const uint64_t hash = hash_of(s, a, t, terminal);
        pess__tally_entry *e = entry_of(&tally->part[hash >> 60], hash, s, a, t, terminal);
        if (e == NULL) return false;
        e->n = from->n;
        e->reward = from->reward;
        e->offset = from->offset;
        e->square = from->square;
    }
    return true;
}

/* Makes the direct table fit these ids, or gives it up. */
static pess_status make_room(pess__tally *tally, uint32_t max_state, uint32_t max_action, pess_error *error) {
    int state_bits = bits_for(max_state), action_bits = bits_for(max_action);
    if (state_bits < tally->state_bits) state_bits = tally->state_bits;
    if (action_bits < tally->action_bits) action_bits = tally->action_bits;
    if (tally->cell != NULL && state_bits == tally->state_bits && action_bits == tally->action_bits) return PESS_OK;
    pess__tally_cell *cell = NULL;
    tally->direct = 2 * state_bits + action_bits + 1 <= DIRECT_BITS;
    if (tally->direct)
        PESS_TRY(pess__allocate(&cell, (int64_t)2 << (2 * state_bits + action_bits), sizeof *cell, "counts", error));
    const bool moved = move_cells(tally, cell, state_bits, action_bits);
    free(tally->cell);
    tally->cell = cell;
    tally->state_bits = state_bits;
    tally->action_bits = action_bits;
    return moved ? PESS_OK : pess__fail(error, PESS_MEMORY, "not enough memory for the counts of the log");
}

pess_status pess__tally_finish(pess__tally *tally, pess_error *error) {
    if (!move_cells(tally, NULL, 0, 0))
        return pess__fail(error, PESS_MEMORY, "not enough memory for the counts of the log");
    free(tally->cell);
    tally->cell = NULL;
    tally->direct = false;
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ rows */

/* Where a row's sums are: an index or a hash. */
static inline uint64_t key_of(const pess__tally *tally, const pess__block *block, int64_t i) {
    const uint32_t terminal = block->end[i] == PESS_END_TERMINAL;
    return tally->direct ? index_of(tally->state_bits, tally->action_bits, block->state[i], block->action[i],
                                    block->next_state[i], terminal)
                         : hash_of(block->state[i], block->action[i], block->next_state[i], terminal);
}

/* Eight neighbouring cells belong to one part, so that threads do not share cache lines. */
static inline int part_of(bool direct, uint64_t key) { return (int)(direct ? key >> 3 & 15 : key >> 60); }

static inline void add_to_cell(pess__tally_cell *cell, double r, double origin) {
    const double offset = r - origin;
    cell->n++;
    cell->reward += r;
    cell->offset += offset;
    cell->square += offset * offset;
}

static inline void count_hashed(pess__tally_part *part, const pess__block *block, int64_t i, uint64_t hash,
                                double origin) {
    pess__tally_entry *e = entry_of(part, hash, block->state[i], block->action[i], block->next_state[i],
                                    block->end[i] == PESS_END_TERMINAL);
    if (e == NULL) return;
    const double r = block->reward[i], offset = r - origin;
    e->n++;
    e->reward += r;
    e->offset += offset;
    e->square += offset * offset;
}

/* One thread: no need to sort the rows by part first. */
static void count_all(pess__tally *tally, const pess__block *block) {
    if (tally->direct) {
        for (int64_t i = 0; i < block->rows; i++)
            add_to_cell(&tally->cell[key_of(tally, block, i)], block->reward[i], tally->origin);
        return;
    }
    for (int64_t i = 0; i < block->rows; i++) {
        const uint64_t hash = key_of(tally, block, i);
        if (tally->part[hash >> 60].failed) return;
        count_hashed(&tally->part[hash >> 60], block, i, hash, tally->origin);
    }
}

/* Rows of a block, listed part by part and in file order within each. */
static void sort_rows(const pess__tally *tally, const pess__block *block, uint16_t *place,
                      int64_t from[PESS__TALLY_PARTS + 1]) {
    int64_t at[PESS__TALLY_PARTS] = {0}, sum = 0;
    const bool direct = tally->direct;
    for (int64_t i = 0; i < block->rows; i++) at[part_of(direct, key_of(tally, block, i))]++;
    for (int p = 0; p < PESS__TALLY_PARTS; p++) {
        from[p] = sum;
        sum += at[p];
        at[p] = from[p];
    }
    from[PESS__TALLY_PARTS] = sum;
    for (int64_t i = 0; i < block->rows; i++) place[at[part_of(direct, key_of(tally, block, i))]++] = (uint16_t)i;
}

static void count_part(pess__tally *tally, int p, const pess__block *blocks, int64_t count) {
    pess__tally_part *part = &tally->part[p];
    for (int64_t b = 0; b < count; b++) {
        const pess__block *block = &blocks[b];
        const uint16_t *place = tally->place + b * PESS__BLOCK_ROWS;
        const int64_t begin = tally->from[b][p], end = tally->from[b][p + 1];
        if (tally->direct)
            for (int64_t k = begin; k < end; k++)
                add_to_cell(&tally->cell[key_of(tally, block, place[k])], block->reward[place[k]], tally->origin);
        else
            for (int64_t k = begin; k < end && !part->failed; k++)
                count_hashed(part, block, place[k], key_of(tally, block, place[k]), tally->origin);
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

/* ------------------------------------------------------------------------------------------------ starts */

static uint64_t first_slot_of(int64_t episode, int64_t slots) {
    const uint64_t h = (uint64_t)episode * 0x9E3779B97F4A7C15u;
    return (h ^ (h >> 32)) & (uint64_t)(slots - 1);
}

static bool grow_first(pess__tally *tally) {
    const int64_t slots = tally->first_slots == 0 ? FIRST_SLOTS : 2 * tally->first_slots;
    pess__first_row *first = NULL;
    if (pess__allocate(&first, slots, sizeof *first, "episode starts", NULL) != PESS_OK) return false;
    for (int64_t i = 0; i < tally->first_slots; i++) {
        if (!tally->first[i].used) continue;
        uint64_t at = first_slot_of(tally->first[i].episode, slots);
        while (first[at].used) at = (at + 1) & (uint64_t)(slots - 1);
        first[at] = tally->first[i];
    }
    free(tally->first);
    tally->first = first;
    tally->first_slots = slots;
    tally->last_slot = -1;
    return true;
}

/* The first row of an episode has the smallest step; where there are no steps, or equal ones, it comes first in the
 * file. */
static bool note_episode(pess__tally *tally, int64_t episode, int64_t step, uint32_t state) {
    pess__first_row *row = tally->last_slot >= 0 ? &tally->first[tally->last_slot] : NULL;
    if (row == NULL || row->episode != episode) {
        if (2 * (tally->first_used + 1) > tally->first_slots && !grow_first(tally)) return false;
        uint64_t at = first_slot_of(episode, tally->first_slots);
        while (tally->first[at].used && tally->first[at].episode != episode)
            at = (at + 1) & (uint64_t)(tally->first_slots - 1);
        row = &tally->first[at];
        tally->last_slot = (int64_t)at;
    }
    if (!row->used) {
        *row = (pess__first_row){episode, step, state, 1};
        tally->first_used++;
    } else if (step < row->step) {
        row->step = step;
        row->state = state;
    }
    return true;
}

static bool note_start(pess__tally *tally, uint32_t state) {
    const int64_t before = tally->starts_capacity;
    if (state >= before) {
        if (pess__grow(&tally->starts, &tally->starts_capacity, (int64_t)state + 1, sizeof *tally->starts,
                       "episode starts", NULL) != PESS_OK)
            return false;
        memset(tally->starts + before, 0, (size_t)(tally->starts_capacity - before) * sizeof *tally->starts);
    }
    tally->starts[state]++;
    return true;
}

static void find_starts(pess__tally *tally, const pess__block *block, const struct pess__tally_summary *summary) {
    const bool ends = summary->terminals + summary->cutoffs > 0;
    if (block->episode == NULL && !ends && tally->any_row && !tally->previous_ended) return;
    for (int64_t i = 0; i < block->rows && !tally->starts_failed; i++) {
        if (block->episode != NULL) {
            const int64_t step = block->step != NULL ? block->step[i] : 0;
            tally->starts_failed = !note_episode(tally, block->episode[i], step, block->state[i]);
        } else {
            if (!tally->any_row || tally->previous_ended) tally->starts_failed = !note_start(tally, block->state[i]);
            tally->any_row = true;
            tally->previous_ended = block->end[i] != PESS_END_NONE;
            tally->any_end |= tally->previous_ended;
        }
    }
}

/* ------------------------------------------------------------------------------------------------ both */

static pess_status make_places(pess__tally *tally, int64_t blocks, pess_error *error) {
    if (blocks <= tally->place_blocks) return PESS_OK;
    free(tally->place);
    free(tally->from);
    free(tally->summary);
    tally->place = NULL;
    tally->from = NULL;
    tally->summary = NULL;
    tally->place_blocks = 0;
    if (tally->threads > 1)
        PESS_TRY(pess__allocate(&tally->place, blocks * PESS__BLOCK_ROWS, sizeof *tally->place, "counting", error));
    PESS_TRY(pess__allocate(&tally->from, blocks, sizeof *tally->from, "counting", error));
    PESS_TRY(pess__allocate(&tally->summary, blocks, sizeof *tally->summary, "counting", error));
    tally->place_blocks = blocks;
    return PESS_OK;
}

static void count_in_parallel(pess__tally *tally, const pess__block *blocks, int64_t count) {
#pragma omp parallel num_threads(tally->threads)
    {
#pragma omp for schedule(dynamic, 1)
        for (int64_t b = 0; b < count; b++) {
            summarize(&blocks[b], &tally->summary[b]);
            sort_rows(tally, &blocks[b], tally->place + b * PESS__BLOCK_ROWS, tally->from[b]);
        }
#pragma omp for schedule(dynamic, 1)
        for (int p = -1; p < PESS__TALLY_PARTS; p++) {
            if (p >= 0)
                count_part(tally, p, blocks, count);
            else
                for (int64_t b = 0; b < count; b++) find_starts(tally, &blocks[b], &tally->summary[b]);
        }
    }
}

pess_status pess__tally_add(pess__tally *tally, const pess__block *blocks, int64_t count, pess_error *error) {
    uint32_t max_state = 0, max_action = 0;
    for (int64_t b = 0; b < count; b++) {
        max_state = blocks[b].max_state > max_state ? blocks[b].max_state : max_state;
        max_action = blocks[b].max_action > max_action ? blocks[b].max_action : max_action;
    }
    for (int64_t b = 0; b < count && tally->rows == 0; b++)
        if (blocks[b].rows > 0) {
            tally->origin = blocks[b].reward[0];
            break;
        }
    if (tally->direct) PESS_TRY(make_room(tally, max_state, max_action, error));
    PESS_TRY(make_places(tally, count, error));
    /* Sorting rows by part costs as much as adding to cells: below four threads one does it alone, in one pass. */
    if (tally->threads > (tally->direct ? 3 : 1)) {
        count_in_parallel(tally, blocks, count);
    } else {
        for (int64_t b = 0; b < count; b++) {
            summarize(&blocks[b], &tally->summary[b]);
            count_all(tally, &blocks[b]);
            find_starts(tally, &blocks[b], &tally->summary[b]);
        }
    }
    bool failed = tally->starts_failed;
    for (int p = 0; p < PESS__TALLY_PARTS; p++) failed |= tally->part[p].failed;
    for (int64_t b = 0; b < count; b++) {
        const struct pess__tally_summary *summary = &tally->summary[b];
        tally->rows += blocks[b].rows;
        tally->terminals += summary->terminals;
        tally->cutoffs += summary->cutoffs;
        tally->reward_min = summary->reward_min < tally->reward_min ? summary->reward_min : tally->reward_min;
        tally->reward_max = summary->reward_max > tally->reward_max ? summary->reward_max : tally->reward_max;
    }
    return failed ? pess__fail(error, PESS_MEMORY, "not enough memory for the counts of the log") : PESS_OK;
}
