/* The product of a sparse row with a vector. */
#ifndef PESS_CORE_SPARSE_ROW_H
#define PESS_CORE_SPARSE_ROW_H

#include <stdint.h>

enum {
    PESS__FETCH_AHEAD = 64,   /* entries between the one that is multiplied and the one whose value is asked for */
    PESS__FETCH_FROM = 65536, /* values from which that gains something: fewer are in a cache anyway */
    PESS__FETCH_NONE = -1,
};

/* Asks for the value that a later entry will want; `last` is the last entry of all rows, or PESS__FETCH_NONE. */
static inline void pess__fetch_ahead(const double *v, const uint32_t *next, int64_t k, int64_t last) {
    if (last >= 0) __builtin_prefetch(v + next[k + PESS__FETCH_AHEAD < last ? k + PESS__FETCH_AHEAD : last]);
}

/* Σ_k weight[k]·v[next[k]] over from … to-1, one of many rows that are multiplied one after the other: where successors
 * are at random places, the values of the next rows are on their way meanwhile. Long rows keep the processor's own
 * queue of reads full, and are added up in four sums: one alone waits for each addition. */
static inline double pess__row_product_ahead(const double *weight, const uint32_t *next, const double *v, int64_t from,
                                             int64_t to, int64_t last) {
    double sum = 0;
    int64_t k = from;
    if (to - from >= 8) {
        double part[4] = {0};
        for (; k + 4 <= to; k += 4)
            for (int i = 0; i < 4; i++) part[i] += weight[k + i] * v[next[k + i]];
        sum = (part[0] + part[1]) + (part[2] + part[3]);
    }
    for (; k < to; k++) {
        pess__fetch_ahead(v, next, k, last);
        sum += weight[k] * v[next[k]];
    }
    return sum;
}

/* The same of a row on its own. */
static inline double pess__row_product(const double *weight, const uint32_t *next, const double *v, int64_t from,
                                       int64_t to) {
    return pess__row_product_ahead(weight, next, v, from, to, PESS__FETCH_NONE);
}

#endif
