/* iql and awac: labels and losses by hand, and trainings on one state whose answer is known exactly. */
#include "deep_case.h"

static void assert_near(const char *what, double found, double wanted, double tolerance) {
    if (!(fabs(found - wanted) <= tolerance)) fail_msg("%s: %.6f is not %.6f", what, found, wanted);
}

static void iql_decides_as_computed_by_hand(void **state) {
    (void)state;
    const struct {
        size_t size;
        double expectile, beta;
    } knobs = {sizeof knobs, 0.9, 2};
    const float q[3] = {1, 3, 2}, v = 1.5F, actor[3] = {2 * logf(2), logf(2), logf(2)};
    const pess__view view = {.actions = 3, .q = q, .own = {&v, actor}, .knobs = &knobs};
    const pess__learner *iql = &pess__learner_iql;
    double policy[3];
    assert_near("worth", iql->decide(&view, policy), 1.5, 1e-6);
    assert_near("policy", policy[0], 0.5, 1e-6);
    assert_near("target of v", iql->own[0].label(&view, 1).target, 3, 0);
    assert_near("weight", iql->own[1].label(&view, 2).weight, exp(2 * 0.5), 1e-9);
    assert_near("weight, held",
                iql->own[1]
                    .label(&(pess__view){.actions = 3, .q = (float[]){9, 9, 9}, .own = {&v, actor}, .knobs = &knobs}, 0)
                    .weight,
                100, 0);
    const pess__loss loss = iql->own[0].loss(&knobs);
    double slope;
    assert_near("v above q", loss.distance(2, loss.parameter, &slope), 0.1 * 4, 1e-9);
    assert_near("its slope", slope, 2 * 0.1 * 2, 1e-9);
    assert_near("v below q", loss.distance(-2, loss.parameter, &slope), 0.9 * 4, 1e-9);
    assert_near("its slope", slope, -2 * 0.9 * 2, 1e-9);
}

/* One state. Action 1 pays 1 and is one in four of the log, action 0 pays nothing, action 2 is never taken. */
static pess_observations *one_state(void) {
    pess_observations *data = NULL;
    pess_error error;
    const uint8_t here = 1, there = 2;
    OK(pess_observations_create("one", "", &(pess_observation_shape){.length = 2}, 3, &data, &error));
    for (int i = 0; i < 400; i++)
        OK(pess_observations_add(data, &here, i % 4 == 0, i % 4 == 0, &there, PESS_END_TERMINAL, &error));
    return data;
}

static void train(const pess_observations *data, const char *algorithm, const char *knobs, double *policy) {
    pess_train_options o = training(NULL, data, algorithm, algorithm);
    pess_train_result result;
    pess_error error;
    o.knobs = knobs;
    o.protocol.updates = 25, o.protocol.steps = 400, o.protocol.rate = 1e-3, o.protocol.rate_last = 0;
    if (pess_train_run(&o, &result, &error) != PESS_OK) fail_msg("%s", error.message);
    char path[400];
    (void)snprintf(path, sizeof path, "%s/policy.pesspolicy", o.out);
    pess_policy *read = NULL;
    OK(pess_policy_read(path, NULL, NULL, NULL, &read, &error));
    OK(pess_policy_observation_probabilities(read, data->observations, data->bytes, 1, policy, &error));
    pess_policy_destroy(read);
}

/* The expectile τ of a quarter of ones and three quarters of zeros solves τ/4 (1 − v) = (1 − τ) 3/4 v; the actor's odds
 * of action 1 are those of the log times exp(β·1). */
static void iql_comes_to_the_exact_answer(void **state) {
    (void)state;
    pess_observations *data = one_state();
    double policy[3];
    float v;
    train(data, "iql", "expectile=0.9 beta=1.5", policy);
    outputs_of(data, in_root("iql"), "state-value", 0, &v);
    assert_near("v", (double)v, 0.9 / 4 / (0.9 / 4 + 0.1 * 3 / 4), 0.02);
    assert_near("odds", policy[1] / policy[0], exp(1.5) / 3, 0.1);
    assert_near("never taken", policy[2], 0, 0.01);
    pess_observations_destroy(data);
}

/* The odds of action 1 are those of the log times exp(1/λ), whatever the baseline. */
static void awac_comes_to_the_exact_answer(void **state) {
    (void)state;
    pess_observations *data = one_state();
    double policy[3];
    train(data, "awac", "absorbed-alpha=0.8", policy);
    assert_near("odds", policy[1] / policy[0], exp(1 / 0.8) / 3, 0.08);
    assert_near("never taken", policy[2], 0, 0.01);
    pess_observations_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iql_decides_as_computed_by_hand),
        cmocka_unit_test(iql_comes_to_the_exact_answer),
        cmocka_unit_test(awac_comes_to_the_exact_answer),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
