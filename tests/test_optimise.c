/* Policy, value and modified policy iteration agree with one another, with brute force and with the definition. */
#include "fixture.h"

static const fixture_shape shapes[] = {
    FIXTURE_SHAPES,
    {.states = 400, .actions = 3, .branching = 5, .uniform = 0.02, .end = 0.01},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static pess_solve_options options_for(double gamma, pess_method method, pess_evaluation evaluation) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = gamma;
    options.method = method;
    options.evaluation = evaluation;
    return options;
}

/* sup|v − Tv| from the definition. */
static double bellman_residual(const pess_model *model, double gamma, const double *v) {
    double most = 0;
    for (int64_t s = 0; s < model->states; s++) {
        double best = model->terminal[s] ? 0 : -INFINITY;
        for (int64_t z = s * model->actions; z < (s + 1) * model->actions; z++)
            if (model->kind[z] != PESS_ROW_NONE) {
                const double q = model->reward[z] + gamma * fixture_next_value(model, gamma, z, v);
                best = q > best ? q : best;
            }
        if (fabs(best - v[s]) > most) most = fabs(best - v[s]);
    }
    return most;
}

static void every_method_finds_the_optimum(void **state) {
    (void)state;
    const double gammas[] = {0, 0.6, 0.98};
    for (size_t i = 0; i < SHAPES; i++)
        for (size_t g = 0; g < 3; g++) {
            pess_error error = {0};
            pess_model *model = fixture_model(&shapes[i], 31 + i);
            double *start = fixture_start(model), *first = NULL;
            OK(pess__allocate(&first, model->states, sizeof(double), "first", &error));
            for (int method = PESS_METHOD_AUTO; method <= PESS_METHOD_GAUSS_SEIDEL; method++)
                for (int kind = PESS_EVALUATION_LU; kind <= PESS_EVALUATION_KRYLOV; kind++) {
                    const pess_solve_options options =
                        options_for(gammas[g], (pess_method)method, (pess_evaluation)kind);
                    pess_solution *solution = NULL;
                    OK(pess_solve(NULL, model, start, &options, &solution, &error));
                    const double *v = pess_solution_values(solution);
                    pess_solution_info info;
                    pess_solution_get_info(solution, &info);
                    assert_int_equal(info.outcome, PESS_OUTCOME_CONVERGED);
                    assert_true(info.residual <= 1.1e-10);
                    assert_true(fabs(info.residual - bellman_residual(model, gammas[g], v)) <= 1e-12);
                    double *truth = fixture_evaluate(model, pess_solution_policy(solution), gammas[g]);
                    assert_true(fixture_difference(v, truth, model->states) <= 1e-10 / (1 - gammas[g]));
                    free(truth);
                    if (method == PESS_METHOD_AUTO && kind == PESS_EVALUATION_LU)
                        memcpy(first, v, (size_t)model->states * sizeof(double));
                    assert_true(fixture_difference(v, first, model->states) <= 2e-10 / (1 - gammas[g]));
                    pess_solution_destroy(solution);
                }
            free(first);
            free(start);
            pess_model_destroy(model);
        }
}

/* No deterministic policy of a tiny model does better in any state. */
static void brute_force_does_no_better(void **state) {
    (void)state;
    const fixture_shape shape = {.states = 5, .actions = 3, .branching = 2, .end = 0.1, .uniform = 0.1};
    for (uint64_t seed = 0; seed < 10; seed++) {
        pess_error error = {0};
        pess_model *model = fixture_model(&shape, seed);
        double *start = fixture_start(model);
        const pess_solve_options options = options_for(0.95, PESS_METHOD_AUTO, PESS_EVALUATION_AUTO);
        pess_solution *solution = NULL;
        OK(pess_solve(NULL, model, start, &options, &solution, &error));
        pess_policy *policy = NULL;
        OK(pess__policy_allocate(5, 3, &policy, &error));
        for (int code = 0; code < 243; code++) {
            memset(policy->probability, 0, 15 * sizeof(double));
            for (int s = 0, rest = code; s < 5; s++, rest /= 3) policy->probability[3 * s + rest % 3] = 1;
            double *v = fixture_evaluate(model, policy, 0.95);
            for (int s = 0; s < 5; s++) assert_true(v[s] <= pess_solution_values(solution)[s] + 1e-9);
            free(v);
        }
        pess_policy_destroy(policy);
        pess_solution_destroy(solution);
        free(start);
        pess_model_destroy(model);
    }
}

/* γ = 1: the longest way through a layered graph, by hand. */
static void the_shortest_way_is_found_without_discount(void **state) {
    (void)state;
    enum { N = 60 };
    for (int method = PESS_METHOD_AUTO; method <= PESS_METHOD_GAUSS_SEIDEL; method++) {
        pess_error error = {0};
        pess_model *model = NULL;
        OK(pess__model_create(N, 2, 2 * N, &model, &error));
        model->reward_lo = -1;
        model->has_terminals = true;
        /* Action 0 steps by one at cost 1, action 1 by three at cost 2; past the end all is over. */
        for (int64_t z = 0; z < 2 * N; z++) {
            const int64_t next = z / 2 + (z % 2 == 0 ? 1 : 3);
            model->kind[z] = PESS_ROW_SPARSE;
            model->reward[z] = z % 2 == 0 ? -1 : -2;
            model->row[z + 1] = model->row[z];
            if (next >= N)
                model->end_mass[z] = 1;
            else {
                model->next[model->row[z]] = (uint32_t)next;
                model->probability[model->row[z + 1]++] = 1;
            }
        }
        double *start = fixture_start(model), v[N + 3] = {0};
        for (int s = N - 1; s >= 0; s--) v[s] = fmax(v[s + 1] - 1, v[s + 3] - 2);
        const pess_solve_options options = options_for(1, (pess_method)method, PESS_EVALUATION_AUTO);
        pess_solution *solution = NULL;
        OK(pess_solve(NULL, model, start, &options, &solution, &error));
        assert_true(fixture_difference(pess_solution_values(solution), v, N) <= 1e-10);
        pess_solution_destroy(solution);
        free(start);
        pess_model_destroy(model);
    }
}

/* All actions alike: the smallest wins, in every method. */
static void ties_go_to_the_smallest_action(void **state) {
    (void)state;
    const fixture_shape shape = {.states = 30, .actions = 4, .branching = 3};
    pess_error error = {0};
    pess_model *model = fixture_model(&shape, 5);
    for (int64_t z = 0; z < 120; z++) { /* action a of state s copies action 1 of s, but for action 0, which is worse */
        const int64_t from = z / 4 * 4 + 1;
        model->reward[z] = z % 4 == 0 ? 0 : model->reward[from] + (z % 4 == 3 ? 5e-9 : 0);
        memcpy(model->next + model->row[z], model->next + model->row[from], 3 * sizeof(uint32_t));
        memcpy(model->probability + model->row[z], model->probability + model->row[from], 3 * sizeof(double));
    }
    double *start = fixture_start(model);
    for (int method = PESS_METHOD_AUTO; method <= PESS_METHOD_GAUSS_SEIDEL; method++) {
        const pess_solve_options options = options_for(0.9, (pess_method)method, PESS_EVALUATION_AUTO);
        pess_solution *solution = NULL;
        OK(pess_solve(NULL, model, start, &options, &solution, &error));
        for (int64_t s = 0; s < 30; s++) assert_true(pess_policy_row(pess_solution_policy(solution), s)[1] == 1.0);
        pess_solution_info info;
        pess_solution_get_info(solution, &info);
        assert_int_equal(info.outcome, PESS_OUTCOME_CONVERGED);
        assert_true(info.residual <= 1.01e-8);
        pess_solution_destroy(solution);
    }
    free(start);
    pess_model_destroy(model);
}

/* Values so large that the tolerance is below their rounding: every method still ends, at the limit of doubles. */
static void large_rewards_end(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        pess_error error = {0};
        pess_model *model = fixture_model(&shapes[i], 81 + i);
        for (int64_t z = 0; z < model->states * model->actions; z++) model->reward[z] *= 1e9;
        model->reward_hi = 1e9;
        double *start = fixture_start(model);
        for (int method = PESS_METHOD_AUTO; method <= PESS_METHOD_GAUSS_SEIDEL; method++)
            for (int kind = PESS_EVALUATION_LU; kind <= PESS_EVALUATION_KRYLOV; kind++) {
                pess_solve_options options = options_for(0.98, (pess_method)method, (pess_evaluation)kind);
                options.max_iterations = 5000;
                pess_solution *solution = NULL;
                pess_solution_info info;
                OK(pess_solve(NULL, model, start, &options, &solution, &error));
                pess_solution_get_info(solution, &info);
                assert_int_equal(info.outcome, PESS_OUTCOME_CONVERGED);
                assert_true(info.residual <= 1e-13 * 50e9);
                pess_solution_destroy(solution);
            }
        free(start);
        pess_model_destroy(model);
    }
}

static bool stop_at_once(void *user, const char *what, double done, double total, const char *unit) {
    (void)what;
    (void)done;
    (void)total;
    (void)unit;
    ++*(int *)user;
    return false;
}

static void limits_are_outcomes(void **state) {
    (void)state;
    const fixture_shape shape = {.states = 2000, .actions = 3, .branching = 4};
    pess_error error = {0};
    pess_model *model = fixture_model(&shape, 9);
    double *start = fixture_start(model);
    pess_solution_info info;
    pess_solution *solution = NULL;
    pess_solve_options options = options_for(0.99, PESS_METHOD_VALUE_ITERATION, PESS_EVALUATION_AUTO);
    options.max_iterations = 3;
    OK(pess_solve(NULL, model, start, &options, &solution, &error));
    pess_solution_get_info(solution, &info);
    assert_int_equal(info.outcome, PESS_OUTCOME_ITERATION_LIMIT);
    assert_int_equal(info.iterations, 3);
    assert_true(fabs(info.residual - bellman_residual(model, 0.99, pess_solution_values(solution))) <= 1e-11);
    pess_solution_destroy(solution);

    options = options_for(0.99999, PESS_METHOD_VALUE_ITERATION, PESS_EVALUATION_AUTO);
    options.time_limit = 0.05;
    solution = NULL;
    OK(pess_solve(NULL, model, start, &options, &solution, &error));
    pess_solution_get_info(solution, &info);
    assert_int_equal(info.outcome, PESS_OUTCOME_TIME_LIMIT);
    pess_solution_destroy(solution);

    int calls = 0;
    solution = NULL;
    options.time_limit = 0;
    options.progress = (pess_progress){.report = stop_at_once, .user = &calls};
    assert_int_equal(pess_solve(NULL, model, start, &options, &solution, &error), PESS_INTERRUPTED);
    assert_int_equal(calls, 1);
    assert_null(solution);
    free(start);
    pess_model_destroy(model);
}

/* Wherever the clock cuts policy iteration short, what is called converged is. */
static void a_limit_of_time_is_not_convergence(void **state) {
    (void)state;
    pess_error error = {0};
    pess_gridworld_options grid = pess_gridworld_options_defaults();
    grid.rows = grid.cols = 50;
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    OK(pess_mdp_gridworld(&grid, &mdp, &error));
    OK(pess_mdp_model(mdp, 0, &model, &error));
    double *start = fixture_start(model);
    pess_solve_options options = options_for(0.9999, PESS_METHOD_POLICY_ITERATION, PESS_EVALUATION_KRYLOV);
    pess_solution_info info;
    int converged = 0;
    for (options.time_limit = 1e-4; converged == 0; options.time_limit *= 1.2) {
        pess_solution *solution = NULL;
        OK(pess_solve(NULL, model, start, &options, &solution, &error));
        pess_solution_get_info(solution, &info);
        converged = info.outcome == PESS_OUTCOME_CONVERGED;
        if (converged) assert_true(info.residual <= options.tolerance);
        pess_solution_destroy(solution);
    }
    free(start);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
}

/* Where there is one policy, its evaluation and the look that finds nothing better are one iteration; a limit of one
 * stops after one. */
static void iterations_of_small_problems_are_counted(void **state) {
    (void)state;
    pess_error error = {0};
    for (int64_t actions = 1; actions <= 4; actions += 3) {
        const fixture_shape shape = {.states = 40, .actions = actions, .branching = 4};
        pess_model *model = fixture_model(&shape, 21);
        double *start = fixture_start(model);
        for (int64_t most = 1; most <= 1000; most += 999) {
            pess_solve_options options = options_for(0.99, PESS_METHOD_AUTO, PESS_EVALUATION_AUTO);
            options.max_iterations = most;
            pess_solution_info info;
            pess_solution *solution = NULL;
            OK(pess_solve(NULL, model, start, &options, &solution, &error));
            pess_solution_get_info(solution, &info);
            const bool enough = most > 1 || actions == 1;
            assert_int_equal(info.outcome, enough ? PESS_OUTCOME_CONVERGED : PESS_OUTCOME_ITERATION_LIMIT);
            assert_true(most == 1 || actions == 1 ? info.iterations == 1 : info.iterations > 1);
            pess_solution_destroy(solution);
        }
        free(start);
        pess_model_destroy(model);
    }
}

static void same_bytes_at_any_number_of_threads(void **state) {
    (void)state;
    const fixture_shape shape = {.states = 140000, .actions = 2, .branching = 3, .uniform = 0.01};
    pess_error error = {0};
    pess_model *model = fixture_model(&shape, 13);
    double *start = fixture_start(model);
    for (int method = PESS_METHOD_AUTO; method <= PESS_METHOD_GAUSS_SEIDEL; method++) {
        pess_solution *solutions[3] = {NULL, NULL, NULL};
        for (int t = 0; t < 3; t++) {
            pess_solve_options options = options_for(0.7, (pess_method)method, PESS_EVALUATION_AUTO);
            options.tolerance = 1e-4;
            options.threads = 1 << t;
            OK(pess_solve(NULL, model, start, &options, &solutions[t], &error));
            assert_memory_equal(pess_solution_values(solutions[t]), pess_solution_values(solutions[0]),
                                (size_t)model->states * sizeof(double));
        }
        for (int t = 0; t < 3; t++) pess_solution_destroy(solutions[t]);
    }
    free(start);
    pess_model_destroy(model);
}

/* State s of one model is state n-1-s of the other. */
static void relabelling_changes_nothing(void **state) {
    (void)state;
    const fixture_shape shape = {.states = 1500, .actions = 3, .branching = 4, .uniform = 0.05, .end = 0.02};
    pess_error error = {0};
    pess_model *model = fixture_model(&shape, 17), *mirror = NULL;
    const int64_t n = model->states, actions = model->actions;
    OK(pess__model_create(n, actions, model->row[n * actions], &mirror, &error));
    mirror->reward_lo = model->reward_lo;
    mirror->reward_hi = model->reward_hi;
    mirror->has_terminals = model->has_terminals;
    for (int64_t z = 0; z < n * actions; z++) {
        const int64_t from = (n - 1 - z / actions) * actions + z % actions;
        mirror->reward[z] = model->reward[from];
        mirror->kind[z] = model->kind[from];
        mirror->end_mass[z] = model->end_mass[from];
        mirror->row[z + 1] = mirror->row[z];
        for (int64_t k = model->row[from + 1] - 1; k >= model->row[from]; k--) {
            const int64_t at = mirror->row[z + 1]++;
            mirror->next[at] = (uint32_t)(n - 1 - model->next[k]);
            mirror->probability[at] = model->probability[k];
        }
    }
    double *start = fixture_start(model);
    const pess_solve_options options = options_for(0.95, PESS_METHOD_AUTO, PESS_EVALUATION_AUTO);
    pess_solution *one = NULL, *two = NULL;
    OK(pess_solve(NULL, model, start, &options, &one, &error));
    OK(pess_solve(NULL, mirror, start, &options, &two, &error));
    for (int64_t s = 0; s < n; s++) {
        assert_true(fabs(pess_solution_values(one)[s] - pess_solution_values(two)[n - 1 - s]) <= 1e-8);
        assert_memory_equal(pess_policy_row(pess_solution_policy(one), s),
                            pess_policy_row(pess_solution_policy(two), n - 1 - s), 3 * sizeof(double));
    }
    pess_solution_destroy(one);
    pess_solution_destroy(two);
    free(start);
    pess_model_destroy(model);
    pess_model_destroy(mirror);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_method_finds_the_optimum),
                                       cmocka_unit_test(brute_force_does_no_better),
                                       cmocka_unit_test(the_shortest_way_is_found_without_discount),
                                       cmocka_unit_test(ties_go_to_the_smallest_action),
                                       cmocka_unit_test(large_rewards_end),
                                       cmocka_unit_test(limits_are_outcomes),
                                       cmocka_unit_test(a_limit_of_time_is_not_convergence),
                                       cmocka_unit_test(iterations_of_small_problems_are_counted),
                                       cmocka_unit_test(same_bytes_at_any_number_of_threads),
                                       cmocka_unit_test(relabelling_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
