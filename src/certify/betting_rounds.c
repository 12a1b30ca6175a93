/* The rounds of a bettor, for every share at once: the inner loop of the betting bound, compiled twice (core/cpu.h). */
#include "certify/betting_rounds.h"

#include <math.h>
#include <string.h>

/* Factors of one share that are multiplied before their product is split into mantissa and exponent: each is at least
 * 1 − 2^(−1/2) and, capped, at most 2^100, so that a product of eight is far from both ends of a double. */
enum { BLOCK = 8 };
static const double FACTOR_CAP = 0x1p100; /* a smaller capital is still a valid one */

/* product = mantissa in [1,2) after its exponent went to the other sum. The product is positive and normal. */
static inline void split(pess__bet_capital *c) {
    for (int j = 0; j < PESS__BET_SHARES; j++) {
        uint64_t bits;
        memcpy(&bits, &c->product[j], sizeof bits);
        c->exponent[j] += (int64_t)(bits >> 52) - 1023;
        bits = (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
        memcpy(&c->product[j], &bits, sizeof bits);
    }
}

/* Π (1 − x_j + x_j·X_i/m) over the values, for every share. */
void PESS__VARIANT(pess__bet_rounds)(const double *values, int64_t count, double m,
                                     const double shares[PESS__BET_SHARES], pess__bet_capital *to) {
    const double inverse = 1 / m;
    pess__bet_capital c = {{0}, {0}};
    for (int j = 0; j < PESS__BET_SHARES; j++) c.product[j] = 1;
    for (int64_t i = 0; i < count; i += BLOCK) {
        const int64_t end = i + BLOCK < count ? i + BLOCK : count;
        double gain[BLOCK] = {0}; /* rounds past the last one win and lose nothing */
        for (int64_t k = i; k < end; k++) {
            const double ratio = values[k] * inverse;
            gain[k - i] = (ratio < FACTOR_CAP ? ratio : FACTOR_CAP) - 1;
        }
        for (int j = 0; j < PESS__BET_SHARES; j++)
            for (int k = 0; k < BLOCK; k++) c.product[j] *= 1 + shares[j] * gain[k];
        split(&c);
    }
    *to = c;
}

/* Both capitals multiplied. */
void PESS__VARIANT(pess__bet_join)(pess__bet_capital *to, const pess__bet_capital *other) {
    for (int j = 0; j < PESS__BET_SHARES; j++) {
        to->product[j] *= other->product[j];
        to->exponent[j] += other->exponent[j];
    }
    split(to);
}
