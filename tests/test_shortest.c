/* Numbers as text: the shortcuts give what printf gives with the fewest digits that read back. */
#include "scratch.h"

#include "core/rng.h"
#include "core/text.h"

#include <math.h>

static void assert_same_text(double value) {
    char found[PESS__NUMBER_SIZE], expected[64];
    const size_t length = pess__format_double(value, found);
    for (int precision = 15; precision <= 17; precision++) {
        (void)snprintf(expected, sizeof expected, "%.*g", precision, value);
        if (strtod(expected, NULL) == value) break;
    }
    assert_string_equal(found, expected);
    assert_int_equal(length, strlen(expected));
}

static void random_numbers(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(1, "test", 0);
    for (int i = 0; i < 100000; i++) {
        const double u = pess__rng_uniform(&rng);
        assert_same_text(u);
        assert_same_text(pow(10, -4.2 * u)); /* across the ends of the range and the powers of ten in it */
        assert_same_text(floor(u * 1e4) / 1e4);
        assert_same_text(floor(u * 1e15) / 1e15);
        assert_same_text(floor(u * 1e16) / 1e16);
        assert_same_text(floor((u - 0.5) * pow(10, 1 + 16 * u)));
        assert_same_text((u - 0.5) * 100);
    }
}

static void edges(void **state) {
    (void)state;
    const double around[] = {1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.2, 0.3, 0.5, 0.999, 1, 10, 1e14, 1e15, 1e16};
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double up = sign * around[i], down = up;
            for (int steps = 0; steps < 50; steps++, up = nextafter(up, 2e300), down = nextafter(down, -2e300)) {
                assert_same_text(up);
                assert_same_text(down);
            }
        }
    for (int exponent = -20; exponent <= 60; exponent++)
        for (int steps = -2; steps <= 2; steps++) assert_same_text(ldexp(1 + steps * 0x1p-52, exponent));
    assert_same_text(0.0);
    assert_same_text(-0.0);
    assert_same_text(INFINITY);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_numbers), cmocka_unit_test(edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
