#include "model/counts.h"

#include "core/memory.h"
#include "core/threads.h"
#include "data/arrow.h"
#include "data/dataset.h"
#include "data/names.h"
#include "data/reading.h"
#include "model/spread.h"
#include "model/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pess_counts_destroy(pess_counts *counts) {
    if (counts == NULL) return;
    pess_names_destroy(counts->state_names);
    pess_names_destroy(counts->action_names);
    pess__reading_destroy(counts->reading);
    free(counts->n);
    free(counts->n_state);
    free(counts->n_terminal);
    free(counts->reward_sum);
    free(counts->reward_offset);
    free(counts->reward_square);
    pess__successors_disown(counts->successors);
    free(counts->n_next);
    free(counts->next_offset);
    free(counts->starts);
    free(counts->terminal);
    free(counts);
}

pess_status pess__counts_allocate(pess_counts *c, int64_t successors, pess_error *error) {
    const int64_t pairs = c->states * c->actions;
    PESS_TRY(pess__allocate(&c->n, pairs, sizeof *c->n, "counts of pairs", error));
    PESS_TRY(pess__allocate(&c->n_state, c->states, sizeof *c->n_state, "counts of states", error));
    PESS_TRY(pess__allocate(&c->n_terminal, pairs, sizeof *c->n_terminal, "counts of pairs", error));
    PESS_TRY(pess__allocate(&c->reward_sum, pairs, sizeof *c->reward_sum, "rewards of pairs", error));
    PESS_TRY(pess__allocate(&c->reward_offset, pairs, sizeof *c->reward_offset, "rewards of pairs", error));
    PESS_TRY(pess__allocate(&c->reward_square, pairs, sizeof *c->reward_square, "rewards of pairs", error));
    PESS_TRY(pess__successors_create(pairs, successors, &c->successors, error));
    c->row = c->successors->row;
    c->next = c->successors->next;
    PESS_TRY(pess__allocate(&c->n_next, successors, sizeof *c->n_next, "successors", error));
    PESS_TRY(pess__allocate(&c->next_offset, successors, sizeof *c->next_offset, "successors", error));
    return pess__allocate(&c->terminal, c->states, sizeof *c->terminal, "terminal states", error);
}

pess_status pess__counts_need_squares(const pess_counts *counts, pess_error *error) {
    if (!counts->squares_unknown) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "the variance of rewards is asked for, and the counted log has no column 'reward_square_sum'");
}

void pess__counts_keep_pairs(pess_counts *c) {
    free(c->n_terminal);
    free(c->reward_sum);
    free(c->reward_offset);
    free(c->reward_square);
    free(c->n_next);
    free(c->next_offset);
    c->n_terminal = c->n_next = NULL;
    c->reward_sum = c->reward_offset = c->reward_square = c->next_offset = NULL;
    c->pairs_alone = true;
}

pess_status pess__counts_need_all(const pess_counts *counts, pess_error *error) {
    if (!counts->pairs_alone) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT,
                      "only n(s,a) and the successors are left of the counts, as another algorithm needs no more: read "
                      "the log again");
}

static pess_status set_starts(pess_counts *c, const pess__tally *tally, pess_error *error) {
    c->has_starts = c->has_episodes ? tally->first_used > 0 : tally->any_end;
    if (!c->has_starts) return PESS_OK;
    PESS_TRY(pess__allocate(&c->starts, c->states, sizeof *c->starts, "episode starts", error));
    if (c->has_episodes) {
        c->episodes = tally->first_used;
        for (int64_t i = 0; i < tally->first_slots; i++)
            if (tally->first[i].used) c->starts[tally->first[i].state]++;
    } else {
        const int64_t known = tally->starts_capacity < c->states ? tally->starts_capacity : c->states;
        for (int64_t s = 0; s < known; s++) c->starts[s] = tally->starts[s];
    }
    return PESS_OK;
}

/* Sizes, names and flags are set; takes the rest from the tally. */
static pess_status finish(pess_counts *c, pess__tally *tally, pess_error *error) {
    c->threads = tally->threads;
    c->transitions = tally->rows;
    c->terminals = tally->terminals;
    c->cutoffs = tally->cutoffs;
    c->repeated = pess__tally_repeated(tally);
    c->reward_min = tally->no_range ? NAN : tally->rows > 0 ? tally->reward_min : 0;
    c->reward_max = tally->no_range ? NAN : tally->rows > 0 ? tally->reward_max : 0;
    c->squares_unknown = tally->no_squares;
    PESS_TRY(pess__counts_fill(c, tally, error));
    return set_starts(c, tally, error);
}

/* ------------------------------------------------------------------------------------------------ two sources */

static pess_status read_counts(pess__stream *stream, pess_counts *c, pess_error *error) {
    pess__tally tally;
    pess__tally_begin(&tally, stream->threads);
    pess_status status = pess__tally_read(&tally, stream, error);
    if (status == PESS_OK) {
        c->states = stream->states;
        c->actions = stream->actions;
        c->states_declared = stream->states_declared;
        c->actions_declared = stream->actions_declared;
        c->has_episodes = stream->has_episode;
        c->counted = stream->counted != NULL;
        c->state_names = stream->state_names;
        c->action_names = stream->action_names;
        c->reading = stream->reading;
        stream->state_names = stream->action_names = NULL;
        stream->reading = NULL;
        status = finish(c, &tally, error);
    }
    pess__tally_free(&tally);
    return status;
}

/* Closes the stream. */
static pess_status collect(pess__stream *stream, pess_counts **out, pess_error *error) {
    pess_counts *c = NULL;
    pess_status status = pess__allocate(&c, 1, sizeof *c, "counts", error);
    if (status == PESS_OK) status = read_counts(stream, c, error);
    pess__stream_close(stream);
    if (status == PESS_OK)
        *out = c;
    else
        pess_counts_destroy(c);
    return status;
}

pess_status pess_counts_read(const char *path, const pess_read_options *options, pess_counts **out, pess_error *error) {
    pess__stream *stream = NULL;
    PESS_TRY(pess__stream_open(path, options, &stream, error));
    return collect(stream, out, error);
}

pess_status pess_log_read(const char *path, const pess_read_options *options, pess_dataset **data, pess_counts **counts,
                          pess_error *error) {
    pess__stream *stream = NULL;
    *data = NULL;
    *counts = NULL;
    PESS_TRY(pess__stream_open(path, options, &stream, error));
    return stream->counted != NULL ? collect(stream, counts, error) : pess__dataset_collect(stream, data, error);
}

bool pess_counts_file(const char *path, const pess_read_options *options) {
    pess__stream *stream = NULL;
    if (strcmp(path, "-") == 0 || pess__stream_open(path, options, &stream, NULL) != PESS_OK) return false;
    const bool counted = stream->counted != NULL;
    pess__stream_close(stream);
    return counted;
}

pess_status pess_counts_read_memory(const char *name, const void *bytes, size_t length,
                                    const pess_read_options *options, pess_counts **out, pess_error *error) {
    pess__stream *stream = NULL;
    PESS_TRY(pess__stream_open_memory(name, bytes, length, options, &stream, error));
    return collect(stream, out, error);
}

pess_status pess_counts_read_arrow(const char *name, struct ArrowArrayStream *arrow, const pess_read_options *options,
                                   pess_counts **out, pess_error *error) {
    pess__stream *stream = NULL;
    PESS_TRY(pess__arrow_stream(name, arrow, options, &stream, error));
    return collect(stream, out, error);
}

/* Columns in memory, checked. */
typedef struct source {
    pess_columns columns;
    int64_t states, actions;
    bool states_declared, actions_declared;
} source;

/* Views of the columns as blocks, a few at a time; the tally only reads them. */
static pess_status tally_columns(const source *from, pess__tally *tally, pess_error *error) {
    enum { BLOCKS = 16 };
    static const uint8_t no_ends[PESS__BLOCK_ROWS] = {PESS_END_NONE};
    const pess_columns *c = &from->columns;
    pess__block blocks[BLOCKS];
    for (int64_t at = 0; at < c->rows;) {
        int64_t count = 0;
        for (; count < BLOCKS && at < c->rows; count++) {
            const int64_t rows = c->rows - at < PESS__BLOCK_ROWS ? c->rows - at : PESS__BLOCK_ROWS;
            blocks[count] = (pess__block){.rows = rows,
                                          .state = (uint32_t *)c->state + at,
                                          .action = (uint32_t *)c->action + at,
                                          .next_state = (uint32_t *)c->next_state + at,
                                          .reward = (double *)c->reward + at,
                                          .end = c->end != NULL ? (uint8_t *)c->end + at : (uint8_t *)no_ends,
                                          .episode = c->episode != NULL ? (int64_t *)c->episode + at : NULL,
                                          .step = c->step != NULL ? (int64_t *)c->step + at : NULL,
                                          .max_state = (uint32_t)from->states - 1,
                                          .max_action = (uint32_t)from->actions - 1};
            at += rows;
        }
        PESS_TRY(pess__tally_add(tally, blocks, count, error));
    }
    return PESS_OK;
}

static pess_status count_columns(const source *from, int threads, pess_counts *c, pess_error *error) {
    pess__tally tally;
    pess__tally_begin(&tally, pess__threads(threads));
    pess_status status = tally_columns(from, &tally, error);
    c->states = from->states;
    c->actions = from->actions;
    c->states_declared = from->states_declared;
    c->actions_declared = from->actions_declared;
    c->has_episodes = from->columns.episode != NULL;
    if (status == PESS_OK) status = pess__names_clone(from->columns.state_names, &c->state_names, error);
    if (status == PESS_OK) status = pess__names_clone(from->columns.action_names, &c->action_names, error);
    if (status == PESS_OK) status = finish(c, &tally, error);
    pess__tally_free(&tally);
    return status;
}

static pess_status create(const source *from, int threads, pess_counts **out, pess_error *error) {
    pess_counts *c = NULL;
    PESS_TRY(pess__allocate(&c, 1, sizeof *c, "counts", error));
    const pess_status status = count_columns(from, threads, c, error);
    if (status == PESS_OK)
        *out = c;
    else
        pess_counts_destroy(c);
    return status;
}

pess_status pess_counts_create(const pess_dataset *data, int threads, pess_counts **out, pess_error *error) {
    source from = {.states = data->states,
                   .actions = data->actions,
                   .states_declared = data->states_declared,
                   .actions_declared = data->actions_declared};
    pess_dataset_columns(data, &from.columns);
    return create(&from, threads, out, error);
}

pess_status pess_counts_from_columns(const pess_columns *columns, const pess_read_options *options, pess_counts **out,
                                     pess_error *error) {
    pess_read_options settled;
    PESS_TRY(pess__read_settle(options, &settled, error));
    source from = {.columns = *columns,
                   .states = settled.states,
                   .actions = settled.actions,
                   .states_declared = settled.states > 0 || columns->state_names != NULL,
                   .actions_declared = settled.actions > 0 || columns->action_names != NULL};
    PESS_TRY(pess__columns_check(columns, &from.states, &from.actions, error));
    return create(&from, settled.threads, out, error);
}

/* ------------------------------------------------------------------------------------------------ looking */

const pess_reading *pess_counts_reading(const pess_counts *counts) {
    return counts->reading != NULL && counts->reading->info.columns > 0 ? counts->reading : NULL;
}

void pess_counts_get_info(const pess_counts *counts, pess_counts_info *out) {
    if (counts->spread != NULL) {
        *out = counts->spread->info;
        return;
    }
    *out = (pess_counts_info){.states = counts->states,
                              .actions = counts->actions,
                              .states_declared = counts->states_declared,
                              .actions_declared = counts->actions_declared,
                              .transitions = counts->transitions,
                              .terminals = counts->terminals,
                              .cutoffs = counts->cutoffs,
                              .episodes = counts->episodes,
                              .pairs_seen = counts->pairs_seen,
                              .successors = counts->row[counts->states * counts->actions],
                              .reward_min = counts->reward_min,
                              .reward_max = counts->reward_max,
                              .has_episodes = counts->has_episodes,
                              .has_starts = counts->has_starts,
                              .has_squares = !counts->squares_unknown};
}

void pess_counts_get_arrays(const pess_counts *counts, pess_counts_arrays *out) {
    *out = (pess_counts_arrays){.states = counts->states,
                                .actions = counts->actions,
                                .successors = counts->row[counts->states * counts->actions],
                                .pair = counts->n,
                                .state = counts->n_state,
                                .terminal = counts->n_terminal,
                                .reward_sum = counts->reward_sum,
                                .reward_origin = counts->reward_origin,
                                .reward_offset = counts->reward_offset,
                                .reward_square = counts->reward_square,
                                .row = counts->row,
                                .next = counts->next,
                                .next_count = counts->n_next,
                                .next_offset = counts->next_offset,
                                .starts = counts->starts};
}

const pess_names *pess_counts_state_names(const pess_counts *counts) { return counts->state_names; }
const pess_names *pess_counts_action_names(const pess_counts *counts) { return counts->action_names; }

int64_t pess_counts_pair(const pess_counts *counts, int64_t state, int64_t action) {
    return counts->n[state * counts->actions + action];
}

int64_t pess_counts_state(const pess_counts *counts, int64_t state) { return counts->n_state[state]; }

double pess_counts_mean_reward(const pess_counts *counts, int64_t state, int64_t action) {
    const int64_t z = state * counts->actions + action;
    if (counts->pairs_alone) return NAN;
    return counts->n[z] > 0 ? counts->reward_sum[z] / (double)counts->n[z] : 0;
}
