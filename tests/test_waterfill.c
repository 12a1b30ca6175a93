/* Water-filling against the sorted plain version, a grid over the simplex, random search and the conditions of
 * optimality. */
#include "sampled.h"

#include "solve/waterfill.h"

static double objective(const double *q, const double *w, const double *pi, int64_t actions, double strength) {
    double gain = 0, square = 0;
    for (int64_t a = 0; a < actions; a++)
        if (pi[a] > 0) gain += pi[a] * q[a], square += pi[a] * pi[a] * w[a];
    return gain - strength * sqrt(square);
}

typedef struct entry {
    double q, n;
} entry;

static int falling(const void *x, const void *y) {
    const double a = ((const entry *)x)->q, b = ((const entry *)y)->q;
    return a < b ? 1 : a > b ? -1 : 0;
}

/* The plain version: sort by q, take the quadratic of the first k actions until its root lies above the next q. */
static double sorted_root(const double *q, const double *w, int64_t actions, double strength) {
    entry *entries = malloc((size_t)actions * sizeof *entries);
    assert_non_null(entries);
    int64_t count = 0;
    for (int64_t a = 0; a < actions; a++)
        if (isfinite(q[a]) && isfinite(w[a])) entries[count++] = (entry){q[a], 1 / w[a]};
    qsort(entries, (size_t)count, sizeof *entries, falling);
    double n = 0, nq = 0, nqq = 0, root = -INFINITY;
    const double top = count ? entries[0].q : 0;
    for (int64_t k = 0; k < count; k++) {
        const double x = entries[k].q - top;
        n += entries[k].n, nq += entries[k].n * x, nqq += entries[k].n * x * x;
        const double disc = nq * nq - n * (nqq - strength * strength);
        if (disc < 0) continue;
        root = top + (nq - sqrt(disc)) / n;
        if (k + 1 == count || root >= entries[k + 1].q) break;
    }
    free(entries);
    return root;
}

typedef struct instance {
    int64_t actions;
    double q[64], w[64], strength;
} instance;

static instance draw(pess__rng *rng, int64_t actions) {
    instance in = {.actions = actions};
    for (int64_t a = 0; a < actions; a++) {
        in.q[a] = pess__rng_uniform(rng) < 0.2 && a > 0 ? in.q[a - 1] : 10 * pess__rng_uniform(rng); /* ties */
        in.w[a] = pess__rng_uniform(rng) < 0.15 ? INFINITY : 1 / (double)(1 + pess__rng_below(rng, 1000));
        if (pess__rng_uniform(rng) < 0.1) in.q[a] = -INFINITY;
    }
    in.q[0] = 5, in.w[0] = 0.25;
    in.strength = pow(10, -3 + 5 * pess__rng_uniform(rng));
    return in;
}

static void matches_sorting_and_kkt(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(1, "waterfill", 0);
    for (int trial = 0; trial < 4000; trial++) {
        const instance in = draw(&rng, 1 + (int64_t)pess__rng_below(&rng, 64));
        double pi[64], sum = 0, norm = 0;
        const double lambda = pess__waterfill(in.q, in.w, in.actions, in.strength, pi);
        assert_double_equal(lambda, sorted_root(in.q, in.w, in.actions, in.strength), 1e-9 * (1 + fabs(lambda)));
        assert_double_equal(lambda, objective(in.q, in.w, pi, in.actions, in.strength), 1e-9 * (1 + fabs(lambda)));
        for (int64_t a = 0; a < in.actions; a++) {
            assert_true(pi[a] >= 0);
            if (!isfinite(in.w[a]) || !isfinite(in.q[a])) assert_true(pi[a] == 0);
            sum += pi[a];
            if (pi[a] > 0) norm += pi[a] * pi[a] * in.w[a];
        }
        assert_double_equal(sum, 1, 1e-12);
        /* Stationarity: q(a) − C·π(a)w(a)/‖π‖_w equals λ where π(a) > 0, and is at most λ elsewhere. */
        norm = sqrt(norm);
        for (int64_t a = 0; a < in.actions; a++) {
            if (pi[a] > 0)
                assert_double_equal(in.q[a] - in.strength * pi[a] * in.w[a] / norm, lambda, 1e-7 * (1 + fabs(lambda)));
            else if (isfinite(in.w[a]))
                assert_true(in.q[a] <= lambda + 1e-9 * (1 + fabs(lambda)));
        }
    }
}

static void beats_the_simplex_grid(void **state) {
    (void)state;
    enum { GRID = 60 };
    pess__rng rng = pess__rng_stream(2, "waterfill", 0);
    for (int trial = 0; trial < 60; trial++) {
        instance in = draw(&rng, 3);
        double pi[64], best = -INFINITY;
        const double lambda = pess__waterfill(in.q, in.w, 3, in.strength, pi);
        for (int i = 0; i <= GRID; i++)
            for (int j = 0; i + j <= GRID; j++) {
                const double p[3] = {(double)i / GRID, (double)j / GRID, (double)(GRID - i - j) / GRID};
                const double f = objective(in.q, in.w, p, 3, in.strength);
                if (f > best) best = f;
            }
        assert_true(lambda >= best - 1e-9);
        /* The grid misses the optimum by little: gradients are at most 10 + C, cells 1/60. */
        assert_true(lambda <= best + (10 + in.strength) * 4.0 / GRID);
    }
}

static void beats_random_search(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(3, "waterfill", 0);
    for (int trial = 0; trial < 100; trial++) {
        instance in = draw(&rng, 2 + (int64_t)pess__rng_below(&rng, 30));
        double pi[64], other[64];
        const double lambda = pess__waterfill(in.q, in.w, in.actions, in.strength, pi);
        for (int i = 0; i < 300; i++) {
            double sum = 0;
            const double step = pow(10, -4 * pess__rng_uniform(&rng));
            for (int64_t a = 0; a < in.actions; a++) {
                other[a] = isfinite(in.q[a]) && isfinite(in.w[a]) ? pi[a] + step * pess__rng_exponential(&rng) : 0;
                sum += other[a];
            }
            for (int64_t a = 0; a < in.actions; a++) other[a] /= sum;
            assert_true(objective(in.q, in.w, other, in.actions, in.strength) <= lambda + 1e-9 * (1 + fabs(lambda)));
        }
    }
}

static void the_papers_example_is_half_and_half(void **state) {
    (void)state;
    /* Two actions alike, n = 2 each: half and half (paper, appendix B). */
    const double q[2] = {1, 1}, w[2] = {0.5, 0.5};
    double pi[2];
    assert_double_equal(pess__waterfill(q, w, 2, 1, pi), 1 - 0.5, 1e-15);
    assert_double_equal(pi[0], 0.5, 1e-15);
    const double none[2] = {INFINITY, INFINITY};
    assert_true(pess__waterfill(q, none, 2, 1, pi) == -INFINITY);
}

static void many_actions_are_shared_as_by_sorting(void **state) {
    (void)state;
    enum { MANY = 200000 };
    double *q = malloc(3 * MANY * sizeof *q), *w = q + MANY, *pi = w + MANY, sum = 0;
    assert_non_null(q);
    pess__rng rng = pess__rng_stream(4, "waterfill", 0);
    for (int a = 0; a < MANY; a++) q[a] = pess__rng_normal(&rng), w[a] = 1 / (double)(1 + pess__rng_below(&rng, 50));
    const double lambda = pess__waterfill(q, w, MANY, 30, pi);
    for (int a = 0; a < MANY; a++) sum += pi[a];
    assert_double_equal(sum, 1, 1e-9);
    assert_double_equal(lambda, sorted_root(q, w, MANY, 30), 1e-9);
    free(q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_sorting_and_kkt),
        cmocka_unit_test(beats_the_simplex_grid),
        cmocka_unit_test(beats_random_search),
        cmocka_unit_test(the_papers_example_is_half_and_half),
        cmocka_unit_test(many_actions_are_shared_as_by_sorting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
