/* The inner loop of the betting bound (betting.h). */
#ifndef PESS_CERTIFY_BETTING_ROUNDS_H
#define PESS_CERTIFY_BETTING_ROUNDS_H

#include "certify/betting.h"
#include "core/cpu.h"

/* The capital of each share: product·2^exponent, product in [1,2). */
typedef struct pess__bet_capital {
    double product[PESS__BET_SHARES];
    int64_t exponent[PESS__BET_SHARES];
} pess__bet_capital;

/* What is left of 1 after these rounds against the mean m. */
PESS__TWICE(void, pess__bet_rounds,
            (const double *values, int64_t count, double m, const double shares[PESS__BET_SHARES],
             pess__bet_capital *to));
PESS__TWICE(void, pess__bet_join, (pess__bet_capital * to, const pess__bet_capital *other));

#endif
