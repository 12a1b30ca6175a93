/* γ = 1 where some policies never end: the best proper policy against all of them, and sentences where there is none.
 */
#include "fixture.h"

enum { STATES = 4, ACTIONS = 3, POLICIES = 81 };

static pess_solve_options undiscounted(const char *algorithm, pess_evaluation evaluation) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = algorithm;
    options.gamma = 1;
    options.evaluation = evaluation;
    return options;
}

/* Deterministic steps or coin flips between few states, rewards −1 or 0 on the way, so that no cycle gains; one pair in
 * five ends, with a reward of −2 to 3. Many policies go round for ever, some of them for nothing. */
static pess_model *cyclic_model(uint64_t seed) {
    pess_error error = {0};
    pess_model *model = NULL;
    OK(pess__model_create(STATES, ACTIONS, 2 * STATES * ACTIONS, &model, &error));
    pess__rng rng = pess__rng_stream(seed, "cyclic model", 0);
    model->reward_lo = -2;
    model->reward_hi = 3;
    model->has_terminals = true;
    for (int64_t z = 0; z < STATES * ACTIONS; z++) {
        const bool ends = pess__rng_below(&rng, 5) == 0;
        const uint32_t a = (uint32_t)pess__rng_below(&rng, STATES), b = (uint32_t)pess__rng_below(&rng, STATES);
        model->kind[z] = PESS_ROW_SPARSE;
        model->reward[z] = ends ? (double)pess__rng_below(&rng, 6) - 2 : -(double)pess__rng_below(&rng, 2);
        model->end_mass[z] = ends ? 1 : 0;
        model->row[z + 1] = model->row[z];
        if (ends) continue;
        const int successors = a == b ? 1 : 2;
        model->next[model->row[z]] = a < b ? a : b;
        model->next[model->row[z] + 1] = a < b ? b : a;
        model->probability[model->row[z]] = model->probability[model->row[z] + 1] = 1.0 / successors;
        model->row[z + 1] += successors;
    }
    return model;
}

static void policy_number(int number, double *pi) {
    memset(pi, 0, STATES * ACTIONS * sizeof *pi);
    for (int s = 0; s < STATES; s++, number /= ACTIONS) pi[s * ACTIONS + number % ACTIONS] = 1;
}

/* The largest value that a proper policy has in each state; false: there is none. */
static bool best_of_all(const pess_model *model, const double *start, double *best) {
    bool any = false;
    for (int number = 0; number < POLICIES; number++) {
        pess_error error = {0};
        double pi[STATES * ACTIONS];
        pess_policy *policy = NULL;
        pess_solution *solution = NULL;
        policy_number(number, pi);
        OK(pess_policy_create(STATES, ACTIONS, pi, &policy, &error));
        const pess_solve_options options = undiscounted("naive", PESS_EVALUATION_LU);
        const pess_status status = pess_evaluate(NULL, model, start, policy, &options, &solution, &error);
        if (status == PESS_OK) {
            for (int s = 0; s < STATES; s++) {
                const double v = pess_solution_values(solution)[s];
                best[s] = any ? fmax(best[s], v) : v;
            }
            any = true;
        }
        pess_solution_destroy(solution);
        pess_policy_destroy(policy);
    }
    return any;
}

static void the_best_proper_policy_is_found(void **state) {
    (void)state;
    const double start[STATES] = {0.25, 0.25, 0.25, 0.25};
    int solved = 0, refused = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        pess_error error = {0};
        pess_model *model = cyclic_model(seed);
        double best[STATES];
        const bool any = best_of_all(model, start, best);
        for (int kind = PESS_EVALUATION_LU; kind <= PESS_EVALUATION_KRYLOV; kind++) {
            pess_solution *solution = NULL, *again = NULL;
            const pess_solve_options options = undiscounted("naive", (pess_evaluation)kind);
            const pess_status status = pess_solve(NULL, model, start, &options, &solution, &error);
            if (!any) {
                assert_int_equal(status, PESS_ARGUMENT);
                assert_non_null(strstr(error.message, "no policy reaches an end"));
                refused++;
                continue;
            }
            if (status != PESS_OK) fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
            assert_true(fixture_difference(pess_solution_values(solution), best, STATES) <= 1e-9);
            /* The policy itself is proper, and worth that. */
            OK(pess_evaluate(NULL, model, start, pess_solution_policy(solution), &options, &again, &error));
            assert_true(fixture_difference(pess_solution_values(again), best, STATES) <= 1e-9);
            pess_solution_destroy(solution);
            pess_solution_destroy(again);
            solved++;
        }
        pess_model_destroy(model);
    }
    assert_true(solved > 100 && refused > 10);
}

/* n wards in a row, each of which one may stay in for nothing or leave; the last one pays 1. */
static pess_counts *wards(int64_t n, const pess_names *names, double stay_pays) {
    const int64_t rows = 2 * n;
    pess_error error = {0};
    pess_counts *counts = NULL;
    uint32_t *column = calloc((size_t)(3 * rows), sizeof *column);
    double *reward = calloc((size_t)rows, sizeof *reward);
    uint8_t *end = calloc((size_t)rows, 1);
    assert_true(column != NULL && reward != NULL && end != NULL);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t s = i / 2, action = i % 2;
        column[i] = (uint32_t)s;
        column[rows + i] = (uint32_t)action;
        column[2 * rows + i] = (uint32_t)(action == 0 ? s : s + 1);
        end[i] = action == 1 && s == n - 1 ? PESS_END_TERMINAL : PESS_END_NONE;
        reward[i] = action == 0 ? stay_pays : end[i] == PESS_END_TERMINAL;
    }
    const pess_columns columns = {.rows = rows,
                                  .state = column,
                                  .action = column + rows,
                                  .next_state = column + 2 * rows,
                                  .reward = reward,
                                  .end = end,
                                  .state_names = names};
    OK(pess_counts_from_columns(&columns, NULL, &counts, &error));
    free(column);
    free(reward);
    free(end);
    return counts;
}

/* Staying is action 0 and loses nothing, so ties must not be broken by the number of the action. Many states: the
 * linear systems are not solved by LU. */
static void staying_for_nothing_is_no_answer(void **state) {
    (void)state;
    static const char *const algorithms[] = {"naive", "ua", "proximal", "spibb", "soft-spibb", "ramdp", "rmin"};
    const int64_t sizes[] = {3, 300};
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof algorithms / sizeof *algorithms; k++) {
            pess_error error = {0};
            pess_counts *counts = wards(sizes[i], NULL, 0);
            pess_model_options declared = pess_model_options_defaults();
            declared.return_range[0] = 0, declared.return_range[1] = 1;
            pess_problem *problem = NULL;
            pess_solution *solution = NULL;
            OK(pess_problem_create(counts, &declared, "uniform", &problem, &error));
            pess_solve_options options = undiscounted(algorithms[k], PESS_EVALUATION_AUTO);
            options.min_count = 1;
            OK(pess_solve(counts, pess_problem_model(problem), pess_problem_start(problem), &options, &solution,
                          &error));
            const pess_policy *policy = pess_solution_policy(solution);
            for (int64_t s = 0; s < sizes[i]; s++) assert_true(pess_policy_row(policy, s)[1] > 0);
            for (int64_t s = 0; s < sizes[i]; s++)
                assert_true(fabs(pess_solution_naive_values(solution)[s] - 1) <= 1e-8);
            pess_solution_destroy(solution);
            pess_problem_destroy(problem);
            pess_counts_destroy(counts);
        }
}

/* Staying costs 1; the other action, which was never tried, leads anywhere and costs 1/4; the other state pays 1 and
 * ends. v = −1/4 + (v + 1)/2. */
static void a_uniform_row_may_be_the_only_way_out(void **state) {
    (void)state;
    pess_error error = {0};
    pess_model *model = NULL;
    pess_solution *solution = NULL;
    OK(pess__model_create(2, 2, 2, &model, &error));
    const pess_row_kind kinds[] = {PESS_ROW_SPARSE, PESS_ROW_UNIFORM, PESS_ROW_SPARSE, PESS_ROW_SPARSE};
    const double rewards[] = {-1, -0.25, 1, -1}, start[] = {1, 0};
    const int64_t rows[] = {0, 1, 1, 1, 2};
    model->reward_lo = -1;
    model->reward_hi = 1;
    model->has_terminals = true;
    for (int z = 0; z < 4; z++) model->kind[z] = (uint8_t)kinds[z], model->reward[z] = rewards[z];
    memcpy(model->row, rows, sizeof rows);
    model->end_mass[2] = 1;
    model->next[1] = 1;
    model->probability[0] = model->probability[1] = 1;
    const pess_solve_options options = undiscounted("naive", PESS_EVALUATION_AUTO);
    OK(pess_solve(NULL, model, start, &options, &solution, &error));
    assert_true(fabs(pess_solution_values(solution)[0] - 0.5) <= 1e-9);
    pess_solution_destroy(solution);
    pess_model_destroy(model);
}

static void states_are_named(void **state) {
    (void)state;
    static const char *const list[] = {"emergency", "ward", "rehabilitation", "home"};
    pess_error error = {0};
    pess_names *names = NULL;
    pess_problem *problem = NULL;
    pess_solution *solution = NULL;
    pess_policy *stays = NULL;
    OK(pess_names_create(list, 4, &names, &error));
    pess_counts *counts = wards(3, names, 0);
    OK(pess_problem_create(counts, NULL, "uniform", &problem, &error));
    const double pi[8] = {0, 1, 1, 0, 0, 1, 0, 0};
    OK(pess_policy_create(4, 2, pi, &stays, &error));
    pess_solve_options options = undiscounted("naive", PESS_EVALUATION_AUTO);
    const pess_model *model = pess_problem_model(problem);
    const double *start = pess_problem_start(problem);
    assert_int_equal(pess_evaluate(counts, model, start, stays, &options, &solution, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "from state 'emergency' the policy never reaches an end"));
    options.method = PESS_METHOD_VALUE_ITERATION;
    assert_int_equal(pess_solve(counts, model, start, &options, &solution, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "from state 'emergency' a policy can go on for ever"));
    pess_policy_destroy(stays);
    pess_problem_destroy(problem);
    pess_counts_destroy(counts);
    /* Paid for staying: no best policy. */
    counts = wards(3, names, 0.5);
    OK(pess_problem_create(counts, NULL, "uniform", &problem, &error));
    options.method = PESS_METHOD_AUTO;
    assert_int_equal(
        pess_solve(counts, pess_problem_model(problem), pess_problem_start(problem), &options, &solution, &error),
        PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "from state 'emergency' a policy can collect reward for ever"));
    pess_problem_destroy(problem);
    pess_counts_destroy(counts);
    pess_names_destroy(names);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_proper_policy_is_found), cmocka_unit_test(staying_for_nothing_is_no_answer),
        cmocka_unit_test(a_uniform_row_may_be_the_only_way_out), cmocka_unit_test(states_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
