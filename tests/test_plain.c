/* Numbers for people: no exponent, guarantees rounded the safe way; assumptions in plain words. */
#include "scratch.h"

#include "report/plain.h"

#include <math.h>

static void shows(double x, int decimals, pess__rounding rounding, const char *expected) {
    char text[PESS__PLAIN];
    assert_string_equal(pess__plain(x, decimals, rounding, text), expected);
}

static void numbers_are_rounded_the_safe_way_and_have_no_exponent(void **state) {
    (void)state;
    shows(0.8256, 3, PESS__ROUND_DOWN, "0.825");
    shows(0.8256, 3, PESS__ROUND_UP, "0.826");
    shows(0.8256, 2, PESS__ROUND_NEAR, "0.83");
    shows(0.3, 3, PESS__ROUND_DOWN, "0.3"); /* 300.00000000000006 thousandths are 300 */
    shows(0.7, 1, PESS__ROUND_UP, "0.7");
    shows(-0.0144, 3, PESS__ROUND_DOWN, "-0.015");
    shows(1e-9, 3, PESS__ROUND_DOWN, "0");
    shows(-1e-12, 3, PESS__ROUND_NEAR, "0");
    shows(1234567.5, 0, PESS__ROUND_DOWN, "1,234,567");
    shows(7112, 3, PESS__ROUND_NEAR, "7,112");
    shows(999.9996, 3, PESS__ROUND_UP, "1,000");
    shows(1e300, 3, PESS__ROUND_NEAR, "more than 1,000,000,000,000,000");
    shows(NAN, 3, PESS__ROUND_NEAR, "unknown");
}

static void decimals_show_a_thousandth_of_the_range_and_the_difference(void **state) {
    (void)state;
    assert_int_equal(pess__plain_decimals(1, NAN), 3);
    assert_int_equal(pess__plain_decimals(100, 5), 1);
    assert_int_equal(pess__plain_decimals(1, 0.0035), 4);
    assert_int_equal(pess__plain_decimals(1, 1e-9), 5);
    assert_int_equal(pess__plain_decimals(1e6, 0.5), 2);
}

static void assumptions_are_told_in_plain_words(void **state) {
    (void)state;
    char text[PESS__PLAIN_SENTENCE];
    const pess_assumption range = {"return-range-declared", "Declared: from any state on, …", {0, 1}};
    assert_string_equal(pess__plain_assumption(&range, text),
                        "Whatever happens, what is left of an episode is worth at "
                        "least 0 and at most 1: this was declared.");
    const pess_assumption one = {"states-from-log", "There is one state: the log shows no other.", {NAN, NAN}};
    assert_string_equal(pess__plain_assumption(&one, text), one.text);
    const pess_assumption unknown = {"of-tomorrow", "Something else.", {NAN, NAN}};
    assert_string_equal(pess__plain_assumption(&unknown, text), unknown.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_rounded_the_safe_way_and_have_no_exponent),
        cmocka_unit_test(decimals_show_a_thousandth_of_the_range_and_the_difference),
        cmocka_unit_test(assumptions_are_told_in_plain_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
