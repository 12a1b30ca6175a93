/* Solving: LU, Krylov, policy iteration on 8×8 gridworld logs, large gridworlds against memory bandwidth. One JSON line
 * per figure. With a file name as argument the small models and the chain are also written there for
 * bench/peer_solve.py. */
#include "bench.h"

#include "core/krylov.h"
#include "core/lu.h"
#include "core/ranges.h"
#include "core/rng.h"
#include "core/threads.h"
#include "model/model.h"
#include "pess.h"
#include "solve/optimise.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ------------------------------------------------------------------------------------------------ LU */

typedef void dgesv_function(const int *n, const int *columns, double *a, const int *lda, int *pivots, double *b,
                            const int *ldb, int *info);

static void fill_system(int64_t n, int64_t stride, double *a) {
    pess__rng rng = pess__rng_stream(1, "bench lu", (uint64_t)n);
    for (int64_t i = 0; i < n; i++) {
        memset(a + i * stride, 0, (size_t)n * sizeof *a);
        a[i * stride + i] = 1;
        for (int k = 0; k < 4; k++) a[i * stride + (int64_t)pess__rng_below(&rng, (uint64_t)n)] -= 0.99 / 4;
    }
}

/* Best of several, interleaved: seconds of a factorisation and solve, and of LAPACK's dgesv where there is one. */
static void bench_lu(int64_t n, int repeats, dgesv_function *dgesv) {
    const int64_t stride = pess__lu_stride(n);
    double *clean = array(n * stride, sizeof(double)), *a = array(n * stride, sizeof(double));
    double *b = array(n, sizeof(double)), best = INFINITY, peer = INFINITY;
    int *pivots = array(n, sizeof(int));
    fill_system(n, stride, clean);
    for (int r = 0; r < repeats; r++) {
        memcpy(a, clean, (size_t)(n * stride) * sizeof *a);
        for (int64_t i = 0; i < n; i++) b[i] = 1;
        double begun = pess__clock();
        pess__lu_factor(a, n, stride, 1);
        pess__lu_solve(a, n, stride, b);
        best = fmin(best, pess__clock() - begun);
        if (dgesv == NULL) continue;
        memcpy(a, clean, (size_t)(n * stride) * sizeof *a);
        for (int64_t i = 0; i < n; i++) b[i] = 1;
        const int size = (int)n, one = 1, lead = (int)stride;
        int info = 0;
        begun = pess__clock();
        dgesv(&size, &one, a, &lead, pivots, b, &size, &info);
        peer = fmin(peer, pess__clock() - begun);
    }
    printf("{\"bench\":\"lu\",\"n\":%lld,\"seconds\":%.3g,\"gflops\":%.2f,\"dgesv_seconds\":%.3g}\n", (long long)n,
           best, 2.0 / 3 * pow((double)n, 3) / best / 1e9, isfinite(peer) ? peer : 0);
    free(clean);
    free(a);
    free(b);
    free(pivots);
}

/* ------------------------------------------------------------------------------------------------ evaluation */

static pess_model *random_chain(int64_t states, int64_t branching) {
    pess_error error = {0};
    pess_garnet_options options = pess_garnet_options_defaults();
    options.states = states;
    options.actions = 1;
    options.branching = branching;
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    must(pess_mdp_garnet(&options, &mdp, &error), &error);
    must(pess_mdp_model(mdp, 0, &model, &error), &error);
    pess_mdp_destroy(mdp);
    return model;
}

static double evaluate_seconds(const pess_model *model, pess_evaluation evaluation, double tolerance, int repeats,
                               double *residual) {
    pess_error error = {0};
    pess_policy *policy = NULL;
    double *start = array(pess_model_states(model), sizeof(double)), best = INFINITY;
    must(pess_policy_uniform(model, &policy, &error), &error);
    must(pess_start_uniform(model, start, &error), &error);
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.evaluation = evaluation;
    options.tolerance = 4 * tolerance;
    options.threads = 1;
    for (int r = 0; r < repeats; r++) {
        pess_solution *solution = NULL;
        pess_solution_info info;
        must(pess_evaluate(NULL, model, start, policy, &options, &solution, &error), &error);
        pess_solution_get_info(solution, &info);
        best = fmin(best, info.seconds);
        *residual = info.residual;
        pess_solution_destroy(solution);
    }
    pess_policy_destroy(policy);
    free(start);
    return best;
}

static void write_chain(const pess_model *model, const char *path) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) return;
    const int64_t states = model->states;
    fwrite(&states, sizeof states, 1, file);
    fwrite(model->row, sizeof(int64_t), (size_t)states + 1, file);
    fwrite(model->next, sizeof(uint32_t), (size_t)model->row[states], file);
    fwrite(model->probability, sizeof(double), (size_t)model->row[states], file);
    fwrite(model->reward, sizeof(double), (size_t)states, file);
    fclose(file);
}

static void bench_evaluation(const char *dump) {
    const int64_t sizes[] = {64, 128, 192, 256, 384, 512, 768, 1024, 3000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        pess_model *model = random_chain(sizes[i], 5);
        double residual[2] = {0, 0}, lu = 0;
        const int repeats = sizes[i] < 500 ? 200 : 30;
        const double krylov = evaluate_seconds(model, PESS_EVALUATION_KRYLOV, 1e-12, repeats, &residual[0]);
        if (sizes[i] <= 1024) lu = evaluate_seconds(model, PESS_EVALUATION_LU, 1e-12, repeats / 5, &residual[1]);
        printf("{\"bench\":\"evaluate\",\"states\":%lld,\"krylov_seconds\":%.3g,\"krylov_residual\":%.2g,"
               "\"lu_seconds\":%.3g,\"lu_residual\":%.2g}\n",
               (long long)sizes[i], krylov, residual[0], lu, residual[1]);
        if (dump != NULL && sizes[i] == 3000) {
            char path[4096];
            (void)snprintf(path, sizeof path, "%s.chain", dump);
            write_chain(model, path);
        }
        pess_model_destroy(model);
    }
}

/* ------------------------------------------------------------------------------------------------ small logs */

enum { LOGS = 40, TRANSITIONS = 2000, REPEATS = 25 };

typedef struct small_log {
    pess_counts *counts;
    pess_model *model;
} small_log;

static small_log make_log(uint64_t seed, double *start) {
    pess_error error = {0};
    small_log log = {NULL, NULL};
    pess_gridworld_options grid = pess_gridworld_options_defaults();
    grid.seed = seed;
    pess_mdp *mdp = NULL;
    pess_model *exact = NULL;
    pess_policy *policy = NULL;
    pess_dataset *data = NULL;
    must(pess_mdp_gridworld(&grid, &mdp, &error), &error);
    must(pess_mdp_model(mdp, 0, &exact, &error), &error);
    must(pess_policy_uniform(exact, &policy, &error), &error);
    must(pess_start_uniform(exact, start, &error), &error);
    pess_simulate_options simulate = pess_simulate_options_defaults();
    simulate.transitions = TRANSITIONS;
    simulate.seed = seed;
    must(pess_simulate(mdp, policy, start, &simulate, &data, &error), &error);
    must(pess_counts_create(data, 0, &log.counts, &error), &error);
    pess_model_options options = pess_model_options_defaults();
    options.unseen = PESS_UNSEEN_PAPER;
    must(pess_model_estimate(log.counts, &options, &log.model, &error), &error);
    pess_dataset_destroy(data);
    pess_policy_destroy(policy);
    pess_model_destroy(exact);
    pess_mdp_destroy(mdp);
    return log;
}

/* r [S*A] (minus the penalty of UA with count), P [S*A*S], per log: what NumPy needs. */
static void write_logs(const small_log *logs, const char *path) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) return;
    for (int i = 0; i < LOGS; i++) {
        const pess_model *model = logs[i].model;
        const int64_t states = model->states, actions = model->actions, head[2] = {states, actions};
        fwrite(head, sizeof head, 1, file);
        fwrite(model->reward, sizeof(double), (size_t)(states * actions), file);
        for (int64_t z = 0; z < states * actions; z++) {
            const double n = (double)pess_counts_pair(logs[i].counts, z / actions, z % actions);
            const double u = n > 0 ? 1 / sqrt(n) : 100;
            fwrite(&u, sizeof u, 1, file);
        }
        for (int64_t z = 0; z < states * actions; z++)
            for (int64_t s = 0; s < states; s++) {
                const double p = pess_model_probability(model, z / actions, z % actions, s);
                fwrite(&p, sizeof p, 1, file);
            }
    }
    fclose(file);
}

static void bench_small(const char *dump) {
    pess_error error = {0};
    double start[64];
    small_log logs[LOGS];
    for (int i = 0; i < LOGS; i++) logs[i] = make_log((uint64_t)i, start);
    const char *names[] = {"naive", "ua", "proximal", "spibb"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        pess_solve_options options = pess_solve_options_defaults();
        options.algorithm = names[k];
        if (strcmp(names[k], "ua") == 0) options.uncertainty = "count";
        options.threads = 1;
        double best[LOGS], mean = 0, value = 0, iterations = 0;
        for (int r = 0; r < REPEATS; r++)
            for (int i = 0; i < LOGS; i++) {
                pess_solution *solution = NULL;
                pess_solution_info info;
                const double begun = pess__clock();
                must(pess_solve(logs[i].counts, logs[i].model, start, &options, &solution, &error), &error);
                pess_solution_get_info(solution, &info);
                pess_solution_destroy(solution);
                const double seconds = pess__clock() - begun;
                best[i] = r == 0 || seconds < best[i] ? seconds : best[i];
                if (r > 0) continue;
                value += info.value / LOGS;
                iterations += (double)info.iterations / LOGS;
            }
        for (int i = 0; i < LOGS; i++) mean += best[i] / LOGS; /* the best of each log: what others do here stays out */
        printf(
            "{\"bench\":\"gridworld-8x8\",\"algorithm\":\"%s\",\"seconds\":%.3g,\"iterations\":%.2f,\"value\":%.12g}\n",
            names[k], mean, iterations, value);
    }
    if (dump != NULL) write_logs(logs, dump);
    for (int i = 0; i < LOGS; i++) {
        pess_counts_destroy(logs[i].counts);
        pess_model_destroy(logs[i].model);
    }
}

/* ------------------------------------------------------------------------------------------------ large grids */

/* a = b + 3c over arrays far larger than the caches, bytes per second. */
static double triad(int threads) {
    const int64_t n = 1 << 23;
    double *a = array(n, sizeof(double)), *b = array(n, sizeof(double)), *c = array(n, sizeof(double));
    double best = INFINITY;
    for (int r = 0; r < 5; r++) {
        const double begun = pess__clock();
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t i = 0; i < n; i++) a[i] = b[i] + 3 * c[i];
        best = fmin(best, pess__clock() - begun);
    }
    free(a);
    free(b);
    free(c);
    return 24.0 * (double)n / best;
}

/* One sweep over all states and actions, best of several. */
static double sweep_seconds(const pess_model *model, const pess_solve_options *options) {
    pess_error error = {0};
    const pess__problem problem = {.model = model, .options = options, .threads = options->threads};
    const pess__local greedy = {0};
    pess__solver solver;
    must(pess__solver_create(&problem, &greedy, &solver, &error), &error);
    double best = INFINITY;
    for (int r = 0; r < 12; r++) {
        const double begun = pess__clock();
        (void)pess__improve(&solver, PESS__SWITCH_GAINS, 0);
        best = fmin(best, pess__clock() - begun);
        double *swap = solver.v;
        solver.v = solver.tv;
        solver.tv = swap;
    }
    pess__solver_release(&solver);
    return best;
}

static void bench_large(int64_t side, int threads) {
    pess_error error = {0};
    pess_gridworld_options grid = pess_gridworld_options_defaults();
    grid.rows = grid.cols = side;
    grid.rewards = PESS_REWARD_MEAN;
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    must(pess_mdp_gridworld(&grid, &mdp, &error), &error);
    must(pess_mdp_model(mdp, 0, &model, &error), &error);
    pess_mdp_destroy(mdp);
    const int64_t states = model->states, entries = model->row[states * model->actions];
    double *start = array(states, sizeof(double));
    must(pess_start_uniform(model, start, &error), &error);
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.tolerance = 1e-6;
    options.threads = threads;
    pess_solution *solution = NULL;
    pess_solution_info info;
    const clock_t ticks = clock();
    must(pess_solve(NULL, model, start, &options, &solution, &error), &error);
    const double processor = (double)(clock() - ticks) / CLOCKS_PER_SEC; /* of all threads; the machine may be shared */
    pess_solution_get_info(solution, &info);
    pess_solution_destroy(solution);
    const double sweep = sweep_seconds(model, &options);
    const double bytes =
        12.0 * (double)entries + (double)(states * model->actions) * (8 + 8 + 1) + 17.0 * (double)states;
    const double bandwidth = triad(threads);
    printf("{\"bench\":\"gridworld-large\",\"states\":%lld,\"threads\":%d,\"seconds\":%.4g,\"cpu_seconds\":%.4g,"
           "\"iterations\":%lld,"
           "\"residual\":%.2g,\"method\":\"%s\",\"sweep_seconds\":%.3g,\"states_sweeps_per_second\":%.3g,"
           "\"sweep_bytes_per_second\":%.3g,\"triad_bytes_per_second\":%.3g}\n",
           (long long)states, threads, info.seconds, processor, (long long)info.iterations, info.residual, info.method,
           sweep, (double)states / sweep, bytes / sweep, bandwidth);
    free(start);
    pess_model_destroy(model);
}

int main(int argc, char **argv) {
    const char *dump = argc > 1 ? argv[1] : NULL;
    const bool quick = argc > 2 && strcmp(argv[2], "quick") == 0; /* no large sizes */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    void *blas = dlopen("libopenblas.so.0", RTLD_NOW);
    dgesv_function *dgesv = NULL;
    if (blas != NULL) {
        void *symbol = dlsym(blas, "dgesv_");
        memcpy(&dgesv, &symbol, sizeof dgesv);
    }
    bench_lu(64, 2000, dgesv);
    bench_lu(256, 200, dgesv);
    if (!quick) bench_lu(1000, 5, dgesv);
    bench_small(dump);
    bench_evaluation(dump);
    const int64_t sides[] = {100, 316, 1000};
    for (size_t i = 0; i < (quick ? 1 : 3); i++)
        for (int threads = 1; threads <= 2; threads++) bench_large(sides[i], threads);
    if (blas != NULL) dlclose(blas);
    return 0;
}
