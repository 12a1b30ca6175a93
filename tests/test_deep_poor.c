/* Data that support little: every learner trains on them, is played, and says what it stands on. And what an evaluation
 * tells, by hand: steps outside the data, value predicted and obtained, oscillation between updates. */
#include "deep_case.h"

enum { EPISODES = 20, MOST = 5 * EPISODES, LAST = STATES - 2 }; /* played; the last state before the end */

/* A walk 0 → 1 → … → 10 → end, whatever is done. The log's action, s mod 3, earns 1 where others earn nothing; the last
 * two states earn 1 and 10 by any action. So whoever follows the log obtains, discounted by 0.9, exactly 10 from every
 * start, though starts differ in how many steps are left. */
static pess_mdp *walk(void) {
    pess_mdp_transition transitions[(STATES - 1) * ACTIONS];
    int64_t count = 0;
    for (int64_t s = 0; s <= LAST; s++)
        for (int64_t a = 0; a < ACTIONS; a++)
            transitions[count++] = (pess_mdp_transition){.state = s,
                                                         .action = a,
                                                         .next_state = s + 1,
                                                         .probability = 1,
                                                         .reward = s == LAST       ? 10
                                                                   : s == LAST - 1 ? 1
                                                                                   : a == s % ACTIONS};
    pess_mdp *mdp = NULL;
    pess_error error;
    OK(pess_mdp_create(STATES, ACTIONS, transitions, count, &mdp, &error));
    return mdp;
}

/* Step i of episode e acts in state (e·shift + i) mod period; one action per state, or all in turn. */
typedef struct shape {
    const char *name;
    int64_t episodes, length, shift, period;
    bool one_action, repeats;
} shape;

static const shape shapes[] = {
    {"one-action", 20, LAST - 1, 0, STATES, true, true}, /* 0 … 8, and 9 where it is cut off; 10 is outside */
    {"one-episode", 1, 30, 0, 5, false, true},
    {"no-repeats", 5, 2, 2, STATES, true, false},
};

static void one_hot(int64_t state, uint8_t bits[BYTES]) {
    memset(bits, 0, BYTES);
    bits[state / 8] = (uint8_t)(1U << (state % 8));
}

static pess_observations *log_of(const shape *s) {
    pess_observations *data = NULL;
    pess_error error;
    OK(pess_observations_create("mdp", "", &(pess_observation_shape){.length = STATES}, ACTIONS, &data, &error));
    for (int64_t e = 0; e < s->episodes; e++)
        for (int64_t i = 0; i < s->length; i++) {
            const int64_t at = (e * s->shift + i) % s->period, action = (s->one_action ? at : i) % ACTIONS;
            uint8_t from[BYTES], to[BYTES];
            one_hot(at, from);
            one_hot((at + 1) % s->period, to);
            OK(pess_observations_add(data, from, (int32_t)action, action == at % ACTIONS, to,
                                     i + 1 == s->length ? PESS_END_CUTOFF : PESS_END_NONE, &error));
        }
    return data;
}

/* Where the episodes of the last evaluation of a `tiny` run start: episode e is environment e of the evaluation's seed.
 * Who has no values is evaluated once, at the end, with the episodes of five. Returns how many there are. */
static int64_t starts_of(const pess_train_options *o, int64_t starts[MOST]) {
    const pess_learner_info *learner = pess_learner_find(o->algorithm);
    const int64_t episodes = learner->values ? EPISODES : MOST;
    pess__rng rng = pess__rng_stream(o->seed, "evaluate", strcmp(learner->name, "imitation") == 0 ? 10 : 1);
    pess_env_options env = pess_env_options_defaults();
    pess_batch *batch = NULL;
    pess_error error;
    env.seed = pess__rng_next(&rng);
    env.generator = PESS_GENERATOR_FAST;
    OK(pess_batch_create_mdp(o->mdp, NULL, &env, episodes, 1, &batch, &error));
    const pess_batch_out seen = {.states = starts};
    pess_batch_observe(batch, &seen);
    pess_batch_destroy(batch);
    return episodes;
}

/* All its numbers are numbers: no weight of a network that somehow acts is lost. */
static void assert_finite_networks(const char *directory) {
    static const char *const names[] = {"policy", "uncertainty", "actor", "network-2", "network-3", "network-4"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[400];
        pess_net *net = NULL;
        pess_error error;
        (void)snprintf(path, sizeof path, "%s/%s.pessnet", directory, names[i]);
        if (i > 0 && access(path, R_OK) != 0) continue;
        OK(pess_net_read(path, NULL, &net, &error));
        for (int64_t k = 0; k < net->net->size; k++) assert_true(isfinite(net->net->parameters[k]));
        pess_net_destroy(net);
    }
}

/* Columns of log.csv by name, row after row; returns how many rows there are. */
static int read_log(const char *directory, const char *column, double *out, int room) {
    char path[400], line[600];
    int at = 0, rows = 0;
    (void)snprintf(path, sizeof path, "%s/log.csv", directory);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    char *rest = line;
    for (const char *word; (word = strsep(&rest, ",\n")) != NULL && strcmp(word, column) != 0; at++) continue;
    assert_non_null(rest);
    while (fgets(line, sizeof line, file) != NULL) {
        assert_true(rows < room);
        char *field = line;
        for (int i = 0; i < at; i++) field = strchr(field, ',') + 1;
        out[rows++] = *field == ',' ? (double)NAN : strtod(field, NULL);
    }
    assert_int_equal(fclose(file), 0);
    return rows;
}

static double last_of(const char *directory, const char *column) {
    double rows[16];
    return rows[read_log(directory, column, rows, 16) - 1];
}

/* ---- every learner on every shape */

static bool needs_repeats(const char *learner) {
    return strcmp(learner, "ua-counts") == 0 || strcmp(learner, "ua-support-net") == 0 ||
           strcmp(learner, "ua-imitation-counts") == 0 || strcmp(learner, "counts-alone") == 0 ||
           strcmp(learner, "spibb-dqn") == 0;
}

/* One update, so that the result is that of one evaluation; imitation has ten pieces. */
static pess_train_options tiny(const pess_mdp *mdp, const pess_observations *data, const char *learner,
                               const char *out) {
    pess_train_options o = training(mdp, data, learner, out);
    o.protocol.updates = 1, o.protocol.steps = 10, o.protocol.imitation_steps = 20, o.protocol.batch = 32;
    o.protocol.imitation_batch = 32, o.protocol.score_episodes = EPISODES, o.protocol.control_episodes = 5;
    return o;
}

/* Steps in states that the log does not show, of all steps of the evaluation. */
static double share_outside(const pess_train_options *o) {
    int64_t starts[MOST], steps = 0, outside = 0;
    const int64_t episodes = starts_of(o, starts);
    for (int64_t e = 0; e < episodes; e++)
        for (int64_t s = starts[e]; s <= LAST; s++) {
            uint8_t bits[BYTES];
            one_hot(s, bits);
            steps++;
            outside += pess__observations_find(o->data, bits) < 0;
        }
    return (double)outside / (double)steps;
}

static void check_run(const shape *s, const pess_learner_info *learner, const pess_train_options *o,
                      const pess_train_result *r) {
    assert_true(isfinite(r->score) && isfinite(r->score_final) && isfinite(r->score_best) && isfinite(r->control));
    assert_true(isfinite(r->obtained) && r->obtained <= 10 + 1e-9 && r->score_spread == 0);
    assert_true(isfinite(r->predicted) == learner->values && isfinite(r->mean_target) == learner->values);
    assert_true(isfinite(r->loss) || strcmp(learner->name, "counts-alone") == 0);
    assert_true(fabs(r->outside - share_outside(o)) < 1e-12);
    assert_finite_networks(o->out);
    /* All of these logs are too short to hold anything out of them. */
    const bool warned = (!s->repeats && needs_repeats(learner->name)) || strcmp(learner->name, "ua-propensity") == 0;
    if ((r->warning[0] != '\0') != warned) fail_msg("%s, %s: '%s'", s->name, learner->name, r->warning);
}

static void every_learner_copes_with_poor_data(void **state) {
    (void)state;
    pess_mdp *mdp = walk();
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        pess_observations *data = log_of(&shapes[i]);
        const pess_learner_info *learner;
        for (size_t k = 0; (learner = pess_learner_list(k)) != NULL; k++) {
            char out[64];
            (void)snprintf(out, sizeof out, "%s-%s", shapes[i].name, learner->name);
            pess_train_options o = tiny(mdp, data, learner->name, out);
            pess_train_result result;
            pess_error error;
            if (pess_train_run(&o, &result, &error) != PESS_OK) fail_msg("%s: %s", out, error.message);
            check_run(&shapes[i], learner, &o, &result);
        }
        pess_observations_destroy(data);
    }
    pess_mdp_destroy(mdp);
}

/* Where every state has one logged action, counts leave no other: 10 is obtained only by following the log at every
 * step, and nothing of the policy is on actions never logged. Its undiscounted return is 9 more than its steps. */
static void counts_follow_a_log_of_one_action_per_state(void **state) {
    (void)state;
    static const char *const learners[] = {"counts-alone", "ua-counts"};
    pess_mdp *mdp = walk();
    pess_observations *data = log_of(&shapes[0]);
    for (int i = 0; i < 2; i++) {
        pess_train_options o = tiny(mdp, data, learners[i], i == 0 ? "follow-alone" : "follow-ua");
        pess_train_result result;
        pess_error error;
        int64_t starts[MOST];
        double steps = 0;
        OK(pess_train_run(&o, &result, &error));
        const int64_t episodes = starts_of(&o, starts);
        for (int64_t e = 0; e < episodes; e++) steps += (double)(LAST + 1 - starts[e]) / (double)episodes;
        assert_true(fabs(result.obtained - 10) < 1e-9 && fabs(result.score - (steps + 9)) < 1e-9);
        assert_true(fabs(result.outside - 1 / steps) < 1e-12);  /* every episode is in state 10 once */
        assert_true(result.outside > 0.1 && result.score > 12); /* or little would be shown */
        if (i == 1) assert_true(last_of(o.out, "unlogged") == 0);
    }
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* ---- the warning */

/* `rows` transitions of which the first two are in one state and all others in states of their own. */
static pess_observations *one_repeat(int64_t rows) {
    enum { WIDE = 256 };
    pess_observations *data = NULL;
    pess_error error;
    OK(pess_observations_create("mdp", "", &(pess_observation_shape){.length = WIDE}, ACTIONS, &data, &error));
    for (int64_t i = 0; i < rows; i++) {
        uint8_t bits[2][WIDE / 8] = {{0}};
        const int64_t at[2] = {i < 2 ? 0 : i, i + 1};
        for (int k = 0; k < 2; k++) bits[k][at[k] / 8] = (uint8_t)(1U << (at[k] % 8));
        OK(pess_observations_add(data, bits[0], 0, 1, bits[1], PESS_END_TERMINAL, &error));
    }
    return data;
}

/* Fewer than one transition in a hundred: 2 of 200 are not, 2 of 201 are. */
static void few_repeats_are_told(void **state) {
    (void)state;
    for (int64_t rows = 200; rows <= 201; rows++) {
        pess_observations *data = one_repeat(rows);
        pess_train_options o = tiny(NULL, data, "counts-alone", rows == 200 ? "enough" : "few");
        pess_train_result result;
        pess_error error;
        OK(pess_train_run(&o, &result, &error));
        if (rows == 200)
            assert_string_equal(result.warning, "");
        else
            assert_string_equal(result.warning,
                                "only 2 of 201 transitions are in states that occur more than once: counts tell logged "
                                "actions from others, and little of how often a state was seen");
        assert_true(isnan(result.score) && isnan(result.score_spread)); /* nothing was played */
        pess_observations_destroy(data);
    }
}

/* ---- what an evaluation tells */

/* From each of eight states every action leads to bit 10 with one of eight others: on average the others are off, so
 * that models imagine state 10 alone, which the data do not have. It stays outside them. */
static void imagined_states_are_outside(void **state) {
    (void)state;
    enum { SEEN = 8 };
    pess_mdp *mdp = walk();
    pess_observations *data = NULL, *imagined = NULL;
    pess_error error;
    uint8_t from[BYTES], to[BYTES], also[BYTES];
    OK(pess_observations_create("mdp", "", &(pess_observation_shape){.length = STATES}, ACTIONS, &data, &error));
    one_hot(LAST, also);
    for (int i = 0; i < SEEN * SEEN * ACTIONS; i++) {
        one_hot(i % SEEN, from);
        one_hot(i / SEEN % SEEN, to);
        for (int b = 0; b < BYTES; b++) to[b] |= also[b];
        OK(pess_observations_add(data, from, i / (SEEN * SEEN), 0, to, PESS_END_CUTOFF, &error));
    }
    pess_train_options o = tiny(mdp, data, "model-ensemble", "imagined");
    pess_train_result result;
    o.protocol.steps = 200;
    OK(pess_train_run(&o, &result, &error));
    char path[400];
    (void)snprintf(path, sizeof path, "%s/imagined.pessdata", o.out);
    OK(pess_observations_read(path, &imagined, &error));
    assert_true(pess__observations_find(imagined, also) >= 0 && pess__observations_find(data, also) < 0);
    assert_true(fabs(result.outside - share_outside(&o)) < 1e-12);
    pess_observations_destroy(imagined);
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* Predicted: the mean over the episodes of what the network gives the first state. */
static void predicted_is_the_value_of_the_first_states(void **state) {
    (void)state;
    pess_mdp *mdp = walk();
    pess_observations *data = log_of(&shapes[0]);
    pess_train_options o = tiny(mdp, data, "naive", "predicted");
    pess_train_result result;
    pess_error error;
    int64_t starts[MOST];
    double mean = 0, least = INFINITY, most = -INFINITY;
    o.protocol.steps = 200;
    OK(pess_train_run(&o, &result, &error));
    assert_int_equal(starts_of(&o, starts), EPISODES);
    char path[400];
    pess_net *net = NULL;
    (void)snprintf(path, sizeof path, "%s/policy.pessnet", o.out);
    OK(pess_net_read(path, NULL, &net, &error));
    for (int e = 0; e < EPISODES; e++) {
        uint8_t bits[BYTES];
        float q[ACTIONS];
        one_hot(starts[e], bits);
        OK(pess_net_apply(net, bits, BYTES, 1, 1, q, &error));
        const double value = fmax(fmax((double)q[0], (double)q[1]), (double)q[2]);
        mean += value / EPISODES;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    assert_true(fabs(result.predicted - mean) < 1e-6 && most - least > 0.1);
    pess_net_destroy(net);
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* Score, spread, final and best against the returns in log.csv, which has six digits; the evaluations before the last
 * five lie further apart than those, and there is the best. */
static void scores_are_those_of_the_last_five_updates(void **state) {
    (void)state;
    static const int64_t lengths[] = {12, 3};
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 600, UINT64_MAX);
    for (int i = 0; i < 2; i++) {
        pess_train_options o = training(mdp, data, "naive", i == 0 ? "twelve" : "three");
        pess_train_result result;
        pess_error error;
        double returns[16], sum = 0, least = INFINITY, most = -INFINITY, lowest = INFINITY, best = -INFINITY;
        o.protocol.updates = lengths[i], o.protocol.steps = 20, o.protocol.eval_every = 1, o.protocol.eval_episodes = 5;
        OK(pess_train_run(&o, &result, &error));
        const int rows = read_log(o.out, "return", returns, 16), scored = rows < 5 ? rows : 5;
        assert_int_equal(rows, lengths[i]);
        for (int k = 0; k < rows; k++) {
            lowest = fmin(lowest, returns[k]);
            best = fmax(best, returns[k]);
            if (k < rows - scored) continue;
            sum += returns[k];
            least = fmin(least, returns[k]);
            most = fmax(most, returns[k]);
        }
        assert_true(fabs(result.score - sum / scored) < 1e-4 && fabs(result.score_final - returns[rows - 1]) < 1e-4);
        assert_true(fabs(result.score_spread - (most - least)) < 1e-4 && fabs(result.score_best - best) < 1e-4);
        assert_true(most - least > 0.05);
        if (i == 0) assert_true(best - lowest > most - least + 0.05);
    }
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_learner_copes_with_poor_data),
        cmocka_unit_test(counts_follow_a_log_of_one_action_per_state),
        cmocka_unit_test(few_repeats_are_told),
        cmocka_unit_test(imagined_states_are_outside),
        cmocka_unit_test(predicted_is_the_value_of_the_first_states),
        cmocka_unit_test(scores_are_those_of_the_last_five_updates),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
