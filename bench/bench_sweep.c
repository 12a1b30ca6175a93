/* How near a sweep over all states and actions comes to the memory's bandwidth: bench_sweep THREADS [STATES]. One JSON
 * line per problem: a sweep over the model's own rows, one over packed rows, and a triad a = b + s·c (McCalpin's
 * STREAM) in between; the best of ROUNDS, the three alternating. Processor seconds of a thread, so that what other
 * programs do hardly counts. */
#include "problems.h"

#include "core/ranges.h"
#include "solve/optimise.h"

#include <time.h>

enum { ROUNDS = 40, TRIAD = 8 << 20 };

typedef struct vectors {
    double *a, *b, *c;
} vectors;

static void triad_range(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const vectors *v = context;
    for (int64_t i = from; i < to; i++) v->a[i] = v->b[i] + 3 * v->c[i];
}

/* First touched by the thread that uses it. */
static void touch_range(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const vectors *v = context;
    for (int64_t i = from; i < to; i++) v->a[i] = v->b[i] = v->c[i] = (double)i;
}

/* Every pair has three random next states with probabilities of a few samples, as a log of 20 rows a state has them. */
static pess_mdp *log_like(int64_t states) {
    pess_mdp *mdp = empty_mdp(states, 4, 3);
    pess__rng rng = pess__rng_stream(1, "bench sweep", 0);
    for (int64_t z = 0; z < states * 4; z++) {
        mdp->row[z + 1] = mdp->row[z];
        const double n = 3 + (double)pess__rng_below(&rng, 5), reward = pess__rng_uniform(&rng);
        for (int k = 0; k < 3; k++)
            put_outcome(mdp, z, (int64_t)pess__rng_below(&rng, (uint64_t)states), k < 2 ? 1 / n : 1 - 2 / n, reward);
    }
    return mdp;
}

/* Everything that a sweep reads or writes once, in bytes. */
static double bytes_of(const pess__solver *solver) {
    const pess_model *model = solver->model;
    const int64_t pairs = model->states * model->actions;
    const double values = 2 * sizeof(double) + sizeof(int32_t) + 1; /* v, Tv, the choice, whether it is terminal */
    const double rows = (double)pairs * (sizeof(double) + sizeof(int64_t) + 1) +
                        (double)model->row[pairs] * (sizeof(uint32_t) + sizeof(double));
    return (double)model->states * values +
           (solver->packed != NULL ? (double)pess__packed_bytes(solver->packed) : rows);
}

typedef struct timed {
    double seconds, bytes;
} timed;

static double processor_time(int threads) {
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec) / threads;
}

static void note(timed *best, double seconds, double bytes) {
    if (best->seconds == 0 || seconds < best->seconds) *best = (timed){seconds, bytes};
}

static void time_sweep(pess__solver *solver, timed *best) {
    const double before = processor_time(solver->threads);
    (void)pess__improve(solver, PESS__SWITCH_GAINS, 1e-9);
    note(best, processor_time(solver->threads) - before, bytes_of(solver));
}

static void time_triad(vectors *v, int threads, timed *best) {
    const double before = processor_time(threads);
    pess__ranges(threads, TRIAD, triad_range, v);
    note(best, processor_time(threads) - before, 3.0 * sizeof(double) * TRIAD);
}

static double gigabytes(timed best) { return best.bytes / best.seconds / 1e9; }

static void measure(const char *name, pess_mdp *mdp, double gamma, int threads) {
    pess_error error = {0};
    pess_model *model = NULL;
    must(pess_mdp_model(mdp, 0, &model, &error), &error);
    pess_mdp_destroy(mdp);
    pess_solve_options options = pess_solve_options_defaults();
    options.gamma = gamma;
    const pess__problem problem = {.model = model, .options = &options, .endless = -1, .threads = threads};
    const pess__local local = {0};
    pess__solver plain, packed;
    vectors v = {array(TRIAD, sizeof(double)), array(TRIAD, sizeof(double)), array(TRIAD, sizeof(double))};
    pess__ranges(threads, TRIAD, touch_range, &v);
    must(pess__solver_create(&problem, &local, &plain, &error), &error);
    must(pess__solver_create(&problem, &local, &packed, &error), &error);
    timed rows = {0}, slices = {0}, triad = {0}, unused = {0};
    for (int i = 0; i < 3; i++) time_sweep(&packed, &unused);
    if (packed.packed == NULL) exit(1);
    for (int i = 0; i < ROUNDS; i++) {
        plain.sweeps = 0; /* so that it is never packed */
        time_sweep(&plain, &rows);
        time_sweep(&packed, &slices);
        time_triad(&v, threads, &triad);
    }
    printf("{\"bench\":\"sweep\",\"problem\":\"%s\",\"states\":%lld,\"threads\":%d,\"rows_seconds\":%.4g,"
           "\"rows_bytes\":%.4g,\"packed_seconds\":%.4g,\"packed_bytes\":%.4g,\"rows_gb_s\":%.3g,\"packed_gb_s\":%.3g,"
           "\"triad_gb_s\":%.3g,\"share_of_triad\":%.3g}\n",
           name, (long long)model->states, threads, rows.seconds, rows.bytes, slices.seconds, slices.bytes,
           gigabytes(rows), gigabytes(slices), gigabytes(triad), gigabytes(slices) / gigabytes(triad));
    pess__solver_release(&plain);
    pess__solver_release(&packed);
    pess_model_destroy(model);
    free(v.a);
    free(v.b);
    free(v.c);
}

int main(int argc, char **argv) {
    const int threads = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
    const int64_t states = argc > 2 ? strtoll(argv[2], NULL, 10) : 1000000;
    measure("torus", torus(states), 0.99, threads);
    measure("log", log_like(states), 0.99, threads);
    return 0;
}
