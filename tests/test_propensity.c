/* Probabilities that are calibrated on held-out episodes: what was memorised does not count, what can be
 * predicted does, and the held-out likelihood is at its largest. */
#include "fitted_case.h"

enum { COUNT = 3000, ALWAYS = 12, BITS = ALWAYS + 1 };

/* State s is the number s in binary with a bit that is always set. In each the log acts once: by the lowest two bits
 * with probability `order`, else by chance with these shares. */
static const double chance[ACTIONS] = {0.5, 0.3, 0.2};

static int ordered(int s) { return (s & 3) % ACTIONS; }

static pess_observations *log_of(double order) {
    pess_observations *data = no_steps(BITS);
    pess__rng rng = pess__rng_stream(11, "test propensity", 0);
    for (int i = 0; i < COUNT; i++) {
        const int from = i | 1 << ALWAYS, to = (i + 1) | 1 << ALWAYS;
        const uint8_t before[2] = {(uint8_t)(from & 255), (uint8_t)(from >> 8)},
                      after[2] = {(uint8_t)(to & 255), (uint8_t)(to >> 8)};
        const double by = pess__rng_uniform(&rng), u = pess__rng_uniform(&rng);
        const int action = by < order ? ordered(i) : u < chance[0] ? 0 : u < chance[0] + chance[1] ? 1 : 2;
        pess_error error;
        OK(pess_observations_add(data, before, action, 0, after, i + 1 == COUNT ? PESS_END_CUTOFF : PESS_END_NONE,
                                 &error));
    }
    return data;
}

/* After a training of 40 passes through the data, which is long enough to know them by heart. */
static pess__training *taught(const pess_observations *data) {
    pess__training *f = by_hand("ua-propensity", 1, data);
    f->setup.options.protocol.updates = 1, f->setup.options.protocol.steps = 3000,
    f->setup.options.protocol.batch = 256;
    f->setup.options.protocol.imitation_rate = 1e-3;
    make_penalties(f);
    assert_string_equal(f->warning, "");
    return f;
}

static void logits_of(const pess__training *f, int64_t state, float out[ACTIONS]) {
    const pess__bits_rows row = {f->setup.data->observations + state * f->setup.data->bytes, f->setup.data->bytes,
                                 NULL};
    pess_error error;
    OK(pess__net_apply(f->networks.uncertainty, &row, 1, 1, out, &error));
}

/* Actions by chance: the shares in every state, and the penalty is that of the shares. */
static void chance_is_not_learnt_by_heart(void **state) {
    (void)state;
    pess_observations *data = log_of(0);
    pess__training *f = taught(data);
    double apart = 0;
    for (int64_t s = 0; s < COUNT; s++) {
        float z[ACTIONS], p[ACTIONS];
        logits_of(f, s, z);
        pess__softmax(z, ACTIONS, p);
        for (int a = 0; a < ACTIONS; a++) {
            const double least = 1 / sqrt((double)fmaxf(fmaxf(p[0], p[1]), p[2]));
            apart = fmax(apart, fabs((double)p[a] - chance[a]));
            assert_true(fabs((double)f->tables.penalty[s * ACTIONS + a] - (1 / sqrt((double)p[a]) - least)) < 1e-5);
        }
    }
    if (apart > 0.12) fail_msg("a probability is off by %g", apart);
    put_away(f);
    pess_observations_destroy(data);
}

/* An order that can be learnt is believed, at states that were held out too. */
static void order_is_believed(void **state) {
    (void)state;
    pess_observations *data = log_of(1);
    pess__training *f = taught(data);
    for (int64_t s = 0; s < COUNT; s++) {
        float z[ACTIONS], p[ACTIONS];
        logits_of(f, s, z);
        pess__softmax(z, ACTIONS, p);
        assert_true(p[ordered((int)s)] > 0.9F);
    }
    put_away(f);
    pess_observations_destroy(data);
}

/* Few states that come back: how often each action was drawn there counts. 500 draws have standard deviations of up to
 * 0.023; what is flattened towards the shares and the fit come on top. */
static void states_that_come_back_have_their_frequencies(void **state) {
    (void)state;
    pess_observations *data = no_steps(STATES);
    pess__rng rng = pess__rng_stream(12, "test propensity", 0);
    for (int i = 0; i < 3000; i++) {
        const int s = i % 6;
        add_step(data, s, pess__rng_uniform(&rng) < (s + 1) / 8.0 ? 0 : 1, 0, STATES - 1, PESS_END_TERMINAL);
    }
    pess__training *f = taught(data);
    for (int64_t s = 0; s < data->states; s++) {
        float z[ACTIONS], p[ACTIONS];
        const int32_t *n = f->tables.counts + s * ACTIONS;
        if (n[0] + n[1] == 0) continue; /* the end */
        logits_of(f, s, z);
        pess__softmax(z, ACTIONS, p);
        assert_true(fabs((double)p[0] - (double)n[0] / (n[0] + n[1])) < 0.1 && p[2] < 0.05F);
    }
    put_away(f);
    pess_observations_destroy(data);
}

/* Half order, half chance: neither flatter nor sharper outputs (from or towards the log shares) fit the held-out
 * transitions better. */
static void the_held_out_likelihood_is_largest(void **state) {
    (void)state;
    static const double scales[] = {1, 0.9, 1.1};
    pess_observations *data = log_of(0.5);
    pess__training *f = taught(data);
    double shares[ACTIONS], likelihood[3] = {0, 0, 0};
    int64_t taken[ACTIONS] = {0};
    for (int64_t i = 0; i < COUNT; i++) taken[data->action[i]]++;
    for (int a = 0; a < ACTIONS; a++) shares[a] = log((double)(taken[a] + 1) / (COUNT + ACTIONS));
    pess__parts parts = {0};
    pess_error error;
    OK(pess__parts_create(data, &parts, &error));
    for (int64_t k = 0; k < parts.held_count; k++) {
        const int64_t i = parts.held[k];
        float z[ACTIONS], scaled[ACTIONS], p[ACTIONS];
        logits_of(f, data->state[i], z);
        for (int b = 0; b < 3; b++) {
            for (int a = 0; a < ACTIONS; a++) scaled[a] = (float)(shares[a] + scales[b] * ((double)z[a] - shares[a]));
            pess__softmax(scaled, ACTIONS, p);
            likelihood[b] += log((double)p[data->action[i]]);
        }
    }
    assert_true(likelihood[0] > likelihood[1] && likelihood[0] > likelihood[2]);
    pess__parts_destroy(&parts);
    put_away(f);
    pess_observations_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chance_is_not_learnt_by_heart),
        cmocka_unit_test(order_is_believed),
        cmocka_unit_test(states_that_come_back_have_their_frequencies),
        cmocka_unit_test(the_held_out_likelihood_is_largest),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
