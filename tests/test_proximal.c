/* Proximal: Proposition 1 against brute force, and its two ends. */
#include "fixture.h"

#include "solve/algorithm.h"

static const fixture_shape shape = {
    .states = 35, .actions = 4, .branching = 3, .uniform = 0.1, .end = 0.1, .terminals = 1};

static pess_solution *solve(const pess_counts *counts, const pess_model *model, const double *start,
                            const char *algorithm, double alpha) {
    pess_error error = {0};
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = algorithm;
    options.absorbed_alpha = alpha;
    options.gamma = 0.95;
    pess_solution *solution = NULL;
    OK(pess_solve(counts, model, start, &options, &solution, &error));
    return solution;
}

static void same_solution(const pess_solution *x, const pess_solution *y) {
    const pess_policy *p = pess_solution_policy(x), *q = pess_solution_policy(y);
    assert_memory_equal(p->probability, q->probability, (size_t)(p->states * p->actions) * sizeof(double));
    assert_memory_equal(pess_solution_values(x), pess_solution_values(y), (size_t)p->states * sizeof(double));
    assert_memory_equal(pess_solution_naive_values(x), pess_solution_naive_values(y),
                        (size_t)p->states * sizeof(double));
}

static void alpha_zero_is_naive_and_a_large_one_imitation(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        pess_model *model = fixture_model(&shape, seed);
        pess_counts *counts = fixture_counts(model, 30, seed);
        double *start = fixture_start(model);
        pess_solution *naive = solve(counts, model, start, "naive", 1);
        pess_solution *zero = solve(counts, model, start, "proximal", 0);
        pess_solution *imitation = solve(counts, model, start, "imitation", 1);
        pess_solution *large = solve(counts, model, start, "proximal", 1e6);
        same_solution(naive, zero);
        same_solution(imitation, large);
        pess_solution_destroy(naive);
        pess_solution_destroy(zero);
        pess_solution_destroy(imitation);
        pess_solution_destroy(large);
        free(start);
        pess_counts_destroy(counts);
        pess_model_destroy(model);
    }
}

/* Σπq − c·TV(π, π̂) of a local policy */
static double local_value(const double *q, const double *pi, const double *base, double c, int64_t actions) {
    double value = 0;
    for (int64_t a = 0; a < actions; a++) value += pi[a] * q[a] - c * fmax(pi[a] - base[a], 0);
    return value;
}

/* At the returned values no local policy on a fine grid beats the returned one, and the returned one attains v. */
static void no_local_policy_is_better(void **state) {
    (void)state;
    const double c = 0.3, gamma = 0.95;
    const fixture_shape small = {.states = 20, .actions = 3, .branching = 3, .uniform = 0.1};
    for (uint64_t seed = 0; seed < 6; seed++) {
        pess_error error = {0};
        pess_model *model = fixture_model(&small, 50 + seed);
        pess_counts *counts = fixture_counts(model, 30, seed);
        double *start = fixture_start(model);
        pess_solution *solution = solve(counts, model, start, "proximal", c);
        pess_policy *base = NULL;
        OK(pess_policy_empirical(counts, model, &base, &error));
        const double *v = pess_solution_values(solution);
        for (int64_t s = 0; s < model->states; s++) {
            double q[3];
            for (int a = 0; a < 3; a++)
                q[a] = model->reward[3 * s + a] + gamma * fixture_next_value(model, gamma, 3 * s + a, v);
            const double *hat = pess_policy_row(base, s), *pi = pess_policy_row(pess_solution_policy(solution), s);
            assert_true(fabs(local_value(q, pi, hat, c, 3) - v[s]) <= 1e-9);
            for (int i = 0; i <= 60; i++)
                for (int j = 0; i + j <= 60; j++) {
                    const double other[3] = {i / 60.0, j / 60.0, (60 - i - j) / 60.0};
                    assert_true(local_value(q, other, hat, c, 3) <= v[s] + 1e-9);
                }
        }
        pess_policy_destroy(base);
        pess_solution_destroy(solution);
        free(start);
        pess_counts_destroy(counts);
        pess_model_destroy(model);
    }
}

/* Theory units are absorbed units over (1−γ)². */
static void both_units_of_alpha_agree(void **state) {
    (void)state;
    pess_error error = {0};
    pess_model *model = fixture_model(&shape, 3);
    pess_counts *counts = fixture_counts(model, 30, 3);
    double *start = fixture_start(model);
    pess_solution *absorbed = solve(counts, model, start, "proximal", 1), *theory = NULL;
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "proximal";
    options.gamma = 0.95;
    options.alpha = (1 - 0.95) * (1 - 0.95);
    OK(pess_solve(counts, model, start, &options, &theory, &error));
    assert_true(fixture_difference(pess_solution_values(absorbed), pess_solution_values(theory), 35) <= 1e-8);
    pess_solution_destroy(absorbed);
    pess_solution_destroy(theory);
    free(start);
    pess_counts_destroy(counts);
    pess_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(alpha_zero_is_naive_and_a_large_one_imitation),
                                       cmocka_unit_test(no_local_policy_is_better),
                                       cmocka_unit_test(both_units_of_alpha_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
