/* A lower confidence bound for the mean of non-negative numbers, by betting (docs/theory.md, "Betting").
 *
 * X_1 … X_n >= 0 with E[X_i | past] <= μ. A gambler who stakes the share x of the capital on "X_i is above m" at fair
 * odds for μ = m has Π_i (1 − x + x·X_i/m) after n rounds: non-negative, and of expectation at most 1 where μ <= m. So
 * has the mixture over a fixed grid of shares, and by Ville's inequality it ever reaches 1/δ with probability at most
 * δ:
 *
 *   L(δ) = sup { m : (1/J) Σ_j Π_i (1 − x_j + x_j·X_i/m) >= 1/δ },    0 where there is none.
 *
 * X needs no upper bound and no variance; the order of the data does not matter; and since the grid does not depend on
 * n, the bound holds at any stopping time of the collection (Waudby-Smith & Ramdas 2024; Orabona & Jun 2023). */
#ifndef PESS_CERTIFY_BETTING_H
#define PESS_CERTIFY_BETTING_H

#include <stdint.h>

enum { PESS__BET_SHARES = 40 }; /* x_j = 2^(−j/2), j = 1 … 40 */

/* Numbers that are bet on, values [count] >= 0, and how many threads may play. */
typedef struct pess__bet_numbers {
    const double *values;
    int64_t count;
    int threads;
} pess__bet_numbers;

/* ln of the mixture's capital against the mean m > 0, never above the true one. values [count] >= 0. */
double pess__bet_log_capital(const double *values, int64_t count, double m);
/* L(δ), rounded downwards: O(40·n) for each of about eight steps of the search. */
double pess__bet_lower_of(const pess__bet_numbers *numbers, double delta);
double pess__bet_lower(const double *values, int64_t count, double delta); /* by one thread */
/* What L(δ) would be of `times` as many numbers of the same kind, to a ten-thousandth: no bound, but what to expect of
 * one. */
double pess__bet_predicted(const double *values, int64_t count, double delta, double times);

#endif
