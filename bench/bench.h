/* What the benchmarks share. */
#ifndef PESS_BENCH_H
#define PESS_BENCH_H

#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>

static inline void must(pess_status status, const pess_error *error) {
    if (status == PESS_OK) return;
    fprintf(stderr, "benchmark: %s\n", error->message);
    exit(1);
}

static inline void *array(int64_t count, size_t element) {
    pess_error error = {0};
    void *out = NULL;
    must(pess__allocate(&out, count, element, "a benchmark array", &error), &error);
    return out;
}

#endif
