/* Counts of some rows of a log, and counts less those of a part: the log is counted twice, whatever the number of parts
 * that are left out in turn. */
#include "core/memory.h"
#include "data/dataset.h"
#include "model/counts.h"

#include <assert.h>
#include <stdlib.h>

/* The columns that counts are made of, of some rows. */
typedef struct gathered {
    uint32_t *state, *action, *next_state;
    double *reward;
    uint8_t *end;
} gathered;

static void gathered_free(gathered *g) {
    free(g->state);
    free(g->action);
    free(g->next_state);
    free(g->reward);
    free(g->end);
}

static pess_status gather(const pess_dataset *data, const int64_t *row, int64_t count, gathered *g, pess_error *error) {
    *g = (gathered){0};
    pess_status status = pess__allocate(&g->state, count, sizeof *g->state, "a part of the log", error);
    if (status == PESS_OK) status = pess__allocate(&g->action, count, sizeof *g->action, "a part of the log", error);
    if (status == PESS_OK)
        status = pess__allocate(&g->next_state, count, sizeof *g->next_state, "a part of the log", error);
    if (status == PESS_OK) status = pess__allocate(&g->reward, count, sizeof *g->reward, "a part of the log", error);
    if (status == PESS_OK) status = pess__allocate(&g->end, count, 1, "a part of the log", error);
    for (int64_t i = 0; status == PESS_OK && i < count; i++) {
        g->state[i] = data->state[row[i]];
        g->action[i] = data->action[row[i]];
        g->next_state[i] = data->next_state[row[i]];
        g->reward[i] = data->reward[row[i]];
        g->end[i] = data->end[row[i]];
    }
    if (status != PESS_OK) gathered_free(g);
    return status;
}

pess_status pess__counts_of_rows(const pess_dataset *data, const int64_t *row, int64_t count, int threads,
                                 pess_counts **out, pess_error *error) {
    gathered g;
    PESS_TRY(gather(data, row, count, &g, error));
    const pess_columns columns = {.rows = count,
                                  .state = g.state,
                                  .action = g.action,
                                  .next_state = g.next_state,
                                  .reward = g.reward,
                                  .end = g.end};
    pess_read_options read = pess_read_options_defaults();
    read.states = data->states;
    read.actions = data->actions;
    read.threads = threads;
    const pess_status status = pess_counts_from_columns(&columns, &read, out, error);
    gathered_free(&g);
    return status;
}

/* Sums of a pair relative to the whole's origin o, from those of the part, relative to p:
 * Σ(r−o) = Σ(r−p) + n(p−o) and Σ(r−o)² = Σ(r−p)² + 2(p−o)Σ(r−p) + n(p−o)². */
static void subtract_rewards(const pess_counts *whole, const pess_counts *part, int64_t z, pess_counts *rest) {
    const double n = (double)part->n[z], move = part->reward_origin - whole->reward_origin;
    const double square = part->reward_square[z] + move * (2 * part->reward_offset[z] + n * move);
    rest->reward_sum[z] = rest->n[z] > 0 ? whole->reward_sum[z] - part->reward_sum[z] : 0;
    rest->reward_offset[z] = rest->n[z] > 0 ? whole->reward_offset[z] - (part->reward_offset[z] + n * move) : 0;
    rest->reward_square[z] = rest->n[z] > 0 && whole->reward_square[z] > square ? whole->reward_square[z] - square : 0;
}

/* Successors of a pair: those of the part are among those of the whole. */
static int64_t subtract_successors(const pess_counts *whole, const pess_counts *part, int64_t z, pess_counts *rest,
                                   int64_t used) {
    int64_t p = part->row[z];
    for (int64_t k = whole->row[z]; k < whole->row[z + 1]; k++) {
        int64_t n = whole->n_next[k];
        double offset = whole->next_offset[k];
        if (p < part->row[z + 1] && part->next[p] == whole->next[k]) {
            n -= part->n_next[p];
            offset -= part->next_offset[p] + (double)part->n_next[p] * (part->reward_origin - whole->reward_origin);
            p++;
        }
        assert(n >= 0);
        if (n == 0) continue;
        rest->next[used] = whole->next[k];
        rest->n_next[used] = n;
        rest->next_offset[used++] = offset;
    }
    assert(p == part->row[z + 1]); /* all of the part's were among the whole's */
    return used;
}

static void subtract(const pess_counts *whole, const pess_counts *part, pess_counts *rest) {
    int64_t used = 0;
    rest->transitions = whole->transitions - part->transitions;
    rest->terminals = whole->terminals - part->terminals;
    rest->cutoffs = whole->cutoffs - part->cutoffs;
    for (int64_t s = 0; s < whole->states; s++) {
        rest->n_state[s] = whole->n_state[s] - part->n_state[s];
        rest->terminal[s] = whole->terminal[s];
    }
    for (int64_t z = 0; z < whole->states * whole->actions; z++) {
        rest->n[z] = whole->n[z] - part->n[z];
        rest->n_terminal[z] = whole->n_terminal[z] - part->n_terminal[z];
        assert(rest->n[z] >= rest->n_terminal[z] && rest->n_terminal[z] >= 0);
        rest->pairs_seen += rest->n[z] > 0;
        subtract_rewards(whole, part, z, rest);
        rest->row[z] = used;
        used = subtract_successors(whole, part, z, rest, used);
    }
    rest->row[whole->states * whole->actions] = used;
}

pess_status pess__counts_subtract(const pess_counts *whole, const pess_counts *part, pess_counts **out,
                                  pess_error *error) {
    pess_counts *rest = NULL;
    PESS_TRY(pess__allocate(&rest, 1, sizeof *rest, "counts", error));
    rest->states = whole->states;
    rest->actions = whole->actions;
    rest->states_declared = rest->actions_declared = true;
    rest->reward_min = whole->reward_min;
    rest->reward_max = whole->reward_max;
    rest->reward_origin = whole->reward_origin;
    rest->has_episodes = whole->has_episodes;
    const pess_status status = pess__counts_allocate(rest, whole->row[whole->states * whole->actions], error);
    if (status != PESS_OK) {
        pess_counts_destroy(rest);
        return status;
    }
    subtract(whole, part, rest);
    *out = rest;
    return PESS_OK;
}
