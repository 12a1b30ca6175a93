/* Random streams. A stream is a function of (seed, purpose, index), so what one task draws never depends on what
 * another did before it, nor on the number of threads. Generator: xoshiro256++ (Blackman & Vigna 2019), seeded through
 * SplitMix64. */
#ifndef PESS_CORE_RNG_H
#define PESS_CORE_RNG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pess__rng {
    uint64_t state[4];
} pess__rng;

/* purpose: a short constant string such as "unseen" or "simulate". */
pess__rng pess__rng_stream(uint64_t seed, const char *purpose, uint64_t index);

static inline uint64_t pess__rng_next(pess__rng *rng) {
    uint64_t a = rng->state[0], b = rng->state[1], c = rng->state[2], d = rng->state[3];
    const uint64_t sum = a + d;
    const uint64_t result = ((sum << 23) | (sum >> 41)) + a;
    const uint64_t shifted = b << 17;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 45) | (d >> 19);
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
    /* gcc 12 would gather the words into vectors to store them, which makes a draw three times slower. */
    __asm__("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
#endif
    rng->state[0] = a;
    rng->state[1] = b;
    rng->state[2] = c;
    rng->state[3] = d;
    return result;
}

/* Uniform in [0,1), 53 bits. */
static inline double pess__rng_uniform(pess__rng *rng) { return (double)(pess__rng_next(rng) >> 11) * 0x1p-53; }

/* Uniform integer in [0,n), n > 0, unbiased (Lemire 2019). */
uint64_t pess__rng_below(pess__rng *rng, uint64_t n);

double pess__rng_normal(pess__rng *rng);
double pess__rng_exponential(pess__rng *rng);
double pess__rng_gamma(pess__rng *rng, double shape); /* Marsaglia & Tsang 2000; shape > 0, scale 1 */
double pess__rng_beta(pess__rng *rng, double a, double b);

/* Successes in n trials of probability p: exact (inversion where few are expected, else transformed rejection). */
int64_t pess__rng_binomial(pess__rng *rng, int64_t n, double p);
/* n draws over cells; cumulative [cells+1] are the sums of the cells' weights before each cell, so cumulative[cells] is
 * their total (above 0). Counts to out [cells]. The cost does not depend on n. */
void pess__rng_multinomial(pess__rng *rng, int64_t n, int64_t cells, const double *cumulative, int64_t *out);

#endif
