/* Numbers as text: the shortcuts give what printf gives with the fewest digits that read back, and read as strtod. */
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
    double back = 0;
    assert_true(pess__parse_double(found, found + length, &back));
    assert_memory_equal(&back, &value, sizeof value);
    assert_int_equal(length, strlen(expected));
}

static void random_numbers_read_back_the_same(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(1, "test", 0);
    for (int i = 0; i < 100000; i++) {
        const double u = pess__rng_uniform(&rng);
        assert_same_text(u);
        assert_same_text(pow(10, -4.2 * u)); /* across the ends of the range and the powers of ten in it */
        assert_same_text(floor(u * 1e4) / 1e4);
        assert_same_text(floor(u * 1e10) / 1e6); /* six places, above one and across the end of what is short */
        assert_same_text(floor(u * 2e14) / 1e6);
        assert_same_text(floor(u * 1e15) / 1e15);
        assert_same_text(floor(u * 1e16) / 1e16);
        assert_same_text(floor((u - 0.5) * pow(10, 1 + 16 * u)));
        assert_same_text((u - 0.5) * 100);
    }
}

/* Up to 24 digits with the point anywhere, against strtod: also halfway between two doubles. */
static void digits_read_as_strtod_reads_them(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(2, "test", 0);
    for (int i = 0; i < 300000; i++) {
        char text[64];
        size_t length = 0;
        const int digits = 1 + (int)pess__rng_below(&rng, 24), point = (int)pess__rng_below(&rng, 24);
        const bool zeros = pess__rng_below(&rng, 4) == 0;
        if (pess__rng_below(&rng, 2) == 0) text[length++] = '-';
        for (int k = 0; k < digits; k++) {
            if (k == point) text[length++] = '.';
            text[length++] = (char)(zeros && k < point + 3 ? '0' : '0' + (int)pess__rng_below(&rng, 10));
        }
        if (i % 10 == 0) /* an odd number of quarters above 2^53: ties */
            length =
                (size_t)snprintf(text, sizeof text, "%llu.%s", (1ULL << 53) + pess__rng_below(&rng, 1ULL << 50) * 2 + 1,
                                 i % 20 == 0 ? "0" : "5");
        text[length] = '\0';
        double found = 0;
        const double expected = strtod(text, NULL);
        assert_true(pess__parse_double(text, text + length, &found));
        if (memcmp(&found, &expected, sizeof found) != 0) fail_msg("%s: %.17g, not %.17g", text, found, expected);
    }
    double number = 7;
    const char *const bad[] = {"", "-", ".", "-.", "1.2.3", "1e", "1 ", "--1", "0x1", "1,5", "1.5.", "+-1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(pess__parse_double(bad[i], bad[i] + strlen(bad[i]), &number));
    assert_close(number, 7, 0);
}

static void edges_read_back_the_same(void **state) {
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_numbers_read_back_the_same),
                                       cmocka_unit_test(digits_read_as_strtod_reads_them),
                                       cmocka_unit_test(edges_read_back_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
