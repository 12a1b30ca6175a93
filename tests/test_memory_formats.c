/* Where memory runs out while files of other programs are read: tables, databases, arrays, measurements, datasets of
 * observations, rows to act on. As in test_memory.c, one allocation from every place. */
#include "failing_memory.h"
#include "scratch_tree.h"

static const char *path;
static pess_read_options reading;

/* Is there what reads such files? Their libraries are loaded where they are needed. */
static bool can_read(failing_call run) {
    pess_error error = {0};
    const pess_status status = run(NULL, &error);
    if (status != PESS_OK && strstr(error.message, "need the library") == NULL) fail_msg("%s", error.message);
    return status == PESS_OK;
}

static void fail_with(failing_call run, const char *file, const char *column, const char *missing, int last_row) {
    path = file;
    reading = pess_read_options_defaults();
    reading.column = column, reading.missing = missing, reading.last_row = last_row, reading.threads = 1;
    if (can_read(run)) assert_true(fail_in_turn(run, NULL, 10) > 5);
}

/* ---- logs */

static pess_status read_rows(const pess_dataset *none, pess_error *error) {
    (void)none;
    pess_dataset *read = NULL;
    const pess_status status = pess_dataset_read(path, &reading, &read, error);
    pess_dataset_destroy(read);
    return status;
}

static pess_status read_counts(const pess_dataset *none, pess_error *error) {
    (void)none;
    pess_counts *counts = NULL;
    const pess_status status = pess_counts_read(path, &reading, &counts, error);
    pess_counts_destroy(counts);
    return status;
}

/* The file says how it was read; the next reads as that says. */
static pess_status keep_reading(const pess_dataset *none, pess_error *error) {
    (void)none;
    pess_dataset *read = NULL, *again = NULL;
    pess_status status = pess_dataset_read(path, &reading, &read, error);
    if (status == PESS_OK)
        status = pess_reading_write(pess_dataset_reading(read), scratch_path(0, ".pessreading"), error);
    const pess_read_options kept = {.size = sizeof kept, .reading = scratch_path(0, ".pessreading"), .threads = 1};
    if (status == PESS_OK) status = pess_dataset_read(path, &kept, &again, error);
    pess_dataset_destroy(again);
    pess_dataset_destroy(read);
    return status;
}

#define MESSY TEST_DATA "/messy/"
#define OWN                                                                                                            \
    "episode=patient\nstep=visit_no\nstate=where\naction=drug\nreward=outcome\nnext_state=then\nterminal=died\n"       \
    "truncated=lost"
#define PARTS                                                                                                          \
    "episode=patient\nstep=hour\nstate=ward,severity\naction=drug\nreward=outcome\n"                                   \
    "next_state=next_ward,next_severity\nterminal=died\ntruncated=lost"

static void reading_logs_as_they_come_says_that_memory_ran_out(void **state) {
    (void)state;
    static const struct {
        const char *file, *column, *missing;
        int last_row;
    } all[] = {
        {MESSY "no_next_shuffled.csv", NULL, NULL, 0},  {MESSY "no_next_no_ends.csv", NULL, NULL, PESS_LAST_ROW_CUTOFF},
        {MESSY "own_names.csv", OWN, NULL, 0},          {MESSY "two_columns.csv", PARTS, NULL, 0},
        {MESSY "decimal_comma.csv", NULL, NULL, 0},     {MESSY "missing.csv", NULL, "drop", 0},
        {MESSY "rows.jsonl", PARTS, NULL, 0},           {MESSY "no_next.jsonl", NULL, NULL, 0},
        {MESSY "missing.jsonl", NULL, "reward=0.25", 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        fail_with(read_rows, all[i].file, all[i].column, all[i].missing, all[i].last_row);
        fail_with(read_counts, all[i].file, all[i].column, all[i].missing, all[i].last_row);
    }
    fail_with(keep_reading, MESSY "two_columns.csv", PARTS, NULL, 0);
    scratch_remove(scratch_path(0, ".pessreading"));
}

static void reading_other_programs_logs_says_that_memory_ran_out(void **state) {
    (void)state;
    static const char *const files[] = {TEST_DATA "/sources/visits.db", TEST_DATA "/sources/visits.parquet",
                                        TEST_DATA "/npz/plain.npz",     TEST_DATA "/npz/deflated.npz",
                                        TEST_DATA "/npz/names.npz",     TEST_DATA "/npz/types.npz"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        fail_with(read_rows, files[i], NULL, NULL, 0);
        fail_with(read_counts, files[i], NULL, NULL, 0);
    }
}

/* Rows in any order, with names, through the binary format; and their returns. */
static pess_status keep_names(const pess_dataset *none, pess_error *error) {
    (void)none;
    pess_dataset *read = NULL, *again = NULL;
    const double range[2] = {-100, 100};
    pess_status status = pess_dataset_read(path, &reading, &read, error);
    if (status == PESS_OK) status = pess_dataset_write(read, scratch_path(0, ".pesslog"), NULL, error);
    if (status == PESS_OK) status = pess_dataset_read(scratch_path(0, ".pesslog"), NULL, &again, error);
    if (status == PESS_OK) status = pess_dataset_check_returns(again, 0.9, range, error);
    pess_dataset_destroy(again);
    pess_dataset_destroy(read);
    return status;
}

/* Logs that were counted elsewhere, as text and as lines of JSON. */
static void counted_logs_say_that_memory_ran_out(void **state) {
    (void)state;
    fail_with(keep_names, MESSY "no_next_shuffled.csv", NULL, NULL, 0);
    fail_with(read_counts,
              scratch_write(1, "state,action,next_state,count,reward_sum,reward_square_sum,reward_min,reward_max\n"
                               "a,x,b,3,1.5,1.25,0,1\nb,y,a,2,1,1,0,1\n"),
              NULL, NULL, 0);
    fail_with(read_counts,
              scratch_write(1, "{\"state\":\"a\",\"action\":0,\"next_state\":\"b\",\"count\":3,\"reward_sum\":1.5,"
                               "\"reward_square_sum\":1.25,\"reward_min\":0,\"reward_max\":1}\n"),
              NULL, NULL, 0);
    scratch_remove(scratch_path(0, ".pesslog"));
    scratch_remove(scratch_path(1, ".csv"));
}

/* ---- counts in files, and many logs as one */

static pess_status merge(const pess_dataset *none, pess_error *error) {
    (void)none;
    const char *const logs[] = {MESSY "plain.csv", MESSY "two_columns.csv"}, *both = scratch_path(1, ".pesscounts");
    const char *const again[] = {both, MESSY "plain.csv"};
    pess_counts *counts = NULL;
    pess_status status = pess_counts_merge(logs, 1, NULL, both, error);
    if (status == PESS_OK) status = pess_counts_merge(again, 2, NULL, scratch_path(2, ".pesscounts"), error);
    if (status == PESS_OK) status = pess_counts_read(scratch_path(2, ".pesscounts"), NULL, &counts, error);
    pess_counts_destroy(counts);
    return status;
}

static void merging_counts_says_that_memory_ran_out(void **state) {
    (void)state;
    assert_true(fail_in_turn(merge, NULL, 10) > 10);
    scratch_remove(scratch_path(1, ".pesscounts"));
    scratch_remove(scratch_path(2, ".pesscounts"));
}

/* ---- measurements, and observations made of them */

static pess_status write_and_read(const pess_observations *data, const char *extension, pess_error *error) {
    pess_observations *again = NULL;
    pess_status status = pess_observations_write(data, scratch_path(0, extension), error);
    if (status == PESS_OK) status = pess_observations_read(scratch_path(0, extension), &again, error);
    pess_observations_destroy(again);
    return status;
}

static pess_status measure(const pess_dataset *none, pess_error *error) {
    (void)none;
    pess_measurements *measurements = NULL;
    pess_observations *observations = NULL;
    const pess_measurements_options options = {
        .size = sizeof options, .features = "pulse,lactate", .threads = 1, .read = &reading};
    pess_status status = pess_measurements_read(path, &options, &measurements, error);
    if (status == PESS_OK) status = pess_measurements_observations(measurements, NULL, &observations, error);
    if (status == PESS_OK) status = write_and_read(observations, ".pessdata", error);
    if (status == PESS_OK) status = write_and_read(observations, ".npz", error);
    pess_observations_destroy(observations);
    pess_measurements_destroy(measurements);
    return status;
}

/* The measurements of a database, which are read as the text that it would be. */
static pess_status measure_table(const pess_dataset *none, pess_error *error) {
    (void)none;
    pess_measurements *measurements = NULL;
    const pess_measurements_options options = {
        .size = sizeof options, .features = "step,reward", .threads = 1, .read = &reading};
    const pess_status status = pess_measurements_read(path, &options, &measurements, error);
    if (status == PESS_MEMORY && strstr(error->message, "not enough memory to read") != NULL)
        assert_non_null(strstr(error->message, path)); /* which is freed with the file */
    pess_measurements_destroy(measurements);
    return status;
}

static void measurements_say_that_memory_ran_out(void **state) {
    (void)state;
    fail_with(measure,
              scratch_write(
                  1, "episode,step,pulse,lactate,action,reward,terminal,probability\n"
                     "a,0,60,1.5,wait,0,0,0.5\na,1,70,2,treat,1,1,0.5\nb,0,80,1,wait,0,0,0.5\nb,1,90,3,wait,1,1,1\n"),
              NULL, NULL, 0);
    fail_with(measure_table, TEST_DATA "/sources/visits.db", NULL, NULL, 0);
    scratch_remove(scratch_path(0, ".pessdata"));
    scratch_remove(scratch_path(0, ".npz"));
    scratch_remove(scratch_path(1, ".csv"));
}

/* ---- datasets of observations */

static const char *written;

static pess_status read_observations(const pess_dataset *none, pess_error *error) {
    (void)none;
    pess_observations *data = NULL, *again = NULL;
    pess_observations_inspection *inspection = NULL;
    pess_status status = pess_observations_read(path, &data, error);
    if (status == PESS_OK) status = pess_observations_inspect(data, &inspection, error);
    if (status == PESS_OK) status = pess_observations_write(data, scratch_path(0, written), error);
    if (status == PESS_OK) status = pess_observations_read(scratch_path(0, written), &again, error);
    pess_observations_inspection_destroy(inspection);
    pess_observations_destroy(again);
    pess_observations_destroy(data);
    return status;
}

static pess_status number_actions(const pess_dataset *none, pess_error *error) {
    (void)none;
    pess_observations *data = NULL;
    const pess_actions_options centres = {.size = sizeof centres, .kmeans = 1},
                               grid = {.size = sizeof grid, .grid = "2"};
    pess_status status = pess_observations_read(path, &data, error);
    if (status == PESS_OK) status = pess_observations_number_actions(data, &centres, NULL, error);
    pess_observations_destroy(data);
    data = NULL;
    if (status == PESS_OK) status = pess_observations_read(path, &data, error);
    if (status == PESS_OK) status = pess_observations_number_actions(data, &grid, NULL, error);
    if (status == PESS_OK) status = pess_observations_write(data, scratch_path(0, ".npz"), error);
    pess_observations_destroy(data);
    data = NULL;
    if (status == PESS_OK) status = pess_observations_read(scratch_path(0, ".npz"), &data, error);
    pess_observations_destroy(data);
    return status;
}

static void datasets_of_observations_say_that_memory_ran_out(void **state) {
    (void)state;
    static const char *const files[] = {TEST_DATA "/d4rl/plain.npz", TEST_DATA "/d4rl/everything.npz",
                                        TEST_DATA "/d4rl/pictures.npz", TEST_DATA "/d4rl/fortran.npz"};
    static const char *const endings[] = {".pessdata", ".npz"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int k = 0; k < 2; k++) {
            written = endings[k];
            fail_with(read_observations, files[i], NULL, NULL, 0);
            scratch_remove(scratch_path(0, written));
        }
    fail_with(number_actions, TEST_DATA "/d4rl/continuous.npz", NULL, NULL, 0);
    scratch_remove(scratch_path(0, ".npz"));
}

/* As Minari lays it out: the data and, beside them, what they are. */
static char minari_folder[200];

static pess_status write_minari(const pess_dataset *none, pess_error *error) {
    (void)none;
    pess_observations *data = NULL;
    char file[240];
    (void)snprintf(file, sizeof file, "%s/main_data.hdf5", minari_folder);
    pess_status status = pess_observations_read(path, &data, error);
    if (status == PESS_OK) status = pess_observations_write(data, file, error);
    pess_observations_destroy(data);
    return status;
}

static void datasets_in_hdf5_say_that_memory_ran_out(void **state) {
    (void)state;
    static const char *const files[] = {TEST_DATA "/sources/d4rl_vectors.h5",   TEST_DATA "/sources/d3rlpy_vectors.h5",
                                        TEST_DATA "/sources/minari_vectors.h5", TEST_DATA "/sources/minari_bytes.h5",
                                        TEST_DATA "/sources/minari_bits.h5",    TEST_DATA "/d4rl/pictures.npz"};
    written = ".h5";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        fail_with(read_observations, files[i], NULL, NULL, 0);
        scratch_remove(scratch_path(0, written));
    }
    fail_with(read_rows, TEST_DATA "/sources/d4rl.h5", NULL, NULL, 0);
    fail_with(read_rows, TEST_DATA "/sources/d3rlpy.h5", NULL, NULL, 0);
    (void)snprintf(minari_folder, sizeof minari_folder, "%s", scratch_path(3, ".folder"));
    assert_int_equal(mkdir(minari_folder, 0777), 0);
    fail_with(write_minari, TEST_DATA "/d4rl/pictures.npz", NULL, NULL, 0);
    fail_with(write_minari, TEST_DATA "/d4rl/continuous.npz", NULL, NULL, 0);
    remove_tree(minari_folder);
}

/* ---- acting */

static pess_status act(const pess_dataset *none, pess_error *error) {
    (void)none;
    pess_decider *decider = NULL;
    pess_counts *counts = NULL;
    int64_t rows;
    pess_act_options options = pess_act_options_defaults();
    options.read = &reading;
    pess_status status = pess_counts_read(MESSY "plain.csv", NULL, &counts, error);
    if (status == PESS_OK) status = pess_decider_read(scratch_path(1, ".csv"), NULL, counts, &options, &decider, error);
    if (status == PESS_OK) status = pess_act_rows(decider, path, scratch_path(2, ".csv"), &rows, error);
    pess_decider_destroy(decider);
    pess_counts_destroy(counts);
    return status;
}

static void acting_says_that_memory_ran_out(void **state) {
    (void)state;
    (void)scratch_write(1, "state,action,probability\nICU|2,treat,1\nICU|1,wait,1\n");
    fail_with(act, MESSY "plain.csv", NULL, NULL, 0);
    fail_with(act, MESSY "rows.jsonl", "state=ward,severity", NULL, 0);
    scratch_remove(scratch_path(1, ".csv"));
    scratch_remove(scratch_path(2, ".csv"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_logs_as_they_come_says_that_memory_ran_out),
        cmocka_unit_test(reading_other_programs_logs_says_that_memory_ran_out),
        cmocka_unit_test(counted_logs_say_that_memory_ran_out),
        cmocka_unit_test(merging_counts_says_that_memory_ran_out),
        cmocka_unit_test(measurements_say_that_memory_ran_out),
        cmocka_unit_test(datasets_of_observations_say_that_memory_ran_out),
        cmocka_unit_test(datasets_in_hdf5_say_that_memory_ran_out),
        cmocka_unit_test(acting_says_that_memory_ran_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
