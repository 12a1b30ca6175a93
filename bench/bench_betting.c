/* The betting bound of importance-weighted returns: 10^4, 10^5 and 10^6 numbers, by one thread and by two. The numbers
 * go to a file for the peer. Usage: bench_betting DUMP */
#include "certify/betting.h"
#include "core/rng.h"
#include "core/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1000000, TIMES = 5 };

/* w·G: weights that are exp of a normal number with mean 1, and five of six episodes end well. */
static void draw(double *values) {
    pess__rng rng = pess__rng_stream(1, "bench betting", 0);
    for (int64_t i = 0; i < MOST; i++) {
        double sum = -6;
        for (int k = 0; k < 12; k++) sum += pess__rng_uniform(&rng);
        values[i] = pess__rng_uniform(&rng) < 0.835 ? exp(0.5 * sum - 0.125) : 0;
    }
}

static double best_time(const pess__bet_numbers *numbers, double *bound) {
    double best = INFINITY;
    for (int turn = 0; turn < TIMES; turn++) {
        const double begun = pess__clock();
        *bound = pess__bet_lower_of(numbers, 0.001);
        best = fmin(best, pess__clock() - begun);
    }
    return best;
}

int main(int argc, char **argv) {
    double *values = malloc(MOST * sizeof *values);
    FILE *dump = argc == 2 ? fopen(argv[1], "wb") : NULL;
    if (values == NULL || dump == NULL) return 1;
    draw(values);
    const bool written = fwrite(values, sizeof *values, MOST, dump) == MOST;
    if (fclose(dump) != 0 || !written) return 1;
    for (int64_t count = 10000; count <= MOST; count *= 10)
        for (int threads = 1; threads <= 2; threads++) {
            double bound = 0;
            const double seconds = best_time(&(pess__bet_numbers){values, count, threads}, &bound);
            (void)printf("{\"count\": %lld, \"threads\": %d, \"seconds\": %.6f, \"bound\": %.15g}\n", (long long)count,
                         threads, seconds, bound);
        }
    free(values);
    return 0;
}
