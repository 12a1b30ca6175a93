/* magic "PESSMAP\n"
 * u32 version (1), method; i64 features, cells, rows, episodes, iterations; u32 converged
 * f64 share, clip, inertia; u64 seed, split seed
 * text source, version of the library
 * features × { text name; u32 rule; f64 fill, middle, scale, low, high; i64 missing rows }
 * cells × { i64 rows; f64 reach; f32 centre [coordinates] }
 * bins: coordinates × i64 edges; f64 edges.  tree: 2·cells − 1 × { u32 coordinate, left or cell, right; f64 threshold }
 * u32 CRC-32 of all before it */
#include "cells/map.h"

#include "core/filekind.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, NAME_SIZE = 1024 };
#define SIZE_LIMIT ((int64_t)1 << 31)

static void write_column(const pess_map_column *c, pess__sink *sink) {
    pess__sink_text(sink, c->name);
    pess__sink_u32(sink, (uint32_t)c->missing);
    const double numbers[] = {c->fill, c->middle, c->scale, c->low, c->high};
    pess__sink_write(sink, numbers, sizeof numbers);
    pess__sink_i64(sink, c->missing_rows);
}

pess_status pess_map_write(const pess_map *map, const char *path, pess_error *error) {
    pess__sink sink;
    PESS_TRY(pess__sink_open(&sink, path, pess__file_row_of(PESS_FILE_MAP)->magic, error));
    const int64_t sizes[] = {map->names.count, map->cells, map->rows, map->episodes, map->iterations};
    const double numbers[] = {map->share, map->clip, map->inertia};
    pess__sink_u32(&sink, VERSION);
    pess__sink_u32(&sink, (uint32_t)map->method);
    pess__sink_write(&sink, sizes, sizeof sizes);
    pess__sink_u32(&sink, map->converged);
    pess__sink_write(&sink, numbers, sizeof numbers);
    pess__sink_i64(&sink, (int64_t)map->seed);
    pess__sink_i64(&sink, (int64_t)map->split_seed);
    pess__sink_text(&sink, map->source);
    pess__sink_text(&sink, map->version);
    for (int64_t f = 0; f < map->names.count; f++) write_column(&map->columns[f], &sink);
    for (int64_t c = 0; c < map->cells; c++) {
        pess__sink_i64(&sink, map->cell_rows[c]);
        pess__sink_double(&sink, map->reach[c]);
        pess__sink_write(&sink, map->centre + c * map->coordinates, (size_t)map->coordinates * sizeof *map->centre);
    }
    pess__map_method_of(map)->write(map, &sink);
    return pess__sink_commit(&sink, error);
}

static pess_status damaged(const pess__cursor *cursor, const char *what, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: damaged: %s", cursor->name, what);
}

static pess_status read_head(pess_map *map, pess__cursor *cursor, int64_t *features, pess_error *error) {
    const uint32_t version = pess__cursor_u32(cursor);
    if (version != VERSION)
        return pess__fail(error, PESS_INPUT, "%s: version %u of the format; this program reads version %d",
                          cursor->name, version, VERSION);
    const uint32_t method = pess__cursor_u32(cursor);
    int64_t sizes[5];
    double numbers[3];
    pess__cursor_read(cursor, sizes, sizeof sizes);
    map->converged = pess__cursor_u32(cursor) != 0;
    pess__cursor_read(cursor, numbers, sizeof numbers);
    map->seed = (uint64_t)pess__cursor_i64(cursor);
    map->split_seed = (uint64_t)pess__cursor_i64(cursor);
    if (!pess__cursor_text(cursor, map->source, sizeof map->source) ||
        !pess__cursor_text(cursor, map->version, sizeof map->version))
        return damaged(cursor, "its notes are too long or cut off", error);
    if (method > PESS_CELLS_TREE) return damaged(cursor, "its method is not known", error);
    if (sizes[0] < 1 || sizes[0] > PESS_MAX_FEATURES || sizes[1] < 1 || sizes[1] > PESS_MAX_CELLS || sizes[2] < 1 ||
        sizes[3] < 0 || sizes[4] < 0)
        return damaged(cursor, "its numbers of columns, cells and rows are not possible", error);
    if (!(numbers[0] > 0 && numbers[0] <= 1) || !(numbers[1] > 0) || !(numbers[2] >= 0))
        return damaged(cursor, "its share, clip and inertia are not possible", error);
    map->method = (int32_t)method;
    *features = sizes[0];
    map->cells = sizes[1];
    map->rows = sizes[2];
    map->episodes = sizes[3];
    map->iterations = sizes[4];
    map->share = numbers[0];
    map->clip = numbers[1];
    map->inertia = numbers[2];
    return PESS_OK;
}

/* Appends the column's name to the list of names. */
static pess_status read_column(pess_map *map, pess__cursor *cursor, pess_map_column *column, int64_t *used,
                               int64_t *capacity, pess_error *error) {
    char name[NAME_SIZE];
    double numbers[5];
    if (!pess__cursor_text(cursor, name, sizeof name) || name[0] == '\0' || strchr(name, ',') != NULL)
        return damaged(cursor, "the name of a column is empty, too long or holds a comma", error);
    const uint32_t rule = pess__cursor_u32(cursor);
    pess__cursor_read(cursor, numbers, sizeof numbers);
    *column = (pess_map_column){.missing = (pess_missing)rule,
                                .fill = numbers[0],
                                .middle = numbers[1],
                                .scale = numbers[2],
                                .low = numbers[3],
                                .high = numbers[4],
                                .missing_rows = pess__cursor_i64(cursor)};
    if (rule > PESS_MISSING_FLAG || (rule != PESS_MISSING_REFUSE && !isfinite(column->fill)) ||
        !isfinite(column->middle) || !(column->scale > 0) || !isfinite(column->scale) ||
        !(column->low <= column->high) || column->missing_rows < 0)
        return damaged(cursor, "the numbers of a column are not possible", error);
    const int64_t length = (int64_t)strlen(name);
    PESS_TRY(pess__grow(&map->feature_text, capacity, *used + length + 2, 1, "the names of the columns", error));
    if (*used > 0) map->feature_text[(*used)++] = ',';
    memcpy(map->feature_text + *used, name, (size_t)length + 1);
    *used += length;
    return PESS_OK;
}

static pess_status read_columns(pess_map *map, pess__cursor *cursor, int64_t features, pess_error *error) {
    int64_t used = 0, capacity = 0;
    PESS_TRY(pess__allocate(&map->columns, features, sizeof *map->columns, "the columns", error));
    for (int64_t f = 0; f < features; f++)
        PESS_TRY(read_column(map, cursor, &map->columns[f], &used, &capacity, error));
    const pess_status status = pess__name_list_create(map->feature_text, &map->names, error);
    if (status == PESS_MEMORY) return status;
    if (status != PESS_OK) return damaged(cursor, "a column is there twice", error);
    for (int64_t f = 0; f < features; f++) map->columns[f].name = map->names.names[f];
    return pess__map_set_coordinates(map, error);
}

static pess_status read_cells(pess_map *map, pess__cursor *cursor, pess_error *error) {
    const int64_t k = map->coordinates;
    const size_t each = 16 + (size_t)k * sizeof *map->centre;
    if (cursor->left / each < (size_t)map->cells)
        return pess__fail(error, PESS_INPUT, "%s: truncated: %zu bytes for its %lld cells", cursor->name, cursor->left,
                          (long long)map->cells);
    PESS_TRY(pess__allocate(&map->cell_rows, map->cells, sizeof *map->cell_rows, "the cells", error));
    PESS_TRY(pess__allocate(&map->reach, map->cells, sizeof *map->reach, "the cells", error));
    PESS_TRY(pess__allocate(&map->centre, map->cells * k, sizeof *map->centre, "the cells", error));
    for (int64_t c = 0; c < map->cells; c++) {
        map->cell_rows[c] = pess__cursor_i64(cursor);
        map->reach[c] = pess__cursor_double(cursor);
        pess__cursor_read(cursor, map->centre + c * k, (size_t)k * sizeof *map->centre);
        if (map->cell_rows[c] < 0 || !(map->reach[c] >= 0) || !isfinite(map->reach[c]))
            return damaged(cursor, "the rows or the reach of a cell are not possible", error);
        for (int64_t j = 0; j < k; j++)
            if (!isfinite(map->centre[c * k + j])) return damaged(cursor, "a centre is not finite", error);
    }
    return PESS_OK;
}

static pess_status read_map(pess__cursor *cursor, pess_map **out, pess_error *error) {
    pess_map *map = NULL;
    int64_t features = 0;
    PESS_TRY(pess__allocate(&map, 1, sizeof *map, "a map", error));
    pess_status status = read_head(map, cursor, &features, error);
    if (status == PESS_OK) status = read_columns(map, cursor, features, error);
    if (status == PESS_OK) status = read_cells(map, cursor, error);
    if (status == PESS_OK) status = pess__map_method_of(map)->read(map, cursor, error);
    if (status == PESS_OK && (cursor->beyond || cursor->left > 0))
        status = damaged(cursor, "it is longer or shorter than its parts", error);
    if (status == PESS_OK)
        *out = map;
    else
        pess_map_destroy(map);
    return status;
}

pess_status pess_map_read(const char *path, pess_map **out, pess_error *error) {
    const pess__file_row *row = pess__file_row_of(PESS_FILE_MAP);
    pess__cursor cursor;
    PESS_TRY(pess__cursor_open(&cursor, path, row->magic, row->what, SIZE_LIMIT, error));
    const pess_status status = read_map(&cursor, out, error);
    pess__cursor_close(&cursor);
    return status;
}

pess_status pess__map_read_memory(const char *name, const void *bytes, size_t size, pess_map **out, pess_error *error) {
    const pess__file_row *row = pess__file_row_of(PESS_FILE_MAP);
    pess__cursor cursor;
    PESS_TRY(pess__cursor_open_memory(&cursor, name, bytes, size, row->magic, row->what, error));
    const pess_status status = read_map(&cursor, out, error);
    pess__cursor_close(&cursor);
    return status;
}
