/* How a trained learner acts: networks hold an exact table, so what an episode pays, what was expected of it and how
 * much of it was outside the data are numbers by hand. Sampled actions are binomial: an assertion fails by chance once
 * in a million. */
#include "fitted_case.h"

enum { EPISODES = 5000 };

/* ---- a line of three states: action right[s] leads on and pays pay[s], any other ends and pays nothing */

enum { LINE = 3, END = LINE, BITS = LINE + 1 };
static const int64_t right[LINE] = {2, 1, 2};
static const double pay[LINE] = {1, 10, 100};

static pess_mdp *line(void) {
    pess_mdp_transition transitions[LINE * ACTIONS];
    for (int64_t s = 0; s < LINE; s++)
        for (int64_t a = 0; a < ACTIONS; a++)
            transitions[s * ACTIONS + a] =
                a == right[s] ? (pess_mdp_transition){s, a, s + 1, 1, pay[s]} : (pess_mdp_transition){s, a, END, 1, 0};
    pess_mdp *mdp = NULL;
    pess_error error;
    OK(pess_mdp_create(BITS, ACTIONS, transitions, LINE * ACTIONS, &mdp, &error));
    return mdp;
}

/* The log knows states 0 and 1 and never came to 2. */
static pess_observations *without_the_last(void) {
    pess_observations *data = no_steps(BITS);
    add_step(data, 0, 2, 1, 1, PESS_END_NONE);
    add_step(data, 1, 0, 0, END, PESS_END_TERMINAL);
    return data;
}

/* What the actions are worth, penalty included, and the penalties of uncertainty-aware learning: with α = 1/2 another
 * action than `right` has the largest value in every state. The best worths are v(0) = 1, v(1) = 1024, v(2) = 2^20. */
static const float worth[BITS][ACTIONS] = {{-1, 0.5F, 1}, {3, 1024, 1000}, {0, 2, 1 << 20}};
static const float uncertainty[BITS][ACTIONS] = {{8, 1, 0}, {0, 2, 90}, {96, 1, 2.5F}};

/* naive holds the worths; ua-counts the same less its penalties, in the table for states 0 and 1, and in the
 * uncertainty's network for 2 alone. */
static pess__training *who_walks(const char *algorithm, const pess_observations *data, const pess_mdp *mdp) {
    pess__training *f = by_hand(algorithm, 0.5, data);
    float values[BITS][ACTIONS], spoken[BITS][ACTIONS];
    f->setup.options.mdp = mdp;
    f->setup.options.gamma = 0.5;
    f->setup.cap = 100;
    for (int s = 0; s < BITS; s++)
        for (int a = 0; a < ACTIONS; a++) {
            values[s][a] = worth[s][a] + (f->setup.learner->uncertainty != NULL ? 0.5F * uncertainty[s][a] : 0);
            spoken[s][a] = s == 2 ? uncertainty[s][a] : 50;
        }
    values[2][0] = f->setup.learner->uncertainty != NULL ? (1 << 20) + 20 : 0; /* the largest, less 48 */
    f->networks.nets[0] = table_network(BITS, ACTIONS, values[0]);
    if (f->setup.learner->uncertainty == NULL) return f;
    f->tables.penalty =
        copy_of(uncertainty[0], BITS * ACTIONS); /* observations are numbered 0, 1, END here; the last is not met */
    f->networks.uncertainty = table_network(BITS, ACTIONS, spoken[0]);
    f->setup.options.relative = false;
    return f;
}

/* Episodes begin in any state but the end. One at a time: the value at its first state tells which. */
static void an_episode_of_three_steps_is_scored_as_computed_by_hand(void **state) {
    (void)state;
    static const char *const learners[] = {"naive", "ua-counts"};
    /* From state 2 it pays 100; from 1: 10 + 100; from 0: 1 + 10 + 100. Discounted: 100, 10 + 50, 1 + 5 + 25. The
     * last state is outside the data: 1 of 1, 2 or 3 steps. */
    static const double paid[LINE] = {111, 110, 100}, obtained[LINE] = {31, 60, 100}, steps[LINE] = {3, 2, 1};
    pess_mdp *mdp = line();
    pess_observations *data = without_the_last();
    for (int i = 0; i < 2; i++) {
        pess__training *f = who_walks(learners[i], data, mdp);
        int begun[LINE] = {0};
        for (uint64_t seed = 0; seed < 12; seed++) {
            pess__scored found;
            pess_error error;
            int s = 0;
            f->setup.options.seed = seed;
            OK(pess__training_evaluate(f, 1, 1, &found, &error));
            while (s < LINE && found.predicted != (double)worth[s][right[s]]) s++;
            if (s == LINE) fail_msg("%s expects %.9g, the value of no state", learners[i], found.predicted);
            begun[s]++;
            assert_true(found.mean_return == paid[s]);
            assert_true(found.control == paid[s]); /* nothing is sampled */
            assert_true(found.obtained == obtained[s]);
            assert_true(found.outside == 1 / steps[s]);
        }
        for (int s = 0; s < LINE; s++) assert_true(begun[s] > 0);
        put_away(f);
    }
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* A hundred together, of different lengths: the mean of the expectations is (n0 + 1024 n1 + 2^20 n2)/100 and tells how
 * many began where. */
static void episodes_that_step_together(void **state) {
    (void)state;
    static const char *const learners[] = {"naive", "ua-counts"};
    enum { TOGETHER = 100 };
    pess_mdp *mdp = line();
    pess_observations *data = without_the_last();
    for (int i = 0; i < 2; i++) {
        pess__training *f = who_walks(learners[i], data, mdp);
        pess__scored found;
        pess_error error;
        OK(pess__training_evaluate(f, TOGETHER, 0, &found, &error));
        const int64_t code = llround(found.predicted * TOGETHER);
        const double n0 = (double)(code % 1024), n1 = (double)(code / 1024 % 1024), n2 = (double)(code >> 20);
        assert_true(n0 > 0 && n1 > 0 && n2 > 0 && n0 + n1 + n2 == TOGETHER);
        assert_close("return", found.mean_return, (111 * n0 + 110 * n1 + 100 * n2) / TOGETHER);
        assert_close("obtained", found.obtained, (31 * n0 + 60 * n1 + 100 * n2) / TOGETHER);
        assert_close("outside", found.outside, TOGETHER / (3 * n0 + 2 * n1 + n2));
        put_away(f);
    }
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* Imagined states are not states of the data. */
static void imagined_states_are_outside(void **state) {
    (void)state;
    pess_mdp *mdp = line();
    pess_observations *data = without_the_last(), *more = without_the_last();
    add_step(more, 2, 0, 5, END, PESS_END_TERMINAL);
    for (int imagined = 0; imagined < 2; imagined++) {
        pess__training *f = who_walks("naive", more, mdp);
        pess__scored found;
        pess_error error;
        f->setup.options.data = imagined ? data : more;
        f->replaced = imagined ? more : NULL;
        OK(pess__training_evaluate(f, 20, 0, &found, &error));
        assert_true(imagined ? found.outside > 1.0 / 3 : found.outside == 0);
        f->replaced = NULL;
        put_away(f);
    }
    pess_observations_destroy(more);
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* ---- episodes of one step */

static const double law[ACTIONS] = {0.2, 0.5, 0.3};

/* Log of a law in both states. */
static pess__net *log_network(const double *p) {
    float table[2 * ACTIONS];
    for (int i = 0; i < 2 * ACTIONS; i++) table[i] = (float)(7 + log(p[i % ACTIONS]));
    return table_network(2, ACTIONS, table);
}

/* The state that acts was seen with each action so often; `outside`: only the end was, and as often. */
static pess_observations *logged(const int *times, bool outside) {
    pess_observations *data = no_steps(2);
    for (int32_t a = 0; a < ACTIONS; a++)
        for (int i = 0; i < times[a]; i++) add_step(data, outside, a, 0, 1, PESS_END_TERMINAL);
    return data;
}

/* What every action paid by itself, of the same episodes: how often each was taken, and by the control. */
static void times_taken(pess__training *f, int64_t *taken, int64_t *control) {
    for (int64_t a = 0; a < ACTIONS; a++) {
        double prize[ACTIONS] = {0};
        pess__scored found;
        pess_error error;
        prize[a] = 1;
        pess_mdp *mdp = one_step(ACTIONS, prize);
        f->setup.options.mdp = mdp;
        OK(pess__training_evaluate(f, EPISODES, EPISODES, &found, &error));
        taken[a] = llround(found.mean_return * EPISODES);
        control[a] = llround(found.control * EPISODES);
        pess_mdp_destroy(mdp);
    }
}

/* q = (0, 1, 0.9), for spibb-dqn (0, 0.5, 0.9), where the actions were seen 4, 5 and 6 times; π̂ is `law`. */
static void policies_that_are_sampled(void **state) {
    (void)state;
    const double e[ACTIONS] = {0.2, 0.5 * exp(1), 0.3 * exp(0.9)}, sum = e[0] + e[1] + e[2];
    const struct {
        const char *algorithm;
        double alpha, policy[ACTIONS];
    } cases[] = {{"imitation", NAN, {0.2, 0.5, 0.3}},
                 {"proximal", 0.5, {0, 0.7, 0.3}}, /* 0 < 1 − α: moved to the best */
                 {"brac", 1, {e[0] / sum, e[1] / sum, e[2] / sum}},
                 {"spibb-dqn", 5, {0.2, 0, 0.8}}, /* the first keeps its own; of the others the last is best */
                 {"crr", NAN, {0.3, 0.2, 0.5}}};
    pess_observations *data = logged((const int[]){4, 5, 6}, false);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const float q[2 * ACTIONS] = {0, c == 3 ? 0.5F : 1, 0.9F};
        pess__training *f = by_hand(cases[c].algorithm, cases[c].alpha, data);
        int64_t taken[ACTIONS], control[ACTIONS], all = 0, most = 0;
        f->networks.nets[0] = c == 0 ? log_network(law) : table_network(2, ACTIONS, q);
        if (f->setup.learner->info.imitation) f->networks.imitation = log_network(law);
        if (strcmp(cases[c].algorithm, "crr") == 0) f->networks.nets[1] = log_network(cases[c].policy);
        times_taken(f, taken, control);
        for (int64_t a = 0; a < ACTIONS; a++) {
            if (cases[c].policy[a] > 0)
                is_binomial(EPISODES, cases[c].policy[a], taken[a]);
            else
                assert_int_equal(taken[a], 0);
            all += taken[a];
            if (cases[c].policy[a] > cases[c].policy[most]) most = a;
        }
        assert_int_equal(all, EPISODES); /* the same draws each time */
        for (int64_t a = 0; a < ACTIONS; a++) assert_int_equal(control[a], a == most ? EPISODES : 0);
        put_away(f);
    }
    pess_observations_destroy(data);
}

/* One episode that pays the number of its action. */
static pess__scored one_look(pess__training *f) {
    const double number[ACTIONS] = {0, 1, 2};
    pess_mdp *mdp = one_step(ACTIONS, number);
    pess__scored found;
    pess_error error;
    f->setup.options.mdp = mdp;
    OK(pess__training_evaluate(f, 1, 0, &found, &error));
    pess_mdp_destroy(mdp);
    return found;
}

/* The action that was logged most often; outside the data the one that the network finds least uncertain. */
static void counts_alone_plays_by_counts(void **state) {
    (void)state;
    static const float spoken[2 * ACTIONS] = {1, 3, 0.5F, 9, 9, 9}, nothing[2 * ACTIONS] = {0};
    for (int64_t most = 0; most < ACTIONS; most++)
        for (int outside = 0; outside < 2; outside++) {
            int times[ACTIONS] = {3, 5, 4};
            times[most] = 7;
            pess_observations *data = logged(times, outside);
            pess__training *f = by_hand("counts-alone", NAN, data);
            f->setup.options.protocol.updates = f->setup.options.protocol.steps = 1;
            f->networks.nets[0] = table_network(2, ACTIONS, nothing);
            make_penalties(f);
            pess__net_destroy(f->networks.uncertainty);
            f->networks.uncertainty = table_network(2, ACTIONS, spoken);
            const pess__scored found = one_look(f);
            assert_true(found.mean_return == (double)(outside ? 2 : most));
            assert_true(found.outside == outside && isnan(found.predicted));
            put_away(f);
            pess_observations_destroy(data);
        }
}

/* The mean of four networks less α standard deviations; the mean of many heads, whatever the mixture of the update. */
static void many_values_play_by_their_rule(void **state) {
    (void)state;
    pess_observations *data = logged((const int[]){1, 1, 1}, false);
    pess__training *f = by_hand("ua-ensemble", 1, data);
    /* Values 4 ± 3, 2 and 3 ± 0.5: of the means the first is the largest, less deviations the last is. */
    static const float up[2 * ACTIONS] = {7, 2, 3.5F}, down[2 * ACTIONS] = {1, 2, 2.5F};
    f->setup.options.relative = false;
    f->networks.nets[0] = table_network(2, ACTIONS, up);
    for (int k = 1; k < 4; k++) f->networks.nets[k] = table_network(2, ACTIONS, k == 1 ? up : down);
    pess__scored found = one_look(f);
    assert_true(found.mean_return == 2);
    assert_close("expected", found.predicted, 2.5);
    put_away(f);
    f = by_hand("rem", NAN, data);
    const int64_t heads = pess__learner_heads(f->setup.learner, f->setup.knobs);
    float *table = room_for(2 * heads * ACTIONS, sizeof *table);
    for (int64_t k = 0; k < heads; k++) { /* head 0 prefers action 0; all together 2 · (heads − 1)/heads of action 1 */
        table[k * ACTIONS] = k == 0 ? 10 : 0;
        table[k * ACTIONS + 1] = k == 0 ? 0 : 2;
    }
    f->networks.nets[0] = table_network(2, heads * ACTIONS, table);
    f->values.mixture[0] = 1; /* the update's mixture is head 0 alone */
    found = one_look(f);
    assert_true(found.mean_return == 1);
    assert_close("expected", found.predicted, 2 * (double)(heads - 1) / (double)heads);
    put_away(f);
    free(table);
    pess_observations_destroy(data);
}

/* ---- states outside the data. The table of the data has nothing to fear: read there, it would let the best q win. */

static void uncertainty_outside_the_data_is_the_networks(void **state) {
    (void)state;
    static const struct {
        const char *algorithm;
        double alpha;
        bool relative;
        float q[ACTIONS], network[ACTIONS]; /* in the state that acts */
        int action;
        double value;
    } cases[] = {
        /* u = min(9, cap 5), 1.5, max(−4, 0): 5 − 2.5, 3 − 0.75, 1. */
        {"ua-counts", 0.5, false, {5, 3, 1}, {9, 1.5F, -4}, 0, 2.5},
        {"ua-counts", 1, false, {5, 3, 1}, {9, 1.5F, -4}, 1, 1.5}, /* 0, 1.5, 1 */
        {"ua-counts", 2, false, {5, 3, 1}, {9, 1.5F, -4}, 2, 1},   /* −5, 0, 1 */
        {"ua-support-net", 1, false, {5, 3, 1}, {9, 1.5F, -4}, 1, 1.5},
        {"ua-counts", 1, true, {5, 3, 1}, {9, 1.5F, 0.5F}, 1, 2}, /* u = 4.5, 1, 0 */
        /* 1/√π̂ = √5, √2, √(10/3): 5 − 4.47, 4 − 2.83, 4.3 − 3.65. */
        {"ua-imitation", 2, false, {5, 4, 4.3F}, {0}, 1, 4 - 2 * 1.4142135623730951},
        /* The network's share of that, held to [0,1]: a quarter, all of it, nothing. */
        {"ua-imitation-counts", 2, false, {5, 4, 4.3F}, {0.25F}, 0, 5 - 0.5 * 2.2360679774997896},
        {"ua-imitation-counts", 2, false, {5, 4, 4.3F}, {7}, 1, 4 - 2 * 1.4142135623730951},
        {"ua-imitation-counts", 2, false, {5, 4, 4.3F}, {-1}, 0, 5},
        /* p = 1/7, 4/7, 2/7 from their logarithms: 5 − √7, 4 − √(7/4), 4.3 − √(7/2). */
        {"ua-propensity", 1, false, {5, 4, 4.3F}, {0, 1.3862944F, 0.6931472F}, 1, 4 - 1.3228756555322954},
    };
    pess_observations *data = logged((const int[]){9, 9, 9}, true);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        pess__training *f = by_hand(cases[c].algorithm, cases[c].alpha, data);
        const int64_t outputs = f->setup.learner->uncertainty->one_output ? 1 : ACTIONS;
        float q[2 * ACTIONS] = {0}, spoken[2 * ACTIONS] = {0};
        memcpy(q, cases[c].q, sizeof cases[c].q);
        memcpy(spoken, cases[c].network, (size_t)outputs * sizeof *spoken);
        f->setup.options.relative = cases[c].relative;
        f->networks.nets[0] = table_network(2, ACTIONS, q);
        f->tables.penalty = room_for(data->states * ACTIONS, sizeof *f->tables.penalty);
        if (f->setup.learner->info.imitation) f->networks.imitation = log_network(law);
        if (f->setup.learner->uncertainty->train != NULL) f->networks.uncertainty = table_network(2, outputs, spoken);
        const pess__scored found = one_look(f);
        assert_true(found.outside == 1);
        if (found.mean_return != cases[c].action)
            fail_msg("case %zu: action %g, not %d", c, found.mean_return, cases[c].action);
        assert_close(cases[c].algorithm, found.predicted, cases[c].value);
        put_away(f);
    }
    pess_observations_destroy(data);
}

/* Every action is free in the data, none is where nothing was ever seen. */
static void spibb_is_the_baseline_outside_the_data(void **state) {
    (void)state;
    for (int outside = 0; outside < 2; outside++) {
        pess_observations *data = logged((const int[]){9, 9, 9}, outside);
        pess__training *f = by_hand("spibb-dqn", 3, data);
        static const float q[2 * ACTIONS] = {4, 1, 2};
        int64_t taken[ACTIONS], control[ACTIONS];
        f->networks.nets[0] = table_network(2, ACTIONS, q);
        f->networks.imitation = log_network(law);
        times_taken(f, taken, control);
        for (int a = 0; a < ACTIONS; a++)
            if (outside)
                is_binomial(EPISODES, law[a], taken[a]);
            else
                assert_int_equal(taken[a], a == 0 ? EPISODES : 0);
        const pess__scored found = one_look(f);
        assert_close("expected", found.predicted, outside ? 0.2 * 4 + 0.5 * 1 + 0.3 * 2 : 4);
        put_away(f);
        pess_observations_destroy(data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_episode_of_three_steps_is_scored_as_computed_by_hand),
        cmocka_unit_test(episodes_that_step_together),
        cmocka_unit_test(imagined_states_are_outside),
        cmocka_unit_test(policies_that_are_sampled),
        cmocka_unit_test(counts_alone_plays_by_counts),
        cmocka_unit_test(many_values_play_by_their_rule),
        cmocka_unit_test(uncertainty_outside_the_data_is_the_networks),
        cmocka_unit_test(spibb_is_the_baseline_outside_the_data),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
