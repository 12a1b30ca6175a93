/* k-means on rows of floats: bench_cells FILE ROWS COLUMNS CELLS THREADS ITERATIONS prints seconds, seconds of
 * processor time, inertia and iterations as a JSON line. One start, as the peer has. */
#include "cells/kmeans.h"

#include "core/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
    if (argc != 7) return 2;
    const int64_t count = atoll(argv[2]), k = atoll(argv[3]);
    float *x = malloc((size_t)(count * k) * sizeof *x);
    FILE *file = fopen(argv[1], "rb");
    if (x == NULL || file == NULL || fread(x, sizeof *x, (size_t)(count * k), file) != (size_t)(count * k)) return 1;
    (void)fclose(file);
    const pess__rows rows = {x, count, k};
    const pess__kmeans_options options = {.cells = atoll(argv[4]),
                                          .restarts = 1,
                                          .max_iterations = atoll(argv[6]),
                                          .tolerance = 1e-4,
                                          .seed = 1,
                                          .threads = atoi(argv[5])};
    pess__kmeans result;
    pess_error error;
    const double start = pess__clock();
    const clock_t ticks = clock();
    if (pess__kmeans_run(&rows, &options, &result, &error) != PESS_OK) {
        (void)fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    (void)printf("{\"seconds\": %.4f, \"processor\": %.4f, \"inertia\": %.9g, \"iterations\": %lld}\n",
                 pess__clock() - start, (double)(clock() - ticks) / CLOCKS_PER_SEC, result.inertia * (double)count,
                 (long long)result.iterations);
    pess__kmeans_free(&result);
    free(x);
    return 0;
}
