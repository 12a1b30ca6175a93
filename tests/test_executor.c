/* How a run of many trainings ends: the file itself is included, so that its threads need not run. */
#include "../src/experiment/games_run.c"

#include "scratch.h"

static const pess__task training = {.dataset = 0, .curve = 1}, preparing = {.dataset = 0, .curve = -1};
static const pess_error full = {.status = PESS_IO, .message = "disk full"},
                        diverged = {.status = PESS_NOT_CONVERGED, .message = "a loss that is not finite"},
                        later = {.status = PESS_NOT_CONVERGED, .message = "another one"};

/* Divergences, whenever they come, do not take the place of a failure. */
static void test_failure_is_told(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++) {
        pess_minatar m = {.out = "nowhere"};
        crew k = {.m = &m, .run_total = 9};
        pess_error error = {0};
        if (first == 0) assert_true(goes_on(&k, &training, PESS_NOT_CONVERGED, &diverged));
        assert_false(goes_on(&k, &training, PESS_IO, &full));
        assert_true(atomic_load(&k.stop));
        if (first == 1) assert_true(goes_on(&k, &training, PESS_NOT_CONVERGED, &diverged));
        assert_int_equal(end_of(&k, &error), PESS_IO);
        assert_string_equal(error.message, "disk full");
    }
}

static void test_divergence_is_told(void **state) {
    (void)state;
    pess_minatar m = {.out = "nowhere"};
    crew k = {.m = &m, .run_total = 9};
    pess_error error = {0};
    assert_true(goes_on(&k, &training, PESS_OK, &error));
    assert_int_equal(end_of(&k, &error), PESS_OK);
    assert_true(goes_on(&k, &training, PESS_NOT_CONVERGED, &diverged));
    assert_true(goes_on(&k, &training, PESS_NOT_CONVERGED, &later));
    assert_false(atomic_load(&k.stop));
    assert_int_equal(end_of(&k, &error), PESS_NOT_CONVERGED);
    assert_non_null(strstr(error.message, "2 of 9 runs did not converge; the first: a loss that is not finite"));
    /* without its imitation network a dataset is of no use */
    assert_false(goes_on(&k, &preparing, PESS_NOT_CONVERGED, &later));
    assert_int_equal(end_of(&k, &error), PESS_NOT_CONVERGED);
    assert_string_equal(error.message, "another one");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failure_is_told),
                                       cmocka_unit_test(test_divergence_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
