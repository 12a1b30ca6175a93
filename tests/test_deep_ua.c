/* Uncertainty-aware learning with networks: each uncertainty by hand, the tabular engine's answer on one-hot states,
 * α = 0, a_resumed_training_ends_the_same, and data that support little. */
#include "deep_case.h"

/* ---- rules by hand */

static void penalties_are_capped_and_made_relative(void **state) {
    (void)state;
    double u[4] = {0.5, 7, -1, 2};
    pess__penalty_finish(5, false, 4, u);
    const double absolute[4] = {0.5, 5, 0, 2};
    for (int a = 0; a < 4; a++) assert_true(fabs(u[a] - absolute[a]) < 1e-12);
    double w[3] = {1, 7, 2};
    pess__penalty_finish(5, true, 3, w);
    const double relative[3] = {0, 4, 1};
    for (int a = 0; a < 3; a++) assert_true(fabs(w[a] - relative[a]) < 1e-12);
}

static void ua_decides_as_computed_by_hand(void **state) {
    (void)state;
    const float q[3] = {1, 3, 2}, penalty[3] = {0, 4, 1};
    double policy[3];
    const pess__view view = {.actions = 3, .q = q, .penalty = penalty};
    /* 1, 3 − 4α, 2 − α */
    assert_true(fabs(decide(&pess__neural_uncertainty_counts.learner, 0.5, &view, policy) - 1.5) < 1e-12 &&
                policy[2] == 1 && policy[1] == 0);
    assert_true(fabs(decide(&pess__neural_uncertainty_counts.learner, 0.2, &view, policy) - 2.2) < 1e-7 &&
                policy[1] == 1);
    assert_true(fabs(decide(&pess__neural_uncertainty_counts.learner, 3, &view, policy) - 1) < 1e-12 && policy[0] == 1);
    /* Four networks: values of action 0 are 1 1 1 1, of action 1 they are 0 4 0 4: mean 2, standard deviation 2. */
    const float heads[8] = {1, 0, 1, 4, 1, 0, 1, 4};
    pess__view four = {.actions = 2, .q = heads, .heads = 4, .head_stride = 2, .cap = INFINITY, .relative = true};
    const pess__learner *ensemble = &pess__neural_uncertainty_ensemble.learner;
    assert_true(fabs(decide(ensemble, 0.25, &four, policy) - 1.5) < 1e-12 && policy[1] == 1);
    assert_true(fabs(decide(ensemble, 0.75, &four, policy) - 1) < 1e-12 && policy[0] == 1);
    four.cap = 1;
    assert_true(fabs(decide(ensemble, 0.75, &four, policy) - 1.25) < 1e-12 && policy[1] == 1);
    /* counts-alone: the smallest u, of equals the smallest action. */
    const float uncertainties[3] = {0.5F, 0.1F, 0.1F};
    const pess__view blind = {.actions = 3, .q = q, .penalty = uncertainties};
    assert_true(isnan(decide(&pess__learner_counts_alone, NAN, &blind, policy)) && policy[1] == 1 && policy[2] == 0);
}

/* ---- the tables */

/* The training's own table, from the same steps as a run takes. */
static void penalties_of(const pess_observations *data, const char *directory, const pess__learner *learner, double cap,
                         bool relative, known *k) {
    const char *name = learner->uncertainty->info.name;
    for (int64_t s = 0; s < data->states; s++) {
        double u[ACTIONS], visits = 0;
        float outputs[ACTIONS] = {0};
        for (int a = 0; a < ACTIONS; a++) visits += k->counts[s][a];
        if (learner->info.imitation) {
            outputs_of(data, directory, "imitation/policy", s, outputs);
            pess__softmax(outputs, ACTIONS, k->prior[s]);
        }
        if (learner->uncertainty->train != NULL && !learner->uncertainty->one_output)
            outputs_of(data, directory, "uncertainty", s, outputs);
        if (strcmp(name, "propensity") == 0) pess__softmax(outputs, ACTIONS, k->prior[s]);
        for (int a = 0; a < ACTIONS; a++) {
            if (strcmp(name, "counts") == 0) u[a] = k->counts[s][a] > 0 ? 1 / sqrt(k->counts[s][a]) : cap;
            if (strcmp(name, "elliptical") == 0) u[a] = 1 / sqrt(k->counts[s][a] + 1 / (cap * cap));
            if (strcmp(name, "support-net") == 0) u[a] = (double)outputs[a];
            if (strcmp(name, "imitation") == 0 || strcmp(name, "propensity") == 0)
                u[a] = 1 / sqrt((double)k->prior[s][a]);
            if (strcmp(name, "imitation-counts") == 0 || strcmp(name, "kernel-counts") == 0)
                u[a] = 1 / sqrt((double)k->prior[s][a] * fmax(visits, 1));
        }
        pess__penalty_finish(cap, relative, ACTIONS, u);
        for (int a = 0; a < ACTIONS; a++) k->penalty[s][a] = (float)u[a];
    }
}

/* One-hot states: the uncertainty's network can say the counts themselves, 1/√n(s,a) or 1/√N(s). */
static void assert_the_network_knows_the_counts(const pess_observations *data, const char *directory,
                                                const pess__learner *learner, const known *k, int64_t s) {
    float u[ACTIONS];
    double visits = 0;
    outputs_of(data, directory, "uncertainty", s, u);
    for (int a = 0; a < ACTIONS; a++) visits += k->counts[s][a];
    for (int a = 0; a < (learner->uncertainty->one_output ? 1 : ACTIONS); a++) {
        const double wanted = 1 / sqrt(learner->uncertainty->one_output ? visits : k->counts[s][a]);
        if (fabs((double)u[a] - wanted) > 0.05)
            fail_msg("%s, state %lld, output %d: %g, not %g", learner->info.name, (long long)s, a, (double)u[a],
                     wanted);
    }
}

/* Values reach about 5; what is left is the fit of the networks, a few hundredths. */
static void networks_come_to_the_tabular_answer(void **state) {
    (void)state;
    static const struct {
        const char *algorithm;
        double alpha;
        bool relative;
    } cases[] = {{"ua-counts", 2, false},           {"ua-counts", 4, true},
                 {"ua-support-net", 4, true},       {"ua-imitation", 0.25, true},
                 {"ua-imitation-counts", 4, false}, {"ua-propensity", 0.25, true},
                 {"ua-elliptical", 2, false},       {"ua-kernel-counts", 4, false}};
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 1500, UINT64_MAX);
    known naive = {0};
    double without[STATES];
    count_pairs(data, &naive);
    tabular_values(data, &pess__learner_naive, NAN, &naive, without);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const pess__learner *learner = pess__learner_find(cases[c].algorithm);
        char out[32];
        (void)snprintf(out, sizeof out, "tabular-%zu", c);
        pess_train_options o = training(mdp, data, cases[c].algorithm, out);
        o.knobs = alpha_knob(cases[c].alpha), o.relative = cases[c].relative;
        pess_train_result result;
        pess_error error;
        OK(pess_train_run(&o, &result, &error));
        known k = {0};
        double wanted[STATES], apart = 0;
        count_pairs(data, &k);
        penalties_of(data, in_root(out), learner, learner->uncertainty->info.cap, cases[c].relative, &k);
        tabular_values(data, learner, cases[c].alpha, &k, wanted);
        if (c == 0) assert_the_engine_agrees(data, cases[c].alpha, &k, wanted);
        for (int64_t s = 0; s < data->states; s++) {
            float q[ACTIONS];
            if (!acted_in(&k, s)) continue;
            outputs_of(data, in_root(out), "policy", s, q);
            const double found = rule(learner, cases[c].alpha, &k, s, q);
            if (fabs(found - wanted[s]) > 0.15)
                fail_msg("%s, state %lld: %g, tabular %g", cases[c].algorithm, (long long)s, found, wanted[s]);
            apart = fmax(apart, fabs(wanted[s] - without[s]));
            if (learner->uncertainty->label != NULL)
                assert_the_network_knows_the_counts(data, in_root(out), learner, &k, s);
        }
        assert_true(apart > 0.3); /* or the test would show little */
    }
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* Each of four networks learns the means of its own resample; their mean is near the means of the data, and further
 * pessimism does not raise values. */
static void an_ensemble_learns_the_means_of_its_resamples(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 1500, UINT64_MAX);
    known k = {0};
    double wanted[STATES], sum[2] = {0, 0}, most = 0, spread = 0;
    count_pairs(data, &k);
    tabular_values(data, &pess__learner_naive, NAN, &k, wanted);
    for (int c = 0; c < 2; c++) {
        const char *out = c == 0 ? "ensemble-0" : "ensemble-2";
        pess_train_options o = training(mdp, data, "ua-ensemble", out);
        o.knobs = alpha_knob(2 * c), o.relative = false, o.protocol.updates = 50;
        pess_train_result result;
        pess_error error;
        OK(pess_train_run(&o, &result, &error));
        for (int64_t s = 0; s < data->states; s++) {
            static const char *const names[] = {"policy", "network-2", "network-3", "network-4"};
            float heads[4 * ACTIONS];
            double policy[ACTIONS];
            if (!acted_in(&k, s)) continue;
            for (int i = 0; i < 4; i++) outputs_of(data, in_root(out), names[i], s, heads + (ptrdiff_t)i * ACTIONS);
            const pess__view view = {
                .actions = ACTIONS, .q = heads, .heads = 4, .head_stride = ACTIONS, .cap = INFINITY};
            const double v = decide(&pess__neural_uncertainty_ensemble.learner, 2 * c, &view, policy);
            sum[c] += v;
            if (c == 0) most = fmax(most, fabs(v - wanted[s]));
            for (int a = 0; a < ACTIONS; a++)
                spread = fmax(spread, fabs((double)heads[a] - (double)heads[ACTIONS + a]));
        }
    }
    assert_true(most < 0.6);   /* four resamples of about 40 transitions a pair */
    assert_true(spread > 0.1); /* they are not one network four times */
    assert_true(sum[1] < sum[0] - 1);
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* Network k sees the rows of its own resample with replacement: 1 − 1/e of all, and another one's choice of them. The
 * shares have a standard deviation of 0.007; five of them are allowed (false alarm below 1e-6 each). */
static void each_network_has_its_own_resample(void **state) {
    (void)state;
    enum { ROWS = 2000, DRAWS = 30 * ROWS };
    static bool seen[2][ROWS];
    const pess_observations data = {.transitions = ROWS};
    pess__position position = {0};
    const pess__setup setup = {
        .data = &data, .learner = &pess__neural_uncertainty_ensemble.learner, .position = &position};
    for (int k = 0; k < 2; k++) {
        pess__rng rng = pess__rng_stream(5, "test resample", 0);
        for (int i = 0; i < DRAWS; i++) seen[k][pess__rows_next(&setup, k, &rng)] = true;
    }
    double share[2] = {0, 0}, both = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < 2; k++) share[k] += seen[k][i] / (double)ROWS;
        both += (seen[0][i] && seen[1][i]) / (double)ROWS;
    }
    const double expected = 1 - exp(-1);
    for (int k = 0; k < 2; k++) assert_true(fabs(share[k] - expected) < 0.035);
    assert_true(fabs(both - expected * expected) < 0.05); /* standard deviation 0.01 */
}

/* ---- limits */

static void alpha_zero_is_naive_to_the_bit(void **state) {
    (void)state;
    static const char *const kinds[] = {"counts", "support-net", "imitation", "imitation-counts", "propensity"};
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 800, UINT64_MAX);
    pess_train_result naive, zero;
    pess_error error;
    pess_train_options o = training(mdp, data, "naive", "zero-naive");
    o.protocol.updates = 6;
    OK(pess_train_run(&o, &naive, &error));
    for (int i = 0; i < 5; i++) {
        char out[32];
        (void)snprintf(out, sizeof out, "zero-%d", i);
        o = training(mdp, data, "ua", out);
        o.uncertainty = kinds[i], o.knobs = alpha_knob(0), o.protocol.updates = 6, o.protocol.imitation_steps = 100;
        OK(pess_train_run(&o, &zero, &error));
        pess_net *nets[2] = {NULL, NULL};
        char path[400];
        for (int k = 0; k < 2; k++) {
            (void)snprintf(path, sizeof path, "%s/policy.pessnet", in_root(k == 0 ? "zero-naive" : out));
            OK(pess_net_read(path, NULL, &nets[k], &error));
        }
        assert_memory_equal(nets[0]->net->parameters, nets[1]->net->parameters,
                            (size_t)nets[0]->net->size * sizeof(float));
        assert_memory_equal(&naive.score, &zero.score, sizeof naive.score);
        assert_memory_equal(&naive.predicted, &zero.predicted, sizeof naive.predicted);
        for (int k = 0; k < 2; k++) pess_net_destroy(nets[k]);
    }
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* Largest less smallest of min(1/√π̂, cap) in a state, of the run "ua-imitation" at its default cap. */
static double range_of_uncertainty(const pess_observations *data, int64_t s) {
    float outputs[ACTIONS], prior[ACTIONS];
    double least = INFINITY, most = 0;
    outputs_of(data, in_root("ua-imitation"), "imitation/policy", s, outputs);
    pess__softmax(outputs, ACTIONS, prior);
    for (int a = 0; a < ACTIONS; a++) {
        const double u = fmin(1 / sqrt((double)prior[a]), 10);
        least = fmin(least, u);
        most = fmax(most, u);
    }
    return most - least;
}

/* On data so few that all of them are checked, and that lack some pairs. */
static void mass_and_values_of_unlogged_actions_are_reported(void **state) {
    (void)state;
    static const char *const learners[] = {"naive", "ua-imitation"};
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 90, UINT64_MAX);
    known k;
    count_pairs(data, &k);
    for (int i = 0; i < 2; i++) {
        pess_train_options o = training(mdp, data, learners[i], learners[i]);
        pess_train_result result;
        pess_error error;
        double mass = 0, gap = 0, values = 0, penalties = 0, found[4];
        int64_t both = 0;
        o.protocol.updates = 3, o.protocol.imitation_steps = 500;
        if (i == 1) o.knobs = alpha_knob(1000); /* only the least uncertain action is left: always a logged one */
        OK(pess_train_run(&o, &result, &error));
        for (int64_t row = 0; row < data->transitions; row++) {
            const int64_t s = data->state[row];
            float q[ACTIONS];
            double best[2] = {-INFINITY, -INFINITY}, worst = INFINITY; /* of never logged, of logged; of all */
            outputs_of(data, in_root(learners[i]), "policy", s, q);
            for (int a = 0; a < ACTIONS; a++) worst = fmin(worst, (double)q[a]);
            for (int a = 0; a < ACTIONS; a++) best[k.counts[s][a] > 0] = fmax(best[k.counts[s][a] > 0], (double)q[a]);
            mass += best[0] > best[1];
            values += fmax(best[0], best[1]) - worst;
            penalties += i == 1 ? 1000 * range_of_uncertainty(data, s) : 0;
            if (isinf(best[0])) continue;
            gap += best[0] - best[1];
            both++;
        }
        assert_true(both > 0 && both < data->transitions);
        read_looks(in_root(learners[i]), found);
        assert_true(fabs(found[0] - (i == 0 ? mass / (double)data->transitions : 0)) < 1e-4);
        assert_true(fabs(found[1] - gap / (double)both) < 1e-4);
        assert_true(fabs(found[2] - values / (double)data->transitions) < 1e-4);
        assert_true(i == 0 ? isnan(found[3]) : fabs(found[3] / (penalties / (double)data->transitions) - 1) < 1e-4);
        if (i == 0) assert_true(mass > 0);
    }
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* Observations are compared in full: where all hashes are equal, counts and the whole run are the same. */
static void colliding_hashes_change_nothing(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    for (int i = 0; i < 2; i++) {
        pess_observations *data = uneven_log(mdp, 600, i == 0 ? UINT64_MAX : 0);
        pess_train_options o = training(mdp, data, "ua-counts", i == 0 ? "apart" : "colliding");
        o.protocol.updates = 4;
        pess_train_result result;
        pess_error error;
        OK(pess_train_run(&o, &result, &error));
        pess_observations_destroy(data);
    }
    assert_same_file(in_root("apart"), in_root("colliding"), "policy.pessnet");
    assert_same_file(in_root("apart"), in_root("colliding"), "manifest.json");
    pess_mdp_destroy(mdp);
}

static void a_resumed_training_ends_the_same(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 600, UINT64_MAX);
    resumes_to_the_same_bytes(mdp, data, "ua-counts", (const char *const[]){"uncertainty.pessnet", NULL});
    resumes_to_the_same_bytes(mdp, data, "ua-imitation-counts", (const char *const[]){"uncertainty.pessnet", NULL});
    resumes_to_the_same_bytes(mdp, data, "ua-ensemble",
                              (const char *const[]){"network-2.pessnet", "network-4.pessnet", NULL});
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* ---- data that support little */

/* A walk 0 → 1 → … in which no state comes twice, with `actions` actions of which the first is taken. */
static pess_observations *one_episode(int64_t length, int64_t actions) {
    pess_observations *data = NULL;
    pess_error error;
    OK(pess_observations_create("mdp", "", &(pess_observation_shape){.length = STATES}, actions, &data, &error));
    for (int64_t i = 0; i < length; i++) {
        uint8_t from[BYTES] = {0}, to[BYTES] = {0};
        from[i / 8] = (uint8_t)(1U << (i % 8));
        to[(i + 1) / 8] = (uint8_t)(1U << ((i + 1) % 8));
        OK(pess_observations_add(data, from, 0, 1, to, i + 1 == length ? PESS_END_TERMINAL : PESS_END_NONE, &error));
    }
    return data;
}

static void poor_data_work_and_say_so(void **state) {
    (void)state;
    static const char *const algorithms[] = {"ua-counts",           "ua-support-net", "ua-imitation",
                                             "ua-imitation-counts", "ua-ensemble",    "counts-alone"};
    static const struct { int64_t length, actions; } shapes[] = {{1, 3}, {8, 3}, {8, 1}};
    for (size_t shape = 0; shape < 3; shape++) {
        pess_observations *data = one_episode(shapes[shape].length, shapes[shape].actions);
        for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++) {
            char out[32], path[400], text[4096];
            (void)snprintf(out, sizeof out, "poor-%zu-%zu", shape, i);
            pess_train_options o = training(NULL, data, algorithms[i], out);
            o.protocol.updates = 3, o.protocol.steps = 10, o.protocol.imitation_steps = 20;
            pess_train_result result;
            pess_error error;
            OK(pess_train_run(&o, &result, &error));
            const bool counted = strstr(algorithms[i], "counts") != NULL || strstr(algorithms[i], "support") != NULL;
            assert_true((strstr(result.warning, "no state of the data occurs twice") != NULL) == counted);
            if (strcmp(algorithms[i], "counts-alone") != 0) assert_true(isfinite(result.mean_target));
            (void)snprintf(path, sizeof path, "%s/manifest.json", in_root(out));
            FILE *file = fopen(path, "r");
            assert_non_null(file);
            text[fread(text, 1, sizeof text - 1, file)] = '\0';
            assert_int_equal(fclose(file), 0);
            assert_true((strstr(text, "\"warning\": \"no state") != NULL) == counted);
        }
        pess_observations_destroy(data);
    }
    pess_mdp *mdp = process(); /* states that come again: nothing to say */
    pess_observations *data = uneven_log(mdp, 300, UINT64_MAX);
    pess_train_options o = training(NULL, data, "counts-alone", "rich");
    pess_train_result result;
    pess_error error;
    OK(pess_train_run(&o, &result, &error));
    assert_int_equal(result.warning[0], '\0');
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

static void names_are_found_and_bad_options_refused(void **state) {
    (void)state;
    const pess_neural_uncertainty_info *u;
    for (size_t i = 0; (u = pess_neural_uncertainty_list(i)) != NULL; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "ua-%s", u->name);
        const pess_learner_info *info = pess_learner_find(name);
        assert_non_null(info);
        assert_string_equal(info->uncertainty, u->name);
        assert_int_equal(info->imitation, u->imitation);
    }
    assert_string_equal(pess_learner_find("ua")->name, "ua-counts");
    pess_observations *data = one_episode(4, 2);
    pess_train_result result;
    pess_error error;
    pess_train_options o = training(NULL, data, "ua", "bad");
    o.uncertainty = "guessing";
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "counts, support-net, imitation"));
    o.algorithm = "naive", o.uncertainty = "counts";
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_ARGUMENT);
    o.algorithm = "ua-imitation";
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_ARGUMENT);
    o.algorithm = "naive", o.uncertainty = NULL, o.u_cap = 3;
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_ARGUMENT);
    o.algorithm = "ua", o.u_cap = -1;
    assert_int_equal(pess_train_run(&o, &result, &error), PESS_ARGUMENT);
    pess_observations_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(penalties_are_capped_and_made_relative),
        cmocka_unit_test(ua_decides_as_computed_by_hand),
        cmocka_unit_test(networks_come_to_the_tabular_answer),
        cmocka_unit_test(an_ensemble_learns_the_means_of_its_resamples),
        cmocka_unit_test(each_network_has_its_own_resample),
        cmocka_unit_test(alpha_zero_is_naive_to_the_bit),
        cmocka_unit_test(mass_and_values_of_unlogged_actions_are_reported),
        cmocka_unit_test(colliding_hashes_change_nothing),
        cmocka_unit_test(a_resumed_training_ends_the_same),
        cmocka_unit_test(poor_data_work_and_say_so),
        cmocka_unit_test(names_are_found_and_bad_options_refused),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
