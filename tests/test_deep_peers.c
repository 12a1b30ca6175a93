/* The peers of uncertainty-aware learning: each rule and loss against numbers by hand, the tabular answer of each rule
 * on one-hot states, actor and critic of CRR, resuming. */
#include "deep_case.h"

static void assert_near(double found, double wanted) {
    if (!(fabs(found - wanted) < 1e-6)) fail_msg("%.9g is not %.9g", found, wanted);
}

static void assert_policy(const double *policy, double a, double b, double c) {
    assert_near(policy[0], a);
    assert_near(policy[1], b);
    assert_near(policy[2], c);
}

/* ---- rules by hand: q = (1, 3, 2), π̂ = (0.6, 0.1, 0.3) */

static const float q_by_hand[3] = {1, 3, 2}, prior_by_hand[3] = {0.6F, 0.1F, 0.3F};

static void bcq_decides_as_computed_by_hand(void **state) {
    (void)state;
    const pess__view view = {.actions = 3, .q = q_by_hand, .prior = prior_by_hand};
    double policy[3];
    /* π̂/max π̂ = (1, 1/6, 1/2) */
    assert_near(decide(&pess__learner_bcq, 0.3, &view, policy), 2);
    assert_policy(policy, 0, 0, 1);
    assert_near(decide(&pess__learner_bcq, 0.1, &view, policy), 3);
    assert_policy(policy, 0, 1, 0);
    assert_near(decide(&pess__learner_bcq, 0.6, &view, policy), 1);
    assert_near(decide(&pess__learner_bcq, 1, &view, policy), 1);
    assert_policy(policy, 1, 0, 0);
    assert_near(decide(&pess__learner_bcq, 0, &view, policy), 3);
}

static void brac_decides_as_computed_by_hand(void **state) {
    (void)state;
    const pess__view view = {.actions = 3, .q = q_by_hand, .prior = prior_by_hand};
    double policy[3];
    const double sum = 0.6 * exp(0.5) + 0.1 * exp(1.5) + 0.3 * exp(1);
    assert_near(decide(&pess__learner_brac, 2, &view, policy), 2 * log(sum));
    assert_policy(policy, 0.6 * exp(0.5) / sum, 0.1 * exp(1.5) / sum, 0.3 * exp(1) / sum);
    assert_near(decide(&pess__learner_brac, 1e-3, &view, policy), 3 + 1e-3 * log(0.1)); /* no overflow */
    assert_near(decide(&pess__learner_brac, 0, &view, policy), 3);
    assert_policy(policy, 0, 1, 0);
    /* α → ∞: imitation */
    assert_true(fabs(decide(&pess__learner_brac, 1e9, &view, policy) - (0.6 + 0.3 + 0.6)) < 1e-5);
    assert_policy(policy, 0.6, 0.1, 0.3);
}

static void spibb_decides_as_computed_by_hand(void **state) {
    (void)state;
    const int32_t counts[3] = {5, 2, 3}, none[3] = {0, 0, 0};
    pess__view view = {.actions = 3, .q = q_by_hand, .prior = prior_by_hand, .counts = counts};
    double policy[3];
    /* N∧ = 3: action 1 keeps 0.1, of the others 2 is best and gets 0.9. */
    assert_near(decide(&pess__learner_spibb_dqn, 3, &view, policy), 0.1 * 3 + 0.9 * 2);
    assert_policy(policy, 0, 0.1, 0.9);
    assert_near(decide(&pess__learner_spibb_dqn, 4, &view, policy), 0.1 * 3 + 0.3 * 2 + 0.6 * 1);
    assert_policy(policy, 0.6, 0.1, 0.3);
    assert_near(decide(&pess__learner_spibb_dqn, 0, &view, policy), 3);
    view.counts = none; /* outside the data */
    assert_near(decide(&pess__learner_spibb_dqn, 3, &view, policy), 0.6 + 0.3 + 0.6);
    assert_policy(policy, 0.6, 0.1, 0.3);
}

static void crr_decides_as_computed_by_hand(void **state) {
    (void)state;
    const float actor[3] = {2 * logf(2), logf(2), logf(2)}; /* of probabilities 1/2, 1/4, 1/4 */
    const pess__view view = {.actions = 3, .q = q_by_hand, .own = {actor}};
    double policy[3];
    assert_near(decide(&pess__learner_crr, NAN, &view, policy), 0.5 + 0.75 + 0.5);
    assert_policy(policy, 0.5, 0.25, 0.25);
    assert_near(pess__crr_weight(true, 1, 0.1), 1);
    assert_near(pess__crr_weight(true, 1, 0), 0);
    assert_near(pess__crr_weight(true, 1, -2), 0);
    assert_near(pess__crr_weight(false, 1, -2), exp(-2));
    assert_near(pess__crr_weight(false, 2, 1), exp(0.5));
    assert_near(pess__crr_weight(false, 1, 5), 20);
}

static void rem_decides_as_computed_by_hand(void **state) {
    (void)state;
    const float heads[4] = {1, 0, 2, 4}; /* two heads, two actions */
    const double mixture[2] = {0.75, 0.25};
    pess__view view = {.actions = 2, .q = heads, .heads = 2, .head_stride = 2, .mixture = mixture};
    double policy[2];
    assert_near(decide(&pess__learner_rem, NAN, &view, policy), 1.25); /* 0.75·1 + 0.25·2, against 1 */
    assert_near(policy[0], 1);
    view.mixture = NULL;
    assert_near(decide(&pess__learner_rem, NAN, &view, policy), 2); /* means 1.5 and 2 */
    assert_near(policy[1], 1);
}

static void losses_are_those_computed_by_hand(void **state) {
    (void)state;
    const int32_t action = 0;
    /* CQL: q = (1, 2), target 0.5, α = 3. */
    const float q[2] = {1, 2}, target = 0.5F;
    const pess__labels labels = {.actions = &action, .targets = &target};
    const pess__loss cql = {.kind = PESS__LOSS_HUBER, .parameter = 5, .conservative = 3};
    float delta[4];
    pess__loss_sums sums = {0, 0};
    pess__loss_gradient(&cql, &labels, 0, 1, 2, 2, 1, q, delta, &sums);
    const double share = exp(1) / (exp(1) + exp(2));
    assert_near(sums.loss, 0.125 + 3 * (log(exp(1) + exp(2)) - 1));
    assert_near((double)delta[0], 0.5 + 3 * (share - 1));
    assert_near((double)delta[1], 3 * (1 - share));
    /* REM: two heads of two actions, action 0: 0.75·1 + 0.25·3 = 1.5 against 0.5. */
    const float heads[4] = {1, 9, 3, 9};
    const double mixture[2] = {0.75, 0.25};
    const pess__loss rem = {.kind = PESS__LOSS_HUBER, .parameter = 5, .heads = 2, .mixture = mixture};
    sums = (pess__loss_sums){0, 0};
    pess__loss_gradient(&rem, &labels, 0, 1, 4, 4, 1, heads, delta, &sums);
    assert_near(sums.loss, 0.5);
    assert_near(sums.output, 1.5);
    const double slopes[4] = {0.75, 0, 0.25, 0};
    for (int i = 0; i < 4; i++) assert_near((double)delta[i], slopes[i]);
}

/* ---- one-hot states */

static void fill_known(const pess_observations *data, const char *directory, bool imitation, bool actor, known *k) {
    count_pairs(data, k);
    for (int64_t s = 0; s < data->states; s++) {
        float outputs[ACTIONS];
        if (imitation) {
            outputs_of(data, directory, "imitation/policy", s, outputs);
            pess__softmax(outputs, ACTIONS, k->prior[s]);
        }
        if (actor) outputs_of(data, directory, "actor", s, k->actor[s]);
    }
}

static void networks_come_to_the_tabular_answer(void **state) {
    (void)state;
    static const struct {
        const char *algorithm;
        double alpha;
    } cases[] = {{"bcq", 0.3}, {"brac", 0.5}, {"spibb-dqn", 12}};
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 1500, UINT64_MAX);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const pess__learner *learner = pess__learner_find(cases[c].algorithm);
        pess_train_options o = training(mdp, data, cases[c].algorithm, cases[c].algorithm);
        o.knobs = alpha_knob(cases[c].alpha);
        pess_train_result result;
        pess_error error;
        OK(pess_train_run(&o, &result, &error));
        known k = {0};
        double wanted[STATES], without[STATES], apart = 0;
        fill_known(data, in_root(cases[c].algorithm), true, false, &k);
        tabular_values(data, learner, cases[c].alpha, &k, wanted);
        tabular_values(data, &pess__learner_naive, NAN, &k, without);
        for (int64_t s = 0; s < data->states; s++) {
            float q[ACTIONS];
            if (!acted_in(&k, s)) continue;
            outputs_of(data, in_root(cases[c].algorithm), "policy", s, q);
            const double found = rule(learner, cases[c].alpha, &k, s, q);
            if (fabs(found - wanted[s]) > 0.15)
                fail_msg("%s, state %lld: %g, tabular %g", cases[c].algorithm, (long long)s, found, wanted[s]);
            apart = fmax(apart, fabs(wanted[s] - without[s]));
        }
        assert_true(apart > 0.3);
    }
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* CRR's critic values its actor, and the actor does better than the log it was taught from. */
static void actor_and_critic_agree(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 1500, UINT64_MAX);
    for (int kind = 0; kind < 2; kind++) {
        const char *name = kind == 0 ? "crr" : "crr-exp";
        pess_train_options o = training(mdp, data, name, name);
        o.protocol.rate_last = 1e-4; /* the actor has the first rate throughout */
        pess_train_result result;
        pess_error error;
        OK(pess_train_run(&o, &result, &error));
        known k = {0}, log = {0};
        double wanted[STATES], logged[STATES], gain = 0;
        fill_known(data, in_root(name), false, true, &k);
        count_pairs(data, &log);
        for (int64_t s = 0; s < data->states; s++) {
            double visits = 0;
            for (int a = 0; a < ACTIONS; a++) visits += log.counts[s][a];
            for (int a = 0; a < ACTIONS; a++) log.actor[s][a] = logf((float)(log.counts[s][a] / fmax(visits, 1)));
        }
        tabular_values(data, &pess__learner_crr, NAN, &k, wanted);
        tabular_values(data, &pess__learner_crr, NAN, &log, logged);
        for (int64_t s = 0; s < data->states; s++) {
            float q[ACTIONS];
            if (!acted_in(&k, s)) continue;
            outputs_of(data, in_root(name), "policy", s, q);
            const double found = rule(&pess__learner_crr, NAN, &k, s, q);
            if (fabs(found - wanted[s]) > 0.6) /* the actor moved on since; the gain is about 5 */
                fail_msg("%s, state %lld: %g, the actor is worth %g", name, (long long)s, found, wanted[s]);
            gain += (wanted[s] - logged[s]) / (double)data->states;
        }
        if (gain < 0.3) fail_msg("%s: %g better than the log", name, gain);
    }
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* Mixtures of heads learn the same values as one network; CQL with weight 0 is naive, with more it lowers the values of
 * the action that is rarely logged. */
static void rem_learns_naive_values_and_cql_lowers_the_rare(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 1500, UINT64_MAX);
    pess_train_result result;
    pess_error error;
    known k = {0};
    double wanted[STATES], rare[2] = {0, 0};
    count_pairs(data, &k);
    tabular_values(data, &pess__learner_naive, NAN, &k, wanted);
    pess_train_options o = training(mdp, data, "rem", "rem");
    o.protocol.updates = 60;
    o.knobs = "heads=12";
    OK(pess_train_run(&o, &result, &error));
    for (int c = 0; c < 2; c++) {
        o = training(mdp, data, "cql", c == 0 ? "cql-0" : "cql-1");
        o.knobs = alpha_knob(c);
        OK(pess_train_run(&o, &result, &error));
    }
    o = training(mdp, data, "naive", "naive");
    OK(pess_train_run(&o, &result, &error));
    const int64_t heads = 12;
    for (int64_t s = 0; s < data->states; s++) {
        float many[64 * ACTIONS], q[3][ACTIONS];
        double policy[ACTIONS];
        if (!acted_in(&k, s)) continue;
        outputs_of(data, in_root("rem"), "policy", s, many);
        const pess__view view = {.actions = ACTIONS, .q = many, .heads = heads, .head_stride = ACTIONS};
        const double found = decide(&pess__learner_rem, NAN, &view, policy);
        if (fabs(found - wanted[s]) > 0.2) fail_msg("rem, state %lld: %g, tabular %g", (long long)s, found, wanted[s]);
        static const char *const runs[] = {"naive", "cql-0", "cql-1"};
        for (int i = 0; i < 3; i++) outputs_of(data, in_root(runs[i]), "policy", s, q[i]);
        assert_memory_equal(q[0], q[1], sizeof q[0]);
        rare[0] += (double)q[0][2] - (double)q[0][0];
        rare[1] += (double)q[2][2] - (double)q[2][0];
    }
    assert_true(rare[1] < rare[0] - 5);
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* The file says what it is: its own notes, and the episodes of the log alone. */
static void imagined_data_are_no_episodes(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_collect_options c = pess_collect_options_defaults();
    c.mdp = mdp, c.transitions = 400, c.envs = 4, c.step_limit = 30;
    pess_observations *data = NULL, *imagined = NULL;
    pess_observations_info logged, made;
    pess_train_result result;
    pess_error error;
    OK(pess_collect(&c, &data, &error));
    pess_train_options o = training(mdp, data, "model-ensemble", "imagined");
    o.protocol.updates = 5, o.protocol.steps = 20, o.protocol.batch = 64;
    OK(pess_train_run(&o, &result, &error));
    OK(pess_observations_read(in_root("imagined/imagined.pessdata"), &imagined, &error));
    pess_observations_get_info(data, &logged);
    pess_observations_get_info(imagined, &made);
    assert_true(data->stop_count > 0 && logged.episodes > 10);
    assert_int_equal(made.transitions, 800);
    assert_int_equal(made.episodes, logged.episodes);
    assert_memory_equal(&made.mean_return, &logged.mean_return, sizeof made.mean_return);
    for (int64_t k = 0; k < data->stop_count; k++) assert_int_equal(imagined->stopped[k], data->stopped[k]);
    for (int64_t i = 400; i < 800; i++) assert_int_not_equal(imagined->end[i], PESS_END_NONE);
    assert_int_equal(imagined->stop_count + made.terminals - logged.terminals, data->stop_count + 400);
    assert_non_null(strstr(made.notes, "method=model-ensemble\n"));
    assert_non_null(strstr(made.notes, "transitions=800\nimagined=400\n"));
    assert_null(strstr(made.notes, "policy="));
    pess_observations_destroy(imagined);
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* A line of states in which action 1 leads on and pays 1 at its end, action 0 ends at once and pays 0.2, action 2 was
 * never taken. The models must imagine the first two as they are, and differ about the third. */
static void models_imagine_what_was_seen(void **state) {
    (void)state;
    enum { LINE = 6, TIMES = 20 };
    pess_observations *data = NULL, *imagined = NULL;
    pess_error error;
    OK(pess_observations_create("mdp", "", &(pess_observation_shape){.length = STATES}, ACTIONS, &data, &error));
    for (int i = 0; i < TIMES * LINE * 2; i++) {
        const int s = i / 2 % LINE, action = i % 2, next = action == 0 ? LINE : s + 1;
        uint8_t from[BYTES] = {0}, to[BYTES] = {0};
        from[s / 8] = (uint8_t)(1U << (s % 8));
        to[next / 8] = (uint8_t)(1U << (next % 8));
        OK(pess_observations_add(data, from, action,
                                 action == 0     ? 0.2
                                 : s == LINE - 1 ? 1
                                                 : 0,
                                 to, next == LINE ? PESS_END_TERMINAL : PESS_END_NONE, &error));
    }
    pess_train_options o = training(NULL, data, "model-ensemble", "model");
    o.protocol.batch = 64;
    pess_train_result result;
    OK(pess_train_run(&o, &result, &error));
    char path[400];
    (void)snprintf(path, sizeof path, "%s/imagined.pessdata", in_root("model"));
    OK(pess_observations_read(path, &imagined, &error));
    assert_int_equal(imagined->transitions, 2 * data->transitions);
    assert_memory_equal(imagined->state, data->state, (size_t)data->transitions * sizeof *data->state);
    assert_memory_equal(imagined->reward, data->reward, (size_t)data->transitions * sizeof *data->reward);
    double price[ACTIONS] = {0};
    int64_t times[ACTIONS] = {0};
    for (int64_t i = data->transitions; i < imagined->transitions; i++) {
        const int32_t s = imagined->state[i], action = imagined->action[i];
        int64_t row = 0; /* the logged transition of this pair */
        while (row < data->transitions && (data->state[row] != s || data->action[row] != action)) row++;
        const double logged = row < data->transitions ? (double)data->reward[row] : 0;
        price[action] += logged - (double)imagined->reward[i];
        times[action]++;
        if (row == data->transitions) continue;
        assert_int_equal(imagined->next[i], data->next[row]);
        assert_int_equal(imagined->end[i] == PESS_END_TERMINAL, data->end[row] == PESS_END_TERMINAL);
        assert_true(fabs((double)imagined->reward[i] - logged) < 0.2);
    }
    for (int a = 0; a < 2; a++) assert_true(times[a] > 0 && price[a] / (double)times[a] < 0.1);
    assert_true(price[2] / (double)times[2] > 0.3);
    /* Naive on these: right is worth γ^(5−s), more than 0.2, from every state; the third stays below. */
    for (int s = 0; s < LINE; s++) {
        float q[ACTIONS];
        uint8_t bits[BYTES] = {0};
        bits[s / 8] = (uint8_t)(1U << (s % 8));
        outputs_of(data, in_root("model"), "policy", pess__observations_find(data, bits), q);
        assert_true(fabs((double)q[1] - pow(GAMMA, LINE - 1 - s)) < 0.15);
        assert_true(fabs((double)q[0] - 0.2) < 0.15);
        assert_true((double)q[2] < (double)q[1]);
    }
    pess_observations_destroy(imagined);
    pess_observations_destroy(data);
}

static void a_resumed_training_ends_the_same(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 600, UINT64_MAX);
    resumes_to_the_same_bytes(mdp, data, "crr", (const char *const[]){"actor.pessnet", NULL});
    resumes_to_the_same_bytes(mdp, data, "rem", (const char *const[]){NULL});
    resumes_to_the_same_bytes(mdp, data, "spibb-dqn", (const char *const[]){NULL});
    resumes_to_the_same_bytes(mdp, data, "model-ensemble", (const char *const[]){"imagined.pessdata", NULL});
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* One state: action 1 pays 4 more, and the log has it once in twenty. At equal values the price of α = 1 is
 * ½/.05 − ½/.95 = 9.5, so cql stays with action 0; held against the evidence its weight falls, and below 4/9.5 the
 * better action wins. */
static pess_observations *rare_and_better(void) {
    pess_observations *data = NULL;
    pess_error error;
    const uint8_t here = 1, there = 2;
    OK(pess_observations_create("rare", "", &(pess_observation_shape){.length = 2}, 2, &data, &error));
    for (int i = 0; i < 400; i++)
        OK(pess_observations_add(data, &here, i % 20 == 0, i % 20 == 0 ? 4 : 0, &there, PESS_END_TERMINAL, &error));
    return data;
}

static int choice(const pess_observations *data, const char *name, double share, bool resume) {
    pess_train_options o = training(NULL, data, "cql", name);
    pess_train_result result;
    pess_error error;
    float q[2];
    o.protocol.updates = 60, o.protocol.steps = 40, o.protocol.batch = 128, o.protocol.rate = 1e-2;
    o.protocol.price_share = share;
    o.checkpoint_seconds = 0;
    o.resume = resume;
    OK(pess_train_run(&o, &result, &error));
    assert_int_equal(result.resumed_from, resume ? 59 : -1);
    outputs_of(data, in_root(name), "policy", 0, q);
    return q[1] > q[0];
}

static void a_price_is_held_against_the_evidence(void **state) {
    (void)state;
    pess_observations *data = rare_and_better();
    assert_int_equal(choice(data, "full price", 1, false), 0);
    assert_int_equal(choice(data, "half price", 0.5, false), 1);
    assert_int_equal(choice(data, "in pieces", 0.5, false), 1);
    assert_int_equal(unlink(in_root("in pieces/checkpoint-1.pesstrain")), 0); /* the 60th; the 59th is the other */
    assert_int_equal(choice(data, "in pieces", 0.5, true), 1);
    assert_same_file(in_root("half price"), in_root("in pieces"), "policy.pessnet");
    assert_same_file(in_root("half price"), in_root("in pieces"), "manifest.json");
    pess_observations_destroy(data);
}

static void a_threshold_above_one_is_refused(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 300, UINT64_MAX);
    pess_train_options o = training(mdp, data, "bcq", "bad");
    o.knobs = alpha_knob(1.5);
    pess_train_result result;
    pess_error error;
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "tau"));
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bcq_decides_as_computed_by_hand),
        cmocka_unit_test(brac_decides_as_computed_by_hand),
        cmocka_unit_test(spibb_decides_as_computed_by_hand),
        cmocka_unit_test(crr_decides_as_computed_by_hand),
        cmocka_unit_test(rem_decides_as_computed_by_hand),
        cmocka_unit_test(losses_are_those_computed_by_hand),
        cmocka_unit_test(networks_come_to_the_tabular_answer),
        cmocka_unit_test(actor_and_critic_agree),
        cmocka_unit_test(rem_learns_naive_values_and_cql_lowers_the_rare),
        cmocka_unit_test(models_imagine_what_was_seen),
        cmocka_unit_test(imagined_data_are_no_episodes),
        cmocka_unit_test(a_resumed_training_ends_the_same),
        cmocka_unit_test(a_price_is_held_against_the_evidence),
        cmocka_unit_test(a_threshold_above_one_is_refused),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
