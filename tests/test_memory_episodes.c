/* Where memory runs out in what looks at whole episodes, or makes states of measurements: certificates, estimates,
 * choices by folds, cells. As in test_memory.c. */
#include "failing_memory.h"

#include <math.h>

enum { EPISODES = 24, STEPS = 5, ROWS = EPISODES * STEPS };

static pess_dataset *make_episodes(void) {
    static uint32_t state[ROWS], action[ROWS], next_state[ROWS];
    static double reward[ROWS], probability[ROWS];
    static int64_t episode[ROWS], step[ROWS];
    static uint8_t end[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        episode[i] = i / STEPS, step[i] = i % STEPS;
        state[i] = (i + i / 7) % 3;
        action[i] = i / 3 % 2;
        probability[i] = 0.5;
        reward[i] = (double)(i % 4) / 4;
        end[i] = step[i] == STEPS - 1 ? PESS_END_TERMINAL : PESS_END_NONE;
        if (step[i] > 0) next_state[i - 1] = state[i];
    }
    const pess_columns columns = {.rows = ROWS,
                                  .state = state,
                                  .action = action,
                                  .next_state = next_state,
                                  .reward = reward,
                                  .end = end,
                                  .episode = episode,
                                  .step = step,
                                  .probability = probability};
    pess_dataset *data = NULL;
    assert_int_equal(pess_dataset_create(&columns, 3, 2, &data, NULL), PESS_OK);
    return data;
}

/* ---- certificates, estimates and choices */

static pess_certify_options certifying;

static pess_status certify(const pess_dataset *data, pess_error *error) {
    pess_certificate *certificate = NULL;
    const pess_status status = pess_certify(data, &certifying, &certificate, error);
    pess_certificate_destroy(certificate);
    return status;
}

/* What is certified from, beside the log: a policy that acts at random in its three states, and where it starts. */
static pess_policy *even(void) {
    static const double half[6] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
    pess_policy *policy = NULL;
    assert_int_equal(pess_policy_create(3, 2, half, &policy, NULL), PESS_OK);
    return policy;
}

static pess_certify_options certify_by(pess_certify_method method) {
    pess_certify_options options = pess_certify_options_defaults();
    options.method = method;
    options.gamma = 0.9;
    options.reward_range[0] = 0, options.reward_range[1] = 1;
    options.threads = 1;
    return options;
}

static void certificates_of_episodes_say_that_memory_ran_out(void **state) {
    (void)state;
    pess_dataset *data = make_episodes();
    pess_policy *policy = even();
    certifying = certify_by(PESS_CERTIFY_EPISODES);
    assert_true(fail_in_turn(certify, data, 20) > 10);
    certifying.behaviour_estimated = true;
    assert_true(fail_in_turn(certify, data, 20) > 10);
    certifying = certify_by(PESS_CERTIFY_EPISODES);
    certifying.behaviour = policy;
    assert_true(fail_in_turn(certify, data, 20) > 10);
    certifying = certify_by(PESS_CERTIFY_BEST);
    assert_true(fail_in_turn(certify, data, 20) > 10);
    pess_policy_destroy(policy);
    pess_dataset_destroy(data);
}

static void certificates_of_splits_say_that_memory_ran_out(void **state) {
    (void)state;
    pess_dataset *data = make_episodes();
    pess_policy *policy = even();
    certifying = certify_by(PESS_CERTIFY_SPLIT);
    assert_true(fail_in_turn(certify, data, 20) > 10);
    certifying.horizon = 3;
    assert_true(fail_in_turn(certify, data, 20) > 10);
    certifying = certify_by(PESS_CERTIFY_SPLIT);
    certifying.policy = policy, certifying.fresh = true, certifying.max_successors = 2;
    assert_true(fail_in_turn(certify, data, 20) > 10);
    pess_policy_destroy(policy);
    pess_dataset_destroy(data);
}

static void certificates_of_sets_say_that_memory_ran_out(void **state) {
    (void)state;
    static const char *const sets[] = {"l1", "support", "good-turing"};
    static const double start[3] = {1, 0, 0};
    pess_dataset *data = make_episodes();
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        certifying = certify_by(PESS_CERTIFY_ROBUST);
        certifying.uncertainty = sets[i];
        if (i == 1) certifying.start = start;
        assert_true(fail_in_turn(certify, data, 20) > 10);
    }
    certifying = certify_by(PESS_CERTIFY_ROBUST);
    certifying.horizon = 3;
    assert_true(fail_in_turn(certify, data, 20) > 10);
    pess_dataset_destroy(data);
}

/* From counts, without rows. */
static pess_status certify_counts(const pess_dataset *data, pess_error *error) {
    pess_counts *counts = NULL;
    pess_certificate *certificate = NULL;
    pess_certify_options options = certify_by(PESS_CERTIFY_BEST);
    pess_status status = pess_counts_create(data, 1, &counts, error);
    options.counts = counts;
    if (status == PESS_OK) status = pess_certify(NULL, &options, &certificate, error);
    pess_certificate_destroy(certificate);
    pess_counts_destroy(counts);
    return status;
}

static void certificates_of_counts_say_that_memory_ran_out(void **state) {
    (void)state;
    pess_dataset *data = make_episodes();
    assert_true(fail_in_turn(certify_counts, data, 20) > 10);
    pess_dataset_destroy(data);
}

static pess_status estimate(const pess_dataset *data, pess_error *error) {
    pess_counts *counts = NULL;
    pess_model *model = NULL;
    pess_policy *policy = NULL;
    pess_estimates found;
    pess_estimator_options options = pess_estimator_options_defaults();
    options.gamma = 0.9, options.bootstrap = 20, options.threads = 1;
    pess_status status = pess_counts_create(data, 1, &counts, error);
    if (status == PESS_OK) status = pess_model_estimate(counts, NULL, &model, error);
    if (status == PESS_OK) status = pess_policy_empirical(counts, model, &policy, error);
    if (status == PESS_OK) status = pess_estimate_policy(data, counts, model, policy, &options, &found, error);
    pess_policy_destroy(policy);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    return status;
}

static pess_status choose(const pess_dataset *data, pess_error *error) {
    pess_choose_options options = pess_choose_options_defaults();
    pess_solve_options solving = pess_solve_options_defaults();
    solving.gamma = 0.9;
    options.solve = &solving, options.folds = 2, options.families = "naive,ua,spibb", options.threads = 1;
    pess_choice *choice = NULL;
    const pess_status status = pess_choose(data, &options, &choice, error);
    pess_choice_destroy(choice);
    return status;
}

static void estimates_and_choices_say_that_memory_ran_out(void **state) {
    (void)state;
    pess_dataset *data = make_episodes();
    assert_true(fail_in_turn(estimate, data, 20) > 10);
    assert_true(fail_in_turn(choose, data, 20) > 10);
    pess_dataset_destroy(data);
}

/* ---- cells */

static pess_cells_options dividing;

static pess_status measure(pess_measurements **out, pess_error *error) {
    static const char *const names[] = {"pulse", "lactate"};
    double values[2 * ROWS], reward[ROWS];
    uint32_t action[ROWS];
    uint8_t end[ROWS];
    int64_t episode[ROWS];
    for (int i = 0; i < ROWS; i++) {
        values[2 * i] = i % 11 == 3 ? (double)NAN : i * 7 % 13;
        values[2 * i + 1] = i * 5 % 17;
        action[i] = (uint32_t)i / 3 % 2;
        reward[i] = values[2 * i + 1] > 8; /* which a tree finds */
        episode[i] = i / STEPS;
        end[i] = i % STEPS == STEPS - 1 ? PESS_END_TERMINAL : PESS_END_NONE;
    }
    const pess_measurement_columns columns = {.rows = ROWS,
                                              .features = 2,
                                              .names = names,
                                              .values = values,
                                              .action = action,
                                              .reward = reward,
                                              .end = end,
                                              .episode = episode};
    return pess_measurements_create(&columns, out, error);
}

static pess_status discretize(const pess_dataset *data, pess_error *error) {
    (void)data;
    pess_measurements *measurements = NULL;
    pess_map *map = NULL, *again = NULL;
    pess_dataset *making = NULL, *held_out = NULL;
    pess_markov markov;
    pess_cells_trial trials[PESS_CELLS_SIZES];
    const pess_trials_options once = {.size = sizeof once, .starts = 1};
    pess_solve_options solving = pess_solve_options_defaults();
    int64_t count;
    solving.gamma = 0.9, solving.threads = 1;
    pess_status status = measure(&measurements, error);
    if (status == PESS_OK) status = pess_map_make(measurements, "log", &dividing, &map, error);
    if (status == PESS_OK) status = pess_map_write(map, scratch_path(0, ".pessmap"), error);
    if (status == PESS_OK) status = pess_map_read(scratch_path(0, ".pessmap"), &again, error);
    if (status == PESS_OK) status = pess_map_log(again, measurements, PESS_PART_MAKING, 1, &making, error);
    if (status == PESS_OK) status = pess_map_log(again, measurements, PESS_PART_HELD_OUT, 1, &held_out, error);
    if (status == PESS_OK) status = pess_markov_test(making, held_out, NULL, &markov, error);
    if (status == PESS_OK)
        status = pess_cells_trials(map, measurements, &dividing, &solving, &once, trials, &count, error);
    pess_dataset_destroy(held_out);
    pess_dataset_destroy(making);
    pess_map_destroy(again);
    pess_map_destroy(map);
    pess_measurements_destroy(measurements);
    return status;
}

static void cells_say_that_memory_ran_out(void **state) {
    (void)state;
    for (int method = PESS_CELLS_KMEANS; method <= PESS_CELLS_TREE; method++) {
        dividing = pess_cells_options_defaults();
        dividing.method = (pess_cells_method)method;
        dividing.cells = 8, dividing.restarts = 1, dividing.threads = 1, dividing.missing = "pulse=flag";
        assert_true(fail_in_turn(discretize, NULL, 20) > 10);
    }
    scratch_remove(scratch_path(0, ".pessmap"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certificates_of_episodes_say_that_memory_ran_out),
        cmocka_unit_test(certificates_of_splits_say_that_memory_ran_out),
        cmocka_unit_test(certificates_of_sets_say_that_memory_ran_out),
        cmocka_unit_test(certificates_of_counts_say_that_memory_ran_out),
        cmocka_unit_test(estimates_and_choices_say_that_memory_ran_out),
        cmocka_unit_test(cells_say_that_memory_ran_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
