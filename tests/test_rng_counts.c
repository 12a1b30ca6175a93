/* Binomial and multinomial numbers against their exact distributions. False-alarm rate of every statistical assertion:
 * 1e-6, with fixed seeds. */
#include "core/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double log_choose(double n, double k) { return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1); }

static double binomial_mass(int64_t n, double p, int64_t k) {
    return exp(log_choose((double)n, (double)k) + (double)k * log(p) + (double)(n - k) * log1p(-p));
}

/* Upper 1e-6 quantile of chi-square with f degrees of freedom (Wilson & Hilferty 1931, with a margin of 2 %). */
static double chi_square_limit(double f) {
    const double z = 4.7535, c = 1 - 2 / (9 * f) + z * sqrt(2 / (9 * f));
    return 1.02 * f * c * c * c + 1;
}

/* Cells with fewer than 10 expected draws are put together. */
static void check_binomial(int64_t n, double p, uint64_t stream) {
    enum { DRAWS = 1000000 };
    pess__rng rng = pess__rng_stream(7, "test-binomial", stream);
    int64_t *seen = calloc((size_t)n + 1, sizeof *seen);
    double sum = 0, square = 0;
    for (int i = 0; i < DRAWS; i++) {
        const int64_t k = pess__rng_binomial(&rng, n, p);
        assert_true(k >= 0 && k <= n);
        seen[k]++;
        sum += (double)k;
        square += ((double)k - (double)n * p) * ((double)k - (double)n * p);
    }
    const double variance = (double)n * p * (1 - p);
    assert_true(fabs(sum / DRAWS - (double)n * p) < 4.9 * sqrt(variance / DRAWS));
    /* fourth central moment of a binomial: σ²(1 + 3(n-2)p(1-p)) */
    const double fourth = variance * (1 + 3 * ((double)n - 2) * p * (1 - p));
    assert_true(fabs(square / DRAWS - variance) < 4.9 * sqrt((fourth - variance * variance) / DRAWS));
    double chi = 0, expected = 0, observed = 0;
    int cells = 0;
    for (int64_t k = 0; k <= n; k++) {
        expected += DRAWS * binomial_mass(n, p, k);
        observed += (double)seen[k];
        if (expected >= 10) {
            chi += (observed - expected) * (observed - expected) / expected;
            cells++;
            expected = observed = 0;
        }
    }
    if (expected > 0.5) {
        chi += (observed - expected) * (observed - expected) / expected;
        cells++;
    }
    free(seen);
    if (cells > 1) assert_true(chi < chi_square_limit(cells - 1));
}

static void binomials_have_their_law(void **state) {
    (void)state;
    /* one by one (n <= 16), inversion (n·p < 10) and rejection, each on both sides of p = 1/2 */
    static const struct {
        int64_t n;
        double p;
    } cases[] = {{1, 0.3},      {16, 0.85}, {17, 0.1},   {17, 0.9},    {40, 0.24},
                 {40, 0.26},    {100, 0.5}, {200, 0.05}, {1000, 0.02}, {1000, 0.98},
                 {5000, 0.001}, {30, 1e-9}, {400, 0.37}, {2000, 0.5},  {2000, 0.85}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check_binomial(cases[i].n, cases[i].p, i);
}

static void edges_are_exact(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(1, "test-edges", 0);
    assert_int_equal(pess__rng_binomial(&rng, 0, 0.5), 0);
    assert_int_equal(pess__rng_binomial(&rng, 10, 0), 0);
    assert_int_equal(pess__rng_binomial(&rng, 10, 1), 10);
    assert_int_equal(pess__rng_binomial(&rng, 1000000000, 0), 0);
    const int64_t huge = pess__rng_binomial(&rng, (int64_t)1 << 40, 0.5);
    assert_true(fabs((double)huge - 0x1p39) < 5 * sqrt(0x1p38));
}

/* Two draws over five cells, one of them empty: all 25 ordered transitions collapse to pairs of counts whose
 * probabilities are known exactly. */
static void multinomials_have_their_law(void **state) {
    (void)state;
    enum { CELLS = 5, DRAWS = 300000 };
    static const double weight[CELLS] = {0.1, 0, 0.4, 0.2, 0.3};
    double cumulative[CELLS + 1] = {0};
    for (int i = 0; i < CELLS; i++) cumulative[i + 1] = cumulative[i] + weight[i];
    int64_t seen[CELLS][CELLS] = {{0}}, out[CELLS];
    pess__rng rng = pess__rng_stream(3, "test-multinomial", 0);
    for (int t = 0; t < DRAWS; t++) {
        pess__rng_multinomial(&rng, 2, CELLS, cumulative, out);
        int first = -1, second = -1;
        for (int i = 0; i < CELLS; i++)
            for (int64_t k = 0; k < out[i]; k++) *(first < 0 ? &first : &second) = i;
        assert_true(first >= 0 && second >= first);
        seen[first][second]++;
    }
    double chi = 0;
    int cells = 0;
    for (int i = 0; i < CELLS; i++)
        for (int j = i; j < CELLS; j++) {
            const double expected = DRAWS * (i == j ? 1 : 2) * weight[i] * weight[j];
            if (expected == 0) {
                assert_int_equal(seen[i][j], 0);
                continue;
            }
            chi += ((double)seen[i][j] - expected) * ((double)seen[i][j] - expected) / expected;
            cells++;
        }
    assert_true(chi < chi_square_limit(cells - 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(binomials_have_their_law), cmocka_unit_test(edges_are_exact),
                                       cmocka_unit_test(multinomials_have_their_law)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
