/* The text of a duration, as the progress line and the experiments print it. */
#include "../cli/progress.c"
#include "../cli/shown.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void durations_read_well(void **state) {
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {{0, "0 s"},
                {-1, "0 s"},
                {59.4, "59 s"},
                {59.6, "1 min 00 s"},
                {3599, "59 min 59 s"},
                {3599.9, "1 h 00 min"},
                {6300, "1 h 45 min"},
                {7199, "1 h 59 min"},
                {47 * 3600.0 + 60, "47 h 01 min"},
                {2 * 86400.0, "2.0 days"},
                {1e12, "11574074.1 days"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[40];
        duration_text(rows[i].seconds, text, sizeof text);
        assert_string_equal(text, rows[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(durations_read_well)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
