/* The largest or smallest of what several threads found. A maximum has no rounding, so their order does not matter.
 * OpenMP's reductions would do the same, but for them clang exports a lock of its own from the shared library. */
#ifndef PESS_CORE_RAISE_H
#define PESS_CORE_RAISE_H

#include <stdatomic.h>

/* most = max(most, mine); a mine that is not a number changes nothing. */
static inline void pess__raise(_Atomic double *most, double mine) {
    double seen = atomic_load(most);
    while (mine > seen && !atomic_compare_exchange_weak(most, &seen, mine)) {}
}

/* least = min(least, mine). */
static inline void pess__lower(_Atomic double *least, double mine) {
    double seen = atomic_load(least);
    while (mine < seen && !atomic_compare_exchange_weak(least, &seen, mine)) {}
}

#endif
