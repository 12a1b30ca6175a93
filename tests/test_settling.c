/* Protocols that settle: what is held out, and that the rules stop where they should: likelihood where the best network
 * was, values of a process with known values within a twentieth of them, no later than they need, and not before. */
#include "fitted_case.h"

#include "deep/settling.h"

#include <zlib.h>

/* ---- what is held out */

static pess_observations *episodes_of(int episodes, int length) {
    pess_observations *data = no_steps(STATES);
    for (int i = 0; i < episodes * length; i++)
        add_step(data, i % STATES, 0, 0, (i + 1) % STATES,
                 i % length == length - 1 ? PESS_END_TERMINAL : PESS_END_NONE);
    return data;
}

/* Whole episodes: no held-out transition has a neighbour of its episode among those that are learnt from. */
static void every_tenth_episode_is_held_out(void **state) {
    (void)state;
    enum { EPISODES = 40, LENGTH = 7 };
    pess_observations *data = episodes_of(EPISODES, LENGTH);
    pess__parts parts = {0};
    pess_error error;
    OK(pess__parts_create(data, &parts, &error));
    assert_int_equal(parts.held_count, EPISODES / 10 * LENGTH);
    assert_int_equal(parts.learnt_count + parts.held_count, data->transitions);
    for (int64_t i = 0; i < parts.held_count; i++) assert_int_equal(parts.held[i] / LENGTH % 10, 9);
    for (int64_t i = 0; i < parts.learnt_count; i++) assert_int_not_equal(parts.learnt[i] / LENGTH % 10, 9);
    pess__parts_destroy(&parts);
    pess_observations_destroy(data);
}

/* One long episode goes into twenty stretches, of which two are held out. */
static void a_single_episode_is_cut(void **state) {
    (void)state;
    pess_observations *data = episodes_of(1, 2000);
    pess__parts parts = {0};
    pess_error error;
    OK(pess__parts_create(data, &parts, &error));
    assert_int_equal(parts.held_count, 200);
    for (int64_t i = 0; i < 100; i++) {
        assert_int_equal(parts.held[i], 900 + i);
        assert_int_equal(parts.held[100 + i], 1900 + i);
    }
    pess__parts_destroy(&parts);
    pess_observations_destroy(data);
}

/* ---- the rules by themselves */

static void the_step_size_falls_where_the_loss_does_not(void **state) {
    (void)state;
    pess__plateau p = pess__plateau_begin();
    bool best;
    assert_int_equal(pess__plateau_next(&p, 2, &best), PESS__GO_ON);
    assert_true(best);
    assert_int_equal(pess__plateau_next(&p, 1, &best), PESS__GO_ON);
    assert_int_equal(pess__plateau_next(&p, 0.9995, &best), PESS__GO_ON); /* better, but not worth waiting for */
    assert_true(best);
    assert_int_equal(pess__plateau_next(&p, 1.5, &best), PESS__FALL);
    assert_false(best);
    assert_int_equal(pess__plateau_next(&p, 0.9, &best), PESS__GO_ON); /* patience begins anew */
    for (int falls = 2; falls <= PESS__RATE_FALLS + 1; falls++) {
        assert_int_equal(pess__plateau_next(&p, 0.95, &best), PESS__GO_ON);
        assert_int_equal(pess__plateau_next(&p, 0.95, &best), falls <= PESS__RATE_FALLS ? PESS__FALL : PESS__OVER);
    }
    assert_true(p.best == 0.9);
}

/* A mean that goes to 1 as 1 − ρ^k: the update at which the rule stops. */
static int stop_of(double gamma, double rho) {
    pess__stillness s = {.count = 0};
    for (int k = 1; k < 5000; k++)
        if (pess__stillness_next(&s, 1 - pow(rho, k), gamma)) return k;
    return 5000;
}

/* What is left is at most a twentieth where values move as slowly as γ lets them, however large γ is; and they are not
 * waited for longer than that takes and the updates in a row. Short episodes stop sooner. */
static void values_stop_within_a_twentieth(void **state) {
    (void)state;
    static const double gammas[] = {0.9, 0.95, 0.99, 0.995};
    for (size_t i = 0; i < sizeof gammas / sizeof gammas[0]; i++) {
        const double gamma = gammas[i];
        const int stop = stop_of(gamma, gamma), needed = (int)ceil(log(0.05 / 1.05) / log(gamma));
        assert_true(pow(gamma, stop) <= 0.05);
        assert_true(stop <= (needed > PESS__WINDOW + 1 ? needed : PESS__WINDOW + 1) + PESS__STILL);
        assert_true(pow(0.9 * gamma, stop_of(gamma, 0.9 * gamma)) <= 0.05);
        assert_true(stop_of(gamma, 0.9 * gamma) <= stop);
    }
    assert_int_equal(stop_of(1, 0.9), 5000); /* nothing is known of what is left */
}

/* Values that grow for ever, as they do where they run away, do not arrive. */
static void values_that_run_away_do_not_arrive(void **state) {
    (void)state;
    pess__stillness s = {.count = 0};
    for (int k = 1; k < 1000; k++) assert_false(pess__stillness_next(&s, pow(1.02, k), 0.99));
}

static void a_pass_is_repeated_while_it_helps(void **state) {
    (void)state;
    assert_true(pess__fit_improves(1, 0.98, 1));
    assert_false(pess__fit_improves(1, 0.995, 1));
    assert_false(pess__fit_improves(1, 0.5, PESS__PASSES));
}

/* ---- a process with known values */

/* Every step earns 1, and an episode ends with probability 1 − keep: the mean value goes to 1/(1 − γ keep), about, as 1
 * − (γ keep)^k. */
static pess_observations *chain(double keep, int64_t transitions) {
    pess_observations *data = no_steps(STATES);
    pess__rng rng = pess__rng_stream(5, "test settling", 0);
    int64_t at = 0;
    for (int64_t i = 0; i < transitions; i++) {
        const int64_t to = (int64_t)pess__rng_below(&rng, STATES);
        const bool ends = pess__rng_uniform(&rng) >= keep;
        add_step(data, at, (int32_t)pess__rng_below(&rng, ACTIONS), 1, to, ends ? PESS_END_TERMINAL : PESS_END_NONE);
        at = to;
    }
    return data;
}

static pess_train_options settling(const pess_observations *data, const char *algorithm, const char *out) {
    pess_train_options o = training(NULL, data, algorithm, out);
    o.protocol.settle = true, o.protocol.updates = 200, o.protocol.steps = 30, o.protocol.batch = 128;
    o.protocol.imitation_steps = 5000, o.protocol.imitation_batch = 128;
    return o;
}

/* Within a tenth of the tabular values of the data (a twentieth is left out, as much again is the networks'), after as
 * many updates as the process asks for, which are few where episodes are short. */
static void values_of_a_known_process_are_reached(void **state) {
    (void)state;
    static const double keeps[] = {1, 0.8};
    for (int i = 0; i < 2; i++) {
        pess_observations *data = chain(keeps[i], 4000);
        pess_train_options o = settling(data, "naive", i == 0 ? "endless" : "ending");
        pess_train_result r;
        pess_error error;
        known k = {.some_unseen = false};
        double values[STATES];
        count_pairs(data, &k);
        tabular_values(data, &pess__learner_naive, NAN, &k, values);
        OK(pess_train_run(&o, &r, &error));
        for (int64_t s = 0; s < data->states; s++) {
            float q[ACTIONS];
            outputs_of(data, o.out, "policy", s, q);
            const double found = (double)q[pess__greedy(q, ACTIONS)];
            if (fabs(found - values[s]) > 0.1 * values[s]) fail_msg("%g instead of %g", found, values[s]);
        }
        const int64_t expected = stop_of(o.gamma, o.gamma * keeps[i]) + PESS_SCORED_UPDATES;
        if (r.updates < expected - 8 || r.updates > expected + 25)
            fail_msg("%lld updates, %lld expected", (long long)r.updates, (long long)expected);
        pess_observations_destroy(data);
    }
}

/* Actions by chance: imitation stops long before its bound, with probabilities near the shares, where the fixed
 * protocol of the same length knows its data by heart. */
static void imitation_stops_before_it_knows_by_heart(void **state) {
    (void)state;
    enum { COUNT = 2000, BITS = 12 };
    pess_observations *data = no_steps(BITS);
    pess__rng rng = pess__rng_stream(6, "test settling", 0);
    pess_error error;
    for (int i = 0; i < COUNT; i++) {
        const uint8_t before[2] = {(uint8_t)(i & 255), (uint8_t)(i >> 8)},
                      after[2] = {(uint8_t)((i + 1) & 255), (uint8_t)((i + 1) >> 8)};
        OK(pess_observations_add(data, before, (int32_t)pess__rng_below(&rng, ACTIONS), 0, after,
                                 i % 20 == 19 ? PESS_END_TERMINAL : PESS_END_NONE, &error));
    }
    pess_train_options o = settling(data, "imitation", "by-rule");
    pess_train_result r, fixed;
    o.protocol.imitation_steps = 20000;
    OK(pess_train_run(&o, &r, &error));
    assert_true(r.updates < 100); /* of 1,250 */
    assert_true(r.loss < 1.02 * log(ACTIONS));
    o = settling(data, "imitation", "by-heart");
    o.protocol.settle = false, o.protocol.imitation_steps = 20000;
    OK(pess_train_run(&o, &fixed, &error));
    double far[2] = {0, 0};
    for (int64_t s = 0; s < COUNT; s++)
        for (int k = 0; k < 2; k++) {
            float z[ACTIONS], p[ACTIONS];
            outputs_of(data, in_root(k == 0 ? "by-rule" : "by-heart"), "policy", s, z);
            pess__softmax(z, ACTIONS, p);
            for (int a = 0; a < ACTIONS; a++) far[k] += fabs((double)p[a] - 1.0 / ACTIONS) / (COUNT * ACTIONS);
        }
    if (!(far[0] < 0.5 * far[1])) fail_msg("apart by %g, by heart %g", far[0], far[1]);
    pess_observations_destroy(data);
}

/* ---- resuming, and networks that others share */

static void a_settling_run_resumes_to_the_same_bytes(void **state) {
    (void)state;
    static const char *const learners[] = {"imitation", "ua-propensity"};
    pess_observations *data = chain(0.8, 3000);
    for (int i = 0; i < 2; i++) {
        char whole[40], pieces[40], path[400];
        pess_train_result a, b;
        pess_error error;
        (void)snprintf(whole, sizeof whole, "whole-%d", i);
        (void)snprintf(pieces, sizeof pieces, "pieces-%d", i);
        pess_train_options o = settling(data, learners[i], whole);
        OK(pess_train_run(&o, &a, &error));
        o.out = in_root(pieces), o.checkpoint_seconds = 0;
        OK(pess_train_run(&o, &b, &error));
        (void)snprintf(path, sizeof path, "%s/checkpoint-%d.pesstrain", in_root(pieces), (int)((b.updates + 1) % 2));
        assert_int_equal(unlink(path), 0); /* the newest of two that take turns */
        o.resume = true;
        o.out = in_root(pieces);
        OK(pess_train_run(&o, &b, &error));
        assert_int_equal(b.resumed_from, a.updates - 1);
        assert_int_equal(b.updates, a.updates);
        assert_same_file(in_root(whole), in_root(pieces), "policy.pessnet");
    }
    pess_observations_destroy(data);
}

/* The update that was reached, and what is counted beside it, each made negative in turn under a right checksum. */
static void a_checkpoint_that_counts_below_nothing_is_refused(void **state) {
    (void)state;
    static uint8_t bytes[1 << 20];
    pess_observations *data = chain(0.8, 300);
    pess_train_result r;
    pess_error error;
    pess_train_options o = settling(data, "imitation", "negative");
    o.checkpoint_seconds = 0;
    OK(pess_train_run(&o, &r, &error));
    o.resume = true;
    char path[400];
    uint32_t settings;
    (void)snprintf(path, sizeof path, "%s/checkpoint-0.pesstrain", o.out);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    assert_in_range(size, 100, sizeof bytes - 1);
    memcpy(&settings, bytes + 12, sizeof settings);
    (void)snprintf(path, sizeof path, "%s/checkpoint-1.pesstrain", o.out);
    (void)unlink(path);
    for (int i = 0; i < 3; i++) {
        uint8_t *const sign = bytes + 16 + settings + 8 * i + 7;
        *sign ^= 0x80;
        const uint32_t sum = (uint32_t)crc32(0, bytes, (uInt)(size - sizeof sum));
        memcpy(bytes + size - sizeof sum, &sum, sizeof sum);
        rewind(file);
        assert_int_equal(fwrite(bytes, 1, size, file), size);
        assert_int_equal(fflush(file), 0);
        assert_int_equal(pess_train_run(&o, &r, &error), PESS_INPUT);
        if (strstr(error.message, "the checkpoint counts -9") == NULL) fail_msg("%d: %s", i, error.message);
        *sign ^= 0x80;
    }
    assert_int_equal(fclose(file), 0);
    pess_observations_destroy(data);
}

/* Which episodes were held out must be the same for a network that is calibrated on them. */
static void a_network_of_all_episodes_is_refused(void **state) {
    (void)state;
    pess_observations *data = chain(0.8, 1000);
    pess_train_result r;
    pess_error error;
    pess_train_options o = settling(data, "imitation", "of-all");
    o.protocol.settle = false, o.protocol.imitation_steps = 100;
    OK(pess_train_run(&o, &r, &error));
    char path[400];
    (void)snprintf(path, sizeof path, "%s/policy.pessnet", in_root("of-all"));
    o = settling(data, "ua-propensity", "refused");
    o.imitation = path;
    assert_int_equal(pess_train_run(&o, &r, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "learnt from all episodes"));
    pess_observations_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tenth_episode_is_held_out),
        cmocka_unit_test(a_single_episode_is_cut),
        cmocka_unit_test(the_step_size_falls_where_the_loss_does_not),
        cmocka_unit_test(values_stop_within_a_twentieth),
        cmocka_unit_test(values_that_run_away_do_not_arrive),
        cmocka_unit_test(a_pass_is_repeated_while_it_helps),
        cmocka_unit_test(values_of_a_known_process_are_reached),
        cmocka_unit_test(imitation_stops_before_it_knows_by_heart),
        cmocka_unit_test(a_settling_run_resumes_to_the_same_bytes),
        cmocka_unit_test(a_checkpoint_that_counts_below_nothing_is_refused),
        cmocka_unit_test(a_network_of_all_episodes_is_refused),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
