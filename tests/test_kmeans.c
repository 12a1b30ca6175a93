/* k-means: the inner loops agree bit for bit, Lloyd's bounds change nothing, and the bytes do not depend on threads. */
#include "scratch.h"

#include "cells/kmeans.h"
#include "core/rng.h"

#include <math.h>

/* Rows around `blobs` centres on a lattice, a standard deviation of `noise` away. */
static float *blobs(int64_t count, int64_t k, int64_t blob_count, double noise, uint64_t seed) {
    pess__rng rng = pess__rng_stream(seed, "blobs", 0);
    float *x = malloc((size_t)(count * k) * sizeof *x);
    float *centre = malloc((size_t)(blob_count * k) * sizeof *centre);
    assert_non_null(x);
    assert_non_null(centre);
    for (int64_t i = 0; i < blob_count * k; i++) centre[i] = (float)(8 * pess__rng_uniform(&rng) - 4);
    for (int64_t i = 0; i < count; i++) {
        const int64_t b = (int64_t)pess__rng_below(&rng, (uint64_t)blob_count);
        for (int64_t j = 0; j < k; j++)
            x[i * k + j] = (float)((double)centre[b * k + j] + noise * pess__rng_normal(&rng));
    }
    free(centre);
    return x;
}

static pess__kmeans_options options_of(int64_t cells) {
    return (pess__kmeans_options){
        .cells = cells, .restarts = 2, .max_iterations = 300, .tolerance = 1e-4, .seed = 3, .threads = 1};
}

static void every_table_of_loops_gives_the_same_bytes(void **state) {
    (void)state;
    pess_error error;
    size_t count = 0;
    const pess__nearest *const *tables = pess__nearest_list(&count);
    for (int64_t k = 1; k <= 41; k += 8)
        for (int64_t centres = 1; centres <= 70; centres += 23) {
            const int64_t rows = 101;
            float *x = blobs(rows, k, 7, 1, 5), *c = blobs(centres, k, 7, 1, 6);
            pess__panels panels;
            assert_int_equal(pess__panels_create(centres, k, &panels, &error), PESS_OK);
            pess__panels_fill(&panels, c, centres);
            uint32_t cell[2][101];
            float second[2][101], scores[2][101 * PESS__CENTRES];
            pess__nearest_portable.nearest(&panels, x, rows, cell[0], second[0]);
            pess__nearest_portable.scores(&panels, x, rows, scores[0]);
            for (size_t t = 0; t < count; t++) {
                if (!tables[t]->supported()) continue;
                tables[t]->nearest(&panels, x, rows, cell[1], second[1]);
                tables[t]->scores(&panels, x, rows, scores[1]);
                assert_memory_equal(cell[0], cell[1], sizeof cell[0]);
                assert_memory_equal(second[0], second[1], sizeof second[0]);
                assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
            }
            pess__panels_free(&panels);
            free(x);
            free(c);
        }
}

static double squared(const float *a, const float *b, int64_t k) {
    double sum = 0;
    for (int64_t j = 0; j < k; j++) sum += pow((double)a[j] - (double)b[j], 2);
    return sum;
}

/* Lloyd's iteration as it is written in books, from the same start. */
static double plain_lloyd(const pess__rows *rows, const pess__kmeans_options *options, float *centres) {
    const int64_t k = rows->coordinates, cells = options->cells;
    double *sum = calloc((size_t)(cells * k), sizeof *sum), inertia = 0;
    int64_t *number = calloc((size_t)cells, sizeof *number);
    assert_non_null(sum);
    assert_non_null(number);
    for (int iteration = 0; iteration < 300; iteration++) {
        memset(sum, 0, (size_t)(cells * k) * sizeof *sum);
        memset(number, 0, (size_t)cells * sizeof *number);
        inertia = 0;
        for (int64_t i = 0; i < rows->count; i++) {
            int64_t best = 0;
            double least = INFINITY;
            for (int64_t c = 0; c < cells; c++) {
                const double d = squared(rows->x + i * k, centres + c * k, k);
                if (d < least) least = d, best = c;
            }
            inertia += least;
            number[best]++;
            for (int64_t j = 0; j < k; j++) sum[best * k + j] += (double)rows->x[i * k + j];
        }
        for (int64_t i = 0; i < cells * k; i++)
            if (number[i / k] > 0) centres[i] = (float)(sum[i] / (double)number[i / k]);
    }
    free(sum);
    free(number);
    return inertia / (double)rows->count;
}

/* Five centres that come again and again, in one panel and in several, and rows that lie on them. */
static void of_equal_centres_the_first_is_the_nearest(void **state) {
    (void)state;
    enum { K = 3, DIFFERENT = 5, CENTRES = 70 };
    pess_error error;
    size_t count = 0;
    const pess__nearest *const *tables = pess__nearest_list(&count);
    float *different = blobs(DIFFERENT, K, DIFFERENT, 1, 9), centre[CENTRES * K];
    for (int i = 0; i < CENTRES; i++) memcpy(centre + i * K, different + i % DIFFERENT * K, K * sizeof *centre);
    pess__panels panels;
    assert_int_equal(pess__panels_create(CENTRES, K, &panels, &error), PESS_OK);
    pess__panels_fill(&panels, centre, CENTRES);
    for (size_t t = 0; t < count; t++) {
        if (!tables[t]->supported()) continue;
        uint32_t cell[DIFFERENT];
        float second[DIFFERENT];
        tables[t]->nearest(&panels, different, DIFFERENT, cell, second);
        for (uint32_t i = 0; i < DIFFERENT; i++) assert_int_equal(cell[i], i);
    }
    pess__panels_free(&panels);
    free(different);
}

static void bounds_and_ranges_do_not_change_what_lloyd_finds(void **state) {
    (void)state;
    pess_error error;
    const int64_t count = 3000, k = 5, cells = 24;
    float *x = blobs(count, k, 40, 0.8, 1), *start = malloc((size_t)(cells * k) * sizeof *start);
    const pess__rows rows = {x, count, k};
    pess__kmeans_options options = options_of(cells);
    options.restarts = 1;
    options.tolerance = 0;
    options.loops = pess__nearest_best();
    pess__kmeans result;
    assert_int_equal(pess__kmeans_start(&rows, &options, 0, start, &error), PESS_OK);
    const double plain = plain_lloyd(&rows, &options, start);
    assert_int_equal(pess__kmeans_run(&rows, &options, &result, &error), PESS_OK);
    assert_true(result.converged);
    assert_true(fabs(result.inertia - plain) <= 1e-6 * plain);
    for (int64_t i = 0; i < cells * k; i++) assert_true(fabsf(result.centres[i] - start[i]) < 1e-4F);
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < cells; c++)
            assert_true(squared(x + i * k, result.centres + result.cell[i] * k, k) <=
                        squared(x + i * k, result.centres + c * k, k) + 1e-4);
    pess__kmeans_free(&result);
    free(start);
    free(x);
}

static void bytes_do_not_depend_on_threads_or_instructions(void **state) {
    (void)state;
    pess_error error;
    const int64_t count = 20000, k = 7, cells = 50;
    float *x = blobs(count, k, 60, 0.7, 2);
    const pess__rows rows = {x, count, k};
    pess__kmeans_options options = options_of(cells);
    options.first_sample = 2000;
    pess__kmeans first, other;
    assert_int_equal(pess__kmeans_run(&rows, &options, &first, &error), PESS_OK);
    const int threads[] = {2, 5, 1};
    for (int i = 0; i < 3; i++) {
        options.threads = threads[i];
        if (i == 2) options.loops = &pess__nearest_portable;
        assert_int_equal(pess__kmeans_run(&rows, &options, &other, &error), PESS_OK);
        assert_memory_equal(first.centres, other.centres, (size_t)(cells * k) * sizeof *first.centres);
        assert_memory_equal(first.cell, other.cell, (size_t)count * sizeof *first.cell);
        assert_true(first.inertia == other.inertia);
        pess__kmeans_free(&other);
    }
    pess__kmeans_free(&first);
    free(x);
}

static void coarse_to_fine_is_as_good_as_all_rows_at_once(void **state) {
    (void)state;
    pess_error error;
    float *x = blobs(20000, 6, 300, 1, 4);
    const pess__rows rows = {x, 20000, 6};
    pess__kmeans_options options = options_of(60);
    options.threads = 2;
    pess__kmeans coarse, whole;
    options.first_sample = 1000;
    assert_int_equal(pess__kmeans_run(&rows, &options, &coarse, &error), PESS_OK);
    options.first_sample = 20000;
    assert_int_equal(pess__kmeans_run(&rows, &options, &whole, &error), PESS_OK);
    assert_true(coarse.inertia < 1.02 * whole.inertia);
    pess__kmeans_free(&coarse);
    pess__kmeans_free(&whole);
    free(x);
}

static void blobs_that_lie_apart_are_found(void **state) {
    (void)state;
    pess_error error;
    float *x = blobs(5000, 4, 30, 0.02, 9);
    const pess__rows rows = {x, 5000, 4};
    const pess__kmeans_options options = options_of(30);
    pess__kmeans result;
    assert_int_equal(pess__kmeans_run(&rows, &options, &result, &error), PESS_OK);
    assert_true(result.inertia < 2 * 4 * 0.02 * 0.02);
    pess__kmeans_free(&result);
    free(x);
}

/* As many cells as different rows: every row is a centre, although a start may leave cells empty. */
static void each_different_row_can_have_its_cell(void **state) {
    (void)state;
    pess_error error;
    float x[200];
    for (int i = 0; i < 200; i++) x[i] = (float)(i % 10) / 4;
    const pess__rows rows = {x, 200, 1};
    int64_t distinct = 0;
    assert_int_equal(pess__rows_distinct(&rows, 50, &distinct, &error), PESS_OK);
    assert_int_equal(distinct, 10);
    const pess__kmeans_options options = options_of(10);
    pess__kmeans result;
    assert_int_equal(pess__kmeans_run(&rows, &options, &result, &error), PESS_OK);
    assert_true(result.inertia == 0);
    pess__kmeans_free(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_of_loops_gives_the_same_bytes),
        cmocka_unit_test(of_equal_centres_the_first_is_the_nearest),
        cmocka_unit_test(bounds_and_ranges_do_not_change_what_lloyd_finds),
        cmocka_unit_test(bytes_do_not_depend_on_threads_or_instructions),
        cmocka_unit_test(coarse_to_fine_is_as_good_as_all_rows_at_once),
        cmocka_unit_test(blobs_that_lie_apart_are_found),
        cmocka_unit_test(each_different_row_can_have_its_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
