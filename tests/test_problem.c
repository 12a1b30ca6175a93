/* A log ready to solve: what it rests on, and where a policy rests on few samples. */
#include "logs.h"

#include <math.h>

#define EPISODES                                                                                                       \
    "episode,state,action,reward,next_state,terminal,truncated\n"                                                      \
    "a,0,0,1,1,0,0\na,1,0,0,2,1,0\nb,0,0,0,1,0,0\nb,1,1,1,0,0,1\n"

static pess_problem *problem_of(const char *text, const pess_read_options *read, const pess_model_options *model,
                                const char *start) {
    pess_error error = {0};
    pess_problem *problem = NULL;
    const char *path = logs_file("problem.csv", text, strlen(text));
    if (pess_problem_read(path, read, model, start, &problem, &error) != PESS_OK) fail_msg("%s", error.message);
    return problem;
}

static void assert_codes(const pess_problem *problem, const char *const *codes, int count) {
    for (int i = 0; i < count; i++) {
        const pess_assumption *found = pess_problem_assumption(problem, (size_t)i);
        assert_non_null(found);
        assert_string_equal(found->code, codes[i]);
        assert_null(strstr(found->text, "--")); /* options are the command line's business */
    }
    assert_null(pess_problem_assumption(problem, (size_t)count));
}

static void what_is_not_declared_is_assumed_and_said(void **state) {
    (void)state;
    static const char *const codes[] = {"states-from-log", "actions-from-log", "rewards-from-log",
                                        "start-from-log",  "unseen-pairs",     "cutoffs-continue"};
    pess_problem *problem = problem_of(EPISODES, NULL, NULL, NULL);
    assert_codes(problem, codes, 6);
    const double *start = pess_problem_start(problem);
    assert_true(start[0] == 1 && start[1] == 0 && start[2] == 0);
    assert_true(pess_problem_assumption(problem, 0)->values[0] == 3); /* states */
    assert_true(pess_problem_assumption(problem, 2)->values[1] == 1); /* largest reward */
    assert_true(pess_problem_assumption(problem, 3)->values[0] == 2); /* episodes */
    assert_true(pess_problem_assumption(problem, 4)->values[0] == 1); /* (0,1) of the four pairs of states 0 and 1 */
    assert_true(pess_problem_assumption(problem, 4)->values[1] == 4);
    assert_non_null(strstr(pess_problem_assumption(problem, 4)->text, "a random reward"));
    pess_problem_destroy(problem);
}

static void what_is_declared_is_not_assumed(void **state) {
    (void)state;
    static const char *const codes[] = {"start-uniform", "unseen-pairs", "cutoffs-continue"};
    pess_read_options read = pess_read_options_defaults();
    pess_model_options model = pess_model_options_defaults();
    read.states = 3;
    read.actions = 2;
    model.reward_range[0] = 0, model.reward_range[1] = 1;
    static const char *const words[] = {"a random reward", "for ever", "same state"};
    for (int unseen = 0; unseen < 3; unseen++) {
        model.unseen = (pess_unseen)unseen;
        pess_problem *problem = problem_of(EPISODES, &read, &model, "uniform");
        assert_codes(problem, codes, 3);
        assert_non_null(strstr(pess_problem_assumption(problem, 1)->text, words[unseen]));
        pess_problem_destroy(problem);
    }
    /* A start from a file is declared; a log without a gap and without cut-off ends takes nothing else for granted. */
    static const char rho[] = "state,probability\n0,0.25\n1,0.75\n";
    char path[1000];
    (void)snprintf(path, sizeof path, "%s", logs_file("rho.csv", rho, strlen(rho)));
    read.states = 2;
    read.actions = 1;
    pess_problem *problem = problem_of("state,action,reward,next_state\n0,0,1,1\n1,0,0,0\n", &read, &model, path);
    assert_codes(problem, NULL, 0);
    pess_problem_destroy(problem);
}

static void solutions_carry_their_assumptions(void **state) {
    (void)state;
    pess_error error = {0};
    pess_solve_options options = pess_solve_options_defaults();
    pess_model_options model = pess_model_options_defaults();
    model.reward_range[0] = 0, model.reward_range[1] = 100;
    pess_problem *problem = problem_of(EPISODES, NULL, &model, NULL);
    pess_solution *solution = NULL;
    for (int absorbed = 0; absorbed < 2; absorbed++) {
        options.alpha = absorbed ? NAN : 2;
        options.absorbed_alpha = absorbed ? 2 : NAN;
        assert_int_equal(pess_solve(pess_problem_counts(problem), pess_problem_model(problem),
                                    pess_problem_start(problem), &options, &solution, &error),
                         PESS_OK);
        const pess_assumption *own;
        size_t i = 0;
        for (; (own = pess_problem_assumption(problem, i)) != NULL; i++)
            assert_string_equal(pess_solution_assumption(solution, i)->text, own->text);
        assert_null(pess_solution_assumption(solution, i));
        pess_solution_destroy(solution);
    }
    pess_problem_destroy(problem);
}

/* γ = 0.5, from state 0: half of the weight of a step stays at 0 and 1 in turn, so d(0) : d(1) = 2 : 1. */
static void thin_places_by_hand(void **state) {
    (void)state;
    pess_error error = {0};
    pess_solve_options options = pess_solve_options_defaults();
    options.gamma = 0.5;
    pess_model_options model = pess_model_options_defaults();
    model.unseen = PESS_UNSEEN_WORST;
    pess_problem *problem =
        problem_of("episode,state,action,reward,next_state\n1,0,0,1,1\n1,1,0,0,0\n1,0,0,0,1\n1,1,0,0,0\n1,0,0,0,1\n"
                   "1,1,0,0,0\n1,0,0,0,1\n1,1,1,0,0\n",
                   NULL, &model, NULL);
    const double rows[] = {1, 0, 0.75, 0.25};
    pess_policy *policy = NULL;
    assert_int_equal(pess_policy_create(2, 2, rows, &policy, &error), PESS_OK);
    pess_thin_place places[2];
    int64_t found = 0;
    assert_int_equal(pess_thin_places(pess_problem_counts(problem), pess_problem_model(problem),
                                      pess_problem_start(problem), policy, &options, 2, places, &found, &error),
                     PESS_OK);
    /* weights: (0,0) 2/3/√4 = 0.333, (1,0) 1/4/√3 = 0.144, (1,1) 1/12/√1 = 0.083 */
    assert_int_equal(found, 2);
    assert_true(places[0].state == 0 && places[0].action == 0 && places[0].count == 4);
    assert_true(fabs(places[0].visits - 2.0 / 3) < 1e-9);
    assert_true(places[1].state == 1 && places[1].action == 0 && places[1].count == 3);
    assert_true(fabs(places[1].visits - 0.25) < 1e-9);
    pess_policy_destroy(policy);
    pess_problem_destroy(problem);
}

/* Values and policy, in one piece; NULL: refused for its arguments. */
static double *answer(const pess_problem *problem, const pess_solve_options *options) {
    enum { STATES = 4, ACTIONS = 2 };
    pess_error error = {0};
    pess_solution *solution = NULL;
    const pess_status status = pess_solve(pess_problem_counts(problem), pess_problem_model(problem),
                                          pess_problem_start(problem), options, &solution, &error);
    if (status == PESS_ARGUMENT) return NULL;
    if (status != PESS_OK) fail_msg("%s", error.message);
    double *found = calloc(STATES * (2 + ACTIONS), sizeof *found);
    memcpy(found, pess_solution_values(solution), STATES * sizeof *found);
    memcpy(found + STATES, pess_solution_naive_values(solution), STATES * sizeof *found);
    memcpy(found + 2 * STATES, pess_policy_probabilities(pess_solution_policy(solution)),
           STATES * ACTIONS * sizeof *found);
    pess_solution_destroy(solution);
    return found;
}

#define FEW_ROWS                                                                                                       \
    "state,action,reward,next_state\n0,0,1,1\n0,0,0,2\n0,0,1,1\n0,1,0.5,3\n1,0,0,0\n1,1,1,2\n1,1,0.25,3\n"             \
    "2,0,0,3\n2,0,1,0\n2,1,1,1\n2,1,1,1\n3,0,0,0\n3,0,0.5,3\n3,1,0.75,2\n"

/* The same bytes for every algorithm with every uncertainty; most of them then hold n(s,a) alone. */
static void what_is_not_read_may_go(void **state) {
    (void)state;
    int gone = 0, kept = 0;
    const pess_algorithm_info *algorithm;
    for (size_t a = 0; (algorithm = pess_algorithm_list(a)) != NULL; a++)
        for (size_t u = 0; u == 0 || pess_uncertainty_list(u - 1) != NULL; u++) {
            pess_solve_options options = pess_solve_options_defaults();
            options.algorithm = algorithm->name;
            options.uncertainty = u > 0 ? pess_uncertainty_list(u - 1)->name : NULL;
            options.gamma = 0.9;
            pess_problem *problem = problem_of(FEW_ROWS, NULL, NULL, NULL);
            double *all = answer(problem, &options);
            pess_problem_keep_for(problem, &options);
            double *rest = answer(problem, &options);
            pess_counts_arrays arrays;
            pess_counts_get_arrays(pess_problem_counts(problem), &arrays);
            assert_true((all == NULL) == (rest == NULL));
            if (all != NULL) assert_memory_equal(all, rest, 16 * sizeof *all);
            *(arrays.next_count == NULL ? &gone : &kept) += all != NULL;
            free(all);
            free(rest);
            pess_problem_destroy(problem);
        }
    assert_true(gone > 10);
    assert_true(kept > 3);
}

/* No options mean the defaults: ua by the count, which needs n(s,a) alone. */
static void no_options_keep_what_the_default_reads(void **state) {
    (void)state;
    pess_problem *problem = problem_of(FEW_ROWS, NULL, NULL, NULL);
    pess_problem_keep_for(NULL, NULL);
    pess_problem_keep_for(problem, NULL);
    assert_true(isnan(pess_counts_mean_reward(pess_problem_counts(problem), 0, 0)));
    const pess_solve_options options = pess_solve_options_defaults();
    double *found = answer(problem, &options);
    assert_non_null(found);
    free(found);
    pess_problem_destroy(problem);
}

static void what_has_gone_is_asked_for(void **state) {
    (void)state;
    pess_error error = {0};
    pess_model *model = NULL;
    pess_solve_options options = pess_solve_options_defaults();
    pess_problem *problem = problem_of(FEW_ROWS, NULL, NULL, NULL);
    const pess_counts *counts = pess_problem_counts(problem);
    options.algorithm = "naive";
    pess_problem_keep_for(problem, &options);
    assert_int_equal(pess_counts_pair(counts, 0, 0), 3);
    assert_true(isnan(pess_counts_mean_reward(counts, 0, 0)));
    assert_int_equal(pess_model_estimate(counts, NULL, &model, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "n(s,a)"));
    options.algorithm = "duipi";
    assert_null(answer(problem, &options));
    options.algorithm = "ua";
    options.uncertainty = "bernstein";
    assert_null(answer(problem, &options));
    options.uncertainty = "hoeffding";
    double *found = answer(problem, &options);
    assert_non_null(found);
    free(found);
    pess_problem_destroy(problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_not_declared_is_assumed_and_said),
                                       cmocka_unit_test(what_is_declared_is_not_assumed),
                                       cmocka_unit_test(solutions_carry_their_assumptions),
                                       cmocka_unit_test(thin_places_by_hand),
                                       cmocka_unit_test(what_is_not_read_may_go),
                                       cmocka_unit_test(no_options_keep_what_the_default_reads),
                                       cmocka_unit_test(what_has_gone_is_asked_for)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
