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

/* Where a thread cannot be made, the runtime of OpenMP ends the process. So before a team is asked for, as many threads
 * are made as it will have, all there at once; where some cannot be, the team is smaller. */
static pthread_mutex_t trial_gate = PTHREAD_MUTEX_INITIALIZER;

static void *pass_gate(void *unused) {
    (void)pthread_mutex_lock(&trial_gate);
    (void)pthread_mutex_unlock(&trial_gate);
    return unused;
}

static int possible(int threads) {
    enum { MOST = 1024 };
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    static int known = 1;
    static pthread_t made[MOST];
    (void)pthread_mutex_lock(&one_at_a_time);
    int count = 0;
    if (threads > known) {
        (void)pthread_mutex_lock(&trial_gate);
        while (count < threads - 1 && count < MOST && pthread_create(&made[count], NULL, pass_gate, NULL) == 0) count++;
        (void)pthread_mutex_unlock(&trial_gate);
        for (int i = 0; i < count; i++) (void)pthread_join(made[i], NULL);
        if (count + 1 > known) known = count + 1;
    }
    const int result = threads < known ? threads : known;
    (void)pthread_mutex_unlock(&one_at_a_time);
    return result;
}

int pess__threads(int wanted) {
    int threads = wanted > 0 ? wanted : omp_get_max_threads();
    if (threads <= 1 || atomic_load(&works_alone) || (threads = possible(threads)) == 1) return 1;
    (void)pthread_once(&watched, watch_forks);
    atomic_store(&had_team, true);
    return threads;
}

int pess__threads_still(int threads) { return atomic_load(&works_alone) ? 1 : threads; }

double pess__clock(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void pess__keep_failure(pess_status own, const pess_error *why, pess_status *status, pess_error *error) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (own == PESS_OK) return;
    (void)pthread_mutex_lock(&lock);
    if (*status == PESS_OK) {
        *status = own;
        if (error != NULL) *error = *why;
    }
    (void)pthread_mutex_unlock(&lock);
}
