/* Targets y = r + γ v(s') of every learner on three transitions, by hand: one goes on, one ends, one is cut off. What
 * the targets are made of — values, prior, counts, actor, four networks, many heads — is set by the test. */
#include "fitted_case.h"

enum { A, B, C, THREE };

/* A → B, B → C where it ends, C → A where it is cut off: v(C) must not count, v(A) must. */
static pess_observations *three_steps(void) {
    pess_observations *data = no_steps(THREE);
    add_step(data, A, 0, 1, B, PESS_END_NONE);
    add_step(data, B, 1, 2, C, PESS_END_TERMINAL);
    add_step(data, C, 2, 4, A, PESS_END_CUTOFF);
    return data;
}

static const float q_table[THREE][ACTIONS] = {{1, 3, 2}, {4, -2, 6}, {9, 9, 12}};
static const float prior_table[THREE][ACTIONS] = {{0.5F, 0.125F, 0.375F}, {0.25F, 0.625F, 0.125F}, {1, 0, 0}};
static const float actor_table[THREE][ACTIONS] = {{0.5F, 0.25F, 0.25F}, {0.25F, 0.25F, 0.5F}, {1, 1, 1}};
static const float uncertainty_table[THREE][ACTIONS] = {{0, 2, 0.5F}, {0.5F, 0, 3}, {0, 0, 0}};
static const int32_t count_table[THREE][ACTIONS] = {{4, 1, 0}, {16, 0, 1}, {1, 1, 1}};

/* Four networks with the means of q_table: they differ by 0, 2, −2, 0 times these, so by √2 times these. */
static const float apart_table[THREE][ACTIONS] = {{0.25F, 1, 0.5F}, {0.5F, 0, 2}, {0, 0, 0}};

static pess__net *ensemble_network(int k) {
    static const float by[4] = {0, 2, -2, 0};
    float table[THREE][ACTIONS];
    for (int s = 0; s < THREE; s++)
        for (int a = 0; a < ACTIONS; a++) table[s][a] = q_table[s][a] + by[k] * apart_table[s][a];
    return table_network(THREE, ACTIONS, table[0]);
}

static pess__net *actor_network(void) {
    float logits[THREE][ACTIONS];
    for (int s = 0; s < THREE; s++)
        for (int a = 0; a < ACTIONS; a++) logits[s][a] = logf(actor_table[s][a]);
    return table_network(THREE, ACTIONS, logits[0]);
}

/* The penalties come from the tables above; those of support-net from uncertainty_table in its network's stead. */
static void set_penalties(pess__training *f) {
    if (f->setup.learner->uncertainty->outside == NULL) return; /* the ensemble has none */
    if (f->setup.learner->uncertainty == &pess__neural_uncertainty_support_net) {
        f->tables.penalty = copy_of(uncertainty_table[0], (int64_t)THREE * ACTIONS);
        return;
    }
    f->setup.options.protocol.updates = f->setup.options.protocol.steps = 1;
    make_penalties(f);
}

/* After its first update: the network, or four of them, as that left it. */
static pess__training *after_one_update(const char *algorithm, double alpha, double cap, bool relative,
                                        const pess_observations *data) {
    pess__training *f = by_hand(algorithm, alpha, data);
    const int64_t networks = pess__learner_networks(f->setup.learner, f->setup.knobs);
    f->position.update = 1;
    f->setup.options.gamma = 0.5;
    f->setup.options.relative = relative;
    if (cap > 0) f->setup.cap = cap;
    f->networks.nets[0] = networks > 1 ? ensemble_network(0) : table_network(THREE, ACTIONS, q_table[0]);
    for (int k = 1; k < networks; k++) f->networks.nets[k] = ensemble_network(k);
    memcpy(f->tables.counts, count_table, sizeof count_table);
    if (f->setup.learner->info.imitation) f->tables.prior = copy_of(prior_table[0], (int64_t)THREE * ACTIONS);
    if (strncmp(algorithm, "crr", 3) == 0) {
        f->networks.nets[1] = actor_network();
    }
    if (f->setup.learner->uncertainty != NULL) set_penalties(f);
    return f;
}

static void targets_are_those_computed_by_hand(void **state) {
    (void)state;
    const double root2 = sqrt(2);
    const struct {
        const char *algorithm;
        double alpha, cap; /* cap 0: its own */
        bool relative;
        double a, b; /* v(A), v(B) */
    } cases[] = {
        {"naive", NAN, 0, false, 3, 6},
        {"cql", 1, 0, false, 3, 6},            /* the difference is in the loss */
        {"model-ensemble", 1, 0, false, 3, 6}, /* in the rewards */
        /* A: above 3 − 1.5 are 3 and 2, 0.125·3 + 0.375·2 + 0.5·(3 − 1.5); B: 0.125·6 + 0.875·(6 − 1.5) */
        {"proximal", 1.5, 0, false, 1.875, 4.6875},
        /* π̂ relative to the largest: A 1, 0.25, 0.75; B 0.4, 1, 0.2 */
        {"bcq", 0.3, 0, false, 2, 4},
        {"brac", 2, 0, false, 2 * log(0.5 * exp(0.5) + 0.125 * exp(1.5) + 0.375 * exp(1)),
         2 * log(0.25 * exp(2) + 0.625 * exp(-1) + 0.125 * exp(3))},
        /* Seen once or more: A 1 and 3 with π̂ 0.625 together, 0.625·3 + 0.375·2; B 4 and 6, 0.375·6 − 0.625·2 */
        {"spibb-dqn", 1, 0, false, 2.625, 1},
        {"spibb-dqn", 3, 0, false, 0.5 + 0.375 + 0.75, 1 - 1.25 + 0.75}, /* only what was seen 4 and 16 times is free */
        {"crr", NAN, 0, false, 0.5 + 0.75 + 0.5, 1 - 0.5 + 3},
        {"crr-exp", 1, 0, false, 0.5 + 0.75 + 0.5, 1 - 0.5 + 3},
        /* u: A 1/2, 1, 5; B 1/4, 5, 1: 0.5, 2, −3; 3.75, −7, 5. With the smallest taken off: 1, 2.5, …; 4, …, 5.25 */
        {"ua-counts", 1, 0, false, 2, 5},
        {"ua-counts", 1, 0, true, 2.5, 5.25},
        {"ua-counts", 0.1, 0.5, false, 2.95, 5.95}, /* u: A 1/2, 1/2, 1/2; B 1/4, 1/2, 1/2 */
        /* 1, 1, 1.5; 3.5, −2, 3 */
        {"ua-support-net", 1, 0, false, 1.5, 3.5},
        /* 1/√π̂: A √2, √8, √(8/3): −0.41, 0.17, 0.37; B 2, √1.6, √8: 2, −3.26, 3.17. At most 2: A −0.41, 1, 0.37 */
        {"ua-imitation", 1, 0, false, 2 - sqrt(8.0 / 3), 6 - sqrt(8)},
        {"ua-imitation", 1, 2, false, 1, 4},
        /* 1/√(5π̂): 0.37, 1.74, 1.27; 1/√(17π̂): 3.5, −2.3, 5.3 */
        {"ua-imitation-counts", 1, 0, false, 3 - 1 / sqrt(5 * 0.125), 6 - 1 / sqrt(17 * 0.125)},
        {"ua-imitation-counts", 1, 0.5, false, 2.5, 5.5},
        /* √2 · (1/4, 1, 1/2): 0.65, 1.59, 1.29; √2 · (1/2, 0, 2): 3.29, −2, 3.17 */
        {"ua-ensemble", 1, 0, false, 3 - root2, 4 - root2 / 2},
        {"ua-ensemble", 1, 0, true, 3 - 0.75 * root2, 4 - root2 / 2},
        {"ua-ensemble", 0, 0, false, 3, 6},
        {"ua-ensemble", 1, 1, false, 2, 5}, /* at most 1: 3 − 1, 6 − 1 */
    };
    pess_observations *data = three_steps();
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (int all = 0; all < 2; all++) { /* states that the draws and the check need; those of all rows */
            pess__training *f =
                after_one_update(cases[c].algorithm, cases[c].alpha, cases[c].cap, cases[c].relative, data);
            pess_error error;
            f->setup.steps = all ? 100 : 1;
            f->scores.check_count = all ? 0 : data->transitions;
            OK(pess__targets_compute(f, &error));
            assert_close(cases[c].algorithm, pess__target(&f->setup, &f->values, 0), 1 + 0.5 * cases[c].b);
            assert_close(cases[c].algorithm, pess__target(&f->setup, &f->values, 1), 2);
            assert_close(cases[c].algorithm, pess__target(&f->setup, &f->values, 2), 4 + 0.5 * cases[c].a);
            f->position.update = 0; /* before the first update nothing is known */
            OK(pess__targets_compute(f, &error));
            for (int row = 0; row < 3; row++)
                assert_close(cases[c].algorithm, pess__target(&f->setup, &f->values, row), (double)data->reward[row]);
            put_away(f);
        }
    pess_observations_destroy(data);
}

/* Heads of values k, 25 and 49 − k in A, and the same less 10 in B: a mixture is worth max(m, 25, 49 − m) with its own
 * m = Σ w_k k. */
static void each_mixture_has_targets_of_its_own(void **state) {
    (void)state;
    pess_observations *data = three_steps();
    pess__training *f = by_hand("rem", NAN, data);
    const int64_t heads = pess__learner_heads(f->setup.learner, f->setup.knobs),
                  mixtures = pess__learner_mixtures(f->setup.learner);
    float *table = room_for(THREE * heads * ACTIONS, sizeof *table);
    double before[2], most = -INFINITY, least = INFINITY;
    pess_error error;
    for (int64_t i = 0; i < THREE * heads; i++) {
        const float k = (float)(i % heads), less = i / heads == B ? 10 : 0;
        table[i * ACTIONS] = k - less;
        table[i * ACTIONS + 1] = 25 - less;
        table[i * ACTIONS + 2] = 49 - k - less;
    }
    f->setup.options.gamma = 0.5;
    f->networks.nets[0] = table_network(THREE, heads * ACTIONS, table);
    for (f->position.update = 1; f->position.update < 3; f->position.update++) {
        OK(pess__targets_compute(f, &error));
        for (f->values.mixing = 0; f->values.mixing < mixtures; f->values.mixing++) {
            const double *w = f->values.mixture + f->values.mixing * heads;
            double sum = 0, mean = 0;
            for (int64_t k = 0; k < heads; k++) {
                assert_true(w[k] >= 0 && w[k] <= 0.1);
                sum += w[k];
                mean += w[k] * (double)k;
            }
            const double v = fmax(25, fmax(mean, 49 - mean));
            assert_close("sum of a mixture", sum, 1);
            assert_close("mixture", pess__target(&f->setup, &f->values, 0), 1 + 0.5 * (v - 10));
            assert_close("mixture", pess__target(&f->setup, &f->values, 1), 2);
            assert_close("mixture", pess__target(&f->setup, &f->values, 2), 4 + 0.5 * v);
            most = fmax(most, v);
            least = fmin(least, v);
            if (f->values.mixing < 2 && f->position.update == 1) before[f->values.mixing] = mean;
            if (f->values.mixing < 2 && f->position.update == 2)
                assert_true(fabs(before[f->values.mixing] - mean) > 1e-3); /* new ones */
        }
        f->values.mixing = 0;
    }
    assert_true(fabs(before[0] - before[1]) > 1e-3 && most - least > 1);
    free(table);
    put_away(f);
    pess_observations_destroy(data);
}

/* Every row that an update will draw has its value, in the networks' own resamples too, and no others are computed. */
static void only_rows_that_will_be_drawn_are_valued(void **state) {
    (void)state;
    enum { LONG = 60, DRAWS = 4 };
    pess_observations *data = no_steps(LONG + 1);
    for (int i = 0; i < LONG; i++) add_step(data, i, i % ACTIONS, 1, i + 1, PESS_END_NONE);
    float *table = room_for((LONG + 1) * ACTIONS, sizeof *table);
    for (int i = 0; i <= LONG; i++) table[i * ACTIONS + i % ACTIONS] = (float)(i + 1);
    static const char *const learners[] = {"naive", "ua-ensemble"};
    for (int i = 0; i < 2; i++) {
        pess__training *f = by_hand(learners[i], 1, data);
        pess_error error;
        int64_t missing = 0;
        f->position.update = 1, f->setup.batch = DRAWS, f->scores.check_count = 0, f->setup.options.gamma = 0.5;
        for (int64_t s = 0; s < data->states; s++) f->values.value[s] = NAN;
        f->networks.nets[0] = table_network(LONG + 1, ACTIONS, table);
        for (int k = 1; k < pess__learner_networks(f->setup.learner, f->setup.knobs); k++)
            f->networks.nets[k] = table_network(LONG + 1, ACTIONS, table);
        OK(pess__targets_compute(f, &error));
        for (int64_t k = 0; k < pess__learner_networks(f->setup.learner, f->setup.knobs); k++) {
            pess__rng rng = pess__rows_stream(&f->setup, k);
            for (int draw = 0; draw < DRAWS; draw++) {
                const int64_t row = pess__rows_next(&f->setup, k, &rng);
                assert_close(learners[i], pess__target(&f->setup, &f->values, row), 1 + 0.5 * (double)(row + 2));
            }
        }
        for (int64_t s = 0; s < data->states; s++) missing += isnan(f->values.value[s]);
        assert_true(missing > LONG / 2);
        put_away(f);
    }
    free(table);
    pess_observations_destroy(data);
}

/* Targets 4, 2, 5.5 against 1, −2, 12 of the actions taken: |d| = 3, 4, 6.5, the last beyond Huber's edge of 5. */
static void loss_and_means_are_those_computed_by_hand(void **state) {
    (void)state;
    static const char *const learners[] = {"naive", "ua-ensemble"};
    pess_observations *data = three_steps();
    for (int i = 0; i < 2; i++) {
        pess__training *f = after_one_update(learners[i], 0, 0, false, data);
        pess_error error;
        OK(pess__targets_compute(f, &error));
        pess__net_destroy(f->networks.nets[0]);
        f->networks.nets[0] = i == 0 ? table_network(THREE, ACTIONS, q_table[0]) : ensemble_network(0);
        OK(pess__training_check(f, &error));
        assert_close("loss", f->scores.loss, (4.5 + 8 + 5 * (6.5 - 2.5)) / 3);
        assert_close("mean target", f->scores.mean_target, 11.5 / 3);
        assert_close("mean value", f->scores.mean_q, 11.0 / 3);
        /* Counts: action 2 is new in A and worth 1 less than the best there; action 1 in B, 8 less. */
        assert_close("gap", f->scores.gap, (-1 - 8) / 2.0);
        assert_close("mass", f->scores.unlogged, 0);
        assert_close("values apart", f->scores.values_apart, (2 + 8 + 3) / 3.0);
        put_away(f);
    }
    pess_observations_destroy(data);
}

/* ---- what a learner's own networks are trained to */

/* One state, q = (1, 1.5, 2), an actor that begins uniform: advantages −0.5, 0, 0.5. With weights w of the logged
 * actions, as often one as the other, the actor comes to w/Σw. */
static void an_actor_comes_to_the_weights_of_its_actions(void **state) {
    (void)state;
    const struct {
        const char *algorithm;
        double beta, weights[ACTIONS];
    } cases[] = {{"crr", NAN, {0, 0, 1}},
                 {"crr-exp", 1, {exp(-0.5), 1, exp(0.5)}},
                 {"crr-exp", 0.1, {exp(-5), 1, 20}}}; /* exp(5) is held to 20 */
    static const float q[ACTIONS] = {1, 1.5F, 2}, zeros[ACTIONS] = {0};
    pess_observations *data = no_steps(1);
    for (int32_t a = 0; a < ACTIONS; a++) add_step(data, 0, a, 0, 0, PESS_END_TERMINAL);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        pess__training *f = by_hand(cases[c].algorithm, cases[c].beta, data);
        const double sum = cases[c].weights[0] + cases[c].weights[1] + cases[c].weights[2];
        const pess__bits_rows rows = {data->observations, data->bytes, NULL};
        float logits[ACTIONS], policy[ACTIONS];
        pess_error error;
        f->setup.steps = 1000, f->setup.batch = 64, f->setup.options.protocol.rate = 0.01;
        f->networks.nets[0] = table_network(1, ACTIONS, q);
        f->networks.nets[1] = table_network(1, ACTIONS, zeros);
        make_trainer(f, 1);
        OK(pess__own_networks_train(&f->setup, &f->networks, &f->tables, &f->sweep, &error));
        OK(pess__net_apply(f->networks.nets[1], &rows, 1, 1, logits, &error));
        pess__softmax(logits, ACTIONS, policy);
        for (int a = 0; a < ACTIONS; a++) {
            const double wanted = cases[c].weights[a] / sum;
            if (fabs((double)policy[a] - wanted) > 0.03)
                fail_msg("%s, beta %g, action %d: %g, not %g", cases[c].algorithm, cases[c].beta, a, (double)policy[a],
                         wanted);
        }
        put_away(f);
    }
    pess_observations_destroy(data);
}

/* At step size 0 the three models stay as they began, so what they imagine can be worked out again: the mean reward
 * less α times the root of the summed variances over the three, the rounded bits, whether it ends. */
static void models_imagine_what_can_be_worked_out_again(void **state) {
    (void)state;
    enum { MODELS = 3, BLOCK = THREE + 2, OUTPUTS = ACTIONS * BLOCK };
    pess_observations *data = three_steps();
    for (int alpha = 0; alpha < 3; alpha++) {
        pess__training *f = by_hand("model-ensemble", alpha, data);
        float outputs[MODELS][THREE][OUTPUTS];
        pess_error error;
        f->setup.options.out = root;
        f->setup.options.protocol.updates = f->setup.options.protocol.steps = 1;
        f->setup.options.protocol.imitation_rate = 0;
        OK(f->setup.learner->prepare(&f->setup, &f->replaced, &error));
        assert_int_equal(f->replaced->transitions, 2 * data->transitions);
        for (int i = 0; i < MODELS; i++) {
            const pess__bits_rows rows = {data->observations, data->bytes, NULL};
            pess__net *model = NULL;
            pess__rng rng = pess__rng_stream(f->setup.options.seed, "model", (uint64_t)i);
            OK(pess__setup_network(&f->setup, OUTPUTS, &model, &error));
            pess__net_initialise(model, &rng);
            OK(pess__net_apply(model, &rows, THREE, 1, outputs[i][0], &error));
            pess__net_destroy(model);
        }
        for (int64_t row = data->transitions; row < f->replaced->transitions; row++) {
            const int64_t s = f->replaced->state[row], first = f->replaced->action[row] * (int64_t)BLOCK;
            double mean[BLOCK], squares = 0;
            uint8_t bits = 0;
            for (int j = 0; j < BLOCK; j++) {
                const double x = (double)outputs[0][s][first + j], y = (double)outputs[1][s][first + j],
                             z = (double)outputs[2][s][first + j];
                mean[j] = (x + y + z) / 3;
                squares += (x * x + y * y + z * z) / 3 - mean[j] * mean[j];
                if (j < THREE && mean[j] > 0.5) bits |= (uint8_t)(1U << j);
            }
            assert_true(squares > 0.01);
            assert_close("imagined reward", (double)f->replaced->reward[row], mean[THREE] - alpha * sqrt(squares));
            assert_int_equal(f->replaced->end[row], mean[THREE + 1] > 0.5 ? PESS_END_TERMINAL : PESS_END_CUTOFF);
            assert_int_equal(f->replaced->observations[f->replaced->next[row]], bits);
        }
        pess_observations_destroy(f->replaced);
        put_away(f);
    }
    pess_observations_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_those_computed_by_hand),
        cmocka_unit_test(each_mixture_has_targets_of_its_own),
        cmocka_unit_test(only_rows_that_will_be_drawn_are_valued),
        cmocka_unit_test(loss_and_means_are_those_computed_by_hand),
        cmocka_unit_test(an_actor_comes_to_the_weights_of_its_actions),
        cmocka_unit_test(models_imagine_what_can_be_worked_out_again),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
