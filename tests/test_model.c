/* The empirical model of a log counted by hand, for each rule about what was never seen. */
#include "scratch.h"

#include "model/counts.h"
#include "model/model.h"

#include <math.h>

/* Four states, two actions. The log:
 *   (0,0): r=1 -> 1, r=0 -> 1, r=0.5 -> 2, r=0.5 ends in 3     (0,1): never
 *   (1,0): r=0.25 -> 0                                         (1,1): r=1 ends in 3, twice
 *   state 2: occurs as next state only                         state 3: terminal */
static int64_t n[8] = {4, 0, 1, 2, 0, 0, 0, 0}, n_state[4] = {4, 3, 0, 0}, n_terminal[8] = {1, 0, 0, 2};
static double reward_sum[8] = {2, 0, 0.25, 2}, reward_offset[8] = {2, 0, 0.25, 2}, reward_square[8];
static int64_t row[9] = {0, 2, 2, 3, 3, 3, 3, 3, 3}, n_next[3] = {2, 1, 1}, starts[4] = {3, 1, 0, 0};
static uint32_t next_states[3] = {1, 2, 0};
static double next_offset[3] = {1, 0.5, 0.25};
static uint8_t terminal[4] = {0, 0, 0, 1};

static pess_counts counts_by_hand(void) {
    return (pess_counts){.states = 4,
                         .actions = 2,
                         .transitions = 7,
                         .terminals = 3,
                         .episodes = 4,
                         .pairs_seen = 3,
                         .reward_min = 0,
                         .reward_max = 1,
                         .has_episodes = true,
                         .has_starts = true,
                         .n = n,
                         .n_state = n_state,
                         .n_terminal = n_terminal,
                         .reward_sum = reward_sum,
                         .reward_offset = reward_offset,
                         .reward_square = reward_square,
                         .row = row,
                         .next = next_states,
                         .n_next = n_next,
                         .next_offset = next_offset,
                         .starts = starts,
                         .terminal = terminal};
}

static pess_model *estimate(const pess_model_options *options) {
    const pess_counts counts = counts_by_hand();
    pess_model *model = NULL;
    pess_error error = {0};
    assert_ok(pess_model_estimate(&counts, options, &model, &error), &error);
    return model;
}

static void seen_pairs_are_frequencies(void **state) {
    (void)state;
    for (int rule = PESS_UNSEEN_PAPER; rule <= PESS_UNSEEN_SELF_LOOP; rule++) {
        pess_model_options options = pess_model_options_defaults();
        options.unseen = (pess_unseen)rule;
        pess_model *model = estimate(&options);
        assert_int_equal(pess_model_states(model), 4);
        assert_int_equal(pess_model_actions(model), 2);
        assert_close(pess_model_reward(model, 0, 0), 0.5, 0);
        assert_close(pess_model_probability(model, 0, 0, 1), 0.5, 0);
        assert_close(pess_model_probability(model, 0, 0, 2), 0.25, 0);
        assert_close(pess_model_probability(model, 0, 0, 0), 0, 0);
        assert_close(pess_model_terminal(model, 0, 0), 0.25, 0);
        assert_close(pess_model_reward(model, 1, 0), 0.25, 0);
        assert_close(pess_model_probability(model, 1, 0, 0), 1, 0);
        assert_close(pess_model_reward(model, 1, 1), 1, 0);
        assert_close(pess_model_terminal(model, 1, 1), 1, 0);
        assert_true(pess_model_is_terminal_state(model, 3));
        assert_false(pess_model_is_terminal_state(model, 2));
        assert_true(model->has_terminals);
        for (int a = 0; a < 2; a++) assert_int_equal(model->kind[3 * 2 + a], PESS_ROW_NONE);
        pess_model_destroy(model);
    }
}

static void unseen_pairs_are_random_as_in_the_paper(void **state) {
    (void)state;
    pess_model_options options = pess_model_options_defaults();
    options.reward_range[0] = -2, options.reward_range[1] = 6;
    double mean = 0, low = INFINITY, high = -INFINITY;
    enum { SEEDS = 4000 };
    for (options.seed = 0; options.seed < SEEDS; options.seed++) {
        pess_model *model = estimate(&options), *again = estimate(&options);
        assert_int_equal(model->kind[1], PESS_ROW_UNIFORM);
        for (int s = 0; s < 3; s++) assert_close(pess_model_probability(model, 0, 1, s), 0.25, 0);
        assert_close(pess_model_probability(model, 0, 1, 3), 0, 0);
        assert_close(pess_model_terminal(model, 0, 1), 0.25, 0); /* state 3 is one of the four */
        const double r = pess_model_reward(model, 0, 1);
        assert_close(r, pess_model_reward(again, 0, 1), 0);
        assert_true(r != pess_model_reward(model, 2, 0) && r >= -2 && r <= 6);
        mean += r / SEEDS;
        low = fmin(low, r);
        high = fmax(high, r);
        pess_model_destroy(model);
        pess_model_destroy(again);
    }
    /* uniform on [-2,6]: standard deviation 8/√12; 4.9 standard errors are a false alarm in 10^6 */
    assert_close(mean, 2, 4.9 * 8 / sqrt(12.0 * SEEDS));
    assert_true(low < -1.9 && high > 5.9);
}

static void unseen_pairs_are_the_worst_or_a_loop_where_asked(void **state) {
    (void)state;
    pess_model_options options = pess_model_options_defaults();
    options.reward_range[0] = -1, options.reward_range[1] = 1;
    options.unseen = PESS_UNSEEN_WORST;
    pess_model *model = estimate(&options);
    assert_int_equal(model->kind[1], PESS_ROW_SINK);
    assert_close(pess_model_reward(model, 0, 1), -1, 0);
    for (int s = 0; s < 4; s++) assert_close(pess_model_probability(model, 0, 1, s), 0, 0);
    pess_model_destroy(model);
    options.unseen = PESS_UNSEEN_SELF_LOOP;
    model = estimate(&options);
    assert_close(pess_model_reward(model, 0, 1), -1, 0);
    assert_close(pess_model_probability(model, 0, 1, 0), 1, 0);
    assert_close(pess_model_probability(model, 2, 0, 2), 1, 0);
    assert_close(pess_model_probability(model, 2, 1, 2), 1, 0);
    assert_close(pess_model_probability(model, 0, 0, 1), 0.5, 0);
    pess_model_destroy(model);
}

static void reward_ranges_are_seen_or_declared(void **state) {
    (void)state;
    double lo = 0, hi = 0;
    pess_model *model = estimate(NULL);
    pess_model_reward_range(model, &lo, &hi);
    assert_close(lo, 0, 0);
    assert_close(hi, 1, 0);
    assert_false(model->reward_declared);
    pess_model_destroy(model);
    pess_model_options options = pess_model_options_defaults();
    options.reward_range[0] = -1, options.reward_range[1] = 3;
    model = estimate(&options);
    pess_model_reward_range(model, &lo, &hi);
    assert_close(lo, -1, 0);
    assert_close(hi, 3, 0);
    assert_true(model->reward_declared);
    pess_model_destroy(model);

    const struct {
        double lo, hi;
        pess_status status;
        const char *word;
    } bad[] = {{0.5, 2, PESS_INPUT, "reward of 0,"},         {-1, 0.75, PESS_INPUT, "reward of 1,"},
               {2, 1, PESS_ARGUMENT, "found '2,1'"},         {-INFINITY, 1, PESS_ARGUMENT, "reward-range"},
               {0, INFINITY, PESS_ARGUMENT, "reward-range"}, {NAN, -3, PESS_ARGUMENT, "reward-range"}};
    const pess_counts counts = counts_by_hand();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pess_error error = {0};
        options.reward_range[0] = bad[i].lo, options.reward_range[1] = bad[i].hi;
        model = NULL;
        assert_failure(pess_model_estimate(&counts, &options, &model, &error), bad[i].status, &error, bad[i].word,
                       NULL);
        assert_null(model);
    }
}

static void value_ranges_follow_from_rewards_discount_and_ends(void **state) {
    (void)state;
    pess_model model = {.reward_lo = 1, .reward_hi = 2};
    double lo = 0, hi = 0;
    pess__value_range(&model, 0.5, &lo, &hi);
    assert_close(lo, 2, 0);
    assert_close(hi, 4, 0);
    model.has_terminals = true;
    pess__value_range(&model, 0.5, &lo, &hi);
    assert_close(lo, 0, 0);
    assert_close(hi, 4, 0);
    model.reward_lo = 0;
    pess__value_range(&model, 1, &lo, &hi);
    assert_close(lo, 0, 0);
    assert_true(isinf(hi) && hi > 0);
    model.reward_lo = -1;
    model.reward_hi = 0;
    pess__value_range(&model, 1, &lo, &hi);
    assert_true(isinf(lo) && lo < 0 && hi == 0);
}

static void an_empty_log_has_a_uniform_model(void **state) {
    (void)state;
    int64_t zeros[5] = {0}, zero_state[2] = {0}, zero_row[5] = {0};
    double none[4] = {0};
    uint8_t open[2] = {0};
    const pess_counts counts = {.states = 2,
                                .actions = 2,
                                .n = zeros,
                                .n_state = zero_state,
                                .n_terminal = zeros,
                                .reward_sum = none,
                                .row = zero_row,
                                .terminal = open};
    pess_error error = {0};
    pess_model *model = NULL;
    pess_model_options options = pess_model_options_defaults();
    options.reward_range[0] = 0, options.reward_range[1] = 1;
    assert_ok(pess_model_estimate(&counts, &options, &model, &error), &error);
    assert_close(pess_model_probability(model, 1, 1, 0), 0.5, 0);
    pess_policy *policy = NULL;
    assert_ok(pess_policy_empirical(&counts, model, &policy, &error), &error);
    assert_close(pess_policy_row(policy, 0)[1], 0.5, 0);
    pess_policy_destroy(policy);
    pess_model_destroy(model);
}

static void starts_and_behaviour_are_those_of_the_log(void **state) {
    (void)state;
    pess_counts counts = counts_by_hand();
    pess_error error = {0};
    double start[4];
    assert_ok(pess_start_from_counts(&counts, start, &error), &error);
    assert_close(start[0], 0.75, 0);
    assert_close(start[1], 0.25, 0);
    assert_close(start[3], 0, 0);
    counts.has_starts = false;
    assert_failure(pess_start_from_counts(&counts, start, &error), PESS_INPUT, &error, "episode", NULL);
    pess_model *model = estimate(NULL);
    assert_ok(pess_start_uniform(model, start, &error), &error);
    for (int s = 0; s < 3; s++) assert_close(start[s], 1.0 / 3, 0);
    assert_close(start[3], 0, 0);
    pess_policy *policy = NULL;
    assert_ok(pess_policy_empirical(&counts, model, &policy, &error), &error);
    const double expected[8] = {1, 0, 1.0 / 3, 2.0 / 3, 0.5, 0.5, 0, 0};
    for (int s = 0; s < 4; s++)
        for (int a = 0; a < 2; a++) assert_close(pess_policy_row(policy, s)[a], expected[2 * s + a], 1e-15);
    pess_policy_destroy(policy);
    pess_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seen_pairs_are_frequencies),
        cmocka_unit_test(unseen_pairs_are_random_as_in_the_paper),
        cmocka_unit_test(unseen_pairs_are_the_worst_or_a_loop_where_asked),
        cmocka_unit_test(reward_ranges_are_seen_or_declared),
        cmocka_unit_test(value_ranges_follow_from_rewards_discount_and_ends),
        cmocka_unit_test(an_empty_log_has_a_uniform_model),
        cmocka_unit_test(starts_and_behaviour_are_those_of_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
