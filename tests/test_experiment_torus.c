/* The fast engine of the gridworld experiments against plain ones: dense elimination with pivoting, policies by brute
 * force, transitions drawn one by one. */
#include "fixture.h"

#include "experiment/torus_solve.h"

enum { A = TORUS_ACTIONS, LANES = PESS__LANES };

/* ---- plain versions */

typedef struct world {
    pess__torus torus;
    pess__lanes_plan *plan;
    pess__torus_solver solver;
} world;

static void make_world(int64_t rows, int64_t cols, double gamma, world *w) {
    memset(w, 0, sizeof *w);
    assert_int_equal(pess__torus_create(rows, cols, 0.2, &w->torus, NULL), PESS_OK);
    assert_int_equal(pess__lanes_plan_create(w->torus.states, w->torus.neighbour, &w->plan, NULL), PESS_OK);
    assert_int_equal(pess__torus_solver_create(&w->torus, w->plan, gamma, &w->solver, NULL), PESS_OK);
}

static void free_world(world *w) {
    pess__torus_solver_destroy(&w->solver);
    pess__lanes_plan_destroy(w->plan);
    pess__torus_destroy(&w->torus);
}

static pess__torus_model make_model(int64_t states) {
    return (pess__torus_model){calloc((size_t)(states * A * A), 8), calloc((size_t)(states * A), 8),
                               calloc((size_t)(states * A), 8)};
}

static void free_model(pess__torus_model *m) {
    free(m->probability);
    free(m->reward);
    free(m->unseen);
}

/* P of a policy, dense [n*n]. */
static double *dense_chain(const pess__torus *t, const pess__torus_model *m, const double *policy) {
    const int64_t n = t->states;
    double *p = calloc((size_t)(n * n), 8);
    for (int64_t s = 0; s < n; s++)
        for (int64_t a = 0; a < A; a++) {
            for (int64_t d = 0; d < A; d++)
                p[s * n + t->neighbour[s * A + d]] += policy[s * A + a] * m->probability[(s * A + d) * A + a];
            for (int64_t j = 0; j < n; j++) p[s * n + j] += policy[s * A + a] * m->unseen[s * A + a] / (double)n;
        }
    return p;
}

/* Values of a policy, rewards given, penalty α·TV to `imitation` where it is not NULL. */
static void dense_values(const pess__torus *t, const pess__torus_model *m, const double *reward, const double *policy,
                         double gamma, double alpha, const double *imitation, double *v) {
    const int64_t n = t->states;
    double *p = dense_chain(t, m, policy);
    for (int64_t i = 0; i < n * n; i++) p[i] = (i % (n + 1) == 0 ? 1 : 0) - gamma * p[i];
    for (int64_t s = 0; s < n; s++) {
        v[s] = 0;
        for (int64_t a = 0; a < A; a++) {
            v[s] += policy[s * A + a] * reward[s * A + a];
            if (imitation != NULL) v[s] -= alpha * fmax(policy[s * A + a] - imitation[s * A + a], 0);
        }
    }
    fixture_linear_solve(p, v, n);
    free(p);
}

static double dense_q(const pess__torus *t, const pess__torus_model *m, const double *reward, double gamma,
                      const double *v, int64_t s, int64_t a) {
    double next = 0, mean = 0;
    for (int64_t d = 0; d < A; d++) next += m->probability[(s * A + d) * A + a] * v[t->neighbour[s * A + d]];
    for (int64_t j = 0; j < t->states; j++) mean += v[j] / (double)t->states;
    return reward[s * A + a] + gamma * (next + m->unseen[s * A + a] * mean);
}

/* ---- data: a small dataset with unseen pairs and states */

typedef struct sample {
    pess__torus_model truth, model;
    double *imitation, *root, *cumulative;
    pess__torus_counts counts;
} sample;

static sample make_sample(const pess__torus *t, uint64_t seed, int64_t n) {
    const size_t pairs = (size_t)t->states * A;
    sample x = {make_model(t->states), make_model(t->states),
                calloc(pairs, 8),      calloc(pairs, 8),
                calloc(pairs + 1, 8),  {calloc(pairs, 8), calloc(pairs, 8), calloc(pairs * A, 8)}};
    pess__rng rng = pess__rng_stream(seed, "test-torus", 0);
    pess__torus_draw(t, 1, 3, &rng, &x.truth);
    for (size_t z = 0; z < pairs; z++) x.cumulative[z + 1] = x.cumulative[z] + pess__rng_uniform(&rng);
    pess__torus_sample(t, &x.truth, x.cumulative, n, &rng, &x.counts);
    pess__torus_estimate(t, &x.counts, &rng, &x.model, x.imitation, x.root);
    return x;
}

static void free_sample(sample *x) {
    free_model(&x->truth);
    free_model(&x->model);
    free(x->imitation);
    free(x->root);
    free(x->cumulative);
    free(x->counts.pair);
    free(x->counts.success);
    free(x->counts.move);
}

/* ---- tests */

static void evaluation_agrees_with_a_dense_solve(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{8, 8}, {5, 7}, {2, 3}, {1, 4}, {1, 1}, {2, 2}, {9, 4}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        world w;
        make_world(sizes[i][0], sizes[i][1], 0.97, &w);
        const int64_t n = w.torus.states;
        enum { JOBS = 2 * LANES + 3 };
        sample x = make_sample(&w.torus, i, 2 * n);
        pess__torus_job jobs[JOBS];
        double *policies = calloc((size_t)(JOBS * n * A), 8), *values = calloc((size_t)(JOBS * n), 8);
        pess__rng rng = pess__rng_stream(i, "test-policies", 0);
        for (int64_t j = 0; j < JOBS; j++) {
            for (int64_t s = 0; s < n; s++) {
                double sum = 0;
                double *row = policies + (j * n + s) * A;
                for (int64_t a = 0; a < A; a++) sum += row[a] = pess__rng_uniform(&rng);
                for (int64_t a = 0; a < A; a++) row[a] /= sum;
            }
            jobs[j] = (pess__torus_job){.kind = TORUS_EVALUATE,
                                        .truth = &x.model, /* with unseen pairs, which have their own formula */
                                        .policy = policies + j * n * A,
                                        .values = values + j * n};
        }
        pess__torus_run_jobs(&w.solver, jobs, JOBS);
        double *v = calloc((size_t)n, 8);
        for (int64_t j = 0; j < JOBS; j++) {
            double mean = 0;
            dense_values(&w.torus, &x.model, x.model.reward, jobs[j].policy, 0.97, 0, NULL, v);
            for (int64_t s = 0; s < n; s++) {
                assert_true(fabs(values[j * n + s] - v[s]) < 1e-10);
                mean += v[s] / (double)n;
            }
            assert_true(fabs(jobs[j].value - mean) < 1e-10);
        }
        free(v);
        free(values);
        free(policies);
        free_sample(&x);
        free_world(&w);
    }
}

/* The optimality equation, with q from the dense side: v(s) = max over the local problem, and the policy attains it. */
static void check_optimal(const world *w, const sample *x, const pess__torus_job *job, double gamma) {
    const int64_t n = w->torus.states;
    double *v = calloc((size_t)n, 8);
    const double *imitation = job->kind == TORUS_PROXIMAL ? job->imitation : NULL;
    dense_values(&w->torus, &x->model, job->reward, job->policy, gamma, job->alpha, imitation, v);
    for (int64_t s = 0; s < n; s++) {
        double q[A], best = -INFINITY, sum = 0;
        for (int64_t a = 0; a < A; a++) {
            q[a] = dense_q(&w->torus, &x->model, job->reward, gamma, v, s, a);
            best = fmax(best, q[a]);
            assert_true(job->policy[s * A + a] >= 0);
            sum += job->policy[s * A + a];
        }
        assert_true(fabs(sum - 1) < 1e-12);
        if (imitation != NULL) { /* for each vertex of the trade-off: move everything from a subset to the best */
            double value = 0;
            for (int subset = 0; subset < 16; subset++) {
                double moved = 0, kept = 0;
                for (int64_t a = 0; a < A; a++) {
                    if (subset >> a & 1)
                        moved += imitation[s * A + a];
                    else
                        kept += imitation[s * A + a] * q[a];
                }
                value = subset == 0 ? kept : fmax(value, kept + moved * (best - job->alpha));
            }
            best = value;
        }
        assert_true(fabs(v[s] - best) < 2e-8);
    }
    free(v);
}

static void policy_iteration_finds_the_best_policy(void **state) {
    (void)state;
    const double gamma = 0.99;
    for (uint64_t seed = 0; seed < 12; seed++) {
        world w;
        make_world(seed % 2 == 0 ? 8 : 3, seed % 2 == 0 ? 8 : 5, gamma, &w);
        const int64_t n = w.torus.states;
        sample x = make_sample(&w.torus, 100 + seed, 30 + 400 * (int64_t)seed);
        double *policy = calloc((size_t)(3 * n * A), 8);
        pess__torus_job jobs[3] = {{.kind = TORUS_GREEDY, .model = &x.model, .reward = x.model.reward},
                                   {.kind = TORUS_PROXIMAL,
                                    .model = &x.model,
                                    .reward = x.model.reward,
                                    .imitation = x.imitation,
                                    .alpha = 0.3},
                                   {.kind = TORUS_PROXIMAL,
                                    .model = &x.model,
                                    .reward = x.model.reward,
                                    .imitation = x.imitation,
                                    .alpha = 1e9}};
        for (int j = 0; j < 3; j++) {
            jobs[j].policy = policy + j * n * A;
            jobs[j].truth = &x.truth;
        }
        pess__torus_run_jobs(&w.solver, jobs, 3);
        check_optimal(&w, &x, &jobs[0], gamma);
        check_optimal(&w, &x, &jobs[1], gamma);
        /* no price is worth paying: imitation exactly */
        assert_memory_equal(jobs[2].policy, x.imitation, (size_t)(n * A) * sizeof(double));
        free(policy);
        free_sample(&x);
        free_world(&w);
    }
}

/* What a lane computes does not depend on its neighbours, to the last bit. */
static void test_lanes_are_independent(void **state) {
    (void)state;
    world w;
    make_world(8, 8, 0.99, &w);
    sample x = make_sample(&w.torus, 5, 500);
    enum { JOBS = 3 * LANES + 1 };
    double *policies = calloc((size_t)JOBS * 64 * A, 8), together[JOBS];
    pess__torus_job jobs[JOBS];
    for (int round = 0; round < 2; round++) {
        for (int j = 0; j < JOBS; j++)
            jobs[j] = (pess__torus_job){.kind = j % 2 ? TORUS_PROXIMAL : TORUS_GREEDY,
                                        .model = &x.model,
                                        .reward = x.model.reward,
                                        .imitation = x.imitation,
                                        .alpha = 0.1 * j,
                                        .truth = &x.truth,
                                        .policy = policies + j * 64 * A};
        if (round == 0) pess__torus_run_jobs(&w.solver, jobs, JOBS);
        for (int j = 0; j < JOBS; j++) {
            if (round == 1) pess__torus_run_jobs(&w.solver, &jobs[j], 1);
            if (round == 0)
                together[j] = jobs[j].value;
            else
                assert_memory_equal(&together[j], &jobs[j].value, sizeof(double));
        }
    }
    free(policies);
    free_sample(&x);
    free_world(&w);
}

static void the_stationary_law_is_stationary(void **state) {
    (void)state;
    world w;
    make_world(6, 5, 0.9, &w);
    const int64_t n = w.torus.states;
    sample x = make_sample(&w.torus, 9, 100);
    double *policy = calloc((size_t)(n * A), 8), *law = calloc((size_t)n, 8);
    for (int64_t z = 0; z < n * A; z++) policy[z] = z % A == (z / A) % A ? 0.7 : 0.1;
    const pess__torus_model *truth[1] = {&x.truth};
    const double *policies[1] = {policy};
    double *laws[1] = {law};
    pess__torus_stationary(&w.solver, 1, truth, policies, laws);
    double *p = dense_chain(&w.torus, &x.truth, policy), sum = 0;
    for (int64_t j = 0; j < n; j++) {
        double flow = 0;
        for (int64_t i = 0; i < n; i++) flow += law[i] * p[i * n + j];
        assert_true(fabs(flow - law[j]) < 1e-13);
        assert_true(law[j] > 0);
        sum += law[j];
    }
    assert_true(fabs(sum - 1) < 1e-12);
    free(p);
    free(policy);
    free(law);
    free_sample(&x);
    free_world(&w);
}

/* Counts against transitions drawn one by one: a 1×2 torus with one action taken in each state is small enough for the
 * whole distribution of a dataset. Three transitions; every cell (pair, reward, direction) has a known probability, so
 * the joint counts are multinomial. All 4-cell datasets are enumerated; chi-square at 1e-6. */
static void test_counts_equal_transitions(void **state) {
    (void)state;
    enum { DRAWS = 200000, CELLS = 2 * 2 * A };
    pess__torus torus;
    assert_int_equal(pess__torus_create(1, 2, 0.2, &torus, NULL), PESS_OK);
    pess__torus_model truth = make_model(2);
    truth.reward[0] = 0.3;
    truth.reward[A + 2] = 0.8;
    /* state 0 takes action 0, state 1 action 2 */
    const double weight[2] = {0.35, 0.65};
    double cumulative[2 * A + 1] = {0};
    for (int z = 0; z < 2 * A; z++)
        cumulative[z + 1] = cumulative[z] + (z == 0 ? weight[0] : z == A + 2 ? weight[1] : 0);
    int64_t pair[2 * A], success[2 * A], move[2 * A * A];
    pess__torus_counts counts = {pair, success, move};
    pess__rng rng = pess__rng_stream(11, "test-counts", 0), single = pess__rng_stream(11, "test-single", 0);
    /* the statistic: (n(0), successes, moves that go the intended way), 4 × 4 × 4 transitions */
    double of_counts[64] = {0}, of_singles[64] = {0};
    for (int t = 0; t < DRAWS; t++) {
        pess__torus_sample(&torus, &truth, cumulative, 3, &rng, &counts);
        int64_t total = 0;
        for (int z = 0; z < 2 * A; z++) {
            int64_t moves = 0;
            for (int d = 0; d < A; d++) moves += move[z * A + d];
            assert_int_equal(moves, pair[z]);
            total += pair[z];
        }
        assert_int_equal(total, 3);
        of_counts[pair[0] * 16 + (success[0] + success[A + 2]) * 4 + move[0] + move[(A + 2) * A + 2]]++;
        int first = 0, paid = 0, intended = 0;
        for (int i = 0; i < 3; i++) {
            const bool zero = pess__rng_uniform(&single) < weight[0];
            first += zero;
            paid += pess__rng_uniform(&single) < (zero ? 0.3 : 0.8);
            const bool slips = pess__rng_uniform(&single) < 0.2;
            intended += !slips || pess__rng_below(&single, A) == (zero ? 0U : 2U);
        }
        of_singles[first * 16 + paid * 4 + intended]++;
    }
    /* exact: sum over k of the three transitions being (state, paid, intended) */
    double exact[64] = {0};
    for (int code = 0; code < 512; code++) {
        double p = 1;
        int first = 0, paid = 0, intended = 0;
        for (int i = 0; i < 3; i++) {
            const int bits = code >> 3 * i & 7;
            const bool zero = bits & 1, pays = bits & 2, hits = bits & 4;
            const double mean = zero ? 0.3 : 0.8;
            p *= (zero ? weight[0] : weight[1]) * (pays ? mean : 1 - mean) * (hits ? 0.85 : 0.15);
            first += zero;
            paid += pays;
            intended += hits;
        }
        exact[first * 16 + paid * 4 + intended] += p;
    }
    double chi[2] = {0, 0};
    int cells = 0;
    for (int i = 0; i < 64; i++) {
        const double expected = DRAWS * exact[i];
        chi[0] += (of_counts[i] - expected) * (of_counts[i] - expected) / expected;
        chi[1] += (of_singles[i] - expected) * (of_singles[i] - expected) / expected;
        cells++;
    }
    /* 63 degrees of freedom: the upper 1e-6 quantile is 131.4 */
    assert_int_equal(cells, 64);
    assert_true(chi[0] < 131.4);
    assert_true(chi[1] < 131.4);
    free_model(&truth);
    pess__torus_destroy(&torus);
}

/* Exact first and second moments of n(s,a): n·w and n·w(1-w), covariance -n·w·w'. 4.9 standard errors: 1e-6. */
static void counts_have_the_right_moments(void **state) {
    (void)state;
    enum { DRAWS = 40000, N = 5000 };
    pess__torus torus;
    assert_int_equal(pess__torus_create(2, 2, 0.2, &torus, NULL), PESS_OK);
    sample x = make_sample(&torus, 21, 10);
    const double total = x.cumulative[16], w0 = x.cumulative[1] / total,
                 w5 = (x.cumulative[6] - x.cumulative[5]) / total;
    pess__rng rng = pess__rng_stream(13, "test-moments", 0);
    double sum = 0, square = 0, cross = 0;
    for (int t = 0; t < DRAWS; t++) {
        pess__torus_sample(&torus, &x.truth, x.cumulative, N, &rng, &x.counts);
        const double a = (double)x.counts.pair[0] - N * w0, b = (double)x.counts.pair[5] - N * w5;
        sum += a;
        square += a * a;
        cross += a * b;
    }
    const double variance = N * w0 * (1 - w0), other = N * w5 * (1 - w5);
    assert_true(fabs(sum / DRAWS) < 4.9 * sqrt(variance / DRAWS));
    assert_true(fabs(square / DRAWS - variance) < 4.9 * variance * sqrt(2.1 / DRAWS));
    assert_true(fabs(cross / DRAWS + N * w0 * w5) < 4.9 * sqrt(1.5 * variance * other / DRAWS));
    free_sample(&x);
    pess__torus_destroy(&torus);
}

/* The variants for every processor and for newer ones give the same numbers, to the last bit. */
static void torus_jobs_are_the_same_on_every_processor(void **state) {
    (void)state;
    enum { JOBS = LANES + 3 };
    world w;
    make_world(5, 4, 0.97, &w);
    const int64_t n = w.torus.states;
    sample x = make_sample(&w.torus, 3, 2 * n);
    double *policies = calloc((size_t)(2 * JOBS * n * A), sizeof *policies);
    double *values = calloc((size_t)(2 * JOBS * n), sizeof *values);
    pess__torus_job jobs[2 * JOBS];
    for (int64_t j = 0; j < 2 * JOBS; j++)
        jobs[j] = (pess__torus_job){.kind = TORUS_GREEDY,
                                    .model = &x.model,
                                    .reward = x.model.reward,
                                    .truth = &x.model,
                                    .policy = policies + j * n * A,
                                    .values = values + j * n};
    pess__torus_run_jobs(&w.solver, jobs, JOBS);
    pess__cpu_portable_only(true);
    pess__torus_run_jobs(&w.solver, jobs + JOBS, JOBS);
    pess__cpu_portable_only(false);
    assert_memory_equal(values, values + JOBS * n, (size_t)(JOBS * n) * sizeof *values);
    assert_memory_equal(policies, policies + JOBS * n * A, (size_t)(JOBS * n * A) * sizeof *policies);
    free(policies);
    free(values);
    free_sample(&x);
    free_world(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(evaluation_agrees_with_a_dense_solve),
                                       cmocka_unit_test(policy_iteration_finds_the_best_policy),
                                       cmocka_unit_test(the_stationary_law_is_stationary),
                                       cmocka_unit_test(test_lanes_are_independent),
                                       cmocka_unit_test(counts_have_the_right_moments),
                                       cmocka_unit_test(test_counts_equal_transitions),
                                       cmocka_unit_test(torus_jobs_are_the_same_on_every_processor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
