/* Loops shared out among threads in equal ranges. One thread costs a plain call, not a parallel region. */
#ifndef PESS_CORE_RANGES_H
#define PESS_CORE_RANGES_H

#include <stddef.h>
#include <stdint.h>

/* Called with [from, to) and the number of the range, 0 … threads-1. */
typedef void pess__range(void *context, int64_t from, int64_t to, int part);

static inline void pess__ranges(int threads, int64_t count, pess__range *body, void *context) {
    if (threads <= 1) {
        body(context, 0, count, 0);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int part = 0; part < threads; part++)
        body(context, count * part / threads, count * (part + 1) / threads, part);
}

/* Elements from one thread's scratch to the next one's in an array that holds `count` for each: two cache lines lie
 * between, for a line that two threads write to goes to and fro between their cores. */
static inline int64_t pess__apart(int64_t count, size_t element) {
    const size_t gap = 128;
    return count + (int64_t)((gap + element - 1) / element);
}

#endif
