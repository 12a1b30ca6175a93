/* Where one more sample helps most: the first of the list are the same however many are asked for. */
#include "logs.h"

enum { STATES = 40, ACTIONS = 4, ALL = STATES * ACTIONS, FEW = 3 };

static void the_largest_are_kept(void **state) {
    (void)state;
    pess_dataset *d = logs_random(4000, STATES, ACTIONS, LOGS_ENDS, 7);
    pess_counts *counts = NULL;
    pess_model *model = NULL;
    pess_policy *policy = NULL;
    pess_gap all[ALL], few[FEW];
    int64_t all_found = 0, few_found = 0;
    double uncertainty = 0, start[STATES];
    pess_error error;
    for (int s = 0; s < STATES; s++) start[s] = 1.0 / STATES;
    assert_int_equal(pess_counts_create(d, 1, &counts, &error), PESS_OK);
    assert_int_equal(pess_model_estimate(counts, NULL, &model, &error), PESS_OK);
    assert_int_equal(pess_policy_uniform(model, &policy, &error), PESS_OK);
    assert_int_equal(pess_gaps(counts, model, start, policy, NULL, ALL, all, &all_found, &uncertainty, &error),
                     PESS_OK);
    assert_int_equal(pess_gaps(counts, model, start, policy, NULL, FEW, few, &few_found, &uncertainty, &error),
                     PESS_OK);
    assert_int_equal(all_found, ALL); /* more than the list of three has room for before it is sorted */
    assert_int_equal(few_found, FEW);
    for (int i = 1; i < ALL; i++) assert_true(all[i].gain <= all[i - 1].gain);
    for (int i = 0; i < FEW; i++) {
        assert_int_equal(few[i].state, all[i].state);
        assert_int_equal(few[i].action, all[i].action);
        assert_true(few[i].gain == all[i].gain);
    }
    pess_policy_destroy(policy);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    pess_dataset_destroy(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_largest_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
