/* What bench/bench_python.py does through Python, in C: 10⁷ rows in memory into counts, a solve of 64 states in a loop,
 * steps of 256 games with packed bits. One JSON line per figure, seconds; the best of several rounds counts. */
#include "core/threads.h"

#include "pess.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 10000000, STATES = 1000, ACTIONS = 4, SOLVES = 10, ENVS = 256, RING = 64, ROUNDS = 150 };

static void must(pess_status status, const pess_error *error) {
    if (status == PESS_OK) return;
    (void)fprintf(stderr, "bench_python: %s\n", error->message);
    exit(1);
}

/* processor: of all threads; 0: not told. */
static void say(const char *what, double seconds, double processor) {
    (void)printf("{\"bench\":\"%s\",\"seconds\":%.9g,\"processor\":%.9g}\n", what, seconds, processor);
    (void)fflush(stdout);
}

static void bench_counts(void) {
    pess_error error;
    uint32_t *ids = malloc(3 * (size_t)ROWS * sizeof *ids);
    double *reward = malloc((size_t)ROWS * sizeof *reward), best = 1e9, least = 1e9;
    if (ids == NULL || reward == NULL) exit(1);
    pess_random random = pess_random_create(1, "bench", 0);
    for (int64_t i = 0; i < ROWS; i++) {
        ids[i] = (uint32_t)pess_random_below(&random, STATES);
        ids[ROWS + i] = (uint32_t)pess_random_below(&random, ACTIONS);
        ids[2 * ROWS + i] = (uint32_t)((ids[i] + (uint32_t)pess_random_below(&random, 4)) % STATES);
        reward[i] = pess_random_uniform(&random);
    }
    const pess_columns columns = {
        .rows = ROWS, .state = ids, .action = ids + ROWS, .next_state = ids + 2 * (size_t)ROWS, .reward = reward};
    for (int round = 0; round < 3; round++) {
        pess_dataset *data = NULL;
        pess_counts *counts = NULL;
        const clock_t ticks = clock();
        const double begin = pess__clock();
        must(pess_dataset_borrow(&columns, 0, 0, &data, &error), &error);
        must(pess_counts_create(data, 0, &counts, &error), &error);
        const double seconds = pess__clock() - begin, processor = (double)(clock() - ticks) / CLOCKS_PER_SEC;
        best = seconds < best ? seconds : best;
        least = processor < least ? processor : least;
        pess_counts_destroy(counts);
        pess_dataset_destroy(data);
    }
    say("counts", best, least);
    free(ids);
    free(reward);
}

static pess_dataset *gridworld_log(void) {
    pess_error error;
    pess_gridworld_options world = pess_gridworld_options_defaults();
    world.seed = 1;
    pess_simulate_options simulate = pess_simulate_options_defaults();
    simulate.transitions = 2000;
    simulate.seed = 1;
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    pess_policy *policy = NULL;
    pess_dataset *data = NULL;
    double start[64];
    must(pess_mdp_gridworld(&world, &mdp, &error), &error);
    must(pess_mdp_model(mdp, 1, &model, &error), &error);
    must(pess_start_uniform(model, start, &error), &error);
    must(pess_policy_uniform(model, &policy, &error), &error);
    must(pess_simulate(mdp, policy, start, &simulate, &data, &error), &error);
    pess_policy_destroy(policy);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
    return data;
}

static void bench_solve(void) {
    pess_error error;
    pess_dataset *data = gridworld_log();
    pess_counts *counts = NULL;
    pess_problem *problem = NULL;
    must(pess_counts_create(data, 1, &counts, &error), &error);
    const pess_model_options model = {.size = sizeof model, .reward_range = {0, 1}};
    must(pess_problem_create(counts, &model, NULL, &problem, &error), &error);
    pess_solve_options options = pess_solve_options_defaults();
    options.gamma = 0.9;
    options.threads = 1;
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = pess__clock();
        for (int i = 0; i < SOLVES; i++) {
            pess_solution *solution = NULL;
            must(pess_solve(counts, pess_problem_model(problem), pess_problem_start(problem), &options, &solution,
                            &error),
                 &error);
            pess_solution_destroy(solution);
        }
        const double seconds = (pess__clock() - begin) / SOLVES;
        best = seconds < best ? seconds : best;
    }
    say("solve", best, 0);
    pess_problem_destroy(problem);
    pess_counts_destroy(counts);
    pess_dataset_destroy(data);
}

static void bench_steps(const char *game) {
    static int32_t actions[RING][ENVS];
    static double rewards[ENVS];
    static uint8_t ends[ENVS], bits[ENVS * PESS_ENV_MAX_BYTES];
    pess_error error;
    pess_random random = pess_random_create(2, "bench", 1);
    for (int call = 0; call < RING; call++)
        for (int i = 0; i < ENVS; i++) actions[call][i] = (int32_t)pess_random_below(&random, PESS_ENV_ACTIONS);
    pess_env_options options = pess_env_options_defaults();
    options.game = game;
    pess_batch *batch = NULL;
    must(pess_batch_create(&options, ENVS, 1, &batch, &error), &error);
    const pess_batch_out out = {.rewards = rewards, .ends = ends, .bits = bits};
    double best = 1e9;
    for (int round = 0; round < 50; round++) {
        const double begin = pess__clock();
        for (int i = 0; i < RING; i++) must(pess_batch_step(batch, actions[i], &out, &error), &error);
        const double seconds = (pess__clock() - begin) / ((double)RING * ENVS);
        best = seconds < best ? seconds : best;
    }
    char what[64];
    (void)snprintf(what, sizeof what, "steps of %.40s", game);
    say(what, best, 0);
    pess_batch_destroy(batch);
}

int main(void) {
    bench_counts();
    bench_solve();
    const pess_env_info *info = NULL;
    for (size_t i = 0; (info = pess_env_list(i)) != NULL; i++) bench_steps(info->name);
    return 0;
}
