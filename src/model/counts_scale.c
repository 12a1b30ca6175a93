/* Counts as a log of another length would have them. */
#include "model/counts.h"

#include "core/memory.h"

#include <math.h>
#include <string.h>

static void scale_integers(int64_t *to, const int64_t *from, int64_t count, double ratio) {
    for (int64_t i = 0; i < count; i++) to[i] = from[i] > 0 ? (int64_t)fmax(1, round((double)from[i] * ratio)) : 0;
}

/* n(s,a) is the sum of what it is made of; sums of rewards grow as it does, so that rounding shifts no mean. */
static void scale_pair(const pess_counts *from, int64_t pair, pess_counts *to) {
    int64_t n = to->n_terminal[pair];
    for (int64_t i = to->row[pair]; i < to->row[pair + 1]; i++) n += to->n_next[i];
    const double share = from->n[pair] > 0 ? (double)n / (double)from->n[pair] : 0;
    to->n[pair] = n;
    to->n_state[pair / to->actions] += n;
    to->transitions += n;
    to->pairs_seen += n > 0;
    to->terminals += to->n_terminal[pair];
    to->reward_sum[pair] = from->reward_sum[pair] * share;
    to->reward_offset[pair] = from->reward_offset[pair] * share;
    to->reward_square[pair] = from->reward_square[pair] * share;
    for (int64_t i = to->row[pair]; i < to->row[pair + 1]; i++) to->next_offset[i] = from->next_offset[i] * share;
}

pess_status pess__counts_scale(const pess_counts *counts, double ratio, pess_counts **out, pess_error *error) {
    const int64_t pairs = counts->states * counts->actions, successors = counts->row[pairs];
    pess_counts *c;
    PESS_TRY(pess__allocate(&c, 1, sizeof *c, "imagined counts", error));
    *c = (pess_counts){.states = counts->states,
                       .actions = counts->actions,
                       .reward_origin = counts->reward_origin,
                       .reward_min = counts->reward_min,
                       .reward_max = counts->reward_max};
    const pess_status status = pess__counts_allocate(c, successors, error);
    if (status != PESS_OK) {
        pess_counts_destroy(c);
        return status;
    }
    scale_integers(c->n_terminal, counts->n_terminal, pairs, ratio);
    scale_integers(c->n_next, counts->n_next, successors, ratio);
    memcpy(c->row, counts->row, (size_t)(pairs + 1) * sizeof *c->row);
    if (successors > 0) memcpy(c->next, counts->next, (size_t)successors * sizeof *c->next);
    memcpy(c->terminal, counts->terminal, (size_t)c->states * sizeof *c->terminal);
    for (int64_t pair = 0; pair < pairs; pair++) scale_pair(counts, pair, c);
    *out = c;
    return PESS_OK;
}
