/* How fast a CSV log becomes counts.
 *
 *     bench_ingest generate PATH ROWS STATES ACTIONS BRANCHING
 *                                            writes a log: every pair has BRANCHING next states, rewards are 0 and 1
 *     bench_ingest PATH [THREADS [REPEATS]]  prints {"name":"ingest","ours":seconds,...} for the fastest of REPEATS
 *
 * bench/peer_duckdb.py does the same with DuckDB, bench/peer_ingest.py with pandas. */
#include "core/rng.h"
#include "core/threads.h"
#include "pess.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int generate(const char *path, long long rows, uint64_t states, uint64_t actions, uint64_t branching) {
    FILE *file = fopen(path, "w");
    if (file == NULL) return perror(path), 1;
    pess__rng rng = pess__rng_stream(1, "ingest", 0);
    fputs("state,action,reward,next_state\n", file);
    for (long long i = 0; i < rows; i++) {
        const uint64_t s = pess__rng_below(&rng, states), a = pess__rng_below(&rng, actions);
        const uint64_t k = pess__rng_below(&rng, branching), x = pess__rng_next(&rng);
        /* The k-th next state of a pair lies k times a step of its own away from a place of its own. */
        const uint64_t next = (s * 2654435761u + a * 40503u + k * (1 + s % 97)) % states;
        fprintf(file, "%u,%u,%u,%u\n", (unsigned)s, (unsigned)a, (unsigned)(x & 1), (unsigned)next);
    }
    return fclose(file) == 0 ? 0 : (perror(path), 1);
}

int main(int count, char **arguments) {
    if (count == 7 && strcmp(arguments[1], "generate") == 0)
        return generate(arguments[2], atoll(arguments[3]), strtoull(arguments[4], NULL, 10),
                        strtoull(arguments[5], NULL, 10), strtoull(arguments[6], NULL, 10));
    if (count < 2)
        return fprintf(stderr,
                       "bench_ingest (generate PATH ROWS STATES ACTIONS BRANCHING | PATH [THREADS [REPEATS]])\n"),
               2;
    pess_read_options options = pess_read_options_defaults();
    if (count > 2) options.threads = atoi(arguments[2]);
    const int repeats = count > 3 ? atoi(arguments[3]) : 3;
    double best = 1e300;
    pess_counts_info info = {0};
    for (int i = 0; i < repeats; i++) {
        pess_error error;
        pess_counts *counts = NULL;
        const double before = pess__clock();
        if (pess_counts_read(arguments[1], &options, &counts, &error) != PESS_OK)
            return fprintf(stderr, "%s\n", error.message), 1;
        const double seconds = pess__clock() - before;
        best = seconds < best ? seconds : best;
        pess_counts_get_info(counts, &info);
        pess_counts_destroy(counts);
    }
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    const double pairs = (double)info.states * (double)info.actions;
    printf("{\"name\":\"ingest\",\"ours\":%.6f,\"rows\":%lld,\"successors\":%lld,\"threads\":%d,\"peak_mb\":%.1f,"
           "\"counts_mb\":%.1f}\n",
           best, (long long)info.transitions, (long long)info.successors, pess__threads(options.threads),
           (double)usage.ru_maxrss / 1024, (20 * (double)info.successors + 40 * pairs) / 1e6);
    return 0;
}
