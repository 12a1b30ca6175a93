/* CSV logs: what is accepted, and for each kind of damage the one message that names the place. */
#include "logs.h"

#include <zlib.h>

#define HEAD "state,action,reward,next_state\n"

static void check_simple(pess_dataset *d) {
    assert_int_equal(d->rows, 2);
    assert_int_equal(d->states, 4);
    assert_int_equal(d->actions, 3);
    assert_int_equal(d->state[0], 0);
    assert_int_equal(d->action[0], 2);
    assert_true(d->reward[0] == 0.5);
    assert_int_equal(d->next_state[0], 3);
    assert_int_equal(d->state[1], 3);
    assert_int_equal(d->action[1], 1);
    assert_true(d->reward[1] == -2e3);
    assert_int_equal(d->next_state[1], 0);
    assert_null(d->state_names);
    pess_dataset_destroy(d);
}

static void columns_are_found_in_all_spellings(void **state) {
    (void)state;
    static const char *const same[] = {
        HEAD "0,2,0.5,3\n3,1,-2000,0\n",
        HEAD "0,2,0.5,3\n3,1,-2e3,0",                                                          /* no last line feed */
        "state,action,reward,next_state\r\n0,2,0.5,3\r\n3,1,-2E+3,0\r\n",                      /* CRLF */
        "\xEF\xBB\xBF" HEAD "0,2,0.5,3\n3,1,-2000,0\n",                                        /* byte order mark */
        "\xEF\xBB\xBFsep=;\r\nstate;action;reward;next_state\r\n0;2;0,5;3\r\n3;1;-2000;0\r\n", /* of a spreadsheet */
        "sep=,\n" HEAD "0,2,0.5,3\n3,1,-2000,0\n",
        "next_state,reward,action,state\n3,.5,2,0\n0,-2000.0,1,3\n", /* another order */
        "\"state\",action,\"reward\",next_state\n\"0\",2,\"0.5\",3\n3,\"1\",-2000,\"0\"\n",
        " state , action,reward ,next_state\n 0, 2 ,0.5,3\n3,1,\t-2000, 0 \n",                     /* blanks */
        "x,state,note,action,reward,next_state\n1,0,\"a\nb,c\"\"\",2,0.5,3\n,3, d e ,1,-2000,0\n", /* unknown columns */
        HEAD "\n0,2,0.5,3\n\n  \n3,1,-2000,0\n\n",                                                 /* blank lines */
        HEAD "00,2,5e-1,003\n3,1,-2000,0\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) check_simple(logs_read_text(same[i]));
}

static void gzip_reads_as_its_text_does(void **state) {
    (void)state;
    static const char text[] = HEAD "0,2,0.5,3\n3,1,-2000,0\n";
    const size_t length = strlen(text);
    const char *path = logs_path("parts.csv.gz");
    for (size_t cut = 0; cut <= length; cut += 7) { /* two members one after the other */
        unlink(path);
        const size_t parts[] = {cut, length - cut};
        const char *from = text;
        for (int i = 0; i < 2; i++) {
            gzFile file = gzopen(path, "ab");
            assert_non_null(file);
            if (parts[i] > 0) assert_int_equal(gzwrite(file, from, (unsigned)parts[i]), (int)parts[i]);
            assert_int_equal(gzclose(file), Z_OK);
            from += parts[i];
        }
        check_simple(logs_read(path, 1));
    }
    pess_dataset *d = logs_read_text(text);
    logs_write(d, path);
    pess_dataset_destroy(d);
    size_t size = 0;
    char *bytes = logs_bytes(path, &size);
    for (size_t kept = 2; kept < size; kept++) /* every truncation is told */
        logs_refused(logs_file("cut.csv.gz", bytes, kept), NULL, PESS_INPUT, "cut.csv.gz", "gzip data end early");
    bytes[15] = (char)(bytes[15] ^ 0x40);
    logs_refused(logs_file("bad.csv.gz", bytes, size), NULL, PESS_INPUT, "bad.csv.gz", "damaged");
    free(bytes);
}

static void ends_are_read_in_all_spellings(void **state) {
    (void)state;
    pess_dataset *d = logs_read_text("state,action,reward,next_state,terminal,truncated\n"
                                     "0,0,0,0,0,0\n0,0,0,0,1,0\n0,0,0,0,0,1\n0,0,0,0,1,1\n0,0,0,0,,\n"
                                     "0,0,0,0,True,FALSE\n0,0,0,0,false,tRUE\n0,0,0,0,\"TRUE\",true\n");
    static const uint8_t ends[] = {0, 1, 2, 1, 0, 1, 2, 1};
    assert_int_equal(d->rows, 8);
    assert_memory_equal(d->end, ends, sizeof ends);
    pess_dataset_destroy(d);
    d = logs_read_text("truncated,terminal,state,action,reward,next_state\n1,1,0,0,0,0\n1,0,0,0,0,0\n");
    assert_int_equal(d->end[0], PESS_END_TERMINAL);
    assert_int_equal(d->end[1], PESS_END_CUTOFF);
    pess_dataset_destroy(d);
}

/* One token that is no number makes names of all; state before next_state, rows in file order. */
static void names_become_numbers_in_order(void **state) {
    (void)state;
    pess_dataset *d = logs_read_text("next_state,state,action,reward\n7,3,0,1\n3,hall,0,1\n\"a \"\"b\"\"\",7,1,1\n");
    static const char *const names[] = {"3", "7", "hall", "a \"b\""};
    assert_int_equal(pess_names_count(d->state_names), 4);
    for (int i = 0; i < 4; i++) assert_string_equal(pess_names_get(d->state_names, i), names[i]);
    assert_int_equal(d->states, 4);
    assert_null(d->action_names);
    assert_int_equal(d->state[1], 2);
    assert_int_equal(d->next_state[1], 0);
    assert_int_equal(d->next_state[2], 3);
    assert_int_equal(d->actions, 2);
    pess_dataset_destroy(d);
    d = logs_read_text("episode,state,action,reward,next_state\n-5,0,up,1,0\n1e3,0,down,1,0\n-5,0,up,1,0\n");
    assert_null(d->state_names);
    assert_string_equal(pess_names_get(d->action_names, 1), "down");
    assert_string_equal(pess_names_get(d->episode_names, 1), "1e3");
    assert_int_equal(d->episode[2], 0);
    pess_dataset_destroy(d);
    d = logs_read_text("episode,step,state,action,reward,next_state\n-5,-9000000000,0,0,1,0\n9000000000,2,0,0,1,0\n");
    assert_null(d->episode_names);
    assert_true(d->episode[0] == -5 && d->episode[1] == 9000000000 && d->step[0] == -9000000000);
    pess_dataset_destroy(d);
}

typedef struct bad {
    const char *text, *where, *what;
} bad;

static void bad_input_is_named_by_line_and_column(void **state) {
    (void)state;
    static const bad all[] = {
        {"", ":1:1:", "empty file"},
        {"\n\n", ":1:1:", "empty file"},
        {HEAD, "text.csv", "no transitions"},
        {"state,action,reward\n0,0,0\n", ":1:1:", "no column 'next_state'"},
        {"state,action,reward,episode\n0,0,0,1\n", "text.csv", "how the last row of an episode ends"},
        {"0,1,0.5,1\n", ":1:1:", "no column 'state' among '0', '1'"},
        {"state,action,reward,next_state,action\n", ":1:32:", "'action' twice"},
        {HEAD "0,0,0\n", ":2:1:", "found 3 fields, expected 4"},
        {HEAD "0,0,0,0\n0,0,0,0,0\n", ":3:1:", "found 5 fields, expected 4"},
        {HEAD "0,0,0,\"0\n", ":2:7:", "never ends"},
        {HEAD "0,0,0,\"0\"1\n", ":2:10:", "text behind a closing quote"},
        {HEAD "0,0,0,1\"0\n", ":2:8:", "a quote inside a field"},
        {HEAD "0,0,0,0\r0,0,0,0\n", ":2:8:", "carriage return alone"},
        {HEAD "0,0,0,0\n0,1.5,0,0\n", ":3:3:", "column 'action': found '1.5'"},
        {HEAD "0,0,0,3.01\n", ":2:7:", "column 'next_state': found '3.01'"},
        {HEAD "a,0,0,0\n-1.5,0,0,0\n", ":3:1:", "found '-1.5'"}, /* no name, also among names */
        {HEAD "inf,0,0,0\n", ":2:1:", "found 'inf', expected a state"},
        {HEAD "0,0,0,0\n,0,0,0\n", ":3:1:", "of 2 rows, found no value for 'state' in 1 row (first in line 3)"},
        {HEAD "nan,0,0,0\n", ":2:1:", "no value for 'state'"},
        {HEAD "\xE9,0,0,0\n", ":2:1:", "found '?', expected text in UTF-8"},
        {HEAD "0,0,much,0\n", ":2:5:", "column 'reward': found 'much', expected a finite decimal number"},
        {HEAD "0,0,,0\n", ":2:5:", "no value for 'reward'"},
        {HEAD "0,0,NaN,0\n", ":2:5:", "no value for 'reward'"},
        {HEAD "0,0,-inf,0\n", ":2:5:", "found '-inf'"},
        {HEAD "0,0,1e999,0\n", ":2:5:", "found '1e999'"},
        {HEAD "0,0,\"1,5\",0\n", ":2:5:", "found '1,5'"},
        {HEAD "0,0,0x10,0\n", ":2:5:", "found '0x10'"},
        {"terminal," HEAD "2,0,0,0,0\n", ":2:1:", "column 'terminal': found '2', expected 0, 1, true, false"},
        {"truncated," HEAD "yes,0,0,0,0\n", ":2:1:", "column 'truncated': found 'yes'"},
        {"probability," HEAD "1.5,0,0,0,0\n", ":2:1:", "a probability from 0 to 1"},
        {"probability," HEAD "nan,0,0,0,0\n", ":2:1:", "no value for 'probability'"},
        {"step," HEAD "noon,0,0,0,0\n", ":2:1:", "column 'step': found 'noon', expected an integer"},
        {"episode," HEAD ",0,0,0,0\n", ":2:1:", "no value for 'episode'"},
        {"note," HEAD "\"two\nlines\",0,0,x,0\n", ":3:12:", "found 'x'"}, /* lines inside quotes count */
        {HEAD "\n\n0,0,x,0\n", ":4:5:", "found 'x'"},
        {HEAD "0,0,this is a very long reward that nobody wants to see in full,0\n", ":2:5:", "this is a very"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        logs_refused(logs_file("text.csv", all[i].text, strlen(all[i].text)), NULL, PESS_INPUT, all[i].where,
                     all[i].what);
    static const char nul[] = HEAD "0,0,0,0\n0,\0,0,0\n";
    logs_refused(logs_file("text.csv", nul, sizeof nul - 1), NULL, PESS_INPUT, ":3:3:", "NUL");
    static const char nul_header[] = "state,act\0ion\n";
    logs_refused(logs_file("text.csv", nul_header, sizeof nul_header - 1), NULL, PESS_INPUT, ":1:10:", "NUL");
}

static void declared_sizes_are_held(void **state) {
    (void)state;
    static const char text[] = HEAD "0,0,0,1\n1,1,0,2\n", named[] = HEAD "a,x,0,b\nb,y,0,c\n";
    pess_read_options options = pess_read_options_defaults();
    options.states = 2;
    logs_refused(logs_file("text.csv", text, strlen(text)), &options, PESS_INPUT,
                 ":3:7:", "found '2', expected an integer from 0 to 1: 2 states are declared");
    logs_refused(logs_file("text.csv", named, strlen(named)), &options, PESS_INPUT, ":3:7:", "found the state 'c'");
    options.states = 0;
    options.actions = 1;
    logs_refused(logs_file("text.csv", text, strlen(text)), &options, PESS_INPUT, ":3:3:", ": 1 action is declared");
    logs_refused(logs_file("text.csv", named, strlen(named)), &options, PESS_INPUT, ":3:3:", "found the action 'y'");
    options.states = 10;
    options.actions = 5;
    for (int i = 0; i < 2; i++) {
        pess_dataset *d = NULL;
        const char *path = logs_file("text.csv", i == 0 ? text : named, strlen(i == 0 ? text : named));
        assert_int_equal(pess_dataset_read(path, &options, &d, NULL), PESS_OK);
        assert_int_equal(pess_dataset_states(d), 10);
        assert_int_equal(pess_dataset_actions(d), 5);
        assert_int_equal(pess_names_count(pess_dataset_state_names(d)), i == 0 ? 0 : 3);
        pess_dataset_destroy(d);
    }
    options.states = -1;
    logs_refused(logs_file("text.csv", text, strlen(text)), &options, PESS_ARGUMENT, "states", "-1");
    options.states = PESS_MAX_STATES;
    options.actions = 9;
    logs_refused(logs_path("text.csv"), &options, PESS_LIMIT, "268435456 states times 9 actions",
                 "states that are alike into cells");
}

/* Rows of most of a megabyte, which lie across the ends of what is held at a time. */
static void long_rows_are_rows(void **state) {
    (void)state;
    enum { ROWS = 12, NOTE = 900000 };
    static const char *const quotes[] = {"", "\""};
    char *text = malloc((size_t)ROWS * (NOTE + 20) + 100);
    assert_non_null(text);
    for (int k = 0; k < 2; k++) {
        char *at = text + sprintf(text, "note,%s", HEAD);
        for (int i = 0; i < ROWS; i++) {
            at += sprintf(at, "%s", quotes[k]);
            memset(at, k == 1 && i % 2 == 1 ? '\n' : 'x', NOTE);
            at += NOTE + sprintf(at + NOTE, "%s,%d,0,1,%d\n", quotes[k], i, i + 1);
        }
        pess_dataset *d = logs_read(logs_file("text.csv", text, (size_t)(at - text)), 1);
        assert_int_equal(d->rows, ROWS);
        for (uint32_t i = 0; i < ROWS; i++) assert_true(d->state[i] == i && d->next_state[i] == i + 1);
        pess_dataset_destroy(d);
    }
    free(text);
}

static void what_does_not_end_is_refused(void **state) {
    (void)state;
    enum { SIZE = 1 << 23, COLUMNS = 5000 };
    static const char *const rows[] = {HEAD, HEAD "0,0,0,1\n\""};
    char *text = malloc(SIZE);
    assert_non_null(text);
    pess_read_options options = pess_read_options_defaults();
    options.threads = 1; /* of which each holds some text more */
    memset(text, 'x', SIZE);
    logs_refused(logs_file("text.csv", text, SIZE), &options, PESS_INPUT,
                 "text.csv:1:1: ", "found no header that ends within");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memcpy(text, rows[i], strlen(rows[i]));
        logs_refused(logs_file("text.csv", text, SIZE), &options, PESS_INPUT,
                     i == 0 ? "text.csv:2:1: " : "text.csv:3:1: ",
                     "found a row of more than 1048576 bytes, expected a shorter one; is a quote never closed?");
    }
    memset(text, ',', COLUMNS);
    text[COLUMNS] = '\n';
    logs_refused(logs_file("text.csv", text, SIZE), &options, PESS_INPUT,
                 "text.csv:1:1: ", "found a header of 5001 columns or more, expected at most 4096");
    free(text);
}

/* Where most of the ids below the largest do not occur, they are names: three states, not 268435456. */
static void sparse_ids_are_names(void **state) {
    (void)state;
    static const char wide[] = HEAD "268435455,0,0,7\n7,9,0,0\n";
    pess_dataset *data = NULL;
    pess_error error = {0};
    assert_int_equal(pess_dataset_read(logs_file("text.csv", wide, strlen(wide)), NULL, &data, &error), PESS_OK);
    pess_columns columns;
    pess_dataset_columns(data, &columns);
    assert_int_equal(pess_dataset_states(data), 3);
    assert_int_equal(pess_dataset_actions(data), 10);
    assert_string_equal(pess_names_get(columns.state_names, columns.state[0]), "268435455");
    assert_true(columns.next_state[0] == columns.state[1]);
    pess_dataset_destroy(data);
}

static void files_are_written_and_read_back(void **state) {
    (void)state;
    logs_refused(logs_path("nowhere.csv"), NULL, PESS_IO, "nowhere.csv", "No such file");
    logs_refused(logs_folder, NULL, PESS_IO, logs_folder, "directory");
    pess_read_options options = pess_read_options_defaults();
    options.format = "xml";
    logs_refused(logs_path("text.csv"), &options, PESS_ARGUMENT, "xml", "csv");
    pess_dataset *d = logs_read_text(HEAD "0,0,0,1\n");
    pess_error error;
    assert_int_equal(pess_dataset_write(d, logs_path("log.txt"), NULL, &error), PESS_ARGUMENT);
    assert_int_equal(pess_dataset_write(d, logs_path("log.txt"), "xml", &error), PESS_ARGUMENT);
    assert_int_equal(pess_dataset_write(d, logs_path("log.txt"), "csv", &error), PESS_OK);
    assert_int_equal(pess_dataset_write(d, "/nowhere/log.csv", NULL, &error), PESS_IO);
    pess_dataset_destroy(d);
    assert_string_equal(pess_format_list(0)->name, "csv");
    size_t count = 0;
    for (const pess_format_info *format; (format = pess_format_list(count)) != NULL; count++)
        assert_ptr_equal(pess_format_find(format->name), format);
    assert_true(count >= 3);
    assert_null(pess_format_find("xml"));
    assert_null(pess_format_find(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns_are_found_in_all_spellings),
                                       cmocka_unit_test(gzip_reads_as_its_text_does),
                                       cmocka_unit_test(ends_are_read_in_all_spellings),
                                       cmocka_unit_test(names_become_numbers_in_order),
                                       cmocka_unit_test(bad_input_is_named_by_line_and_column),
                                       cmocka_unit_test(declared_sizes_are_held),
                                       cmocka_unit_test(long_rows_are_rows),
                                       cmocka_unit_test(what_does_not_end_is_refused),
                                       cmocka_unit_test(sparse_ids_are_names),
                                       cmocka_unit_test(files_are_written_and_read_back)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
