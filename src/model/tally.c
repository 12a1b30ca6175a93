#include "model/tally.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256 };

void pess__tally_begin(pess__tally *tally, int threads) {
    *tally = (pess__tally){.threads = threads, .last_slot = -1};
    for (int p = 0; p < PESS__TALLY_PARTS; p++) {
        tally->part[p].reward_min = INFINITY;
        tally->part[p].reward_max = -INFINITY;
    }
}

void pess__tally_free(pess__tally *tally) {
    for (int p = 0; p < PESS__TALLY_PARTS; p++) free(tally->part[p].slot);
    free(tally->place);
    free(tally->from);
    free(tally->first);
    free(tally->starts);
}

/* Top four bits: the part; the bits below them: the slot. */
static inline uint64_t hash_of(uint32_t state, uint32_t action, uint32_t next_state, uint32_t terminal) {
    const uint64_t x = ((uint64_t)state << 32 | next_state) * 0x9E3779B97F4A7C15u;
    const uint64_t y = ((uint64_t)action << 1 | terminal) * 0xD6E8FEB86659FD93u;
    const uint64_t z = (x ^ (x >> 29)) + y;
    return z * 0xBF58476D1CE4E5B9u;
}

static inline int part_of(uint64_t hash) { return (int)(hash >> 60); }

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

static inline void count_row(pess__tally_part *part, const pess__block *block, int64_t i, uint64_t hash) {
    const uint32_t s = block->state[i], a = block->action[i], t = block->next_state[i];
    const uint8_t terminal = block->end[i] == PESS_END_TERMINAL;
    const double r = block->reward[i];
    if (3 * (part->used + 1) > 2 * part->slots && !grow_part(part)) {
        part->failed = true;
        return;
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
    e->n++;
    e->reward += r;
    e->square += r * r;
    part->rows++;
    part->terminals += terminal;
    part->cutoffs += block->end[i] == PESS_END_CUTOFF;
    part->reward_min = r < part->reward_min ? r : part->reward_min;
    part->reward_max = r > part->reward_max ? r : part->reward_max;
}

static inline uint64_t hash_row(const pess__block *block, int64_t i) {
    return hash_of(block->state[i], block->action[i], block->next_state[i], block->end[i] == PESS_END_TERMINAL);
}

/* One thread: no need to sort the rows by part first. */
static void count_all(pess__tally *tally, const pess__block *block) {
    for (int64_t i = 0; i < block->rows; i++) {
        const uint64_t hash = hash_row(block, i);
        pess__tally_part *part = &tally->part[part_of(hash)];
        if (part->failed) return;
        count_row(part, block, i, hash);
    }
}

/* Rows of a block, listed part by part and in file order within each. */
static void sort_rows(const pess__block *block, uint16_t *place, int64_t from[PESS__TALLY_PARTS + 1]) {
    int64_t at[PESS__TALLY_PARTS] = {0}, sum = 0;
    for (int64_t i = 0; i < block->rows; i++) at[part_of(hash_row(block, i))]++;
    for (int p = 0; p < PESS__TALLY_PARTS; p++) {
        from[p] = sum;
        sum += at[p];
        at[p] = from[p];
    }
    from[PESS__TALLY_PARTS] = sum;
    for (int64_t i = 0; i < block->rows; i++) place[at[part_of(hash_row(block, i))]++] = (uint16_t)i;
}

static void count_part(pess__tally *tally, int p, const pess__block *blocks, int64_t count) {
    pess__tally_part *part = &tally->part[p];
    for (int64_t b = 0; b < count; b++) {
        const uint16_t *place = tally->place + b * PESS__BLOCK_ROWS;
        for (int64_t k = tally->from[b][p]; k < tally->from[b][p + 1] && !part->failed; k++)
            count_row(part, &blocks[b], place[k], hash_row(&blocks[b], place[k]));
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

static void find_starts(pess__tally *tally, const pess__block *block) {
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
    tally->place = NULL;
    tally->from = NULL;
    tally->place_blocks = 0;
    PESS_TRY(pess__allocate(&tally->place, blocks * PESS__BLOCK_ROWS, sizeof *tally->place, "counting", error));
    PESS_TRY(pess__allocate(&tally->from, blocks, sizeof *tally->from, "counting", error));
    tally->place_blocks = blocks;
    return PESS_OK;
}

pess_status pess__tally_add(pess__tally *tally, const pess__block *blocks, int64_t count, pess_error *error) {
    if (tally->threads == 1) {
        for (int64_t b = 0; b < count; b++) {
            count_all(tally, &blocks[b]);
            find_starts(tally, &blocks[b]);
        }
    } else {
        PESS_TRY(make_places(tally, count, error));
#pragma omp parallel num_threads(tally->threads)
        {
#pragma omp for schedule(dynamic, 1)
            for (int64_t b = 0; b < count; b++)
                sort_rows(&blocks[b], tally->place + b * PESS__BLOCK_ROWS, tally->from[b]);
#pragma omp for schedule(dynamic, 1)
            for (int p = -1; p < PESS__TALLY_PARTS; p++) {
                if (p >= 0) {
                    count_part(tally, p, blocks, count);
                } else {
                    for (int64_t b = 0; b < count; b++) find_starts(tally, &blocks[b]);
                }
            }
        }
    }
    bool failed = tally->starts_failed;
    for (int p = 0; p < PESS__TALLY_PARTS; p++) failed |= tally->part[p].failed;
    return failed ? pess__fail(error, PESS_MEMORY, "not enough memory for the counts of the log") : PESS_OK;
}
