/* Logs of a few states with large ids: in every format they cost what their rows cost, and mean the same. */
#include "data/dataset.h"

#include "scratch.h"

enum { ROWS = 4, LARGE = 100000000 };

static const char *const extensions[] = {".csv", ".npz", ".pesslog"};

/* Ids 7, 100000000, 0: numbered as they appear. */
static pess_dataset *make_log(int64_t states, bool episodes) {
    static uint32_t state[] = {7, LARGE, 7, 0}, action[] = {0, 1, 0, 0}, next_state[] = {LARGE, 7, 0, 7};
    static double reward[] = {1, 0, 0.5, 0.25};
    static uint8_t end[] = {0, 0, 0, PESS_END_TERMINAL};
    static int64_t episode[] = {0, 0, 0, 0}, step[] = {0, 1, 2, 3};
    const pess_columns columns = {.rows = ROWS,
                                  .state = state,
                                  .action = action,
                                  .next_state = next_state,
                                  .reward = reward,
                                  .end = end,
                                  .episode = episodes ? episode : NULL,
                                  .step = episodes ? step : NULL};
    pess_dataset *data = NULL;
    assert_int_equal(pess_dataset_create(&columns, states, 2, &data, NULL), PESS_OK);
    return data;
}

static void assert_numbered(const pess_dataset *read) {
    static const uint32_t state[] = {0, 1, 0, 2}, next_state[] = {1, 0, 2, 0};
    assert_int_equal(read->rows, ROWS);
    assert_int_equal(read->states, 3);
    assert_false(read->states_declared);
    assert_memory_equal(read->state, state, sizeof state);
    assert_memory_equal(read->next_state, next_state, sizeof next_state);
    assert_string_equal(pess_names_get(read->state_names, 0), "7");
    assert_string_equal(pess_names_get(read->state_names, 1), "100000000");
    assert_string_equal(pess_names_get(read->state_names, 2), "0");
}

static pess_dataset *read_file(const char *path, const pess_read_options *options) {
    pess_dataset *read = NULL;
    pess_error error;
    if (pess_dataset_read(path, options, &read, &error) != PESS_OK) fail_msg("%s", error.message);
    return read;
}

static void large_ids_are_numbered_in_every_format(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        pess_dataset *data = make_log(0, false); /* as many states as the rows show */
        const char *path = scratch_path(0, extensions[i]);
        assert_int_equal(pess_dataset_write(data, path, NULL, NULL), PESS_OK);
        pess_dataset *read = read_file(path, NULL);
        assert_numbered(read);
        pess_dataset_destroy(read);
        pess_dataset_destroy(data);
        scratch_remove(path);
    }
}

static void a_number_of_states_that_a_file_states_is_not_believed(void **state) {
    (void)state;
    pess_dataset *data = make_log(2 * (int64_t)LARGE, false);
    const char *path = scratch_path(0, ".pesslog");
    assert_int_equal(pess_dataset_write(data, path, NULL, NULL), PESS_OK);
    pess_dataset *read = read_file(path, NULL);
    assert_numbered(read);
    pess_dataset_destroy(read);
    pess_dataset_destroy(data);
    scratch_remove(path);
}

static void states_that_the_user_declares_are_all_there(void **state) {
    (void)state;
    pess_dataset *data = make_log(0, false);
    const pess_read_options options = {.size = sizeof options, .states = LARGE + 1};
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        const char *path = scratch_path(0, extensions[i]);
        assert_int_equal(pess_dataset_write(data, path, NULL, NULL), PESS_OK);
        pess_dataset *read = read_file(path, &options);
        assert_int_equal(read->states, LARGE + 1);
        assert_null(read->state_names);
        assert_int_equal(read->state[1], LARGE);
        pess_dataset_destroy(read);
        scratch_remove(path);
    }
    pess_dataset_destroy(data);
}

/* Memory is taken for pairs: with 501 actions a hundred thousand states are fifty million. */
static void many_actions_make_a_log_sparse_too(void **state) {
    (void)state;
    static const char *const logs[] = {"state,action,next_state,reward\n0,0,100000,1\n100000,500,5,1\n",
                                       "state,action,next_state,reward\n0,0,100000,1\n100000,5,5,1\n"};
    for (int sparse = 0; sparse < 2; sparse++) {
        const char *path = scratch_write(0, logs[1 - sparse]);
        pess_dataset *read = read_file(path, NULL);
        assert_int_equal(read->states, sparse ? 3 : 100001);
        assert_int_equal(read->actions, sparse ? 501 : 6);
        pess_dataset_destroy(read);
        scratch_remove(path);
    }
}

/* A row that is dropped stands for no state, and the last row of an episode has no next one. */
static void next_states_that_come_from_the_next_row_are_numbered_too(void **state) {
    (void)state;
    const char *path = scratch_write(0, "episode,step,state,action,reward\n"
                                        "0,0,9,0,1\n0,1,100000000,0,1\n0,2,,0,1\n0,3,9,0,1\n0,4,100000000,0,1\n"
                                        "1,0,5,0,0\n1,1,9,0,0\n");
    const pess_read_options options = {.size = sizeof options, .missing = "drop", .last_row = PESS_LAST_ROW_TERMINAL};
    pess_dataset *read = read_file(path, &options);
    assert_int_equal(read->states, 3);
    assert_int_equal(pess_names_count(read->state_names), 3);
    const char *before = pess_names_get(read->state_names, read->state[0]);
    assert_string_equal(before, "9");
    assert_string_equal(pess_names_get(read->state_names, read->next_state[0]), "100000000");
    for (int64_t i = 0; i < read->rows; i++)
        assert_true(strcmp(pess_names_get(read->state_names, read->state[i]), "0") != 0);
    pess_dataset_destroy(read);
    scratch_remove(path);
}

static void counts_of_large_ids_take_little_room(void **state) {
    (void)state;
    const char *log = scratch_write(0, "episode,state,action,next_state,reward,terminal\n"
                                       "0,7,0,100000000,1,0\n0,100000000,1,0,0,1\n1,0,0,7,1,1\n");
    const char *path = scratch_path(1, ".pesscounts");
    const int64_t limit = pess_max_memory();
    const pess_read_options options = {.size = sizeof options, .states = LARGE + 1};
    for (int declared = 0; declared < 2; declared++) {
        pess_counts *counts = NULL;
        pess_counts_info info;
        pess_error error;
        if (pess_counts_merge(&log, 1, declared ? &options : NULL, path, &error) != PESS_OK)
            fail_msg("%s", error.message);
        pess_set_max_memory(64 << 20);
        const pess_status status = pess_counts_read(path, NULL, &counts, &error);
        pess_set_max_memory(limit);
        if (status != PESS_OK) fail_msg("%s", error.message);
        pess_counts_get_info(counts, &info);
        assert_int_equal(info.states, 3);
        assert_int_equal(info.episodes, 2);
        assert_true(info.has_starts);
        pess_counts_destroy(counts);
    }
    scratch_remove(log);
    scratch_remove(path);
}

/* Fewer than one state in 32 has to occur, and a million below the largest id is no matter. */
static void dense_logs_keep_their_ids(void **state) {
    (void)state;
    pess_dataset *read = NULL;
    static const char small[] = "state,action,next_state,reward\n0,0,1048575,1\n";
    assert_int_equal(pess_dataset_read_memory("small", small, sizeof small - 1, NULL, &read, NULL), PESS_OK);
    assert_null(read->state_names);
    assert_int_equal(read->states, 1048576);
    pess_dataset_destroy(read);
    enum { STATES = 2000000, EACH = 16 };
    char *text = malloc((size_t)STATES / EACH * 40), *at = text;
    assert_non_null(text);
    at += sprintf(at, "state,action,next_state,reward\n");
    for (int s = 0; s < STATES; s += EACH) at += sprintf(at, "%d,0,%d,1\n", STATES - 1 - s, s);
    assert_int_equal(pess_dataset_read_memory("dense", text, (size_t)(at - text), NULL, &read, NULL), PESS_OK);
    assert_null(read->state_names);
    assert_int_equal(read->states, STATES);
    pess_dataset_destroy(read);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_ids_are_numbered_in_every_format),
        cmocka_unit_test(a_number_of_states_that_a_file_states_is_not_believed),
        cmocka_unit_test(states_that_the_user_declares_are_all_there),
        cmocka_unit_test(many_actions_make_a_log_sparse_too),
        cmocka_unit_test(next_states_that_come_from_the_next_row_are_numbered_too),
        cmocka_unit_test(counts_of_large_ids_take_little_room),
        cmocka_unit_test(dense_logs_keep_their_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
