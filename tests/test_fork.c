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

static void a_child_counts_and_solves(void **state) {
    (void)state;
    assert_int_equal(count_and_solve(400000, 2), 0); /* the parent has a team now */
    for (int threads = 0; threads < 2; threads++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(SECONDS);
            _exit(count_and_solve(2000, threads) + count_and_solve(150000, threads + 1) + make_and_simulate(threads));
        }
        int result = 0;
        assert_int_equal(waitpid(child, &result, 0), child);
        if (WIFSIGNALED(result)) fail_msg("the child with threads = %d hung", threads);
        assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_child_counts_and_solves)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
