/* Four doubles at a time, in one order of operations whatever the compiler makes of it. */
#ifndef PESS_CORE_QUAD_H
#define PESS_CORE_QUAD_H

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#ifndef __AVX__ /* quads never leave a translation unit: how they are passed is nobody else's business */
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

typedef double pess__quad __attribute__((vector_size(32)));
typedef long long pess__quad_bits __attribute__((vector_size(32)));

static inline pess__quad pess__quad_load(const double *p) {
    pess__quad x;
    memcpy(&x, p, sizeof x);
    return x;
}

static inline void pess__quad_store(double *p, pess__quad x) { memcpy(p, &x, sizeof x); }

static inline pess__quad pess__quad_of(double x) { return (pess__quad){x, x, x, x}; }

static inline pess__quad pess__quad_abs(pess__quad x) {
    const pess__quad_bits rest = {LLONG_MAX, LLONG_MAX, LLONG_MAX, LLONG_MAX}; /* all but the sign */
    return (pess__quad)((pess__quad_bits)x & rest);
}

static inline pess__quad pess__quad_larger(pess__quad x, pess__quad y) {
    const pess__quad_bits take = (pess__quad_bits)(y > x);
    return (pess__quad)(((pess__quad_bits)y & take) | ((pess__quad_bits)x & ~take));
}

static inline double pess__quad_sum(pess__quad x) { return (x[0] + x[1]) + (x[2] + x[3]); }

static inline double pess__quad_most(pess__quad x) {
    const double low = x[0] > x[1] ? x[0] : x[1], high = x[2] > x[3] ? x[2] : x[3];
    return low > high ? low : high;
}

#endif
