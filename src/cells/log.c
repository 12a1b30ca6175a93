/* A log of measurements as a log of cells. */
#include "cells/map.h"

#include "core/memory.h"
#include "data/names.h"
#include "data/next_rows.h"
#include "data/order.h"

#include <stdlib.h>
#include <string.h>

pess_status pess__next_rows(const pess_measurements *m, int64_t **out, pess_error *error) {
    int64_t *next = NULL, *order = NULL;
    pess_status status = pess__allocate(&next, m->rows, sizeof *next, "the order of rows", error);
    if (status == PESS_OK) status = pess__allocate(&order, m->rows, sizeof *order, "the order of rows", error);
    if (status == PESS_OK) status = pess__order_episodes(m->episode, m->step, m->rows, order, error);
    for (int64_t i = 0; i < m->rows && status == PESS_OK; i++) {
        const bool follows = m->episode != NULL && i + 1 < m->rows &&
                             m->episode[order[i + 1]] == m->episode[order[i]] &&
                             (m->end == NULL || m->end[order[i]] != PESS_END_TERMINAL);
        next[order[i]] = follows ? order[i + 1] : -1;
    }
    free(order);
    if (status == PESS_OK)
        *out = next;
    else
        free(next);
    return status;
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

/* What the rows of the measurements lead to. */
typedef struct links {
    int64_t *order; /* rows by episode and step */
    uint8_t *end;
    uint32_t *next; /* cell */
    bool *left_out;
} links;

static void links_free(links *l) {
    free(l->order);
    free(l->end);
    free(l->next);
    free(l->left_out);
}

/* As in any log without next states, the states being cells; a row that was dropped still has its cell. */
static pess_status find_links(const pess_measurements *m, const uint32_t *cell, links *l, pess_error *error) {
    const char *what = "the order of rows";
    PESS_TRY(pess__allocate(&l->order, m->rows, sizeof *l->order, what, error));
    PESS_TRY(pess__allocate(&l->end, m->rows, sizeof *l->end, what, error));
    PESS_TRY(pess__allocate(&l->next, m->rows, sizeof *l->next, what, error));
    PESS_TRY(pess__allocate(&l->left_out, m->rows, sizeof *l->left_out, what, error));
    PESS_TRY(pess__order_episodes(m->episode, m->step, m->rows, l->order, error));
    for (int64_t i = 0; i < m->rows; i++) {
        l->end[i] = m->end != NULL ? m->end[i] : PESS_END_NONE;
        if (m->dropped != NULL && m->dropped[i]) l->end[i] = PESS__END_GAP_STATE;
    }
    pess__link_rows(&(pess__linked_rows){.rows = m->rows,
                                         .episode = m->episode,
                                         .state = cell,
                                         .last_row = (pess_last_row)m->last_row,
                                         .end = l->end,
                                         .next_state = l->next,
                                         .left_out = l->left_out},
                    l->order);
    return PESS_OK;
}

static void add_row(rows *r, const pess_measurements *m, const links *l, int64_t row, uint32_t cell, int64_t step) {
    if (l->left_out[row]) return;
    const int64_t i = r->count++;
    r->state[i] = cell;
    r->action[i] = m->action[row];
    r->next_state[i] = l->next[row];
    r->reward[i] = m->reward[row];
    if (r->probability != NULL) r->probability[i] = m->probability[row];
    r->end[i] = l->end[row];
    r->episode[i] = m->episode[row];
    r->step[i] = step;
}

static pess_status collect(const pess_map *map, const pess_measurements *m, pess_part part, const uint32_t *cell,
                           rows *r, pess_error *error) {
    links l = {0};
    const pess_status status = find_links(m, cell, &l, error);
    for (int64_t from = 0, to; from < m->rows && status == PESS_OK; from = to) {
        const int64_t episode = m->episode[l.order[from]];
        for (to = from; to < m->rows && m->episode[l.order[to]] == episode;) to++;
        const bool makes = pess_map_made_of(map, pess_names_get(m->episode_names, episode));
        if (part != PESS_PART_ALL && makes != (part == PESS_PART_MAKING)) continue;
        for (int64_t i = from; i < to; i++) add_row(r, m, &l, l.order[i], cell[l.order[i]], i - from);
        r->shared += makes;
    }
    links_free(&l);
    if (status != PESS_OK || r->count > 0) return status;
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
