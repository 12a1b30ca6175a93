/* Sparse elimination against dense elimination with partial pivoting, on chains of every size and shape. */
#include "fixture.h"

#include "core/elimination.h"

typedef enum shape { RANDOM, CYCLE, GRID, TREE, FULL, SHAPES } shape;

/* Weights of row s of G; they sum to gamma, or to less where the chain can end there. */
static void chain_row(pess__rng *rng, shape kind, int64_t n, int64_t s, double gamma, double *row) {
    memset(row, 0, (size_t)n * sizeof *row);
    const int64_t side = (int64_t)sqrt((double)n);
    const int64_t ends = s == n - 1 ? 1 : 0; /* the last state leads nowhere: a terminal */
    if (ends && n > 1 && kind != CYCLE) return;
    const int64_t links = kind == FULL ? n : kind == RANDOM ? 1 + (int64_t)pess__rng_below(rng, 5) : 2;
    double total = 0;
    for (int64_t k = 0; k < links; k++) {
        int64_t t = (int64_t)pess__rng_below(rng, (uint64_t)n);
        if (kind == CYCLE) t = (s + 1) % n;
        if (kind == GRID) t = (s + (k == 0 ? 1 : side)) % n;
        if (kind == TREE) t = k == 0 ? s / 2 : n - 1;
        if (kind == FULL) t = k;
        const double weight = 0.05 + pess__rng_uniform(rng);
        row[t] += weight;
        total += weight;
    }
    for (int64_t t = 0; t < n; t++) row[t] *= gamma / total;
}

static void check_chain(shape kind, int64_t n, double gamma, uint64_t seed) {
    enum { MOST = PESS__ELIMINATION_STATES };
    static double g[MOST * MOST], copy[MOST * MOST], y[MOST], x[MOST + 1];
    pess__quad b[MOST + 1];
    pess__rng rng = pess__rng_stream(seed, "elimination", (uint64_t)n);
    pess__elimination e;
    void *memory = malloc(pess__elimination_bytes(n));
    memset(memory, 0xff, pess__elimination_bytes(n)); /* every double a NaN: nothing may be read before it is set */
    pess__elimination_place(&e, n, memory);
    for (int round = 0; round < 2; round++) { /* the second in the memory the first left */
        pess__elimination_clear(&e);
        for (int64_t s = 0; s < n; s++) {
            chain_row(&rng, kind, n, s, gamma, g + s * n);
            for (int64_t t = 0; t < n; t++) {
                if (g[s * n + t] == 0.0) continue;
                pess__elimination_add(&e, s, t, 0.25 * g[s * n + t]); /* in two parts: they add up */
                pess__elimination_add(&e, s, t, 0.75 * g[s * n + t]);
            }
        }
        pess__elimination_factor(&e);
        for (int64_t s = 0; s < n; s++)
            for (int lane = 0; lane < 4; lane++) b[s][lane] = lane == 3 ? 0.0 : 1.0 / (double)(1 + (s + lane) % 5);
        for (int64_t s = n; s <= MOST; s++) b[s] = pess__quad_of(0.0);
        pess__elimination_solve(&e, b);
        const double bound = gamma < 1 ? 1e-12 / (1 - gamma) : 1e-9;
        for (int lane = 0; lane < 4; lane++) {
            for (int64_t s = 0; s < n; s++) y[s] = lane == 3 ? 0.0 : 1.0 / (double)(1 + (s + lane) % 5);
            for (int64_t i = 0; i < n * n; i++) copy[i] = (i % (n + 1) == 0) - g[i];
            fixture_linear_solve(copy, y, n);
            for (int64_t s = 0; s < n; s++) assert_true(fabs(b[s][lane] - y[s]) <= bound * (1 + fabs(y[s])));
        }
        for (int64_t i = 0; i < n; i++) {
            x[i] = y[i] = (double)(i % 3) / 2;
            for (int64_t j = 0; j < n; j++) copy[j * n + i] = (i == j) - g[i * n + j];
        }
        fixture_linear_solve(copy, y, n);
        for (int64_t s = n; s <= MOST; s++) x[s] = 0;
        pess__elimination_solve_transposed(&e, x);
        for (int64_t s = 0; s < n; s++) assert_true(fabs(x[s] - y[s]) <= bound * (1 + fabs(y[s])));
    }
    free(memory);
}

static void every_shape_and_size_is_solved(void **state) {
    (void)state;
    for (int kind = 0; kind < SHAPES; kind++)
        for (int64_t n = 1; n <= PESS__ELIMINATION_STATES; n = n < 20 ? n + 1 : n + 9)
            check_chain((shape)kind, n, 0.99, (uint64_t)(kind + 1));
    for (int64_t n = 62; n <= 68; n++) check_chain(RANDOM, n, 0.9, 11); /* around one word */
    for (int kind = 0; kind < SHAPES; kind++) check_chain((shape)kind, PESS__ELIMINATION_STATES, 0.999, 12);
}

static void chains_that_end_are_solved_without_discount(void **state) {
    (void)state;
    for (int64_t n = 2; n <= PESS__ELIMINATION_STATES; n += 7) { /* every state leads to the last, which ends */
        check_chain(TREE, n, 1.0, 5);
        check_chain(FULL, n, 1.0, 6);
    }
}

static void chains_without_a_future_are_solved(void **state) {
    (void)state;
    for (int kind = 0; kind < SHAPES; kind++) check_chain((shape)kind, 40, 0.0, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape_and_size_is_solved),
                                       cmocka_unit_test(chains_that_end_are_solved_without_discount),
                                       cmocka_unit_test(chains_without_a_future_are_solved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
