/* Exact sums: against integers of 128 bits, in any order, at the ends of the range, and half-way cases. */
#include "fixture.h"

#include "core/exact.h"
#include "core/rng.h"

#include <float.h>
#include <math.h>

static int sum_of(const double *x, int count, double *part) {
    pess__exact exact = {0};
    for (int i = 0; i < count; i++) pess__exact_add(&exact, x[i]);
    return pess__exact_take(&exact, part);
}

/* Multiples of 2^-60 below 2^20, which 128 bits add without rounding. */
static void test_agrees_with_integers(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(1, "exact", 0);
    for (int trial = 0; trial < 2000; trial++) {
        double x[200], part[PESS__EXACT_PARTS];
        __int128 sum = 0, back = 0;
        const int count = 1 + (int)(pess__rng_next(&rng) % 200);
        for (int i = 0; i < count; i++) {
            const uint64_t bits = pess__rng_next(&rng);
            const int64_t mantissa = (int64_t)(bits >> 11) * (bits & 1 ? 1 : -1);
            const int shift = (int)(bits >> 1 & 15);
            x[i] = ldexp((double)mantissa, shift - 60);
            sum += (__int128)mantissa * (1 << shift);
        }
        const int parts = sum_of(x, count, part);
        for (int i = 0; i < parts; i++) back += (__int128)ldexp(part[i], 60);
        assert_true(back == sum);
        assert_true(part[0] == ldexp((double)sum, -60)); /* the conversion rounds to nearest, ties to even */
    }
}

/* Terms over the whole range of doubles: any order gives the same parts, and the parts sum to the same again. */
static void test_order_does_not_matter(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(2, "exact", 0);
    for (int trial = 0; trial < 500; trial++) {
        enum { COUNT = 60 };
        double x[COUNT], one[PESS__EXACT_PARTS], other[PESS__EXACT_PARTS];
        const int spread = trial % 2 ? 1900 : 100;
        for (int i = 0; i < COUNT; i++)
            x[i] = ldexp((double)(int64_t)pess__rng_next(&rng), (int)(pess__rng_next(&rng) % (uint64_t)spread) - 1000);
        const int parts = sum_of(x, COUNT, one);
        for (int i = COUNT - 1; i > 0; i--) {
            const int j = (int)(pess__rng_next(&rng) % (uint64_t)(i + 1));
            const double kept = x[i];
            x[i] = x[j];
            x[j] = kept;
        }
        assert_int_equal(sum_of(x, COUNT, other), parts);
        assert_memory_equal(one, other, (size_t)parts * sizeof *one);
        assert_int_equal(sum_of(one, parts, other), parts);
        assert_memory_equal(one, other, (size_t)parts * sizeof *one);
    }
}

static void test_half_way_cases_round_to_even_unless_something_lies_below(void **state) {
    (void)state;
    double part[PESS__EXACT_PARTS];
    const double half = ldexp(1, -53), tiny = ldexp(1, -1000);
    const double plain[] = {1, half}, above[] = {1, half, tiny}, below[] = {1, half, -tiny};
    assert_int_equal(sum_of(plain, 2, part), 2);
    assert_true(part[0] == 1 && part[1] == half);
    assert_int_equal(sum_of(above, 3, part), 3);
    assert_true(part[0] == 1 + DBL_EPSILON && part[1] == -half && part[2] == tiny);
    assert_int_equal(sum_of(below, 3, part), 3);
    assert_true(part[0] == 1 && part[1] == half && part[2] == -tiny);
}

static void zero_has_no_sign_and_overflow_is_nan(void **state) {
    (void)state;
    double part[PESS__EXACT_PARTS];
    const double zero[] = {-0.0}, gone[] = {1e300, 1, 1e-300, -1e300, -1, -1e-300}, huge[] = {DBL_MAX, DBL_MAX};
    assert_int_equal(sum_of(zero, 1, part), 1);
    assert_true(part[0] == 0 && !signbit(part[0]));
    assert_int_equal(sum_of(gone, 6, part), 1);
    assert_true(part[0] == 0 && !signbit(part[0]));
    assert_int_equal(sum_of(huge, 2, part), 1);
    assert_true(isnan(part[0]));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees_with_integers),
                                       cmocka_unit_test(test_order_does_not_matter),
                                       cmocka_unit_test(test_half_way_cases_round_to_even_unless_something_lies_below),
                                       cmocka_unit_test(zero_has_no_sign_and_overflow_is_nan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
