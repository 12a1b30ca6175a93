/* Acting by a network's outputs: the largest, or a draw from their softmax. Outputs are known, so counts of actions are
 * binomial: an assertion fails by chance once in a million. */
#include "play_case.h"

#include "deep/play.h"
#include "nn/netfile.h"

#include <string.h>

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

static int64_t times_taken(const pess__net *net, const pess_play_options *options, int64_t action) {
    pess_mdp *mdp = pays_for(action);
    pess_play_result result;
    pess_error error;
    assert_int_equal(pess__play(net, mdp, options, &result, &error), PESS_OK);
    pess_mdp_destroy(mdp);
    return (int64_t)(result.mean_return * EPISODES + 0.5);
}

static void episodes_are_sampled_from_the_softmax(void **state) {
    (void)state;
    pess__net *net = known_network();
    pess_play_options o = pess_play_options_defaults();
    o.episodes = EPISODES, o.seed = 11, o.sample = true, o.threads = 1;
    for (int mixed = 0; mixed < 2; mixed++) {
        int64_t all = 0;
        o.epsilon = mixed ? 0.25 : 0;
        for (int64_t a = 0; a < ACTIONS; a++) {
            const int64_t taken = times_taken(net, &o, a);
            is_binomial(EPISODES, (1 - o.epsilon) * law[a] + o.epsilon / ACTIONS, taken);
            all += taken;
        }
        assert_int_equal(all, EPISODES); /* the same draws each time */
    }
    pess__net_destroy(net);
}

static void without_sampling_it_is_the_largest(void **state) {
    (void)state;
    pess__net *net = known_network();
    pess_play_options o = pess_play_options_defaults();
    o.episodes = EPISODES, o.threads = 1;
    for (int64_t a = 0; a < ACTIONS; a++) assert_int_equal(times_taken(net, &o, a), a == 1 ? EPISODES : 0);
    pess__net_destroy(net);
}

static void samples_do_not_depend_on_threads(void **state) {
    (void)state;
    pess__net *net = known_network();
    pess_mdp *mdp = pays_for(0);
    pess_play_options o = pess_play_options_defaults();
    pess_play_result one, three;
    pess_error error;
    o.episodes = 500, o.sample = true, o.epsilon = 0.1, o.threads = 1;
    assert_int_equal(pess__play(net, mdp, &o, &one, &error), PESS_OK);
    o.threads = 3;
    assert_int_equal(pess__play(net, mdp, &o, &three, &error), PESS_OK);
    assert_memory_equal(&one, &three, sizeof one);
    pess_mdp_destroy(mdp);
    pess__net_destroy(net);
}

static void one_action_of_given_outputs(void **state) {
    (void)state;
    const float outputs[ACTIONS] = {(float)log(0.1), -1e30F, (float)log(0.9)};
    pess_random random = pess_random_create(3, "test", 0);
    int64_t count[ACTIONS] = {0};
    for (int i = 0; i < EPISODES; i++) count[pess_net_action(outputs, ACTIONS, true, &random)]++;
    is_binomial(EPISODES, 0.1, count[0]);
    assert_int_equal(count[1], 0);
    assert_int_equal(pess_net_action(outputs, ACTIONS, false, NULL), 2);
    const float equal[ACTIONS] = {1, 1, 1};
    assert_int_equal(pess_net_action(equal, ACTIONS, false, NULL), 0);
    /* the ends of [0,1) */
    assert_int_equal(pess__draw_softmax(outputs, ACTIONS, 0), 0);
    assert_int_equal(pess__draw_softmax(outputs, ACTIONS, 1 - 0x1p-53), 2);
}

static void notes_say_how_a_network_acts(void **state) {
    (void)state;
    static const struct {
        const char *notes;
        pess_status status;
        bool sample;
    } cases[] = {{"game=x\n", PESS_OK, false},
                 {"acts=argmax\n", PESS_OK, false},
                 {"game=x\nacts=softmax\nscore=1\n", PESS_OK, true},
                 {"acts=proximal\n", PESS_INPUT, false}};
    for (int i = 0; i < 4; i++) {
        pess_net *net = NULL;
        pess_error error = {0};
        bool sample = false;
        assert_int_equal(pess__net_wrap(known_network(), cases[i].notes, &net, &error), PESS_OK);
        assert_int_equal(pess_net_samples(net, "a.pessnet", &sample, &error), cases[i].status);
        assert_int_equal(sample, cases[i].sample);
        if (cases[i].status != PESS_OK) assert_non_null(strstr(error.message, "'proximal'"));
        pess_net_destroy(net);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(episodes_are_sampled_from_the_softmax), cmocka_unit_test(without_sampling_it_is_the_largest),
        cmocka_unit_test(samples_do_not_depend_on_threads), cmocka_unit_test(one_action_of_given_outputs),
        cmocka_unit_test(notes_say_how_a_network_acts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
