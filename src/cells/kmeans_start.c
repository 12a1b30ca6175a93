/* Greedy k-means++: the next centre is one of several rows, each drawn with probability ∝ D²(x), its squared distance
 * to the nearest centre so far: the one that leaves the smallest sum of D². */
#include "cells/kmeans.h"

#include "core/memory.h"
#include "core/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = PESS__CENTRES, RANGES = PESS__ROW_RANGES };

typedef struct start {
    const pess__rows *rows;
    const pess__nearest *loops;
    int threads, candidates;
    pess__panels panels;        /* of one panel: the candidates */
    float *scores;              /* [count*16] of the candidates */
    double *length;             /* [count] |x|² */
    double *away;               /* [count] D² */
    double sum[RANGES];         /* of D², range by range */
    double left[RANGES][PANEL]; /* the same for each candidate */
} start;

static pess_status start_create(const pess__rows *rows, const pess__kmeans_options *options, start *s,
                                pess_error *error) {
    *s = (start){.rows = rows, .loops = options->loops, .threads = options->threads};
    s->candidates = 2 + (int)log((double)options->cells);
    if (s->candidates > PANEL) s->candidates = PANEL;
    PESS_TRY(pess__panels_create(PANEL, rows->coordinates, &s->panels, error));
    PESS_TRY(pess__allocate(&s->scores, rows->count * PANEL, sizeof *s->scores, "the start of k-means", error));
    PESS_TRY(pess__allocate(&s->length, rows->count, sizeof *s->length, "the start of k-means", error));
    return pess__allocate(&s->away, rows->count, sizeof *s->away, "the start of k-means", error);
}

static void start_free(start *s) {
    pess__panels_free(&s->panels);
    free(s->scores);
    free(s->length);
    free(s->away);
}

static void measure_lengths(start *s) {
    const int64_t k = s->rows->coordinates;
#pragma omp parallel for num_threads(s->threads) schedule(static) if (s->threads > 1)
    for (int64_t i = 0; i < s->rows->count; i++) {
        double sum = 0;
        for (int64_t j = 0; j < k; j++) sum += (double)s->rows->x[i * k + j] * (double)s->rows->x[i * k + j];
        s->length[i] = sum;
        s->away[i] = INFINITY;
    }
}

static double distance(const start *s, int64_t row, int candidate) {
    const double d = s->length[row] + 2 * (double)s->scores[row * PANEL + candidate];
    return d > 0 ? d : 0;
}

/* Distances of all rows to the candidates, and what would be left with each of them. */
static void try_candidates(start *s, const float *centres) {
    const int64_t k = s->rows->coordinates;
    pess__panels_fill(&s->panels, centres, s->candidates);
#pragma omp parallel for num_threads(s->threads) schedule(dynamic, 1) if (s->threads > 1)
    for (int range = 0; range < RANGES; range++) {
        const int64_t from = pess__range_begin(s->rows->count, range);
        const int64_t to = pess__range_begin(s->rows->count, range + 1);
        double left[PANEL] = {0};
        s->loops->scores(&s->panels, s->rows->x + from * k, to - from, s->scores + from * PANEL);
        for (int64_t i = from; i < to; i++)
            for (int c = 0; c < s->candidates; c++) {
                const double d = distance(s, i, c);
                left[c] += d < s->away[i] ? d : s->away[i];
            }
        memcpy(s->left[range], left, sizeof left);
    }
}

static void take_candidate(start *s, int candidate) {
#pragma omp parallel for num_threads(s->threads) schedule(static) if (s->threads > 1)
    for (int range = 0; range < RANGES; range++) {
        const int64_t to = pess__range_begin(s->rows->count, range + 1);
        for (int64_t i = pess__range_begin(s->rows->count, range); i < to; i++) {
            const double d = distance(s, i, candidate);
            if (d < s->away[i]) s->away[i] = d;
        }
        s->sum[range] = s->left[range][candidate];
    }
}

static int best_candidate(const start *s) {
    int best = 0;
    double least = INFINITY;
    for (int c = 0; c < s->candidates; c++) {
        double sum = 0;
        for (int range = 0; range < RANGES; range++) sum += s->left[range][c];
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    return best;
}

/* A row with probability ∝ D². */
static int64_t draw_row(const start *s, pess__rng *rng) {
    double total = 0;
    for (int range = 0; range < RANGES; range++) total += s->sum[range];
    double at = pess__rng_uniform(rng) * total;
    int range = 0;
    for (; range < RANGES - 1 && at >= s->sum[range]; range++) at -= s->sum[range];
    const int64_t from = pess__range_begin(s->rows->count, range), to = pess__range_begin(s->rows->count, range + 1);
    int64_t last = from < to ? from : s->rows->count - 1;
    for (int64_t i = from; i < to; i++) {
        if (s->away[i] > 0) last = i;
        if (at < s->away[i]) return i;
        at -= s->away[i];
    }
    return last;
}

/* The next centre: of several rows drawn, the one that leaves least. */
static void choose_centre(start *s, pess__rng *rng, int64_t chosen, float *tried, float *centre) {
    const pess__rows *rows = s->rows;
    const int64_t k = rows->coordinates;
    for (int c = 0; c < s->candidates; c++) {
        const int64_t row = chosen == 0 ? (int64_t)pess__rng_below(rng, (uint64_t)rows->count) : draw_row(s, rng);
        memcpy(tried + c * k, rows->x + row * k, (size_t)k * sizeof *tried);
    }
    try_candidates(s, tried);
    const int best = best_candidate(s);
    take_candidate(s, best);
    memcpy(centre, tried + best * k, (size_t)k * sizeof *centre);
}

pess_status pess__kmeans_start(const pess__rows *rows, const pess__kmeans_options *options, int64_t restart,
                               float *centres, pess_error *error) {
    start s;
    const int64_t k = rows->coordinates;
    float *tried = NULL;
    pess_status status = start_create(rows, options, &s, error);
    if (status == PESS_OK) status = pess__allocate(&tried, PANEL * k, sizeof *tried, "the start of k-means", error);
    if (status == PESS_OK) {
        pess__rng rng = pess__rng_stream(options->seed, "k-means start", (uint64_t)restart);
        measure_lengths(&s);
        for (int64_t chosen = 0; status == PESS_OK && chosen < options->cells; chosen++) {
            status = pess__kmeans_report(options, chosen, options->cells, "centres", error);
            if (status == PESS_OK) choose_centre(&s, &rng, chosen, tried, centres + chosen * k);
        }
    }
    free(tried);
    start_free(&s);
    return status;
}
