/* Where inexact policy iteration begins, with many actions: it changes how long it takes and nothing of the result. */
#include "fixture.h"

enum { QUEUE = 1000, SPEEDS = 40 };

static pess_solution *solve(const pess_model *model, pess_method method, double gamma) {
    pess_error error = {0};
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = gamma;
    options.method = method;
    double *start = fixture_start(model);
    pess_solution *solution = NULL;
    OK(pess_solve(NULL, model, start, &options, &solution, &error));
    free(start);
    return solution;
}

/* A faster server costs now and shortens the queue later. Every sixteenth state lacks the fastest speeds. */
static pess_model *queue_model(void) {
    pess_error error = {0};
    pess_mdp_transition *list = NULL;
    OK(pess__allocate(&list, 3 * QUEUE * SPEEDS, sizeof *list, "outcomes", &error));
    int64_t count = 0;
    for (int64_t s = 0; s < QUEUE; s++)
        for (int64_t a = 0; a < (s % 16 == 3 ? SPEEDS / 2 : SPEEDS); a++) {
            const double speed = (double)a / (SPEEDS - 1), up = s + 1 < QUEUE ? 0.4 : 0, down = s > 0 ? 0.6 * speed : 0;
            const double reward = -(double)s / QUEUE - 0.5 * speed * speed;
            if (down > 0) list[count++] = (pess_mdp_transition){s, a, s - 1, down, reward};
            list[count++] = (pess_mdp_transition){s, a, s, 1 - up - down, reward};
            if (up > 0) list[count++] = (pess_mdp_transition){s, a, s + 1, up, reward};
        }
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    OK(pess_mdp_create(QUEUE, SPEEDS, list, count, &mdp, &error));
    OK(pess_mdp_model(mdp, 1, &model, &error));
    pess_mdp_destroy(mdp);
    free(list);
    return model;
}

static void agree(const pess_solution *one, const pess_solution *other, const pess_model *model) {
    const size_t bytes = (size_t)(model->states * model->actions) * sizeof(double);
    assert_memory_equal(pess_policy_probabilities(pess_solution_policy(one)),
                        pess_policy_probabilities(pess_solution_policy(other)), bytes);
    assert_true(fixture_difference(pess_solution_values(one), pess_solution_values(other), model->states) <= 1e-6);
}

static void a_queue_is_not_left_state_by_state(void **state) {
    (void)state;
    pess_model *model = queue_model();
    pess_solution *exact = solve(model, PESS_METHOD_POLICY_ITERATION, 0.9999);
    pess_solution *inexact = solve(model, PESS_METHOD_INEXACT_POLICY_ITERATION, 0.9999);
    pess_solution_info slow, fast;
    pess_solution_get_info(exact, &slow);
    pess_solution_get_info(inexact, &fast);
    assert_int_equal(fast.outcome, PESS_OUTCOME_CONVERGED);
    assert_true(slow.iterations > 3 * fast.iterations);
    agree(exact, inexact, model);
    pess_solution_destroy(exact);
    pess_solution_destroy(inexact);
    pess_model_destroy(model);
}

static void results_of_random_processes_are_the_same(void **state) {
    (void)state;
    const fixture_shape shapes[] = {
        {.states = 60, .actions = 32, .branching = 3, .missing = 0.5},
        {.states = 90, .actions = 50, .branching = 4, .terminals = 5, .end = 0.1, .uniform = 0.1, .sink = 0.1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            pess_model *model = fixture_model(&shapes[i], seed);
            pess_solution *exact = solve(model, PESS_METHOD_POLICY_ITERATION, 0.99);
            pess_solution *inexact = solve(model, PESS_METHOD_INEXACT_POLICY_ITERATION, 0.99);
            agree(exact, inexact, model);
            pess_solution_destroy(exact);
            pess_solution_destroy(inexact);
            pess_model_destroy(model);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_queue_is_not_left_state_by_state),
                                       cmocka_unit_test(results_of_random_processes_are_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
