/* An uncertainty that the caller brings: the same numbers as `count` give the same policy, it is called a heuristic,
 * and what it refuses or computes wrongly is refused with its name. */
#include "logs.h"

#include "certify/certificate.h"

#include <math.h>
#include <string.h>

typedef struct own_case {
    int64_t called;
    double sign; /* of what it computes; 0: it refuses */
} own_case;

static bool inverse_root(void *user, const pess_counts *counts, const pess_model *model, double *u) {
    own_case *own = user;
    pess_counts_arrays arrays;
    pess_counts_get_arrays(counts, &arrays);
    assert_int_equal(pess_model_states(model), arrays.states);
    own->called++;
    for (int64_t z = 0; z < arrays.states * arrays.actions; z++)
        u[z] = own->sign * (arrays.pair[z] > 0 ? 1 / sqrt((double)arrays.pair[z]) : INFINITY);
    return own->sign != 0;
}

static pess_status solve(const pess_own_uncertainty *own, const char *algorithm, pess_solution **out,
                         pess_error *error) {
    pess_dataset *data = logs_random(5000, 40, 3, LOGS_EPISODES | LOGS_ENDS, 3);
    pess_counts *counts = NULL;
    pess_problem *problem = NULL;
    assert_int_equal(pess_counts_create(data, 1, &counts, error), PESS_OK);
    assert_int_equal(pess_problem_create(counts, NULL, NULL, &problem, error), PESS_OK);
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = algorithm;
    options.own_uncertainty = own;
    if (own != NULL)
        options.alpha = 1;
    else
        options.absorbed_alpha = 1;
    const pess_status status =
        pess_solve(counts, pess_problem_model(problem), pess_problem_start(problem), &options, out, error);
    pess_problem_destroy(problem);
    pess_counts_destroy(counts);
    pess_dataset_destroy(data);
    return status;
}

static void the_callers_numbers_are_used(void **state) {
    (void)state;
    own_case mine = {.sign = 1};
    const pess_own_uncertainty own = {sizeof own, "mine", inverse_root, &mine};
    pess_error error = {0};
    pess_solution *by_name = NULL, *by_caller = NULL;
    assert_int_equal(solve(NULL, "ua", &by_name, &error), PESS_OK);
    assert_int_equal(solve(&own, "ua", &by_caller, &error), PESS_OK);
    assert_true(mine.called > 0);
    pess_solution_info info, same;
    pess_solution_get_info(by_caller, &info);
    pess_solution_get_info(by_name, &same);
    assert_string_equal(info.uncertainty, "mine");
    assert_string_equal(info.holds_for, same.holds_for);
    assert_true(info.value == same.value);
    assert_memory_equal(pess_policy_probabilities(pess_solution_policy(by_name)),
                        pess_policy_probabilities(pess_solution_policy(by_caller)), 40 * 3 * sizeof(double));
    assert_memory_equal(pess_solution_uncertainty(by_name), pess_solution_uncertainty(by_caller),
                        40 * 3 * sizeof(double));
    pess_solution_destroy(by_name);
    pess_solution_destroy(by_caller);
}

static bool nothing(void *user, const pess_counts *counts, const pess_model *model, double *u) {
    (void)user, (void)counts;
    memset(u, 0, (size_t)(pess_model_states(model) * pess_model_actions(model)) * sizeof *u);
    return true;
}

/* Sure of everything: the naive policy. */
static void an_uncertainty_may_be_nothing(void **state) {
    (void)state;
    const pess_own_uncertainty own = {sizeof own, "nothing", nothing, NULL};
    pess_error error = {0};
    pess_solution *sure = NULL, *naive = NULL;
    assert_int_equal(solve(&own, "ua", &sure, &error), PESS_OK);
    assert_int_equal(solve(NULL, "naive", &naive, &error), PESS_OK);
    for (int64_t s = 0; s < 40; s++)
        assert_true(fabs(pess_solution_values(sure)[s] - pess_solution_values(naive)[s]) <= 1e-8);
    pess_solution_destroy(sure);
    pess_solution_destroy(naive);
}

static void wrong_ones_are_refused(void **state) {
    (void)state;
    own_case negative = {.sign = -1}, refusing = {0}, mine = {.sign = 1};
    const pess_own_uncertainty below = {sizeof below, "below", inverse_root, &negative},
                               none = {sizeof none, "none", inverse_root, &refusing},
                               fine = {sizeof fine, "fine", inverse_root, &mine},
                               empty = {sizeof empty, "empty", NULL, NULL}, unsized = {0, "fine", inverse_root, &mine};
    pess_error error = {0};
    pess_solution *solution = NULL;
    assert_int_equal(solve(&below, "ua", &solution, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "'below' at state"));
    assert_int_equal(solve(&none, "ua", &solution, &error), PESS_INTERRUPTED);
    assert_int_equal(solve(&fine, "robust", &solution, &error), PESS_ARGUMENT);
    assert_int_equal(solve(&fine, "naive", &solution, &error), PESS_ARGUMENT);
    assert_int_equal(solve(&empty, "ua", &solution, &error), PESS_ARGUMENT);
    assert_int_equal(solve(&unsized, "ua", &solution, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "found the size 0"));
    assert_null(solution);
}

static void it_is_a_candidate_of_the_split(void **state) {
    (void)state;
    own_case mine = {.sign = 1};
    const pess_own_uncertainty own = {sizeof own, "mine", inverse_root, &mine};
    pess_error error = {0};
    pess_dataset *data = logs_random(5000, 10, 3, LOGS_EPISODES | LOGS_ENDS, 3);
    pess_certify_options options = pess_certify_options_defaults();
    options.method = PESS_CERTIFY_SPLIT;
    options.own_uncertainty = &own;
    pess_certificate *certificate = NULL;
    assert_int_equal(pess_certify(data, &options, &certificate, &error), PESS_OK);
    bool tried = false;
    const pess_candidate *candidate;
    size_t candidates = 0, entries = 0;
    for (; (candidate = pess_certificate_candidate(certificate, candidates)) != NULL; candidates++)
        tried |= strcmp(candidate->name, "mine") == 0 && isfinite(candidate->predicted);
    assert_true(tried);
    while (pess_certificate_ledger(certificate, entries) != NULL) entries++;
    assert_true(candidates == (size_t)certificate->candidate_count && entries == (size_t)certificate->ledger_count);
    pess_certificate_destroy(certificate);
    pess_dataset_destroy(data);
}

/* Columns that are borrowed are those that were given, and the results from them those of a copy. */
static void borrowed_columns_are_not_copied(void **state) {
    (void)state;
    pess_error error = {0};
    pess_dataset *data = logs_random(1000, 10, 3, LOGS_EPISODES, 3), *borrowed = NULL;
    pess_columns columns, again;
    pess_dataset_columns(data, &columns);
    assert_int_equal(pess_dataset_borrow(&columns, 0, 0, &borrowed, &error), PESS_OK);
    pess_dataset_columns(borrowed, &again);
    assert_ptr_equal(again.state, columns.state);
    assert_ptr_equal(again.reward, columns.reward);
    assert_ptr_equal(again.end, columns.end);
    pess_dataset_destroy(borrowed);
    columns.end = NULL;
    assert_int_equal(pess_dataset_borrow(&columns, 10, 3, &borrowed, &error), PESS_OK);
    pess_dataset_columns(borrowed, &again);
    for (int64_t i = 0; i < again.rows; i++) assert_int_equal(again.end[i], PESS_END_NONE);
    pess_dataset_destroy(borrowed);
    assert_int_equal(pess_dataset_borrow(&columns, 2, 3, &borrowed, &error), PESS_INPUT);
    pess_dataset_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_callers_numbers_are_used), cmocka_unit_test(an_uncertainty_may_be_nothing),
        cmocka_unit_test(wrong_ones_are_refused), cmocka_unit_test(it_is_a_candidate_of_the_split),
        cmocka_unit_test(borrowed_columns_are_not_copied)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
