/* Measurements: from arrays and from CSV files. */
#include "cells/measurements.h"

#include "core/memory.h"
#include "core/settings.h"
#include "core/text.h"
#include "core/threads.h"
#include "data/frame_text.h"
#include "data/names.h"
#include "data/stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) PESS__FIELD(pess_measurements_options, field)

static const pess_setting settings[] = {
    {"features", 0, PESS_SETTING_TEXT, FIELD(features), NULL, .argument = "A,B,…",
     .sentence = "names of the columns that hold measurements"},
    {"last-row", 0, PESS_SETTING_CHOICE, FIELD(last_row), "marked", .choices = PESS__LAST_ROW_CHOICES,
     .sentence = PESS__LAST_ROW_SENTENCE},
    PESS__THREADS_SETTING(pess_measurements_options),
};
static const pess_setting_table table = PESS__SETTING_TABLE("measurements", pess_measurements_options, settings);
PESS__SETTINGS_OF(measurements, table)

void pess_measurements_destroy(pess_measurements *m) {
    if (m == NULL) return;
    pess__name_list_free(&m->features);
    free(m->values);
    free(m->action);
    free(m->reward);
    free(m->probability);
    free(m->dropped);
    pess__reading_destroy(m->reading);
    free(m->end);
    free(m->episode);
    free(m->step);
    pess_names_destroy(m->action_names);
    pess_names_destroy(m->episode_names);
    free(m);
}

void pess_measurements_columns(const pess_measurements *m, pess_measurement_columns *out) {
    *out = (pess_measurement_columns){.rows = m->rows,
                                      .features = m->features.count,
                                      .names = m->features.names,
                                      .values = m->values,
                                      .action = m->action,
                                      .reward = m->reward,
                                      .probability = m->probability,
                                      .end = m->end,
                                      .episode = m->episode,
                                      .step = m->step};
}

int64_t pess_measurements_episodes(const pess_measurements *m) { return pess_names_count(m->episode_names); }
const pess_names *pess_measurements_episode_names(const pess_measurements *m) { return m->episode_names; }
const pess_names *pess_measurements_action_names(const pess_measurements *m) { return m->action_names; }
const pess_reading *pess_measurements_reading(const pess_measurements *m) { return m->reading; }

/* ---- from arrays */

static pess_status join_names(const pess_measurement_columns *columns, pess__name_list *out, pess_error *error) {
    size_t length = 1;
    for (int64_t f = 0; f < columns->features; f++) length += strlen(columns->names[f]) + 1;
    char *text = NULL;
    PESS_TRY(pess__allocate(&text, (int64_t)length, 1, "names of features", error));
    size_t used = 0;
    for (int64_t f = 0; f < columns->features; f++) {
        const int wrote = snprintf(text + used, length - used, "%s%s", f > 0 ? "," : "", columns->names[f]);
        if (wrote > 0) used += (size_t)wrote;
    }
    pess_status status = pess__name_list_create(text, out, error);
    if (status == PESS_OK && out->count != columns->features)
        status = pess__fail(error, PESS_ARGUMENT, "names: found a comma in a name, expected none");
    free(text);
    return status;
}

static pess_status copy(const void *from, int64_t count, size_t element, void *to, pess_error *error) {
    if (from == NULL) return PESS_OK;
    void *memory = NULL;
    PESS_TRY(pess__allocate(&memory, count, element, "measurements", error));
    if (count > 0) memcpy(memory, from, (size_t)count * element);
    memcpy(to, &memory, sizeof memory);
    return PESS_OK;
}

static pess_status number_episodes(pess_measurements *m, const int64_t *episode, pess_error *error) {
    PESS_TRY(pess__names_create(&m->episode_names, error));
    PESS_TRY(pess__allocate(&m->episode, m->rows, sizeof *m->episode, "episodes", error));
    for (int64_t i = 0; i < m->rows; i++) {
        char name[24];
        const int length = snprintf(name, sizeof name, "%lld", (long long)episode[i]);
        PESS_TRY(pess__names_add(m->episode_names, name, (size_t)length, &m->episode[i], error));
    }
    return PESS_OK;
}

static pess_status check_numbers(const pess_measurements *m, pess_error *error) {
    for (int64_t i = 0; i < m->rows * m->features.count; i++)
        if (isinf(m->values[i]))
            return pess__fail(
                error, PESS_INPUT, "row %lld, feature '%.100s': found %g, expected a finite number or NAN",
                (long long)(i / m->features.count), m->features.names[i % m->features.count], m->values[i]);
    for (int64_t i = 0; m->reward != NULL && i < m->rows; i++)
        if (!isfinite(m->reward[i]))
            return pess__fail(error, PESS_INPUT, "row %lld: found the reward %g, expected a finite number",
                              (long long)i, m->reward[i]);
    for (int64_t i = 0; m->probability != NULL && i < m->rows; i++)
        if (!(m->probability[i] >= 0 && m->probability[i] <= 1))
            return pess__fail(error, PESS_INPUT, "row %lld: found the probability %g, expected one in [0,1]",
                              (long long)i, m->probability[i]);
    return PESS_OK;
}

static pess_status fill_from(pess_measurements *m, const pess_measurement_columns *c, pess_error *error) {
    m->rows = c->rows;
    m->last_row = PESS_LAST_ROW_MARKED;
    m->ends_marked = c->end != NULL;
    PESS_TRY(join_names(c, &m->features, error));
    PESS_TRY(copy(c->values, c->rows * c->features, sizeof *c->values, &m->values, error));
    PESS_TRY(copy(c->action, c->rows, sizeof *c->action, &m->action, error));
    PESS_TRY(copy(c->reward, c->rows, sizeof *c->reward, &m->reward, error));
    PESS_TRY(copy(c->probability, c->rows, sizeof *c->probability, &m->probability, error));
    PESS_TRY(copy(c->end, c->rows, sizeof *c->end, &m->end, error));
    PESS_TRY(copy(c->step, c->rows, sizeof *c->step, &m->step, error));
    if (c->episode != NULL) PESS_TRY(number_episodes(m, c->episode, error));
    return check_numbers(m, error);
}

pess_status pess_measurements_create(const pess_measurement_columns *columns, pess_measurements **out,
                                     pess_error *error) {
    if (columns == NULL || columns->rows < 1 || columns->features < 1 || columns->values == NULL ||
        columns->names == NULL)
        return pess__fail(error, PESS_ARGUMENT, "measurements: expected at least one row, one feature and its name");
    pess_measurements *m = NULL;
    PESS_TRY(pess__allocate(&m, 1, sizeof *m, "measurements", error));
    const pess_status status = fill_from(m, columns, error);
    if (status == PESS_OK)
        *out = m;
    else
        pess_measurements_destroy(m);
    return status;
}

/* ---- from files */

typedef struct collect {
    pess_measurements *m;
    int64_t capacity;
    pess_names *names[PESS__COLUMN_NAMED]; /* of the whole file */
    int64_t *action;                       /* [capacity] by name */
    int64_t *map[PESS__COLUMN_NAMED];      /* scratch: a block's ids to those of the file */
    int64_t map_capacity[PESS__COLUMN_NAMED];
} collect;

static pess_status grow(void *array, int64_t capacity, size_t element, pess_error *error) {
    int64_t none = 0;
    return pess__grow(array, &none, capacity, element, "measurements", error);
}

static pess_status collect_grow(collect *c, const pess__row_reader *r, int64_t rows, pess_error *error) {
    if (rows <= c->capacity) return PESS_OK;
    const int64_t capacity = rows + c->capacity / 2;
    pess_measurements *m = c->m;
    PESS_TRY(grow(&m->values, capacity * r->features, sizeof *m->values, error));
    PESS_TRY(grow(&m->end, capacity, sizeof *m->end, error));
    PESS_TRY(grow(&m->dropped, capacity, sizeof *m->dropped, error));
    if (r->has[PESS__COLUMN_EPISODE]) PESS_TRY(grow(&m->episode, capacity, sizeof *m->episode, error));
    if (r->has[PESS__COLUMN_ACTION]) PESS_TRY(grow(&c->action, capacity, sizeof *c->action, error));
    if (r->has[PESS__COLUMN_REWARD]) PESS_TRY(grow(&m->reward, capacity, sizeof *m->reward, error));
    if (r->has[PESS__COLUMN_PROBABILITY]) PESS_TRY(grow(&m->probability, capacity, sizeof *m->probability, error));
    if (r->has[PESS__COLUMN_STEP]) PESS_TRY(grow(&m->step, capacity, sizeof *m->step, error));
    c->capacity = capacity;
    return PESS_OK;
}

static pess_status map_names(collect *c, const pess__row_block *b, int column, int64_t *to, pess_error *error) {
    if (b->names[column] == NULL) return PESS_OK;
    const int64_t count = pess_names_count(b->names[column]);
    PESS_TRY(pess__grow(&c->map[column], &c->map_capacity[column], count, sizeof *c->map[column], "names", error));
    for (int64_t i = 0; i < count; i++) {
        const char *name = pess_names_get(b->names[column], i);
        PESS_TRY(pess__names_add(c->names[column], name, strlen(name), &c->map[column][i], error));
    }
    for (int64_t i = 0; i < b->rows; i++) to[i] = b->name[column][i] >= 0 ? c->map[column][b->name[column][i]] : -1;
    return PESS_OK;
}

static pess_status add_block(collect *c, const pess__row_reader *r, const pess__row_block *b, pess_error *error) {
    pess_measurements *m = c->m;
    const int64_t at = m->rows;
    const size_t rows = (size_t)b->rows;
    if (b->rows == 0) return PESS_OK;
    PESS_TRY(collect_grow(c, r, at + b->rows, error));
    memcpy(m->values + at * r->features, b->values, rows * (size_t)r->features * sizeof *m->values);
    memcpy(m->end + at, b->end, rows * sizeof *m->end);
    memcpy(m->dropped + at, b->dropped, rows * sizeof *m->dropped);
    if (m->reward != NULL) memcpy(m->reward + at, b->reward, rows * sizeof *m->reward);
    if (m->probability != NULL) memcpy(m->probability + at, b->probability, rows * sizeof *m->probability);
    if (m->step != NULL) memcpy(m->step + at, b->step, rows * sizeof *m->step);
    PESS_TRY(map_names(c, b, PESS__COLUMN_EPISODE, m->episode + (m->episode != NULL ? at : 0), error));
    PESS_TRY(map_names(c, b, PESS__COLUMN_ACTION, c->action + (c->action != NULL ? at : 0), error));
    m->rows += b->rows;
    return PESS_OK;
}

/* Actions that are all integers are their own numbers, as in logs. */
static bool all_integers(const pess_names *names) {
    for (int64_t i = 0; i < pess_names_count(names); i++) {
        const char *name = pess_names_get(names, i);
        int64_t number = 0;
        if (!pess__parse_int64(name, name + strlen(name), &number) || number < 0 || number >= PESS_MAX_ACTIONS)
            return false;
    }
    return true;
}

static pess_status settle_actions(collect *c, pess_error *error) {
    pess_measurements *m = c->m;
    if (c->action == NULL) return PESS_OK;
    pess_names *names = c->names[PESS__COLUMN_ACTION];
    if (pess_names_count(names) > PESS_MAX_ACTIONS)
        return pess__fail(error, PESS_LIMIT, "found %lld different actions, expected at most %lld",
                          (long long)pess_names_count(names), (long long)PESS_MAX_ACTIONS);
    PESS_TRY(pess__allocate(&m->action, m->rows, sizeof *m->action, "actions", error));
    const bool integers = all_integers(names);
    for (int64_t i = 0; i < m->rows; i++)
        if (c->action[i] >= 0) /* else it is dropped */
            m->action[i] = (uint32_t)(integers ? atoll(pess_names_get(names, c->action[i])) : c->action[i]);
    if (integers) return PESS_OK;
    m->action_names = names;
    c->names[PESS__COLUMN_ACTION] = NULL;
    return PESS_OK;
}

static pess_status report(const pess__row_reader *r, const pess_progress *progress, pess_error *error) {
    int64_t done = 0, total = 0;
    pess__infile_position(r->text.file, &done, &total);
    if (progress->report == NULL ||
        progress->report(progress->user, "reading", (double)done / 1e6, (double)total / 1e6, "MB"))
        return PESS_OK;
    return pess__fail(error, PESS_INTERRUPTED, "reading was interrupted");
}

static pess_status collect_rows(collect *c, pess__row_reader *r, const pess_measurements_options *options,
                                pess_error *error) {
    pess_measurements *m = c->m;
    for (int i = 0; i < PESS__COLUMN_NAMED; i++) PESS_TRY(pess__names_create(&c->names[i], error));
    for (int64_t count = 1; count > 0;) {
        PESS_TRY(pess__row_reader_next(r, &count, error));
        for (int64_t i = 0; i < count; i++) PESS_TRY(add_block(c, r, &r->blocks[i], error));
        PESS_TRY(report(r, &options->progress, error));
    }
    if (m->rows == 0)
        return pess__fail(error, PESS_INPUT, "%s: found no rows after the header, expected at least one",
                          pess__infile_name(r->text.file));
    if (r->has[PESS__COLUMN_EPISODE]) {
        m->episode_names = c->names[PESS__COLUMN_EPISODE];
        c->names[PESS__COLUMN_EPISODE] = NULL;
    }
    m->ends_marked = r->has[PESS__COLUMN_TERMINAL] || r->has[PESS__COLUMN_TRUNCATED];
    return settle_actions(c, error);
}

static pess_status read_rows(const char *path, const pess_measurements_options *options, pess_measurements *m,
                             pess_error *error) {
    pess__rows_wanted wanted = {.read = options->read};
    for (int i = 0; i < PESS__COLUMN_COUNT; i++) wanted.columns[i] = i != PESS__COLUMN_STATE;
    pess__infile *file = NULL;
    pess__row_reader reader;
    PESS_TRY(pess__name_list_create(options->features, &m->features, error));
    PESS_TRY(pess__open_table_text(path, options->read, &file, NULL, error));
    wanted.names = m->features.names;
    wanted.features = m->features.count;
    PESS_TRY(pess__row_reader_open(&reader, file, &wanted, pess__threads(options->threads), false, error));
    if (m->last_row == PESS_LAST_ROW_MARKED) m->last_row = reader.reading->options.last_row;
    collect c = {.m = m};
    const pess_status status = collect_rows(&c, &reader, options, error);
    m->reading = reader.reading;
    reader.reading = NULL;
    for (int i = 0; i < PESS__COLUMN_NAMED; i++) {
        pess_names_destroy(c.names[i]);
        free(c.map[i]);
    }
    free(c.action);
    pess__row_reader_close(&reader);
    return status;
}

pess_status pess_measurements_read(const char *path, const pess_measurements_options *options, pess_measurements **out,
                                   pess_error *error) {
    pess_measurements_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    pess_measurements *m = NULL;
    PESS_TRY(pess__allocate(&m, 1, sizeof *m, "measurements", error));
    m->last_row = settled.last_row;
    const pess_status status = read_rows(path, &settled, m, error);
    if (status == PESS_OK)
        *out = m;
    else
        pess_measurements_destroy(m);
    return status;
}
