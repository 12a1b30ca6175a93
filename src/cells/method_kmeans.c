/* Cells as the neighbourhoods of K centres, found by k-means on standardised and clipped measurements. */
#include "cells/kmeans.h"
#include "cells/map.h"

#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pess_status make(const pess__making *making, pess_map *map, uint32_t *cell, pess_error *error) {
    const pess_cells_options *o = making->options;
    const pess__rows rows = {making->x, making->count, map->coordinates};
    int64_t distinct = 0;
    PESS_TRY(pess__rows_distinct(&rows, o->cells, &distinct, error));
    if (distinct < o->cells)
        return pess__fail(error, PESS_INPUT,
                          "found %lld different rows among the %lld that make the cells, expected at least as many as "
                          "there are to be cells: %lld",
                          (long long)distinct, (long long)making->count, (long long)o->cells);
    const pess__kmeans_options options = {.cells = o->cells,
                                          .restarts = o->restarts,
                                          .max_iterations = o->max_iterations,
                                          .tolerance = o->tolerance,
                                          .seed = o->seed,
                                          .threads = o->threads,
                                          .progress = o->progress};
    pess__kmeans result = {0};
    PESS_TRY(pess__kmeans_run(&rows, &options, &result, error));
    map->cells = o->cells;
    map->iterations = result.iterations;
    map->converged = result.converged;
    map->centre = result.centres;
    memcpy(cell, result.cell, (size_t)making->count * sizeof *cell);
    free(result.cell);
    PESS_TRY(pess__panels_create(map->cells, map->coordinates, &map->panels, error));
    pess__panels_fill(&map->panels, map->centre, map->cells);
    return PESS_OK;
}

enum { ROWS_AT_ONCE = 240 };

static void find(const pess_map *map, const float *x, const double *raw, int64_t rows, uint32_t *cell) {
    (void)raw;
    float second[ROWS_AT_ONCE];
    for (int64_t i = 0; i < rows; i += ROWS_AT_ONCE) {
        const int64_t count = rows - i < ROWS_AT_ONCE ? rows - i : ROWS_AT_ONCE;
        pess__nearest_best()->nearest(&map->panels, x + i * map->coordinates, count, cell + i, second);
    }
}

/* The centres are in every map. */
static void write_nothing(const pess_map *map, pess__sink *sink) {
    (void)map;
    (void)sink;
}

static pess_status read_centres(pess_map *map, pess__cursor *cursor, pess_error *error) {
    (void)cursor;
    PESS_TRY(pess__panels_create(map->cells, map->coordinates, &map->panels, error));
    pess__panels_fill(&map->panels, map->centre, map->cells);
    return PESS_OK;
}

/* The three measurements in which the centre is farthest from the middle. */
static void describe(const pess_map *map, int64_t cell, char *text, size_t size) {
    const float *centre = map->centre + cell * map->coordinates;
    bool told[PESS__MAX_COORDINATES] = {false};
    for (int i = 0; i < 3 && i < map->coordinates; i++) {
        int64_t most = -1;
        for (int64_t j = 0; j < map->coordinates; j++)
            if (!told[j] && (most < 0 || fabsf(centre[j]) > fabsf(centre[most]))) most = j;
        told[most] = true;
        bool flag = false;
        const char *name = pess__coordinate_name(map, most, &flag);
        const size_t used = strlen(text);
        const char *comma = i > 0 ? ", " : "around ";
        if (flag)
            (void)snprintf(text + used, size - used, "%s%s missing in %.0f %%", comma, name,
                           100 * (double)centre[most]);
        else
            (void)snprintf(text + used, size - used, "%s%s %.4g", comma, name,
                           map->columns[most].middle + (double)centre[most] * map->columns[most].scale);
    }
}

const pess__map_method pess__map_method_kmeans = {false, make, find, write_nothing, read_centres, describe};
