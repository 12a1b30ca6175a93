/* LU without pivoting against elimination with partial pivoting, on matrices I − γP. */
#include "fixture.h"

#include "core/cpu.h"
#include "core/lu.h"

static void random_system(int64_t n, double gamma, double density, uint64_t seed, double *dense) {
    pess__rng rng = pess__rng_stream(seed, "lu", (uint64_t)n);
    for (int64_t i = 0; i < n; i++) {
        double total = 0;
        for (int64_t j = 0; j < n; j++) {
            const double u = pess__rng_uniform(&rng);
            dense[i * n + j] = u < density || j == (i + 1) % n ? u + 0.01 : 0.0;
            total += dense[i * n + j];
        }
        for (int64_t j = 0; j < n; j++) dense[i * n + j] = (i == j) - gamma * dense[i * n + j] / total;
    }
}

static void check_size(int64_t n, double gamma, double density) {
    pess_error error = {0};
    const int64_t stride = pess__lu_stride(n);
    double *dense = NULL, *copy = NULL, *lu = NULL, *b = NULL, *x = NULL, *y = NULL;
    OK(pess__allocate(&dense, n * n, sizeof(double), "dense", &error));
    OK(pess__allocate(&copy, n * n, sizeof(double), "copy", &error));
    OK(pess__allocate(&lu, n * stride, sizeof(double), "lu", &error));
    OK(pess__allocate(&b, n, sizeof(double), "b", &error));
    OK(pess__allocate(&x, n, sizeof(double), "x", &error));
    OK(pess__allocate(&y, n, sizeof(double), "y", &error));
    random_system(n, gamma, density, 7, dense);
    for (int64_t i = 0; i < n; i++) {
        memcpy(lu + i * stride, dense + i * n, (size_t)n * sizeof(double));
        b[i] = x[i] = y[i] = 1.0 / (double)(1 + i % 5);
    }
    pess__lu_factor(lu, n, stride, 2);
    pess__lu_solve(lu, n, stride, x);
    memcpy(copy, dense, (size_t)(n * n) * sizeof(double));
    fixture_linear_solve(copy, y, n);
    assert_true(fixture_difference(x, y, n) <= 1e-11 / (1 - gamma));

    memcpy(x, b, (size_t)n * sizeof(double));
    memcpy(y, b, (size_t)n * sizeof(double));
    pess__lu_solve_transposed(lu, n, stride, x);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) copy[j * n + i] = dense[i * n + j];
    fixture_linear_solve(copy, y, n);
    assert_true(fixture_difference(x, y, n) <= 1e-11 * (double)n / (1 - gamma));
    free(dense);
    free(copy);
    free(lu);
    free(b);
    free(x);
    free(y);
}

static void every_small_size_is_solved(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 75; n++) check_size(n, 0.99, 0.1);
}

static void larger_sizes_are_solved(void **state) {
    (void)state;
    const int64_t sizes[] = {96, 127, 128, 129, 256, 301, 515};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_size(sizes[i], 0.999, 0.5);
}

/* One, two and four threads, each with the loops for every processor and with those for this one. */
static void neither_threads_nor_the_processor_matter(void **state) {
    (void)state;
    enum { WAYS = 6 };
    pess_error error = {0};
    const int64_t n = 700, stride = pess__lu_stride(n);
    double *dense = NULL, *lu[WAYS] = {NULL}, *x[WAYS] = {NULL};
    OK(pess__allocate(&dense, n * n, sizeof(double), "dense", &error));
    random_system(n, 0.99, 0.3, 3, dense);
    for (int way = 0; way < WAYS; way++) {
        OK(pess__allocate(&lu[way], n * stride, sizeof(double), "lu", &error));
        OK(pess__allocate(&x[way], 2 * n, sizeof(double), "x", &error));
        for (int64_t i = 0; i < n; i++) memcpy(lu[way] + i * stride, dense + i * n, (size_t)n * sizeof(double));
        for (int64_t i = 0; i < 2 * n; i++) x[way][i] = 1.0 / (double)(1 + i % 5);
        pess__cpu_portable_only(way >= WAYS / 2);
        pess__lu_factor(lu[way], n, stride, 1 << way % 3);
        pess__lu_solve(lu[way], n, stride, x[way]);
        pess__lu_solve_transposed(lu[way], n, stride, x[way] + n);
        pess__cpu_portable_only(false);
        assert_memory_equal(lu[way], lu[0], (size_t)(n * stride) * sizeof(double));
        assert_memory_equal(x[way], x[0], (size_t)(2 * n) * sizeof(double));
    }
    for (int way = 0; way < WAYS; way++) {
        free(lu[way]);
        free(x[way]);
    }
    free(dense);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_small_size_is_solved),
                                       cmocka_unit_test(larger_sizes_are_solved),
                                       cmocka_unit_test(neither_threads_nor_the_processor_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
