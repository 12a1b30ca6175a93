/* How often may a bound that holds with probability 1−δ fail in n runs?  (tests of coverage) */
#ifndef PESS_TESTS_COVERAGE_H
#define PESS_TESTS_COVERAGE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* P(Bin(n,p) > k). */
static inline double binomial_above(int64_t n, double p, int64_t k) {
    double sum = 0;
    for (int64_t i = k + 1; i <= n; i++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) + (double)i * log(p) +
                   (double)(n - i) * log1p(-p));
    return sum;
}

/* The largest number of failures that is no proof against 1−δ: the chance of more is at most 1e-6. */
static inline int64_t failures_allowed(int64_t n, double delta) {
    int64_t k = (int64_t)((double)n * delta);
    while (k < n && binomial_above(n, delta, k) > 1e-6) k++;
    return k;
}

/* Clopper–Pearson: the rate that k failures in n runs refute at the level 1−confidence. */
static inline double failure_rate_limit(int64_t n, int64_t k, double confidence) {
    double low = (double)k / (double)n, high = 1;
    if (k >= n) return 1;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        if (1 - binomial_above(n, middle, k) > 1 - confidence)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The long check asks for more runs and other seeds. */
static inline int64_t coverage_runs(int64_t usual) {
    const char *times = getenv("PESS_COVERAGE_TIMES");
    return times ? usual * strtoll(times, NULL, 10) : usual;
}
static inline uint64_t coverage_seed(uint64_t usual) {
    const char *seed = getenv("PESS_COVERAGE_SEED");
    return seed ? usual + strtoull(seed, NULL, 10) * 1000003 : usual;
}

#endif
