/* Every learner of the table on a case that has an exact answer: one state, three actions that end the episode, taken
 * 6, 3 and 1 times in ten, paying 0, 1 and 0.5. The values are the rewards, whatever the learner; the policy is
 *
 *     imitation                    the shares .6, .3, .1
 *     naive, rem, model-ensemble   the best action; so cql and ua-* without their penalty (α = 0)
 *     counts-alone                 the action taken most
 *     awac, awr, crr-exp, iql      ∝ share · exp(value/λ), ∝ share · exp(β value): what weighted imitation converges to
 *     crr                          the best action: no other beats the actor's average in the end
 *     sac-n, edac                  ∝ exp(value/τ)
 *     the others                   what their own rule makes of these shares, counts and values
 *
 * Of a learner that is not in the list it is said so, and its policy has to be one. The rules themselves are held to by
 * test_deep_ua, _peers, _poor and _weighted, on processes with several states. */
#include "deep_case.h"

enum { TAKEN = 400 };
static const double shares[ACTIONS] = {0.6, 0.3, 0.1}, rewards[ACTIONS] = {0, 1, 0.5};

typedef enum answer { BEST, SHARES, MOST_TAKEN, EXPONENTIAL, SOFTMAX, OWN_RULE } answer;

static const struct row {
    const char *learner, *knobs;
    answer answer;
    double slope; /* of EXPONENTIAL and SOFTMAX */
} table[] = {
    {"imitation", NULL, SHARES, 0},
    {"naive", NULL, BEST, 0},
    {"proximal", "absorbed-alpha=0.3", OWN_RULE, 0},
    {"counts-alone", NULL, MOST_TAKEN, 0},
    {"bcq", "absorbed-alpha=0.3", OWN_RULE, 0},
    {"brac", "absorbed-alpha=0.5", OWN_RULE, 0},
    {"spibb-dqn", "absorbed-alpha=50", OWN_RULE, 0},
    {"cql", "absorbed-alpha=0", BEST, 0},
    {"crr", NULL, BEST, 0},
    {"crr-exp", "absorbed-alpha=1", EXPONENTIAL, 1},
    {"awac", "absorbed-alpha=0.5", EXPONENTIAL, 2},
    {"awr", "absorbed-alpha=0.5", EXPONENTIAL, 2},
    {"iql", "beta=2", EXPONENTIAL, 2},
    {"sac-n", "temperature=0.5 critics=3", SOFTMAX, 2},
    {"edac", "temperature=0.5 critics=3 eta=0.02", SOFTMAX, 2},
    {"rem", "heads=8", BEST, 0},
    {"model-ensemble", NULL, BEST, 0},
    {"ua-counts", "absorbed-alpha=0", BEST, 0},
    {"ua-support-net", "absorbed-alpha=0", BEST, 0},
    {"ua-imitation", "absorbed-alpha=0", BEST, 0},
    {"ua-imitation-counts", "absorbed-alpha=0", BEST, 0},
    {"ua-propensity", "absorbed-alpha=0", BEST, 0},
    {"ua-ensemble", "absorbed-alpha=0", BEST, 0},
    {"ua-elliptical", "absorbed-alpha=0", BEST, 0},
    {"ua-kernel-counts", "absorbed-alpha=0", BEST, 0},
};

static const struct row *row_of(const char *learner) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].learner, learner) == 0) return &table[i];
    return NULL;
}

static pess_observations *one_state(void) {
    static const int32_t taken[10] = {0, 1, 0, 0, 1, 0, 2, 0, 1, 0};
    pess_observations *data = NULL;
    pess_error error;
    const uint8_t here = 1, there = 2;
    OK(pess_observations_create("one", "", &(pess_observation_shape){.length = 2}, ACTIONS, &data, &error));
    for (int i = 0; i < TAKEN; i++)
        OK(pess_observations_add(data, &here, taken[i % 10], rewards[taken[i % 10]], &there, PESS_END_TERMINAL,
                                 &error));
    return data;
}

/* The learner's own rule, by a bundle's knobs, on what is exactly known. */
static void own_rule(const struct row *row, double *policy) {
    const pess__learner *learner = pess__learner_find(row->learner);
    float q[ACTIONS], prior[ACTIONS];
    int32_t counts[ACTIONS];
    for (int a = 0; a < ACTIONS; a++) {
        q[a] = (float)rewards[a], prior[a] = (float)shares[a];
        counts[a] = (int32_t)lrint(TAKEN * shares[a]);
    }
    const pess__view view = {.actions = ACTIONS, .q = q, .heads = 1, .prior = prior, .counts = counts, .cap = INFINITY};
    (void)decide(learner, strtod(strchr(row->knobs, '=') + 1, NULL), &view, policy);
}

static void exact(const struct row *row, double *policy) {
    double sum = 0;
    if (row->answer == OWN_RULE) {
        own_rule(row, policy);
        return;
    }
    for (int a = 0; a < ACTIONS; a++) {
        const double weight = exp(row->slope * rewards[a]);
        policy[a] = row->answer == BEST          ? a == 1
                    : row->answer == MOST_TAKEN  ? a == 0
                    : row->answer == SOFTMAX     ? weight
                    : row->answer == EXPONENTIAL ? shares[a] * weight
                                                 : shares[a];
        sum += policy[a];
    }
    for (int a = 0; a < ACTIONS; a++) policy[a] /= sum;
}

static void train(const pess_observations *data, const struct row *row, double *policy) {
    const bool imagines = strcmp(row->learner, "model-ensemble") == 0;
    pess_train_options o = training(NULL, data, row->learner, row->learner);
    pess_train_result result;
    pess_policy *learned = NULL;
    pess_error error;
    char path[400];
    o.knobs = row->knobs;
    o.protocol.updates = 12, o.protocol.steps = 60, o.protocol.batch = imagines ? 128 : 64, o.protocol.rate = 1e-2;
    o.protocol.imitation_steps = 600, o.protocol.imitation_batch = 64;
    if (pess_train_run(&o, &result, &error) != PESS_OK) fail_msg("%s: %s", row->learner, error.message);
    (void)snprintf(path, sizeof path, "%s/policy.pesspolicy", in_root(row->learner));
    OK(pess_policy_read(path, NULL, NULL, NULL, &learned, &error));
    OK(pess_policy_observation_probabilities(learned, data->observations, data->bytes, 1, policy, &error));
    pess_policy_destroy(learned);
}

static void every_learner_comes_to_its_exact_answer(void **state) {
    (void)state;
    pess_observations *data = one_state();
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct row *row = &table[i];
        double found[ACTIONS], wanted[ACTIONS];
        exact(row, wanted);
        train(data, row, found);
        for (int a = 0; a < ACTIONS; a++)
            if (!(fabs(found[a] - wanted[a]) <= 0.06))
                fail_msg("%s, action %d: %.3f, exactly %.3f", row->learner, a, found[a], wanted[a]);
    }
    pess_observations_destroy(data);
}

static void a_learner_without_an_exact_answer_comes_to_a_policy(void **state) {
    (void)state;
    const pess_learner_info *learner;
    pess_observations *data = one_state();
    for (size_t i = 0; (learner = pess_learner_list(i)) != NULL; i++) {
        assert_non_null(learner->source);
        if (row_of(learner->name) != NULL) continue;
        double found[ACTIONS], sum = 0;
        print_message("%s: no exact answer is stated for it\n", learner->name);
        train(data, &(struct row){.learner = learner->name}, found);
        for (int a = 0; a < ACTIONS; a++) sum += found[a] >= 0 ? found[a] : NAN;
        if (!(fabs(sum - 1) < 1e-5)) fail_msg("%s: its probabilities sum to %g", learner->name, sum);
    }
    pess_observations_destroy(data);
}

static void sac_n_decides_as_computed_by_hand(void **state) {
    (void)state;
    const struct {
        size_t size;
        int64_t critics;
        double temperature;
    } soft = {sizeof soft, 2, 0.5}, hard = {sizeof hard, 2, 0};
    const float q[4] = {1, 3, 2, 0}; /* two critics, two actions: the least are 1 and 0 */
    pess__view view = {.actions = 2, .q = q, .heads = 2, .head_stride = 2, .knobs = &soft};
    double policy[2];
    const double value = pess__learner_sac_n.decide(&view, policy), z = exp(1 / 0.5) + 1;
    assert_true(fabs(value - 0.5 * log(z)) < 1e-12);
    assert_true(fabs(policy[0] - exp(1 / 0.5) / z) < 1e-12);
    const double entropy = -policy[0] * log(policy[0]) - policy[1] * log(policy[1]);
    assert_true(fabs(value - (policy[0] * 1 + 0.5 * entropy)) < 1e-12);
    view.knobs = &hard;
    assert_true(fabs(pess__learner_sac_n.decide(&view, policy) - 1) < 1e-12);
    assert_true(policy[0] > 0.999 && policy[1] < 0.001);
    assert_int_equal(pess__learner_networks(&pess__learner_sac_n, &soft), 2);
}

/* Several states: the networks come to value iteration with the learner's rule; the least of six that disagree a little
 * lies below it, never above. Without the entropy the values are more than 1 lower. */
static void sac_n_comes_to_the_tabular_answer(void **state) {
    (void)state;
    const struct {
        size_t size;
        int64_t critics;
        double temperature;
    } knobs = {sizeof knobs, 6, 0.2};
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 1500, UINT64_MAX);
    pess_train_options o = training(mdp, data, "sac-n", "tabular");
    pess_train_result result;
    pess_error error;
    known k = {0};
    double v[STATES] = {0};
    o.knobs = "critics=6 temperature=0.2";
    o.protocol.steps = 200, o.protocol.batch = 512, o.protocol.rate = 2e-3;
    OK(pess_train_run(&o, &result, &error));
    count_pairs(data, &k);
    for (int round = 0; round < 400; round++) {
        double sum[STATES][ACTIONS] = {{0}};
        for (int64_t i = 0; i < data->transitions; i++)
            sum[data->state[i]][data->action[i]] +=
                (double)data->reward[i] + GAMMA * (data->end[i] == PESS_END_TERMINAL ? 0 : v[data->next[i]]);
        for (int64_t s = 0; s < data->states; s++) {
            float q[ACTIONS];
            double policy[ACTIONS];
            const pess__view view = {.actions = ACTIONS, .q = q, .heads = 1, .knobs = &knobs};
            for (int a = 0; a < ACTIONS; a++) q[a] = (float)(sum[s][a] / k.counts[s][a]);
            if (acted_in(&k, s)) v[s] = pess__learner_sac_n.decide(&view, policy);
        }
    }
    for (int64_t s = 0; s < data->states; s++) {
        float q[6][ACTIONS];
        double policy[ACTIONS];
        const pess__view view = {.actions = ACTIONS, .q = q[0], .heads = 6, .head_stride = ACTIONS, .knobs = &knobs};
        if (!acted_in(&k, s)) continue;
        for (int i = 0; i < 6; i++) {
            char name[20] = "policy";
            if (i > 0) (void)snprintf(name, sizeof name, "network-%d", i + 1);
            outputs_of(data, in_root("tabular"), name, s, q[i]);
        }
        const double found = pess__learner_sac_n.decide(&view, policy);
        if (found > v[s] + 0.15 || found < v[s] - 0.6)
            fail_msg("state %lld: %g, tabular %g", (long long)s, found, v[s]);
    }
    resumes_to_the_same_bytes(mdp, data, "sac-n",
                              (const char *const[]){"network-5.pessnet", "policy.pesspolicy", NULL});
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* Mean cosine between the values, less their mean, of all pairs of four critics, over the states of the log. */
static double agreement(const pess_mdp *mdp, const pess_observations *data, const char *learner, const char *knobs) {
    enum { CRITICS = 4 };
    pess_train_options o = training(mdp, data, learner, knobs);
    pess_train_result result;
    pess_error error;
    double sum = 0;
    int64_t pairs = 0;
    o.knobs = knobs;
    o.protocol.steps = 60;
    OK(pess_train_run(&o, &result, &error));
    for (int64_t s = 0; s < data->states; s++) {
        double direction[CRITICS][ACTIONS];
        for (int i = 0; i < CRITICS; i++) {
            float q[ACTIONS];
            char name[20] = "policy";
            if (i > 0) (void)snprintf(name, sizeof name, "network-%d", i + 1);
            outputs_of(data, in_root(knobs), name, s, q);
            (void)pess__direction(q, ACTIONS, direction[i]);
        }
        for (int i = 0; i < CRITICS; i++)
            for (int j = 0; j < i; j++, pairs++)
                for (int a = 0; a < ACTIONS; a++) sum += direction[i][a] * direction[j][a];
    }
    return sum / (double)pairs;
}

static void edac_keeps_critics_from_agreeing(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 1500, UINT64_MAX);
    const double sac = agreement(mdp, data, "sac-n", "critics=4");
    const double edac = agreement(mdp, data, "edac", "critics=4 eta=1");
    if (!(edac < sac - 0.2)) fail_msg("mean cosine %g of edac, %g of sac-n", edac, sac);
    resumes_to_the_same_bytes(mdp, data, "edac", (const char *const[]){"network-5.pessnet", "policy.pesspolicy", NULL});
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_learner_comes_to_its_exact_answer),
        cmocka_unit_test(a_learner_without_an_exact_answer_comes_to_a_policy),
        cmocka_unit_test(sac_n_decides_as_computed_by_hand),
        cmocka_unit_test(sac_n_comes_to_the_tabular_answer),
        cmocka_unit_test(edac_keeps_critics_from_agreeing),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
