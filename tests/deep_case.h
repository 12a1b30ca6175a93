/* A small process with one-hot states, logs of it as networks read them, trainings of a second, and the tabular answer
 * of any learner: value iteration with the learner's own rule on the empirical model. */
#ifndef PESS_TESTS_DEEP_CASE_H
#define PESS_TESTS_DEEP_CASE_H

#include "deep/neural_uncertainty.h"
#include "deep/training.h"
#include "nn/netfile.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { STATES = 12, ACTIONS = 3, BYTES = 2 };
#define GAMMA 0.9

#define OK(call) assert_int_equal(call, PESS_OK)

static char root[] = "/tmp/pess_deep_test_XXXXXX";

static inline const char *in_root(const char *name) {
    static char paths[6][300];
    static int next;
    char *path = paths[next++ % 6];
    (void)snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static inline int open_root(void **state) {
    (void)state;
    return mkdtemp(root) == NULL;
}

static inline int remove_root(void **state) {
    (void)state;
    char command[400];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command); /* NOLINT(cert-env33-c): a fixed command on our own directory */
}

static inline pess_mdp *process(void) {
    pess_garnet_options o = pess_garnet_options_defaults();
    o.states = STATES, o.actions = ACTIONS, o.branching = 2, o.terminals = 1, o.seed = 4;
    pess_mdp *mdp = NULL;
    pess_error error;
    OK(pess_mdp_garnet(&o, &mdp, &error));
    return mdp;
}

/* A log in which action 2 is rare, so that actions differ in how well they are known. hash_mask 0: every observation
 * meets every other in the index. */
static inline pess_observations *uneven_log(const pess_mdp *mdp, int64_t transitions, uint64_t hash_mask) {
    pess_collect_options o = pess_collect_options_defaults();
    o.mdp = mdp, o.transitions = transitions, o.envs = 4, o.seed = 9, o.step_limit = 30;
    pess_observations *all = NULL, *data = NULL;
    pess_error error;
    OK(pess_collect(&o, &all, &error));
    OK(pess_observations_create("mdp", "", &(pess_observation_shape){.length = STATES}, ACTIONS, &data, &error));
    data->hash_mask = hash_mask;
    pess__rng rng = pess__rng_stream(1, "uneven", 0);
    for (int64_t i = 0; i < all->transitions; i++) {
        const uint8_t *from, *to;
        int32_t action;
        double reward;
        pess_end end;
        assert_true(pess_observations_get(all, i, &from, &action, &reward, &to, &end));
        if (action == 2 && pess__rng_uniform(&rng) < 0.85) continue;
        OK(pess_observations_add(data, from, action, reward, to, end, &error));
    }
    pess_observations_destroy(all);
    return data;
}

/* "absorbed-alpha=0.5", kept for as long as a test needs it; NULL for NAN. */
static inline const char *alpha_knob(double alpha) {
    static char texts[8][64];
    static int next;
    char *text = texts[next++ % 8];
    if (isnan(alpha)) return NULL;
    (void)snprintf(text, sizeof texts[0], "absorbed-alpha=%.17g", alpha);
    return text;
}

static inline pess_train_options training(const pess_mdp *mdp, const pess_observations *data, const char *algorithm,
                                          const char *out) {
    pess_train_options o = pess_train_options_defaults();
    o.mdp = mdp, o.data = data, o.algorithm = algorithm, o.out = in_root(out), o.network = "dense", o.gamma = GAMMA;
    o.seed = 3, o.threads = 1;
    OK(pess_protocol_find("smoke", &o.protocol, NULL));
    o.protocol.updates = 70, o.protocol.steps = 100, o.protocol.batch = 256, o.protocol.rate = 4e-3;
    o.protocol.imitation_steps = 2000, o.protocol.imitation_batch = 256, o.protocol.imitation_rate = 1e-2;
    o.protocol.score_episodes = 20, o.protocol.control_episodes = 0, o.protocol.eval_every = 0;
    return o;
}

/* Outputs of a network of a run for observation `state` of the data. */
static inline void outputs_of(const pess_observations *data, const char *directory, const char *name, int64_t state,
                              float *out) {
    char path[400];
    pess_net *net = NULL;
    pess_error error;
    (void)snprintf(path, sizeof path, "%s/%s.pessnet", directory, name);
    OK(pess_net_read(path, NULL, &net, &error));
    OK(pess_net_apply(net, data->observations + state * data->bytes, data->bytes, 1, 1, out, &error));
    pess_net_destroy(net);
}

/* What is known of the states of the data besides values; columns that a learner does not read may stay empty. */
typedef struct known {
    float prior[STATES][ACTIONS], penalty[STATES][ACTIONS];
    float actor[STATES][ACTIONS]; /* log probabilities, but for a constant */
    int32_t counts[STATES][ACTIONS];
    bool some_unseen; /* pairs without data are left out of tabular values: no rule may choose them */
} known;

static inline void count_pairs(const pess_observations *data, known *k) {
    memset(k->counts, 0, sizeof k->counts);
    for (int64_t i = 0; i < data->transitions; i++) k->counts[data->state[i]][data->action[i]]++;
}

static inline bool acted_in(const known *k, int64_t state) {
    for (int a = 0; a < ACTIONS; a++)
        if (k->counts[state][a] > 0) return true;
    return false;
}

/* The rule of a learner whose only knob is alpha, if it has any. */
static inline double decide(const pess__learner *learner, double alpha, const pess__view *view, double *policy) {
    const pess__alpha_knob knob = {sizeof knob, alpha};
    pess__view own = *view;
    own.knobs = &knob;
    return learner->decide(&own, policy);
}

static inline double rule(const pess__learner *learner, double alpha, const known *k, int64_t state, const float *q) {
    double policy[ACTIONS];
    const pess__view view = {.actions = ACTIONS,
                             .q = q,
                             .heads = 1,
                             .prior = k->prior[state],
                             .penalty = k->penalty[state],
                             .counts = k->counts[state],
                             .own = {k->actor[state]},
                             .cap = INFINITY};
    return decide(learner, alpha, &view, policy);
}

/* v(s) ← rule(r + γ v(s')) with the means of the data, to the fixed point. Every pair must have been seen, but where
 * k->some_unseen. */
static inline void tabular_values(const pess_observations *data, const pess__learner *learner, double alpha,
                                  const known *k, double *v) {
    memset(v, 0, STATES * sizeof *v);
    for (int round = 0; round < 400; round++) {
        double sum[STATES][ACTIONS] = {{0}};
        for (int64_t i = 0; i < data->transitions; i++) {
            const double after = data->end[i] == PESS_END_TERMINAL ? 0 : v[data->next[i]];
            sum[data->state[i]][data->action[i]] += (double)data->reward[i] + GAMMA * after;
        }
        for (int64_t s = 0; s < data->states; s++) {
            float q[ACTIONS];
            if (!acted_in(k, s)) continue;
            for (int a = 0; a < ACTIONS; a++) {
                assert_true(k->counts[s][a] > 0 || k->some_unseen);
                q[a] = k->counts[s][a] > 0 ? (float)(sum[s][a] / k->counts[s][a]) : -INFINITY;
            }
            v[s] = rule(learner, alpha, k, s, q);
        }
    }
}

/* The engine of src/solve with u = min(1/√n, W), W where n = 0, agrees with the test's own value iteration; then that
 * stands for it. Rewards are 0 to 1, so W = 1/(1 − γ). */
static inline void assert_the_engine_agrees(const pess_observations *data, double alpha, const known *k,
                                            const double *values) {
    uint32_t *columns[3];
    pess_error error = {0};
    const size_t rows = (size_t)data->transitions;
    double *reward = malloc(rows * sizeof *reward), start[STATES], mine[STATES];
    for (int c = 0; c < 3; c++) columns[c] = malloc(rows * sizeof *columns[c]);
    for (int64_t i = 0; i < data->transitions; i++) {
        columns[0][i] = (uint32_t)data->state[i];
        columns[1][i] = data->action[i];
        columns[2][i] = (uint32_t)data->next[i];
        reward[i] = (double)data->reward[i];
    }
    const pess_columns log = {.rows = data->transitions,
                              .state = columns[0],
                              .action = columns[1],
                              .next_state = columns[2],
                              .reward = reward,
                              .end = data->end};
    pess_dataset *dataset = NULL;
    pess_counts *counts = NULL;
    pess_model *model = NULL;
    pess_solution *solution = NULL;
    pess_model_options options = pess_model_options_defaults();
    options.reward_range[0] = 0, options.reward_range[1] = 1;
    OK(pess_dataset_create(&log, STATES, ACTIONS, &dataset, &error));
    OK(pess_counts_create(dataset, 0, &counts, &error));
    OK(pess_model_estimate(counts, &options, &model, &error));
    OK(pess_start_uniform(model, start, &error));
    pess_solve_options s = pess_solve_options_defaults();
    s.algorithm = "ua", s.uncertainty = "count", s.gamma = GAMMA, s.absorbed_alpha = alpha;
    OK(pess_solve(counts, model, start, &s, &solution, &error));
    for (int64_t z = 0; z < data->states; z++) {
        mine[z] = pess_solution_values(solution)[z];
        if (acted_in(k, z) && fabs(mine[z] - values[z]) > 1e-4)
            fail_msg("state %lld: the engine has %g, the test %g", (long long)z, mine[z], values[z]);
    }
    pess_solution_destroy(solution);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    pess_dataset_destroy(dataset);
    for (int c = 0; c < 3; c++) free(columns[c]);
    free(reward);
}

/* The last line of log.csv: its columns `unlogged`, `gap`, `values_apart` and `penalty_apart`; NAN for an empty one. */
static inline void read_looks(const char *directory, double *out) {
    char path[400], line[600], last[600] = "";
    (void)snprintf(path, sizeof path, "%s/log.csv", directory);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) memcpy(last, line, sizeof last);
    (void)fclose(file);
    char *at = last;
    for (int column = 0; column < 11; column++) at = strchr(at, ',') + 1;
    for (int column = 0; column < 4; column++, at = strchr(at, ',') + 1)
        out[column] = *at != ',' ? strtod(at, NULL) : (double)NAN;
}

static inline void assert_same_file(const char *a, const char *b, const char *name) {
    unsigned char *bytes[2];
    long size[2];
    for (int i = 0; i < 2; i++) {
        char path[400];
        (void)snprintf(path, sizeof path, "%s/%s", i == 0 ? a : b, name);
        FILE *file = fopen(path, "rb");
        if (file == NULL) fail_msg("%s is not there", path);
        assert_int_equal(fseek(file, 0, SEEK_END), 0);
        size[i] = ftell(file);
        rewind(file);
        bytes[i] = malloc((size_t)size[i] + 1);
        assert_int_equal(fread(bytes[i], 1, (size_t)size[i], file), size[i]);
        assert_int_equal(fclose(file), 0);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], (size_t)size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* A run whose last checkpoint is lost goes on from the one before and ends in the same bytes. */
static inline void resumes_to_the_same_bytes(const pess_mdp *mdp, const pess_observations *data, const char *algorithm,
                                             const char *const *files) {
    char whole[64], pieces[64], path[400];
    pess_train_result result, resumed;
    pess_error error;
    (void)snprintf(whole, sizeof whole, "whole-%s", algorithm);
    (void)snprintf(pieces, sizeof pieces, "pieces-%s", algorithm);
    pess_train_options o = training(mdp, data, algorithm, whole);
    o.protocol.updates = 5, o.protocol.steps = 20, o.protocol.imitation_steps = 100, o.protocol.batch = 64;
    OK(pess_train_run(&o, &result, &error));
    o.out = in_root(pieces), o.checkpoint_seconds = 0, o.threads = 2;
    OK(pess_train_run(&o, &resumed, &error));
    (void)snprintf(path, sizeof path, "%s/checkpoint-0.pesstrain", in_root(pieces)); /* generations 0 … 4 take turns */
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof path, "%s/policy.pessnet", in_root(pieces));
    assert_int_equal(unlink(path), 0);
    o.out = in_root(pieces), o.resume = true;
    OK(pess_train_run(&o, &resumed, &error));
    assert_int_equal(resumed.resumed_from, 4);
    assert_same_file(in_root(whole), in_root(pieces), "policy.pessnet");
    assert_same_file(in_root(whole), in_root(pieces), "manifest.json");
    for (; *files != NULL; files++) assert_same_file(in_root(whole), in_root(pieces), *files);
}

#endif
