/* SPIBB, Soft-SPIBB: the constraints hold, and no policy within them is better. */
#include "fixture.h"

static const fixture_shape shape = {.states = 24, .actions = 3, .branching = 2, .uniform = 0.05, .end = 0.1};
static const double gamma_used = 0.95;

static pess_solution *solve(const pess_counts *counts, const pess_model *model, const double *start,
                            const char *algorithm, double min_count, double budget) {
    pess_error error = {0};
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = algorithm;
    options.gamma = gamma_used;
    options.min_count = min_count;
    options.budget = budget;
    pess_solution *solution = NULL;
    OK(pess_solve(counts, model, start, &options, &solution, &error));
    pess_solution_info info;
    pess_solution_get_info(solution, &info);
    assert_int_equal(info.outcome, PESS_OUTCOME_CONVERGED);
    assert_true(info.residual <= 1.1e-8);
    return solution;
}

static void q_row(const pess_model *model, int64_t s, const double *v, double *q) {
    for (int64_t a = 0; a < 3; a++)
        q[a] = model->reward[3 * s + a] + gamma_used * fixture_next_value(model, gamma_used, 3 * s + a, v);
}

/* Whether a local policy is allowed, for each of the three constraints. */
typedef bool allowed(const pess_counts *counts, int64_t s, const double *pi, const double *base, double slack);

enum { LEAST = 8 };
static const double budget_used = 1.2;

static bool allowed_equal(const pess_counts *counts, int64_t s, const double *pi, const double *base, double slack) {
    bool any = false;
    for (int64_t a = 0; a < 3; a++) any |= counts->n[3 * s + a] >= LEAST;
    for (int64_t a = 0; a < 3; a++)
        if ((!any || counts->n[3 * s + a] < LEAST) && fabs(pi[a] - base[a]) > slack) return false;
    return true;
}

static bool allowed_at_most(const pess_counts *counts, int64_t s, const double *pi, const double *base, double slack) {
    for (int64_t a = 0; a < 3; a++)
        if (counts->n[3 * s + a] < LEAST && pi[a] > base[a] + slack) return false;
    return true;
}

static bool allowed_soft(const pess_counts *counts, int64_t s, const double *pi, const double *base, double slack) {
    double spent = 0;
    for (int64_t a = 0; a < 3; a++) {
        const double moved = fabs(pi[a] - base[a]);
        if (counts->n[3 * s + a] == 0 && moved > slack) return false;
        if (counts->n[3 * s + a] > 0) spent += moved * sqrt(2 / (double)counts->n[3 * s + a] * log(2 * 24 * 3 / 0.05));
    }
    return spent <= budget_used + slack;
}

static void check(const char *algorithm, allowed *is_allowed) {
    enum { GRID = 40 };
    int64_t compared = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        pess_error error = {0};
        pess_model *model = fixture_model(&shape, 70 + seed);
        pess_counts *counts = fixture_counts(model, 40, seed);
        double *start = fixture_start(model);
        pess_solution *solution = solve(counts, model, start, algorithm, LEAST, budget_used);
        pess_policy *base = NULL;
        OK(pess_policy_empirical(counts, model, &base, &error));
        const double *v = pess_solution_values(solution);
        for (int64_t s = 0; s < model->states; s++) {
            double q[3], value = 0, total = 0;
            q_row(model, s, v, q);
            const double *hat = pess_policy_row(base, s), *pi = pess_policy_row(pess_solution_policy(solution), s);
            assert_true(is_allowed(counts, s, pi, hat, 1e-9));
            for (int a = 0; a < 3; a++) {
                assert_true(pi[a] >= 0);
                value += pi[a] * q[a];
                total += pi[a];
            }
            assert_true(fabs(total - 1) <= 1e-12);
            assert_true(fabs(value - v[s]) <= 1e-9);
            /* From the base towards every point of a grid of directions, as far as is allowed. */
            for (int i = 0; i <= GRID; i++)
                for (int j = 0; i + j <= GRID; j++) {
                    const double to[3] = {(double)i / GRID, (double)j / GRID, (double)(GRID - i - j) / GRID};
                    for (int k = 1; k <= 20; k++) {
                        double other[3], gain = 0;
                        for (int a = 0; a < 3; a++) other[a] = hat[a] + (to[a] - hat[a]) * k / 20.0;
                        if (!is_allowed(counts, s, other, hat, 1e-12)) continue;
                        for (int a = 0; a < 3; a++) gain += other[a] * q[a];
                        assert_true(gain <= v[s] + 2e-8);
                        compared++;
                    }
                }
        }
        pess_policy_destroy(base);
        pess_solution_destroy(solution);
        free(start);
        pess_counts_destroy(counts);
        pess_model_destroy(model);
    }
    assert_true(compared > 10000);
}

static void spibb_is_the_best_of_the_allowed_policies(void **state) {
    (void)state;
    check("spibb", allowed_equal);
}

static void spibb_leq_is_the_best_of_the_allowed_policies(void **state) {
    (void)state;
    check("spibb-leq", allowed_at_most);
}

static void soft_spibb_is_the_best_of_the_allowed_policies(void **state) {
    (void)state;
    check("soft-spibb", allowed_soft);
}

/* A linear program has no local optimum that is not global: no small exchange of mass within the budget gains. */
static void soft_spibb_exchanges_gain_nothing(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        pess_error error = {0};
        pess_model *model = fixture_model(&shape, 170 + seed);
        pess_counts *counts = fixture_counts(model, 60, seed);
        double *start = fixture_start(model);
        pess_solution *solution = solve(counts, model, start, "soft-spibb", LEAST, budget_used);
        pess_policy *base = NULL;
        OK(pess_policy_empirical(counts, model, &base, &error));
        pess__rng rng = pess__rng_stream(seed, "exchange", 0);
        for (int64_t s = 0; s < model->states; s++) {
            double q[3];
            q_row(model, s, pess_solution_values(solution), q);
            const double *hat = pess_policy_row(base, s), *pi = pess_policy_row(pess_solution_policy(solution), s);
            for (int trial = 0; trial < 2000; trial++) {
                const double x = (pess__rng_uniform(&rng) - 0.5) * pow(10, -4 * pess__rng_uniform(&rng));
                const double y = (pess__rng_uniform(&rng) - 0.5) * pow(10, -4 * pess__rng_uniform(&rng));
                const double other[3] = {pi[0] + x, pi[1] + y, pi[2] - x - y};
                if (other[0] < 0 || other[1] < 0 || other[2] < 0) continue;
                if (!allowed_soft(counts, s, other, hat, 0)) continue;
                assert_true(x * q[0] + y * q[1] - (x + y) * q[2] <= 2e-8);
            }
        }
        pess_policy_destroy(base);
        pess_solution_destroy(solution);
        free(start);
        pess_counts_destroy(counts);
        pess_model_destroy(model);
    }
}

static void the_ends_of_the_scale_are_imitation_and_naive(void **state) {
    (void)state;
    pess_model *model = fixture_model(&shape, 5);
    pess_counts *counts = fixture_counts(model, 40, 5);
    double *start = fixture_start(model);
    pess_solution *imitation = solve(counts, model, start, "imitation", 0, 0);
    pess_solution *naive = solve(counts, model, start, "naive", 0, 0);
    const char *names[] = {"spibb", "spibb-leq", "soft-spibb"};
    for (int i = 0; i < 3; i++) {
        pess_solution *strict = solve(counts, model, start, names[i], 1e9, 0);
        assert_memory_equal(pess_solution_policy(strict)->probability, pess_solution_policy(imitation)->probability,
                            72 * sizeof(double));
        pess_solution_destroy(strict);
    }
    pess_solution *free_one = solve(counts, model, start, "spibb", 0, 0);
    assert_true(fixture_difference(pess_solution_values(free_one), pess_solution_values(naive), 24) <= 1e-8);
    pess_solution_destroy(free_one);
    pess_solution_destroy(imitation);
    pess_solution_destroy(naive);
    free(start);
    pess_counts_destroy(counts);
    pess_model_destroy(model);
}

/* Where no min-count is given, it is the root of the mean count of a pair: four times the log, twice the count. */
static void min_count_grows_with_the_log(void **state) {
    (void)state;
    const fixture_shape small = {.states = 12, .actions = 4, .branching = 3};
    pess_model *model = fixture_model(&small, 2);
    double *start = fixture_start(model);
    for (int64_t each = 16; each <= 64; each *= 4) {
        pess_error error = {0};
        pess_counts *counts = fixture_counts(model, each, 2);
        pess_solve_options options = pess_solve_options_defaults();
        pess_solution *own = NULL, *given = NULL;
        pess_solution_info info;
        options.algorithm = "spibb";
        OK(pess_solve(counts, model, start, &options, &own, &error));
        pess_solution_get_info(own, &info);
        int64_t rows = 0, pairs = 0; /* pairs of states that were acted in, seen or not */
        for (int64_t z = 0; z < 48; z++) {
            rows += counts->n[z];
            pairs += counts->n_state[z / 4] > 0;
        }
        assert_true(pairs < 48);
        assert_true(rows > 0 && fabs(info.min_count - sqrt((double)rows / (double)pairs)) <= 1e-12);
        options.min_count = info.min_count;
        OK(pess_solve(counts, model, start, &options, &given, &error));
        assert_memory_equal(pess_solution_values(own), pess_solution_values(given), 12 * sizeof(double));
        pess_solution_destroy(own);
        pess_solution_destroy(given);
        pess_counts_destroy(counts);
    }
    free(start);
    pess_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spibb_is_the_best_of_the_allowed_policies),
                                       cmocka_unit_test(spibb_leq_is_the_best_of_the_allowed_policies),
                                       cmocka_unit_test(soft_spibb_is_the_best_of_the_allowed_policies),
                                       cmocka_unit_test(soft_spibb_exchanges_gain_nothing),
                                       cmocka_unit_test(the_ends_of_the_scale_are_imitation_and_naive),
                                       cmocka_unit_test(min_count_grows_with_the_log)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
