/* Calls of the library with arguments that it cannot serve: each is refused in one sentence, and nothing is changed. */
#include "fixture.h"
#include "scratch.h"

static pess_error error;

/* ---- observations that are appended */

enum { ROWS = 2 };

static const float observed[ROWS] = {0.5F, 1.5F}, then_observed[ROWS] = {1.5F, 0.5F};
static const int64_t actions[ROWS] = {0, 1};
static const double rewards[ROWS] = {1, 0}, probabilities[ROWS] = {0.5, 1};
static const uint8_t ends[ROWS] = {PESS_END_NONE, PESS_END_TERMINAL};

static pess_observations *observations(void) {
    pess_observations *data = NULL;
    const pess_observation_shape shape = pess_observation_floats(1);
    assert_ok(pess_observations_create(NULL, NULL, &shape, 2, &data, &error), &error);
    return data;
}

static pess_observations_rows good_rows(void) {
    return (pess_observations_rows){
        .count = ROWS, .state = observed, .next = then_observed, .action = actions, .reward = rewards, .end = ends};
}

static void not_appended(pess_observations *data, const pess_observations_rows *rows, pess_status status,
                         const char *words) {
    pess_observations_info before, after;
    pess_observations_get_info(data, &before);
    assert_failure(pess_observations_append(data, rows, &error), status, &error, words, NULL);
    pess_observations_get_info(data, &after);
    assert_int_equal(before.transitions, after.transitions);
}

#define NO_PATH(call) assert_failure(call, PESS_ARGUMENT, &error, "no path is given", NULL)

/* Whoever forgets a name, or a struct that is not optional, reads so. */
static void what_is_missing_is_refused(void **state) {
    (void)state;
    pess_policy *policy = NULL;
    pess_observations *data = NULL;
    pess_mdp *mdp = NULL;
    pess_net *net = NULL;
    pess_map *map = NULL;
    pess_env *env = NULL;
    NO_PATH(pess_policy_read(NULL, NULL, NULL, NULL, &policy, &error));
    NO_PATH(pess_policy_import(NULL, NULL, &policy, &error));
    NO_PATH(pess_observations_read(NULL, &data, &error));
    NO_PATH(pess_mdp_read(NULL, &mdp, &error));
    NO_PATH(pess_net_read(NULL, NULL, &net, &error));
    NO_PATH(pess_map_read(NULL, &map, &error));
    assert_ok(pess_policy_create(1, 1, (double[]){1}, &policy, &error), &error);
    NO_PATH(pess_policy_write(policy, NULL, NULL, NULL, &error));
    NO_PATH(pess_values_write(NULL, 1, NULL, (double[]){1}, &error));
    pess_policy_destroy(policy);
    assert_failure(pess_figure_write(NULL, 0, NULL, "none.svg", &error), PESS_ARGUMENT, &error,
                   "found no results to draw", NULL);
    assert_int_not_equal(access("none.svg", F_OK), 0);
    assert_failure(pess_env_create_own(NULL, NULL, &env, &error), PESS_ARGUMENT, &error,
                   "the environment: found the size 0", NULL);
    assert_failure(pess_cells_write_page(NULL, "none", &error), PESS_ARGUMENT, &error, "the page: found the size 0",
                   NULL);
}

static void transitions_that_do_not_fit_are_not_appended(void **state) {
    (void)state;
    static const double none[ROWS] = {0.5, 0}, nan[ROWS] = {(double)NAN, 0.5};
    static const float vectors[2 * ROWS] = {0, 1, 2, INFINITY};
    pess_observations *data = observations();
    pess_observations_inspection *inspection = NULL;
    assert_failure(pess_observations_inspect(data, &inspection, &error), PESS_ARGUMENT, &error,
                   "there are no transitions to look at", NULL);
    pess_observations_rows rows = good_rows();
    rows.count = -1;
    not_appended(data, &rows, PESS_ARGUMENT, "-1 transitions to append; 0 or more are possible");
    rows = good_rows(), rows.probability = none;
    not_appended(data, &rows, PESS_INPUT, "transition 1: probability 0; above 0 and at most 1 is expected");
    rows.probability = nan;
    not_appended(data, &rows, PESS_INPUT, "transition 0: probability nan");
    rows = good_rows(), rows.vector = vectors, rows.width = 0;
    not_appended(data, &rows, PESS_ARGUMENT, "transition 0: an action of 0 numbers; 1 are expected");
    rows.width = 2;
    not_appended(data, &rows, PESS_INPUT, "transition 1: number 1 of its action is inf; a finite one is expected");
    rows = good_rows();
    assert_ok(pess_observations_append(data, &rows, &error), &error);
    rows.probability = probabilities;
    not_appended(data, &rows, PESS_ARGUMENT, "transition 2: probabilities are of all transitions or of none");
    rows = good_rows(), rows.vector = vectors, rows.width = 1;
    not_appended(data, &rows, PESS_ARGUMENT, "actions are vectors in all transitions or in none");
    assert_failure(pess_observations_add(data, observed, 0, 1, then_observed, (pess_end)300, &error), PESS_INPUT,
                   &error, "transition 2", NULL);
    assert_failure(pess_observations_add(data, observed, 0, 1, then_observed, (pess_end)-1, &error), PESS_INPUT, &error,
                   "transition 2", NULL);
    pess_observations_destroy(data);
    data = observations();
    rows = good_rows(), rows.vector = vectors, rows.width = 1;
    assert_ok(pess_observations_append(data, &rows, &error), &error);
    rows.width = 2;
    not_appended(data, &rows, PESS_ARGUMENT, "transition 2: an action of 2 numbers; 1 are expected");
    pess_observations_destroy(data);
    assert_string_equal(pess_observation_kind_name((pess_observation_kind)77), "unknown");
}

/* ---- policies, and deciding by them */

static pess_policy *two_states(void) {
    static const double table[4] = {1, 0, 0.25, 0.75};
    pess_policy *policy = NULL;
    assert_ok(pess_policy_create(2, 2, table, &policy, &error), &error);
    return policy;
}

static void states_that_a_policy_does_not_have_are_refused(void **state) {
    (void)state;
    pess_policy *policy = two_states();
    double out[4];
    const int64_t both[2] = {1, 0}, beyond[2] = {0, 2}, below[1] = {-1};
    assert_ok(pess_policy_state_probabilities(policy, both, 2, out, &error), &error);
    assert_true(out[0] == 0.25 && out[1] == 0.75 && out[2] == 1 && out[3] == 0);
    assert_failure(pess_policy_state_probabilities(policy, beyond, 2, out, &error), PESS_ARGUMENT, &error,
                   "state: found 2, expected 0 to 1", NULL);
    assert_failure(pess_policy_state_probabilities(policy, below, 1, out, &error), PESS_ARGUMENT, &error,
                   "state: found -1, expected 0 to 1", NULL);
    assert_failure(pess_policy_observation_probabilities(policy, (const uint8_t *)observed, 4, 1, out, &error),
                   PESS_ARGUMENT, &error, "the policy is a table: it sees states", NULL);
    assert_null(pess_policy_row(policy, -1));
    assert_null(pess_policy_row(policy, 2));
    assert_null(pess_policy_step_row(policy, 1, 0));
    assert_null(pess_policy_step_row(policy, -1, 0));
    assert_null(pess_policy_step_row(policy, 0, 2));
    assert_null(pess_policy_step_row(policy, 0, -1));
    assert_ptr_equal(pess_policy_step_row(policy, 0, 1), pess_policy_row(policy, 1));
    pess_policy_destroy(policy);
}

static void tables_that_are_no_policy_are_refused(void **state) {
    (void)state;
    const double negative[2] = {-0.5, 1.5}, too_much[2] = {0.75, 0.75}, nan[2] = {(double)NAN, 1};
    pess_policy *policy = NULL;
    assert_failure(pess_policy_create(1, 2, negative, &policy, &error), PESS_INPUT, &error,
                   "state 0, action 0: probability -0.5 is not in [0,1]", NULL);
    assert_failure(pess_policy_create(1, 2, nan, &policy, &error), PESS_INPUT, &error, "probability nan", NULL);
    assert_failure(pess_policy_create(1, 2, too_much, &policy, &error), PESS_INPUT, &error, "sum to 1.5", NULL);
    assert_failure(pess_policy_create(0, 2, too_much, &policy, &error), PESS_ARGUMENT, &error,
                   "0 states and 2 actions: at least one of each is needed", NULL);
    assert_failure(pess__policy_allocate_steps(INT64_C(1) << 40, 2, 2, &policy, &error), PESS_LIMIT, &error,
                   "is too large", NULL);
    assert_null(policy);
    assert_true(pess__policy_row_holds(too_much, 1) == false);
    assert_true(pess__policy_row_holds(negative, 2) == false);
    const double even[2] = {0.5, 0.5};
    assert_true(pess__policy_row_holds(even, 2));
}

static pess_counts *counts_of(const char *text) {
    pess_counts *counts = NULL;
    assert_ok(pess_counts_read_memory("log", text, strlen(text), NULL, &counts, &error), &error);
    return counts;
}

/* The log's numbers where it has numbers, its names where it has names: the policy's "7" is the log's state 7. */
static void deciders_find_the_same_states_in_the_log(void **state) {
    (void)state;
    static const char *const numbers[] = {"1", "0"}, *const others[] = {"home", "7"};
    pess_names *swapped = NULL, *foreign = NULL;
    assert_ok(pess_names_create(numbers, 2, &swapped, &error), &error);
    assert_ok(pess_names_create(others, 2, &foreign, &error), &error);
    pess_counts *numbered = counts_of("state,action,reward,next_state\n0,0,0,1\n0,0,0,1\n0,1,0,1\n1,1,0,0\n"),
                *named = counts_of("state,action,reward,next_state\nx,0,0,7\n7,1,0,x\n7,0,0,x\n7,1,0,x\n");
    pess_policy *policy = two_states();
    const struct {
        const pess_names *names;
        const pess_counts *counts;
        int64_t expected[2]; /* n(s) of the policy's states */
    } all[] = {{NULL, numbered, {3, 1}},
               {swapped, numbered, {1, 3}},
               {foreign, numbered, {0, 0}},
               {foreign, named, {0, 3}},
               {NULL, named, {0, 0}}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pess_decider *decider = NULL;
        pess_decision d;
        assert_ok(pess_decider_create(policy, all[i].names, NULL, NULL, all[i].counts, NULL, &decider, &error), &error);
        for (int64_t s = 0; s < 2; s++) {
            assert_ok(pess_act_state(decider, s, 0, &d, &error), &error);
            assert_int_equal(d.state_count, all[i].expected[s]);
            assert_int_equal(d.action, s);
        }
        assert_failure(pess_act_state(decider, 2, 0, &d, &error), PESS_ARGUMENT, &error,
                       "found the state 2, expected one from 0 to 1", NULL);
        assert_failure(pess_act_state(decider, -1, 0, &d, &error), PESS_ARGUMENT, &error, "found the state -1", NULL);
        const double row[1] = {60};
        assert_failure(pess_act_many(decider, row, 1, &d, &error), PESS_ARGUMENT, &error,
                       "found a row of measurements and no map, expected a state", NULL);
        pess_decider_destroy(decider);
    }
    pess_policy_destroy(policy);
    pess_counts_destroy(named);
    pess_counts_destroy(numbered);
    pess_names_destroy(foreign);
    pess_names_destroy(swapped);
}

/* Actions are drawn by their probabilities: one that has none never. */
static void drawn_actions_have_a_probability(void **state) {
    (void)state;
    enum { DRAWS = 4000 };
    static const double table[3] = {0.25, 0, 0.75};
    pess_policy *policy = NULL;
    pess_decider *decider = NULL;
    pess_act_options options = pess_act_options_defaults();
    options.choice = PESS_ACT_DRAW;
    assert_ok(pess_policy_create(1, 3, table, &policy, &error), &error);
    assert_ok(pess_decider_create(policy, NULL, NULL, NULL, NULL, &options, &decider, &error), &error);
    int64_t drawn[3] = {0};
    for (int64_t i = 0; i < DRAWS; i++) {
        pess_decision d;
        assert_ok(pess_act_state(decider, 0, i, &d, &error), &error);
        assert_in_range(d.action, 0, 2);
        assert_true(d.probability == table[d.action]);
        drawn[d.action]++;
    }
    assert_int_equal(drawn[1], 0);
    assert_true(fabs((double)drawn[0] / DRAWS - 0.25) < 5.5 * sqrt(0.25 * 0.75 / DRAWS)); /* false alarm: 4e-8 */
    pess_decider_destroy(decider);
    pess_policy_destroy(policy);
}

/* ---- models */

static void models_that_are_broken_do_not_hold(void **state) {
    (void)state;
    const fixture_shape shapes[] = {FIXTURE_SHAPES};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        pess_model *model = fixture_model(&shapes[i], 7);
        const int64_t pairs = model->states * model->actions;
        assert_true(pess__model_holds(model));
        for (int64_t z = 0; z < pairs; z++) {
            const int64_t k = model->row[z];
            if (model->row[z + 1] == k) continue;
            const double p = model->probability[k];
            model->probability[k] = -p;
            assert_false(pess__model_holds(model));
            model->probability[k] = (double)NAN;
            assert_false(pess__model_holds(model));
            model->probability[k] = p + 0.01;
            assert_false(pess__model_holds(model));
            model->probability[k] = p;
            if (model->row[z + 1] > k + 1) {
                const uint32_t next = model->next[k];
                model->next[k] = model->next[k + 1];
                assert_false(pess__model_holds(model));
                model->next[k] = next;
            }
            model->row[z + 1]++;
            if (z + 1 < pairs) assert_false(pess__model_holds(model));
            model->row[z + 1]--;
        }
        pess_model_destroy(model);
    }
}

/* Rows sum to one through the calls that read single entries; what is not there is 0. */
static void entries_outside_the_model_are_zero(void **state) {
    (void)state;
    const fixture_shape shapes[] = {FIXTURE_SHAPES};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        pess_model *model = fixture_model(&shapes[i], 11);
        const int64_t states = model->states, count = model->actions;
        for (int64_t z = 0; z < states * count; z++) {
            const int64_t s = z / count, a = z % count;
            double sum = pess_model_terminal(model, s, a);
            for (int64_t t = 0; t < states; t++) sum += pess_model_probability(model, s, a, t);
            if (model->kind[z] == PESS_ROW_SPARSE) assert_close(sum, 1, 1e-9);
            if (model->kind[z] == PESS_ROW_NONE) assert_true(sum == 0);
        }
        const int64_t outside[][2] = {{-1, 0}, {states, 0}, {0, -1}, {0, count}};
        for (int k = 0; k < 4; k++) {
            assert_true(pess_model_reward(model, outside[k][0], outside[k][1]) == 0);
            assert_true(pess_model_terminal(model, outside[k][0], outside[k][1]) == 0);
            assert_true(pess_model_probability(model, outside[k][0], outside[k][1], 0) == 0);
        }
        assert_true(pess_model_probability(model, 0, 0, -1) == 0 && pess_model_probability(model, 0, 0, states) == 0);
        assert_false(pess_model_is_terminal_state(model, -1));
        assert_false(pess_model_is_terminal_state(model, states));
        pess_model_destroy(model);
    }
}

/* ---- returns */

static void returns_outside_their_range_are_named(void **state) {
    (void)state;
    static const char text[] = "episode,state,action,reward,next_state,terminal,probability\n"
                               "ann,0,0,1,1,0,0.5\nann,1,1,2,0,1,0.5\nbob,0,1,1,1,0,0.5\nbob,1,0,1,0,1,0.5\n";
    pess_dataset *data = NULL;
    pess_counts *counts = NULL;
    pess_model *model = NULL;
    pess_policy *policy = NULL;
    pess_estimates found;
    pess_estimator_options options = pess_estimator_options_defaults();
    options.gamma = 1, options.bootstrap = 2, options.threads = 1;
    assert_ok(pess_dataset_read_memory("log", text, strlen(text), NULL, &data, &error), &error);
    assert_ok(pess_counts_create(data, 1, &counts, &error), &error);
    assert_ok(pess_model_estimate(counts, NULL, &model, &error), &error);
    assert_ok(pess_policy_empirical(counts, model, &policy, &error), &error);
    options.return_range[0] = 2.5, options.return_range[1] = 4;
    assert_failure(pess_estimate_policy(data, counts, model, policy, &options, &found, &error), PESS_INPUT, &error,
                   "the return of episode 'bob' is 2, outside the declared range of returns from 2.5 to 4", NULL);
    options.return_range[0] = 0, options.return_range[1] = 2.5;
    assert_failure(pess_estimate_policy(data, counts, model, policy, &options, &found, &error), PESS_INPUT, &error,
                   "the return of episode 'ann' is 3", NULL);
    const double range[2] = {0, 4};
    assert_failure(pess_dataset_check_returns(data, 1.5, range, &error), PESS_ARGUMENT, &error,
                   "gamma 1.5 is not in [0,1]", NULL);
    assert_failure(pess_dataset_check_returns(data, (double)NAN, range, &error), PESS_ARGUMENT, &error, "gamma nan",
                   NULL);
    assert_ok(pess_dataset_check_returns(data, 1, range, &error), &error);
    pess_policy_destroy(policy);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    pess_dataset_destroy(data);
    /* without episodes a return begins at every row and is known to its next state */
    static const char rows[] = "state,action,reward,next_state\n0,0,1,1\n1,1,9,0\n";
    assert_ok(pess_dataset_read_memory("log", rows, strlen(rows), NULL, &data, &error), &error);
    assert_failure(pess_dataset_check_returns(data, 0.5, range, &error), PESS_INPUT, &error,
                   "the return from row 2 on is 9, outside the declared range of returns from 0 to 4", NULL);
    pess_dataset_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missing_is_refused),
        cmocka_unit_test(transitions_that_do_not_fit_are_not_appended),
        cmocka_unit_test(states_that_a_policy_does_not_have_are_refused),
        cmocka_unit_test(tables_that_are_no_policy_are_refused),
        cmocka_unit_test(deciders_find_the_same_states_in_the_log),
        cmocka_unit_test(drawn_actions_have_a_probability),
        cmocka_unit_test(models_that_are_broken_do_not_hold),
        cmocka_unit_test(entries_outside_the_model_are_zero),
        cmocka_unit_test(returns_outside_their_range_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
