/* Certificates of episodes of H steps: against logs widened by hand, against the truth, and where a step matters. */
#include "coverage.h"
#include "rows.h"
#include "small_worlds.h"

#include "core/rng.h"
#include "core/threads.h"

static pess_certify_options options_for(pess_certify_method method, int64_t horizon, double gamma, double delta) {
    pess_certify_options options = pess_certify_options_defaults();
    options.method = method;
    options.horizon = horizon;
    options.gamma = gamma;
    options.delta = delta;
    options.reward_range[0] = 0;
    options.reward_range[1] = 1;
    options.threads = 1;
    return options;
}

static pess_certificate *certified(const pess_dataset *data, const pess_certify_options *options,
                                   pess_certificate_info *info) {
    pess_certificate *certificate = NULL;
    MUST(pess_certify(data, options, &certificate, error));
    pess_certificate_get_info(certificate, info);
    return certificate;
}

/* Every row of a log whose episodes are one after the other, with its step in its state. */
static pess_dataset *widened(const pess_dataset *data, int64_t horizon) {
    pess_columns c;
    pess_dataset_columns(data, &c);
    const uint32_t states = (uint32_t)pess_dataset_states(data);
    int64_t step = 0;
    made.count = 0;
    for (int64_t i = 0; i < c.rows; i++) {
        step = i > 0 && c.episode[i] == c.episode[i - 1] ? step + 1 : 0;
        if (step >= horizon) continue;
        const bool last = step + 1 == horizon;
        rows_put((log_row){(uint32_t)step * states + c.state[i], c.action[i], c.reward[i],
                           last ? (uint32_t)horizon * states : (uint32_t)(step + 1) * states + c.next_state[i],
                           last ? PESS_END_TERMINAL : (pess_end)c.end[i], c.episode[i], step, c.probability[i]});
    }
    return rows_dataset(horizon * states + 1, pess_dataset_actions(data),
                        ROWS_EPISODES | ROWS_STEPS | ROWS_PROBABILITIES);
}

/* Whole episodes have the same numbers; sets and tests know more than a log without a horizon tells: that values at a
 * step are those of the steps that are left, and that an episode ends. */
static void a_horizon_is_a_log_of_states_at_steps(void **state) {
    (void)state;
    world w = world_garnet(5, 3, 0.9, 0.6);
    pess_dataset *data = log_of(&w, 6000, 6, 2), *wide = widened(data, 4);
    for (int method = PESS_CERTIFY_ROBUST; method <= PESS_CERTIFY_EPISODES; method++) {
        pess_certificate_info by_horizon, by_hand;
        pess_certify_options options = options_for((pess_certify_method)method, 4, 1, 0.1);
        pess_certificate_destroy(certified(data, &options, &by_horizon));
        options.horizon = 0;
        options.return_range[0] = 0;
        options.return_range[1] = 4;
        pess_certificate_destroy(certified(wide, &options, &by_hand));
        assert_int_equal(by_horizon.transitions, by_hand.transitions);
        assert_true(by_horizon.value_lo == 0 && by_horizon.value_hi == 4);
        assert_true(by_horizon.lower_bound >= by_hand.lower_bound - 1e-9);
        assert_true(by_horizon.optimal_upper_bound <= by_hand.optimal_upper_bound + 1e-9);
        if (method != PESS_CERTIFY_EPISODES) continue;
        assert_true(by_horizon.lower_bound == by_hand.lower_bound);
        assert_true(by_horizon.improvement_lower_bound == by_hand.improvement_lower_bound);
    }
    pess_dataset_destroy(wide);
    pess_dataset_destroy(data);
    world_free(&w);
}

/* ------------------------------------------------------------------------------------------------ coverage */

/* Of a policy with a table for each step, or for all; or the best there is. */
static double true_value_of_steps(const world *w, const pess_policy *policy, int64_t horizon, double gamma) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = gamma;
    options.horizon = horizon;
    pess_solution *solution = NULL;
    if (policy)
        MUST(pess_evaluate(NULL, w->model, w->start, policy, &options, &solution, error));
    else
        MUST(pess_solve(NULL, w->model, w->start, &options, &solution, error));
    pess_solution_info info;
    pess_solution_get_info(solution, &info);
    pess_solution_destroy(solution);
    return info.value;
}

/* Any of the three bounds is wrong. Sized so that loose bounds would not pass for tight ones: most are not vacuous. */
static void bounds_of_steps_cover(void **state) {
    (void)state;
    const double delta = 0.1;
    const int64_t runs = coverage_runs(24), allowed = failures_allowed(runs, delta);
    world worlds[] = {world_garnet(5, 3, 0.9, 0.6), world_chain(4, 0.9, 0.5), world_gridworld(3, 5, 0.9, 0.5)};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        const world *w = &worlds[i];
        const int64_t horizon = 2 + (int64_t)i;
        const double gamma = i == 1 ? 0.9 : 1, best = true_value_of_steps(w, NULL, horizon, gamma),
                     logged = true_value_of_steps(w, w->logging, horizon, gamma);
        int64_t wrong = 0, useful = 0;
        for (int64_t r = 0; r < runs; r++) {
            /* Episodes that go on beyond the horizon, and, in every third log, some that were cut off before it. */
            pess_dataset *data =
                log_of(w, 4000, r % 3 ? horizon + 2 : horizon - 1, coverage_seed(71) * 1000 + (uint64_t)r);
            pess_certify_options options = options_for(PESS_CERTIFY_BEST, horizon, gamma, delta);
            options.start = r % 2 ? w->start : NULL;
            pess_certificate_info info;
            pess_certificate *certificate = certified(data, &options, &info);
            const double truth = true_value_of_steps(w, pess_certificate_policy(certificate), horizon, gamma);
            wrong += info.lower_bound > truth + 1e-9 || info.optimal_upper_bound < best - 1e-9 ||
                     info.behaviour_upper_bound < logged - 1e-9;
            useful += info.certified_share > 0.3;
            pess_certificate_destroy(certificate);
            pess_dataset_destroy(data);
        }
        print_message("world %zu: wrong %lld, allowed %lld, useful %lld of %lld\n", i, (long long)wrong,
                      (long long)allowed, (long long)useful, (long long)runs);
        assert_true(wrong <= allowed);
        assert_true(useful > runs / 2);
        world_free(&worlds[i]);
    }
}

/* ------------------------------------------------------------------------------------------------ steps that matter */

/* One state; the arm that pays is 0 at the first step and 1 at the second. No table for all steps gets more than 1. */
static pess_dataset *changing_arms(int64_t episodes, int columns) {
    made.count = 0;
    for (int64_t e = 0; e < episodes; e++) {
        pess__rng rng = pess__rng_stream(3, "arms", (uint64_t)e);
        for (int64_t t = 0; t < 3; t++) {
            const uint32_t arm = pess__rng_uniform(&rng) < 0.5;
            /* what comes after the horizon is worth more than all before it */
            rows_put((log_row){0, arm, t == 2 ? 1 : arm == (uint32_t)t, 0, t == 2 ? PESS_END_CUTOFF : PESS_END_NONE, e,
                               t + 1, 0.5});
        }
    }
    return rows_dataset(1, 2, columns);
}

static void the_policy_may_change_with_the_step(void **state) {
    (void)state;
    for (int method = PESS_CERTIFY_BEST; method <= PESS_CERTIFY_EPISODES; method++) {
        pess_dataset *data = changing_arms(3000, ROWS_EPISODES | ROWS_STEPS | ROWS_PROBABILITIES);
        const pess_certify_options options = options_for((pess_certify_method)method, 2, 1, 0.05);
        pess_certificate_info info;
        pess_certificate *certificate = certified(data, &options, &info);
        const pess_policy *policy = pess_certificate_policy(certificate);
        assert_int_equal(info.horizon, 2);
        assert_true(info.lower_bound > 1.8 && info.lower_bound <= 2);
        assert_true(pess_policy_step_row(policy, 0, 0)[0] > 0.9 && pess_policy_step_row(policy, 1, 0)[1] > 0.9);
        assert_null(pess_policy_step_row(policy, 2, 0));
        pess_certificate_destroy(certificate);
        pess_dataset_destroy(data);
    }
}

/* A state of the next step that the log never shows may be worth all that is left: 1, with one step to go. With n = 200
 * rows nearly ln(2SA/δ)/n of the probability may lead there. */
static void what_was_never_seen_is_worth_the_steps_that_are_left(void **state) {
    (void)state;
    double upper[2];
    for (int64_t states = 1; states <= 2; states++) {
        made.count = 0;
        for (int64_t i = 0; i < 400; i++)
            rows_put((log_row){0, 0, 0, 0, i % 2 ? PESS_END_CUTOFF : PESS_END_NONE, i / 2, i % 2, 1});
        pess_dataset *data = rows_dataset(states, 1, ROWS_EPISODES | ROWS_STEPS);
        const double start[] = {1, 0};
        pess_certify_options options = options_for(PESS_CERTIFY_ROBUST, 2, 1, 0.05);
        options.start = start;
        pess_certificate_info info;
        pess_certificate_destroy(certified(data, &options, &info));
        upper[states - 1] = info.optimal_upper_bound;
        pess_dataset_destroy(data);
    }
    assert_true(upper[1] > upper[0] + log(2 * 3 / 0.05) / 200);
}

/* The policy that is given is bounded, with its steps; tables of another number of steps are refused. */
static void a_given_policy_may_have_steps(void **state) {
    (void)state;
    pess_dataset *data = changing_arms(3000, ROWS_EPISODES | ROWS_PROBABILITIES);
    pess_certify_options options = options_for(PESS_CERTIFY_ROBUST, 2, 1, 0.05);
    pess_certificate_info info;
    pess_certificate *found = certified(data, &options, &info), *again = NULL;
    const double lower = info.lower_bound;
    pess_error error = {0};
    options.policy = pess_certificate_policy(found);
    pess_certificate_destroy(certified(data, &options, &info));
    assert_true(fabs(info.lower_bound - lower) < 1e-6);
    options.horizon = 3;
    assert_int_equal(pess_certify(data, &options, &again, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "a table for each of 2 steps"));
    pess_certificate_destroy(found);
    pess_dataset_destroy(data);
}

/* ------------------------------------------------------------------------------------------------ refusals */

static void refused(pess_dataset *data, int64_t horizon, pess_status status, const char *words) {
    const pess_certify_options options = options_for(PESS_CERTIFY_ROBUST, horizon, 1, 0.05);
    pess_certificate *certificate = NULL;
    pess_error error = {0};
    assert_int_equal(pess_certify(data, &options, &certificate, &error), status);
    if (strstr(error.message, words) == NULL) fail_msg("found '%s', expected '%s'", error.message, words);
    assert_null(certificate);
    pess_dataset_destroy(data);
}

static void it_must_be_known_at_which_step_a_row_is(void **state) {
    (void)state;
    refused(changing_arms(3, 0), 2, PESS_INPUT, "the log has no episode column");
    made.count = 0;
    for (int64_t e = 0; e < 2; e++) rows_put((log_row){0, 0, 0, 0, PESS_END_NONE, e, 1 + 2 * e, 0.5});
    refused(rows_dataset(1, 2, ROWS_EPISODES | ROWS_STEPS), 2, PESS_INPUT,
            "episode '1' begins at step 3, expected step 1");
    refused(changing_arms(3, ROWS_EPISODES), INT64_C(1) << 40, PESS_LIMIT, "too many to tell apart");
}

int main(void) {
    omp_set_num_threads(1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_horizon_is_a_log_of_states_at_steps),
                                       cmocka_unit_test(bounds_of_steps_cover),
                                       cmocka_unit_test(the_policy_may_change_with_the_step),
                                       cmocka_unit_test(a_given_policy_may_have_steps),
                                       cmocka_unit_test(what_was_never_seen_is_worth_the_steps_that_are_left),
                                       cmocka_unit_test(it_must_be_known_at_which_step_a_row_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
