/* Where memory runs out, whichever allocation it is, the library says so and loses nothing. */
#include "failing_memory.h"

#include "experiment/checkpoint.h"

enum { ROWS = 60 };

static pess_dataset *make_data(void) {
    static uint32_t state[ROWS], action[ROWS], next_state[ROWS];
    static double reward[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        state[i] = i % 3;
        action[i] = i / 3 % 2;
        next_state[i] = (state[i] + action[i] + i % 2) % 3;
        reward[i] = (double)(i % 4) / 4;
    }
    const pess_columns columns = {
        .rows = ROWS, .state = state, .action = action, .next_state = next_state, .reward = reward};
    pess_dataset *data = NULL;
    assert_int_equal(pess_dataset_create(&columns, 3, 2, &data, NULL), PESS_OK);
    return data;
}

static pess_status solve(const pess_dataset *data, pess_error *error) {
    pess_counts *counts = NULL;
    pess_model *model = NULL;
    pess_solution *solution = NULL;
    double start[3] = {0};
    pess_status status = pess_counts_create(data, 1, &counts, error);
    if (status == PESS_OK) status = pess_model_estimate(counts, NULL, &model, error);
    if (status == PESS_OK) status = pess_start_uniform(model, start, error);
    if (status == PESS_OK) status = pess_solve(counts, model, start, NULL, &solution, error);
    pess_solution_destroy(solution);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    return status;
}

static pess_status certify(const pess_dataset *data, pess_error *error) {
    pess_certify_options options = pess_certify_options_defaults();
    options.gamma = 0.9;
    static const double start[3] = {1, 0, 0};
    options.start = start;
    options.reward_range[0] = 0;
    options.reward_range[1] = 1;
    pess_certificate *certificate = NULL;
    const pess_status status = pess_certify(data, &options, &certificate, error);
    pess_certificate_destroy(certificate);
    return status;
}

/* The log in one format after another, read as rows and as counts, and written again. */
static const char *extension;

static pess_status read_log(const pess_dataset *data, pess_error *error) {
    (void)data;
    pess_dataset *read = NULL;
    pess_inspection *inspection = NULL;
    pess_counts *counts = NULL;
    pess_status status = pess_dataset_read(scratch_path(0, extension), NULL, &read, error);
    if (status == PESS_OK) status = pess_dataset_inspect(read, &inspection, error);
    if (status == PESS_OK) status = pess_counts_read(scratch_path(0, extension), NULL, &counts, error);
    if (status == PESS_OK) status = pess_dataset_write(read, scratch_path(1, extension), NULL, error);
    pess_counts_destroy(counts);
    pess_inspection_destroy(inspection);
    pess_dataset_destroy(read);
    return status;
}

static pess_status read_text(const pess_dataset *data, pess_error *error) {
    (void)data;
    static const char named[] = "episode;step;state;action;reward;terminal\n"
                                "e1;0;\"a;b\";x;0,5;0\ne1;1;c;y;1,5;0\ne1;2;a;x;;1\ne2;0;c;x;1,0;1\n";
    const pess_read_options options = {
        .size = sizeof options, .missing = "reward=0", .last_row = PESS_LAST_ROW_TERMINAL, .threads = 2};
    pess_dataset *read = NULL;
    const pess_status status = pess_dataset_read_memory("named", named, sizeof named - 1, &options, &read, error);
    if (status == PESS_OK) assert_int_equal(pess_names_count(pess_dataset_state_names(read)), 3);
    pess_dataset_destroy(read);
    return status;
}

static pess_status read_json_lines(const pess_dataset *data, pess_error *error) {
    (void)data;
    static const char lines[] = "{\"state\":\"a\",\"action\":0,\"next_state\":\"b\",\"reward\":1}\n"
                                "{\"state\":\"b\",\"action\":1,\"next_state\":\"a\",\"reward\":0.5}\n";
    const pess_read_options options = {.size = sizeof options, .format = "jsonl"};
    pess_dataset *read = NULL;
    const pess_status status = pess_dataset_read_memory("lines", lines, sizeof lines - 1, &options, &read, error);
    pess_dataset_destroy(read);
    return status;
}

/* A few ids among many, which are read twice. */
static pess_status read_sparse(const pess_dataset *data, pess_error *error) {
    (void)data;
    static const char text[] = "state,action,next_state,reward\n0,0,100000000,1\n100000000,0,5,1\n";
    pess_dataset *read = NULL;
    const pess_status status = pess_dataset_read_memory("sparse", text, sizeof text - 1, NULL, &read, error);
    pess_dataset_destroy(read);
    return status;
}

/* Policies, start distributions and values as files. */
static pess_status write_and_read_tables(const pess_dataset *data, pess_error *error) {
    pess_counts *counts = NULL;
    pess_model *model = NULL;
    pess_solution *solution = NULL;
    pess_policy *policy = NULL;
    double start[3] = {0};
    pess_status status = pess_counts_create(data, 1, &counts, error);
    if (status == PESS_OK) status = pess_model_estimate(counts, NULL, &model, error);
    if (status == PESS_OK) status = pess_start_uniform(model, start, error);
    if (status == PESS_OK) status = pess_start_write(scratch_path(2, ".csv"), 3, NULL, start, error);
    if (status == PESS_OK) status = pess_start_read(scratch_path(2, ".csv"), 3, NULL, start, error);
    if (status == PESS_OK) status = pess_solve(counts, model, start, NULL, &solution, error);
    if (status == PESS_OK)
        status = pess_policy_write(pess_solution_policy(solution), scratch_path(2, ".csv"), NULL, NULL, error);
    if (status == PESS_OK)
        status = pess_policy_read_for_log(scratch_path(2, ".csv"), counts, model, PESS_UNKNOWN_UNIFORM, 0, &policy,
                                          NULL, error);
    pess_policy_destroy(policy);
    pess_solution_destroy(solution);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    return status;
}

static pess_status make_and_simulate(const pess_dataset *data, pess_error *error) {
    (void)data;
    pess_mdp *mdp = NULL, *again = NULL;
    pess_model *model = NULL;
    pess_status status = pess_mdp_make("gridworld", NULL, &mdp, error);
    if (status == PESS_OK) status = pess_mdp_write(mdp, scratch_path(3, ".csv"), 1, error);
    if (status == PESS_OK) status = pess_mdp_read(scratch_path(3, ".csv"), &again, error);
    if (status == PESS_OK) status = pess_mdp_model(again, 1, &model, error);
    pess_model_destroy(model);
    pess_mdp_destroy(again);
    pess_mdp_destroy(mdp);
    return status;
}

/* What counts, a model and its start distribution are needed for. */
typedef struct parts {
    pess_counts *counts;
    pess_model *model;
    double start[3];
} parts;

static pess_status make_parts(const pess_dataset *data, parts *p, pess_error *error) {
    pess_status status = pess_counts_create(data, 1, &p->counts, error);
    if (status == PESS_OK) status = pess_model_estimate(p->counts, NULL, &p->model, error);
    if (status == PESS_OK) status = pess_start_uniform(p->model, p->start, error);
    return status;
}

static void free_parts(parts *p) {
    pess_model_destroy(p->model);
    pess_counts_destroy(p->counts);
}

static pess_status find_gaps(const pess_dataset *data, pess_error *error) {
    parts p = {0};
    pess_gap gaps[4];
    int64_t found = 0;
    double uncertainty = 0;
    pess_solution *solution = NULL;
    pess_status status = make_parts(data, &p, error);
    if (status == PESS_OK) status = pess_solve(p.counts, p.model, p.start, NULL, &solution, error);
    if (status == PESS_OK)
        status = pess_gaps(p.counts, p.model, p.start, pess_solution_policy(solution), NULL, 4, gaps, &found,
                           &uncertainty, error);
    pess_solution_destroy(solution);
    free_parts(&p);
    return status;
}

static pess_status read_network(const pess_dataset *data, pess_error *error) {
    (void)data;
    pess_net *net = NULL;
    pess_status status = pess_net_read(TEST_DATA "/../../policies/breakout.pessnet", NULL, &net, error);
    if (status == PESS_OK) status = pess_net_write(net, scratch_path(2, ".pessnet"), error);
    pess_net_destroy(net);
    return status;
}

static pess_status keep_trials(const pess_dataset *data, pess_error *error) {
    (void)data;
    double values[6] = {1, 2, 3, 4, 5, 6};
    bool finished[3] = {false};
    pess__checkpoint *checkpoint = NULL;
    const char *path = scratch_path(3, ".pess");
    scratch_remove(path);
    pess_status status = pess__checkpoint_open(path, false, "1 x=1", 3, 2, values, finished, &checkpoint, error);
    if (status == PESS_OK) status = pess__checkpoint_add(checkpoint, 0, 2, values, error);
    const pess_status closed = pess__checkpoint_close(checkpoint, error);
    if (status == PESS_OK) status = closed;
    if (status == PESS_OK) status = pess__checkpoint_read(path, "1 x=1", 3, 2, values, finished, error);
    return status;
}

static int64_t failures_until_success(failing_call run) {
    pess_dataset *data = make_data();
    const int64_t failures = fail_in_turn(run, data, INT64_MAX);
    pess_dataset_destroy(data);
    return failures;
}

static void counting_and_solving_say_that_memory_ran_out(void **state) {
    (void)state;
    assert_true(failures_until_success(solve) > 10);
}

static void certifying_says_that_memory_ran_out(void **state) {
    (void)state;
    assert_true(failures_until_success(certify) > 10);
}

static void reading_every_format_says_that_memory_ran_out(void **state) {
    (void)state;
    static const char *const extensions[] = {".csv", ".csv.gz", ".npz", ".pesslog"};
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        extension = extensions[i];
        pess_dataset *data = make_data();
        assert_int_equal(pess_dataset_write(data, scratch_path(0, extension), NULL, NULL), PESS_OK);
        pess_dataset_destroy(data);
        assert_true(failures_until_success(read_log) > 10);
        scratch_remove(scratch_path(0, extension));
        scratch_remove(scratch_path(1, extension));
    }
}

static void reading_text_says_that_memory_ran_out(void **state) {
    (void)state;
    assert_true(failures_until_success(read_text) > 10);
    assert_true(failures_until_success(read_json_lines) > 10);
    assert_true(failures_until_success(read_sparse) > 10);
}

static void tables_and_processes_say_that_memory_ran_out(void **state) {
    (void)state;
    assert_true(failures_until_success(write_and_read_tables) > 10);
    assert_true(failures_until_success(make_and_simulate) > 10);
    scratch_remove(scratch_path(2, ".csv"));
    scratch_remove(scratch_path(3, ".csv"));
}

static void looking_for_gaps_says_that_memory_ran_out(void **state) {
    (void)state;
    assert_true(failures_until_success(find_gaps) > 10);
}

static void networks_and_checkpoints_say_that_memory_ran_out(void **state) {
    (void)state;
    assert_true(failures_until_success(read_network) > 5);
    assert_true(failures_until_success(keep_trials) > 1);
    scratch_remove(scratch_path(2, ".pessnet"));
    scratch_remove(scratch_path(3, ".pess"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_and_solving_say_that_memory_ran_out),
        cmocka_unit_test(certifying_says_that_memory_ran_out),
        cmocka_unit_test(reading_every_format_says_that_memory_ran_out),
        cmocka_unit_test(reading_text_says_that_memory_ran_out),
        cmocka_unit_test(tables_and_processes_say_that_memory_ran_out),
        cmocka_unit_test(looking_for_gaps_says_that_memory_ran_out),
        cmocka_unit_test(networks_and_checkpoints_say_that_memory_ran_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
