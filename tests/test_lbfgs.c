/* L-BFGS on functions whose maximum is known. */
#include "sampled.h"

#include "core/lbfgs.h"

/* −Rosenbrock in n dimensions: maximum 0 at (1, …, 1). */
static pess_status rosenbrock(void *context, const double *x, double *f, double *gradient, pess_error *error) {
    (void)error;
    const int64_t n = *(const int64_t *)context;
    *f = 0;
    memset(gradient, 0, (size_t)n * sizeof *gradient);
    for (int64_t i = 0; i + 1 < n; i++) {
        const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        *f -= 100 * a * a + b * b;
        gradient[i] += 400 * a * x[i] + 2 * b;
        gradient[i + 1] -= 200 * a;
    }
    return PESS_OK;
}

/* Σ −w|x − c|, rounded off at 1e-6: hardly smooth. */
static pess_status kinked(void *context, const double *x, double *f, double *gradient, pess_error *error) {
    (void)error;
    const int64_t n = *(const int64_t *)context;
    *f = 0;
    for (int64_t i = 0; i < n; i++) {
        const double away = x[i] - (double)i, size = sqrt(away * away + 1e-12), w = 1 + (double)(i % 3);
        *f -= w * size;
        gradient[i] = -w * away / size;
    }
    return PESS_OK;
}

static pess_status refuses(void *context, const double *x, double *f, double *gradient, pess_error *error) {
    (void)context, (void)x, (void)f, (void)gradient;
    return pess__fail(error, PESS_INTERRUPTED, "no");
}

static void the_maximum_is_found(void **state) {
    (void)state;
    pess_error error = {0};
    int64_t n = 20, steps;
    double x[20], f;
    for (int i = 0; i < 20; i++) x[i] = i % 2 ? 1 : -1.2;
    pess__lbfgs search = {n, &n, rosenbrock, 1000, 1e-15};
    OK(pess__lbfgs_maximise(&search, x, &f, &steps, &error));
    assert_true(steps < 1000 && f > -1e-10);
    for (int i = 0; i < 20; i++) assert_double_equal(x[i], 1, 1e-4);
    memset(x, 0, sizeof x);
    search.evaluate = kinked;
    OK(pess__lbfgs_maximise(&search, x, &f, &steps, &error));
    for (int i = 0; i < 20; i++) assert_double_equal(x[i], i, 1e-3);
    search.evaluate = refuses;
    assert_int_equal(pess__lbfgs_maximise(&search, x, &f, &steps, &error), PESS_INTERRUPTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_maximum_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
