/* After fork() the child has none of the parent's threads: it must open no team, or it waits for ever. */
#include "logs.h"

#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 120 }; /* of the alarm that ends a child that hangs */

static int count_and_solve(int64_t rows, int threads) {
    pess_error error = {0};
    pess_dataset *data = logs_random(rows, 200, 4, LOGS_EPISODES | LOGS_ENDS, 1);
    pess_counts *counts = NULL;
    pess_problem *problem = NULL;
    pess_solution *solution = NULL;
    pess_inspection *inspection = NULL;
    pess_solve_options options = pess_solve_options_defaults();
    options.threads = threads;
    options.gamma = 0.5; /* few sweeps: whether teams are opened is what is tried */
    pess_status status = pess_counts_create(data, threads, &counts, &error);
    if (status == PESS_OK) status = pess_dataset_inspect(data, &inspection, &error);
    if (status == PESS_OK) status = pess_problem_create(counts, NULL, NULL, &problem, &error);
    static const char *const algorithms[] = {"ua", "robust", "proximal", "duipi"};
    for (int i = 0; i < 4 && status == PESS_OK; i++) {
        options.algorithm = algorithms[i];
        status =
            pess_solve(counts, pess_problem_model(problem), pess_problem_start(problem), &options, &solution, &error);
        pess_solution_destroy(solution);
        solution = NULL;
    }
    pess_problem_destroy(problem);
    pess_inspection_destroy(inspection);
    pess_counts_destroy(counts);
    pess_dataset_destroy(data);
    return status == PESS_OK ? 0 : 1;
}

static int make_and_simulate(int threads) {
    pess_error error = {0};
    pess_garnet_options garnet = pess_garnet_options_defaults();
    pess_simulate_options simulate = pess_simulate_options_defaults();
    garnet.threads = simulate.threads = threads;
    simulate.transitions = 1000;
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    pess_policy *policy = NULL;
    pess_dataset *data = NULL;
    double start[50];
    pess_status status = pess_mdp_garnet(&garnet, &mdp, &error);
    if (status == PESS_OK) status = pess_mdp_model(mdp, threads, &model, &error);
    if (status == PESS_OK) status = pess_start_uniform(model, start, &error);
    if (status == PESS_OK) status = pess_policy_uniform(model, &policy, &error);
    if (status == PESS_OK) status = pess_simulate(mdp, policy, start, &simulate, &data, &error);
    pess_dataset_destroy(data);
    pess_policy_destroy(policy);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
    return status == PESS_OK ? 0 : 1;
}

static int certify_and_choose(int threads) {
    pess_error error = {0};
    pess_dataset *data = logs_random(3000, 20, 3, LOGS_EPISODES | LOGS_ENDS, 2);
    pess_certify_options certify = pess_certify_options_defaults();
    pess_choose_options choose = pess_choose_options_defaults();
    certify.threads = choose.threads = threads;
    certify.gamma = 0.5;
    choose.families = "naive,ua";
    pess_certificate *certificate = NULL;
    pess_choice *choice = NULL;
    pess_status status = pess_certify(data, &certify, &certificate, &error);
    if (status == PESS_OK) status = pess_choose(data, &choose, &choice, &error);
    pess_choice_destroy(choice);
    pess_certificate_destroy(certificate);
    pess_dataset_destroy(data);
    return status == PESS_OK ? 0 : 1;
}

enum { GAMES = 512 };

static int step_all(pess_batch *batch) {
    static const int32_t nothing[GAMES];
    pess_error error = {0};
    return pess_batch_step(batch, nothing, &(pess_batch_out){0}, &error) == PESS_OK ? 0 : 1;
}

static int play(void) {
    pess_error error = {0};
    pess_play_options options = pess_play_options_defaults();
    pess_play_result result;
    options.game = "breakout";
    options.episodes = 8;
    return pess_play(NULL, &options, &result, &error) == PESS_OK ? 0 : 1;
}

/* What a child does with `work` must end. */
static void in_a_child(int (*work)(int threads, pess_batch *batch), int threads, pess_batch *batch) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(SECONDS);
        _exit(work(threads, batch));
    }
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    if (WIFSIGNALED(result)) fail_msg("the child with threads = %d hung", threads);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
}

static int tabular(int threads, pess_batch *unused) {
    (void)unused;
    return count_and_solve(2000, threads) + count_and_solve(150000, threads + 1) + make_and_simulate(threads) +
           certify_and_choose(threads);
}

static int games(int threads, pess_batch *batch) {
    (void)threads;
    return step_all(batch) + play();
}

static void a_child_counts_and_solves(void **state) {
    (void)state;
    assert_int_equal(count_and_solve(400000, 2), 0); /* the parent has a team now */
    for (int threads = 0; threads < 2; threads++) in_a_child(tabular, threads, NULL);
}

/* The batch keeps the number of threads that it was made for, and the child has none of them. */
static void a_child_goes_on_with_its_parents_games(void **state) {
    (void)state;
    pess_error error = {0};
    pess_batch *batch = NULL;
    pess_env_options options = pess_env_options_defaults();
    options.game = "breakout";
    assert_int_equal(pess_batch_create(&options, GAMES, 2, &batch, &error), PESS_OK);
    assert_int_equal(step_all(batch) + play(), 0);
    in_a_child(games, 2, batch);
    assert_int_equal(step_all(batch), 0);
    pess_batch_destroy(batch);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_child_counts_and_solves),
                                       cmocka_unit_test(a_child_goes_on_with_its_parents_games)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
