/* Maps from rows of measurements to cells, and the methods that make them. A row has a coordinate for each feature,
 * with missing ones filled in, and one more (0 or 1) for each feature whose absence is a measurement of its own. `raw`
 * coordinates are in the units of the file; standardised ones are z = (raw − middle)/scale. */
#ifndef PESS_CELLS_MAP_H
#define PESS_CELLS_MAP_H

#include "cells/measurements.h"
#include "cells/nearest.h"
#include "core/bytes.h"

enum { PESS__MAX_COORDINATES = 2 * PESS_MAX_FEATURES, PESS__SOURCE_SIZE = 256, PESS__VERSION_SIZE = 64 };

/* A node of a tree: rows whose raw coordinate is below the threshold go left. A leaf has coordinate -1 and a cell. */
typedef struct pess__tree_node {
    int32_t coordinate, left, right, cell;
    double threshold;
} pess__tree_node;

struct pess_map {
    int32_t method;
    pess__name_list names;
    char *feature_text;       /* "age,lactate" */
    pess_map_column *columns; /* [features] */
    int32_t *flag_of;         /* [coordinates] the feature whose absence it tells, or -1 */
    int64_t coordinates, cells;
    int64_t rows, episodes, iterations;
    bool converged;
    double share, clip, inertia;
    uint64_t seed, split_seed;
    char source[PESS__SOURCE_SIZE], version[PESS__VERSION_SIZE];
    float *centre;       /* [cells*coordinates] standardised and clipped: the mean of the cell's rows */
    int64_t *cell_rows;  /* [cells] */
    double *reach;       /* [cells] largest distance of a row that made the cell, not clipped */
    pess__panels panels; /* k-means: the centres as the inner loop reads them */
    int64_t *edges_from; /* bins: [coordinates + 1] where the edges of each coordinate begin in `edge` */
    double *edge;        /* bins: raw, ascending; a row is in the bin above all edges that are not above it */
    int64_t nodes;
    pess__tree_node *node; /* tree: [nodes], the root first, children behind their parents */
};

/* The rows that make the cells. */
typedef struct pess__making {
    const pess_measurements *measurements;
    const int64_t *row; /* [count] their places among the measurements */
    int64_t count;
    const float *x;    /* [count*coordinates] standardised and clipped */
    const double *raw; /* [count*coordinates]; NULL for methods that do not read it */
    const pess_cells_options *options;
} pess__making;

typedef struct pess__map_method {
    bool reads_raw;
    /* Sets map->cells and what is the method's own, and the cell of each row. */
    pess_status (*make)(const pess__making *making, pess_map *map, uint32_t *cell, pess_error *error);
    /* The cells of `rows` rows, of their standardised (x) and raw coordinates. */
    void (*find)(const pess_map *map, const float *x, const double *raw, int64_t rows, uint32_t *cell);
    void (*write)(const pess_map *map, pess__sink *sink);
    pess_status (*read)(pess_map *map, pess__cursor *cursor, pess_error *error);
    void (*describe)(const pess_map *map, int64_t cell, char *text, size_t size);
} pess__map_method;

extern const pess__map_method pess__map_method_kmeans, pess__map_method_bins, pess__map_method_tree;
const pess__map_method *pess__map_method_of(const pess_map *map);

/* The coordinates of a row of features. Returns the feature that is missing although it must not, or -1. */
int64_t pess__map_coordinates(const pess_map *map, const double *row, double *raw, float *x);
/* Where a row of these raw coordinates lies in its cell. */
pess_place pess__map_place(const pess_map *map, const double *raw, uint32_t cell);
/* The column's name, or "lactate is missing" for its flag. */
const char *pess__coordinate_name(const pess_map *map, int64_t coordinate, bool *flag);
/* "1.2 <= lactate < 2.1" appended to text; infinite ends are left out. */
void pess__describe_interval(const pess_map *map, int64_t coordinate, double low, double high, char *text, size_t size);

/* Median, scale, range and rule of every column, from the rows that make the cells. */
pess_status pess__columns_make(const pess_measurements *measurements, const int64_t *row, int64_t count,
                               const pess_cells_options *options, pess_map *map, pess_error *error);
/* PESS_INPUT, and that a rule for this column helps; the sentence is there already. */
pess_status pess__missing_rule_remedy(const char *name, pess_error *error);
/* flag_of and coordinates from the columns' rules. */
pess_status pess__map_set_coordinates(pess_map *map, pess_error *error);

/* The row that follows in the same episode, by step, else by order; -1: none. [rows] */
pess_status pess__next_rows(const pess_measurements *measurements, int64_t **out, pess_error *error);

/* The part of an episode (pess_map_made_of). */
bool pess__makes_cells(const char *episode, double share, uint64_t split_seed);

pess_status pess__map_read_memory(const char *name, const void *bytes, size_t size, pess_map **out, pess_error *error);

#endif
