/* The product of a sparse row with a vector. */
#ifndef PESS_CORE_SPARSE_ROW_H
#define PESS_CORE_SPARSE_ROW_H

#include <stdint.h>

/* Σ_k weight[k]·v[next[k]] over from … to-1. Long rows are added up in four sums: one alone waits for each addition. */
static inline double pess__row_product(const double *weight, const uint32_t *next, const double *v, int64_t from,
                                       int64_t to) {
    double sum = 0;
    int64_t k = from;
    if (to - from >= 8) {
        double part[4] = {0};
        for (; k + 4 <= to; k += 4)
            for (int i = 0; i < 4; i++) part[i] += weight[k + i] * v[next[k + i]];
        sum = (part[0] + part[1]) + (part[2] + part[3]);
    }
    for (; k < to; k++) sum += weight[k] * v[next[k]];
    return sum;
}

#endif
