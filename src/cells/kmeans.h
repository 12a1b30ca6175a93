/* k-means: centres c_1 … c_K that make Σ_i min_j |x_i − c_j|² small.
 *
 * Greedy k-means++ (Arthur & Vassilvitskii 2007) and Lloyd's iteration, from coarse to fine: the start and its restarts
 * work on a stratified sample of the rows, the best of them goes on with four times as many rows until all take part.
 * So the last iterations, over all rows and the most expensive, begin close to their end, and in each of them a row
 * whose nearest centre cannot have changed is passed over: Hamerly's bounds (2010) on its distance to its own and to
 * the second nearest centre, moved by as much as the centres were. Sums run in a fixed order. */
#ifndef PESS_CELLS_KMEANS_H
#define PESS_CELLS_KMEANS_H

#include "cells/nearest.h"

typedef struct pess__rows {
    const float *x; /* [count*coordinates] */
    int64_t count, coordinates;
} pess__rows;

typedef struct pess__kmeans_options {
    int64_t cells, restarts, max_iterations;
    double tolerance; /* stop where the squared moves of the centres sum to less than this times the mean variance */
    uint64_t seed;
    int threads;
    pess_progress progress;
    const pess__nearest *loops; /* NULL: the best of this machine */
    int64_t first_sample;       /* rows of the first sample; 0: chosen by the number of cells */
} pess__kmeans_options;

typedef struct pess__kmeans {
    float *centres;     /* [cells*coordinates] */
    uint32_t *cell;     /* [count] the nearest centre of each row */
    double inertia;     /* mean squared distance */
    int64_t iterations; /* over all rows */
    bool converged;
} pess__kmeans;

/* There are at least options->cells different rows (pess__rows_distinct). */
pess_status pess__kmeans_run(const pess__rows *rows, const pess__kmeans_options *options, pess__kmeans *out,
                             pess_error *error);
void pess__kmeans_free(pess__kmeans *result);

/* How many different rows there are, counted up to `limit`. */
pess_status pess__rows_distinct(const pess__rows *rows, int64_t limit, int64_t *out, pess_error *error);

/* Rows are summed in this many equal ranges, then range after range: a number that does not depend on the threads. */
enum { PESS__ROW_RANGES = 32 };

static inline int64_t pess__range_begin(int64_t count, int range) { return count * range / PESS__ROW_RANGES; }

/* Reports progress; PESS_INTERRUPTED where the caller asked to stop. */
pess_status pess__kmeans_report(const pess__kmeans_options *options, int64_t done, int64_t total, const char *unit,
                                pess_error *error);
/* Greedy k-means++: cells centres to `centres`; the stream is (seed, "k-means start", restart). */
pess_status pess__kmeans_start(const pess__rows *rows, const pess__kmeans_options *options, int64_t restart,
                               float *centres, pess_error *error);

#endif
