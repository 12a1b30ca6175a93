#include "core/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

/* After fork() the child has none of the parent's threads, and a team that was open there would be waited for for ever:
 * a child of a process that has had a team works alone. Results do not depend on it. */
static atomic_bool had_team, works_alone;
static pthread_once_t watched = PTHREAD_ONCE_INIT;

static void in_child(void) { atomic_store(&works_alone, atomic_load(&had_team)); }

static void watch_forks(void) { (void)pthread_atfork(NULL, NULL, in_child); }

int pess__threads(int wanted) {
    const int threads = wanted > 0 ? wanted : omp_get_max_threads();
    if (threads <= 1 || atomic_load(&works_alone)) return 1;
    (void)pthread_once(&watched, watch_forks);
    atomic_store(&had_team, true);
    return threads;
}

double pess__clock(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
