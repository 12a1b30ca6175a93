#include "core/threads.h"

#include <time.h>

int pess__threads(int wanted) { return wanted > 0 ? wanted : omp_get_max_threads(); }

double pess__clock(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
