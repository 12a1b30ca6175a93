#include "cells/kmeans.h"

#include "core/memory.h"
#include "core/ranges.h"
#include "core/rng.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX /* the cell of a row that has none yet */

enum { RANGES = PESS__ROW_RANGES, ROWS_AT_ONCE = 480, SAMPLE_PER_CELL = 64, SMALL_SAMPLE = 20000, GROWTH = 4 };

/* ---- Lloyd's iteration with Hamerly's bounds */

typedef struct lloyd {
    const pess__rows *rows;
    const pess__kmeans_options *options;
    pess__panels panels;
    float *centres;         /* [cells*k] */
    uint32_t *cell;         /* [count] */
    double *upper, *lower;  /* [count] of the distances to the own centre and to any other */
    double *sum;            /* [RANGES + 1][cells*k] of the rows of each cell, range by range; then of all */
    int64_t *number;        /* [RANGES + 1][cells] likewise */
    double *moved;          /* [cells] how far each centre went in the last step */
    double fastest, second; /* the two longest moves */
    int64_t fastest_cell;
    double variance; /* mean over the coordinates */
} lloyd;

/* Rows whose nearest centre has to be found, side by side. */
typedef struct pending {
    int64_t count, row[ROWS_AT_ONCE];
    uint32_t cell[ROWS_AT_ONCE];
    float second[ROWS_AT_ONCE];
    float *x; /* [ROWS_AT_ONCE*k] */
} pending;

static void lloyd_free(lloyd *l) {
    pess__panels_free(&l->panels);
    free(l->cell);
    free(l->upper);
    free(l->lower);
    free(l->sum);
    free(l->number);
    free(l->moved);
}

static double mean_variance(const pess__rows *rows) {
    const int64_t k = rows->coordinates, n = rows->count;
    double total = 0;
    for (int64_t j = 0; j < k; j++) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < n; i++) sum += (double)rows->x[i * k + j];
        const double mean = sum / (double)n;
        for (int64_t i = 0; i < n; i++) squares += pow((double)rows->x[i * k + j] - mean, 2);
        total += squares / (double)n;
    }
    return total / (double)k;
}

/* `centres` is borrowed and changed. */
static pess_status lloyd_create(const pess__rows *rows, const pess__kmeans_options *options, float *centres, lloyd *l,
                                pess_error *error) {
    const int64_t cells = options->cells, k = rows->coordinates;
    const char *what = "k-means";
    *l = (lloyd){.rows = rows, .options = options, .centres = centres, .variance = mean_variance(rows)};
    PESS_TRY(pess__panels_create(cells, k, &l->panels, error));
    PESS_TRY(pess__allocate(&l->cell, rows->count, sizeof *l->cell, what, error));
    PESS_TRY(pess__allocate(&l->upper, rows->count, sizeof *l->upper, what, error));
    PESS_TRY(pess__allocate(&l->lower, rows->count, sizeof *l->lower, what, error));
    PESS_TRY(pess__allocate(&l->sum, (RANGES + 1) * cells * k, sizeof *l->sum, what, error));
    PESS_TRY(pess__allocate(&l->number, (RANGES + 1) * cells, sizeof *l->number, what, error));
    PESS_TRY(pess__allocate(&l->moved, cells, sizeof *l->moved, what, error));
    for (int64_t i = 0; i < rows->count; i++) l->cell[i] = NOWHERE;
    return PESS_OK;
}

static double squared_distance(const float *a, const float *b, int64_t k) {
    double sum = 0;
    for (int64_t j = 0; j < k; j++) {
        const double d = (double)a[j] - (double)b[j];
        sum += d * d;
    }
    return sum;
}

/* The row goes from its cell to another, and so do the sums of its range. */
static void move_row(lloyd *l, int range, int64_t row, uint32_t to) {
    const int64_t k = l->rows->coordinates, cells = l->options->cells;
    const float *x = l->rows->x + row * k;
    const uint32_t from = l->cell[row];
    double *sum = l->sum + range * cells * k;
    int64_t *number = l->number + range * cells;
    for (int64_t j = 0; j < k && from != NOWHERE; j++) sum[(int64_t)from * k + j] -= (double)x[j];
    for (int64_t j = 0; j < k; j++) sum[(int64_t)to * k + j] += (double)x[j];
    if (from != NOWHERE) number[from]--;
    number[to]++;
    l->cell[row] = to;
}

/* Finds the nearest centres of the rows that wait. Scores are floats: the lower bound leaves room for their rounding.
 */
static void settle_pending(lloyd *l, pending *p, int range) {
    const int64_t k = l->rows->coordinates;
    l->options->loops->nearest(&l->panels, p->x, p->count, p->cell, p->second);
    for (int64_t i = 0; i < p->count; i++) {
        const float *x = p->x + i * k;
        const int64_t row = p->row[i];
        double length = 0;
        for (int64_t j = 0; j < k; j++) length += (double)x[j] * (double)x[j];
        const double second = length + 2 * (double)p->second[i] - 1e-5 * (1 + length);
        l->lower[row] = second > 0 ? sqrt(second) : 0;
        l->upper[row] = sqrt(squared_distance(x, l->centres + (int64_t)p->cell[i] * k, k));
        if (p->cell[i] != l->cell[row]) move_row(l, range, row, p->cell[i]);
    }
    p->count = 0;
}

/* Can the nearest centre of the row have changed? */
static bool bounds_hold(lloyd *l, int64_t row) {
    const uint32_t c = l->cell[row];
    if (c == NOWHERE) return false;
    l->lower[row] -= c == l->fastest_cell ? l->second : l->fastest;
    l->upper[row] += l->moved[c];
    if (l->upper[row] <= l->lower[row]) return true;
    if (l->lower[row] <= 0) return false;
    const int64_t k = l->rows->coordinates;
    l->upper[row] = sqrt(squared_distance(l->rows->x + row * k, l->centres + (int64_t)c * k, k));
    return l->upper[row] <= l->lower[row];
}

static void assign_range(lloyd *l, pending *p, int range) {
    const int64_t k = l->rows->coordinates, to = pess__range_begin(l->rows->count, range + 1);
    for (int64_t row = pess__range_begin(l->rows->count, range); row < to; row++) {
        if (bounds_hold(l, row)) continue;
        memcpy(p->x + p->count * k, l->rows->x + row * k, (size_t)k * sizeof *p->x);
        p->row[p->count++] = row;
        if (p->count == ROWS_AT_ONCE) settle_pending(l, p, range);
    }
    settle_pending(l, p, range);
}

static pess_status assign(lloyd *l, pess_error *error) {
    const int64_t k = l->rows->coordinates, room = pess__apart(ROWS_AT_ONCE * k, sizeof(float));
    const int threads = l->options->threads;
    float *x = NULL;
    PESS_TRY(pess__allocate(&x, threads * room, sizeof *x, "k-means", error));
    pess__panels_fill(&l->panels, l->centres, l->options->cells);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
    for (int range = 0; range < RANGES; range++) {
        pending p = {.x = x + omp_get_thread_num() * room};
        assign_range(l, &p, range);
    }
    free(x);
    return PESS_OK;
}

/* The sums of all ranges, behind the last one. */
static void add_ranges(lloyd *l) {
    const int64_t cells = l->options->cells, size = cells * l->rows->coordinates;
    double *sum = l->sum + RANGES * size;
    int64_t *number = l->number + RANGES * cells;
    memcpy(sum, l->sum, (size_t)size * sizeof *sum);
    memcpy(number, l->number, (size_t)cells * sizeof *number);
    for (int range = 1; range < RANGES; range++) {
        for (int64_t i = 0; i < size; i++) sum[i] += l->sum[range * size + i];
        for (int64_t c = 0; c < cells; c++) number[c] += l->number[range * cells + c];
    }
}

static int range_of(const pess__rows *rows, int64_t row) {
    int range = 0;
    while (pess__range_begin(rows->count, range + 1) <= row) range++;
    return range;
}

/* The row farthest from its own centre, the first of equals, of a cell that can spare it; -1: none. */
static int64_t farthest_row(const lloyd *l) {
    const int64_t k = l->rows->coordinates, *number = l->number + RANGES * l->options->cells;
    int64_t farthest = -1;
    double most = 0;
    for (int64_t i = 0; i < l->rows->count; i++) {
        if (number[l->cell[i]] < 2) continue;
        const double d = squared_distance(l->rows->x + i * k, l->centres + (int64_t)l->cell[i] * k, k);
        if (d > most) {
            most = d;
            farthest = i;
        }
    }
    return farthest;
}

/* An empty cell takes that row, and its centre goes there. */
static void fill_empty_cells(lloyd *l) {
    const int64_t *number = l->number + RANGES * l->options->cells;
    for (int64_t empty = 0; empty < l->options->cells; empty++) {
        if (number[empty] > 0) continue;
        const int64_t row = farthest_row(l);
        if (row < 0) return;
        move_row(l, range_of(l->rows, row), row, (uint32_t)empty);
        l->lower[row] = 0;
        add_ranges(l);
    }
}

/* Centres become the means of their rows; returns the sum of the squared moves. */
static double move_centres(lloyd *l) {
    const int64_t k = l->rows->coordinates, cells = l->options->cells;
    const double *sum = l->sum + RANGES * cells * k;
    const int64_t *number = l->number + RANGES * cells;
    double total = 0;
    l->fastest = l->second = 0;
    for (int64_t c = 0; c < cells; c++) {
        double square = 0;
        for (int64_t j = 0; j < k && number[c] > 0; j++) {
            const float mean = (float)(sum[c * k + j] / (double)number[c]);
            square += pow((double)mean - (double)l->centres[c * k + j], 2);
            l->centres[c * k + j] = mean;
        }
        total += square;
        l->moved[c] = sqrt(square);
        if (l->moved[c] > l->fastest) {
            l->second = l->fastest;
            l->fastest = l->moved[c];
            l->fastest_cell = c;
        } else if (l->moved[c] > l->second) {
            l->second = l->moved[c];
        }
    }
    return total;
}

static double inertia(const lloyd *l) {
    const int64_t k = l->rows->coordinates;
    double sum[RANGES], total = 0;
#pragma omp parallel for num_threads(l->options->threads) schedule(static) if (l->options->threads > 1)
    for (int range = 0; range < RANGES; range++) {
        const int64_t to = pess__range_begin(l->rows->count, range + 1);
        sum[range] = 0;
        for (int64_t i = pess__range_begin(l->rows->count, range); i < to; i++)
            sum[range] += squared_distance(l->rows->x + i * k, l->centres + (int64_t)l->cell[i] * k, k);
    }
    for (int range = 0; range < RANGES; range++) total += sum[range];
    return total / (double)l->rows->count;
}

pess_status pess__kmeans_report(const pess__kmeans_options *options, int64_t done, int64_t total, const char *unit,
                                pess_error *error) {
    const pess_progress *progress = &options->progress;
    if (progress->report == NULL || progress->report(progress->user, "k-means", (double)done, (double)total, unit))
        return PESS_OK;
    return pess__fail(error, PESS_INTERRUPTED, "k-means was interrupted");
}

/* Until the centres rest or the limit is reached; in the end every row is in the cell of its nearest centre, looked for
 * among all of them. */
static pess_status lloyd_run(lloyd *l, int64_t *iterations, bool *converged, pess_error *error) {
    *converged = false;
    for (*iterations = 0; !*converged && *iterations < l->options->max_iterations; ++*iterations) {
        PESS_TRY(pess__kmeans_report(l->options, *iterations, l->options->max_iterations, "iterations", error));
        PESS_TRY(assign(l, error));
        add_ranges(l);
        fill_empty_cells(l);
        *converged = move_centres(l) <= l->options->tolerance * l->variance;
    }
    for (int64_t i = 0; i < l->rows->count; i++) l->lower[i] = 0;
    return assign(l, error);
}

/* ---- from coarse to fine */

/* One row of each of `count` equal ranges. */
static pess_status sample_rows(const pess__rows *rows, int64_t count, uint64_t seed, pess__rows *out,
                               pess_error *error) {
    const int64_t k = rows->coordinates;
    float *x = NULL;
    PESS_TRY(pess__allocate(&x, count * k, sizeof *x, "a sample of the rows", error));
    pess__rng rng = pess__rng_stream(seed, "k-means sample", (uint64_t)count);
    for (int64_t i = 0; i < count; i++) {
        const int64_t from = (int64_t)((double)i * (double)rows->count / (double)count);
        const int64_t to = (int64_t)((double)(i + 1) * (double)rows->count / (double)count);
        const int64_t row = from + (int64_t)pess__rng_below(&rng, (uint64_t)(to - from));
        memcpy(x + i * k, rows->x + row * k, (size_t)k * sizeof *x);
    }
    *out = (pess__rows){x, count, k};
    return PESS_OK;
}

/* The best of several starts on these rows. */
static pess_status best_start(const pess__rows *rows, const pess__kmeans_options *options, float *centres,
                              pess_error *error) {
    const size_t bytes = (size_t)(options->cells * rows->coordinates) * sizeof *centres;
    float *tried = NULL;
    double least = INFINITY;
    PESS_TRY(pess__allocate(&tried, options->cells * rows->coordinates, sizeof *tried, "the centres", error));
    pess_status status = PESS_OK;
    for (int64_t restart = 0; status == PESS_OK && restart < options->restarts; restart++) {
        lloyd l = {0};
        int64_t iterations = 0;
        bool converged = false;
        status = pess__kmeans_start(rows, options, restart, tried, error);
        if (status == PESS_OK) status = lloyd_create(rows, options, tried, &l, error);
        if (status == PESS_OK) status = lloyd_run(&l, &iterations, &converged, error);
        if (status == PESS_OK) {
            const double found = inertia(&l);
            if (found < least) {
                least = found;
                memcpy(centres, tried, bytes);
            }
        }
        lloyd_free(&l);
    }
    free(tried);
    return status;
}

static pess_status refine(const pess__rows *rows, const pess__kmeans_options *options, pess__kmeans *out,
                          pess_error *error) {
    lloyd l;
    pess_status status = lloyd_create(rows, options, out->centres, &l, error);
    if (status == PESS_OK) status = lloyd_run(&l, &out->iterations, &out->converged, error);
    if (status == PESS_OK) {
        out->inertia = inertia(&l);
        free(out->cell);
        out->cell = l.cell;
        l.cell = NULL;
    }
    lloyd_free(&l);
    return status;
}

static pess_status first_sample(const pess__rows *rows, const pess__kmeans_options *options, int64_t *size,
                                pess_error *error) {
    int64_t wanted = options->first_sample;
    if (wanted == 0) wanted = SAMPLE_PER_CELL * options->cells;
    if (options->first_sample == 0 && wanted < SMALL_SAMPLE) wanted = SMALL_SAMPLE;
    *size = wanted < rows->count / 2 ? wanted : rows->count;
    if (*size == rows->count) return PESS_OK;
    pess__rows sample = {0};
    PESS_TRY(sample_rows(rows, *size, options->seed, &sample, error));
    int64_t distinct = 0;
    const pess_status status = pess__rows_distinct(&sample, options->cells, &distinct, error);
    if (status == PESS_OK && distinct < options->cells) *size = rows->count; /* rows that repeat themselves */
    free((void *)(uintptr_t)sample.x);
    return status;
}

static pess_status run(const pess__rows *rows, const pess__kmeans_options *options, pess__kmeans *out,
                       pess_error *error) {
    int64_t size = 0;
    PESS_TRY(first_sample(rows, options, &size, error));
    for (bool started = false;; started = true, size = size * GROWTH <= rows->count / 2 ? size * GROWTH : rows->count) {
        pess__rows sample = *rows;
        if (size < rows->count) PESS_TRY(sample_rows(rows, size, options->seed, &sample, error));
        pess_status status = started ? PESS_OK : best_start(&sample, options, out->centres, error);
        if (status == PESS_OK) status = refine(&sample, options, out, error);
        if (size < rows->count) free((void *)(uintptr_t)sample.x);
        if (status != PESS_OK || size == rows->count) return status;
    }
}

pess_status pess__kmeans_run(const pess__rows *rows, const pess__kmeans_options *options, pess__kmeans *out,
                             pess_error *error) {
    pess__kmeans_options settled = *options;
    if (settled.loops == NULL) settled.loops = pess__nearest_best();
    pess__kmeans result = {0};
    PESS_TRY(pess__allocate(&result.centres, options->cells * rows->coordinates, sizeof *result.centres, "the centres",
                            error));
    const pess_status status = run(rows, &settled, &result, error);
    if (status == PESS_OK)
        *out = result;
    else
        pess__kmeans_free(&result);
    return status;
}

void pess__kmeans_free(pess__kmeans *result) {
    free(result->centres);
    free(result->cell);
    result->centres = NULL;
    result->cell = NULL;
}

/* ---- different rows */

static uint64_t hash_row(const float *x, int64_t k) {
    uint64_t h = 14695981039346656037u;
    for (int64_t j = 0; j < k; j++) {
        const float value = x[j] + 0.0F; /* -0 is 0 */
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        h = (h ^ bits) * 1099511628211u;
        h ^= h >> 29;
    }
    return h;
}

static bool equal_rows(const float *a, const float *b, int64_t k) {
    for (int64_t j = 0; j < k; j++)
        if (a[j] != b[j]) return false;
    return true;
}

pess_status pess__rows_distinct(const pess__rows *rows, int64_t limit, int64_t *out, pess_error *error) {
    const int64_t k = rows->coordinates;
    int64_t slots = 64, found = 0;
    while (slots < 4 * limit) slots *= 2;
    int64_t *slot = NULL; /* row + 1 */
    PESS_TRY(pess__allocate(&slot, slots, sizeof *slot, "the different rows", error));
    for (int64_t i = 0; i < rows->count && found < limit; i++) {
        const float *x = rows->x + i * k;
        uint64_t at = hash_row(x, k) & (uint64_t)(slots - 1);
        while (slot[at] != 0 && !equal_rows(rows->x + (slot[at] - 1) * k, x, k)) at = (at + 1) & (uint64_t)(slots - 1);
        found += slot[at] == 0;
        if (slot[at] == 0) slot[at] = i + 1;
    }
    free(slot);
    *out = found;
    return PESS_OK;
}
