/* Policies: made, softened, written, read and refused. */
#include "scratch.h"

#include "data/names.h"

#include <math.h>

/* State 0 has both actions, state 1 only action 1, state 2 is terminal. */
static pess_model *make_model(void) {
    const pess_mdp_transition transitions[] = {{0, 0, 1, 1, 0}, {0, 1, 0, 0.5, 1}, {0, 1, 2, 0.5, 1}, {1, 1, 0, 1, 1}};
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    pess_error error = {0};
    assert_ok(pess_mdp_create(3, 2, transitions, 4, &mdp, &error), &error);
    assert_ok(pess_mdp_model(mdp, 0, &model, &error), &error);
    pess_mdp_destroy(mdp);
    return model;
}

static pess_names *make_names(const char *const *list, int count) {
    pess_names *names = NULL;
    pess_error error = {0};
    assert_ok(pess__names_create(&names, &error), &error);
    for (int i = 0; i < count; i++) {
        int64_t id = -1;
        assert_ok(pess__names_add(names, list[i], strlen(list[i]), &id, &error), &error);
        assert_int_equal(id, i);
    }
    return names;
}

static void assert_rows(const pess_policy *policy, const double *expected, double tolerance) {
    for (int64_t s = 0; s < pess_policy_states(policy); s++)
        for (int64_t a = 0; a < pess_policy_actions(policy); a++)
            assert_close(pess_policy_row(policy, s)[a], expected[s * pess_policy_actions(policy) + a], tolerance);
}

static void policies_are_uniform_or_softened(void **state) {
    (void)state;
    pess_model *model = make_model();
    pess_policy *policy = NULL, *soft = NULL;
    pess_error error = {0};
    assert_ok(pess_policy_uniform(model, &policy, &error), &error);
    assert_rows(policy, (double[]){0.5, 0.5, 0, 1, 0, 0}, 0);
    pess_policy_destroy(policy);
    assert_ok(pess_policy_create(3, 2, (double[]){0.25, 0.75, 0, 1, 0, 0}, &policy, &error), &error);
    const struct {
        double epsilon, rows[6];
    } cases[] = {{0, {0.25, 0.75, 0, 1, 0, 0}}, {0.4, {0.35, 0.65, 0, 1, 0, 0}}, {1, {0.5, 0.5, 0, 1, 0, 0}}};
    for (int i = 0; i < 3; i++) {
        assert_ok(pess_policy_soften(policy, model, cases[i].epsilon, &soft, &error), &error);
        assert_rows(soft, cases[i].rows, 1e-15);
        pess_policy_destroy(soft);
    }
    soft = NULL;
    assert_failure(pess_policy_soften(policy, model, -0.1, &soft, &error), PESS_ARGUMENT, &error, "-0.1", NULL);
    assert_failure(pess_policy_soften(policy, model, 1.5, &soft, &error), PESS_ARGUMENT, &error, "1.5", NULL);
    assert_failure(pess_policy_soften(policy, model, NAN, &soft, &error), PESS_ARGUMENT, &error, NULL);
    pess_policy_destroy(policy);
    assert_ok(pess_policy_create(3, 2, (double[]){1, 0, 1, 0, 0, 0}, &policy, &error), &error);
    assert_failure(pess_policy_soften(policy, model, 0.1, &soft, &error), PESS_INPUT, &error, "state 1 has no action 0",
                   NULL);
    pess_policy_destroy(policy);
    assert_ok(pess_policy_create(3, 2, (double[]){0, 0, 0, 1, 0, 0}, &policy, &error), &error); /* 0 is no end */
    assert_failure(pess_policy_soften(policy, model, 0.1, &soft, &error), PESS_INPUT, &error,
                   "state 0: the probabilities sum to 0, expected 1", NULL);
    pess_policy_destroy(policy);
    assert_ok(pess_policy_create(2, 2, (double[]){1, 0, 1, 0}, &policy, &error), &error);
    assert_failure(pess_policy_soften(policy, model, 0.1, &soft, &error), PESS_INPUT, &error, "2 states", NULL);
    assert_null(pess_policy_row(policy, 2));
    pess_policy_destroy(policy);
    pess_model_destroy(model);
}

static void bad_tables_are_refused(void **state) {
    (void)state;
    const double bad[][2] = {{0.5, 0.6}, {-0.5, 1.5}, {NAN, 1}, {0.5, 0.499}, {INFINITY, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pess_policy *policy = NULL;
        pess_error error = {0};
        assert_failure(pess_policy_create(1, 2, bad[i], &policy, &error), PESS_INPUT, &error, "state 0", NULL);
        assert_null(policy);
    }
}

static void a_table_for_each_step(void **state) {
    (void)state;
    pess_policy *policy = NULL, *none = NULL;
    pess_error error = {0};
    const double rows[] = {1, 0, 0, 0, 0.25, 0.75, 0, 0}, bad[] = {1, 0, 1, 0, 1, 0, 0.5, 0};
    assert_ok(pess_policy_create_steps(2, 2, 2, rows, &policy, &error), &error);
    pess_policy_info info;
    pess_policy_get_info(policy, &info);
    assert_int_equal(info.steps, 2);
    assert_memory_equal(pess_policy_step_row(policy, 1, 0), rows + 4, 2 * sizeof *rows);
    assert_memory_equal(pess_policy_probabilities(policy), rows, sizeof rows);
    double answer[2];
    pess_decider *decider = NULL;
    const int64_t at = 0;
    assert_failure(pess_policy_state_probabilities(policy, &at, 1, answer, &error), PESS_INPUT, &error, "2 steps",
                   NULL);
    assert_failure(pess_decider_create(policy, NULL, NULL, NULL, NULL, NULL, &decider, &error), PESS_INPUT, &error,
                   "2 steps", NULL);
    assert_null(decider);
    pess_policy_destroy(policy);
    assert_failure(pess_policy_create_steps(2, 2, 2, bad, &none, &error), PESS_INPUT, &error, "state 1", NULL);
    assert_failure(pess_policy_create_steps(0, 2, 2, rows, &none, &error), PESS_ARGUMENT, &error, "0 steps", NULL);
    assert_null(none);
}

static void files_go_round(void **state) {
    (void)state;
    pess_model *model = make_model();
    pess_policy *policy = NULL, *back = NULL;
    pess_error error = {0};
    const char *const states[] = {"plain", "a \"quoted\", one", " blank"}, *const actions[] = {"go", "7"};
    pess_names *state_names = make_names(states, 3), *action_names = make_names(actions, 2);
    const double rows[] = {1.0 / 3, 2.0 / 3, 0, 1, 0, 0};
    assert_ok(pess_policy_create(3, 2, rows, &policy, &error), &error);
    for (int named = 0; named < 2; named++) {
        const pess_names *s = named ? state_names : NULL, *a = named ? action_names : NULL;
        const char *path = scratch_path(0, ".csv"), *again = scratch_path(1, ".csv");
        assert_ok(pess_policy_write(policy, path, s, a, &error), &error);
        assert_ok(pess_policy_read(path, model, s, a, &back, &error), &error);
        assert_rows(back, rows, 0);
        assert_ok(pess_policy_write(back, again, s, a, &error), &error);
        char *first = scratch_read(path), *second = scratch_read(again);
        assert_string_equal(first, second);
        assert_string_equal(first, named ? "state,action,probability\nplain,go,0.3333333333333333\n"
                                           "plain,7,0.6666666666666666\n\"a \"\"quoted\"\", one\",7,1\n"
                                         : "state,action,probability\n0,0,0.3333333333333333\n"
                                           "0,1,0.6666666666666666\n1,1,1\n");
        free(first);
        free(second);
        pess_policy_destroy(back);
        scratch_remove(path);
        scratch_remove(again);
    }
    pess_policy_destroy(policy);
    pess_names_destroy(state_names);
    pess_names_destroy(action_names);
    pess_model_destroy(model);
}

static void few_digits_and_zeros_are_fine(void **state) {
    (void)state;
    pess_model *model = make_model();
    const char *path = scratch_write(0, "probability,state,action\n0.333333,0,0\n0.666666,0,1\n0,1,0\n1,1,1\n0,2,0\n");
    pess_policy *policy = NULL;
    pess_error error = {0};
    assert_ok(pess_policy_read(path, model, NULL, NULL, &policy, &error), &error);
    assert_close(pess_policy_row(policy, 0)[0] + pess_policy_row(policy, 0)[1], 1, 1e-16);
    assert_close(pess_policy_row(policy, 0)[0], 1.0 / 3, 1e-6);
    pess_policy_destroy(policy);
    pess_model_destroy(model);
    scratch_remove(path);
}

static void bad_files_are_refused(void **state) {
    (void)state;
    pess_model *model = make_model();
    const char *const states[] = {"a", "b", "c"};
    pess_names *names = make_names(states, 3);
#define HEADER "state,action,probability\n"
    const struct {
        const char *text, *word, *where;
        bool named;
    } bad[] = {
        {"", "empty", ":1:1", false},
        {"state,action\n0,0\n", "probability", ":1:1", false},
        {HEADER "3,0,1\n", "'3'", ":2:1", false},
        {HEADER "-1,0,1\n", "'-1'", ":2:1", false},
        {HEADER "0,2,1\n", "'2'", ":2:3", false},
        {HEADER "0,x,1\n", "'x'", ":2:3", false},
        {HEADER "0,0,1.25\n", "'1.25'", ":2:5", false},
        {HEADER "0,0,nan\n", "'nan'", ":2:5", false},
        {HEADER "0,0,1\n1,0,1\n", "state 1", ":3:3", false},
        {HEADER "0,0,1\n1,1,1\n2,1,1\n", "terminal", ":4:3", false},
        {HEADER "0,0,0.5\n0,0,0.5\n", "once", ":3:3", false},
        {HEADER "0,0,0.5\n0,1,0.4\n1,1,1\n", "state 0: the probabilities sum to 0.9", "", false},
        {HEADER "0,0,0\n0,1,0\n1,1,1\n", "sum to 0,", "", false},
        {HEADER "0,0,1\n", "1 of the model's 3 states", "state 1", false},
        {HEADER, "2 of the model's 3 states", "state 0", false},
        {HEADER "a,0,1\n", "'b'", "another state set", true},
        {HEADER "0,0,1\n", "'0'", ":2:1", true},
    };
#undef HEADER
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *path = scratch_write(0, bad[i].text);
        pess_policy *policy = NULL;
        pess_error error = {0};
        assert_failure(pess_policy_read(path, model, bad[i].named ? names : NULL, NULL, &policy, &error), PESS_INPUT,
                       &error, path, bad[i].word, bad[i].where, NULL);
        assert_null(policy);
        scratch_remove(path);
    }
    pess_names_destroy(names);
    pess_model_destroy(model);
}

static void values_are_written(void **state) {
    (void)state;
    const char *const states[] = {"a", "b,c", "d"};
    pess_names *names = make_names(states, 3);
    const double values[] = {0.1, -2, 1e300};
    const char *path = scratch_path(0, ".csv");
    pess_error error = {0};
    assert_ok(pess_values_write(path, 3, names, values, &error), &error);
    char *text = scratch_read(path);
    assert_string_equal(text, "state,value\na,0.1\n\"b,c\",-2\nd,1e+300\n");
    free(text);
    pess_names_destroy(names);
    scratch_remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_are_uniform_or_softened),
        cmocka_unit_test(bad_tables_are_refused),
        cmocka_unit_test(a_table_for_each_step),
        cmocka_unit_test(files_go_round),
        cmocka_unit_test(few_digits_and_zeros_are_fine),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(values_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
