/* A log of measurements as a log of cells. */
#include "cells/map.h"

#include "core/memory.h"
#include "data/dataset.h"
#include "data/names.h"

#include <stdlib.h>
#include <string.h>

typedef struct place {
    int64_t episode, step, row;
} place;

static int compare(const void *left, const void *right) {
    const place *a = left, *b = right;
    if (a->episode != b->episode) return a->episode < b->episode ? -1 : 1;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Rows by episode, then by step, else by order. */
static pess_status order_rows(const pess_measurements *m, place **out, pess_error *error) {
    place *order = NULL;
    PESS_TRY(pess__allocate(&order, m->rows, sizeof *order, "the order of rows", error));
    for (int64_t i = 0; i < m->rows; i++)
        order[i] = (place){m->episode != NULL ? m->episode[i] : 0, m->step != NULL ? m->step[i] : i, i};
    qsort(order, (size_t)m->rows, sizeof *order, compare);
    *out = order;
    return PESS_OK;
}

pess_status pess__next_rows(const pess_measurements *m, int64_t **out, pess_error *error) {
    int64_t *next = NULL;
    place *order = NULL;
    PESS_TRY(pess__allocate(&next, m->rows, sizeof *next, "the order of rows", error));
    const pess_status status = order_rows(m, &order, error);
    if (status != PESS_OK) {
        free(next);
        return status;
    }
    for (int64_t i = 0; i < m->rows; i++) {
        const bool follows = m->episode != NULL && i + 1 < m->rows && order[i + 1].episode == order[i].episode &&
                             (m->end == NULL || m->end[order[i].row] != PESS_END_TERMINAL);
        next[order[i].row] = follows ? order[i + 1].row : -1;
    }
    free(order);
    *out = next;
    return PESS_OK;
}

static pess_status check_columns(const pess_measurements *m, pess_error *error) {
    const char *missing = m->action == NULL ? "action" : m->reward == NULL ? "reward" : NULL;
    if (m->episode == NULL) missing = "episode";
    if (missing != NULL)
        return pess__fail(error, PESS_INPUT,
                          "found no column '%s', expected one: a log of cells is made of episode, action and reward",
                          missing);
    if (m->ends_marked || m->last_row != PESS_LAST_ROW_MARKED) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "last-row: not set, and the log has no column 'terminal' or 'truncated'; expected terminal or "
                      "cutoff: how the last row of an episode ends");
}

/* The rows of the log, in order. */
typedef struct rows {
    uint32_t *state, *action, *next_state;
    double *reward;
    uint8_t *end;
    double *probability; /* or NULL */
    int64_t *episode, *step;
    int64_t count;
    int64_t shared; /* episodes among them that made the cells */
} rows;

static void rows_free(rows *r) {
    free(r->state);
    free(r->action);
    free(r->next_state);
    free(r->reward);
    free(r->probability);
    free(r->end);
    free(r->episode);
    free(r->step);
}

static pess_status rows_create(int64_t count, bool probabilities, rows *r, pess_error *error) {
    const char *what = "the log of cells";
    PESS_TRY(pess__allocate(&r->state, count, sizeof *r->state, what, error));
    PESS_TRY(pess__allocate(&r->action, count, sizeof *r->action, what, error));
    PESS_TRY(pess__allocate(&r->next_state, count, sizeof *r->next_state, what, error));
    PESS_TRY(pess__allocate(&r->reward, count, sizeof *r->reward, what, error));
    if (probabilities) PESS_TRY(pess__allocate(&r->probability, count, sizeof *r->probability, what, error));
    PESS_TRY(pess__allocate(&r->end, count, sizeof *r->end, what, error));
    PESS_TRY(pess__allocate(&r->episode, count, sizeof *r->episode, what, error));
    return pess__allocate(&r->step, count, sizeof *r->step, what, error);
}

static void add_row(rows *r, const pess_measurements *m, int64_t row, uint32_t cell, uint32_t next, pess_end end,
                    int64_t step) {
    const int64_t i = r->count++;
    r->state[i] = cell;
    r->action[i] = m->action[row];
    r->next_state[i] = next;
    r->reward[i] = m->reward[row];
    if (r->probability != NULL) r->probability[i] = m->probability[row];
    r->end[i] = (uint8_t)end;
    r->episode[i] = m->episode[row];
    r->step[i] = step;
}

/* How the last row of an episode ends. */
static pess_end last_end(const pess_measurements *m, int64_t row) {
    if (m->end != NULL && m->end[row] == PESS_END_TERMINAL) return PESS_END_TERMINAL;
    if (m->end != NULL && m->end[row] == PESS_END_CUTOFF) return PESS_END_CUTOFF;
    return m->last_row == PESS_LAST_ROW_TERMINAL ? PESS_END_TERMINAL : PESS_END_CUTOFF;
}

/* One episode: rows order[from, to). */
static void add_episode(rows *r, const pess_measurements *m, const place *order, int64_t from, int64_t to,
                        const uint32_t *cell) {
    const int64_t first = r->count;
    for (int64_t i = from; i < to; i++) {
        const int64_t row = order[i].row;
        const bool last = i + 1 == to;
        const pess_end end = last ? last_end(m, row) : m->end != NULL ? (pess_end)m->end[row] : PESS_END_NONE;
        if (m->dropped != NULL && m->dropped[row]) continue;
        if (end == PESS_END_TERMINAL)
            add_row(r, m, row, cell[row], cell[row], end, i - from);
        else if (!last)
            add_row(r, m, row, cell[row], cell[order[i + 1].row], end, i - from);
        else if (r->count > first && r->end[r->count - 1] == PESS_END_NONE)
            r->end[r->count - 1] = PESS_END_CUTOFF;
    }
}

static pess_status collect(const pess_map *map, const pess_measurements *m, pess_part part, const uint32_t *cell,
                           rows *r, pess_error *error) {
    place *order = NULL;
    PESS_TRY(order_rows(m, &order, error));
    for (int64_t from = 0, to; from < m->rows; from = to) {
        for (to = from; to < m->rows && order[to].episode == order[from].episode;) to++;
        const char *name = pess_names_get(m->episode_names, order[from].episode);
        const bool makes = pess_map_made_of(map, name);
        if (part != PESS_PART_ALL && makes != (part == PESS_PART_MAKING)) continue;
        add_episode(r, m, order, from, to, cell);
        r->shared += makes;
    }
    free(order);
    if (r->count > 0) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "found no row with a next one in the episodes that %s, expected some",
                      part == PESS_PART_HELD_OUT ? "did not make the cells" : "are asked for");
}

static pess_status to_dataset(const pess_map *map, const pess_measurements *m, const rows *r, pess_dataset **out,
                              pess_error *error) {
    const pess_columns columns = {.rows = r->count,
                                  .state = r->state,
                                  .action = r->action,
                                  .next_state = r->next_state,
                                  .reward = r->reward,
                                  .end = r->end,
                                  .probability = r->probability,
                                  .episode = r->episode,
                                  .step = r->step,
                                  .origin = {true, map->episodes, r->shared}};
    int64_t actions = 0;
    for (int64_t i = 0; i < m->rows; i++) actions = m->action[i] >= actions ? (int64_t)m->action[i] + 1 : actions;
    pess_dataset *data = NULL;
    PESS_TRY(pess_dataset_create(&columns, map->cells, actions, &data, error));
    pess_status status = pess__names_clone(m->action_names, &data->action_names, error);
    if (status == PESS_OK) status = pess__names_clone(m->episode_names, &data->episode_names, error);
    if (status == PESS_OK) data->reading = pess__reading_share(m->reading);
    if (status == PESS_OK)
        *out = data;
    else
        pess_dataset_destroy(data);
    return status;
}

pess_status pess_map_log(const pess_map *map, const pess_measurements *m, pess_part part, int threads,
                         pess_dataset **out, pess_error *error) {
    uint32_t *cell = NULL;
    rows r = {0};
    PESS_TRY(check_columns(m, error));
    pess_status status = pess__allocate(&cell, m->rows, sizeof *cell, "the cells of the log", error);
    if (status == PESS_OK) status = pess_map_apply(map, m, threads, cell, NULL, error);
    if (status == PESS_OK) status = rows_create(m->rows, m->probability != NULL, &r, error);
    if (status == PESS_OK) status = collect(map, m, part, cell, &r, error);
    if (status == PESS_OK) status = to_dataset(map, m, &r, out, error);
    rows_free(&r);
    free(cell);
    return status;
}
