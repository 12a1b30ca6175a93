/* Counts with all actions taken as one: those of the process that the logging policy makes. */
#include "model/counts.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

static int compare_states(const void *left, const void *right) {
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* n(s,·,s') = Σ_a n(s,a,s'), ascending in s'. place [S] is −1 everywhere, before and after. */
static void merge_successors(const pess_counts *from, int64_t state, int64_t *place, pess_counts *to) {
    const int64_t first = from->row[state * from->actions], past = from->row[(state + 1) * from->actions];
    const int64_t begin = to->row[state];
    int64_t end = begin;
    for (int64_t i = first; i < past; i++) {
        if (place[from->next[i]] >= 0) continue;
        place[from->next[i]] = end;
        to->next[end++] = from->next[i];
    }
    qsort(to->next + begin, (size_t)(end - begin), sizeof *to->next, compare_states);
    for (int64_t i = begin; i < end; i++) place[to->next[i]] = i;
    for (int64_t i = first; i < past; i++) {
        const int64_t at = place[from->next[i]];
        to->n_next[at] += from->n_next[i];
        to->next_offset[at] += from->next_offset[i];
    }
    for (int64_t i = begin; i < end; i++) place[to->next[i]] = -1;
    to->row[state + 1] = end;
}

static void merge_pairs(const pess_counts *from, int64_t state, pess_counts *to) {
    for (int64_t z = state * from->actions; z < (state + 1) * from->actions; z++) {
        to->n[state] += from->n[z];
        to->n_terminal[state] += from->n_terminal[z];
        to->reward_sum[state] += from->reward_sum[z];
        to->reward_offset[state] += from->reward_offset[z];
        to->reward_square[state] += from->reward_square[z];
    }
    to->n_state[state] = from->n_state[state];
    to->terminal[state] = from->terminal[state];
    to->pairs_seen += to->n[state] > 0;
}

static pess_status fill(const pess_counts *from, int64_t *place, pess_counts *to, pess_error *error) {
    PESS_TRY(pess__counts_allocate(to, from->row[from->states * from->actions], error));
    for (int64_t s = 0; s < from->states; s++) place[s] = -1;
    for (int64_t s = 0; s < from->states; s++) {
        merge_pairs(from, s, to);
        merge_successors(from, s, place, to);
    }
    if (!from->has_starts) return PESS_OK;
    PESS_TRY(pess__allocate(&to->starts, to->states, sizeof *to->starts, "episode starts", error));
    memcpy(to->starts, from->starts, (size_t)to->states * sizeof *to->starts);
    return PESS_OK;
}

pess_status pess__counts_of_states(const pess_counts *from, pess_counts **out, pess_error *error) {
    pess_counts *to = NULL;
    int64_t *place = NULL;
    PESS_TRY(pess__allocate(&to, 1, sizeof *to, "counts", error));
    *to = (pess_counts){.spread = from->spread,
                        .states = from->states,
                        .actions = 1,
                        .states_declared = from->states_declared,
                        .actions_declared = true,
                        .transitions = from->transitions,
                        .terminals = from->terminals,
                        .cutoffs = from->cutoffs,
                        .episodes = from->episodes,
                        .repeated = from->repeated,
                        .reward_min = from->reward_min,
                        .reward_max = from->reward_max,
                        .reward_origin = from->reward_origin,
                        .squares_unknown = from->squares_unknown,
                        .has_episodes = from->has_episodes,
                        .has_starts = from->has_starts,
                        .counted = from->counted};
    pess_status status = pess__allocate(&place, from->states, sizeof *place, "successors", error);
    if (status == PESS_OK) status = fill(from, place, to, error);
    free(place);
    if (status == PESS_OK)
        *out = to;
    else
        pess_counts_destroy(to);
    return status;
}
