/* Krylov: true residuals, the fallback to GMRES, determinism, stopping. */
#include "fixture.h"

#include "core/krylov.h"

/* A dense matrix as an operator. */
typedef struct dense {
    int64_t n;
    const double *a;
} dense;

static void apply(const void *context, const double *x, double *y) {
    const dense *d = context;
    for (int64_t i = 0; i < d->n; i++) {
        y[i] = 0;
        for (int64_t j = 0; j < d->n; j++) y[i] += d->a[i * d->n + j] * x[j];
    }
}

static double residual_of(const dense *d, const double *x, const double *b) {
    double most = 0;
    for (int64_t i = 0; i < d->n; i++) {
        double sum = b[i];
        for (int64_t j = 0; j < d->n; j++) sum -= d->a[i * d->n + j] * x[j];
        if (fabs(sum) > most) most = fabs(sum);
    }
    return most;
}

static pess__krylov_result solve(const dense *d, const double *b, double *x, double tolerance) {
    pess_error error = {0};
    pess__krylov krylov;
    pess__krylov_result result;
    OK(pess__krylov_create(d->n, 1, &krylov, &error));
    krylov.apply = apply;
    krylov.context = d;
    OK(pess__krylov_solve(&krylov, b, x, tolerance, 10000, &result, &error));
    pess__krylov_release(&krylov);
    return result;
}

static void random_chains_are_solved(void **state) {
    (void)state;
    enum { N = 60 };
    static double a[N * N], b[N], x[N];
    for (uint64_t seed = 0; seed < 30; seed++) {
        pess__rng rng = pess__rng_stream(seed, "krylov", 0);
        memset(a, 0, sizeof a);
        for (int i = 0; i < N; i++) {
            a[i * N + i] = 1;
            for (int k = 0; k < 3; k++) a[i * N + (int)pess__rng_below(&rng, N)] -= 0.999 / 3;
            b[i] = pess__rng_uniform(&rng) - 0.3;
            x[i] = pess__rng_uniform(&rng);
        }
        const dense d = {N, a};
        const pess__krylov_result result = solve(&d, b, x, 1e-10);
        assert_true(result.converged);
        assert_true(result.iterations > 0);
        assert_true(fabs(result.residual - residual_of(&d, x, b)) <= 1e-12);
        assert_true(result.residual <= 1e-10);
    }
}

/* A rotation by a right angle: t·s = 0 in the first step, so that BiCGSTAB breaks down at once; GMRES needs two. */
static void breakdown_falls_back(void **state) {
    (void)state;
    const double a[4] = {0, 1, -1, 0}, b[2] = {1, 2};
    double x[2] = {0, 0};
    const dense d = {2, a};
    const pess__krylov_result result = solve(&d, b, x, 1e-12);
    assert_true(result.converged);
    assert_true(fabs(x[0] + 2) <= 1e-12 && fabs(x[1] - 1) <= 1e-12);
}

/* A singular system without a solution: said so, and x is no worse than before. */
static void no_solution_is_admitted(void **state) {
    (void)state;
    const double a[4] = {1, 1, 1, 1}, b[2] = {1, -1};
    double x[2] = {0, 0};
    const dense d = {2, a};
    const pess__krylov_result result = solve(&d, b, x, 1e-12);
    assert_false(result.converged);
    assert_true(result.residual >= 0.99 && result.residual <= 1.01);
    assert_true(fabs(result.residual - residual_of(&d, x, b)) <= 1e-12);
}

static bool refuse(void *user) {
    (void)user;
    return false;
}

static void stops_when_told(void **state) {
    (void)state;
    pess_error error = {0};
    const double a[4] = {1, 0.5, 0, 1}, b[2] = {1, 1};
    double x[2] = {0, 0};
    const dense d = {2, a};
    pess__krylov krylov;
    pess__krylov_result result;
    OK(pess__krylov_create(2, 1, &krylov, &error));
    krylov.apply = apply;
    krylov.context = &d;
    krylov.keep_going = refuse;
    OK(pess__krylov_solve(&krylov, b, x, 1e-12, 100, &result, &error));
    assert_true(result.stopped);
    assert_false(result.converged);
    pess__krylov_release(&krylov);
}

static void sums_do_not_depend_on_threads(void **state) {
    (void)state;
    pess_error error = {0};
    const int64_t n = 200003;
    double *x = NULL, *y = NULL, first = 0;
    OK(pess__allocate(&x, n, sizeof(double), "x", &error));
    OK(pess__allocate(&y, n, sizeof(double), "y", &error));
    pess__rng rng = pess__rng_stream(1, "sums", 0);
    double plain = 0;
    for (int64_t i = 0; i < n; i++) {
        x[i] = pess__rng_normal(&rng);
        y[i] = pess__rng_normal(&rng);
        plain += x[i] * y[i];
    }
    for (int threads = 1; threads <= 4; threads++) {
        pess__krylov krylov;
        OK(pess__krylov_create(n, threads, &krylov, &error));
        const double dot = pess__dot(&krylov, x, y);
        if (threads == 1) first = dot;
        assert_true(dot == first);
        assert_true(fabs(dot - plain) <= 1e-9);
        pess__krylov_release(&krylov);
    }
    free(x);
    free(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_chains_are_solved),
                                       cmocka_unit_test(breakdown_falls_back),
                                       cmocka_unit_test(no_solution_is_admitted), cmocka_unit_test(stops_when_told),
                                       cmocka_unit_test(sums_do_not_depend_on_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
