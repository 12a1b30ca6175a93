/* Folds of the episodes and their counts. The counts of all folds but one are those of the whole log less those of the
 * one: the log is counted twice, whatever the number of folds. */
#include "choose/choose.h"

#include "core/memory.h"
#include "core/rng.h"

#include <stdlib.h>
#include <string.h>

/* A permutation of 0 … count−1 (Fisher & Yates). */
static void shuffle(int64_t *order, int64_t count, uint64_t seed) {
    pess__rng rng = pess__rng_stream(seed, "folds", 0);
    for (int64_t i = 0; i < count; i++) order[i] = i;
    for (int64_t i = count - 1; i > 0; i--) {
        const int64_t j = (int64_t)pess__rng_below(&rng, (uint64_t)i + 1), keep = order[i];
        order[i] = order[j];
        order[j] = keep;
    }
}

/* Rows as episodes of one step. */
static pess_status single_rows(const pess_dataset *data, pess__trajectories **out, pess_error *error) {
    pess__trajectories *t = NULL;
    PESS_TRY(pess__allocate(&t, 1, sizeof *t, "the folds", error));
    t->count = data->rows;
    pess_status status = pess__allocate(&t->begin, t->count + 1, sizeof *t->begin, "the folds", error);
    if (status == PESS_OK) status = pess__allocate(&t->row, data->rows, sizeof *t->row, "the folds", error);
    for (int64_t i = 0; status == PESS_OK && i < data->rows; i++) t->begin[i + 1] = (t->row[i] = i) + 1;
    if (status == PESS_OK)
        *out = t;
    else
        pess__trajectories_destroy(t);
    return status;
}

/* Fold k gets episodes order[first[k]] … order[first[k+1]−1], in ascending order: rows stay in the order of the log. */
static pess_status deal(pess__folds *folds, const pess__trajectories *from, uint64_t seed, pess_error *error) {
    int64_t *order = NULL, *fold_of = NULL, at = 0, e = 0;
    pess_status status = pess__allocate(&order, from->count, sizeof *order, "the folds", error);
    if (status == PESS_OK) status = pess__allocate(&fold_of, from->count, sizeof *fold_of, "the folds", error);
    if (status == PESS_OK) {
        shuffle(order, from->count, seed);
        for (int64_t i = 0; i < from->count; i++) fold_of[order[i]] = i % folds->count;
        for (int64_t k = 0; k < folds->count; k++) {
            folds->first[k] = e;
            for (int64_t i = 0; i < from->count; i++) {
                if (fold_of[i] != k) continue;
                folds->episodes.begin[e++] = at;
                for (int64_t r = from->begin[i]; r < from->begin[i + 1]; r++) folds->episodes.row[at++] = from->row[r];
            }
        }
        folds->first[folds->count] = e;
        folds->episodes.begin[e] = at;
    }
    free(order);
    free(fold_of);
    return status;
}

static pess_status fill(pess__folds *folds, uint64_t seed, int threads, pess_error *error) {
    const pess_dataset *data = folds->data;
    pess__trajectories *from = NULL;
    PESS_TRY(data->episode != NULL ? pess__trajectories_create(data, &from, error) : single_rows(data, &from, error));
    const int64_t count = folds->episodes.count = from->count;
    pess_status status = PESS_OK;
    if (count < folds->count)
        status = pess__fail(error, PESS_ARGUMENT, "%lld folds need as many %s; the log has %lld",
                            (long long)folds->count, data->episode != NULL ? "episodes" : "rows", (long long)count);
    if (status == PESS_OK)
        status = pess__allocate(&folds->episodes.begin, count + 1, sizeof(int64_t), "the folds", error);
    if (status == PESS_OK)
        status = pess__allocate(&folds->episodes.row, data->rows, sizeof(int64_t), "the folds", error);
    if (status == PESS_OK)
        status = pess__allocate(&folds->first, folds->count + 1, sizeof(int64_t), "the folds", error);
    if (status == PESS_OK) status = deal(folds, from, seed, error);
    pess__trajectories_destroy(from);
    if (status == PESS_OK) status = pess_counts_create(data, threads, &folds->whole, error);
    return status;
}

pess_status pess__folds_create(const pess_dataset *data, int64_t count, uint64_t seed, int threads, pess__folds *out,
                               pess_error *error) {
    *out = (pess__folds){.data = data, .count = count};
    const pess_status status = fill(out, seed, threads, error);
    if (status != PESS_OK) pess__folds_release(out);
    return status;
}

void pess__folds_release(pess__folds *folds) {
    free(folds->episodes.begin);
    free(folds->episodes.row);
    free(folds->first);
    pess_counts_destroy(folds->whole);
    *folds = (pess__folds){0};
}

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
    pess_status status = pess__allocate(&g->state, count, sizeof *g->state, "a fold", error);
    if (status == PESS_OK) status = pess__allocate(&g->action, count, sizeof *g->action, "a fold", error);
    if (status == PESS_OK) status = pess__allocate(&g->next_state, count, sizeof *g->next_state, "a fold", error);
    if (status == PESS_OK) status = pess__allocate(&g->reward, count, sizeof *g->reward, "a fold", error);
    if (status == PESS_OK) status = pess__allocate(&g->end, count, 1, "a fold", error);
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

pess_status pess__folds_part(const pess__folds *folds, int64_t fold, int threads, pess_counts **out,
                             pess_error *error) {
    const int64_t from = folds->episodes.begin[folds->first[fold]];
    const int64_t rows = folds->episodes.begin[folds->first[fold + 1]] - from;
    gathered g;
    PESS_TRY(gather(folds->data, folds->episodes.row + from, rows, &g, error));
    const pess_columns columns = {.rows = rows,
                                  .state = g.state,
                                  .action = g.action,
                                  .next_state = g.next_state,
                                  .reward = g.reward,
                                  .end = g.end};
    pess_read_options read = pess_read_options_defaults();
    read.states = folds->whole->states;
    read.actions = folds->whole->actions;
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
        if (n == 0) continue;
        rest->next[used] = whole->next[k];
        rest->n_next[used] = n;
        rest->next_offset[used++] = offset;
    }
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
