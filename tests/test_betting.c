/* The betting bound: against a second computation, and how often it is wrong. */
#include "coverage.h"
#include "scratch.h"

#include "certify/betting.h"
#include "core/cpu.h"
#include "core/rng.h"

#include <math.h>

/* The same sums, term by term in logarithms and long doubles. */
static double plain_log_capital(const double *values, int64_t count, double m) {
    long double capital[PESS__BET_SHARES], most = -INFINITY, sum = 0;
    for (int j = 0; j < PESS__BET_SHARES; j++) {
        const long double x = powl(2, -(long double)(j + 1) / 2);
        capital[j] = 0;
        for (int64_t i = 0; i < count; i++) capital[j] += logl(1 - x + x * (long double)values[i] / (long double)m);
        most = fmaxl(most, capital[j]);
    }
    for (int j = 0; j < PESS__BET_SHARES; j++) sum += expl(capital[j] - most);
    return (double)(most + logl(sum / PESS__BET_SHARES));
}

static void draw_skewed(pess__rng *rng, int64_t count, double *values) {
    for (int64_t i = 0; i < count; i++) {
        const double u = pess__rng_uniform(rng);
        values[i] = u < 0.7 ? 0 : exp(8 * (u - 0.7)) * 0.3;
    }
}

static void capital_is_that_of_the_plain_sums(void **state) {
    (void)state;
    enum { N = 1003 };
    static double values[N];
    pess__rng rng = pess__rng_stream(3, "betting", 0);
    for (int64_t count = 1; count <= N; count += count < 20 ? 1 : 491) {
        draw_skewed(&rng, count, values);
        for (double m = 0.01; m < 3; m *= 2.7) {
            const double plain = plain_log_capital(values, count, m), found = pess__bet_log_capital(values, count, m);
            assert_true(found <= plain);
            assert_true(plain - found < 1e-10 * (1 + fabs(plain)));
        }
    }
}

static void the_bound_is_where_the_capital_reaches_its_level(void **state) {
    (void)state;
    static double values[5000];
    pess__rng rng = pess__rng_stream(4, "betting", 0);
    draw_skewed(&rng, 5000, values);
    for (double delta = 0.5; delta > 1e-12; delta /= 30) {
        const double bound = pess__bet_lower(values, 5000, delta);
        assert_true(bound > 0);
        assert_true(plain_log_capital(values, 5000, bound) >= log(1 / delta));
        assert_true(plain_log_capital(values, 5000, bound * (1 + 1e-9)) < log(1 / delta));
    }
}

static void units_do_not_matter_and_nothing_promises_nothing(void **state) {
    (void)state;
    double values[200], scaled[200], zeros[200] = {0};
    pess__rng rng = pess__rng_stream(5, "betting", 0);
    draw_skewed(&rng, 200, values);
    for (int i = 0; i < 200; i++) scaled[i] = values[i] * 0x1p-300;
    const double bound = pess__bet_lower(values, 200, 0.05);
    assert_true(fabs(pess__bet_lower(scaled, 200, 0.05) * 0x1p300 - bound) < 1e-9 * bound);
    assert_true(pess__bet_lower(zeros, 200, 0.05) == 0);
    assert_true(pess__bet_lower(values, 0, 0.05) == 0);
    /* One number cannot promise more than δ of itself: Markov's inequality. */
    const double one = 7;
    assert_true(pess__bet_lower(&one, 1, 0.05) <= 0.05 * 7);
    /* Extremes neither overflow nor promise anything that is not there. */
    const double extremes[3] = {1e300, 1e-300, 0};
    const double extreme = pess__bet_lower(extremes, 3, 0.05);
    assert_true(extreme >= 0 && extreme <= 0.05 * 1e300);
}

/* How often the bound is above the mean, at the worst moment of a collection that stops when it looks best. */
static int64_t failures(double delta, int64_t runs, bool stopped) {
    enum { N = 300 };
    int64_t wrong = 0;
    for (int64_t run = 0; run < runs; run++) {
        double values[N];
        pess__rng rng = pess__rng_stream(coverage_seed(11), "betting-coverage", (uint64_t)run);
        /* 0, 1 or 20 with mean 1: skewed, as importance weights are */
        for (int i = 0; i < N; i++) {
            const double u = pess__rng_uniform(&rng);
            values[i] = u < 0.04 ? 20 : u < 0.24 ? 1 : 0;
        }
        bool above = false;
        for (int64_t n = stopped ? 5 : N; n <= N && !above; n += 5)
            above = pess__bet_log_capital(values, n, 1.0) >= log(1 / delta);
        wrong += above;
    }
    return wrong;
}

/* False alarms: 1e-6 per assertion, fixed seeds. */
static void it_is_wrong_at_most_as_often_as_it_says(void **state) {
    (void)state;
    const int64_t runs = coverage_runs(2000);
    assert_true(failures(0.1, runs, false) <= failures_allowed(runs, 0.1));
    assert_true(failures(0.1, runs, true) <= failures_allowed(runs, 0.1));
    /* A level that is three times too lax is found out, when one may stop where one likes. */
    assert_true(failures(0.9, runs, true) > failures_allowed(runs, 0.1));
}

/* Below the mean of the sample by no more than twice what Hoeffding's inequality takes, and by less as it grows. */
static void it_gets_close_to_the_mean(void **state) {
    (void)state;
    static double values[100000];
    pess__rng rng = pess__rng_stream(6, "betting", 0);
    double before = INFINITY;
    for (int64_t n = 1000; n <= 100000; n *= 10) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += values[i] = pess__rng_uniform(&rng) < 0.5;
        const double gap = sum / (double)n - pess__bet_lower(values, n, 0.05);
        assert_true(gap > 0 && gap < 2 * sqrt(log(20) / (2 * (double)n)));
        assert_true(gap < 0.5 * before);
        before = gap;
    }
}

/* Four times the same numbers are predicted, to the accuracy of a prediction. */
static void more_of_the_same_is_predicted(void **state) {
    (void)state;
    static double values[4 * 500];
    pess__rng rng = pess__rng_stream(7, "betting", 0);
    draw_skewed(&rng, 500, values);
    for (int i = 500; i < 2000; i++) values[i] = values[i - 500];
    const double found = pess__bet_lower(values, 2000, 0.05), told = pess__bet_predicted(values, 500, 0.05, 4);
    assert_true(told <= found * (1 + 1e-9) && found - told <= 1e-4 * found);
    assert_true(pess__bet_lower(values, 500, 0.05) < told);
}

/* Threads and instructions change no byte; and the search finds the bound however the numbers lie. */
static void threads_and_instructions_change_nothing(void **state) {
    (void)state;
    enum { MANY = 200000 };
    double *values = malloc(MANY * sizeof *values);
    assert_non_null(values);
    pess__rng rng = pess__rng_stream(8, "betting", 0);
    for (int kind = 0; kind < 3; kind++) {
        draw_skewed(&rng, MANY, values);
        for (int64_t i = 0; i < MANY && kind > 0; i++) values[i] = kind == 1 ? 3 : 8 + 0.1 * values[i];
        const double one = pess__bet_lower_of(&(pess__bet_numbers){values, MANY, 1}, 0.01);
        assert_true(pess__bet_lower_of(&(pess__bet_numbers){values, MANY, 2}, 0.01) == one);
        assert_true(pess__bet_lower_of(&(pess__bet_numbers){values, MANY, 7}, 0.01) == one);
        pess__cpu_portable_only(true);
        assert_true(pess__bet_lower_of(&(pess__bet_numbers){values, MANY, 2}, 0.01) == one);
        pess__cpu_portable_only(false);
        assert_true(pess__bet_log_capital(values, MANY, one) >= log(100));
        assert_true(pess__bet_log_capital(values, MANY, one * (1 + 1e-9)) < log(100));
    }
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capital_is_that_of_the_plain_sums),
        cmocka_unit_test(the_bound_is_where_the_capital_reaches_its_level),
        cmocka_unit_test(units_do_not_matter_and_nothing_promises_nothing),
        cmocka_unit_test(it_is_wrong_at_most_as_often_as_it_says),
        cmocka_unit_test(it_gets_close_to_the_mean),
        cmocka_unit_test(more_of_the_same_is_predicted),
        cmocka_unit_test(threads_and_instructions_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
