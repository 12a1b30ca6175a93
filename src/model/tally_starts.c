/* Where episodes start: the first row of each, or, in a log without episodes, what follows an end. */
#include "model/tally.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256 };

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
bool pess__note_episode(pess__tally *tally, int64_t episode, int64_t step, uint32_t state) {
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
        *row = (pess__first_row){.episode = episode, .step = step, .state = state, .used = 1, .last = step};
        tally->first_used++;
    } else if (step < row->step) {
        row->step = step;
        row->state = state;
    }
    return true;
}

static void note_step(pess__first_row *row, int64_t step) {
    row->rows++;
    if (step > row->last) row->last = step;
}

int64_t pess__tally_repeated(const pess__tally *tally) {
    int64_t repeated = 0;
    for (int64_t i = 0; i < tally->first_slots; i++) {
        const pess__first_row *row = &tally->first[i];
        const uint64_t steps = (uint64_t)row->last - (uint64_t)row->step; /* one less than there can be */
        if (row->rows > 0 && (uint64_t)(row->rows - 1) > steps) repeated += row->rows - 1 - (int64_t)steps;
    }
    return repeated;
}

bool pess__note_starts(pess__tally *tally, uint32_t state, int64_t count) {
    const int64_t before = tally->starts_capacity;
    if (state >= before) {
        if (pess__grow(&tally->starts, &tally->starts_capacity, (int64_t)state + 1, sizeof *tally->starts,
                       "episode starts", NULL) != PESS_OK)
            return false;
        memset(tally->starts + before, 0, (size_t)(tally->starts_capacity - before) * sizeof *tally->starts);
    }
    tally->starts[state] += count;
    return true;
}

/* Whether a transition of the block ended. */
static bool has_ends(const pess__block *block) {
    uint8_t any = 0;
    for (int64_t i = 0; i < block->rows; i++) any |= block->end[i];
    return any != PESS_END_NONE;
}

void pess__find_starts(pess__tally *tally, const pess__block *block) {
    if (block->episode == NULL && tally->any_row && !tally->previous_ended && !has_ends(block)) return;
    for (int64_t i = 0; i < block->rows && !tally->starts_failed; i++) {
        if (block->episode != NULL) {
            const int64_t step = block->step != NULL ? block->step[i] : 0;
            tally->starts_failed = !pess__note_episode(tally, block->episode[i], step, block->state[i]);
            if (block->step != NULL && !tally->starts_failed) note_step(&tally->first[tally->last_slot], step);
        } else {
            if (!tally->any_row || tally->previous_ended)
                tally->starts_failed = !pess__note_starts(tally, block->state[i], 1);
            tally->any_row = true;
            tally->previous_ended = block->end[i] != PESS_END_NONE;
            tally->any_end |= tally->previous_ended;
        }
    }
}
