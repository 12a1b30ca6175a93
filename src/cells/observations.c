/* Measurements as a dataset of observations, which networks learn from: every row is an observation of floats. */
#include "data/observations.h"
#include "cells/map.h"
#include "core/memory.h"
#include "core/settings.h"
#include "data/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct maker {
    const pess_measurements *m;
    pess_observations *data;
    float *row, *next; /* [features] */
    int64_t left_out;
} maker;

static pess_status check_columns(const pess_measurements *m, pess_error *error) {
    const char *missing = m->action == NULL ? "action" : m->reward == NULL ? "reward" : NULL;
    if (missing != NULL)
        return pess__fail(error, PESS_INPUT,
                          "found no column '%s', expected one: networks learn from actions and rewards", missing);
    if (m->ends_marked || (m->episode != NULL && m->last_row != PESS_LAST_ROW_MARKED)) return PESS_OK;
    if (m->episode == NULL)
        return pess__fail(error, PESS_INPUT,
                          "found no column 'episode', 'terminal' or 'truncated', expected one of that name or declared "
                          "for that role: where episodes end");
    return pess__fail(error, PESS_INPUT,
                      "last-row: not set, and the log has no column 'terminal' or 'truncated'; expected terminal or "
                      "cutoff: how the last row of an episode ends");
}

/* Row r as floats. */
static pess_status take_row(const pess_measurements *m, int64_t r, float *to, pess_error *error) {
    const int64_t features = m->features.count;
    for (int64_t f = 0; f < features; f++) {
        to[f] = (float)m->values[r * features + f];
        if (!isfinite(to[f]))
            return pess__fail(
                error, PESS_INPUT,
                "row %lld, feature '%.100s': found %s, expected a number: networks need every measurement",
                (long long)r + 1, m->features.names[f],
                isnan(m->values[r * features + f]) ? "nothing" : "one that is too large");
    }
    return PESS_OK;
}

/* How row r ends, which is the last of its episode or, without episodes, of the log. */
static pess_end end_of_last(const pess_measurements *m, int64_t r) {
    if (m->end != NULL && m->end[r] != PESS_END_NONE) return (pess_end)m->end[r];
    return m->last_row == PESS_LAST_ROW_TERMINAL ? PESS_END_TERMINAL : PESS_END_CUTOFF;
}

static pess_status add(maker *k, int64_t r, const float *next, pess_end end, pess_error *error) {
    const pess_measurements *m = k->m;
    const int64_t action = m->action[r];
    const uint8_t how = (uint8_t)end;
    const pess_observations_rows row = {.count = 1,
                                        .state = k->row,
                                        .next = next,
                                        .action = &action,
                                        .reward = &m->reward[r],
                                        .end = &how,
                                        .probability = m->probability != NULL ? &m->probability[r] : NULL};
    return pess_observations_append(k->data, &row, error);
}

/* Row r, which `after` (-1: none) follows in its episode. */
static pess_status add_row(maker *k, int64_t r, int64_t after, pess_error *error) {
    const pess_measurements *m = k->m;
    pess_observations *data = k->data;
    const pess_end end = after < 0 ? end_of_last(m, r) : m->end != NULL ? (pess_end)m->end[r] : PESS_END_NONE;
    PESS_TRY(take_row(m, r, k->row, error));
    if (end == PESS_END_TERMINAL) return add(k, r, k->row, end, error);
    if (after >= 0 && end == PESS_END_NONE) {
        PESS_TRY(take_row(m, after, k->next, error));
        return add(k, r, k->next, end, error);
    }
    k->left_out++; /* nobody knows what came next */
    const int64_t last = data->transitions - 1;
    if (last >= 0 && data->end[last] == PESS_END_NONE) data->end[last] = PESS_END_CUTOFF;
    return PESS_OK;
}

static pess_status add_rows(maker *k, const int64_t *order, const int64_t *next, pess_error *error) {
    const pess_measurements *m = k->m;
    for (int64_t i = 0; i < m->rows; i++) {
        const int64_t r = order[i];
        const bool open = m->end == NULL || m->end[r] == PESS_END_NONE;
        const int64_t after = m->episode != NULL ? next[r] : open && i + 1 < m->rows ? r + 1 : -1;
        PESS_TRY(add_row(k, r, after, error));
    }
    if (k->data->transitions > 0) return pess_observations_stop(k->data, error);
    return pess__fail(error, PESS_INPUT, "no transition is left: of %lld rows none has a next one in its episode",
                      (long long)m->rows);
}

/* Rows of an episode one after the other, episodes in the order in which they begin. */
static pess_status find_order(const pess_measurements *m, const int64_t *next, int64_t **out, pess_error *error) {
    bool *follows = NULL;
    int64_t *order = NULL, count = 0;
    PESS_TRY(pess__allocate(&order, m->rows, sizeof *order, "the order of rows", error));
    const pess_status status = pess__allocate(&follows, m->rows, sizeof *follows, "the order of rows", error);
    if (status != PESS_OK) {
        free(order);
        return status;
    }
    for (int64_t r = 0; r < m->rows; r++)
        if (next[r] >= 0) follows[next[r]] = true;
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t at = follows[r] ? -1 : r; at >= 0; at = next[at]) order[count++] = at;
    free(follows);
    *out = order;
    return PESS_OK;
}

/* "features=age,lactate", where the notes have room. */
static void describe(const maker *k) {
    const pess__name_list *names = &k->m->features;
    char *notes = k->data->notes;
    size_t used = (size_t)snprintf(notes, PESS__DATA_NOTES_SIZE, "format=table\nrows=%lld\n", (long long)k->m->rows);
    if (k->left_out > 0)
        used += (size_t)snprintf(notes + used, PESS__DATA_NOTES_SIZE - used, "left_out_rows=%lld\n",
                                 (long long)k->left_out);
    size_t length = sizeof "features=\n";
    for (int64_t f = 0; f < names->count; f++) {
        length += strlen(names->names[f]) + 1;
        for (const char *c = names->names[f]; *c != '\0'; c++)
            if (*c < ' ' || *c > '~') return;
    }
    if (used + length >= PESS__DATA_NOTES_SIZE / 2) return;
    for (int64_t f = 0; f < names->count; f++)
        used += (size_t)snprintf(notes + used, PESS__DATA_NOTES_SIZE - used, "%s%s",
                                 f > 0 ? "," : "features=", names->names[f]);
    (void)snprintf(notes + used, PESS__DATA_NOTES_SIZE - used, "\n");
}

static pess_status make(maker *k, pess_error *error) {
    int64_t *next = NULL, *order = NULL;
    const int64_t features = k->m->features.count;
    PESS_TRY(pess__allocate(&k->row, features, sizeof *k->row, "a row", error));
    PESS_TRY(pess__allocate(&k->next, features, sizeof *k->next, "a row", error));
    pess_status status = pess__next_rows(k->m, &next, error);
    if (status == PESS_OK) status = find_order(k->m, next, &order, error);
    if (status == PESS_OK) status = add_rows(k, order, next, error);
    if (status == PESS_OK) status = pess__names_clone(k->m->action_names, &k->data->space.names, error);
    if (status == PESS_OK) describe(k);
    free(next);
    free(order);
    return status;
}

pess_status pess_measurements_observations(const pess_measurements *m, const pess_observations_options *options,
                                           pess_observations **out, pess_error *error) {
    pess_observations_options o;
    PESS_TRY(pess__settle(pess_observations_settings(), options, &o, error));
    PESS_TRY(check_columns(m, error));
    const pess_observation_shape shape = pess_observation_floats(m->features.count);
    int64_t actions = m->action_names != NULL ? pess_names_count(m->action_names) : 1;
    for (int64_t i = 0; i < m->rows; i++) actions = m->action[i] >= actions ? (int64_t)m->action[i] + 1 : actions;
    if (o.actions > 0 && o.actions < actions)
        return pess__fail(error, PESS_INPUT, "actions: found %lld declared, but the log has %lld", (long long)o.actions,
                          (long long)actions);
    if (o.actions > actions && m->action_names == NULL) actions = o.actions;
    if (actions > PESS__DATA_MAX_ACTIONS)
        return pess__fail(error, PESS_LIMIT, "found %lld different actions, expected at most %d", (long long)actions,
                          PESS__DATA_MAX_ACTIONS);
    maker k = {.m = m};
    pess_status status = pess_observations_create(o.game, NULL, &shape, actions, &k.data, error);
    if (status == PESS_OK) status = make(&k, error);
    free(k.row);
    free(k.next);
    if (status == PESS_OK)
        *out = k.data;
    else
        pess_observations_destroy(k.data);
    return status;
}
