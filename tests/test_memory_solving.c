/* Where memory runs out while policies are found, evaluated, simulated and judged, by every algorithm and every method.
 * As in test_memory.c, one allocation from every place. */
#include "failing_memory.h"

static pess_counts *counts; /* of examples/visits.csv */
static pess_model *model;
static double *start;

static int begin(void **state) {
    (void)state;
    pess_error error = {0};
    pess_model_options options = pess_model_options_defaults();
    options.reward_range[0] = 0, options.reward_range[1] = 1;
    assert_ok(pess_counts_read(TEST_DATA "/../../examples/visits.csv", NULL, &counts, &error), &error);
    assert_ok(pess_model_estimate(counts, &options, &model, &error), &error);
    start = calloc((size_t)pess_model_states(model), sizeof *start);
    assert_non_null(start);
    return pess_start_from_counts(counts, start, NULL) != PESS_OK;
}

static int end(void **state) {
    (void)state;
    free(start);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    return 0;
}

static pess_solve_options solving;

static pess_solve_options solve_by(const char *algorithm, const char *uncertainty) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = algorithm, options.uncertainty = uncertainty;
    options.gamma = 0.9;
    options.threads = 1;
    return options;
}

/* The best policy, and its value once more. */
static pess_status solve(const pess_dataset *none, pess_error *error) {
    (void)none;
    pess_solution *solution = NULL, *again = NULL;
    pess_status status = pess_solve(counts, model, start, &solving, &solution, error);
    if (status == PESS_OK)
        status = pess_evaluate(counts, model, start, pess_solution_policy(solution), &solving, &again, error);
    pess_solution_destroy(again);
    pess_solution_destroy(solution);
    return status;
}

static void every_algorithm_says_that_memory_ran_out(void **state) {
    (void)state;
    for (size_t i = 0; pess_algorithm_list(i) != NULL; i++) {
        solving = solve_by(pess_algorithm_list(i)->name, NULL);
        assert_true(fail_in_turn(solve, NULL, 10) > 5);
    }
    for (size_t i = 0; pess_uncertainty_list(i) != NULL; i++) {
        const pess_uncertainty_info *u = pess_uncertainty_list(i);
        solving = solve_by(u->is_set ? "robust" : "ua", u->name);
        assert_true(fail_in_turn(solve, NULL, 10) > 5);
    }
}

static void every_method_says_that_memory_ran_out(void **state) {
    (void)state;
    static const char *const algorithms[] = {"naive", "ua", "proximal", "spibb"};
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        for (int method = PESS_METHOD_AUTO; method <= PESS_METHOD_GAUSS_SEIDEL; method++)
            for (int evaluation = PESS_EVALUATION_LU; evaluation <= PESS_EVALUATION_KRYLOV; evaluation++) {
                solving = solve_by(algorithms[i], NULL);
                solving.method = (pess_method)method, solving.evaluation = (pess_evaluation)evaluation;
                assert_true(fail_in_turn(solve, NULL, 10) > 5);
            }
        solving = solve_by(algorithms[i], NULL);
        solving.horizon = 3;
        assert_true(fail_in_turn(solve, NULL, 10) > 5);
    }
}

/* ---- gaps, theorems, simulated logs */

static pess_status look_for_gaps(const pess_dataset *none, pess_error *error) {
    (void)none;
    pess_gap gaps[4];
    pess_policy *policy = NULL;
    int64_t found = 0;
    pess_status status = pess_policy_empirical(counts, model, &policy, error);
    if (status == PESS_OK) status = pess_gaps(counts, model, start, policy, &solving, 4, gaps, &found, NULL, error);
    pess_policy_destroy(policy);
    return status;
}

static void gaps_by_every_uncertainty_say_that_memory_ran_out(void **state) {
    (void)state;
    for (size_t i = 0; pess_uncertainty_list(i) != NULL; i++) {
        const pess_uncertainty_info *u = pess_uncertainty_list(i);
        solving = solve_by("ua", u->name);
        if (u->per_action && !u->depends_on_values) assert_true(fail_in_turn(look_for_gaps, NULL, 10) > 5);
    }
}

/* Where a policy goes in the long run, with and without a discount, to an end and for ever. */
static pess_status follow(const pess_dataset *none, pess_error *error) {
    (void)none;
    pess_mdp *torus = NULL;
    pess_model *ring = NULL;
    pess_policy *empirical = NULL, *soft = NULL, *uniform = NULL;
    pess_thin_place thin[3];
    int64_t found = 0;
    double visits[16], law[9];
    pess_gridworld_options grid = pess_gridworld_options_defaults();
    grid.rows = grid.cols = 3;
    pess_status status = pess_policy_empirical(counts, model, &empirical, error);
    if (status == PESS_OK) status = pess_policy_soften(empirical, model, 0.1, &soft, error);
    if (status == PESS_OK) status = pess_visitation(model, start, soft, &solving, visits, error);
    if (status == PESS_OK) status = pess_thin_places(counts, model, start, soft, &solving, 3, thin, &found, error);
    if (status == PESS_OK) status = pess_mdp_gridworld(&grid, &torus, error);
    if (status == PESS_OK) status = pess_mdp_model(torus, 1, &ring, error);
    if (status == PESS_OK) status = pess_policy_uniform(ring, &uniform, error);
    if (status == PESS_OK) status = pess_stationary(ring, uniform, law, error);
    pess_policy_destroy(uniform);
    pess_model_destroy(ring);
    pess_mdp_destroy(torus);
    pess_policy_destroy(soft);
    pess_policy_destroy(empirical);
    return status;
}

static void long_runs_say_that_memory_ran_out(void **state) {
    (void)state;
    solving = solve_by("naive", NULL);
    assert_true(fail_in_turn(follow, NULL, 10) > 10);
    solving.gamma = 1;
    assert_true(fail_in_turn(follow, NULL, 10) > 10);
    solving.horizon = 3;
    assert_true(fail_in_turn(follow, NULL, 10) > 10);
    solving.horizon = 0;
    assert_true(fail_in_turn(solve, NULL, 10) > 10);
}

/* A random process, a log from it, and what the theorems say of that. */
static pess_status compute_theorems(const pess_dataset *none, pess_error *error) {
    (void)none;
    pess_mdp *mdp = NULL;
    pess_model *truth = NULL, *estimated = NULL;
    pess_policy *uniform = NULL;
    pess_dataset *log = NULL;
    pess_counts *logged = NULL;
    pess_theorem_row rows[32];
    int64_t found = 0;
    double even[3] = {0};
    pess_garnet_options garnet = pess_garnet_options_defaults();
    garnet.states = 3, garnet.actions = 2, garnet.branching = 2;
    pess_simulate_options simulating = pess_simulate_options_defaults();
    simulating.episodes = 4, simulating.horizon = 5, simulating.threads = 1;
    pess_theorem_options options = pess_theorem_options_defaults();
    options.gamma = 0.8, options.threads = 1;
    pess_status status = pess_mdp_garnet(&garnet, &mdp, error);
    if (status == PESS_OK) status = pess_mdp_model(mdp, 1, &truth, error);
    if (status == PESS_OK) status = pess_start_uniform(truth, even, error);
    if (status == PESS_OK) status = pess_policy_uniform(truth, &uniform, error);
    if (status == PESS_OK) status = pess_simulate(mdp, uniform, even, &simulating, &log, error);
    if (status == PESS_OK) status = pess_counts_create(log, 1, &logged, error);
    if (status == PESS_OK) status = pess_model_estimate(logged, NULL, &estimated, error);
    if (status == PESS_OK) status = pess_theorems(mdp, logged, estimated, even, &options, rows, &found, error);
    pess_model_destroy(estimated);
    pess_counts_destroy(logged);
    pess_dataset_destroy(log);
    pess_policy_destroy(uniform);
    pess_model_destroy(truth);
    pess_mdp_destroy(mdp);
    return status;
}

static void theorems_say_that_memory_ran_out(void **state) {
    (void)state;
    assert_true(fail_in_turn(compute_theorems, NULL, 10) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_says_that_memory_ran_out),
        cmocka_unit_test(every_method_says_that_memory_ran_out),
        cmocka_unit_test(gaps_by_every_uncertainty_say_that_memory_ran_out),
        cmocka_unit_test(long_runs_say_that_memory_ran_out),
        cmocka_unit_test(theorems_say_that_memory_ran_out),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
