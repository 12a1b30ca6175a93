/* The seams of a learner, with one that is in no table: two knobs, and two networks of its own (Kostrikov et al. 2021,
 * implicit Q-learning, with q given): a value network by expectile regression of q on the logged actions, and a policy
 * network that imitates them with weights exp(β (q − v)). */
#include "fitted_case.h"

typedef struct knobs {
    size_t size;
    double expectile, inverse_temperature;
} knobs;

static const pess_setting rows[] = {{.name = "expectile",
                                     .kind = PESS_SETTING_NUMBER,
                                     PESS__FIELD(knobs, expectile),
                                     .standard = "0.7",
                                     PESS__BETWEEN(0, 1),
                                     .sentence = "expectile of the values"},
                                    {.name = "inverse-temperature",
                                     .kind = PESS_SETTING_NUMBER,
                                     PESS__FIELD(knobs, inverse_temperature),
                                     .standard = "1",
                                     PESS__AT_LEAST(0),
                                     .sentence = "weight of advantages"}};
static const pess_setting_table table = PESS__SETTING_TABLE("test", knobs, rows);

enum { VALUE, POLICY };

/* |τ − 1[d > 0]| d², d = v − q. */
static double asymmetric(double d, double tau, double *slope) {
    const double weight = d > 0 ? 1 - tau : tau;
    *slope = 2 * weight * d;
    return weight * d * d;
}

static pess__loss value_loss(const void *own) {
    return (pess__loss){
        .kind = PESS__LOSS_DISTANCE, .parameter = ((const knobs *)own)->expectile, .distance = asymmetric};
}

static pess__loss policy_loss(const void *own) {
    (void)own;
    return (pess__loss){.kind = PESS__LOSS_CROSS_ENTROPY};
}

static pess__label value_label(const pess__view *view, int64_t action) {
    return (pess__label){.target = (double)view->q[action], .weight = 1};
}

static pess__label policy_label(const pess__view *view, int64_t action) {
    const double beta = ((const knobs *)view->knobs)->inverse_temperature;
    return (pess__label){.weight = exp(beta * ((double)view->q[action] - (double)view->own[VALUE][0]))};
}

static double decide_by_policy(const pess__view *view, double *policy) {
    float probabilities[PESS__MAX_ACTIONS];
    pess__softmax(view->own[POLICY], view->actions, probabilities);
    for (int64_t a = 0; a < view->actions; a++) policy[a] = (double)probabilities[a];
    return (double)view->own[VALUE][0];
}

static const pess__own_network own_networks[] = {
    {.name = "value", .one_output = true, .loss = value_loss, .label = value_label},
    {.name = "policy-network", .policy = true, .loss = policy_loss, .label = policy_label}};

static const pess__learner learner = {
    .info = {.name = "test", .values = true, .samples = true, .knobs = &table, .settings = PESS__READS_VALUES},
    .decide = decide_by_policy,
    .own = own_networks,
    .own_count = 2};

static const float q_table[STATES][ACTIONS] = {{1, 3, 50}, {2, 2, 50}};

/* Two states; actions 0 and 1 are logged equally often in each, action 2 never. */
static pess_observations *even_log(void) {
    pess_observations *data = no_steps(STATES);
    for (int i = 0; i < 40; i++) add_step(data, i / 2 % 2, i % 2, 0, STATES - 1, PESS_END_TERMINAL);
    return data;
}

static pess__training *with_networks(const pess_observations *data) {
    pess__training *f = by_hand("naive", NAN, data);
    pess__setup *s = &f->setup;
    pess_error error;
    s->learner = &learner;
    s->updates = 1, s->steps = 3000, s->batch = 256, s->options.protocol.rate = 0.001;
    OK(pess__train_read_knobs(&learner.info, "expectile=0.9", s->knobs, &error));
    f->networks.count = 0;
    OK(pess__networks_create(s, &f->networks, &error));
    pess__net_destroy(f->networks.nets[0]);
    f->networks.nets[0] = table_network(STATES, ACTIONS, q_table[0]);
    pess__network_sweep_destroy(&f->sweep);
    OK(pess__network_sweep_create(s, 0, 2 * ACTIONS + 1, &f->sweep, &error));
    return f;
}

/* Outputs of network k for state s. */
static void ask(const pess__training *f, int64_t k, int64_t s, float *out) {
    const pess_observations *data = f->setup.data;
    const pess__bits_rows row = {data->observations + s * data->bytes, data->bytes, NULL};
    pess_error error;
    OK(pess__net_apply(f->networks.nets[k], &row, 1, 1, out, &error));
}

/* The τ-expectile of 1 and 3, equally likely: (1−τ)(v − 1) = τ(3 − v), so v = 1 + 2τ. The policy is then in proportion
 * to exp(q − v), and the action that was never logged has next to no probability, whatever its value. */
static void own_networks_learn_what_their_labels_say(void **state) {
    (void)state;
    pess_observations *data = even_log();
    pess__training *f = with_networks(data);
    pess_error error;
    OK(pess__own_networks_train(&f->setup, &f->networks, &f->tables, &f->sweep, &error));
    for (int64_t s = 0; s < 2; s++) {
        float v, logits[ACTIONS], p[ACTIONS];
        const int64_t number = s == 0 ? 0 : 2; /* number 1 is where both end */
        ask(f, 1, number, &v);
        ask(f, 2, number, logits);
        pess__softmax(logits, ACTIONS, p);
        const double share = 1 / (1 + exp((double)(q_table[s][0] - q_table[s][1])));
        assert_true(fabs((double)v - (s == 0 ? 1 + 2 * 0.9 : 2)) < 0.05);
        assert_true(fabs((double)p[1] - share) < 0.05 && p[2] < 0.02F);
    }
    put_away(f);
    pess_observations_destroy(data);
}

/* Targets bootstrap from the learner's own network, and the policy acts by the other one. */
static void own_networks_reach_targets_and_policy(void **state) {
    (void)state;
    static const float values[STATES] = {7, 8}, logits[STATES][ACTIONS] = {{0, 0, 1}, {1, 0, 0}};
    pess_observations *data = no_steps(STATES);
    add_step(data, 0, 1, 3, 1, PESS_END_NONE);
    add_step(data, 1, 0, 4, 0, PESS_END_CUTOFF);
    pess__training *f = with_networks(data);
    pess_error error;
    pess__net_destroy(f->networks.nets[1]);
    pess__net_destroy(f->networks.nets[2]);
    f->networks.nets[1] = table_network(STATES, 1, values);
    f->networks.nets[2] = table_network(STATES, ACTIONS, logits[0]);
    f->position.update = 1, f->setup.options.gamma = 0.5, f->setup.steps = 1;
    OK(pess__targets_compute(f, &error));
    assert_close("target", pess__target(&f->setup, &f->values, 0), 3 + 0.5 * 8);
    assert_close("target", pess__target(&f->setup, &f->values, 1), 4 + 0.5 * 7);
    const pess__learned_policy policy = pess__networks_policy(&f->setup, &f->networks, &f->tables);
    const pess__bits_rows both = {data->observations, data->bytes, NULL};
    pess__learned_passes *passes = NULL;
    double probabilities[2 * ACTIONS], worth[2];
    int64_t states[2];
    OK(pess__learned_passes_create(&policy, 2, &passes, &error));
    pess__learned_apply(&policy, passes, &both, 2, probabilities, worth, states);
    assert_true(worth[0] == 7 && worth[1] == 8 && states[0] == 0 && states[1] == 1);
    assert_close("probability", probabilities[2], exp(1) / (2 + exp(1)));
    assert_close("probability", probabilities[ACTIONS], exp(1) / (2 + exp(1)));
    pess__learned_passes_destroy(passes);
    put_away(f);
    pess_observations_destroy(data);
}

static void knobs_are_read_checked_and_described(void **state) {
    (void)state;
    static const char *const bad[][2] = {{"expectile=1", "expectile: found '1', expected a number above 0 and below 1"},
                                         {"expectile", "(test: expectile of the values"},
                                         {"absorbed-alpha=1", "absorbed-alpha: does nothing for test"}};
    pess_observations *data = even_log();
    pess__training *f = with_networks(data);
    pess_error error;
    knobs k;
    char text[PESS__SETTINGS_SIZE];
    OK(pess__train_read_knobs(&learner.info, NULL, &k, &error));
    assert_true(k.expectile == 0.7 && k.inverse_temperature == 1);
    OK(pess__train_read_knobs(&learner.info, "inverse-temperature=3 expectile=0.25", &k, &error));
    assert_true(k.expectile == 0.25 && k.inverse_temperature == 3);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(pess__train_read_knobs(&learner.info, bad[i][0], &k, &error), PESS_ARGUMENT);
        if (strstr(error.message, bad[i][1]) == NULL) fail_msg("'%s' lacks '%s'", error.message, bad[i][1]);
    }
    pess__setup_describe(&f->setup, "portable", 0, text);
    assert_non_null(strstr(text, "\nexpectile=0.9\ninverse_temperature=1\n"));
    put_away(f);
    pess_observations_destroy(data);
}

/* What a checkpoint holds of every trained network comes back: parameters, moments and steps. */
static void own_networks_are_in_the_checkpoint(void **state) {
    (void)state;
    pess_observations *data = even_log();
    pess__training *f = with_networks(data), *g = with_networks(data);
    const char *path = in_root("networks");
    pess__sink sink;
    pess__cursor cursor;
    pess_error error;
    f->setup.steps = 5;
    OK(pess__own_networks_train(&f->setup, &f->networks, &f->tables, &f->sweep, &error));
    OK(pess__sink_open(&sink, path, "TESTNETS", &error));
    pess__networks_save(&f->networks, &sink);
    OK(pess__sink_commit(&sink, &error));
    OK(pess__cursor_open(&cursor, path, "TESTNETS", "networks", 1 << 24, &error));
    pess__networks_restore(&g->networks, &cursor);
    assert_true(!cursor.beyond && cursor.left == 0);
    pess__cursor_close(&cursor);
    for (int64_t k = 1; k < 3; k++) {
        const size_t size = (size_t)f->networks.nets[k]->size * sizeof(pess__real);
        assert_int_equal(g->networks.trainers[k]->steps, 5);
        assert_memory_equal(f->networks.nets[k]->parameters, g->networks.nets[k]->parameters, size);
        assert_memory_equal(f->networks.trainers[k]->first, g->networks.trainers[k]->first, size);
        assert_memory_equal(f->networks.trainers[k]->second, g->networks.trainers[k]->second, size);
    }
    put_away(f);
    put_away(g);
    pess_observations_destroy(data);
}

/* What a learner says that it reads is what its fields make it read. */
static void learners_read_what_they_say(void **state) {
    (void)state;
    const pess_learner_info *info;
    for (size_t i = 0; (info = pess_learner_list(i)) != NULL; i++) {
        const pess__learner *l = pess__learner_find(info->name);
        const bool network = l->uncertainty != NULL && l->uncertainty->train != NULL;
        assert_int_equal(pess_setting_listed(info->settings, "rate"), info->values);
        assert_int_equal(pess_setting_listed(info->settings, "reset"), info->values);
        const bool may = strcmp(info->name, "ua-propensity") == 0; /* calibrates one where it is given */
        assert_int_equal(pess_setting_listed(info->settings, "imitation"), info->imitation || may);
        assert_int_equal(pess_setting_listed(info->settings, "u-cap"), l->uncertainty != NULL);
        assert_int_equal(pess_setting_listed(info->settings, "relative"), l->uncertainty != NULL);
        assert_int_equal(pess_setting_listed(info->settings, "uncertainty-steps"), network);
        assert_true(info->knobs == NULL || info->knobs->size <= PESS__KNOBS_SIZE);
        for (const char *word = info->settings; *word != '\0';) {
            char name[64];
            const size_t length = strcspn(word, " ");
            (void)snprintf(name, sizeof name, "%.*s", (int)length, word);
            const pess_setting *row = pess_setting_find(pess_train_settings(), name);
            if (row == NULL) row = pess_setting_find(pess_protocol_settings(), name);
            if (row == NULL || !row->specific) fail_msg("%s: there is no setting %s", info->name, name);
            word += length + (word[length] == ' ');
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_networks_learn_what_their_labels_say),
        cmocka_unit_test(own_networks_reach_targets_and_policy),
        cmocka_unit_test(knobs_are_read_checked_and_described),
        cmocka_unit_test(own_networks_are_in_the_checkpoint),
        cmocka_unit_test(learners_read_what_they_say),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
