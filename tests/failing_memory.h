/* A call on a log, again and again with one allocation failing after another, until none is left to fail: the first
 * `one_by_one`, then fewer and fewer of them, an eighth farther on each time; and one from every place in the library
 * that asks for memory, told by its callers. */
#ifndef PESS_TESTS_FAILING_MEMORY_H
#define PESS_TESTS_FAILING_MEMORY_H

#include "scratch.h"

#include "core/memory_hook.h"

#include <execinfo.h>
#include <pthread.h>

typedef pess_status (*failing_call)(const pess_dataset *, pess_error *);

/* ---- places: chains of callers, each tried once in a program */

enum { CALLERS = 8, PLACES = 1 << 14 };

static uint64_t place_seen[PLACES];                   /* by open addressing; 0: free */
static int64_t place_first[PLACES], place_new, asked; /* the allocations that are to fail, and how many there were */
static pthread_mutex_t place_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void note_place(void) {
    void *callers[CALLERS];
    const int count = backtrace(callers, CALLERS);
    uint64_t hash = 14695981039346656037u;
    for (int i = 1; i < count; i++) hash = (hash ^ (uint64_t)(uintptr_t)callers[i]) * 1099511628211u;
    (void)pthread_mutex_lock(&place_lock);
    asked++;
    uint64_t at = hash % PLACES;
    while (place_seen[at] != 0 && place_seen[at] != hash) at = (at + 1) % PLACES;
    if (place_seen[at] == 0) {
        place_seen[at] = hash;
        place_first[place_new++] = asked;
    }
    (void)pthread_mutex_unlock(&place_lock);
}

/* The first allocation from every place that no call before has tried: place_first [place_new]. */
static inline void find_places(failing_call run, const pess_dataset *data) {
    pess_error error = {0};
    place_new = asked = 0;
    pess__memory_watch(note_place);
    const pess_status status = run(data, &error);
    pess__memory_watch(NULL);
    assert_ok(status, &error);
}

/* ---- failures */

/* Allocation n fails, which is said in a sentence; false where there are not so many. Not said where a directory cannot
 * be swept of old temporaries or synced, or a file cannot be looked at for what it is and is read all the same: twice
 * for each of three files at most. */
static inline bool fail_once(failing_call run, const pess_dataset *data, int64_t n, int64_t *unnoticed) {
    enum { HARMLESS = 6 };
    pess_error error = {0};
    pess__memory_fail_at(n);
    const pess_status status = run(data, &error);
    const bool was_the_last = !pess__memory_failed();
    pess__memory_fail_at(0);
    if (was_the_last && status == PESS_OK) return false;
    if (status == PESS_OK && (*unnoticed)++ < HARMLESS) return true;
    if (status != PESS_MEMORY)
        fail_msg("allocation %lld: %s", (long long)n, status == PESS_OK ? "nobody noticed" : error.message);
    assert_int_equal(error.status, PESS_MEMORY);
    assert_true(error.message[0] != '\0');
    return true;
}

/* How many failed. */
static inline int64_t fail_in_turn(failing_call run, const pess_dataset *data, int64_t one_by_one) {
    int64_t failed = 0, unnoticed = 0;
    for (int64_t n = 1; fail_once(run, data, n, &unnoticed); n += n < one_by_one ? 1 : n / 8) failed++;
    if (one_by_one == INT64_MAX) return failed;
    unnoticed = 0;
    find_places(run, data);
    for (int64_t i = 0; i < place_new; i++) failed += fail_once(run, data, place_first[i], &unnoticed);
    return failed;
}

#endif
