/* A call on a log, again and again with one allocation failing after another, until none is left to fail: the first
 * `one_by_one`, then fewer and fewer of them, an eighth farther on each time. */
#ifndef PESS_TESTS_FAILING_MEMORY_H
#define PESS_TESTS_FAILING_MEMORY_H

#include "scratch.h"

#include "core/memory_hook.h"

/* How many failed: each of them said so in a sentence. Not so where a directory cannot be swept of old temporaries or
 * synced, or a file cannot be looked at for what it is and is read all the same: twice for each of three files at most.
 */
static inline int64_t fail_in_turn(pess_status (*run)(const pess_dataset *, pess_error *), const pess_dataset *data,
                                   int64_t one_by_one) {
    enum { MOST = 10000000, HARMLESS = 6 };
    int64_t failed = 0, unnoticed = 0;
    for (int64_t n = 1; n < MOST; n += n < one_by_one ? 1 : n / 8, failed++) {
        pess_error error = {0};
        pess__memory_fail_at(n);
        const pess_status status = run(data, &error);
        const bool was_the_last = !pess__memory_failed();
        pess__memory_fail_at(0);
        if (was_the_last && status == PESS_OK) return failed;
        if (status == PESS_OK && unnoticed++ < HARMLESS) continue;
        if (status != PESS_MEMORY)
            fail_msg("allocation %lld: %s", (long long)n, status == PESS_OK ? "nobody noticed" : error.message);
        assert_int_equal(error.status, PESS_MEMORY);
        assert_true(error.message[0] != '\0');
    }
    fail_msg("allocation %d fails, and still it is not the last", MOST);
    return failed;
}

#endif
