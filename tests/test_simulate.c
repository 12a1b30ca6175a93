/* Simulated logs against the probabilities they were drawn from. Chi-square limits are passed once in 10^6 under the
 * true law: k + 4.9·√(2k) + 16 bounds that quantile for k degrees of freedom (checked for k up to 1000). */
#include "core/threads.h"
#include "scratch.h"

#include "model/model.h"

#include <math.h>

static double chi_square_limit(double k) { return k + 4.9 * sqrt(2 * k) + 16; }

/* State 0: two actions with random rewards; state 1: only action 1; state 2 is terminal. */
static pess_mdp *make(void) {
    const pess_mdp_transition transitions[] = {{0, 0, 0, 0.125, 1}, {0, 0, 0, 0.375, 0}, {0, 0, 1, 0.5, 2},
                                               {0, 1, 1, 0.75, 0},  {0, 1, 2, 0.25, 5},  {0, 1, 0, 0, 9},
                                               {1, 1, 0, 0.9, 0},   {1, 1, 2, 0.1, 1}};
    pess_mdp *mdp = NULL;
    pess_error error = {0};
    assert_ok(pess_mdp_create(3, 2, transitions, 8, &mdp, &error), &error);
    return mdp;
}

static pess_policy *policy_of(double first) {
    pess_policy *policy = NULL;
    pess_error error = {0};
    assert_ok(pess_policy_create(3, 2, (double[]){first, 1 - first, 0, 1, 0, 0}, &policy, &error), &error);
    return policy;
}

static const double start[3] = {0.6, 0.4, 0};

/* The kinds of transitions of make() with probability, from state law `start` and the given π(0|0). */
typedef struct kind {
    uint32_t state, action, next_state;
    double reward, probability;
} kind;

static void kinds_of(double first, kind *kinds) {
    const kind list[7] = {{0, 0, 0, 1, 0.6 * first * 0.125},
                          {0, 0, 0, 0, 0.6 * first * 0.375},
                          {0, 0, 1, 2, 0.6 * first * 0.5},
                          {0, 1, 1, 0, 0.6 * (1 - first) * 0.75},
                          {0, 1, 2, 5, 0.6 * (1 - first) * 0.25},
                          {1, 1, 0, 0, 0.4 * 0.9},
                          {1, 1, 2, 1, 0.4 * 0.1}};
    memcpy(kinds, list, sizeof list);
}

static void transitions_follow_their_laws(void **state) {
    (void)state;
    pess_mdp *mdp = make();
    pess_policy *policy = policy_of(0.3);
    const double epsilons[] = {0, 0.5};
    for (int e = 0; e < 2; e++) {
        pess_simulate_options options = pess_simulate_options_defaults();
        options.transitions = 200000;
        options.epsilon = epsilons[e];
        options.seed = 11;
        pess_dataset *data = NULL;
        pess_error error = {0};
        assert_ok(pess_simulate(mdp, policy, start, &options, &data, &error), &error);
        const double first = (1 - epsilons[e]) * 0.3 + epsilons[e] * 0.5;
        kind kinds[7];
        kinds_of(first, kinds);
        double found[7] = {0}, chi_square = 0;
        pess_columns c;
        pess_dataset_columns(data, &c);
        assert_int_equal(c.rows, 200000);
        assert_null(c.episode);
        assert_int_equal(pess_dataset_states(data), 3);
        assert_int_equal(pess_dataset_actions(data), 2);
        for (int64_t i = 0; i < c.rows; i++) {
            int k = 0;
            while (k < 7 && (kinds[k].state != c.state[i] || kinds[k].action != c.action[i] ||
                             kinds[k].next_state != c.next_state[i] || kinds[k].reward != c.reward[i]))
                k++;
            assert_true(k < 7);
            found[k]++;
            assert_int_equal(c.end[i], c.next_state[i] == 2 ? PESS_END_TERMINAL : PESS_END_NONE);
            const double pi = c.state[i] == 1 ? 1 : c.action[i] == 0 ? first : 1 - first;
            assert_close(c.probability[i], pi, 1e-15);
        }
        for (int k = 0; k < 7; k++)
            chi_square += pow(found[k] - 200000 * kinds[k].probability, 2) / (200000 * kinds[k].probability);
        assert_true(chi_square < chi_square_limit(6));
        pess_dataset_destroy(data);
    }
    pess_policy_destroy(policy);
    pess_mdp_destroy(mdp);
}

static void states_from_the_stationary_law(void **state) {
    (void)state;
    pess_gridworld_options grid = pess_gridworld_options_defaults();
    grid.rows = 4;
    grid.cols = 5;
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    pess_policy *policy = NULL, *soft = NULL;
    pess_dataset *data = NULL;
    pess_error error = {0};
    assert_ok(pess_mdp_gridworld(&grid, &mdp, &error), &error);
    assert_ok(pess_mdp_model(mdp, 0, &model, &error), &error);
    double rows[80] = {0}, law[20], found[20] = {0}, chi_square = 0;
    for (int s = 0; s < 20; s++) rows[4 * s + (s * s) % 4] = 1;
    assert_ok(pess_policy_create(20, 4, rows, &policy, &error), &error);
    assert_ok(pess_policy_soften(policy, model, 0.2, &soft, &error), &error);
    assert_ok(pess_stationary(model, soft, law, &error), &error);
    pess_simulate_options options = pess_simulate_options_defaults();
    options.transitions = 100000;
    options.state_dist = PESS_STATE_DIST_STATIONARY;
    options.epsilon = 0.2;
    assert_ok(pess_simulate(mdp, policy, NULL, &options, &data, &error), &error);
    pess_columns c;
    pess_dataset_columns(data, &c);
    for (int64_t i = 0; i < c.rows; i++) found[c.state[i]]++;
    for (int s = 0; s < 20; s++) chi_square += pow(found[s] - 1e5 * law[s], 2) / (1e5 * law[s]);
    assert_true(chi_square < chi_square_limit(19));
    pess_dataset_destroy(data);
    pess_policy_destroy(policy);
    pess_policy_destroy(soft);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
}

/* Episodes are chains of transitions from ρ to a terminal state or the horizon. */
static void episodes_hang_together(void **state) {
    (void)state;
    pess_mdp *mdp = make();
    pess_policy *policy = policy_of(0.5);
    pess_simulate_options options = pess_simulate_options_defaults();
    options.episodes = 20000;
    options.horizon = 6;
    pess_dataset *data = NULL;
    pess_error error = {0};
    assert_ok(pess_simulate(mdp, policy, start, &options, &data, &error), &error);
    pess_columns c;
    pess_dataset_columns(data, &c);
    double from_zero = 0;
    int64_t episode = -1, cutoffs = 0, terminals = 0;
    for (int64_t i = 0; i < c.rows; i++) {
        const bool last = i + 1 == c.rows || c.episode[i + 1] != c.episode[i];
        if (c.step[i] == 0) {
            assert_int_equal(c.episode[i], ++episode);
            from_zero += c.state[i] == 0;
        } else {
            assert_int_equal(c.episode[i], episode);
            assert_int_equal(c.step[i], c.step[i - 1] + 1);
            assert_int_equal(c.state[i], c.next_state[i - 1]);
        }
        const pess_end end = c.next_state[i] == 2 ? PESS_END_TERMINAL
                             : c.step[i] == 5     ? PESS_END_CUTOFF
                                                  : PESS_END_NONE;
        assert_int_equal(c.end[i], end);
        assert_int_equal(last, end != PESS_END_NONE);
        cutoffs += end == PESS_END_CUTOFF;
        terminals += end == PESS_END_TERMINAL;
    }
    assert_int_equal(episode, 19999);
    assert_true(cutoffs > 0 && terminals > 0);
    assert_close(from_zero / 20000, 0.6, 4.9 * sqrt(0.24 / 20000));
    pess_dataset_destroy(data);
    pess_policy_destroy(policy);
    pess_mdp_destroy(mdp);
}

/* The same seed gives the same bytes with one thread and with three; a longer log begins with the shorter one. */
static void threads_do_not_matter(void **state) {
    (void)state;
    pess_mdp *mdp = make();
    pess_policy *policy = policy_of(0.5);
    pess_simulate_options options = pess_simulate_options_defaults();
    pess_error error = {0};
    pess_columns c[3];
    pess_dataset *data[3] = {NULL};
    const int threads = omp_get_max_threads();
    for (int i = 0; i < 3; i++) {
        omp_set_num_threads(i == 0 ? 1 : 3);
        options.transitions = i == 2 ? 10000 : 100000;
        assert_ok(pess_simulate(mdp, policy, start, &options, &data[i], &error), &error);
        pess_dataset_columns(data[i], &c[i]);
    }
    omp_set_num_threads(threads);
    for (int i = 1; i < 3; i++) {
        const size_t rows = (size_t)c[i].rows;
        assert_memory_equal(c[0].state, c[i].state, rows * sizeof *c[0].state);
        assert_memory_equal(c[0].action, c[i].action, rows * sizeof *c[0].action);
        assert_memory_equal(c[0].next_state, c[i].next_state, rows * sizeof *c[0].next_state);
        assert_memory_equal(c[0].reward, c[i].reward, rows * sizeof *c[0].reward);
    }
    for (int i = 0; i < 3; i++) pess_dataset_destroy(data[i]);
    pess_policy_destroy(policy);
    pess_mdp_destroy(mdp);
}

static bool stop(void *user, const char *what, double done, double total, const char *unit) {
    (void)what, (void)done, (void)total, (void)unit;
    ++*(int *)user;
    return false;
}

static void an_interruption_is_an_error(void **state) {
    (void)state;
    pess_mdp *mdp = make();
    pess_policy *policy = policy_of(0.5);
    int calls = 0;
    pess_simulate_options options = pess_simulate_options_defaults();
    options.transitions = 50000000;
    options.threads = 1; /* many would be done before they are asked */
    options.progress = (pess_progress){stop, &calls};
    pess_dataset *data = NULL;
    pess_error error = {0};
    assert_failure(pess_simulate(mdp, policy, start, &options, &data, &error), PESS_INTERRUPTED, &error, NULL);
    options.transitions = 0;
    options.episodes = options.horizon = 1000000000;
    assert_failure(pess_simulate(mdp, policy, start, &options, &data, &error), PESS_INTERRUPTED, &error, NULL);
    assert_int_equal(calls, 2);
    assert_null(data);
    pess_policy_destroy(policy);
    pess_mdp_destroy(mdp);
}

static void bad_arguments_are_refused(void **state) {
    (void)state;
    pess_mdp *mdp = make();
    pess_policy *good = policy_of(0.5), *lacking = NULL, *small = NULL, *idle = NULL;
    pess_error error = {0};
    assert_ok(pess_policy_create(3, 2, (double[]){1, 0, 1, 0, 0, 0}, &lacking, &error), &error);
    assert_ok(pess_policy_create(3, 2, (double[]){0, 0, 0, 1, 0, 0}, &idle, &error), &error);
    assert_ok(pess_policy_create(1, 2, (double[]){1, 0}, &small, &error), &error);
    const double terminal[3] = {0.5, 0, 0.5}, short_one[3] = {0.5, 0.4, 0}, negative[3] = {-0.5, 1.5, 0};
    const struct {
        pess_simulate_options options;
        const pess_policy *policy;
        const double *start;
        pess_status status;
        const char *word;
    } bad[] = {
        {{0}, good, start, PESS_ARGUMENT, "exactly one"},
        {{.transitions = 5, .episodes = 5, .horizon = 5}, good, start, PESS_ARGUMENT, "exactly one"},
        {{.transitions = -5}, good, start, PESS_ARGUMENT, "found '-5'"},
        {{.transitions = 5, .epsilon = 2}, good, start, PESS_ARGUMENT, "epsilon: found '2'"},
        {{.transitions = 5, .epsilon = NAN}, good, start, PESS_ARGUMENT, "epsilon"},
        {{.transitions = 5}, good, NULL, PESS_ARGUMENT, "start distribution"},
        {{.transitions = 5}, good, terminal, PESS_INPUT, "state 2 is terminal"},
        {{.episodes = 5, .horizon = 3}, good, terminal, PESS_INPUT, "state 2 is terminal"},
        {{.transitions = 5}, good, short_one, PESS_INPUT, "sum to 0.9"},
        {{.transitions = 5}, good, negative, PESS_INPUT, "-0.5"},
        {{.transitions = 5}, lacking, start, PESS_INPUT, "state 1 has no action 0"},
        {{.transitions = 5}, idle, start, PESS_INPUT, "state 0"},
        {{.transitions = 5}, small, start, PESS_INPUT, "1 states"},
        {{.transitions = 5, .state_dist = PESS_STATE_DIST_STATIONARY}, good, start, PESS_INPUT, "episodes end"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pess_dataset *data = NULL;
        pess_simulate_options options = bad[i].options;
        options.size = sizeof options;
        assert_failure(pess_simulate(mdp, bad[i].policy, bad[i].start, &options, &data, &error), bad[i].status, &error,
                       bad[i].word, NULL);
        assert_null(data);
    }
    pess_dataset *data = NULL;
    assert_failure(pess_simulate(mdp, good, start, NULL, &data, &error), PESS_ARGUMENT, &error, "exactly one", NULL);
    pess_policy_destroy(good);
    pess_policy_destroy(lacking);
    pess_policy_destroy(idle);
    pess_policy_destroy(small);
    pess_mdp_destroy(mdp);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transitions_follow_their_laws), cmocka_unit_test(states_from_the_stationary_law),
        cmocka_unit_test(episodes_hang_together),        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(an_interruption_is_an_error),   cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
