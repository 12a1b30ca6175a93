/* mpiexec -n 4 test_scale [COUNT]: random logs, counted, solved and certified by one to four processes together and by
 * one alone. Policies must be identical, values within the tolerance of both, files of counts the same bytes. */
#include "test_scale.h"

#include "core/rng.h"
#include "model/counts.h"
#include "model/spread.h"
#include "policy/policy.h"
#include "scale/checkpoint.h"
#include "scale/counting.h"
#include "scale/engine.h"
#include "scale/input.h"
#include "scale/reorder.h"
#include "scale/scale.h"
#include "solve/algorithm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[200];
static int world_rank, world_size;
static long checked;

void check(bool fine, const char *what, int problem, const char *detail) {
    checked++;
    if (fine) return;
    (void)fprintf(stdout, "rank %d of %d, problem %d: %s: %s\n", pess__ranks_all.rank, pess__ranks_all.size, problem,
                  what, detail);
    (void)fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ------------------------------------------------------------------------------------------------ random logs */

typedef struct shape {
    int64_t states, actions, rows, shards;
    bool named, episodes, ends, line; /* line: steps lead to neighbours, so that blocks overlap */
} shape;

static shape shape_of(int problem, pess__rng *rng) {
    shape s = {.states = 1 + (int64_t)(pess__rng_uniform(rng) * (problem % 5 == 0 ? 4 : 40)),
               .actions = 1 + (int64_t)(pess__rng_uniform(rng) * 4),
               .shards = 1 + problem % 3,
               .named = problem % 4 == 1,
               .episodes = problem % 2 == 0,
               .ends = problem % 3 != 0,
               .line = problem % 4 >= 2};
    s.rows = 3 + (int64_t)(pess__rng_uniform(rng) * 30 * (double)s.states);
    if (problem % 5 == 0) s.rows *= 200; /* so many that certificates promise something */
    return s;
}

/* Every third row of pairs is left to chance, so that some are never seen; rewards have few digits, so ties occur. */
static void write_shard(const shape *s, int shard, pess__rng *rng, const char *path) {
    FILE *file = fopen(path, "w");
    (void)fputs(s->episodes ? "episode,step,state,action,reward,next_state,terminal\n"
                            : "state,action,reward,next_state,terminal\n",
                file);
    const char *prefix = s->named ? "s" : "";
    int64_t step = 0, episode = 0, state = (int64_t)(pess__rng_uniform(rng) * (double)s->states);
    for (int64_t i = 0; i < s->rows; i++) {
        const int64_t action = (int64_t)(pess__rng_uniform(rng) * pess__rng_uniform(rng) * (double)s->actions);
        const int64_t near = state + (int64_t)(pess__rng_uniform(rng) * 3) - 1;
        const int64_t far = (int64_t)(pess__rng_uniform(rng) * (double)s->states);
        const int64_t next = !s->line && pess__rng_uniform(rng) < 0.2 ? far : (near + s->states) % s->states;
        const bool end = (s->ends && pess__rng_uniform(rng) < 0.1) || i + 1 == s->rows;
        const double reward = floor(pess__rng_uniform(rng) * 8) / 8 - (action == 1 ? 0 : 0.25);
        if (s->episodes)
            (void)fprintf(file, "%s%lld,%lld,", s->named ? "e" : "", (long long)(episode * 3 + shard), (long long)step);
        (void)fprintf(file, "%s%lld,%lld,%g,%s%lld,%d\n", prefix, (long long)state, (long long)action, reward, prefix,
                      (long long)(end && s->ends ? s->states + 1 : next), end && s->ends);
        step = end ? 0 : step + 1;
        episode += end;
        state = end ? far : next;
    }
    (void)fclose(file);
}

/* ------------------------------------------------------------------------------------------------ the two programs */

static const struct {
    const char *algorithm, *uncertainty;
    double gamma;
    pess_unseen unseen;
} families[] = {
    {"naive", NULL, 0.9, PESS_UNSEEN_PAPER},       {"ua", "count", 0.95, PESS_UNSEEN_PAPER},
    {"ua", "hoeffding", 0.9, PESS_UNSEEN_WORST},   {"ua", "hoeffding-s", 0.9, PESS_UNSEEN_SELF_LOOP},
    {"ua", "l1", 0.9, PESS_UNSEEN_PAPER},          {"ua", "support", 0.95, PESS_UNSEEN_WORST},
    {"robust", "support", 0.9, PESS_UNSEEN_PAPER}, {"robust", "l1", 0.95, PESS_UNSEEN_SELF_LOOP},
    {"proximal", NULL, 0.9, PESS_UNSEEN_PAPER},    {"spibb", NULL, 0.95, PESS_UNSEEN_PAPER},
    {"spibb-leq", NULL, 0.9, PESS_UNSEEN_WORST},   {"soft-spibb", NULL, 0.9, PESS_UNSEEN_PAPER},
    {"naive", NULL, 0.999, PESS_UNSEEN_WORST},
};
enum { FAMILIES = sizeof families / sizeof *families };

/* The nearest other choice at a state is so near that rounding may decide. */
static bool nearly_tied(const pess_model *model, double gamma, const double *values, const double *u, double alpha,
                        int64_t s) {
    const int64_t actions = model->actions;
    double *q = malloc((size_t)(model->states * actions) * sizeof *q), gap = INFINITY;
    if (q == NULL || pess_q_values(model, gamma, values, q, NULL) != PESS_OK) abort();
    const double tie = 1e-8;
    for (int64_t a = 0; a < actions; a++)
        for (int64_t b = 0; b < a; b++) {
            const double x = q[s * actions + a] - (u != NULL ? alpha * u[s * actions + a] : 0);
            const double y = q[s * actions + b] - (u != NULL ? alpha * u[s * actions + b] : 0);
            gap = fmin(gap, fabs(fabs(x - y) - tie));
        }
    free(q);
    return gap < 4e-9;
}

static bool nearly_equal(const double *p, const double *r, int64_t count) {
    double most = 0;
    for (int64_t a = 0; a < count; a++) most = fmax(most, fabs(p[a] - r[a]));
    return most <= 1e-6;
}

/* The own states of both are compared; `numbers` of the one alone are those of all. */
static void compare(int problem, const char *what, const pess__slab *slab, const pess_problem *alone,
                    const pess_solution *together, const pess_solution *one) {
    const pess_model *model = pess_problem_model(alone);
    const int64_t actions = model->actions;
    pess_solution_info a, b;
    pess_solution_get_info(together, &a);
    /* Probabilities that are continuous functions of the values. */
    const bool continuous =
        strcmp(a.algorithm, "soft-spibb") == 0 || (a.uncertainty != NULL && strcmp(a.uncertainty, "hoeffding-s") == 0);
    pess_solution_get_info(one, &b);
    char text[300];
    (void)snprintf(text, sizeof text, "%.12g and %.12g, naive %.12g and %.12g", a.value, b.value, a.naive_value,
                   b.naive_value);
    check(fabs(a.value - b.value) <= 1e-6 && fabs(a.naive_value - b.naive_value) <= 1e-6, what, problem, text);
    check(a.outcome == b.outcome, what, problem, "another outcome");
    for (int64_t s = 0; s < slab->spread.own; s++) {
        const int64_t all = pess__number_in(&slab->spread, s);
        const double x = pess_solution_values(together)[s], y = pess_solution_values(one)[all];
        (void)snprintf(text, sizeof text, "state %lld: value %.12g and %.12g", (long long)all, x, y);
        check(fabs(x - y) <= 1e-6, what, problem, text);
        const double *p = pess_policy_row(pess_solution_policy(together), s),
                     *r = pess_policy_row(pess_solution_policy(one), all);
        if (memcmp(p, r, (size_t)actions * sizeof *p) == 0 || (continuous && nearly_equal(p, r, actions))) continue;
        (void)snprintf(text, sizeof text, "state %lld: another row of the policy (%g %g, alone %g %g)", (long long)all,
                       p[0], actions > 1 ? p[1] : 0, r[0], actions > 1 ? r[1] : 0);
        check(nearly_tied(model, a.gamma, pess_solution_values(one), pess_solution_uncertainty(one), b.alpha, all),
              what, problem, text);
    }
}

static void solve_both(int problem, int family, const char *pattern, const char *alone_path) {
    pess_error error = {0};
    pess_read_options read = pess_read_options_defaults();
    pess_model_options options = pess_model_options_defaults();
    options.unseen = families[family].unseen;
    options.seed = (uint64_t)problem;
    pess_solve_options solve = pess_solve_options_defaults();
    solve.algorithm = families[family].algorithm;
    solve.uncertainty = families[family].uncertainty;
    solve.gamma = families[family].gamma;
    solve.threads = read.threads = 1;
    if (strcmp(solve.algorithm, "robust") == 0) solve.alpha = problem % 2 == 0 ? 1 : 0.5;
    char what[80];
    (void)snprintf(what, sizeof what, "%s %s", solve.algorithm, solve.uncertainty != NULL ? solve.uncertainty : "");
    pess_problem *together = NULL, *alone = NULL;
    pess_solution *a = NULL, *b = NULL;
    check(pess__read_together(pattern, &read, &options, NULL, &together, &error) == PESS_OK, what, problem,
          error.message);
    check(pess_problem_read(alone_path, &read, &options, NULL, &alone, &error) == PESS_OK, what, problem,
          error.message);
    const pess_status first = pess_solve(pess_problem_counts(together), pess_problem_model(together),
                                         pess_problem_start(together), &solve, &a, &error);
    const pess_status second = pess_solve(pess_problem_counts(alone), pess_problem_model(alone),
                                          pess_problem_start(alone), &solve, &b, &error);
    check(first == second, what, problem, error.message);
    const pess__slab *slab = pess__slab_of(pess_problem_model(together));
    if (first == PESS_OK) {
        compare(problem, what, slab, alone, a, b);
        pess_thin_place thin[5], thin_alone[5];
        int64_t found = 0, found_alone = 0;
        check(pess_thin_places(pess_problem_counts(together), pess_problem_model(together),
                               pess_problem_start(together), pess_solution_policy(a), &solve, 5, thin, &found,
                               &error) == PESS_OK &&
                  pess_thin_places(pess_problem_counts(alone), pess_problem_model(alone), pess_problem_start(alone),
                                   pess_solution_policy(b), &solve, 5, thin_alone, &found_alone, &error) == PESS_OK,
              what, problem, error.message);
        check(found == found_alone, what, problem, "another number of thin places");
        check(found == 0 || fabs(thin[0].visits - thin_alone[0].visits) < 1e-6 ||
                  fabs(thin[0].visits / sqrt((double)thin[0].count) -
                       thin_alone[0].visits / sqrt((double)thin_alone[0].count)) < 1e-6,
              what, problem, "other visits");
    }
    pess_solution_destroy(a);
    pess_solution_destroy(b);
    pess_problem_destroy(together);
    pess_problem_destroy(alone);
    pess__slab_destroy((pess__slab *)slab);
}

/* Values that are kept where states have other places are taken up where they have none: both go by number. */
static void keep_and_take(int problem, const char *pattern) {
    static const pess__reorder ways[] = {PESS__REORDER_ON, PESS__REORDER_OFF};
    pess_error error = {0};
    char path[300];
    (void)snprintf(path, sizeof path, "%s/p%d.values", directory, problem);
    pess__checkpoint_set(path, 0);
    for (int way = 0; way < 2; way++) {
        pess_problem *shared = NULL;
        pess__reorder_set(ways[way]);
        check(pess__read_together(pattern, NULL, NULL, NULL, &shared, &error) == PESS_OK, "checkpoint", problem,
              error.message);
        const pess__slab *slab = pess__slab_of(pess_problem_model(shared));
        double *v = calloc((size_t)slab->places, sizeof *v);
        for (int64_t s = 0; v != NULL && way == 0 && s < slab->spread.own; s++)
            v[s] = sqrt((double)pess__number_in(&slab->spread, s));
        check((way == 0 ? pess__checkpoint_keep(slab, v, &error) : pess__checkpoint_take(slab, v, &error)) == PESS_OK,
              "checkpoint", problem, error.message);
        for (int64_t s = 0; s < slab->spread.own; s++)
            check(v[s] == sqrt((double)pess__number_in(&slab->spread, s)), "checkpoint", problem, "another value");
        free(v);
        pess_problem_destroy(shared);
        pess__slab_destroy((pess__slab *)slab);
    }
    pess__checkpoint_done();
    pess__checkpoint_set(NULL, 0);
}

static bool same_bytes(const char *a, const char *b) {
    FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
    bool same = x != NULL && y != NULL;
    for (int c = 0, d = 0; same && c != EOF;) same = (c = fgetc(x)) == (d = fgetc(y));
    if (x != NULL) (void)fclose(x);
    if (y != NULL) (void)fclose(y);
    return same;
}

/* ------------------------------------------------------------------------------------------------ all of them */

/* The first `size` processes are those that work; the others wait. */
static bool work_as(int size) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < size ? 0 : 1, world_rank, &comm);
    pess__ranks_all.comm = comm;
    MPI_Comm_rank(comm, &pess__ranks_all.rank);
    MPI_Comm_size(comm, &pess__ranks_all.size);
    return world_rank < size;
}

static void one_problem(int problem) {
    char pattern[300], merged[300], counted[300], path[300];
    pess_error error = {0};
    pess__rng rng = pess__rng_stream(17, "scale", (uint64_t)problem);
    const shape s = shape_of(problem, &rng);
    (void)snprintf(pattern, sizeof pattern, "%s/p%d-*.csv", directory, problem);
    (void)snprintf(merged, sizeof merged, "%s/p%d.pesscounts", directory, problem);
    (void)snprintf(counted, sizeof counted, "%s/p%d-together.pesscounts", directory, problem);
    if (world_rank == 0) {
        char paths[3][300];
        const char *list[3] = {paths[0], paths[1], paths[2]};
        for (int64_t i = 0; i < s.shards; i++) {
            (void)snprintf(paths[i], sizeof paths[i], "%s/p%d-%d.csv", directory, problem, (int)i);
            write_shard(&s, (int)i, &rng, paths[i]);
        }
        check(pess_counts_merge(list, (size_t)s.shards, NULL, merged, &error) == PESS_OK, "merge", problem,
              error.message);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    (void)snprintf(path, sizeof path, "%s/p%d-0.csv", directory, problem);
    const int size = 1 + problem % world_size;
    pess__reorder_set(problem % 3 != 1 ? PESS__REORDER_ON : PESS__REORDER_OFF);
    pess__scale_packed_from = problem % 4 != 0 ? 1 : INT64_MAX; /* most sweep packed rows, where those fit */
    if (work_as(size)) {
        const char *const patterns[] = {pattern};
        check(pess_scale_count(patterns, 1, NULL, counted, &error) == PESS_OK, "count", problem, error.message);
        if (pess__ranks_all.rank == 0)
            check(same_bytes(merged, counted), "count", problem, "other bytes than pess merge");
        MPI_Barrier(pess__ranks_all.comm);
        for (int k = 0; k < 3; k++)
            solve_both(problem, (problem + k * 5) % FAMILIES, s.shards == 1 && problem % 2 == 0 ? path : pattern,
                       s.shards == 1 ? path : merged);
        keep_and_take(problem, pattern);
        pess__reorder_set(problem % 3 != 1 ? PESS__REORDER_ON : PESS__REORDER_OFF);
        certify_both(problem, s.shards == 1 ? merged : pattern, merged);
        MPI_Barrier(pess__ranks_all.comm);
        if (pess__ranks_all.rank == 0) {
            for (int i = 0; i < 3; i++) {
                (void)snprintf(path, sizeof path, "%s/p%d-%d.csv", directory, problem, i);
                (void)unlink(path);
            }
            (void)unlink(merged);
            (void)unlink(counted);
        }
    }
    MPI_Comm_free(&pess__ranks_all.comm);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* More states than one program can have are possible, where each rank's are not. */
static void check_limits(void) {
    pess_error error = {0};
    const int64_t many = 4 * PESS_MAX_STATES;
    check(pess__check_shares(many, PESS_MAX_STATES, 4, &error) == PESS_OK, "limits", 0, error.message);
    check(pess__check_shares(many, PESS_MAX_STATES + 1, 4, &error) == PESS_LIMIT, "limits", 0, "a share too large");
    check(pess__check_shares(many, PESS_MAX_STATES, 9, &error) == PESS_LIMIT, "limits", 0, "too many pairs");
    check(pess__check_shares((int64_t)1 << 32, 1, 4, &error) == PESS_LIMIT, "limits", 0, "too many numbers");
}

int main(int argc, char **argv) {
    pess_error error = {0};
    int count = argc > 1 ? atoi(argv[1]) : 200;
    const int from = argc > 2 ? atoi(argv[2]) : 0;
    argc = 1;
    argv[1] = NULL;
    if (pess_scale_begin(&argc, argv, &error) != PESS_OK) return 2;
    pess__with_others = NULL;
    check_limits();
    world_rank = pess__ranks_all.rank;
    world_size = pess__ranks_all.size;
    const pess__ranks all = pess__ranks_all;
    (void)snprintf(directory, sizeof directory, "/tmp/test_scale.XXXXXX");
    if (world_rank == 0 && mkdtemp(directory) == NULL) return 2;
    MPI_Bcast(directory, sizeof directory, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = from; i < from + count; i++) one_problem(i);
    pess__ranks_all = all;
    if (world_rank == 0) (void)rmdir(directory);
    if (world_rank == 0)
        (void)printf("%d problems, %ld checks on the first process, %d certificates that promise something, %d that "
                     "recommend a switch\n",
                     count, checked, promising, switching);
    if (world_rank == 0)
        check(count < 16 || (promising > 0 && switching > 0), "certificates", count, "none promises anything");
    return pess_scale_end(0, false);
}
