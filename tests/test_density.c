/* Density-proximal: its value by the definition, its optimum against a search over all policies of tiny problems, and
 * its two ends. */
#include "solved.h"

/* d_π [S], (1−γ)·Σ γ^t P(s_t = s), by summing the series from a uniform start. */
static void plain_density(const pess_model *model, const double *pi, double gamma, double *d) {
    const int64_t states = model->states, actions = model->actions;
    double *now = malloc((size_t)states * sizeof *now), *next = malloc((size_t)states * sizeof *next),
           weight = 1 - gamma;
    for (int64_t s = 0; s < states; s++) now[s] = 1 / (double)states, d[s] = 0;
    for (int step = 0; step < 300; step++, weight *= gamma) {
        memset(next, 0, (size_t)states * sizeof *next);
        for (int64_t s = 0; s < states; s++) {
            d[s] += weight * now[s];
            for (int64_t z = s * actions; z < (s + 1) * actions; z++)
                for (int64_t i = model->row[z]; i < model->row[z + 1]; i++)
                    next[model->next[i]] += now[s] * pi[z] * model->probability[i];
        }
        memcpy(now, next, (size_t)states * sizeof *now);
    }
    free(now);
    free(next);
}

/* E_ρ[v] = Σ_s d(s)/(1−γ)·(r^π(s) − κ|d(s) − d̂(s)|). */
static double plain_objective(const pess_model *model, const double *pi, const double *target, double kappa) {
    const int64_t states = model->states, actions = model->actions;
    double *d = malloc((size_t)states * sizeof *d), sum = 0;
    plain_density(model, pi, 0.9, d);
    for (int64_t s = 0; s < states; s++) {
        double r = 0;
        for (int64_t a = 0; a < actions; a++) r += pi[s * actions + a] * model->reward[s * actions + a];
        sum += d[s] / 0.1 * (r - kappa * fabs(d[s] - target[s]));
    }
    free(d);
    return sum;
}

/* Every pair seen, no ends. */
static estimate full_log(int64_t states, int64_t actions, uint64_t seed) {
    world w = world_create(states, actions, 2, 0, seed);
    sample_log log = sample_log_create(states * actions * 30);
    pess__rng rng = pess__rng_stream(seed, "density", 0);
    for (int64_t z = 0; z < states * actions; z++)
        world_sample(&w, z, 1 + (int64_t)pess__rng_below(&rng, 29), &rng, &log);
    estimate e = estimate_create(&log, states, actions, PESS_UNSEEN_WORST);
    sample_log_destroy(&log);
    world_destroy(&w);
    return e;
}

static void the_value_is_that_of_the_definition(void **state) {
    (void)state;
    pess_error error = {0};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        estimate e = full_log(8, 3, seed);
        pess_policy *empirical, *policy = random_policy(e.model, seed);
        OK(pess_policy_empirical(e.counts, e.model, &empirical, &error));
        double target[8];
        plain_density(e.model, pess_policy_row(empirical, 0), 0.9, target);
        pess_solve_options options = options_for("density-proximal", NULL, 0.02);
        pess_solution *theory = evaluated(&e, policy, &options);
        assert_double_equal(info_of(theory).value,
                            plain_objective(e.model, pess_policy_row(policy, 0), target, 0.02 / 0.01), 1e-7);
        absorb(&options);
        pess_solution *absorbed = evaluated(&e, policy, &options);
        assert_double_equal(info_of(absorbed).value, plain_objective(e.model, pess_policy_row(policy, 0), target, 0.02),
                            1e-7);
        pess_solution_destroy(theory);
        pess_solution_destroy(absorbed);
        pess_policy_destroy(empirical);
        pess_policy_destroy(policy);
        estimate_destroy(&e);
    }
}

/* Three states, two actions: a grid over all policies. The search must come within the grid's own coarseness. */
static void the_search_comes_near_the_best_of_all_policies(void **state) {
    (void)state;
    pess_error error = {0};
    enum { GRID = 16 };
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int k = 0; k < 4; k++) {
            const double alpha = pow(4, k) * 0.3;
            estimate e = full_log(3, 2, seed);
            pess_policy *empirical;
            OK(pess_policy_empirical(e.counts, e.model, &empirical, &error));
            double target[3], best = -INFINITY;
            plain_density(e.model, pess_policy_row(empirical, 0), 0.9, target);
            for (int i = 0; i < (GRID + 1) * (GRID + 1) * (GRID + 1); i++) {
                const double x = (double)(i % (GRID + 1)) / GRID, y = (double)(i / (GRID + 1) % (GRID + 1)) / GRID,
                             z = (double)(i / (GRID + 1) / (GRID + 1)) / GRID;
                const double pi[6] = {x, 1 - x, y, 1 - y, z, 1 - z};
                best = fmax(best, plain_objective(e.model, pi, target, alpha));
            }
            pess_solve_options options = options_for("density-proximal", NULL, alpha);
            absorb(&options);
            pess_solution *found = solved(&e, &options);
            if (info_of(found).value < best - 1e-3 * fabs(best))
                fail_msg("seed %d, alpha %g: %.9g found, %.9g on the grid", (int)seed, alpha, info_of(found).value,
                         best);
            pess_solution_destroy(found);
            pess_policy_destroy(empirical);
            estimate_destroy(&e);
        }
}

static void alpha_zero_is_naive_and_none_is_below_imitation(void **state) {
    (void)state;
    pess_error error = {0};
    estimate e = full_log(20, 3, 3);
    pess_policy *empirical;
    OK(pess_policy_empirical(e.counts, e.model, &empirical, &error));
    const pess_solve_options naive = options_for("naive", NULL, 1);
    pess_solution *top = solved(&e, &naive);
    pess_solve_options options = options_for("density-proximal", NULL, 0);
    pess_solution *found = solved(&e, &options);
    assert_memory_equal(pess_solution_values(found), pess_solution_values(top), 20 * sizeof(double));
    pess_solution_destroy(found);
    /* No α takes the value below imitation's, which has no penalty, and the penalty only lowers it. */
    pess_solution *imitation = evaluated(&e, empirical, &naive);
    double last = info_of(top).value;
    for (double alpha = 1e-3; alpha < 1e4; alpha *= 30) {
        options.alpha = alpha;
        found = solved(&e, &options);
        assert_true(info_of(found).value <= last + 1e-3 && info_of(found).value >= info_of(imitation).value - 1e-9);
        last = info_of(found).value;
        pess_solution *again = evaluated(&e, pess_solution_policy(found), &options);
        assert_double_equal(info_of(again).value, last, 1e-8);
        pess_solution_destroy(again);
        if (alpha > 300) { /* hardly anything moves away from the empirical visitation */
            double d[20], target[20], away = 0;
            plain_density(e.model, pess_policy_row(pess_solution_policy(found), 0), 0.9, d);
            plain_density(e.model, pess_policy_row(empirical, 0), 0.9, target);
            for (int s = 0; s < 20; s++) away = fmax(away, fabs(d[s] - target[s]));
            assert_true(away < 1e-4);
        }
        pess_solution_destroy(found);
    }
    pess_solution_destroy(imitation);
    pess_solution_destroy(top);
    pess_policy_destroy(empirical);
    estimate_destroy(&e);
}

static void density_proximal_needs_a_discount(void **state) {
    (void)state;
    pess_error error = {0};
    sample_log log = sample_log_create(2);
    sample_log_add(&log, 0, 0, 1, 0, true);
    estimate e = estimate_create(&log, 1, 1, PESS_UNSEEN_WORST);
    pess_solve_options options = options_for("density-proximal", NULL, 1);
    options.gamma = 1;
    pess_solution *none = NULL;
    const double start[1] = {1};
    assert_int_equal(pess_solve(e.counts, e.model, start, &options, &none, &error), PESS_ARGUMENT);
    estimate_destroy(&e);
    sample_log_destroy(&log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_value_is_that_of_the_definition),
        cmocka_unit_test(the_search_comes_near_the_best_of_all_policies),
        cmocka_unit_test(alpha_zero_is_naive_and_none_is_below_imitation),
        cmocka_unit_test(density_proximal_needs_a_discount),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
