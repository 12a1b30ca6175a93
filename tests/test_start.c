/* Files of start distributions. */
#include "scratch.h"

static void files_go_round(void **state) {
    (void)state;
    const double start[] = {0.125, 0, 1.0 / 3, 1 - 0.125 - 1.0 / 3};
    double back[4] = {-1, -1, -1, -1};
    const char *path = scratch_path(0, ".csv"), *again = scratch_path(1, ".csv");
    pess_error error = {0};
    assert_ok(pess_start_write(path, 4, NULL, start, &error), &error);
    assert_ok(pess_start_read(path, 4, NULL, back, &error), &error);
    assert_memory_equal(start, back, sizeof start);
    assert_ok(pess_start_write(again, 4, NULL, back, &error), &error);
    char *first = scratch_read(path), *second = scratch_read(again);
    assert_string_equal(first, second);
    assert_string_equal(first, "state,probability\n0,0.125\n2,0.3333333333333333\n3,0.5416666666666667\n");
    free(first);
    free(second);
    scratch_remove(path);
    scratch_remove(again);
}

static void few_digits_are_scaled(void **state) {
    (void)state;
    double start[3];
    const char *path = scratch_write(0, "probability,state\n0.333333,2\n0.333333,0\n0.333333,1\n");
    pess_error error = {0};
    assert_ok(pess_start_read(path, 3, NULL, start, &error), &error);
    for (int s = 0; s < 3; s++) assert_close(start[s], 1.0 / 3, 1e-15);
    scratch_remove(path);
}

static void bad_files_are_refused(void **state) {
    (void)state;
    const struct {
        const char *text, *word, *where;
    } bad[] = {
        {"", "empty", ":1:1"},
        {"state\n0\n", "probability", ":1:1"},
        {"state,probability\n", "sum to 0,", ""},
        {"state,probability\n3,1\n", "'3'", ":2:1"},
        {"state,probability\n0,0.5\n0,0.5\n", "once", ":3:1"},
        {"state,probability\n0,-0.5\n", "'-0.5'", ":2:3"},
        {"state,probability\n0,inf\n", "'inf'", ":2:3"},
        {"state,probability\n0,0.5\n1,0.4\n", "sum to 0.9", ""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double start[3] = {7, 7, 7};
        const char *path = scratch_write(0, bad[i].text);
        pess_error error = {0};
        assert_failure(pess_start_read(path, 3, NULL, start, &error), PESS_INPUT, &error, path, bad[i].word,
                       bad[i].where, NULL);
        for (int s = 0; s < 3; s++) assert_close(start[s], 7, 0); /* untouched */
        scratch_remove(path);
    }
}

static void without_a_state_to_act_in_there_is_no_start(void **state) {
    (void)state;
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    pess_error error = {0};
    double start[2];
    assert_ok(pess_mdp_create(2, 1, NULL, 0, &mdp, &error), &error);
    assert_ok(pess_mdp_model(mdp, 0, &model, &error), &error);
    assert_failure(pess_start_uniform(model, start, &error), PESS_INPUT, &error, "terminal", NULL);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_go_round),
        cmocka_unit_test(few_digits_are_scaled),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(without_a_state_to_act_in_there_is_no_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
