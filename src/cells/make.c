/* Making a map: the episodes that take part, their coordinates, the method, and what the cells look like. */
#include "cells/map.h"

#include "core/memory.h"
#include "core/settings.h"
#include "core/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) PESS__FIELD(pess_cells_options, field)

static const pess_setting settings[] = {
    {"method", 'm', PESS_SETTING_CHOICE, FIELD(method), "kmeans", .choices = "kmeans|bins|tree",
     .sentence = "how rows become cells"},
    {"cells", 'k', PESS_SETTING_COUNT, FIELD(cells), "100", PESS__FROM_TO(2, PESS_MAX_CELLS), .argument = "K",
     .sentence = "number of cells; for bins and tree, the largest number"},
    {"share", 0, PESS_SETTING_NUMBER, FIELD(share), "0.5", .least = 0, .most = 1, .open = PESS_SETTING_ABOVE_LEAST,
     .argument = "X",
     .sentence =
         "share of the episodes that make the cells; the others are left to choose and certify a policy; 1 takes all"},
    {"missing", 0, PESS_SETTING_TEXT, FIELD(missing), "refuse", .argument = "RULE",
     .sentence = "what to do about a missing measurement: refuse, median, flag (the median, and its absence is one "
                 "more measurement) or a number; for all columns, or per column as in median,lactate=flag"},
    {"clip", 0, PESS_SETTING_NUMBER, FIELD(clip), "5", PESS__ABOVE(0), .argument = "Z",
     .sentence = "standardised measurements are clipped here, so that no outlier gets a cell to itself"},
    {"restarts", 0, PESS_SETTING_COUNT, FIELD(restarts), "4", PESS__FROM_TO(1, 1000), .argument = "N",
     .sentence = "k-means: number of starts on a sample of the rows; the best of them goes on", .specific = true},
    {"max-iterations", 0, PESS_SETTING_COUNT, FIELD(max_iterations), "300", PESS__FROM_TO(1, 1000000), .argument = "N",
     .sentence = "k-means: largest number of Lloyd's iterations", .specific = true},
    {"tolerance", 0, PESS_SETTING_NUMBER, FIELD(tolerance), "1e-4", PESS__AT_LEAST(0), .argument = "E",
     .sentence = "k-means: stop when the squared moves of the centres sum to less than this times the mean variance",
     .specific = true},
    PESS__SEED_SETTING(pess_cells_options, "of the start of k-means"),
    {"split-seed", 0, PESS_SETTING_SEED, FIELD(split_seed), "0", .argument = "N",
     .sentence = "seed of the choice of episodes that make the cells"},
    PESS__THREADS_SETTING(pess_cells_options),
};
static const pess_setting_table table = PESS__SETTING_TABLE("cells", pess_cells_options, settings);
PESS__SETTINGS_OF(cells, table)

/* ---- the rows that take part */

typedef struct chosen {
    int64_t *row;
    int64_t count, episodes;
} chosen;

static pess_status too_few(const pess_measurements *m, const pess_cells_options *o, int64_t making, pess_error *error) {
    return pess__fail(
        error, PESS_INPUT,
        "found %lld episode%s, of which %lld would make the cells and %lld would be left, expected some in "
        "both parts; share %g, split seed %llu (share 1 makes the cells of all episodes and leaves none)",
        (long long)pess_measurements_episodes(m), pess_measurements_episodes(m) == 1 ? "" : "s", (long long)making,
        (long long)(pess_measurements_episodes(m) - making), o->share, (unsigned long long)o->split_seed);
}

static pess_status choose_rows(const pess_measurements *m, const pess_cells_options *o, chosen *out,
                               pess_error *error) {
    const int64_t episodes = pess_measurements_episodes(m);
    const bool all = o->share >= 1;
    if (!all && m->episode_names == NULL) {
        const pess_status status =
            pess__fail(error, PESS_INPUT,
                       "found no column 'episode', expected one: whole episodes are split into a part that makes the "
                       "cells and one that does not (share 1 makes the cells of all rows)");
        return pess__fail_with_remedy(error, status, "column", "episode=NAME");
    }
    for (int64_t e = 0; e < episodes; e++)
        out->episodes += all || pess__makes_cells(pess_names_get(m->episode_names, e), o->share, o->split_seed);
    if (!all && (out->episodes == 0 || out->episodes == episodes)) return too_few(m, o, out->episodes, error);
    PESS_TRY(pess__allocate(&out->row, m->rows, sizeof *out->row, "the rows that make the cells", error));
    uint8_t *making = NULL;
    PESS_TRY(pess__allocate(&making, episodes, sizeof *making, "the episodes", error));
    for (int64_t e = 0; e < episodes; e++)
        making[e] = all || pess__makes_cells(pess_names_get(m->episode_names, e), o->share, o->split_seed);
    for (int64_t i = 0; i < m->rows; i++)
        if (all || making[m->episode[i]]) out->row[out->count++] = i;
    free(making);
    return PESS_OK;
}

/* ---- what the cells look like */

static pess_status summarise(const pess__making *making, const uint32_t *cell, pess_map *map, pess_error *error) {
    const int64_t k = map->coordinates;
    double *sum = NULL;
    PESS_TRY(pess__allocate(&map->cell_rows, map->cells, sizeof *map->cell_rows, "the cells", error));
    PESS_TRY(pess__allocate(&map->reach, map->cells, sizeof *map->reach, "the cells", error));
    if (map->centre == NULL) {
        PESS_TRY(pess__allocate(&map->centre, map->cells * k, sizeof *map->centre, "the cells", error));
        PESS_TRY(pess__allocate(&sum, map->cells * k, sizeof *sum, "the cells", error));
    }
    for (int64_t i = 0; i < making->count; i++) {
        map->cell_rows[cell[i]]++;
        for (int64_t j = 0; sum != NULL && j < k; j++) sum[(int64_t)cell[i] * k + j] += (double)making->x[i * k + j];
    }
    for (int64_t i = 0; sum != NULL && i < map->cells * k; i++) {
        const int64_t rows = map->cell_rows[i / k];
        if (rows > 0) map->centre[i] = (float)(sum[i] / (double)rows);
    }
    free(sum);
    return PESS_OK;
}

/* The largest distance in each cell, of the rows as they are, and the mean squared one of the clipped rows. */
static void measure_reach(const pess__making *making, const uint32_t *cell, pess_map *map) {
    const int64_t k = map->coordinates;
    double raw[PESS__MAX_COORDINATES], total = 0;
    float x[PESS__MAX_COORDINATES];
    for (int64_t i = 0; i < making->count; i++) {
        const double *row = making->measurements->values + making->row[i] * making->measurements->features.count;
        (void)pess__map_coordinates(map, row, raw, x);
        const double distance = pess__map_place(map, raw, cell[i]).distance;
        if (distance > map->reach[cell[i]]) map->reach[cell[i]] = distance;
        for (int64_t j = 0; j < k; j++) total += pow((double)x[j] - (double)map->centre[(int64_t)cell[i] * k + j], 2);
    }
    map->inertia = total / (double)making->count;
}

/* ---- all of it */

static pess_status run_method(pess__making *making, const chosen *rows, pess_map *map, pess_error *error) {
    const int64_t k = map->coordinates, count = rows->count;
    const pess__map_method *method = pess__map_method_of(map);
    const pess_measurements *m = making->measurements;
    float *x = NULL;
    double *raw = NULL;
    uint32_t *cell = NULL;
    pess_status status = pess__allocate(&x, count * k, sizeof *x, "the coordinates", error);
    if (status == PESS_OK)
        status = pess__allocate(&raw, method->reads_raw ? count * k : k * making->options->threads, sizeof *raw,
                                "the coordinates", error);
    if (status == PESS_OK) status = pess__allocate(&cell, count, sizeof *cell, "the cells", error);
    if (status == PESS_OK) {
        double unused[PESS__MAX_COORDINATES];
#pragma omp parallel for num_threads(making->options->threads)                                                         \
    schedule(static) private(unused) if (making->options->threads > 1)
        for (int64_t i = 0; i < count; i++)
            (void)pess__map_coordinates(map, m->values + rows->row[i] * m->features.count,
                                        method->reads_raw ? raw + i * k : unused, x + i * k);
        making->x = x;
        making->raw = method->reads_raw ? raw : NULL;
        status = method->make(making, map, cell, error);
    }
    if (status == PESS_OK) status = summarise(making, cell, map, error);
    if (status == PESS_OK) measure_reach(making, cell, map);
    free(x);
    free(raw);
    free(cell);
    return status;
}

static pess_status make(const pess_measurements *m, const pess_cells_options *o, pess_map *map, pess_error *error) {
    chosen rows = {0};
    PESS_TRY(pess__name_list_create(map->feature_text, &map->names, error));
    PESS_TRY(pess__allocate(&map->columns, m->features.count, sizeof *map->columns, "the columns", error));
    pess_status status = choose_rows(m, o, &rows, error);
    if (status == PESS_OK) status = pess__columns_make(m, rows.row, rows.count, o, map, error);
    for (int64_t f = 0; status == PESS_OK && f < map->names.count; f++) map->columns[f].name = map->names.names[f];
    if (status == PESS_OK) status = pess__map_set_coordinates(map, error);
    map->rows = rows.count;
    map->episodes = rows.episodes;
    pess__making making = {.measurements = m, .row = rows.row, .count = rows.count, .options = o};
    if (status == PESS_OK) status = run_method(&making, &rows, map, error);
    free(rows.row);
    return status;
}

/* The names with commas between them. */
static pess_status feature_text(const pess_measurements *m, char **out, pess_error *error) {
    size_t length = 1, used = 0;
    for (int64_t f = 0; f < m->features.count; f++) length += strlen(m->features.names[f]) + 1;
    PESS_TRY(pess__allocate(out, (int64_t)length, 1, "the names of the columns", error));
    for (int64_t f = 0; f < m->features.count; f++)
        used += (size_t)snprintf(*out + used, length - used, "%s%s", f > 0 ? "," : "", m->features.names[f]);
    return PESS_OK;
}

pess_status pess_map_make(const pess_measurements *measurements, const char *source, const pess_cells_options *options,
                          pess_map **out, pess_error *error) {
    pess_cells_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    settled.threads = pess__threads(settled.threads);
    pess_map *map = NULL;
    PESS_TRY(pess__allocate(&map, 1, sizeof *map, "a map", error));
    map->method = (int32_t)settled.method;
    map->share = settled.share;
    map->seed = settled.seed;
    map->split_seed = settled.split_seed;
    map->clip = settled.clip;
    map->converged = true;
    (void)snprintf(map->source, sizeof map->source, "%s", source != NULL ? source : "");
    (void)snprintf(map->version, sizeof map->version, "%s", pess_version());
    pess_status status = feature_text(measurements, &map->feature_text, error);
    if (status == PESS_OK) status = make(measurements, &settled, map, error);
    if (status == PESS_OK)
        *out = map;
    else
        pess_map_destroy(map);
    return status;
}
