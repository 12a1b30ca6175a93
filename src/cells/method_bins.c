/* Cells as combinations of quantile bins. Each coordinate gets bins in turn, the one with the fewest first, as long as
 * their product is not above the number of cells; a bin holds as many rows as the others of its coordinate, as far as
 * equal values allow. cell = Σ_j bin_j · Π_{i>j} bins_i. */
#include "cells/map.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t bins_of(const pess_map *map, int64_t j) { return map->edges_from[j + 1] - map->edges_from[j] + 1; }

static int compare(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Column j of the raw coordinates, sorted; returns how many different values there are. */
static int64_t sort_column(const pess__making *making, int64_t k, int64_t j, double *sorted) {
    int64_t different = 1;
    for (int64_t i = 0; i < making->count; i++) sorted[i] = making->raw[i * k + j];
    qsort(sorted, (size_t)making->count, sizeof *sorted, compare);
    for (int64_t i = 1; i < making->count; i++) different += sorted[i] != sorted[i - 1];
    return different;
}

/* How many bins each coordinate gets. */
static pess_status share_bins(const int64_t *most, int64_t k, int64_t cells, int64_t *bins, pess_error *error) {
    int64_t product = 1, split = 0;
    for (int64_t j = 0; j < k; j++) bins[j] = 1;
    for (;;) {
        int64_t next = -1;
        for (int64_t j = 0; j < k; j++)
            if (bins[j] < most[j] && product / bins[j] * (bins[j] + 1) <= cells && (next < 0 || bins[j] < bins[next]))
                next = j;
        if (next < 0) break;
        product = product / bins[next] * (bins[next] + 1);
        split += bins[next]++ == 1;
    }
    int64_t varying = 0;
    for (int64_t j = 0; j < k; j++) varying += most[j] > 1;
    if (split == varying) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT,
                      "bins: found %lld measurements and at most %lld cells, expected at least 2^%lld cells, two bins "
                      "for each; use fewer columns, or the method kmeans or tree",
                      (long long)varying, (long long)cells, (long long)varying);
}

static void set_edges(pess_map *map, int64_t j, const double *sorted, int64_t count, int64_t bins) {
    int64_t at = map->edges_from[j];
    for (int64_t b = 1; b < bins; b++) {
        double edge = sorted[count * b / bins];
        if (edge == sorted[0]) { /* the first value fills the bin: the next one begins another */
            int64_t i = count * b / bins;
            while (i < count && sorted[i] == edge) i++;
            if (i == count) continue;
            edge = sorted[i];
        }
        if (at == map->edges_from[j] || edge > map->edge[at - 1]) map->edge[at++] = edge;
    }
    map->edges_from[j + 1] = at;
}

static void find(const pess_map *map, const float *x, const double *raw, int64_t rows, uint32_t *cell) {
    (void)x;
    for (int64_t i = 0; i < rows; i++) {
        uint32_t at = 0;
        for (int64_t j = 0; j < map->coordinates; j++) {
            int64_t low = map->edges_from[j], high = map->edges_from[j + 1];
            const double value = raw[i * map->coordinates + j];
            while (low < high) {
                const int64_t middle = low + (high - low) / 2;
                if (map->edge[middle] <= value)
                    low = middle + 1;
                else
                    high = middle;
            }
            at = at * (uint32_t)bins_of(map, j) + (uint32_t)(low - map->edges_from[j]);
        }
        cell[i] = at;
    }
}

static pess_status make_edges(const pess__making *making, pess_map *map, double *sorted, int64_t *most, int64_t *bins,
                              pess_error *error) {
    const int64_t k = map->coordinates;
    for (int64_t j = 0; j < k; j++) most[j] = sort_column(making, k, j, sorted);
    PESS_TRY(share_bins(most, k, making->options->cells, bins, error));
    for (int64_t j = 0; j < k; j++) {
        (void)sort_column(making, k, j, sorted);
        set_edges(map, j, sorted, making->count, bins[j]);
    }
    return PESS_OK;
}

static pess_status make(const pess__making *making, pess_map *map, uint32_t *cell, pess_error *error) {
    const int64_t k = map->coordinates;
    double *sorted = NULL;
    int64_t *most = NULL;
    PESS_TRY(pess__allocate(&map->edges_from, k + 1, sizeof *map->edges_from, "the bins", error));
    PESS_TRY(pess__allocate(&map->edge, k * making->options->cells, sizeof *map->edge, "the bins", error));
    pess_status status = pess__allocate(&sorted, making->count, sizeof *sorted, "the bins", error);
    if (status == PESS_OK) status = pess__allocate(&most, 2 * k, sizeof *most, "the bins", error);
    if (status == PESS_OK) status = make_edges(making, map, sorted, most, most + k, error);
    free(sorted);
    free(most);
    if (status != PESS_OK) return status;
    map->cells = 1;
    for (int64_t j = 0; j < k; j++) map->cells *= bins_of(map, j);
    find(map, making->x, making->raw, making->count, cell);
    return PESS_OK;
}

static void write_edges(const pess_map *map, pess__sink *sink) {
    for (int64_t j = 0; j < map->coordinates; j++) pess__sink_i64(sink, bins_of(map, j) - 1);
    for (int64_t i = 0; i < map->edges_from[map->coordinates]; i++) pess__sink_double(sink, map->edge[i]);
}

static pess_status read_edges(pess_map *map, pess__cursor *cursor, pess_error *error) {
    const int64_t k = map->coordinates;
    int64_t cells = 1;
    PESS_TRY(pess__allocate(&map->edges_from, k + 1, sizeof *map->edges_from, "the bins", error));
    for (int64_t j = 0; j < k; j++) {
        const int64_t edges = pess__cursor_i64(cursor);
        if (edges < 0 || edges >= PESS_MAX_CELLS || cells * (edges + 1) > map->cells)
            return pess__fail(error, PESS_INPUT, "%s: damaged: its bins do not make up its %lld cells", cursor->name,
                              (long long)map->cells);
        cells *= edges + 1;
        map->edges_from[j + 1] = map->edges_from[j] + edges;
    }
    if (cells != map->cells || cursor->left / sizeof(double) < (size_t)map->edges_from[k])
        return pess__fail(error, PESS_INPUT, "%s: damaged: its bins do not make up its %lld cells", cursor->name,
                          (long long)map->cells);
    PESS_TRY(pess__allocate(&map->edge, map->edges_from[k], sizeof *map->edge, "the bins", error));
    for (int64_t j = 0; j < k; j++)
        for (int64_t i = map->edges_from[j]; i < map->edges_from[j + 1]; i++) {
            map->edge[i] = pess__cursor_double(cursor);
            if (!isfinite(map->edge[i]) || (i > map->edges_from[j] && !(map->edge[i] > map->edge[i - 1])))
                return pess__fail(error, PESS_INPUT, "%s: damaged: the edges of its bins do not ascend", cursor->name);
        }
    return PESS_OK;
}

static void describe(const pess_map *map, int64_t cell, char *text, size_t size) {
    int64_t bin[PESS__MAX_COORDINATES];
    for (int64_t j = map->coordinates - 1; j >= 0; j--) {
        bin[j] = cell % bins_of(map, j);
        cell /= bins_of(map, j);
    }
    for (int64_t j = 0; j < map->coordinates; j++) {
        const double *edge = map->edge + map->edges_from[j];
        const int64_t edges = bins_of(map, j) - 1;
        if (edges == 0) continue;
        pess__describe_interval(map, j, bin[j] > 0 ? edge[bin[j] - 1] : -INFINITY,
                                bin[j] < edges ? edge[bin[j]] : INFINITY, text, size);
    }
}

const pess__map_method pess__map_method_bins = {true, make, find, write_edges, read_edges, describe};
