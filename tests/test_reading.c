/* Logs as they come: the same small log in many forms, each read as the plain one or refused with what would help.
 * tests/tools/make_messy_logs.py writes the files. */
#include "logs.h"

#include "data/reading.h"

#define MESSY TEST_DATA "/messy/"

/* ---- a dataset as sorted lines, so that neither order nor numbering counts */

enum { MOST_LINES = 64, LINE_SIZE = 160 };

typedef struct lines {
    char text[MOST_LINES][LINE_SIZE];
    int64_t count;
} lines;

static const char *called(const pess_names *names, int64_t id, char buffer[24]) {
    if (pess_names_given(names)) return pess_names_get(names, id);
    snprintf(buffer, 24, "%lld", (long long)id);
    return buffer;
}

static int compare_lines(const void *a, const void *b) { return strcmp(a, b); }

static lines lines_of(const pess_dataset *d, bool episodes) {
    lines out = {.count = d->rows};
    char e[24], s[24], a[24], t[24];
    assert_true(d->rows <= MOST_LINES);
    for (int64_t i = 0; i < d->rows; i++)
        snprintf(out.text[i], LINE_SIZE, "%s %s %s %g %s %d",
                 episodes && d->episode != NULL ? called(d->episode_names, d->episode[i], e) : "-",
                 called(d->state_names, d->state[i], s), called(d->action_names, d->action[i], a), d->reward[i],
                 called(d->state_names, d->next_state[i], t), d->end[i]);
    qsort(out.text, (size_t)out.count, LINE_SIZE, compare_lines);
    return out;
}

static pess_dataset *read_with(const char *file, const pess_read_options *options) {
    pess_error error = {0};
    pess_dataset *d = NULL;
    char path[512];
    snprintf(path, sizeof path, MESSY "%s", file);
    if (pess_dataset_read(path, options, &d, &error) != PESS_OK) fail_msg("%s", error.message);
    return d;
}

static pess_read_options options_of(const char *column, const char *missing, int last_row) {
    pess_read_options options = pess_read_options_defaults();
    options.column = column;
    options.missing = missing;
    options.last_row = last_row;
    return options;
}

static void same_lines(const char *file, const lines *found, const lines *expected) {
    if (found->count != expected->count)
        fail_msg("%s: %lld rows, expected %lld", file, (long long)found->count, (long long)expected->count);
    for (int64_t i = 0; i < found->count; i++)
        if (strcmp(found->text[i], expected->text[i]) != 0)
            fail_msg("%s: found '%s', expected '%s'", file, found->text[i], expected->text[i]);
}

/* ---- read */

#define OWN                                                                                                            \
    "episode=patient\nstep=visit_no\nstate=where\naction=drug\nreward=outcome\nnext_state=then\nterminal=died\n"       \
    "truncated=lost"
#define PARTS                                                                                                          \
    "episode=patient\nstep=hour\nstate=ward,severity\naction=drug\nreward=outcome\n"                                   \
    "next_state=next_ward,next_severity\nterminal=died\ntruncated=lost"

static void every_spelling_reads_as_the_same_log(void **state) {
    (void)state;
    static const struct {
        const char *file, *column, *missing;
        bool no_episodes;
    } all[] = {{.file = "semicolon.csv"},
               {.file = "tab.tsv"},
               {.file = "decimal_comma.csv"},
               {.file = "crlf_bom.csv"},
               {.file = "upper.csv"},
               {.file = "gym.csv"},
               {.file = "done.csv"},
               {.file = "pandas.csv"},
               {.file = "postgres.csv"},
               {.file = "own_names.csv", .column = OWN},
               {.file = "two_columns.csv", .column = PARTS},
               {.file = "two_columns_float.csv", .column = PARTS},
               {.file = "no_end_next.csv"},
               {.file = "no_next.csv"},
               {.file = "no_next_shuffled.csv"},
               {.file = "no_next_no_step.csv"},
               {.file = "no_next_no_episode.csv", .no_episodes = true},
               {.file = "times.csv"},
               {.file = "hours.csv"},
               {.file = "missing.csv", .missing = "drop"},
               {.file = "missing_reward.csv", .missing = "reward=0.25"},
               {.file = "missing_reward.csv", .missing = "drop,reward=0.25"},
               {.file = "rows.jsonl", .column = PARTS},
               {.file = "no_next.jsonl"},
               {.file = "missing.jsonl", .missing = "reward=0.25"}};
    pess_dataset *plain = read_with("plain.csv", NULL);
    const lines with = lines_of(plain, true), without = lines_of(plain, false);
    assert_int_equal(plain->rows, 8);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const pess_read_options options = options_of(all[i].column, all[i].missing, PESS_LAST_ROW_MARKED);
        pess_dataset *d = read_with(all[i].file, &options);
        const lines found = lines_of(d, !all[i].no_episodes);
        same_lines(all[i].file, &found, all[i].no_episodes ? &without : &with);
        pess_dataset_destroy(d);
    }
    pess_dataset_destroy(plain);
}

/* The options that a reading names, and the file that it is kept in, read the same without looking. */
static void test_readings_are_kept(void **state) {
    (void)state;
    static const struct {
        const char *file, *column;
        int last_row;
    } all[] = {{"done.csv", NULL, 0},
               {"gym.csv", NULL, 0},
               {"decimal_comma.csv", NULL, 0},
               {"tab.tsv", NULL, 0},
               {"own_names.csv", OWN, 0},
               {"two_columns.csv", PARTS, 0},
               {"no_next_no_ends.csv", NULL, PESS_LAST_ROW_CUTOFF},
               {"rows.jsonl", PARTS, 0}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const pess_read_options options = options_of(all[i].column, NULL, all[i].last_row);
        pess_dataset *first = read_with(all[i].file, &options);
        const lines expected = lines_of(first, true);
        const pess_reading *reading = pess_dataset_reading(first);
        const pess_read_options explicit_ones = pess_reading_options(reading);
        const char *path = logs_path("reading.txt"), *again = logs_path("again.txt");
        assert_int_equal(pess_reading_write(reading, path, NULL), PESS_OK);
        pess_read_options kept = pess_read_options_defaults();
        kept.reading = path;
        for (int k = 0; k < 2; k++) {
            pess_dataset *d = read_with(all[i].file, k == 0 ? &explicit_ones : &kept);
            const lines found = lines_of(d, true);
            same_lines(all[i].file, &found, &expected);
            pess_reading_info info;
            pess_reading_get_info(pess_dataset_reading(d), &info);
            for (int64_t c = 0; c < info.columns; c++) {
                pess_reading_column column;
                pess_reading_get_column(pess_dataset_reading(d), c, &column);
                assert_int_not_equal(column.use, PESS_COLUMN_ALIAS);
            }
            assert_int_equal(pess_reading_write(pess_dataset_reading(d), again, NULL), PESS_OK);
            size_t one_size = 0, other_size = 0;
            char *one = logs_bytes(path, &one_size), *other = logs_bytes(again, &other_size);
            assert_int_equal(one_size, other_size);
            assert_memory_equal(one, other, one_size);
            free(one);
            free(other);
            pess_dataset_destroy(d);
        }
        pess_dataset_destroy(first);
    }
}

/* A column that plays a role in counts, or in rows, plays none in the other. */
static void columns_of_the_other_kind_of_log_are_ignored(void **state) {
    (void)state;
    static const char text[] = "state,action,next_state,reward,count,reward_sum\n0,1,0,1,5,5\n";
    const pess_read_options options = pess_read_options_defaults();
    pess_dataset *d = NULL;
    pess_error error = {0};
    const char *path = logs_file("both.csv", text, strlen(text));
    if (pess_dataset_read(path, &options, &d, &error) != PESS_OK) fail_msg("%s", error.message);
    for (int64_t c = 0; c < 6; c++) {
        pess_reading_column column;
        pess_reading_get_column(pess_dataset_reading(d), c, &column);
        assert_int_equal(column.use, c < 4 ? PESS_COLUMN_CALLED_SO : PESS_COLUMN_IGNORED);
    }
    pess_dataset_destroy(d);
}

/* Options win over the file. */
static void test_options_come_first(void **state) {
    (void)state;
    static const char text[] = "# a comment\ncolumn reward=age\r\ncolumn state=where\nmissing drop\nseparator comma\n";
    pess_read_options options = options_of("reward=outcome\naction=drug\nnext_state=then", NULL, 0);
    options.reading = logs_file("reading.txt", text, strlen(text));
    pess_dataset *d = read_with("own_names.csv", &options);
    assert_true(d->reward[0] == 0.5);
    pess_dataset_destroy(d);
    static const char *const bad[] = {"column reward\n", "colour red\n", "separator dot\n",
                                      "column state=a\nmissing x=y\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pess_error error = {0};
        options.reading = logs_file("reading.txt", bad[i], strlen(bad[i]));
        assert_int_not_equal(pess_dataset_read(MESSY "own_names.csv", &options, &d, &error), PESS_OK);
        if (i < 3) assert_non_null(strstr(error.message, "reading.txt:1:1: "));
    }
}

static void last_rows_end_as_declared(void **state) {
    (void)state;
    static const struct {
        int last_row;
        int64_t rows, terminal, cutoff;
    } all[] = {{PESS_LAST_ROW_TERMINAL, 9, 3, 0}, {PESS_LAST_ROW_CUTOFF, 6, 0, 3}};
    for (int i = 0; i < 2; i++) {
        const pess_read_options options = options_of(NULL, NULL, all[i].last_row);
        pess_dataset *d = read_with("no_next_no_ends.csv", &options);
        int64_t ends[3] = {0};
        for (int64_t k = 0; k < d->rows; k++) ends[d->end[k]]++;
        assert_int_equal(d->rows, all[i].rows);
        assert_int_equal(ends[PESS_END_TERMINAL], all[i].terminal);
        assert_int_equal(ends[PESS_END_CUTOFF], all[i].cutoff);
        pess_dataset_destroy(d);
    }
    /* Also where the log has next states: ends that columns tell stay as they are. */
    const pess_read_options options = options_of("terminal=", NULL, PESS_LAST_ROW_TERMINAL);
    pess_dataset *d = read_with("plain.csv", &options);
    for (int64_t k = 0; k < d->rows; k++)
        assert_int_equal(d->end[k], k == 2 || k == 5 ? PESS_END_TERMINAL : k == 7 ? PESS_END_CUTOFF : PESS_END_NONE);
    pess_dataset_destroy(d);
}

/* What is missing inside an episode never joins the rows around it. */
static void a_dropped_row_joins_no_others(void **state) {
    (void)state;
    static const struct {
        const char *file;
        int64_t rows;
        bool first_stays; /* of episode 2 */
    } all[] = {{"missing_inside.csv", 7, true}, {"missing_state_inside.csv", 6, false}};
    for (int i = 0; i < 2; i++) {
        const pess_read_options options = options_of(NULL, "drop", 0);
        pess_dataset *d = read_with(all[i].file, &options);
        bool found = false;
        assert_int_equal(d->rows, all[i].rows);
        for (int64_t k = 0; k < d->rows; k++) {
            if (d->episode[k] != 2 || d->step[k] != 0) continue;
            found = true;
            assert_string_equal(pess_names_get(d->state_names, d->next_state[k]), "ICU|2");
        }
        assert_int_equal(found, all[i].first_stays);
        pess_dataset_destroy(d);
    }
}

/* The second row has no reward, and the third leads to a state that is in no row: the first is all that is left. */
static void the_row_before_a_dropped_one_is_cut_off_where_nothing_else_is_left(void **state) {
    (void)state;
    static const char text[] = "episode,state,action,reward,truncated\n1,0,0,1,0\n1,1,0,,0\n1,2,0,1,1\n";
    const pess_read_options options = options_of(NULL, "drop", 0);
    pess_dataset *d = NULL;
    assert_int_equal(pess_dataset_read(logs_file("dropped.csv", text, strlen(text)), &options, &d, NULL), PESS_OK);
    assert_int_equal(d->rows, 1);
    assert_int_equal(d->next_state[0], 1);
    assert_int_equal(d->end[0], PESS_END_CUTOFF);
    pess_dataset_destroy(d);
}

static void ids_with_decimals_are_numbers_and_others_names(void **state) {
    (void)state;
    pess_dataset *d = read_with("float_ids.csv", NULL);
    assert_null(d->state_names);
    assert_null(d->action_names);
    assert_int_equal(d->next_state[0], 2);
    assert_int_equal(d->action[0], 1);
    pess_reading_info info;
    pess_reading_get_info(pess_dataset_reading(d), &info);
    assert_true(info.decimal_ids);
    pess_dataset_destroy(d);
    static const char *const files[] = {"negative_ids.csv", "large_ids.csv"}, *const names[] = {"-1", "10000000001"};
    for (int i = 0; i < 2; i++) {
        d = read_with(files[i], NULL);
        assert_string_equal(pess_names_get(d->state_names, d->state[0]), names[i]);
        assert_string_equal(pess_names_get(d->state_names, d->state[1]), "2");
        assert_int_equal(d->state[0], d->next_state[1]);
        assert_null(d->action_names);
        pess_reading_get_info(pess_dataset_reading(d), &info);
        assert_true(info.number_names);
        pess_dataset_destroy(d);
    }
    static const char line[] = "{\"state\":-1,\"action\":0,\"reward\":1,\"next_state\":2}\n";
    d = logs_read(logs_file("negative.jsonl", line, strlen(line)), 1);
    assert_string_equal(pess_names_get(d->state_names, d->state[0]), "-1");
    pess_dataset_destroy(d);
    pess_read_options options = pess_read_options_defaults();
    options.encoding = PESS_ENCODING_LATIN1;
    d = read_with("latin1.csv", &options);
    assert_string_equal(pess_names_get(d->state_names, 0), "Z\xC3\xBCrich");
    assert_string_equal(pess_names_get(d->state_names, 1), "K\xC3\xB6ln");
    pess_dataset_destroy(d);
}

static void times_are_read_as_steps(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t seconds; /* -1: no time */
    } all[] = {{"1970-01-01", 0},
               {"1970-01-01T00:01", 60},
               {"2000-02-29 12:00:00Z", 951825600},
               {"2024-05-17T08:30:00+02:00", 1715927400},
               {"2024-05-17T08:30:00-0130", 1715940000},
               {"2024-05-17T08:30:00+02", 1715927400},
               {"2024-05-17T24:00", 1715990400},
               {"2024-05-17T08:30:00+14:59", 1715880660},
               {"1900-02-29", -1},
               {"2023-02-29", -1},
               {"0000-01-01", -1},
               {"2024-00-17", -1},
               {"2024-05-00", -1},
               {"2024-04-31", -1},
               {"2024-05", -1},
               {"2024-05-17T", -1},
               {"2024-05-17T08", -1},
               {"2024-05-17T08:60", -1},
               {"2024-05-17T08:30:", -1},
               {"2024-05-17T08:30:61", -1},
               {"2024-05-17T08:30:00+", -1},
               {"2024-05-17T08:30:00+15:00", -1},
               {"2024-05-17T08:30:00+02:60", -1},
               {"2024-05-17T08:30:00+02:0", -1},
               {"2024-05-17T08:30:00.5.", -1},
               {"2024-13-01", -1},
               {"2024-05-17T25:00", -1},
               {"2024-05-17x", -1},
               {"17.05.2024", -1},
               {"20240517", -1}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        int64_t micros = 0;
        assert_int_equal(pess__parse_time(all[i].text, strlen(all[i].text), &micros), all[i].seconds >= 0);
        if (all[i].seconds >= 0) assert_true(micros == all[i].seconds * 1000000);
    }
    int64_t micros = 0;
    assert_true(pess__parse_time("1970-01-01T00:00:00.0000254", 27, &micros));
    assert_true(micros == 25);
    pess_dataset *d = read_with("hours.csv", NULL);
    assert_true(d->step[0] == 1000000); /* 1.0 in millionths */
    pess_dataset_destroy(d);
}

/* An action may be none; nothing, NA and what Python writes for nothing are missing. */
static void none_is_a_name_and_None_is_missing(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool missing;
    } all[] = {{"", true},     {"NA", true},    {"n/a", true},   {"nan", true},     {"NULL", true},
               {"None", true}, {"none", false}, {"NONE", false}, {"nothing", false}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        assert_int_equal(pess__is_missing(all[i].text, strlen(all[i].text)), all[i].missing);
}

/* ---- refused */

static void what_cannot_be_read_is_refused_with_a_remedy(void **state) {
    (void)state;
    static const struct {
        const char *file, *column, *missing, *what, *remedy, *value;
    } all[] = {
        {"own_names.csv", NULL, NULL, "no column 'state' among 'patient', 'visit_no'", "column", "state=NAME"},
        {"own_names.csv", OWN "\nprobability=chance", NULL, "no column 'chance'", "column", "probability=NAME"},
        {"own_names.csv", "state=where\nstate=then", NULL, "beside 'state=where'", "column", "state=where,then"},
        {"own_names.csv", OWN "\nprobability=age,drug", NULL, "one column: states, actions and episodes", "column",
         NULL},
        {"own_names.csv", "place=where", NULL, "found 'place=where', expected ROLE=NAME", "column", NULL},
        {"own_names.csv", "state=where\naction=where", NULL, "declared as state and as action", NULL, NULL},
        {"plain.csv", "episode=state", NULL,
         "the column 'state' is declared as episode, expected another for the state", "column", "state=NAME"},
        {"no_next_no_ends.csv", NULL, NULL, "how the last row of an episode ends", "last-row", "terminal|cutoff"},
        {"features.csv", NULL, NULL, "no column 'state'", "column", "state=NAME"},
        {"missing.csv", NULL, NULL, "of 10 rows, found no value for 'state' in 1 row (first in line 11), 'action' in 1",
         "missing", "drop"},
        {"missing.jsonl", NULL, NULL, "of 8 rows, found no value for 'reward' in 1 row (first in row 2)", "missing",
         "drop"},
        {"latin1.csv", NULL, NULL, "in Latin-1 it reads 'Z\xC3\xBCrich'", "encoding", "latin1"},
        {"utf16.csv", NULL, NULL, "text in UTF-16", "utf8", "csv"},
        {"workbook.xls", NULL, NULL, "an Excel workbook", "export", "csv"},
        {"workbook.xlsx", NULL, NULL, "an Excel workbook", "export", "csv"},
        {"measurements.csv", NULL, NULL, "found '0.3712', expected a state", "measurements", ""},
        {"mixed_rows.csv", NULL, NULL, "found 1 field, expected 8 as in the header; it has as many with semicolons",
         NULL, NULL},
        {"mixed_header.csv", NULL, NULL, "it mixes separators", NULL, NULL},
        {"decimals.csv", NULL, NULL, "found '0.5', expected a state", "measurements", ""},
        {"doses.csv", NULL, NULL, "found '2.5', expected an action", "decimal-ids", "names"},
        {"two_for_one.csv", NULL, NULL, "found the columns 'obs' and 'observation'", "column", "state=obs"},
        {"european_dates.csv", NULL, NULL, "found '17.05.2024', expected an integer, a number or a time", NULL, NULL},
        {"thousands.csv", NULL, NULL, "found '1.234,5'", NULL, NULL},
        {"quoted_comma.csv", NULL, NULL, "found '0,5'", "decimal", "comma"},
        {"pipe_in_names.csv", "state=ward,severity\nepisode=patient", NULL, "found 'a|b', expected no '|'", NULL, NULL},
        {"plain.csv", "state=state,action\naction=reward\nreward=step", NULL,
         "a state of 2 columns and a next state of 1", NULL, NULL},
        {"plain.csv", NULL, "never=1", "found 'never=1', expected refuse, drop or a value", NULL, NULL},
        {"plain.csv", NULL, "drop,never=1", "found 'never=1', expected refuse, drop or a value", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const pess_read_options options = options_of(all[i].column, all[i].missing, 0);
        pess_error error = {0};
        pess_dataset *d = NULL;
        char path[512];
        snprintf(path, sizeof path, MESSY "%s", all[i].file);
        assert_int_not_equal(pess_dataset_read(path, &options, &d, &error), PESS_OK);
        assert_null(d);
        if (strstr(error.message, all[i].what) == NULL)
            fail_msg("%s: expected '%s', got: %s", all[i].file, all[i].what, error.message);
        if ((all[i].remedy == NULL) != (error.remedy == NULL) ||
            (all[i].remedy != NULL && strcmp(all[i].remedy, error.remedy) != 0) ||
            (all[i].value != NULL && strcmp(all[i].value, error.value) != 0))
            fail_msg("%s: remedy %s, value %s", all[i].file, error.remedy != NULL ? error.remedy : "none", error.value);
    }
    /* Formats whose columns have their roles already take no declaration. */
    pess_dataset *d = read_with("plain.csv", NULL);
    logs_write(d, logs_path("x.pesslog"));
    pess_dataset_destroy(d);
    const pess_read_options options = options_of("state=where", NULL, 0);
    logs_refused(logs_path("x.pesslog"), &options, PESS_ARGUMENT, "x.pesslog", "roles already");
}

/* ---- plain rows and rows in full give the same */

/* A log of 20,000 rows in the form of PARTS; `quoted`: with quotes around everything, so that no row is plain. */
static const char *write_large(const char *name, bool quoted) {
    FILE *file = fopen(logs_path(name), "wb");
    assert_non_null(file);
    fputs("patient;hour;ward;severity;drug;outcome;next_ward;next_severity;died;lost\n", file);
    for (int i = 0; i < 20000; i++) {
        const int s = i * 7919 % 97, t = i * 104729 % 89;
        const char *form = quoted ? "\"%d\";\"%d\";\"w%d\";\"%d.0\";\"%s\";\"%d,25\";\"w%d\";\"%d\";\"%d\";\"%s\"\n"
                                  : "%d;%d;w%d;%d.0;%s;%d,25;w%d;%d;%d;%s\n";
        fprintf(file, form, i / 10, i % 10, s % 11, s % 5, s % 3 == 0 ? "wait" : "go", s - 40, t % 11, t % 5,
                i % 10 == 9, i % 7 == 0 ? "t" : "");
    }
    assert_int_equal(fclose(file), 0);
    return logs_path(name);
}

static void both_ways_to_read_a_row_agree(void **state) {
    (void)state;
    pess_dataset *all[3] = {NULL};
    for (int i = 0; i < 3; i++) {
        pess_read_options options = options_of(PARTS, NULL, 0);
        pess_error error = {0};
        options.threads = i == 2 ? 3 : 1;
        if (pess_dataset_read(write_large("large.csv", i == 1), &options, &all[i], &error) != PESS_OK)
            fail_msg("%s", error.message);
    }
    assert_int_equal(all[0]->rows, 20000);
    assert_int_equal(all[0]->states, 55);
    for (int i = 1; i < 3; i++) {
        same_names(all[0]->state_names, all[i]->state_names);
        same_array(all[0]->state, all[i]->state, 20000, sizeof *all[0]->state);
        same_array(all[0]->next_state, all[i]->next_state, 20000, sizeof *all[0]->state);
        same_array(all[0]->action, all[i]->action, 20000, sizeof *all[0]->action);
        same_array(all[0]->reward, all[i]->reward, 20000, sizeof *all[0]->reward);
        same_array(all[0]->end, all[i]->end, 20000, 1);
        same_array(all[0]->episode, all[i]->episode, 20000, sizeof *all[0]->episode);
        same_array(all[0]->step, all[i]->step, 20000, sizeof *all[0]->step);
    }
    for (int i = 0; i < 3; i++) pess_dataset_destroy(all[i]);
}

/* NPZ: arrays by other names, and without next states. */
static void arrays_have_other_names_and_next_rows_too(void **state) {
    (void)state;
    pess_dataset *plain = read_with("plain.csv", NULL);
    const lines expected = lines_of(plain, true);
    logs_write(plain, logs_path("x.npz"));
    pess_dataset_destroy(plain);
    const pess_read_options options = options_of("next_state=\nterminal=terminal", NULL, PESS_LAST_ROW_TERMINAL);
    pess_dataset *d = NULL;
    assert_int_equal(pess_dataset_read(logs_path("x.npz"), &options, &d, NULL), PESS_OK);
    const lines found = lines_of(d, true);
    assert_int_equal(found.count, 7); /* the cut-off row leads to a state that is in no row */
    assert_string_equal(found.text[0], expected.text[0]);
    pess_dataset_destroy(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_reads_as_the_same_log),
        cmocka_unit_test(test_readings_are_kept),
        cmocka_unit_test(columns_of_the_other_kind_of_log_are_ignored),
        cmocka_unit_test(test_options_come_first),
        cmocka_unit_test(last_rows_end_as_declared),
        cmocka_unit_test(a_dropped_row_joins_no_others),
        cmocka_unit_test(the_row_before_a_dropped_one_is_cut_off_where_nothing_else_is_left),
        cmocka_unit_test(ids_with_decimals_are_numbers_and_others_names),
        cmocka_unit_test(times_are_read_as_steps),
        cmocka_unit_test(none_is_a_name_and_None_is_missing),
        cmocka_unit_test(what_cannot_be_read_is_refused_with_a_remedy),
        cmocka_unit_test(both_ways_to_read_a_row_agree),
        cmocka_unit_test(arrays_have_other_names_and_next_rows_too)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
