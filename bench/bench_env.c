/* Steps per second of every game and control problem: 256 environments, uniformly random actions (prepared beforehand),
 * automatic reset, observations as they are stored (packed bits, floats, bytes) or as float planes, one and two
 * threads; and the share of the time that goes into drawing random numbers. One JSON line per figure. The variants are
 * measured in turn, many short rounds, and the best round of each counts: other work on the machine only ever makes a
 * round slower. */
#include "core/rng.h"
#include "core/threads.h"

#include "pess.h"

#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = PESS_ENV_MAX_BYTES * 8, ENVS = 256, RING = 64, CALLS = 2000, ROUNDS = 100 };
#define PATIENCE 4.0 /* seconds per game at most: two threads on a busy machine can be very slow */

typedef enum observation { NONE, STORED, FLOATS, OBSERVATIONS } observation;
static const char *const observation_names[] = {"none", "stored", "floats"};

static int32_t actions[RING][ENVS];
static double rewards[ENVS];
static uint8_t ends[ENVS], stored[ENVS * LONGEST];
static float floats[ENVS * LONGEST];

static void fail(const pess_error *error) {
    (void)fprintf(stderr, "bench_env: %s\n", error->message);
    exit(1);
}

/* Seconds per step of RING batch steps: about a millisecond, short enough to fall between other programs' turns. */
static double measure(pess_batch *batch, observation what) {
    const pess_batch_out out = {.rewards = rewards,
                                .ends = ends,
                                .bits = what == STORED ? stored : NULL,
                                .floats = what == FLOATS ? floats : NULL,
                                .layout = PESS_LAYOUT_HWC};
    pess_error error;
    const double begin = pess__clock();
    for (int i = 0; i < RING; i++)
        if (pess_batch_step(batch, actions[i], &out, &error) != PESS_OK) fail(&error);
    return (pess__clock() - begin) / ((double)RING * ENVS);
}

/* Mean number of draws of a step, resets included. */
static double draws_per_step(const pess_env_info *game, const pess_env_options *options) {
    enum { STEPS = 100000 };
    const uint64_t count = (uint64_t)pess_env_full_actions(game);
    pess_env *env = NULL;
    pess_error error;
    if (pess_env_create(options, &env, &error) != PESS_OK) fail(&error);
    pess_draw none;
    pess_env_record_draws(env, &none, 1);
    pess_random random = pess_random_create(1, "bench", 0);
    for (int step = 0; step < STEPS; step++) {
        pess_env_step_result result;
        if (pess_env_step(env, pess_random_below(&random, (int64_t)count), &result, &error) != PESS_OK) fail(&error);
        if (result.end != PESS_END_NONE && pess_env_reset(env, &error) != PESS_OK) fail(&error);
    }
    const double draws = (double)pess_env_drawn(env) / STEPS;
    pess_env_destroy(env);
    return draws;
}

/* Seconds of one uniform drawn from each of ENVS generators in turn, as the batch does it. */
static double seconds_per_draw(void) {
    static pess__rng generators[ENVS];
    for (int i = 0; i < ENVS; i++) generators[i] = pess__rng_stream(1, "bench", (uint64_t)i);
    double best = 1;
    int64_t used = 0; /* looked at below, so that the draws are really made */
    for (int round = 0; round < 10; round++) {
        int64_t below = 0;
        const double begin = pess__clock();
        for (int call = 0; call < CALLS; call++)
            for (int i = 0; i < ENVS; i++) below += pess__rng_uniform(&generators[i]) < 0.1;
        const double seconds = (pess__clock() - begin) / ((double)CALLS * ENVS);
        used += below;
        best = seconds < best ? seconds : best;
    }
    if (used == 0) (void)fputs("bench_env: the generator draws nothing\n", stderr);
    return best;
}

static void draw_actions(const pess_env_info *game) {
    pess_random random = pess_random_create(2, "bench", 1);
    for (int call = 0; call < RING; call++)
        for (int i = 0; i < ENVS; i++)
            actions[call][i] = (int32_t)pess_random_below(&random, (uint64_t)pess_env_full_actions(game));
}

static void bench_game(const pess_env_info *game, double draw_seconds) {
    pess_env_options options = pess_env_options_defaults();
    options.game = game->name;
    draw_actions(game);
    double best[2][OBSERVATIONS] = {{1, 1, 1}, {1, 1, 1}};
    pess_batch *batch[2] = {NULL, NULL};
    pess_error error;
    for (int threads = 1; threads <= 2; threads++)
        if (pess_batch_create(&options, ENVS, threads, &batch[threads - 1], &error) != PESS_OK) fail(&error);
    const double begin = pess__clock();
    for (int round = 0; round < ROUNDS && pess__clock() - begin < PATIENCE; round++)
        for (int t = 0; t < 2; t++)
            for (observation what = NONE; what < OBSERVATIONS; what++) {
                const double seconds = measure(batch[t], what);
                if (seconds < best[t][what]) best[t][what] = seconds;
            }
    for (int t = 0; t < 2; t++) pess_batch_destroy(batch[t]);
    const double draws = draws_per_step(game, &options);
    for (int threads = 1; threads <= 2; threads++)
        for (observation what = NONE; what < OBSERVATIONS; what++) {
            const double seconds = best[threads - 1][what];
            (void)printf("{\"bench\":\"env\",\"game\":\"%s\",\"envs\":%d,\"threads\":%d,\"observation\":\"%s\","
                         "\"steps_per_second\":%.0f,\"nanoseconds_per_step\":%.1f,\"draws_per_step\":%.3f,"
                         "\"random_share\":%.3f}\n",
                         game->name, ENVS, threads, observation_names[what], 1 / seconds, 1e9 * seconds, draws,
                         draws * draw_seconds / seconds / threads);
        }
    (void)fflush(stdout);
}

int main(void) {
    const double draw_seconds = seconds_per_draw();
    const pess_env_info *info = NULL;
    for (size_t i = 0; (info = pess_env_list(i)) != NULL; i++) bench_game(info, draw_seconds);
    for (size_t i = 0; (info = pess_control_list(i)) != NULL; i++) bench_game(info, draw_seconds);
    return 0;
}
