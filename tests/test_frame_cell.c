/* One value of a table from another program: what it is as a whole number, a number and a flag, for every kind of
 * column and every kind of value. */
#include "scratch.h"

#include "data/frame_cell.h"
#include "data/names.h"

#include <math.h>

static pess_error error;
static const pess__frames frames = {.name = "table", .row = "row"};
static const pess__frame frame = {.rows = 1, .first = 7, .columns = 1};

static pess__frame_column column_of(pess__frame_kind kind, const void *values) {
    return (pess__frame_column){.name = "dose", .kind = kind, .values = values};
}

/* What the cell is, as a letter for each of: a whole number, a number, a flag; "-" where it is none. */
static const char *kinds_of(const pess__frame_column *column) {
    static char kinds[4];
    const pess__frame_cell cell = {.frames = &frames, .frame = &frame, .column = column, .row = 0};
    int64_t whole;
    double number;
    bool flag;
    kinds[0] = pess__frame_cell_whole(&cell, &whole) ? 'w' : '-';
    kinds[1] = pess__frame_cell_number(&cell, &number) ? 'n' : '-';
    kinds[2] = pess__frame_cell_flag(&cell, &flag) ? (flag ? 't' : 'f') : '-';
    return kinds;
}

static void numbers_are_what_they_are(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *kinds;
    } cases[] = {{0, "wnf"},      {1, "wnt"},          {-1, "wn-"},        {0.5, "-n-"},
                 {0x1p53, "-n-"}, {0x1p53 - 1, "wn-"}, {-INFINITY, "---"}, {NAN, "---"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const pess__frame_column column = column_of(PESS__FRAME_NUMBER, &cases[i].value);
        assert_string_equal(kinds_of(&column), cases[i].kinds);
    }
}

static void whole_numbers_truths_and_times_are_what_they_are(void **state) {
    (void)state;
    static const struct {
        int64_t value;
        const char *integer, *time;
    } cases[] = {{0, "wnf", "w--"}, {1, "wnt", "w--"}, {2, "wn-", "w--"}, {-1, "wn-", "w--"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pess__frame_column column = column_of(PESS__FRAME_INTEGER, &cases[i].value);
        assert_string_equal(kinds_of(&column), cases[i].integer);
        column.kind = PESS__FRAME_TIME;
        assert_string_equal(kinds_of(&column), cases[i].time);
    }
    static const uint8_t truths[] = {0, 1};
    for (int i = 0; i < 2; i++) {
        const pess__frame_column column = column_of(PESS__FRAME_TRUTH, &truths[i]);
        assert_string_equal(kinds_of(&column), i == 1 ? "wnt" : "wnf");
    }
}

static void texts_are_what_they_say(void **state) {
    (void)state;
    static const struct {
        const char *text, *kinds;
    } cases[] = {{"1", "wnt"}, {"0.0", "wnf"},  {"2e2", "wn-"}, {"0.5", "-n-"},  {"1e999", "---"}, {"ten", "---"},
                 {"", "--f"},  {"true", "--t"}, {"No", "---"},  {"1e20", "-n-"}, {"1 ", "---"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t place = 0;
        pess_names *texts = NULL;
        assert_ok(pess__names_create(&texts, &error), &error);
        assert_ok(pess__names_add(texts, cases[i].text, strlen(cases[i].text), &place, &error), &error);
        pess__frame_column column = column_of(PESS__FRAME_TEXT, &place);
        column.texts = texts;
        if (strcmp(kinds_of(&column), cases[i].kinds) != 0)
            fail_msg("'%s' is %s, expected %s", cases[i].text, kinds_of(&column), cases[i].kinds);
        pess_names_destroy(texts);
    }
}

static void nothing_and_lists_are_none_of_it(void **state) {
    (void)state;
    static const int64_t one = 1;
    static const uint8_t none = 0;
    pess__frame_column column = column_of(PESS__FRAME_INTEGER, &one);
    const pess__frame_cell cell = {.frames = &frames, .frame = &frame, .column = &column, .row = 0};
    column.valid = &none;
    assert_string_equal(kinds_of(&column), "--f"); /* as an empty field of a CSV */
    assert_true(pess__frame_cell_missing(&cell));
    column = column_of(PESS__FRAME_OTHER, NULL);
    assert_string_equal(kinds_of(&column), "---");
    assert_false(pess__frame_cell_missing(&cell));
    assert_failure(pess__frame_cell_wrong(&cell, "a number", &error), PESS_INPUT, &error,
                   "table: row 7, column 'dose': found values that are not single", "expected a number", NULL);
    column.type = "a map";
    assert_failure(pess__frame_cell_wrong(&cell, "a number", &error), PESS_INPUT, &error, "found a map, expected",
                   NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_what_they_are),
        cmocka_unit_test(whole_numbers_truths_and_times_are_what_they_are),
        cmocka_unit_test(texts_are_what_they_say),
        cmocka_unit_test(nothing_and_lists_are_none_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
