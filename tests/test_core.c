/* Core: numbers as text, random streams, files that appear whole or not at all. */
#include "german.h"

#include "core/assumptions.h"
#include "core/memory.h"
#include "core/outfile.h"
#include "core/rng.h"
#include "core/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static bool parse(const char *text, double *value) { return pess__parse_double(text, text + strlen(text), value); }

static void numbers_read_back_the_same(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(1, "test-text", 0);
    for (int i = 0; i < 200000; i++) {
        const uint64_t bits = pess__rng_next(&rng);
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        if (i % 2 == 0) value = (double)(int64_t)(bits % 2000001) / 1000 - 1000; /* what people write */
        char text[PESS__NUMBER_SIZE];
        const size_t length = pess__format_double(value, text);
        assert_int_equal(length, strlen(text));
        assert_true(pess__parse_double(text, text + length, &back));
        assert_memory_equal(&value, &back, sizeof value);
        if (localeconv()->decimal_point[0] == '.')
            assert_true(strtod(text, NULL) == value); /* an answer from outside */
    }
}

static void parsing_agrees_with_strtod(void **state) {
    (void)state;
    static const char *const numbers[] = {"0",      "-0",    "1",          "1.5",
                                          ".5",     "5.",    "+3",         "1e3",
                                          "1E-3",   "1e400", "0.1",        "123456789012345678901234567890",
                                          "1e-320", "-2.50", "0.30000000", "9007199254740993",
                                          "1e22",   "1e23",  "3.14159",    "0.000000000000000000000000000001"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        double value = -1;
        assert_true(parse(numbers[i], &value));
        assert_true(value == strtod(numbers[i], NULL));
    }
    static const char *const others[] = {"", "-", ".", "e5", "1e", "1 ", " 1", "0x10", "1,5", "abc", "1.2.3", "--1"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        double value = 0;
        assert_false(parse(others[i], &value));
    }
    int64_t whole = 0;
    const char *largest = "9223372036854775807", *smallest = "-9223372036854775808", *beyond = "9223372036854775808";
    assert_true(pess__parse_int64(largest, largest + 19, &whole) && whole == INT64_MAX);
    assert_true(pess__parse_int64(smallest, smallest + 20, &whole) && whole == INT64_MIN);
    char shown[PESS__NUMBER_SIZE];
    assert_int_equal(pess__format_integer(INT64_MIN, shown), 20);
    assert_string_equal(shown, smallest);
    assert_int_equal(pess__format_integer(0, shown), 1);
    assert_string_equal(shown, "0");
    assert_false(pess__parse_int64(beyond, beyond + 19, &whole));
    assert_false(pess__parse_int64("1.0", &"1.0"[3], &whole));
}

static void streams_differ_and_repeat(void **state) {
    (void)state;
    pess__rng a = pess__rng_stream(1, "x", 0), b = pess__rng_stream(1, "x", 0);
    pess__rng other[3] = {pess__rng_stream(2, "x", 0), pess__rng_stream(1, "y", 0), pess__rng_stream(1, "x", 1)};
    for (int i = 0; i < 100; i++) {
        const uint64_t draw = pess__rng_next(&a);
        assert_int_equal(draw, pess__rng_next(&b));
        for (int k = 0; k < 3; k++) assert_int_not_equal(draw, pess__rng_next(&other[k]));
    }
}

/* A normal quantile of 4.9 has a two-sided tail of 1e-6: the false-alarm rate of each assertion below. */
static void distributions_have_their_moments(void **state) {
    (void)state;
    enum { N = 200000 };
    static const double shapes[][2] = {{1, 3}, {3, 1}, {0.5, 0.5}, {20, 2}, {0.25, 1.5}};
    for (uint64_t k = 0; k < 5; k++) {
        pess__rng rng = pess__rng_stream(7, "beta", k);
        const double a = shapes[k][0], b = shapes[k][1];
        const double mean = a / (a + b), variance = a * b / ((a + b) * (a + b) * (a + b + 1));
        double sum = 0;
        for (int i = 0; i < N; i++) sum += pess__rng_beta(&rng, a, b);
        assert_true(fabs(sum / N - mean) < 4.9 * sqrt(variance / N));
    }
    pess__rng rng = pess__rng_stream(7, "others", 0);
    double normal = 0, square = 0, exponential = 0;
    for (int i = 0; i < N; i++) {
        const double x = pess__rng_normal(&rng);
        normal += x;
        square += x * x;
        exponential += pess__rng_exponential(&rng);
    }
    assert_true(fabs(normal / N) < 4.9 / sqrt(N));
    assert_true(fabs(square / N - 1) < 4.9 * sqrt(2.0 / N));
    assert_true(fabs(exponential / N - 1) < 4.9 / sqrt(N));
    int64_t seen[7] = {0};
    for (int i = 0; i < N; i++) seen[pess__rng_below(&rng, 7)]++;
    double chi = 0; /* 6 degrees of freedom: the 1 - 1e-6 quantile is 38.3 */
    for (int i = 0; i < 7; i++) chi += pow((double)seen[i] - N / 7.0, 2) / (N / 7.0);
    assert_true(chi < 38.3);
}

static char folder[] = "/tmp/pess-test-core-XXXXXX";

static int files_in_folder(void) {
    DIR *directory = opendir(folder);
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) count += entry->d_name[0] != '.';
    (void)closedir(directory);
    return count;
}

static void read_all(const char *path, char *text, size_t size) {
    gzFile file = gzopen(path, "rb"); /* reads plain files too */
    assert_non_null(file);
    const int length = gzread(file, text, (unsigned)size - 1);
    assert_true(length >= 0);
    text[length] = '\0';
    (void)gzclose(file);
}

static void files_appear_whole_or_not_at_all(void **state) {
    (void)state;
    char path[200], text[1000];
    pess_error error = {0};
    static const char *const names[] = {"plain.csv", "packed.csv.gz"};
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        pess__outfile *file = NULL;
        assert_int_equal(pess__outfile_open(path, &file, &error), PESS_OK);
        pess__outfile_field(file, "a \"b\", c");
        pess__outfile_print(file, ",%d,", 5);
        pess__outfile_double(file, 0.1);
        assert_int_equal(access(path, F_OK), -1); /* not there before the commit */
        assert_int_equal(pess__outfile_commit(file, &error), PESS_OK);
        read_all(path, text, sizeof text);
        assert_string_equal(text, "\"a \"\"b\"\", c\",5,0.1");
        assert_int_equal(files_in_folder(), 1);
        /* an abandoned rewrite leaves the old contents */
        assert_int_equal(pess__outfile_open(path, &file, &error), PESS_OK);
        pess__outfile_print(file, "other");
        pess__outfile_abandon(file);
        read_all(path, text, sizeof text);
        assert_string_equal(text, "\"a \"\"b\"\", c\",5,0.1");
        assert_int_equal(files_in_folder(), 1);
        assert_int_equal(unlink(path), 0);
    }
}

static void write_failures_are_reported(void **state) {
    (void)state;
    char path[200];
    pess_error error = {0};
    pess__outfile *file = NULL;
    (void)snprintf(path, sizeof path, "%s/none/file.csv", folder);
    assert_int_equal(pess__outfile_open(path, &file, &error), PESS_IO);
    assert_non_null(strstr(error.message, path));
    assert_int_equal(pess__outfile_open(folder, &file, &error), PESS_IO);
    assert_int_equal(pess__outfile_open("/dev/full", &file, &error), PESS_OK);
    for (int i = 0; i < 100000; i++) pess__outfile_print(file, "0123456789");
    assert_int_equal(pess__outfile_commit(file, &error), PESS_IO);
    assert_non_null(strstr(error.message, "/dev/full"));
    assert_int_equal(files_in_folder(), 0);
}

static void sizes_overflow_into_messages(void **state) {
    (void)state;
    pess_error error = {0};
    double *array = NULL;
    assert_int_equal(pess__allocate(&array, INT64_MAX / 2, sizeof *array, "a test", &error), PESS_MEMORY);
    assert_null(array);
    assert_non_null(strstr(error.message, "a test"));
    int64_t capacity = 0;
    assert_int_equal(pess__grow(&array, &capacity, INT64_MAX / 2, sizeof *array, "a test", &error), PESS_MEMORY);
    assert_int_equal(pess__grow(&array, &capacity, 100, sizeof *array, "a test", &error), PESS_OK);
    assert_true(capacity >= 100);
    free(array);
}

static void assumptions_carry_their_numbers(void **state) {
    (void)state;
    pess__assumptions list = {0};
    const double range[] = {-0.5, 1e6};
    assert_int_equal(pess__assume(&list, "range", "Between {0} and {1}, not {2}.", range, NULL), PESS_OK);
    for (int i = 0; i < 40; i++) assert_int_equal(pess__assume(&list, "none", "Nothing.", NULL, NULL), PESS_OK);
    const pess_assumption *first = pess__assumption(&list, 0), *last = pess__assumption(&list, 40);
    assert_string_equal(first->text, "Between -0.5 and 1000000, not {2}.");
    assert_string_equal(first->code, "range");
    assert_true(first->values[0] == -0.5 && first->values[1] == 1e6);
    assert_string_equal(last->text, "Nothing.");
    assert_true(isnan(last->values[0]) && isnan(last->values[1]));
    assert_null(pess__assumption(&list, 41));
    pess__assumptions_release(&list);
    assert_null(pess__assumption(&list, 0));
}

int main(void) {
    char locales[] = "/tmp/pess-locales-XXXXXX";
    if (mkdtemp(folder) == NULL || mkdtemp(locales) == NULL) return 1;
    speak_german(locales); /* decimal commas must change nothing */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_read_back_the_same),       cmocka_unit_test(streams_differ_and_repeat),
        cmocka_unit_test(distributions_have_their_moments), cmocka_unit_test(files_appear_whole_or_not_at_all),
        cmocka_unit_test(write_failures_are_reported),      cmocka_unit_test(sizes_overflow_into_messages),
        cmocka_unit_test(assumptions_carry_their_numbers),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)setlocale(LC_ALL, "C");
    remove_tree(locales);
    const struct CMUnitTest plain[] = {cmocka_unit_test(parsing_agrees_with_strtod)};
    failed += cmocka_run_group_tests(plain, NULL, NULL);
    (void)rmdir(folder);
    return failed;
}
