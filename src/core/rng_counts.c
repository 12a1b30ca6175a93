/* Counts drawn in one go: binomial and multinomial numbers, with the distribution of that many single draws. */
#include "core/rng.h"

#include <math.h>

/* ln k! − ((k+½)·ln(k+1) − (k+1) + ½·ln 2π): the tail of Stirling's series. Exact (from a table of its values) below
 * 10; the series is off by less than 1e-13 from there on. */
static double stirling_tail(double k) {
    static const double table[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.0207906721037650,
                                   0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                                   0.00925546218271273, 0.00833056343336287};
    if (k < 10) return table[(int)k];
    const double x = 1 / (k + 1), square = x * x;
    return x * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square / 1188))));
}

/* Sequential search of the distribution function from 0; for n·p < 10, p ≤ ½. */
static int64_t invert(pess__rng *rng, int64_t n, double p) {
    const double odds = p / (1 - p);
    const double none = exp((double)n * log1p(-p)); /* ≥ 2^-29: never underflows */
    for (;;) {
        double u = pess__rng_uniform(rng), term = none;
        int64_t k = 0;
        while (k <= n) {
            if (u < term) return k;
            u -= term;
            k++;
            term *= odds * (double)(n - k + 1) / (double)k;
            if (term < 1e-300) break; /* u beyond all that rounding left: draw again */
        }
    }
}

/* BTRS: transformed rejection with squeeze (Hörmann 1993); for n·p ≥ 10, p ≤ ½. */
static int64_t transform(pess__rng *rng, int64_t n, double p) {
    const double count = (double)n, spread = sqrt(count * p * (1 - p));
    const double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5;
    const double alpha = (2.83 + 5.1 / b) * spread, squeeze = 0.92 - 4.2 / b, odds = p / (1 - p);
    const double mode = floor((count + 1) * p);
    for (;;) {
        const double u = pess__rng_uniform(rng) - 0.5;
        double v = 1 - pess__rng_uniform(rng);
        const double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + c);
        if (us >= 0.07 && v <= squeeze) return (int64_t)k;
        if (!(k >= 0 && k <= count)) continue;
        v = log(v * alpha / (a / (us * us) + b));
        const double bound = (mode + 0.5) * log((mode + 1) / (odds * (count - mode + 1))) + stirling_tail(mode) +
                             stirling_tail(count - mode) + (count + 1) * log((count - mode + 1) / (count - k + 1)) +
                             (k + 0.5) * log(odds * (count - k + 1) / (k + 1)) - stirling_tail(k) -
                             stirling_tail(count - k);
        if (v <= bound) return (int64_t)k;
    }
}

int64_t pess__rng_binomial(pess__rng *rng, int64_t n, double p) {
    if (n <= 0 || !(p > 0)) return 0;
    if (p >= 1) return n;
    if (n <= 16) { /* so few are cheaper one by one than one exponential */
        int64_t successes = 0;
        const uint64_t below = (uint64_t)ceil(p * 0x1p53); /* uniform < p, in whole numbers */
        for (int64_t i = 0; i < n; i++) successes += (pess__rng_next(rng) >> 11) < below;
        return successes;
    }
    const bool flipped = p > 0.5;
    const double small = flipped ? 1 - p : p;
    const int64_t k = (double)n * small < 10 ? invert(rng, n, small) : transform(rng, n, small);
    return flipped ? n - k : k;
}

/* Cells [begin,end): how many fall into the first half is binomial, and so on within the halves. Numbers shrink as fast
 * as cells do, so that most of the draws are small ones. */
static void split(pess__rng *rng, int64_t n, int64_t begin, int64_t end, const double *cumulative, int64_t *out) {
    if (end - begin == 1) {
        out[begin] = n;
        return;
    }
    const int64_t middle = begin + (end - begin) / 2;
    const double total = cumulative[end] - cumulative[begin], left = cumulative[middle] - cumulative[begin];
    const int64_t first = n > 0 ? pess__rng_binomial(rng, n, left / total) : 0; /* exactly 0 and 1 stay so */
    split(rng, first, begin, middle, cumulative, out);
    split(rng, n - first, middle, end, cumulative, out);
}

void pess__rng_multinomial(pess__rng *rng, int64_t n, int64_t cells, const double *cumulative, int64_t *out) {
    if (cells > 0) split(rng, n, 0, cells, cumulative, out);
}
