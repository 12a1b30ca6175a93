/* Rows of JSON lines, of measurements and to act on: values that are no log are refused with the line, the column and
 * what is expected there; odd ones that mean something are read as that. */
#include "scratch.h"

#include <math.h>

static pess_error error;

/* ---- logs of JSON lines */

static pess_status read_lines(const char *text, const pess_read_options *options, pess_dataset **out) {
    pess_read_options settled = options != NULL ? *options : pess_read_options_defaults();
    settled.size = sizeof settled, settled.format = "jsonl";
    return pess_dataset_read_memory("log", text, strlen(text), &settled, out, &error);
}

#define GOOD "{\"state\":\"a\",\"action\":0,\"reward\":1,\"next_state\":\"b\"}\n"

static void values_that_are_no_log_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *line, *words, *remedy;
    } all[] = {
        {"{\"state\":\"\",\"action\":0,\"reward\":1,\"next_state\":\"b\"}", "found no value for 'state' in 1 row",
         NULL},
        {"{\"state\":[1],\"action\":0,\"reward\":1,\"next_state\":1}", "found a list, expected a state", NULL},
        {"{\"state\":0.5,\"action\":0,\"reward\":1,\"next_state\":1}", "column 'state': found '0.5'", "measurements"},
        {"{\"state\":0,\"action\":0.5,\"reward\":1,\"next_state\":1}", "column 'action': found '0.5'", "decimal-ids"},
        {"{\"state\":0,\"action\":0,\"reward\":\"high\",\"next_state\":1}", "found 'high', expected a finite number",
         NULL},
        {"{\"state\":0,\"action\":0,\"reward\":[0],\"next_state\":1}", "column 'reward': found a list", NULL},
        {"{\"state\":0,\"action\":0,\"reward\":0,\"next_state\":1,\"terminal\":\"maybe\"}",
         "column 'terminal': found 'maybe', expected 0, 1, true, false or nothing", NULL},
        {"{\"state\":0,\"action\":0,\"reward\":0,\"next_state\":1,\"terminal\":2}", "found '2', expected 0, 1", NULL},
        {"{\"state\":0,\"action\":0,\"reward\":0,\"next_state\":1,\"episode\":1.5}",
         "column 'episode': found '1.5', expected a whole number or a name", NULL},
        {"{\"state\":0,\"action\":0,\"reward\":0,\"next_state\":1,\"episode\":1,\"step\":\"soon\"}",
         "column 'step': found 'soon', expected a whole number or a time", NULL},
        {"{\"state\":0,\"action\":0,\"reward\":0,\"next_state\":1,\"probability\":1.5}",
         "column 'probability': found '1.5', expected a probability from 0 to 1", NULL},
        {"{\"state\":0,\"action\":0,\"reward\":0,\"next_state\":1,\"probability\":\"often\"}", "found 'often'", NULL},
        {"{\"state\":0,\"action\":0,\"count\":0,\"reward_sum\":0,\"next_state\":1}",
         "column 'count': found '0', expected a count: a whole number from 1", NULL},
        {"{\"state\":0,\"action\":0,\"count\":1.5,\"reward_sum\":0,\"next_state\":1}", "expected a count", NULL},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pess_dataset *data = NULL;
        pess_counts *counts = NULL;
        const pess_read_options options = {.size = sizeof options, .format = "jsonl"};
        pess_status status =
            strstr(all[i].line, "\"count\"") != NULL
                ? pess_counts_read_memory("log", all[i].line, strlen(all[i].line), &options, &counts, &error)
                : read_lines(all[i].line, NULL, &data);
        assert_failure(status, PESS_INPUT, &error, "log: ", all[i].words, NULL);
        if (all[i].remedy != NULL) assert_string_equal(error.remedy, all[i].remedy);
        assert_null(data);
        assert_null(counts);
    }
}

/* Ids that are declared; names of several columns. */
static void what_contradicts_the_declarations_is_refused(void **state) {
    (void)state;
    pess_dataset *data = NULL;
    pess_read_options options = pess_read_options_defaults();
    options.states = 2;
    assert_failure(read_lines("{\"state\":0,\"action\":0,\"reward\":1,\"next_state\":5}\n", &options, &data),
                   PESS_INPUT, &error,
                   "column 'next_state': found '5', expected a state: a whole number from 0 to 1, "
                   "as declared",
                   NULL);
    assert_failure(
        read_lines(GOOD "{\"state\":\"c\",\"action\":0,\"reward\":1,\"next_state\":\"b\"}\n", &options, &data),
        PESS_INPUT, &error, "row 2, column 'state': found 'c', expected at most 2 different ones, as declared", NULL);
    options = pess_read_options_defaults();
    options.column = "state=state,part\nnext_state=next_state,then";
    assert_failure(
        read_lines("{\"state\":\"a|b\",\"part\":1,\"then\":1,\"action\":0,\"reward\":1,\"next_state\":\"b\"}\n",
                   &options, &data),
        PESS_INPUT, &error, "no '|' in a value that stands beside others", NULL);
    assert_null(data);
}

/* Numbers in quotes, flags in words, times as steps, nulls where a flag is not set. */
static void texts_that_are_numbers_are_read_as_numbers(void **state) {
    (void)state;
    pess_dataset *data = NULL;
    pess_columns c;
    assert_ok(
        read_lines(
            "{\"episode\":\"p\",\"step\":\"2024-05-01 10:00:01\",\"state\":\"a\",\"action\":0,\"reward\":\"0.5\","
            "\"next_state\":\"b\",\"terminal\":\"false\",\"probability\":\"0.25\"}\n"
            "{\"episode\":\"p\",\"step\":\"2024-05-01 10:00:02\",\"state\":\"b\",\"action\":1,\"reward\":\"-1e1\","
            "\"next_state\":\"a\",\"terminal\":\"TRUE\",\"probability\":\"1\"}\n",
            NULL, &data),
        &error);
    pess_dataset_columns(data, &c);
    assert_int_equal(c.rows, 2);
    assert_true(c.reward[0] == 0.5 && c.reward[1] == -10);
    assert_true(c.probability[0] == 0.25 && c.probability[1] == 1);
    assert_int_equal(c.end[0], PESS_END_NONE);
    assert_int_equal(c.end[1], PESS_END_TERMINAL);
    assert_int_equal(c.step[1] - c.step[0], 1000000); /* microseconds */
    pess_dataset_destroy(data);
}

/* A row without its state leaves a gap: what the row before it led to is not known. */
static void rows_without_a_state_are_gaps(void **state) {
    (void)state;
    pess_dataset *data = NULL;
    pess_columns c;
    const pess_read_options options = {.size = sizeof options, .missing = "drop", .last_row = PESS_LAST_ROW_TERMINAL};
    assert_ok(read_lines("{\"episode\":1,\"step\":0,\"state\":\"a\",\"action\":0,\"reward\":0}\n"
                         "{\"episode\":1,\"step\":1,\"state\":\"b\",\"action\":0,\"reward\":0}\n"
                         "{\"episode\":1,\"step\":2,\"state\":null,\"action\":0,\"reward\":0}\n"
                         "{\"episode\":1,\"step\":3,\"state\":\"c\",\"action\":null,\"reward\":0}\n"
                         "{\"episode\":1,\"step\":4,\"state\":\"d\",\"action\":0,\"reward\":1}\n",
                         &options, &data),
              &error);
    pess_dataset_columns(data, &c);
    for (int64_t i = 0; i < c.rows; i++) /* no row leads over the gap */
        assert_string_not_equal(pess_names_get(pess_dataset_state_names(data), c.next_state[i]), "c");
    assert_string_equal(pess_names_get(pess_dataset_state_names(data), c.state[c.rows - 1]), "d");
    assert_int_equal(c.end[c.rows - 1], PESS_END_TERMINAL);
    pess_dataset_destroy(data);
}

/* Two columns that may both play a role, and headers without one: as many names as there is room for. */
static void headers_that_leave_a_role_open_are_refused(void **state) {
    (void)state;
    pess_dataset *data = NULL;
    static const char both[] = "Done,DONE,state,action,reward,next_state\n0,0,0,1,1,1\n";
    assert_failure(pess_dataset_read_memory("log", both, strlen(both), NULL, &data, &error), PESS_INPUT, &error,
                   "log:1:6: found the columns 'Done' and 'DONE', expected one that can be the terminal", NULL);
    assert_string_equal(error.remedy, "column");
    assert_string_equal(error.value, "terminal=Done");
    char text[2000] = "";
    for (int i = 0; i < 20; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "a_rather_long_name_of_a_column_%02d%s", i,
                       i < 19 ? "," : "\n1\n");
    assert_failure(pess_dataset_read_memory("log", text, strlen(text), NULL, &data, &error), PESS_INPUT, &error,
                   "log:1:1: found no column 'state' among 'a_rather_long_name_of_a_column_00', ",
                   ", …; expected columns", NULL);
    assert_null(data);
}

/* ---- a reading declared with names in quotes */

static void names_with_commas_are_declared_in_quotes(void **state) {
    (void)state;
    static const char text[] = "\"Zustand, \"\"neu\"\"\",action,reward,next_state\na,0,1,b\nb,1,0.5,a\n";
    pess_dataset *data = NULL, *again = NULL;
    pess_read_options options = pess_read_options_defaults();
    options.column = "state=\"Zustand, \"\"neu\"\"\"";
    assert_ok(pess_dataset_read_memory("log", text, strlen(text), &options, &data, &error), &error);
    const char *kept = scratch_path(0, ".pessreading");
    assert_ok(pess_reading_write(pess_dataset_reading(data), kept, &error), &error);
    const pess_read_options as_kept = {.size = sizeof as_kept, .reading = kept};
    assert_ok(pess_dataset_read_memory("log", text, strlen(text), &as_kept, &again, &error), &error);
    pess_columns a, b;
    pess_dataset_columns(data, &a);
    pess_dataset_columns(again, &b);
    assert_int_equal(a.rows, b.rows);
    assert_memory_equal(a.state, b.state, (size_t)a.rows * sizeof *a.state);
    pess_dataset_destroy(again);
    pess_dataset_destroy(data);
    scratch_remove(kept);
    data = NULL;
    options.column = "state=s01,s02,s03,s04,s05,s06,s07,s08,s09,s10,s11,s12,s13,s14,s15,s16,s17";
    assert_failure(pess_dataset_read_memory("log", text, strlen(text), &options, &data, &error), PESS_ARGUMENT, &error,
                   "at most 16 columns for a role", NULL);
    options.column = "state=a,,b";
    assert_failure(pess_dataset_read_memory("log", text, strlen(text), &options, &data, &error), PESS_ARGUMENT, &error,
                   "a name between commas", NULL);
    options.column = "reward=action,reward";
    assert_failure(pess_dataset_read_memory("log", text, strlen(text), &options, &data, &error), PESS_ARGUMENT, &error,
                   "one column: states, actions and episodes alone may be made of several", NULL);
    assert_null(data);
}

/* ---- measurements */

static pess_status measure(const char *text, const char *column, pess_measurements **out) {
    pess_read_options read = pess_read_options_defaults();
    read.column = column;
    const pess_measurements_options options = {
        .size = sizeof options, .features = "pulse,lactate", .threads = 1, .read = &read};
    return pess_measurements_read(scratch_write(0, text), &options, out, &error);
}

static void rows_that_measure_nothing_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } all[] = {
        {"pulse,action\n1,0\n",
         "1:1: found no column 'lactate' among 'pulse', 'action'; expected one for each feature"},
        {"pulse,lactate,pulse\n1,2,3\n", ":1:15: found the column 'pulse' twice, expected it once"},
        {"pulse,lactate\n1,2\n3\n", ":3:1: found 1 field, expected 2 as in the header"},
        {"pulse,lactate\n1,2\n3,4,5\n", ":3:1: found 3 fields, expected 2"},
        {"pulse,lactate\n1,2\nfast,4\n", ":3:1: column 'pulse': found 'fast', expected a finite number"},
        {"pulse,lactate,reward\n1,2,high\n", ":2:5: column 'reward': found 'high'"},
        {"pulse,lactate,action,terminal\n1,2,0,maybe\n", "column 'terminal': found 'maybe'"},
        {"pulse,lactate,action,probability\n1,2,0,1.5\n", "column 'probability': found '1.5'"},
        {"pulse,lactate,action,probability\n1,2,0,often\n", "column 'probability': found 'often'"},
        {"pulse,lactate,episode,step\n1,2,0,soon\n", "column 'step': found 'soon'"},
        {"pulse,lactate,action\n1,2,\xff\n", "column 'action'"},
        {"pulse,lactate,action\n1,2,\n", "found no value for 'action' in 1 row"},
        {"pulse,lactate\n", "found no rows after the header, expected at least one"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pess_measurements *m = NULL;
        assert_failure(measure(all[i].text, NULL, &m), PESS_INPUT, &error, scratch_path(0, ".csv"), all[i].words, NULL);
        assert_null(m);
    }
    scratch_remove(scratch_path(0, ".csv"));
}

static void columns_that_measure_nothing_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"pulse"};
    const double values[2] = {60, NAN}, infinite[2] = {60, INFINITY}, reward[2] = {0, NAN}, probability[2] = {0.5, 1.5};
    pess_measurements *m = NULL;
    const pess_measurement_columns good = {.rows = 2, .features = 1, .names = names, .values = values};
    pess_measurement_columns c = good;
    c.values = infinite;
    assert_failure(pess_measurements_create(&c, &m, &error), PESS_INPUT, &error, "row 1, feature 'pulse': found inf",
                   NULL);
    c = good, c.reward = reward;
    assert_failure(pess_measurements_create(&c, &m, &error), PESS_INPUT, &error, "row 1: found the reward nan", NULL);
    c = good, c.probability = probability;
    assert_failure(pess_measurements_create(&c, &m, &error), PESS_INPUT, &error, "row 1: found the probability 1.5",
                   NULL);
    const pess_measurement_columns lacking[] = {{.rows = 0, .features = 1, .names = names, .values = values},
                                                {.rows = 2, .features = 0, .names = names, .values = values},
                                                {.rows = 2, .features = 1, .names = NULL, .values = values},
                                                {.rows = 2, .features = 1, .names = names, .values = NULL}};
    for (int i = 0; i < 4; i++)
        assert_failure(pess_measurements_create(&lacking[i], &m, &error), PESS_ARGUMENT, &error,
                       "expected at least one row, one feature and its name", NULL);
    assert_failure(pess_measurements_create(NULL, &m, &error), PESS_ARGUMENT, &error, "at least one row", NULL);
    assert_null(m);
    assert_ok(pess_measurements_create(&good, &m, &error), &error);
    /* what networks learn from has no gaps, and needs actions and rewards */
    pess_observations *data = NULL;
    assert_failure(pess_measurements_observations(m, NULL, &data, &error), PESS_INPUT, &error, "action", NULL);
    pess_measurements_destroy(m);
    const uint32_t action[2] = {0, 1};
    c = good, c.action = action, m = NULL;
    assert_ok(pess_measurements_create(&c, &m, &error), &error);
    assert_failure(pess_measurements_observations(m, NULL, &data, &error), PESS_INPUT, &error, "reward", NULL);
    pess_measurements_destroy(m);
    const double rewards[2] = {0, 1};
    c.reward = rewards, m = NULL;
    assert_ok(pess_measurements_create(&c, &m, &error), &error);
    assert_failure(pess_measurements_observations(m, NULL, &data, &error), PESS_INPUT, &error, "where episodes end",
                   NULL);
    pess_measurements_destroy(m);
    const uint8_t ends[2] = {PESS_END_TERMINAL, PESS_END_TERMINAL};
    c.end = ends, m = NULL;
    assert_ok(pess_measurements_create(&c, &m, &error), &error);
    assert_failure(pess_measurements_observations(m, NULL, &data, &error), PESS_INPUT, &error, "nothing", NULL);
    pess_measurements_destroy(m);
    assert_null(data);
}

/* Rows of JSON are read as the text that they would be: with quotes where names need them. */
static void names_of_any_characters_are_kept(void **state) {
    (void)state;
    static const char *const expected[] = {"a,b", "say \"no\"", " blank ", "two\nlines", "\ttab", "semi;colon"};
    static const char lines[] = "{\"pulse\":1,\"lactate\":2,\"action\":\"a,b\"}\n"
                                "{\"pulse\":null,\"lactate\":2.5,\"action\":\"say \\\"no\\\"\"}\n"
                                "{\"pulse\":3,\"lactate\":-1e-3,\"action\":\" blank \"}\n"
                                "{\"pulse\":3,\"lactate\":-1e-3,\"action\":\"two\\nlines\"}\n"
                                "{\"pulse\":3,\"lactate\":-1e-3,\"action\":\"\\ttab\"}\n"
                                "{\"pulse\":3,\"lactate\":-1e-3,\"action\":\"semi;colon\"}\n";
    pess_measurements *m = NULL;
    pess_measurement_columns c;
    assert_ok(measure(lines, NULL, &m), &error);
    pess_measurements_columns(m, &c);
    assert_int_equal(c.rows, 6);
    assert_true(c.values[0] == 1 && c.values[1] == 2 && isnan(c.values[2]) && c.values[3] == 2.5 &&
                c.values[5] == -1e-3);
    for (int64_t i = 0; i < 6; i++)
        assert_string_equal(pess_names_get(pess_measurements_action_names(m), c.action[i]), expected[i]);
    pess_measurements_destroy(m);
    scratch_remove(scratch_path(0, ".csv"));
}

/* What is declared to be Latin-1 becomes UTF-8; without the declaration the error names it. */
static void names_in_latin_1_become_utf_8(void **state) {
    (void)state;
    static const char text[] = "pulse,lactate,action,episode\n1,2,\xfc"
                               "ben,M\xfcller\n3,4,ruhen,M\xfcller\n";
    pess_measurements *m = NULL;
    assert_failure(measure(text, NULL, &m), PESS_INPUT, &error, "column", NULL);
    assert_string_equal(error.remedy, "encoding");
    pess_read_options read = pess_read_options_defaults();
    read.encoding = PESS_ENCODING_LATIN1;
    const pess_measurements_options options = {
        .size = sizeof options, .features = "pulse,lactate", .threads = 1, .read = &read};
    assert_ok(pess_measurements_read(scratch_write(0, text), &options, &m, &error), &error);
    pess_measurement_columns c;
    pess_measurements_columns(m, &c);
    assert_string_equal(pess_names_get(pess_measurements_action_names(m), c.action[0]), "\u00fcben");
    assert_string_equal(pess_names_get(pess_measurements_episode_names(m), c.episode[0]), "M\u00fcller");
    assert_int_equal(pess_measurements_episodes(m), 1);
    pess_measurements_destroy(m);
    scratch_remove(scratch_path(0, ".csv"));
}

/* ---- lines of any length, up to a limit */

static void lines_are_read_up_to_a_limit(void **state) {
    (void)state;
    enum { LONG = 700000, TOO_LONG = (1 << 25) + 1 };
    char *text = malloc(TOO_LONG + 200);
    assert_non_null(text);
    for (int i = 0; i < 2; i++) {
        const size_t length = i == 0 ? LONG : TOO_LONG;
        const int begun = sprintf(text, "{\"state\":0,\"action\":1,\"reward\":2,\"next_state\":3,\"note\":\"");
        memset(text + begun, 'x', length);
        (void)strcpy(text + (size_t)begun + length, "\"}\n" GOOD);
        pess_dataset *data = NULL;
        const pess_status status = read_lines(text, NULL, &data);
        if (i == 0) {
            assert_ok(status, &error);
            pess_columns c;
            pess_dataset_columns(data, &c);
            assert_int_equal(c.rows, 2);
            pess_dataset_destroy(data);
        } else {
            assert_failure(status, PESS_INPUT, &error, "log:1:1: found a line of more than", NULL);
        }
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_are_no_log_are_refused),
        cmocka_unit_test(what_contradicts_the_declarations_is_refused),
        cmocka_unit_test(texts_that_are_numbers_are_read_as_numbers),
        cmocka_unit_test(rows_without_a_state_are_gaps),
        cmocka_unit_test(headers_that_leave_a_role_open_are_refused),
        cmocka_unit_test(names_with_commas_are_declared_in_quotes),
        cmocka_unit_test(rows_that_measure_nothing_are_refused),
        cmocka_unit_test(columns_that_measure_nothing_are_refused),
        cmocka_unit_test(names_of_any_characters_are_kept),
        cmocka_unit_test(names_in_latin_1_become_utf_8),
        cmocka_unit_test(lines_are_read_up_to_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
