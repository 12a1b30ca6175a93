/* What the gridworld experiments cost.
 *
 *     bench_experiment figure NAME TRIALS THREADS   one run of an experiment: {"bench":"figure",...,"seconds":…}
 *     bench_experiment parts                        one thread: a system, a dataset by its size, a trial by its grid
 *
 * bench/peer_experiment.py does the same work per trial with NumPy. */
#include "core/threads.h"
#include "experiment/gridworld_trials.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int die(const char *message) { return fprintf(stderr, "bench_experiment: %s\n", message), 1; }

static int run_figure(const char *name, int64_t trials, int threads) {
    pess_experiment_options options = pess_experiment_options_defaults();
    options.experiment = name;
    options.trials = trials;
    options.threads = threads;
    pess_experiment *experiment = NULL;
    pess_error error = {0};
    if (pess_experiment_create(&options, &experiment, &error) != PESS_OK ||
        pess_experiment_run(experiment, &error) != PESS_OK)
        return die(error.message);
    size_t count = 0;
    const pess_experiment_point *points = pess_experiment_points(experiment, &count);
    double ua = 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(points[i].algorithm, "ua") == 0) ua += 6 * points[i].mean / (double)count;
    printf("{\"bench\":\"figure\",\"name\":\"%s\",\"trials\":%lld,\"threads\":%d,\"seconds\":%.6f,\"ua_mean\":%.4f}\n",
           name, (long long)trials, threads, pess_experiment_seconds(experiment), ua);
    pess_experiment_destroy(experiment);
    return 0;
}

/* The best of several timings of a trial with 25 datasets of 2000 transitions, on a grid of n × n. */
static int time_trials(int64_t n, int64_t transitions) {
    enum { CASES = 25, METHODS = 6 };
    pess__grid_case cases[CASES];
    static const pess__grid_method methods[METHODS] = {
        {.kind = GRID_RANDOM}, {.kind = GRID_OPTIMAL},        {.kind = GRID_IMITATION},
        {.kind = GRID_NAIVE},  {.kind = GRID_UA, .alpha = 1}, {.kind = GRID_PROXIMAL, .alpha = 1}};
    for (int i = 0; i < CASES; i++) cases[i] = (pess__grid_case){i / 24.0, transitions};
    pess__grid_plan plan = {.seed = 1,
                            .gamma = 0.99,
                            .beta_a = 1,
                            .beta_b = 3,
                            .clip = true,
                            .case_count = CASES,
                            .method_count = METHODS,
                            .cases = cases,
                            .methods = methods};
    pess__grid_workspace *workspace = NULL;
    pess_error error = {0};
    const double begun = pess__clock();
    if (pess__grid_plan_prepare(&plan, n, n, &error) != PESS_OK) return die(error.message);
    const double planned = pess__clock() - begun;
    if (pess__grid_workspace_create(&plan, &workspace, &error) != PESS_OK) return die(error.message);
    double *out = malloc(GRID_BLOCK * CASES * METHODS * sizeof *out), best = INFINITY;
    if (out == NULL) return die("no memory");
    for (int repeat = 0; repeat < (n > 16 ? 1 : 5); repeat++) {
        const double before = pess__clock();
        if (pess__grid_block(&plan, workspace, repeat * GRID_BLOCK, GRID_BLOCK, out, &error) != PESS_OK)
            return die(error.message);
        best = fmin(best, (pess__clock() - before) / GRID_BLOCK);
    }
    printf("{\"bench\":\"trial\",\"grid\":%lld,\"transitions\":%lld,\"seconds\":%.6f,\"plan_seconds\":%.6f,"
           "\"operations\":%lld}\n",
           (long long)n, (long long)transitions, best, planned,
           (long long)pess__lanes_plan_operations(plan.elimination));
    free(out);
    pess__grid_workspace_destroy(workspace);
    pess__grid_plan_release(&plan);
    return 0;
}

/* One elimination of LANES systems of an n × n torus, and how near it is to what the machine's arithmetic allows. */
static int time_systems(int64_t n) {
    pess__torus torus;
    pess__lanes_plan *plan = NULL;
    pess__lanes lanes;
    pess_error error = {0};
    if (pess__torus_create(n, n, 0.2, &torus, &error) != PESS_OK ||
        pess__lanes_plan_create(torus.states, torus.neighbour, &plan, &error) != PESS_OK ||
        pess__lanes_create(plan, &lanes, &error) != PESS_OK)
        return die(error.message);
    for (int64_t i = 0; i < torus.states * 4 * PESS__LANES; i++) lanes.coefficient[i] = 0.99 / 4;
    for (int64_t i = 0; i < torus.states * 2 * PESS__LANES; i++) lanes.right[i] = 1;
    double best = INFINITY;
    const int inner = n > 16 ? 10 : 300;
    for (int repeat = 0; repeat < 20; repeat++) {
        const double before = pess__clock();
        for (int i = 0; i < inner; i++) PESS__CHOOSE(pess__lanes_solve)(plan, &lanes);
        best = fmin(best, (pess__clock() - before) / inner / PESS__LANES);
    }
    const double flops = 2 * (double)pess__lanes_plan_operations(plan), dense = 2.0 / 3 * pow((double)(n * n), 3);
    printf("{\"bench\":\"system\",\"grid\":%lld,\"lanes\":%d,\"seconds\":%.9f,\"gflops\":%.2f,\"dense_flops_over_"
           "ours\":%.1f,"
           "\"residual\":%.1e}\n",
           (long long)n, PESS__LANES, best, flops / best * 1e-9, dense / flops, fabs(lanes.solution[0] * 0.01 - 1));
    pess__lanes_destroy(&lanes);
    pess__lanes_plan_destroy(plan);
    pess__torus_destroy(&torus);
    return 0;
}

int main(int count, char **arguments) {
    if (count == 5 && strcmp(arguments[1], "figure") == 0)
        return run_figure(arguments[2], atoll(arguments[3]), atoi(arguments[4]));
    if (count != 2 || strcmp(arguments[1], "parts") != 0)
        return die("bench_experiment (figure NAME TRIALS THREADS | parts)");
    static const int64_t grids[] = {8, 16, 32}, sizes[] = {200, 20000, 2000000, 200000000};
    int failed = 0;
    for (int i = 0; i < 3; i++) failed |= time_systems(grids[i]);
    for (int i = 0; i < 3; i++) failed |= time_trials(grids[i], 2000);
    for (int i = 0; i < 4; i++) failed |= time_trials(8, sizes[i]);
    return failed;
}
