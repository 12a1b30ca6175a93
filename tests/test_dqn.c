/* DQN on a chain with a known answer; resuming; files that are not what they should be. */
#include "deep/play.h"
#include "deep/replay.h"
#include "nn/netfile.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

static char root[] = "/tmp/pess_dqn_test_XXXXXX";

static const char *in_root(const char *name) {
    static char paths[4][300];
    static int next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

enum { CHAIN = 6 };

/* States 0 … 5 in a row and an end. Right (1) leads on and pays 1 at the end; left (0) pays 0.2 at once and ends. With
 * γ = 0.9 right is better everywhere: 0.9^5 = 0.59. */
static pess_mdp *chain_with(const int64_t right[CHAIN]) {
    pess_mdp_transition transitions[2 * CHAIN];
    for (int64_t s = 0; s < CHAIN; s++) {
        transitions[2 * s] = (pess_mdp_transition){s, 1 - right[s], CHAIN, 1, 0.2};
        transitions[2 * s + 1] = (pess_mdp_transition){s, right[s], s + 1, 1, s == CHAIN - 1 ? 1 : 0};
    }
    pess_mdp *mdp = NULL;
    pess_error error;
    assert_int_equal(pess_mdp_create(CHAIN + 1, 2, transitions, 2 * CHAIN, &mdp, &error), PESS_OK);
    return mdp;
}

static pess_mdp *chain(void) { return chain_with((const int64_t[CHAIN]){1, 1, 1, 1, 1, 1}); }

static pess_dqn_options chain_options(const pess_mdp *mdp, const char *out) {
    pess_dqn_options o = pess_dqn_options_defaults();
    o.mdp = mdp, o.network = "dense", o.out = out, o.seed = 5;
    o.frames = 24000, o.envs = 8, o.replay = 4000, o.batch = 32, o.train_every = 8, o.target_every = 50;
    o.warmup = 400, o.epsilon_frames = 10000, o.epsilon_last = 0.1, o.gamma = 0.9, o.rate = 2e-3, o.rate_last = 2e-4;
    o.evaluate_every = 8000, o.evaluate_episodes = 40, o.final_episodes = 200, o.checkpoint_every = 4000;
    o.n_step = 1, o.threads = 1;
    return o;
}

/* Trains on the chain to the end, the last network being the policy, and reads q[state][action] of it. */
static void learn_chain(pess_dqn_options o, float q[CHAIN][2]) {
    o.frames = o.evaluate_every = 80000;
    pess_dqn_result result;
    pess_error error;
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_OK);
    assert_true(result.mean_return > 1 - 1e-12); /* right, from every state of every episode */
    char path[400];
    (void)snprintf(path, sizeof path, "%s/policy.pessnet", o.out);
    pess_net *net = NULL;
    assert_int_equal(pess_net_read(path, NULL, &net, &error), PESS_OK);
    for (int s = 0; s < CHAIN; s++) {
        const uint8_t bits = (uint8_t)(1U << s);
        assert_int_equal(pess_net_apply(net, &bits, 1, 1, 1, q[s], &error), PESS_OK);
    }
    pess_net_destroy(net);
}

static void a_chain_is_solved(void **state) {
    (void)state;
    pess_mdp *mdp = chain();
    for (int n = 1; n <= 3; n += 2) {
        pess_dqn_options o = chain_options(mdp, in_root(n == 1 ? "chain1" : "chain3"));
        o.n_step = n;
        float q[CHAIN][2];
        learn_chain(o, q);
        for (int s = 0; s < CHAIN; s++) {
            assert_true(fabs((double)q[s][0] - 0.2) < 0.05);
            /* Off-policy sums of three rewards are a little below the one-step values while ε is above 0. */
            assert_true(fabs((double)q[s][1] - pow(0.9, CHAIN - 1 - s)) < (n == 1 ? 0.05 : 0.15));
        }
    }
    pess_mdp_destroy(mdp);
}

/* Advantage learning leaves v, and doubles what left lacks: v − (v − 0.2)/(1 − 0.5). */
static void an_action_gap_widens_what_actions_lack(void **state) {
    (void)state;
    pess_mdp *mdp = chain();
    pess_dqn_options o = chain_options(mdp, in_root("gap"));
    o.action_gap = 0.5;
    float q[CHAIN][2];
    learn_chain(o, q);
    for (int s = 0; s < CHAIN; s++) {
        const double v = pow(0.9, CHAIN - 1 - s);
        assert_true(fabs((double)q[s][1] - v) < 0.05);
        assert_true(fabs((double)q[s][0] - (v - (v - 0.2) / 0.5)) < 0.05);
    }
    pess_mdp_destroy(mdp);
}

/* Its network answers for each state by itself: right is another action in every second one. With ε = 0.02 an episode
 * goes to the end with probability 0.99^6 = 0.94; with actions from elsewhere it nearly always ends before. */
static void a_training_acts_as_its_network_says(void **state) {
    (void)state;
    pess_mdp *mdp = chain_with((const int64_t[CHAIN]){0, 1, 0, 1, 0, 1});
    pess_dqn_options o = chain_options(mdp, in_root("acting"));
    o.epsilon_last = 0.02;
    pess_dqn_result result;
    pess_error error;
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_OK);
    FILE *log = fopen(in_root("acting/log.csv"), "r");
    assert_non_null(log);
    char line[300];
    double in_training = 0; /* the last column: since the line before */
    while (fgets(line, sizeof line, log) != NULL) in_training = strtod(strrchr(line, ',') + 1, NULL);
    assert_int_equal(fclose(log), 0);
    assert_true(in_training > 0.8);
    pess_mdp_destroy(mdp);
}

static uint8_t *file_bytes(const char *directory, const char *name, size_t *size) {
    char path[400];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    uint8_t *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    (void)fclose(file);
    return bytes;
}

static void overwrite(const char *directory, const char *name, const uint8_t *bytes, size_t size) {
    char path[400];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static bool stop_at_once(void *user, const char *what, double done, double total, const char *unit) {
    (void)what, (void)total, (void)unit;
    return done < *(double *)user;
}

/* The same training whole and in pieces; how often it was stopped. */
static int stopped_and_resumed(pess_dqn_options o, const char *whole, const char *pieces) {
    pess_dqn_result result;
    pess_error error;
    o.out = whole;
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_OK);
    o.out = pieces;
    o.resume = true;
    double limit = 5000;
    int stops = 0;
    o.progress = (pess_progress){stop_at_once, &limit};
    while (pess_dqn_run(&o, &result, &error) == PESS_INTERRUPTED && stops < 100) {
        stops++;
        limit += 40000;
        o.threads = 1 + stops % 3;
    }
    return stops;
}

/* A run stopped at several places and resumed each time, on other thread counts, ends in the same bytes. Progress is
 * first reported after a tenth of a second: where all of it takes less, a longer run is taken. */
static void resuming_gives_the_same_bytes(void **state) {
    (void)state;
    pess_mdp *mdp = chain();
    char names[2][40];
    pess_dqn_options o = chain_options(mdp, NULL);
    int stops = 0;
    for (o.frames = 200000; stops == 0; o.frames *= 4) {
        (void)snprintf(names[0], sizeof names[0], "whole-%lld", (long long)o.frames);
        (void)snprintf(names[1], sizeof names[1], "pieces-%lld", (long long)o.frames);
        stops = stopped_and_resumed(o, in_root(names[0]), in_root(names[1]));
    }
    size_t whole_size = 0, size = 0;
    uint8_t *whole = file_bytes(in_root(names[0]), "policy.pessnet", &whole_size);
    uint8_t *pieces = file_bytes(in_root(names[1]), "policy.pessnet", &size);
    assert_non_null(pieces);
    assert_int_equal(size, whole_size);
    assert_memory_equal(whole, pieces, size);
    free(whole);
    free(pieces);
    pess_mdp_destroy(mdp);
}

/* The newest generation damaged: the one before is used and the end is the same. Both damaged: a message. */
static void a_damaged_checkpoint_falls_back(void **state) {
    (void)state;
    pess_mdp *mdp = chain();
    pess_dqn_options o = chain_options(mdp, in_root("damage"));
    pess_dqn_result result;
    pess_error error;
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_OK);
    size_t policy_size = 0, size = 0, again_size = 0;
    uint8_t *policy = file_bytes(o.out, "policy.pessnet", &policy_size);
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_ARGUMENT); /* not over an earlier run */
    assert_non_null(strstr(error.message, "resume it"));
    o.resume = true;
    /* Six checkpoints were made; the last, number 5, is in file 1. */
    uint8_t *newest = file_bytes(o.out, "checkpoint-1.pessdqn", &size);
    newest[size / 2] ^= 1;
    overwrite(o.out, "checkpoint-1.pessdqn", newest, size);
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_OK);
    assert_int_equal(result.resumed_from, 20000);
    uint8_t *again = file_bytes(o.out, "policy.pessnet", &again_size);
    assert_int_equal(again_size, policy_size);
    assert_memory_equal(again, policy, policy_size);
    pess_dqn_options other = o;
    other.batch = 16;
    assert_int_equal(pess_dqn_run(&other, &result, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "made with batch=32; this run has batch=16"));
    other = o, other.average = 500; /* a setting that is left out at its default */
    assert_int_equal(pess_dqn_run(&other, &result, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "made without average; this run has average=500"));
    overwrite(o.out, "checkpoint-0.pessdqn", newest, size / 3);
    overwrite(o.out, "checkpoint-1.pessdqn", newest, size);
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "damaged or truncated"));
    overwrite(o.out, "checkpoint-0.pessdqn", (const uint8_t *)"hello there", 11);
    overwrite(o.out, "checkpoint-1.pessdqn", (const uint8_t *)"", 0);
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "not a checkpoint"));
    free(policy);
    free(newest);
    free(again);
    pess_mdp_destroy(mdp);
}

/* A checkpoint that ends too early, though its checksum is right: as only an attacker makes it. Neither generation is
 * taken, wherever they end. */
static void a_checkpoint_that_lacks_its_end_is_refused(void **state) {
    (void)state;
    pess_mdp *mdp = chain();
    pess_dqn_options o = chain_options(mdp, in_root("short"));
    o.frames = o.evaluate_every = o.checkpoint_every = 800;
    o.replay = 400, o.warmup = 100, o.final_episodes = o.evaluate_episodes = 2;
    pess_dqn_result result;
    pess_error error;
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_OK);
    size_t size = 0;
    uint8_t *bytes = file_bytes(o.out, "checkpoint-0.pessdqn", &size);
    assert_non_null(bytes);
    o.resume = true;
    int in_replay = 0, in_log = 0;
    for (size_t kept = size - 5; kept > 8; kept -= 1 + kept / 24) {
        const uint32_t sum = (uint32_t)crc32(0, bytes, (uInt)kept);
        uint8_t end[4];
        memcpy(end, bytes + kept, sizeof end);
        memcpy(bytes + kept, &sum, sizeof sum);
        for (int i = 0; i < 2; i++)
            overwrite(o.out, i == 0 ? "checkpoint-0.pessdqn" : "checkpoint-1.pessdqn", bytes, kept + sizeof sum);
        memcpy(bytes + kept, end, sizeof end);
        if (pess_dqn_run(&o, &result, &error) == PESS_OK) fail_msg("taken with %zu of %zu bytes", kept, size);
        assert_true(error.status == PESS_INPUT || error.status == PESS_ARGUMENT); /* its settings may be what ends */
        in_replay += strstr(error.message, "the replay memory does not fit") != NULL;
        in_log += strstr(error.message, "do not add up to the file") != NULL;
    }
    assert_true(in_replay > 0 && in_log > 0); /* their checksums were believed */
    free(bytes);
    pess_mdp_destroy(mdp);
}

/* Frames, updates and what else is counted, each made negative in turn under a right checksum. */
static void a_checkpoint_that_counts_below_nothing_is_refused(void **state) {
    (void)state;
    enum { COUNTS = 7 };
    pess_mdp *mdp = chain();
    pess_dqn_options o = chain_options(mdp, in_root("negative"));
    o.frames = o.evaluate_every = o.checkpoint_every = 800;
    o.replay = 400, o.warmup = 100, o.final_episodes = o.evaluate_episodes = 2;
    pess_dqn_result result;
    pess_error error;
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_OK);
    size_t size = 0, first = 0;
    uint8_t *bytes = file_bytes(o.out, "checkpoint-0.pessdqn", &size);
    assert_non_null(bytes);
    const int64_t counts[] = {o.frames, result.updates};
    while (first + sizeof counts < size && memcmp(bytes + first, counts, sizeof counts) != 0) first++;
    assert_true(first + sizeof counts < size);
    o.resume = true;
    for (int i = 0; i < COUNTS; i++) {
        uint8_t *const sign = bytes + first + 8 * i + 7;
        *sign ^= 0x80;
        const uint32_t sum = (uint32_t)crc32(0, bytes, (uInt)(size - sizeof sum));
        memcpy(bytes + size - sizeof sum, &sum, sizeof sum);
        for (int k = 0; k < 2; k++)
            overwrite(o.out, k == 0 ? "checkpoint-0.pessdqn" : "checkpoint-1.pessdqn", bytes, size);
        assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_INPUT);
        assert_non_null(strstr(error.message, "the checkpoint counts -9"));
        *sign ^= 0x80;
    }
    free(bytes);
    pess_mdp_destroy(mdp);
}

/* A limit on the size of files stands for a full disk: nothing half-written stays, and with room the run is whole. */
static void a_full_disk_leaves_no_half_checkpoint(void **state) {
    (void)state;
    pess_mdp *mdp = chain();
    pess_dqn_options o = chain_options(mdp, in_root("full"));
    o.frames = o.evaluate_every = o.checkpoint_every = 800;
    o.warmup = 100, o.final_episodes = o.evaluate_episodes = 2;
    pess_dqn_result result;
    pess_error error;
    struct rlimit all;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
    const struct rlimit little = {.rlim_cur = 8192, .rlim_max = all.rlim_max};
    void (*const before)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    const pess_status status = pess_dqn_run(&o, &result, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
    (void)signal(SIGXFSZ, before);
    assert_int_equal(status, PESS_IO);
    assert_non_null(strstr(error.message, "checkpoint-0.pessdqn: "));
    char path[400];
    (void)snprintf(path, sizeof path, "%s/checkpoint-0.pessdqn", o.out);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_OK);
    pess_mdp_destroy(mdp);
}

/* The other way round: the checkpoint has a setting that this run leaves at its default. */
static void a_setting_at_its_default_is_told_by_its_name(void **state) {
    (void)state;
    pess_mdp *mdp = chain();
    pess_dqn_options o = chain_options(mdp, in_root("average"));
    o.frames = 800, o.evaluate_every = o.checkpoint_every = 800, o.average = 500;
    pess_dqn_result result;
    pess_error error;
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_OK);
    o.resume = true;
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_OK);
    o.average = pess_dqn_options_defaults().average;
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "made with average=500; this run has no such setting"));
    pess_mdp_destroy(mdp);
}

static bool stop_playing(void *user, const char *what, double done, double total, const char *unit) {
    (void)done, (void)total, (void)unit;
    ++*(int *)user;
    return strcmp(what, "playing") != 0;
}

/* The last comparison can be interrupted too; the training before it is kept. As many episodes as take longer than a
 * tenth of a second, when progress is first asked for. */
static void the_last_comparison_can_be_interrupted(void **state) {
    (void)state;
    pess_dqn_options o = pess_dqn_options_defaults();
    o.game = "freeway", o.network = "value", o.seed = 5, o.threads = 1;
    o.frames = o.evaluate_every = o.checkpoint_every = 200, o.replay = 200, o.batch = 8, o.warmup = 100;
    o.evaluate_episodes = 1;
    pess_dqn_result result;
    pess_error error;
    int reports = 0;
    o.progress = (pess_progress){stop_playing, &reports};
    pess_status status = PESS_OK;
    char name[40];
    for (o.final_episodes = 100; status == PESS_OK; o.final_episodes *= status == PESS_OK ? 4 : 1) {
        (void)snprintf(name, sizeof name, "compared-%lld", (long long)o.final_episodes);
        o.out = in_root(name);
        status = pess_dqn_run(&o, &result, &error);
    }
    assert_int_equal(status, PESS_INTERRUPTED);
    assert_non_null(strstr(error.message, "interrupted at frame 2"));
    assert_non_null(strstr(error.message, "resuming"));
    size_t size;
    assert_null(file_bytes(o.out, "policy.pessnet", &size));
    o.progress = (pess_progress){0};
    o.resume = true;
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_OK);
    assert_true(result.resumed_from >= 200);
}

static void a_loss_that_explodes_stops_the_training(void **state) {
    (void)state;
    pess_mdp *mdp = chain();
    pess_dqn_options o = chain_options(mdp, in_root("explosion"));
    o.rate = o.rate_last = 1e30;
    pess_dqn_result result;
    pess_error error;
    assert_int_equal(pess_dqn_run(&o, &result, &error), PESS_NOT_CONVERGED);
    assert_non_null(strstr(error.message, "training step"));
    assert_non_null(strstr(error.message, "explosion"));
    size_t size;
    assert_null(file_bytes(o.out, "policy.pessnet", &size));
    pess_mdp_destroy(mdp);
}

static void settings_out_of_range_are_refused(void **state) {
    (void)state;
    pess_dqn_result result;
    pess_error error;
    pess_dqn_options o = pess_dqn_options_defaults();
    o.game = "breakout", o.out = in_root("never");
    pess_dqn_options bad = o;
    bad.batch = 0;
    assert_int_equal(pess_dqn_run(&bad, &result, &error), PESS_ARGUMENT);
    bad = o, bad.gamma = 1.5;
    assert_int_equal(pess_dqn_run(&bad, &result, &error), PESS_ARGUMENT);
    bad = o, bad.network = "huge";
    assert_int_equal(pess_dqn_run(&bad, &result, &error), PESS_ARGUMENT);
    bad = o, bad.game = "pong";
    assert_int_equal(pess_dqn_run(&bad, &result, &error), PESS_ARGUMENT);
    bad = o, bad.huber = 0;
    assert_int_equal(pess_dqn_run(&bad, &result, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "huber: found '0', expected a number above 0"));
    bad = o, bad.adam_epsilon = 0;
    assert_int_equal(pess_dqn_run(&bad, &result, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "adam-epsilon: found '0', expected a number above 0"));
    bad = o, bad.out = "/nonexistent/here";
    assert_int_equal(pess_dqn_run(&bad, &result, &error), PESS_IO);
    overwrite(root, "plain", (const uint8_t *)"", 0);
    bad = o, bad.out = in_root("plain");
    assert_int_equal(pess_dqn_run(&bad, &result, &error), PESS_IO);
    assert_non_null(strstr(error.message, "plain: is a file; a directory"));
}

/* n-step sums against a walk over all stored transitions of the environment. */
static void steps_are_followed_through_the_ring(void **state) {
    (void)state;
    enum { ENVS = 3, CAPACITY = 20, STORED = 47, N = 4 };
    pess__replay r;
    pess_error error;
    assert_int_equal(pess__replay_create(&r, CAPACITY, 1, &error), PESS_OK);
    pess__rng rng = pess__rng_stream(3, "test ring", 0);
    double rewards[STORED];
    uint8_t ends[STORED];
    for (int64_t t = 0; t < STORED; t++) {
        rewards[t] = pess__rng_uniform(&rng);
        ends[t] = (uint8_t)(pess__rng_below(&rng, 4) == 0 ? 1 + pess__rng_below(&rng, 2) : 0);
        rewards[t] = (double)(float)rewards[t];
        const uint8_t bits = (uint8_t)t;
        pess__replay_add(&r, &bits, 0, rewards[t], &bits, ends[t]);
        if (t + 1 < CAPACITY && t % 5 != 0) continue;
        const int64_t oldest = t + 1 > CAPACITY ? t + 1 - CAPACITY : 0;
        for (int64_t from = oldest; from <= t; from++) {
            double want = 0, weight = 1, reward, discount;
            int64_t last = from;
            for (int64_t i = 0, at = from; i < N && at <= t; i++, at += ENVS) {
                want += weight * rewards[at];
                weight *= ends[at] == PESS_END_TERMINAL ? 0 : 0.9;
                last = at;
                if (ends[at] != PESS_END_NONE) break;
            }
            const int64_t got = pess__replay_follow(&r, from % CAPACITY, ENVS, N, 0.9, &reward, &discount);
            assert_int_equal(r.nexts[got], last);
            assert_true(fabs(reward - want) < 1e-12 && fabs(discount - weight) < 1e-12);
        }
    }
    pess__replay_destroy(&r);
}

/* An evaluation is a function of seed and episodes; random play on the chain has a known mean. */
static void playing_does_not_depend_on_threads(void **state) {
    (void)state;
    pess_play_options o = pess_play_options_defaults();
    pess_play_result one, three;
    pess_error error;
    o.game = "breakout", o.episodes = 150, o.seed = 4, o.threads = 1;
    assert_int_equal(pess_play(NULL, &o, &one, &error), PESS_OK);
    o.threads = 3;
    assert_int_equal(pess_play(NULL, &o, &three, &error), PESS_OK);
    assert_memory_equal(&one, &three, sizeof one);
    assert_true(one.mean_return > 0.1 && one.mean_return < 1.5 && one.ci95 > 0 && one.mean_length > 5);
    o.episodes = 0;
    assert_int_equal(pess_play(NULL, &o, &one, &error), PESS_ARGUMENT);
    pess_mdp *mdp = chain();
    o = pess_play_options_defaults();
    o.mdp = mdp, o.episodes = 40000;
    assert_int_equal(pess_play(NULL, &o, &one, &error), PESS_OK);
    /* From state s the end is reached with probability 2^-(6-s), else 0.2: the mean over s is 0.2 + 0.8·(63/64)/6. Its
     * standard error is below 0.3/200, so five of them leave a false alarm below 1e-6. */
    assert_true(fabs(one.mean_return - (0.2 + 0.8 * 63 / 64 / 6)) < 5 * 0.3 / 200);
    pess_mdp_destroy(mdp);
}

int main(void) {
    if (mkdtemp(root) == NULL) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_is_solved),
        cmocka_unit_test(an_action_gap_widens_what_actions_lack),
        cmocka_unit_test(a_training_acts_as_its_network_says),
        cmocka_unit_test(resuming_gives_the_same_bytes),
        cmocka_unit_test(a_damaged_checkpoint_falls_back),
        cmocka_unit_test(a_checkpoint_that_lacks_its_end_is_refused),
        cmocka_unit_test(a_checkpoint_that_counts_below_nothing_is_refused),
        cmocka_unit_test(a_full_disk_leaves_no_half_checkpoint),
        cmocka_unit_test(a_setting_at_its_default_is_told_by_its_name),
        cmocka_unit_test(the_last_comparison_can_be_interrupted),
        cmocka_unit_test(a_loss_that_explodes_stops_the_training),
        cmocka_unit_test(settings_out_of_range_are_refused),
        cmocka_unit_test(steps_are_followed_through_the_ring),
        cmocka_unit_test(playing_does_not_depend_on_threads),
    };
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    char command[400];
    (void)snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command) != 0 ? 1 : failures;
}
