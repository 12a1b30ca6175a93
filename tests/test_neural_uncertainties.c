/* Uncertainties as tables: actions that were never taken, the cap, more states than fit in a chunk, and the network's
 * share in them. */
#include "fitted_case.h"

/* ---- actions that were never taken */

/* u of a pair of a run: 1/√n, the cap where n = 0; or 1/√(π̂N). */
static double uncertainty_of(const known *k, bool counts, double cap, int64_t s, int a) {
    double visits = 0;
    for (int b = 0; b < ACTIONS; b++) visits += k->counts[s][b];
    if (counts) return k->counts[s][a] > 0 ? fmin(1 / sqrt(k->counts[s][a]), cap) : cap;
    return fmin(1 / sqrt((double)k->prior[s][a] * visits), cap);
}

/* On data so few that all of them are checked, and that lack some pairs: what the log says of a run is its table's.
 * α = 1000 leaves only the least uncertain action, which for counts is always a logged one. */
static void a_cap_limits_every_penalty(void **state) {
    (void)state;
    static const char *const learners[] = {"ua-counts", "ua-imitation-counts"};
    const double cap = 3;
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 90, UINT64_MAX);
    for (int i = 0; i < 2; i++) {
        pess_train_options o = training(mdp, data, learners[i], learners[i]);
        pess_train_result result;
        pess_error error;
        known k = {0};
        double penalties = 0, mass = 0, found[4];
        int64_t capped = 0;
        o.protocol.updates = 3, o.protocol.imitation_steps = 500, o.knobs = alpha_knob(1000), o.u_cap = cap,
        o.relative = i == 1;
        OK(pess_train_run(&o, &result, &error));
        count_pairs(data, &k);
        for (int64_t row = 0; row < data->transitions; row++) {
            const int64_t s = data->state[row];
            float outputs[ACTIONS];
            double least = INFINITY, most = 0;
            int best = 0;
            if (i == 1) {
                outputs_of(data, in_root(learners[i]), "imitation/policy", s, outputs);
                pess__softmax(outputs, ACTIONS, k.prior[s]);
            }
            for (int a = 0; a < ACTIONS; a++) {
                const double u = uncertainty_of(&k, i == 0, cap, s, a);
                if (u < least) best = a;
                least = fmin(least, u);
                most = fmax(most, u);
                capped += u >= cap;
            }
            penalties += 1000 * (most - least) / (double)data->transitions;
            mass += (k.counts[s][best] == 0) / (double)data->transitions;
        }
        assert_true(capped > 0);
        read_looks(in_root(learners[i]), found);
        assert_true(fabs(found[3] / penalties - 1) < 1e-4);
        assert_true(i == 0 ? found[0] == 0 && mass == 0 : fabs(found[0] - mass) < 1e-4);
    }
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* The tabular engine gives an unseen pair the largest uncertainty there can be, W = 1/(1 − γ). With that as cap the
 * networks come to its values on a log in which pairs are missing. */
static void networks_come_to_the_tabular_answer_with_unseen_pairs(void **state) {
    (void)state;
    const double alpha = 2;
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 130, UINT64_MAX);
    pess_train_options o = training(mdp, data, "ua-counts", "unseen");
    pess_train_result result;
    pess_error error;
    known k = {.some_unseen = true};
    double wanted[STATES], naive[STATES], apart = 0;
    int64_t unseen = 0;
    count_pairs(data, &k);
    o.knobs = alpha_knob(alpha), o.relative = false, o.u_cap = 1 / (1 - GAMMA);
    for (int64_t i = 0; i < data->transitions; i++) /* or values of states without actions would count */
        assert_true(data->end[i] == PESS_END_TERMINAL || acted_in(&k, data->next[i]));
    for (int64_t s = 0; s < data->states; s++)
        for (int a = 0; a < ACTIONS; a++) {
            k.penalty[s][a] = (float)uncertainty_of(&k, true, o.u_cap, s, a);
            unseen += acted_in(&k, s) && k.counts[s][a] == 0;
        }
    assert_true(unseen > 2);
    tabular_values(data, &pess__neural_uncertainty_counts.learner, alpha, &k, wanted);
    tabular_values(data, &pess__learner_naive, NAN, &k, naive);
    assert_the_engine_agrees(data, alpha, &k, wanted);
    OK(pess_train_run(&o, &result, &error));
    for (int64_t s = 0; s < data->states; s++) {
        float q[ACTIONS];
        if (!acted_in(&k, s)) continue;
        outputs_of(data, in_root("unseen"), "policy", s, q);
        const double found = rule(&pess__neural_uncertainty_counts.learner, alpha, &k, s, q);
        if (fabs(found - wanted[s]) > 0.15) fail_msg("state %lld: %g, the engine %g", (long long)s, found, wanted[s]);
        apart = fmax(apart, fabs(wanted[s] - naive[s]));
    }
    assert_true(apart > 1);
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* ---- more states than fit in a chunk */

enum { MANY = 20000, ALWAYS = 15, MANY_BITS = ALWAYS + 1 };
_Static_assert((int)MANY > 2 * (int)PESS__OUTPUT_CHUNK && MANY < 1 << ALWAYS, "three chunks of different states");

/* State s is the number s in binary with a bit that is always set; a walk through all of them. */
static pess_observations *many_states(void) {
    pess_observations *data = no_steps(MANY_BITS);
    pess_error error;
    for (int s = 0; s + 1 < MANY; s++) {
        const int from = s | 1 << ALWAYS, to = (s + 1) | 1 << ALWAYS;
        const uint8_t before[2] = {(uint8_t)(from & 255), (uint8_t)(from >> 8)},
                      after[2] = {(uint8_t)(to & 255), (uint8_t)(to >> 8)};
        OK(pess_observations_add(data, before, s % ACTIONS, 1, after, s + 2 == MANY ? PESS_END_CUTOFF : PESS_END_NONE,
                                 &error));
    }
    assert_int_equal(data->states, MANY);
    return data;
}

/* The output for the state of that number: the sum of the rows of its bits. */
static double sum_of_bits(const float *table, int64_t outputs, int64_t s, int64_t output) {
    double sum = 0;
    for (int bit = 0; bit < MANY_BITS; bit++)
        if ((s | 1 << ALWAYS) >> bit & 1) sum += (double)table[bit * outputs + output];
    return sum;
}

static void some_numbers(float *table, int64_t count) {
    pess__rng rng = pess__rng_stream(6, "test doubts", 0);
    for (int64_t i = 0; i < count; i++) table[i] = (float)(pess__rng_uniform(&rng) - 0.5);
}

/* Every thousandth state has no counts: its penalty is what the network says. */
static void penalties_of_many_states_are_those_of_each(void **state) {
    (void)state;
    pess_observations *data = many_states();
    pess__training *f = by_hand("ua-counts", 1, data);
    pess_error error;
    double apart = 0;
    f->setup.options.protocol.updates = f->setup.options.protocol.steps = 1;
    f->setup.options.relative = false;
    for (int64_t s = 0; s < MANY; s++)
        for (int64_t a = 0; a < ACTIONS; a++)
            f->tables.counts[s * ACTIONS + a] = s % 1000 == 0 ? 0 : (int32_t)((s + 5 * a) % 7);
    make_penalties(f);
    for (int64_t s = 0; s < MANY; s++) {
        const pess__bits_rows row = {data->observations + s * data->bytes, data->bytes, NULL};
        float spoken[ACTIONS];
        OK(pess__net_apply(f->networks.uncertainty, &row, 1, 1, spoken, &error));
        for (int64_t a = 0; a < ACTIONS; a++) {
            const double n = f->tables.counts[s * ACTIONS + a], said = fmin(fmax((double)spoken[a], 0), f->setup.cap);
            const double wanted = s % 1000 == 0 ? said : n > 0 ? 1 / sqrt(n) : f->setup.cap;
            if (fabs((double)f->tables.penalty[s * ACTIONS + a] - wanted) > 1e-6)
                fail_msg("state %lld: %g, not %g", (long long)s, (double)f->tables.penalty[s * ACTIONS + a], wanted);
            if (s % 1000 == 0) apart = fmax(apart, said);
        }
    }
    assert_true(apart > 0.01); /* the network does speak */
    put_away(f);
    pess_observations_destroy(data);
}

static void priors_and_values_of_many_states_are_those_of_each(void **state) {
    (void)state;
    pess_observations *data = many_states();
    pess__training *f = by_hand("proximal", 0, data); /* α = 0: the largest value */
    float logits[MANY_BITS * ACTIONS], values[MANY_BITS * ACTIONS];
    pess_error error;
    some_numbers(logits, MANY_BITS * ACTIONS);
    some_numbers(values, MANY_BITS * ACTIONS);
    for (int i = 0; i < MANY_BITS * ACTIONS; i++) values[i] *= 3;
    f->networks.imitation = table_network(MANY_BITS, ACTIONS, logits);
    f->networks.nets[0] = table_network(MANY_BITS, ACTIONS, values);
    f->position.update = 1;
    OK(pess__tables_priors(&f->setup, f->networks.imitation, &f->tables, &error));
    OK(pess__targets_compute(f, &error));
    for (int64_t s = 0; s < MANY; s++) {
        double sum = 0, best = -INFINITY;
        for (int64_t a = 0; a < ACTIONS; a++) {
            sum += exp(sum_of_bits(logits, ACTIONS, s, a));
            best = fmax(best, sum_of_bits(values, ACTIONS, s, a));
        }
        for (int64_t a = 0; a < ACTIONS; a++)
            assert_true(fabs((double)f->tables.prior[s * ACTIONS + a] - exp(sum_of_bits(logits, ACTIONS, s, a)) / sum) <
                        1e-5);
        if (s > 0) assert_true(fabs((double)f->values.value[s] - best) < 1e-5); /* no transition leads to 0 */
    }
    put_away(f);
    pess_observations_destroy(data);
}

/* q = (0, 1, 1) below state 16384 and (2, 1, 1) from there on, an actor that begins uniform: crr trains it to actions 1
 * and 2 there, and action 0 here, whichever part of the states was appraised when. */
static void an_actor_learns_in_many_states(void **state) {
    (void)state;
    enum { HIGH = 14 };
    pess_observations *data = many_states();
    pess__training *f = by_hand("crr", NAN, data);
    float q[MANY_BITS][ACTIONS] = {{0}}, zeros[MANY_BITS][ACTIONS] = {{0}}, odds[ACTIONS];
    pess_error error;
    q[HIGH][0] = 2;
    q[ALWAYS][1] = q[ALWAYS][2] = 1;
    f->setup.steps = 40, f->setup.batch = 500, f->setup.options.protocol.rate = 0.1;
    f->networks.nets[0] = table_network(MANY_BITS, ACTIONS, q[0]);
    f->networks.nets[1] = table_network(MANY_BITS, ACTIONS, zeros[0]);
    make_trainer(f, 1);
    OK(pess__own_networks_train(&f->setup, &f->networks, &f->tables, &f->sweep, &error));
    assert_true(f->sweep.count > PESS__OUTPUT_CHUNK);
    for (int64_t s = 0; s < MANY; s += 100) {
        const pess__bits_rows row = {data->observations + s * data->bytes, data->bytes, NULL};
        OK(pess__net_apply(f->networks.nets[1], &row, 1, 1, odds, &error));
        assert_int_equal((double)odds[0] > fmax((double)odds[1], (double)odds[2]), s >= 1 << HIGH);
    }
    put_away(f);
    pess_observations_destroy(data);
}

/* ---- what the tables are made of */

/* In the data too the penalties of support-net are its network's, not the counts. */
static void support_net_is_its_network(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 300, UINT64_MAX);
    pess__training *f = by_hand("ua-support-net", 1, data);
    pess_error error;
    double from_counts = 0, size = 0;
    f->setup.options.protocol.updates = 1, f->setup.options.protocol.steps = 5, f->setup.options.relative = false;
    make_penalties(f);
    for (int64_t s = 0; s < data->states; s++) {
        const pess__bits_rows row = {data->observations + s * data->bytes, data->bytes, NULL};
        float spoken[ACTIONS];
        OK(pess__net_apply(f->networks.uncertainty, &row, 1, 1, spoken, &error));
        for (int64_t a = 0; a < ACTIONS; a++) {
            const double said = fmin(fmax((double)spoken[a], 0), f->setup.cap), n = f->tables.counts[s * ACTIONS + a];
            assert_true((double)f->tables.penalty[s * ACTIONS + a] == said);
            size = fmax(size, said);
            if (n > 0) from_counts = fmax(from_counts, fabs(said - 1 / sqrt(n)));
        }
    }
    assert_true(size > 0.01 && from_counts > 0.1);
    put_away(f);
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* State s was acted in N(s) times, from once to 36 times, with actions 0 and 1 in turn: after training the networks say
 * 1/√N(s), or 1/√n(s,a) and the cap for the action that was never taken. */
static void networks_learn_the_counts(void **state) {
    (void)state;
    static const struct {
        const char *algorithm;
        int64_t outputs;
    } cases[] = {{"ua-imitation-counts", 1}, {"ua-counts", ACTIONS}, {"ua-support-net", ACTIONS}};
    static const int visits[] = {1, 2, 4, 9, 16, 36};
    enum { VISITED = sizeof visits / sizeof visits[0] };
    pess_observations *data = no_steps(STATES);
    for (int s = 0; s < VISITED; s++)
        for (int i = 0; i < visits[s]; i++) add_step(data, s, i % 2, 0, STATES - 1, PESS_END_TERMINAL);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        pess__training *f = by_hand(cases[c].algorithm, 1, data);
        pess_error error;
        if (f->setup.learner->info.imitation)
            f->tables.prior = room_for(data->states * ACTIONS, sizeof *f->tables.prior);
        make_penalties(f);
        assert_int_equal(f->networks.uncertainty->outputs, cases[c].outputs);
        for (int64_t s = 0; s < data->states; s++) {
            const pess__bits_rows row = {data->observations + s * data->bytes, data->bytes, NULL};
            const int32_t *n = f->tables.counts + s * ACTIONS;
            float spoken[ACTIONS];
            if (n[0] == 0) continue; /* the end */
            OK(pess__net_apply(f->networks.uncertainty, &row, 1, 1, spoken, &error));
            for (int64_t a = 0; a < cases[c].outputs; a++) {
                const double count = cases[c].outputs == 1 ? n[0] + n[1] + n[2] : n[a];
                const double wanted = count > 0 ? 1 / sqrt(count) : f->setup.cap;
                if (fabs((double)spoken[a] - wanted) > 0.05)
                    fail_msg("%s: %g for a count of %g, not %g", cases[c].algorithm, (double)spoken[a], count, wanted);
            }
        }
        put_away(f);
    }
    pess_observations_destroy(data);
}

/* Six states in minibatches of 64: computing each once is the sum over all samples. The same steps by hand, with every
 * sample a row of its own, end in the same network. */
static void equal_states_are_computed_once(void **state) {
    (void)state;
    enum { SAMPLES = 64, LABELS = SAMPLES * ACTIONS };
    pess_observations *data = no_steps(STATES);
    for (int s = 0; s < 6; s++)
        for (int i = 0; i <= s * s; i++) add_step(data, s, i % 2, 0, STATES - 1, PESS_END_TERMINAL);
    pess__training *f = by_hand("ua-support-net", 1, data);
    pess_error error;
    const pess_protocol *p = &f->setup.options.protocol;
    f->setup.options.protocol.updates = 1, f->setup.options.protocol.steps = 20,
    f->setup.options.protocol.batch = 4 * SAMPLES;
    make_penalties(f); /* 12 steps */
    pess__net *net = NULL;
    pess__trainer *trainer = NULL;
    OK(pess__setup_network(&f->setup, ACTIONS, &net, &error));
    pess__rng rng = pess__rng_stream(f->setup.options.seed, "doubt network", 0);
    pess__net_initialise(net, &rng);
    const pess__optimiser optimiser = pess__optimiser_defaults();
    OK(pess__trainer_create(net, &optimiser, &trainer, &error));
    rng = pess__rng_stream(f->setup.options.seed, "doubt rows", 0);
    for (int step = 0; step < 12; step++) {
        int64_t sample[SAMPLES], first[SAMPLES + 1];
        int32_t which[LABELS];
        pess__real wanted[LABELS];
        for (int i = 0; i <= SAMPLES; i++) first[i] = (int64_t)i * ACTIONS;
        for (int i = 0; i < LABELS; i++) which[i] = i % ACTIONS;
        for (int i = 0; i < SAMPLES; i++) {
            sample[i] = data->state[pess__rng_below(&rng, (uint64_t)data->transitions)];
            const pess__view view = pess__tables_view(&f->setup, &f->tables, sample[i]);
            f->setup.learner->uncertainty->label(&view, wanted + (int64_t)i * ACTIONS);
        }
        const pess__bits_rows rows = {data->observations, data->bytes, sample};
        const pess__labels labels = {.actions = which, .targets = wanted, .first = first};
        const pess__loss loss = {.kind = PESS__LOSS_SQUARED};
        pess__step_info info;
        trainer->optimiser.rate = 3 * p->imitation_rate * (1 - step / 12.0);
        OK(pess__trainer_step(trainer, &rows, &labels, SAMPLES, &loss, &info, &error));
    }
    for (int64_t s = 0; s < 6; s++) {
        const pess__bits_rows row = {data->observations + s * data->bytes, data->bytes, NULL};
        float merged[ACTIONS], every[ACTIONS];
        OK(pess__net_apply(f->networks.uncertainty, &row, 1, 1, merged, &error));
        OK(pess__net_apply(net, &row, 1, 1, every, &error));
        for (int a = 0; a < ACTIONS; a++) assert_true(fabsf(merged[a] - every[a]) < 1e-4F);
    }
    pess__trainer_destroy(trainer);
    pess__net_destroy(net);
    put_away(f);
    pess_observations_destroy(data);
}

/* Of actions of equal worth the first is taken: 2, 3 − 1, 4 − 2; and the last two of them alone. */
static void of_equal_actions_the_first_is_taken(void **state) {
    (void)state;
    const float q[ACTIONS] = {2, 3, 4}, penalty[ACTIONS] = {0, 1, 2}, more[ACTIONS] = {1, 1, 2};
    pess__view view = {.actions = ACTIONS, .q = q, .penalty = penalty};
    double policy[ACTIONS];
    assert_true(decide(&pess__neural_uncertainty_counts.learner, 1, &view, policy) == 2 && policy[0] == 1 &&
                policy[1] == 0 && policy[2] == 0);
    view.penalty = more;
    assert_true(decide(&pess__neural_uncertainty_counts.learner, 1, &view, policy) == 2 && policy[0] == 0 &&
                policy[1] == 1 && policy[2] == 0);
    const float heads[2 * ACTIONS] = {2, 4, 1, 2, 2, 5}; /* means 2, 3, 3; deviations 0, 1, 2 */
    const pess__view two = {.actions = ACTIONS, .q = heads, .heads = 2, .head_stride = ACTIONS, .cap = INFINITY};
    assert_true(decide(&pess__neural_uncertainty_ensemble.learner, 1, &two, policy) == 2 && policy[0] == 1 &&
                policy[1] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cap_limits_every_penalty),
        cmocka_unit_test(networks_come_to_the_tabular_answer_with_unseen_pairs),
        cmocka_unit_test(penalties_of_many_states_are_those_of_each),
        cmocka_unit_test(priors_and_values_of_many_states_are_those_of_each),
        cmocka_unit_test(an_actor_learns_in_many_states),
        cmocka_unit_test(support_net_is_its_network),
        cmocka_unit_test(networks_learn_the_counts),
        cmocka_unit_test(equal_states_are_computed_once),
        cmocka_unit_test(of_equal_actions_the_first_is_taken),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
