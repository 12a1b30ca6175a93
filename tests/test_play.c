/* Acting by a policy: a network's largest output, a draw from the softmax, a table. Outputs are known, so counts of
 * actions are binomial: an assertion fails by chance once in a million. */
#include "play_case.h"

#include "deep/bundle.h"
#include "deep/play.h"
#include "nn/netfile.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ACTIONS = 3, EPISODES = 5000 };

static const double law[ACTIONS] = {0.2, 0.5, 0.3};

/* Outputs 7 + ln(law) in both states. */
static pess__net *known_network(void) {
    float table[2 * ACTIONS];
    for (int i = 0; i < 2 * ACTIONS; i++) table[i] = (float)(7 + log(law[i % ACTIONS]));
    return table_network(2, ACTIONS, table);
}

static pess_mdp *pays_for(int64_t action) {
    double pay[ACTIONS] = {0};
    pay[action] = 1;
    return one_step(ACTIONS, pay);
}

/* A policy of the network alone, read from a file whose notes say `acts`. */
static pess_policy *acting(const char *acts) {
    char path[] = "/tmp/pess_play_test_XXXXXX.pessnet", notes[64];
    pess_net *net = NULL;
    pess_policy *policy = NULL;
    pess_error error;
    const int descriptor = mkstemps(path, 8);
    assert_true(descriptor >= 0);
    (void)close(descriptor);
    (void)snprintf(notes, sizeof notes, "game=x\n%s%s\n", acts != NULL ? "acts=" : "", acts != NULL ? acts : "");
    assert_int_equal(pess__net_wrap(known_network(), notes, &net, &error), PESS_OK);
    assert_int_equal(pess_net_write(net, path, &error), PESS_OK);
    assert_int_equal(pess_policy_read(path, NULL, NULL, NULL, &policy, &error), PESS_OK);
    (void)remove(path);
    pess_net_destroy(net);
    return policy;
}

static int64_t times_taken(const pess_policy *policy, pess_play_options *options, int64_t action) {
    pess_mdp *mdp = pays_for(action);
    pess_play_result result;
    pess_error error;
    options->mdp = mdp;
    assert_int_equal(pess_play(policy, options, &result, &error), PESS_OK);
    pess_mdp_destroy(mdp);
    options->mdp = NULL;
    return (int64_t)(result.mean_return * EPISODES + 0.5);
}

static void episodes_are_sampled_from_the_softmax(void **state) {
    (void)state;
    pess_policy *policy = acting("softmax");
    pess_play_options o = pess_play_options_defaults();
    o.episodes = EPISODES, o.seed = 11, o.threads = 1;
    for (int mixed = 0; mixed < 2; mixed++) {
        int64_t all = 0;
        o.epsilon = mixed ? 0.25 : 0;
        for (int64_t a = 0; a < ACTIONS; a++) {
            const int64_t taken = times_taken(policy, &o, a);
            is_binomial(EPISODES, (1 - o.epsilon) * law[a] + o.epsilon / ACTIONS, taken);
            all += taken;
        }
        assert_int_equal(all, EPISODES); /* the same draws each time */
    }
    pess_policy_destroy(policy);
}

static void without_sampling_it_is_the_largest(void **state) {
    (void)state;
    for (int asked = 0; asked < 2; asked++) { /* for, of a policy that would sample; or the policy's own rule */
        pess_policy *policy = acting(asked ? "softmax" : NULL);
        pess_play_options o = pess_play_options_defaults();
        o.episodes = EPISODES, o.threads = 1, o.argmax = asked;
        for (int64_t a = 0; a < ACTIONS; a++) assert_int_equal(times_taken(policy, &o, a), a == 1 ? EPISODES : 0);
        pess_policy_destroy(policy);
    }
}

static void samples_do_not_depend_on_threads(void **state) {
    (void)state;
    pess_policy *policy = acting("softmax");
    pess_mdp *mdp = pays_for(0);
    pess_play_options o = pess_play_options_defaults();
    pess_play_result one, three;
    pess_error error;
    o.mdp = mdp, o.episodes = 500, o.epsilon = 0.1, o.threads = 1;
    assert_int_equal(pess_play(policy, &o, &one, &error), PESS_OK);
    o.threads = 3;
    assert_int_equal(pess_play(policy, &o, &three, &error), PESS_OK);
    assert_memory_equal(&one, &three, sizeof one);
    pess_mdp_destroy(mdp);
    pess_policy_destroy(policy);
}

static void one_action_of_given_probabilities(void **state) {
    (void)state;
    const double probabilities[ACTIONS] = {0.1, 0, 0.9}, equal[ACTIONS] = {0.3, 0.3, 0.3};
    pess_policy *samples = acting("softmax"), *largest = acting("argmax");
    pess_random random = pess_random_create(3, "test", 0);
    const pess_random before = random;
    int64_t count[ACTIONS] = {0};
    assert_int_equal(pess_policy_act(largest, probabilities, &random), 2);
    assert_int_equal(pess_policy_act(samples, probabilities, NULL), 2);
    assert_int_equal(pess_policy_act(largest, equal, &random), 0);
    assert_memory_equal(&before, &random, sizeof random); /* nothing is drawn where nothing is sampled */
    for (int i = 0; i < EPISODES; i++) count[pess_policy_act(samples, probabilities, &random)]++;
    is_binomial(EPISODES, 0.1, count[0]);
    assert_int_equal(count[1], 0);
    /* the ends of [0,1) */
    assert_int_equal(pess__policy_draw(probabilities, ACTIONS, 0), 0);
    assert_int_equal(pess__policy_draw(probabilities, ACTIONS, 1 - 0x1p-53), 2);
    const double rounded[ACTIONS] = {0.4, 0.59995, 0};
    assert_int_equal(pess__policy_draw(rounded, ACTIONS, 1 - 0x1p-53), 1); /* not one that is never taken */
    pess_policy_destroy(samples);
    pess_policy_destroy(largest);
}

static void notes_say_how_a_network_acts(void **state) {
    (void)state;
    static const struct {
        const char *acts, *rule;
        bool samples, partial;
    } cases[] = {{NULL, "argmax", false, false},
                 {"argmax", "argmax", false, false},
                 {"softmax", "softmax", true, false},
                 {"proximal", "proximal", false, true}};
    for (int i = 0; i < 4; i++) {
        pess_policy *policy = acting(cases[i].acts);
        pess_policy_info info;
        pess_policy_get_info(policy, &info);
        assert_string_equal(info.kind, "networks");
        assert_string_equal(info.rule, cases[i].rule);
        assert_int_equal(info.samples, cases[i].samples);
        assert_int_equal(info.partial, cases[i].partial);
        assert_true(info.network_count == 1 && info.parameters == 3 * ACTIONS && info.bytes == 1);
        char value[8];
        assert_true(pess_policy_note(policy, "game", value, sizeof value));
        assert_string_equal(value, "x");
        pess_policy_destroy(policy);
    }
}

static void a_table_of_numbers_needs_no_model(void **state) {
    (void)state;
    pess_policy *policy = NULL;
    pess_error error = {0};
    char path[100];
    (void)snprintf(path, sizeof path, "/tmp/pess-table-%ld.csv", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("state,action,probability\n1,0,0.25\n1,2,0.75\n0,1,1\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(pess_policy_read(path, NULL, NULL, NULL, &policy, &error), PESS_OK);
    const double expected[6] = {0, 1, 0, 0.25, 0, 0.75};
    assert_memory_equal(pess_policy_probabilities(policy), expected, sizeof expected);
    pess_policy_destroy(policy);
    policy = NULL;
    file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("state,action,probability\nhall,0,1\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(pess_policy_read(path, NULL, NULL, NULL, &policy, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "where no model says which is which"));
    assert_null(policy);
    (void)remove(path);
}

/* The same law from a network that sees one-hot states and from a table that sees their numbers. */
static void a_table_and_networks_act_alike(void **state) {
    (void)state;
    const double rows[2 * ACTIONS] = {0.2, 0.5, 0.3};
    const int64_t states[] = {0, 2};
    const uint8_t bits[] = {1};
    pess_error error;
    pess_policy *table = NULL, *networks = acting("softmax");
    assert_int_equal(pess_policy_create(2, ACTIONS, rows, &table, &error), PESS_OK);
    double seen[ACTIONS], known[ACTIONS];
    assert_int_equal(pess_policy_observation_probabilities(networks, bits, 1, 1, seen, &error), PESS_OK);
    assert_int_equal(pess_policy_state_probabilities(table, states, 1, known, &error), PESS_OK);
    for (int a = 0; a < ACTIONS; a++) assert_true(fabs(seen[a] - known[a]) < 1e-6);
    assert_int_equal(pess_policy_observation_probabilities(table, bits, 1, 1, seen, &error), PESS_ARGUMENT);
    assert_int_equal(pess_policy_observation_probabilities(networks, bits, 0, 1, seen, &error), PESS_ARGUMENT);
    assert_int_equal(pess_policy_state_probabilities(networks, states, 1, known, &error), PESS_ARGUMENT);
    assert_int_equal(pess_policy_state_probabilities(table, states, 2, known, &error), PESS_ARGUMENT);
    pess_play_options o = pess_play_options_defaults();
    o.episodes = EPISODES, o.seed = 11, o.threads = 1;
    for (int64_t a = 0; a < ACTIONS; a++)
        assert_int_equal(times_taken(table, &o, a), times_taken(networks, &o, a)); /* draw by draw */
    /* Where a table is needed networks are refused, and the other way round. */
    pess_mdp *mdp = pays_for(0);
    pess_dataset *log = NULL;
    pess_simulate_options simulate = pess_simulate_options_defaults();
    simulate.transitions = 1;
    assert_int_equal(pess_simulate(mdp, networks, NULL, &simulate, &log, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "expected a table over the states of the MDP"));
    o.game = "breakout";
    pess_play_result result;
    assert_int_equal(pess_play(table, &o, &result, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "a table over states; breakout shows observations"));
    pess_mdp_destroy(mdp);
    pess_policy_destroy(table);
    pess_policy_destroy(networks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(episodes_are_sampled_from_the_softmax), cmocka_unit_test(without_sampling_it_is_the_largest),
        cmocka_unit_test(samples_do_not_depend_on_threads),      cmocka_unit_test(one_action_of_given_probabilities),
        cmocka_unit_test(notes_say_how_a_network_acts),          cmocka_unit_test(a_table_and_networks_act_alike),
        cmocka_unit_test(a_table_of_numbers_needs_no_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
