/* Frames that are built value by value, and JSON lines, which are read into them: the same log as the CSV, and for each
 * kind of damage the message that names the place. */
#include "logs.h"

#include "data/frame_build.h"

#include <math.h>

#define ROW "{\"state\":0,\"action\":1,\"reward\":0.5,\"next_state\":2}\n"

static pess__frame_builder *builder;

static int64_t column(const char *name) {
    int64_t index = -1;
    assert_int_equal(pess__frame_builder_column(builder, name, strlen(name), &index, NULL), PESS_OK);
    return index;
}

static const char *value(const pess__frame *frame, int64_t index, int64_t row) {
    static char buffer[PESS__FRAME_VALUE_SIZE];
    return pess__frame_value(&frame->column[index], row, buffer);
}

static void types_widen_as_rows_come(void **state) {
    (void)state;
    assert_int_equal(pess__frame_builder_create(&builder, NULL), PESS_OK);
    const int64_t truth = column("truth"), integer = column("integer"), numbers = column("number"),
                  text = column("text"), list = column("list"), late = column("late"), nothing = column("nothing");
    for (int i = 0; i < 20; i++) {
        pess__frame_builder_truth(builder, truth, i % 2 == 0, NULL);
        if (i == 0) pess__frame_builder_truth(builder, integer, true, NULL);
        if (i > 0 && i != 7) pess__frame_builder_integer(builder, integer, i, NULL);
        if (i < 10) pess__frame_builder_integer(builder, numbers, -i, NULL);
        if (i >= 10) pess__frame_builder_number(builder, numbers, i + 0.25, NULL);
        if (i < 5) pess__frame_builder_number(builder, text, i, NULL);
        if (i == 5) pess__frame_builder_truth(builder, text, true, NULL);
        if (i > 5) pess__frame_builder_text(builder, text, i % 2 == 0 ? "even" : "3", i % 2 == 0 ? 4 : 1, NULL);
        if (i == 3) pess__frame_builder_other(builder, list, "a list");
        if (i != 3) pess__frame_builder_integer(builder, list, i, NULL);
        if (i == 19) pess__frame_builder_text(builder, late, "last", 4, NULL);
        pess__frame_builder_end_row(builder);
    }
    pess__frame f;
    assert_int_equal(pess__frame_builder_finish(builder, &f, NULL), PESS_OK);
    assert_int_equal(f.rows, 20);
    assert_int_equal(f.columns, 7);
    assert_int_equal(f.column[truth].kind, PESS__FRAME_TRUTH);
    assert_int_equal(f.column[integer].kind, PESS__FRAME_INTEGER);
    assert_int_equal(f.column[numbers].kind, PESS__FRAME_NUMBER);
    assert_int_equal(f.column[text].kind, PESS__FRAME_TEXT);
    assert_int_equal(f.column[list].kind, PESS__FRAME_OTHER);
    assert_null(f.column[truth].valid);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(((const uint8_t *)f.column[truth].values)[i], i % 2 == 0);
        assert_int_equal(pess__frame_is_null(&f.column[integer], i), i == 7);
        assert_int_equal(pess__frame_is_null(&f.column[late], i), i < 19);
        assert_true(pess__frame_is_null(&f.column[nothing], i) && pess__frame_is_null(&f.column[list], i));
        assert_true(((const double *)f.column[numbers].values)[i] == (i < 10 ? -i : i + 0.25));
    }
    assert_string_equal(value(&f, truth, 1), "false");
    assert_string_equal(value(&f, integer, 0), "1"); /* true, once there are whole numbers */
    assert_string_equal(value(&f, text, 3), "3");
    assert_int_equal(((const int64_t *)f.column[text].values)[3], ((const int64_t *)f.column[text].values)[7]);
    assert_string_equal(value(&f, text, 5), "1"); /* true among numbers is 1 */
    assert_string_equal(value(&f, text, 6), "even");
    assert_string_equal(value(&f, late, 19), "last");
    assert_string_equal(value(&f, late, 3), "");
    pess__frame_builder_destroy(builder);
}

/* Times against a calendar that is not ours. */
static void times_are_steps(void **state) {
    (void)state;
    static const struct {
        int64_t micros;
        const char *text;
    } cases[] = {{0, "1970-01-01T00:00:00"},
                 {951782400000000, "2000-02-29T00:00:00"},
                 {4107542399000000, "2100-02-28T23:59:59"},
                 {-1, "1969-12-31T23:59:59.999999"},
                 {-2208988800000000, "1900-01-01T00:00:00"},
                 {1731844800500000, "2024-11-17T12:00:00.500000"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char buffer[PESS__FRAME_VALUE_SIZE];
        const pess__frame_column c = {.kind = PESS__FRAME_TIME, .values = &cases[i].micros};
        assert_string_equal(pess__frame_value(&c, 0, buffer), cases[i].text);
    }
}

/* A text in JSON. */
static void put_text(FILE *file, const char *text) {
    fputc('"', file);
    for (const char *c = text; *c != '\0'; c++)
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            fprintf(file, "\\u%04x", (unsigned)*c);
        else
            fputc(*c, file);
    fputc('"', file);
}

static void put_id(FILE *file, const char *key, const pess_names *names, int64_t id) {
    fprintf(file, "\"%s\": ", key);
    if (names != NULL)
        put_text(file, pess_names_get(names, id));
    else
        fprintf(file, "%lld", (long long)id);
    fputs(", ", file);
}

static const char *write_lines(const pess_dataset *d, const char *name) {
    const char *path = logs_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int64_t i = 0; i < d->rows; i++) {
        fputs("{ ", file);
        if (d->episode != NULL) put_id(file, "episode", d->episode_names, d->episode[i]);
        put_id(file, "state", d->state_names, d->state[i]);
        put_id(file, "action", d->action_names, d->action[i]);
        put_id(file, "next_state", d->state_names, d->next_state[i]);
        if (d->step != NULL) fprintf(file, "\"step\":%lld,", (long long)d->step[i]);
        if (d->probability != NULL) fprintf(file, "\"probability\":%.17g,", d->probability[i]);
        if (i % 3 != 0 || d->end[i] == PESS_END_TERMINAL)
            fprintf(file, "\"terminal\": %s,", d->end[i] == PESS_END_TERMINAL ? "true" : "false");
        fprintf(file, "\"truncated\": %d, \"note\": [1, {\"a\": 2}], \"reward\":%.17g}%s", d->end[i] == PESS_END_CUTOFF,
                d->reward[i], i % 5 == 0 ? "\r\n\n" : "\n");
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

static void the_log_is_that_of_the_csv(void **state) {
    (void)state;
    static const int kinds[] = {0, LOGS_ENDS | LOGS_EPISODES | LOGS_STEPS, LOGS_PROBABILITY | LOGS_ENDS | LOGS_NAMES,
                                LOGS_ENDS | LOGS_EPISODES | LOGS_STEPS | LOGS_PROBABILITY | LOGS_NAMES};
    for (int k = 0; k < 4; k++) {
        pess_dataset *d = logs_random(k == 3 ? 200000 : 2000, 50, 7, kinds[k], (uint64_t)k);
        pess_dataset *e = logs_read(write_lines(d, "log.jsonl"), k % 2 + 1);
        same_data(d, e);
        pess_dataset_destroy(e);
        pess_counts *a = NULL, *b = NULL;
        logs_write(d, logs_path("log.csv"));
        assert_int_equal(pess_counts_read(logs_path("log.csv"), NULL, &a, NULL), PESS_OK);
        assert_int_equal(pess_counts_read(logs_path("log.jsonl"), NULL, &b, NULL), PESS_OK);
        same_counts(a, b);
        pess_counts_destroy(a);
        pess_counts_destroy(b);
        pess_dataset_destroy(d);
    }
}

static pess_dataset *read_lines(const char *text) { return logs_read(logs_file("text", text, strlen(text)), 1); }

static void names_are_found_in_all_spellings(void **state) {
    (void)state;
    static const char *const same[] = {
        ROW "{\"state\":2,\"action\":0,\"reward\":1,\"next_state\":0}",
        "\xEF\xBB\xBF\n" ROW "{\"state\":2.0,\"action\":0,\"reward\":1e0,\"next_state\":0, \"x\":null}\n",
        ROW "{\"next_state\":0,\"action\":false,\"reward\":true,\"state\":2,\"terminal\":null}\n",
        ROW "{\"state\":2,\"action\":0,\"reward\":1,\"next_state\":0,\"state.x\":1,\"in\":{\"state\":9}}\n"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        pess_dataset *d = read_lines(same[i]);
        assert_int_equal(d->rows, 2);
        assert_int_equal(d->states, 3);
        assert_int_equal(d->actions, 2);
        assert_int_equal(d->state[1], 2);
        assert_true(d->reward[1] == 1);
        assert_null(d->state_names);
        pess_dataset_destroy(d);
    }
    /* one name among numbers makes names of all, in order of appearance */
    pess_dataset *d = read_lines(ROW "{\"state\":\"ward\",\"action\":0,\"reward\":1,\"next_state\":2}\n");
    assert_int_equal(d->states, 3);
    assert_string_equal(pess_names_get(d->state_names, 0), "0");
    assert_string_equal(pess_names_get(d->state_names, 1), "2");
    assert_string_equal(pess_names_get(d->state_names, 2), "ward");
    assert_int_equal(d->next_state[1], 1);
    pess_dataset_destroy(d);
}

static void counted_logs_are_read(void **state) {
    (void)state;
    static const char text[] = "{\"state\":0,\"action\":0,\"next_state\":1,\"count\":3,\"reward_sum\":1.5}\n";
    pess_counts *counts = NULL;
    pess_counts_info info;
    pess_error error = {0};
    const char *path = logs_file("counted.jsonl", text, strlen(text));
    if (pess_counts_read(path, NULL, &counts, &error) != PESS_OK) fail_msg("%s", error.message);
    pess_counts_get_info(counts, &info);
    assert_int_equal(info.transitions, 3);
    pess_counts_destroy(counts);
    static const char zero[] = "{\"state\":0,\"action\":0,\"next_state\":1,\"count\":-3,\"reward_sum\":1.5}\n";
    assert_int_equal(pess_counts_read(logs_file("zero.jsonl", zero, strlen(zero)), NULL, &counts, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "row 1, column 'count': found '-3', expected a count"));
}

static void lines_that_are_no_rows_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *where, *what;
    } cases[] = {
        {"{\"state\":0}\n", "text", "no column 'action' among 'state'"},
        {"[" ROW "]", "text:1:1", "found a list, expected one object per line"},
        {ROW "7\n", "text:2:1", "a single value"},
        {ROW "{\"state\":0,\n", "text:2:12", "expected a text in quotes"},
        {ROW "{} {}", "text:2:4", "expected the end"},
        {ROW "{\"state\":0,\"state\":1}", "line 2, column 'state'", "found it twice in one line"},
        {ROW "{}", "of 2 rows", "found no value for 'state' in 1 row (first in row 2)"},
        {ROW "{\"state\":1.5,\"action\":1,\"reward\":0.5,\"next_state\":2}", "row 2, column 'state'", "found '1.5'"},
        {ROW "{\"state\":1,\"action\":1,\"reward\":\"much\",\"next_state\":2}", "row 2, column 'reward'",
         "found 'much', expected a finite number"},
        {ROW "{\"state\":1,\"action\":1,\"reward\":1e999,\"next_state\":2}", "row 2, column 'reward'",
         "a finite number"},
        {ROW "{\"state\":1,\"action\":1,\"reward\":1.,\"next_state\":2}", "text:2:", "expected a digit"},
        {ROW "{\"state\":[1],\"action\":1,\"reward\":1,\"next_state\":2}", "row 1, column 'state'", "found a list"},
        {ROW "{\"state\":1,\"action\":1,\"reward\":1,\"next_state\":2,\"terminal\":2}", "row 2, column 'terminal'",
         "0, 1, true, false"},
        {ROW "{\"state\":\"\xff\",\"action\":1}", "line 2, column 'state'", "not UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        logs_refused(logs_file("text", cases[i].text, strlen(cases[i].text)), NULL, PESS_INPUT, cases[i].where,
                     cases[i].what);
    pess_read_options two = pess_read_options_defaults();
    two.states = 2;
    logs_refused(logs_file("text", ROW, strlen(ROW)), &two, PESS_INPUT, "row 1, column 'next_state'",
                 "a whole number from 0 to 1, as declared");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_widen_as_rows_come),   cmocka_unit_test(times_are_steps),
        cmocka_unit_test(the_log_is_that_of_the_csv), cmocka_unit_test(names_are_found_in_all_spellings),
        cmocka_unit_test(counted_logs_are_read),      cmocka_unit_test(lines_that_are_no_rows_are_refused)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
