/* Finite horizons: backward induction against all policies, evaluation against forward sums, files with steps. */
#include "fixture.h"
#include "scratch.h"

#include "solve/horizon.h"

enum { STATES = 3, ACTIONS = 2, STEPS = 3, POLICIES = 512 };

static const fixture_shape shape = {.states = STATES, .actions = ACTIONS, .branching = 2, .end = 0.3};

static pess_solve_options options_for(const char *algorithm, double gamma, int64_t horizon) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = algorithm;
    options.gamma = gamma;
    options.horizon = horizon;
    return options;
}

/* E_ρ Σ_{t<H} γ^t r_t by carrying the law of the state forward. `tables` [steps*S*A]; one for all where steps is 1. */
static double forward(const pess_model *model, const double *start, const double *tables, int64_t steps, double gamma,
                      int64_t horizon) {
    double law[64], next[64], sum = 0, discount = 1;
    memcpy(law, start, (size_t)model->states * sizeof *law);
    for (int64_t t = 0; t < horizon; t++, discount *= gamma) {
        const double *pi = tables + (steps > 1 ? t : 0) * model->states * model->actions;
        memset(next, 0, sizeof next);
        for (int64_t z = 0; z < model->states * model->actions; z++) {
            const double mass = law[z / model->actions] * pi[z];
            if (mass == 0) continue;
            sum += discount * mass * model->reward[z];
            for (int64_t k = model->row[z]; k < model->row[z + 1]; k++)
                next[model->next[k]] += mass * model->probability[k];
        }
        memcpy(law, next, sizeof law);
    }
    return sum;
}

static void backward_induction_finds_the_best_of_all_policies(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        pess_error error = {0};
        pess_model *model = fixture_model(&shape, seed);
        double *start = fixture_start(model), best = -INFINITY;
        for (int number = 0; number < POLICIES; number++) {
            double pi[STEPS * STATES * ACTIONS] = {0};
            for (int i = 0; i < STEPS * STATES; i++) pi[i * ACTIONS + (number >> i & 1)] = 1;
            best = fmax(best, forward(model, start, pi, STEPS, 1, STEPS));
        }
        pess_solution *solution = NULL, *again = NULL;
        const pess_solve_options options = options_for("naive", 1, STEPS);
        pess_solution_info info;
        OK(pess_solve(NULL, model, start, &options, &solution, &error));
        pess_solution_get_info(solution, &info);
        assert_true(fabs(info.value - best) <= 1e-12);
        /* Its policy, evaluated, and carried forward. */
        const pess_policy *policy = pess_solution_policy(solution);
        assert_int_equal(policy->steps, STEPS);
        assert_true(fabs(forward(model, start, policy->probability, STEPS, 1, STEPS) - best) <= 1e-12);
        OK(pess_evaluate(NULL, model, start, policy, &options, &again, &error));
        pess_solution_get_info(again, &info);
        assert_true(fabs(info.value - best) <= 1e-12);
        pess_solution_destroy(solution);
        pess_solution_destroy(again);
        free(start);
        pess_model_destroy(model);
    }
}

/* One table for all steps; visits; and a horizon so long that it makes no difference. */
static void evaluation_agrees_with_walking_forward(void **state) {
    (void)state;
    const fixture_shape larger = {.states = 20, .actions = 3, .branching = 3, .end = 0.2};
    pess_error error = {0};
    pess_model *model = fixture_model(&larger, 3);
    double *start = fixture_start(model), visits[60], sum = 0;
    pess_policy *policy = NULL;
    pess_solution *solution = NULL, *forever = NULL;
    pess_solution_info info;
    OK(pess_policy_uniform(model, &policy, &error));
    for (int64_t horizon = 1; horizon <= 40; horizon += 13) {
        const pess_solve_options options = options_for("naive", 0.9, horizon);
        OK(pess_evaluate(NULL, model, start, policy, &options, &solution, &error));
        pess_solution_get_info(solution, &info);
        assert_true(fabs(info.value - forward(model, start, policy->probability, 1, 0.9, horizon)) <= 1e-12);
        /* Visits weigh the rewards to the same sum. */
        OK(pess__horizon_visits(model, start, policy, 0.9, horizon, visits, &error));
        sum = 0;
        for (int64_t z = 0; z < 60; z++) sum += visits[z] * model->reward[z];
        assert_true(fabs(info.value - sum) <= 1e-12);
        pess_solution_destroy(solution);
    }
    pess_solve_options options = options_for("naive", 0.9, 400);
    OK(pess_solve(NULL, model, start, &options, &solution, &error));
    options.horizon = 0;
    OK(pess_solve(NULL, model, start, &options, &forever, &error));
    assert_true(fixture_difference(pess_solution_values(solution), pess_solution_values(forever), 20) <= 1e-8);
    pess_solution_destroy(solution);
    pess_solution_destroy(forever);
    pess_policy_destroy(policy);
    free(start);
    pess_model_destroy(model);
}

/* Every algorithm either solves, and then evaluating its policy gives its value, or says that it takes no horizon. */
static void every_algorithm_takes_or_refuses_a_horizon(void **state) {
    (void)state;
    const fixture_shape larger = {.states = 10, .actions = 3, .branching = 3, .end = 0.2};
    pess_model *model = fixture_model(&larger, 6);
    pess_counts *counts = fixture_counts(model, 40, 6);
    double *start = fixture_start(model);
    int solved = 0;
    const pess_algorithm_info *algorithm;
    for (size_t i = 0; (algorithm = pess_algorithm_list(i)) != NULL; i++) {
        pess_error error = {0};
        pess_solution *solution = NULL, *again = NULL;
        pess_solution_info info, value;
        const pess_solve_options options = options_for(algorithm->name, 0.95, 7);
        const pess_status status = pess_solve(counts, model, start, &options, &solution, &error);
        if (status != PESS_OK) {
            assert_int_equal(status, PESS_ARGUMENT);
            assert_non_null(strstr(error.message, "takes no horizon"));
            continue;
        }
        solved++;
        OK(pess_evaluate(counts, model, start, pess_solution_policy(solution), &options, &again, &error));
        pess_solution_get_info(solution, &info);
        pess_solution_get_info(again, &value);
        assert_true(fabs(info.value - value.value) <= 1e-12);
        assert_true(fabs(info.naive_value - value.naive_value) <= 1e-12);
        assert_true(info.value <= info.naive_value + 1e-12);
        pess_solution_destroy(solution);
        pess_solution_destroy(again);
    }
    assert_true(solved >= 7);
    free(start);
    pess_counts_destroy(counts);
    pess_model_destroy(model);
}

static void refused(const char *path, const pess_counts *counts, const pess_model *model, int64_t horizon,
                    const char *sentence) {
    pess_error error = {0};
    pess_policy *policy = NULL;
    assert_int_equal(pess_policy_read_for_log(path, counts, model, PESS_UNKNOWN_REFUSE, horizon, &policy, NULL, &error),
                     PESS_INPUT);
    if (strstr(error.message, sentence) == NULL) fail_msg("'%s' lacks '%s'", error.message, sentence);
}

static void files_keep_the_steps(void **state) {
    (void)state;
    pess_error error = {0};
    pess_model *model = fixture_model(&shape, 4);
    pess_counts *counts = fixture_counts(model, 20, 4);
    double *start = fixture_start(model);
    pess_solution *solution = NULL;
    pess_policy *back = NULL;
    const pess_solve_options options = options_for("proximal", 0.9, 4);

    OK(pess_solve(counts, model, start, &options, &solution, &error));
    const pess_policy *policy = pess_solution_policy(solution);
    const char *path = scratch_path(0, "csv");
    OK(pess_policy_write(policy, path, NULL, NULL, &error));
    OK(pess_policy_read_for_log(path, counts, model, PESS_UNKNOWN_REFUSE, 4, &back, NULL, &error));
    assert_int_equal(back->steps, 4);
    for (int64_t i = 0; i < 4 * STATES * ACTIONS; i++)
        assert_true(fabs(back->probability[i] - policy->probability[i]) <= 1e-15);
    assert_ptr_equal(pess_policy_step_row(back, 2, 1), back->probability + (2 * STATES + 1) * ACTIONS);
    assert_null(pess_policy_step_row(back, 4, 1));
    refused(path, counts, model, 0, "expected one for all steps");
    refused(path, counts, model, 3, "a step before the horizon");
    refused(path, counts, model, 5, "(at some step)");
    /* Who needs one table for all steps says so. */
    double law[STATES];
    assert_int_equal(pess_stationary(model, back, law, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "a table for each of 4 steps"));
    scratch_remove(path);
    pess_policy_destroy(back);
    pess_solution_destroy(solution);
    free(start);
    pess_counts_destroy(counts);
    pess_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(backward_induction_finds_the_best_of_all_policies),
                                       cmocka_unit_test(evaluation_agrees_with_walking_forward),
                                       cmocka_unit_test(every_algorithm_takes_or_refuses_a_horizon),
                                       cmocka_unit_test(files_keep_the_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
