#include "data/dataset.h"

#include "core/limits.h"
#include "core/memory.h"
#include "data/format.h"
#include "data/names.h"
#include "data/reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pess_dataset_destroy(pess_dataset *data) {
    if (data == NULL) return;
    free(data->own_end);
    void *const columns[] = {data->state, data->action,  data->next_state, data->reward,
                             data->end,   data->episode, data->step,       data->probability};
    for (size_t i = 0; i < sizeof columns / sizeof *columns && !data->borrowed; i++) free(columns[i]);
    pess_names_destroy(data->state_names);
    pess_names_destroy(data->action_names);
    pess_names_destroy(data->episode_names);
    pess__reading_destroy(data->reading);
    free(data);
}

/* ------------------------------------------------------------------------------------------------ reading */

/* Grows one column to `needed` rows, keeping what it holds. All columns grow together, so the capacity is kept once. */
static pess_status grow_column(void *column, int64_t needed, size_t element, pess_error *error) {
    int64_t capacity = 0;
    return pess__grow(column, &capacity, needed, element, "the log", error);
}

static pess_status grow_columns(pess_dataset *data, const pess__stream *stream, int64_t *capacity, int64_t needed,
                                pess_error *error) {
    if (needed <= *capacity) return PESS_OK;
    const int64_t target = needed > *capacity + *capacity / 2 ? needed : *capacity + *capacity / 2;
    PESS_TRY(grow_column(&data->state, target, sizeof *data->state, error));
    PESS_TRY(grow_column(&data->action, target, sizeof *data->action, error));
    PESS_TRY(grow_column(&data->next_state, target, sizeof *data->next_state, error));
    PESS_TRY(grow_column(&data->reward, target, sizeof *data->reward, error));
    PESS_TRY(grow_column(&data->end, target, sizeof *data->end, error));
    if (stream->has_episode) PESS_TRY(grow_column(&data->episode, target, sizeof *data->episode, error));
    if (stream->has_step) PESS_TRY(grow_column(&data->step, target, sizeof *data->step, error));
    if (stream->has_probability) PESS_TRY(grow_column(&data->probability, target, sizeof *data->probability, error));
    *capacity = target;
    return PESS_OK;
}

static void append(pess_dataset *data, const pess__block *block) {
    const size_t n = (size_t)block->rows;
    const int64_t at = data->rows;
    if (n == 0) return; /* blank lines only: there may be no columns yet */
    memcpy(data->state + at, block->state, n * sizeof *block->state);
    memcpy(data->action + at, block->action, n * sizeof *block->action);
    memcpy(data->next_state + at, block->next_state, n * sizeof *block->next_state);
    memcpy(data->reward + at, block->reward, n * sizeof *block->reward);
    memcpy(data->end + at, block->end, n * sizeof *block->end);
    if (data->episode != NULL) memcpy(data->episode + at, block->episode, n * sizeof *block->episode);
    if (data->step != NULL) memcpy(data->step + at, block->step, n * sizeof *block->step);
    if (data->probability != NULL) memcpy(data->probability + at, block->probability, n * sizeof *block->probability);
    data->rows += block->rows;
}

pess_status pess__dataset_append(pess_dataset *data, const pess__stream *stream, const pess__portion *portion,
                                 int64_t *capacity, pess_error *error) {
    int64_t rows = data->rows;
    for (int64_t i = 0; i < portion->count; i++) rows += portion->blocks[i].rows;
    PESS_TRY(grow_columns(data, stream, capacity, rows, error));
    for (int64_t i = 0; i < portion->count; i++) append(data, &portion->blocks[i]);
    return PESS_OK;
}

static pess_status read_all(pess__stream *stream, pess_dataset *data, pess_error *error) {
    int64_t capacity = 0;
    if (stream->counted != NULL)
        return pess__fail(error, PESS_INPUT,
                          "%s: a counted log, expected one row for each transition: episodes, splits and the order of "
                          "rows are not in counts; give the log that was counted",
                          pess__infile_name(stream->file));
    for (;;) {
        pess__portion portion;
        PESS_TRY(pess__stream_next(stream, &portion, error));
        if (portion.restarted) data->rows = 0;
        if (portion.count == 0) break;
        PESS_TRY(pess__dataset_append(data, stream, &portion, &capacity, error));
    }
    data->states = stream->states;
    data->actions = stream->actions;
    data->states_declared = stream->states_declared;
    data->actions_declared = stream->actions_declared;
    data->state_names = stream->state_names;
    data->action_names = stream->action_names;
    data->episode_names = stream->episode_names;
    data->reading = stream->reading;
    stream->state_names = stream->action_names = stream->episode_names = NULL;
    stream->reading = NULL;
    return PESS_OK;
}

/* Takes over the stream. */
pess_status pess__dataset_collect(pess__stream *stream, pess_dataset **out, pess_error *error) {
    pess_dataset *data = NULL;
    pess_status status = pess__allocate(&data, 1, sizeof *data, "a log", error);
    if (status == PESS_OK) status = read_all(stream, data, error);
    pess__stream_close(stream);
    if (status == PESS_OK)
        *out = data;
    else
        pess_dataset_destroy(data);
    return status;
}

pess_status pess_dataset_read(const char *path, const pess_read_options *options, pess_dataset **out,
                              pess_error *error) {
    pess__stream *stream = NULL;
    PESS_TRY(pess__stream_open(path, options, &stream, error));
    return pess__dataset_collect(stream, out, error);
}

pess_status pess_dataset_read_memory(const char *name, const void *bytes, size_t length,
                                     const pess_read_options *options, pess_dataset **out, pess_error *error) {
    pess__stream *stream = NULL;
    PESS_TRY(pess__stream_open_memory(name, bytes, length, options, &stream, error));
    return pess__dataset_collect(stream, out, error);
}

pess_status pess_dataset_write(const pess_dataset *data, const char *path, const char *format, pess_error *error) {
    if (path == NULL) return pess__fail(error, PESS_ARGUMENT, "no path is given");
    const pess__format *chosen = format != NULL ? pess__format_find(format) : pess__format_of_path(path);
    char known[200];
    if (chosen == NULL && format != NULL) {
        pess__format_names(known, sizeof known);
        return pess__fail(error, PESS_ARGUMENT, "there is no format '%.40s'; there are %s", format, known);
    }
    if (chosen == NULL) {
        pess__format_extensions(known, sizeof known);
        return pess__fail(error, PESS_ARGUMENT, "%s: no format has this ending; expected one of %s", path, known);
    }
    if (chosen->write == NULL)
        return pess__fail(error, PESS_ARGUMENT, "%s: the format %s can be read, not written", path, chosen->info.name);
    return chosen->write(data, path, error);
}

/* ------------------------------------------------------------------------------------------------ from memory */

static pess_status bad_row(int64_t row, pess_error *error, const char *found) {
    return pess__fail(error, PESS_INPUT, "row %lld of the columns: %s", (long long)row, found);
}

/* Ids, rewards, ends and probabilities, row by row. */
static pess_status check_rows(const pess_columns *c, int64_t states, int64_t actions, int64_t *max_state,
                              int64_t *max_action, pess_error *error) {
    for (int64_t i = 0; i < c->rows; i++) {
        const int64_t s = c->state[i] > c->next_state[i] ? c->state[i] : c->next_state[i];
        *max_state = s > *max_state ? s : *max_state;
        *max_action = c->action[i] > *max_action ? c->action[i] : *max_action;
        if (!isfinite(c->reward[i])) return bad_row(i, error, "the reward is not finite");
        if (c->end != NULL && c->end[i] > PESS_END_CUTOFF) return bad_row(i, error, "`end` is not a pess_end");
        if (c->probability != NULL && !(c->probability[i] >= 0 && c->probability[i] <= 1))
            return bad_row(i, error, "the probability is not in [0,1]");
        if ((states > 0 && s >= states) || (actions > 0 && c->action[i] >= actions))
            return pess__fail(error, PESS_INPUT,
                              "row %lld of the columns: found state %lld, action %lld, next state %lld; expected ids "
                              "below %lld states and %lld actions",
                              (long long)i, (long long)c->state[i], (long long)c->action[i],
                              (long long)c->next_state[i], (long long)states, (long long)actions);
    }
    return PESS_OK;
}

/* As many as declared, or as there are names; 0: not known. */
static pess_status named_size(const char *what, const pess_names *names, int64_t *size, pess_error *error) {
    const int64_t named = pess_names_count(names);
    if (named == 0 || *size == named) return PESS_OK;
    if (*size > 0)
        return pess__fail(error, PESS_ARGUMENT, "%lld %s are declared, but %lld are named", (long long)*size, what,
                          (long long)named);
    *size = named;
    return PESS_OK;
}

pess_status pess__columns_check(const pess_columns *c, int64_t *states, int64_t *actions, pess_error *error) {
    if (c->rows < 0 || *states < 0 || *actions < 0)
        return pess__fail(error, PESS_ARGUMENT, "%lld rows, %lld states, %lld actions; expected 0 or more of each",
                          (long long)c->rows, (long long)*states, (long long)*actions);
    if (c->rows > 0 && (c->state == NULL || c->action == NULL || c->next_state == NULL || c->reward == NULL))
        return pess__fail(error, PESS_ARGUMENT, "the columns state, action, reward and next_state are required");
    PESS_TRY(named_size("states", c->state_names, states, error));
    PESS_TRY(named_size("actions", c->action_names, actions, error));
    int64_t max_state = -1, max_action = -1;
    PESS_TRY(check_rows(c, *states, *actions, &max_state, &max_action, error));
    if (*states == 0) *states = max_state + 1;
    if (*actions == 0) *actions = max_action + 1;
    return pess__check_sizes("the columns", *states, *actions, error);
}

static pess_status copy_column(void *to, const void *from, int64_t rows, size_t element, pess_error *error) {
    if (from == NULL) return PESS_OK;
    void *memory = NULL;
    PESS_TRY(pess__allocate(&memory, rows, element, "the log", error));
    if (rows > 0) memcpy(memory, from, (size_t)rows * element);
    memcpy(to, &memory, sizeof memory);
    return PESS_OK;
}

static pess_status copy_columns(pess_dataset *data, const pess_columns *c, pess_error *error) {
    PESS_TRY(copy_column(&data->state, c->state, c->rows, sizeof *c->state, error));
    PESS_TRY(copy_column(&data->action, c->action, c->rows, sizeof *c->action, error));
    PESS_TRY(copy_column(&data->next_state, c->next_state, c->rows, sizeof *c->next_state, error));
    PESS_TRY(copy_column(&data->reward, c->reward, c->rows, sizeof *c->reward, error));
    PESS_TRY(copy_column(&data->end, c->end, c->rows, sizeof *c->end, error));
    PESS_TRY(copy_column(&data->episode, c->episode, c->rows, sizeof *c->episode, error));
    PESS_TRY(copy_column(&data->step, c->step, c->rows, sizeof *c->step, error));
    PESS_TRY(copy_column(&data->probability, c->probability, c->rows, sizeof *c->probability, error));
    if (data->end == NULL) PESS_TRY(pess__allocate(&data->end, c->rows, sizeof *data->end, "the log", error));
    return PESS_OK;
}

static pess_status borrow_columns(pess_dataset *data, const pess_columns *c, pess_error *error) {
    data->borrowed = true;
    data->state = (uint32_t *)c->state;
    data->action = (uint32_t *)c->action;
    data->next_state = (uint32_t *)c->next_state;
    data->reward = (double *)c->reward;
    data->end = (uint8_t *)c->end;
    data->episode = (int64_t *)c->episode;
    data->step = (int64_t *)c->step;
    data->probability = (double *)c->probability;
    if (c->end != NULL) return PESS_OK;
    PESS_TRY(pess__allocate(&data->own_end, c->rows, sizeof *data->own_end, "the log", error));
    data->end = data->own_end;
    return PESS_OK;
}

/* take: copy_columns or borrow_columns. */
static pess_status create(const pess_columns *columns, int64_t states, int64_t actions,
                          pess_status (*take)(pess_dataset *data, const pess_columns *c, pess_error *error),
                          pess_dataset **out, pess_error *error) {
    int64_t found_states = states, found_actions = actions;
    PESS_TRY(pess__columns_check(columns, &found_states, &found_actions, error));
    pess_dataset *data = NULL;
    PESS_TRY(pess__allocate(&data, 1, sizeof *data, "a log", error));
    data->rows = columns->rows;
    data->origin = columns->origin;
    data->states = found_states;
    data->actions = found_actions;
    data->states_declared = states > 0;
    data->actions_declared = actions > 0;
    pess_status status = take(data, columns, error);
    if (status == PESS_OK) status = pess__names_clone(columns->state_names, &data->state_names, error);
    if (status == PESS_OK) status = pess__names_clone(columns->action_names, &data->action_names, error);
    if (status == PESS_OK) status = pess__names_clone(columns->episode_names, &data->episode_names, error);
    if (status != PESS_OK) {
        pess_dataset_destroy(data);
        return status;
    }
    *out = data;
    return PESS_OK;
}

pess_status pess_dataset_create(const pess_columns *columns, int64_t states, int64_t actions, pess_dataset **out,
                                pess_error *error) {
    PESS_TRY(create(columns, states, actions, copy_columns, out, error));
    (*out)->states_declared |= columns->state_names != NULL;
    (*out)->actions_declared |= columns->action_names != NULL;
    return PESS_OK;
}

pess_status pess_dataset_borrow(const pess_columns *columns, int64_t states, int64_t actions, pess_dataset **out,
                                pess_error *error) {
    return create(columns, states, actions, borrow_columns, out, error);
}

static void gather(const pess_dataset *data, const int64_t *row, int64_t count, uint32_t *ids, double *reward,
                   uint8_t *end) {
    for (int64_t i = 0; i < count; i++) {
        ids[i] = data->state[row[i]];
        ids[count + i] = data->action[row[i]];
        ids[2 * count + i] = data->next_state[row[i]];
        reward[i] = data->reward[row[i]];
        end[i] = data->end[row[i]];
    }
}

pess_status pess__dataset_take(const pess_dataset *data, const int64_t *row, int64_t count, const int64_t *episode,
                               pess_dataset **out, pess_error *error) {
    const char *what = "a part of the log";
    const bool own = episode == NULL && data->episode != NULL;
    uint32_t *ids = NULL; /* states, actions, next states */
    double *reward = NULL;
    uint8_t *end = NULL;
    int64_t *theirs = NULL;
    pess_status status = pess__allocate(&ids, 3 * count, sizeof *ids, what, error);
    if (status == PESS_OK) status = pess__allocate(&reward, count, sizeof *reward, what, error);
    if (status == PESS_OK) status = pess__allocate(&end, count, sizeof *end, what, error);
    if (status == PESS_OK && own) status = pess__allocate(&theirs, count, sizeof *theirs, what, error);
    if (status == PESS_OK) gather(data, row, count, ids, reward, end);
    for (int64_t i = 0; status == PESS_OK && own && i < count; i++) theirs[i] = data->episode[row[i]];
    const pess_columns columns = {.rows = count,
                                  .state = ids,
                                  .action = ids + count,
                                  .next_state = ids + 2 * count,
                                  .reward = reward,
                                  .end = end,
                                  .episode = own ? theirs : episode,
                                  .origin = data->origin};
    if (status == PESS_OK) status = pess_dataset_create(&columns, data->states, data->actions, out, error);
    free(ids);
    free(reward);
    free(end);
    free(theirs);
    return status;
}

/* ------------------------------------------------------------------------------------------------ looking */

void pess_dataset_columns(const pess_dataset *data, pess_columns *out) {
    *out = (pess_columns){.rows = data->rows,
                          .state = data->state,
                          .action = data->action,
                          .next_state = data->next_state,
                          .reward = data->reward,
                          .end = data->end,
                          .episode = data->episode,
                          .step = data->step,
                          .probability = data->probability,
                          .state_names = data->state_names,
                          .action_names = data->action_names,
                          .episode_names = data->episode_names,
                          .origin = data->origin};
}

int64_t pess_dataset_states(const pess_dataset *data) { return data->states; }
int64_t pess_dataset_actions(const pess_dataset *data) { return data->actions; }
const pess_reading *pess_dataset_reading(const pess_dataset *data) {
    return data->reading != NULL && data->reading->info.columns > 0 ? data->reading : NULL;
}
const pess_names *pess_dataset_state_names(const pess_dataset *data) { return data->state_names; }
const pess_names *pess_dataset_action_names(const pess_dataset *data) { return data->action_names; }
const pess_names *pess_dataset_episode_names(const pess_dataset *data) { return data->episode_names; }
