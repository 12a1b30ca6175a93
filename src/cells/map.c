/* Maps: applying them, and what they say about themselves. */
#include "cells/map.h"

#include "core/memory.h"
#include "core/raise.h"
#include "core/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_AT_ONCE = 240 };

/* The order of pess_cells_method. */
static const pess_cells_method_info list[] = {
    {"kmeans", "k-means: each row to the nearest of K centres", "restarts max-iterations tolerance"},
    {"bins", "quantile bins of each column, a cell for each combination", NULL},
    {"tree", "a small tree of questions about single columns, chosen to predict the reward and the next row", NULL},
};
static const pess__map_method *const methods[] = {&pess__map_method_kmeans, &pess__map_method_bins,
                                                  &pess__map_method_tree};
enum { METHODS = sizeof list / sizeof list[0] };
_Static_assert(sizeof methods / sizeof methods[0] == METHODS, "one row per method in both tables");

const pess_cells_method_info *pess_cells_method_list(size_t index) { return index < METHODS ? &list[index] : NULL; }

const pess__map_method *pess__map_method_of(const pess_map *map) { return methods[map->method]; }

void pess_map_destroy(pess_map *map) {
    if (map == NULL) return;
    pess__name_list_free(&map->names);
    free(map->feature_text);
    free(map->columns);
    free(map->flag_of);
    free(map->centre);
    free(map->cell_rows);
    free(map->reach);
    pess__panels_free(&map->panels);
    free(map->edges_from);
    free(map->edge);
    free(map->node);
    free(map);
}

/* ---- episodes */

bool pess__makes_cells(const char *episode, double share, uint64_t split_seed) {
    uint64_t x = 14695981039346656037u;
    for (const char *c = episode; *c != '\0'; c++) x = (x ^ (uint8_t)*c) * 1099511628211u;
    x += split_seed;
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    x ^= x >> 31;
    return (double)(x >> 11) * 0x1p-53 < share;
}

bool pess_map_made_of(const pess_map *map, const char *episode) {
    return pess__makes_cells(episode, map->share, map->split_seed);
}

/* ---- places */

int64_t pess__map_coordinates(const pess_map *map, const double *row, double *raw, float *x) {
    for (int64_t j = 0; j < map->coordinates; j++) {
        if (map->flag_of[j] >= 0) {
            raw[j] = isnan(row[map->flag_of[j]]);
            x[j] = (float)raw[j];
            continue;
        }
        const pess_map_column *column = &map->columns[j];
        if (isnan(row[j]) && column->missing == PESS_MISSING_REFUSE) return j;
        raw[j] = isnan(row[j]) ? column->fill : row[j];
        const double z = (raw[j] - column->middle) / column->scale;
        x[j] = (float)(z > map->clip ? map->clip : z < -map->clip ? -map->clip : z);
    }
    return -1;
}

pess_place pess__map_place(const pess_map *map, const double *raw, uint32_t cell) {
    const float *centre = map->centre + (int64_t)cell * map->coordinates;
    double square = 0;
    for (int64_t j = 0; j < map->coordinates; j++) {
        const bool flag = map->flag_of[j] >= 0;
        const double z = flag ? raw[j] : (raw[j] - map->columns[j].middle) / map->columns[j].scale;
        square += (z - (double)centre[j]) * (z - (double)centre[j]);
    }
    const double distance = sqrt(square), reach = map->reach[cell];
    const bool known = map->cell_rows[cell] > 0;
    const double outside = !known              ? INFINITY
                           : distance <= reach ? (reach > 0 ? distance / reach : 0)
                                               : distance / reach;
    return (pess_place){cell, map->cell_rows[cell], known ? distance : INFINITY, outside};
}

pess_status pess__missing_rule_remedy(const char *name, pess_error *error) {
    char rule[120];
    (void)snprintf(rule, sizeof rule, "%.100s=median", name);
    return pess__fail_with_remedy(error, PESS_INPUT, "rule", rule);
}

static pess_status refuse_missing(const pess_map *map, int64_t row, int64_t feature, pess_error *error) {
    (void)pess__fail(
        error, PESS_INPUT,
        "row %lld: found no value for '%.100s', expected one: the map has no rule for missing values of it",
        (long long)row + 1, map->names.names[feature]);
    return pess__missing_rule_remedy(map->names.names[feature], error);
}

pess_status pess_map_place(const pess_map *map, const double *row, pess_place *out, pess_error *error) {
    double raw[PESS__MAX_COORDINATES];
    float x[PESS__MAX_COORDINATES];
    uint32_t cell = 0;
    for (int64_t f = 0; f < map->names.count; f++)
        if (isinf(row[f]))
            return pess__fail(error, PESS_INPUT, "found %g for '%.100s', expected a finite number or NAN", row[f],
                              map->names.names[f]);
    const int64_t missing = pess__map_coordinates(map, row, raw, x);
    if (missing >= 0)
        return pess__fail(error, PESS_INPUT,
                          "found no value for '%.100s', expected one: the map has no rule for missing values of it",
                          map->names.names[missing]);
    pess__map_method_of(map)->find(map, x, raw, 1, &cell);
    *out = pess__map_place(map, raw, cell);
    return PESS_OK;
}

/* Rows [from, to) of the measurements; returns the first row with a missing value that must not be, or -1. */
static int64_t apply_rows(const pess_map *map, const pess_measurements *m, int64_t from, int64_t to, double *raw,
                          float *x, uint32_t *cells, pess_place *places) {
    const int64_t k = map->coordinates;
    for (int64_t i = from; i < to; i++)
        if (pess__map_coordinates(map, m->values + i * m->features.count, raw + (i - from) * k, x + (i - from) * k) >=
            0)
            return i;
    pess__map_method_of(map)->find(map, x, raw, to - from, cells + from);
    for (int64_t i = from; places != NULL && i < to; i++)
        places[i] = pess__map_place(map, raw + (i - from) * k, cells[i]);
    return -1;
}

static pess_status check_names(const pess_map *map, const pess_measurements *m, pess_error *error) {
    for (int64_t f = 0; f < map->names.count; f++)
        if (f >= m->features.count || strcmp(map->names.names[f], m->features.names[f]) != 0)
            return pess__fail(error, PESS_ARGUMENT,
                              "the map is made for the columns %.200s: found '%.100s' in place %lld, expected '%.100s'",
                              map->feature_text, f < m->features.count ? m->features.names[f] : "nothing",
                              (long long)f + 1, map->names.names[f]);
    if (m->features.count == map->names.count) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT, "the map is made for %lld columns, found %lld", (long long)map->names.count,
                      (long long)m->features.count);
}

pess_status pess_map_apply(const pess_map *map, const pess_measurements *m, int threads, uint32_t *cells,
                           pess_place *places, pess_error *error) {
    PESS_TRY(check_names(map, m, error));
    const int64_t batches = (m->rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, room = ROWS_AT_ONCE * map->coordinates;
    _Atomic double refused = (double)m->rows; /* the first row with a value that must not be missing */
    atomic_bool memory = true;
    threads = batches > 1 ? pess__threads(threads) : 1;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        double *raw = NULL;
        float *x = NULL;
        const bool room_taken = pess__allocate(&raw, room, sizeof *raw, "rows", NULL) == PESS_OK &&
                                pess__allocate(&x, room, sizeof *x, "rows", NULL) == PESS_OK;
#pragma omp for schedule(static)
        for (int64_t b = 0; b < batches; b++) {
            const int64_t from = b * ROWS_AT_ONCE, to = from + ROWS_AT_ONCE < m->rows ? from + ROWS_AT_ONCE : m->rows;
            const int64_t bad = room_taken ? apply_rows(map, m, from, to, raw, x, cells, places) : -1;
            if (!room_taken) memory = false;
            if (bad >= 0) pess__lower(&refused, (double)bad);
        }
        free(raw);
        free(x);
    }
    if (!memory) return pess__fail(error, PESS_MEMORY, "not enough memory for rows");
    const int64_t row = (int64_t)refused;
    if (row == m->rows) return PESS_OK;
    int64_t feature = 0;
    while (!isnan(m->values[row * m->features.count + feature]) || map->columns[feature].missing != PESS_MISSING_REFUSE)
        feature++;
    return refuse_missing(map, row, feature, error);
}

/* ---- about itself */

void pess_map_get_info(const pess_map *map, pess_map_info *out) {
    *out = (pess_map_info){.method = list[map->method].name,
                           .features = map->names.count,
                           .cells = map->cells,
                           .rows = map->rows,
                           .episodes = map->episodes,
                           .share = map->share,
                           .clip = map->clip,
                           .seed = map->seed,
                           .split_seed = map->split_seed,
                           .inertia = map->inertia,
                           .iterations = map->iterations,
                           .converged = map->converged,
                           .source = map->source,
                           .version = map->version};
}

void pess_map_get_column(const pess_map *map, int64_t feature, pess_map_column *out) { *out = map->columns[feature]; }

const char *pess_map_features(const pess_map *map) { return map->feature_text; }

int64_t pess_map_cell_rows(const pess_map *map, int64_t cell) { return map->cell_rows[cell]; }

const char *pess__coordinate_name(const pess_map *map, int64_t coordinate, bool *flag) {
    *flag = map->flag_of[coordinate] >= 0;
    return map->names.names[*flag ? map->flag_of[coordinate] : coordinate];
}

void pess__describe_interval(const pess_map *map, int64_t coordinate, double low, double high, char *text,
                             size_t size) {
    bool flag = false;
    const char *name = pess__coordinate_name(map, coordinate, &flag);
    const size_t used = strlen(text);
    const char *and = used > 0 ? " and " : "";
    char *to = text + used;
    if (flag)
        (void)snprintf(to, size - used, "%s%s is %s", and, name, isfinite(low) ? "missing" : "there");
    else if (isfinite(low) && isfinite(high))
        (void)snprintf(to, size - used, "%s%.6g <= %s < %.6g", and, low, name, high);
    else if (isfinite(low))
        (void)snprintf(to, size - used, "%s%s >= %.6g", and, name, low);
    else if (isfinite(high))
        (void)snprintf(to, size - used, "%s%s < %.6g", and, name, high);
}

void pess_map_describe(const pess_map *map, int64_t cell, char *text, size_t size) {
    text[0] = '\0';
    pess__map_method_of(map)->describe(map, cell, text, size);
    if (text[0] == '\0') (void)snprintf(text, size, "every row");
}
