/* UA against its own fixed-point equation, for every bound. */
#include "solved.h"

#include "uncertainty/sets.h"

static const char *const bounds[] = {"trivial",   "count", "hoeffding", "hoeffding-s",
                                     "bernstein", "l1",    "support",   "good-turing"};
enum { BOUNDS = 8 };

static void alpha_zero_is_naive(void **state) {
    (void)state;
    estimate e = estimate_random(30, 3, 4, 0.3, 50, 1, PESS_UNSEEN_PAPER);
    const pess_solve_options naive = options_for("naive", NULL, 1);
    pess_solution *expected = solved(&e, &naive);
    pess_policy *policy = random_policy(e.model, 2);
    pess_solution *expected_value = evaluated(&e, policy, &naive);
    for (int i = 0; i < BOUNDS; i++) {
        const pess_solve_options options = options_for("ua", bounds[i], 0);
        pess_solution *found = solved(&e, &options), *value = evaluated(&e, policy, &options);
        assert_memory_equal(pess_solution_values(found), pess_solution_values(expected), 30 * sizeof(double));
        assert_memory_equal(pess_policy_row(pess_solution_policy(found), 0),
                            pess_policy_row(pess_solution_policy(expected), 0), 90 * sizeof(double));
        assert_memory_equal(pess_solution_values(value), pess_solution_values(expected_value), 30 * sizeof(double));
        pess_solution_destroy(found);
        pess_solution_destroy(value);
    }
    pess_policy_destroy(policy);
    pess_solution_destroy(expected);
    pess_solution_destroy(expected_value);
    estimate_destroy(&e);
}

/* v = max_a r + γPv − αu(v), with u from the table, in every state. */
static double equation_error(const estimate *e, const pess_solve_options *options, const double *v) {
    pess_error error = {0};
    pess__u_problem problem = u_problem_of(e, options->gamma);
    problem.delta = options->delta;
    const double alpha = isnan(options->alpha) ? options->absorbed_alpha : options->alpha;
    problem.absorbed = isnan(options->alpha);
    problem.trajectories = e->counts->has_episodes && !options->iid;
    problem.max_successors = options->max_successors;
    const int64_t states = e->model->states, actions = e->model->actions;
    double *u = malloc((size_t)(states * actions) * sizeof *u), most = 0;
    OK(pess__uncertainty_find(options->uncertainty)->compute(&problem, v, u, &error));
    for (int64_t s = 0; s < states; s++) {
        double best = -INFINITY;
        for (int64_t z = s * actions; z < (s + 1) * actions; z++)
            best = fmax(best, naive_q(e->model, options->gamma, problem.v_lo, z, v) - alpha * u[z]);
        most = fmax(most, fabs(v[s] - (e->model->terminal[s] ? 0 : best)));
    }
    free(u);
    return most;
}

static void solves_its_equation(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        estimate e = estimate_random(25, 3, 4, seed % 2 ? 0.4 : 0, seed % 3 ? 400 : 20, seed, (pess_unseen)(seed % 3));
        for (int i = 0; i < BOUNDS; i++) {
            if (strcmp(bounds[i], "hoeffding-s") == 0) continue;
            for (int variant = 0; variant < 4; variant++) {
                pess_solve_options options = options_for("ua", bounds[i], variant == 3 ? 0.05 : 0.3 * variant + 0.4);
                if (variant == 0) absorb(&options);
                e.counts->has_episodes = variant == 1;
                options.max_successors = variant == 2 ? 8 : 0;
                pess_solution *found = solved(&e, &options);
                const pess_solution_info info = info_of(found);
                /* bernstein is not monotone: it may not settle, and then says so. The others must. */
                if (strcmp(bounds[i], "bernstein") != 0 || info.outcome == PESS_OUTCOME_CONVERGED) {
                    assert_converged(found);
                    assert_true(equation_error(&e, &options, pess_solution_values(found)) < 1e-8);
                }
                pess_solution *value = evaluated(&e, pess_solution_policy(found), &options);
                if (info.outcome == PESS_OUTCOME_CONVERGED && info_of(value).outcome == PESS_OUTCOME_CONVERGED)
                    assert_double_equal(info_of(value).value, info.value, 1e-6);
                assert_non_null(pess_solution_uncertainty(found));
                pess_solution_destroy(value);
                pess_solution_destroy(found);
            }
        }
        estimate_destroy(&e);
    }
}

static void no_policy_does_better(void **state) {
    (void)state;
    estimate e = estimate_random(20, 3, 4, 0.2, 60, 7, PESS_UNSEEN_PAPER);
    for (int i = 0; i < BOUNDS; i++) {
        if (strcmp(bounds[i], "bernstein") == 0) continue; /* not monotone: no such promise */
        const pess_solve_options options = options_for("ua", bounds[i], 0.7);
        pess_solution *best = solved(&e, &options);
        assert_converged(best);
        for (uint64_t seed = 0; seed < 20; seed++) {
            pess_policy *policy = random_policy(e.model, seed);
            pess_solution *value = evaluated(&e, policy, &options);
            assert_converged(value);
            for (int64_t s = 0; s < 20; s++)
                assert_true(pess_solution_values(value)[s] <= pess_solution_values(best)[s] + 1e-8);
            pess_solution_destroy(value);
            pess_policy_destroy(policy);
        }
        pess_solution_destroy(best);
    }
    estimate_destroy(&e);
}

static void more_pessimism_is_lower(void **state) {
    (void)state;
    estimate e = estimate_random(25, 3, 4, 0.2, 200, 8, PESS_UNSEEN_PAPER);
    for (int i = 0; i < BOUNDS; i++) {
        if (strcmp(bounds[i], "bernstein") == 0) continue;
        double last = INFINITY;
        for (double alpha = 0; alpha <= 1; alpha += 0.25) {
            const pess_solve_options options = options_for("ua", bounds[i], alpha);
            pess_solution *found = solved(&e, &options);
            assert_true(info_of(found).value < last);
            last = info_of(found).value;
            pess_solution_destroy(found);
        }
    }
    estimate_destroy(&e);
}

/* The state-wise bound with |Π| = A is that of `hoeffding` for deterministic policies, and mixing can only help. */
static void statewise_beats_per_action(void **state) {
    (void)state;
    double gained = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        estimate e = estimate_random(20, 4, 4, 0, 300, seed, PESS_UNSEEN_PAPER);
        const pess_solve_options mixed = options_for("ua", "hoeffding-s", 0.5),
                                 pure = options_for("ua", "hoeffding", 0.5);
        pess_solution *x = solved(&e, &mixed), *y = solved(&e, &pure);
        assert_converged(x);
        assert_null(pess_solution_uncertainty(x));
        for (int64_t s = 0; s < 20; s++) assert_true(pess_solution_values(x)[s] >= pess_solution_values(y)[s] - 1e-8);
        gained += info_of(x).value - info_of(y).value;
        pess_solution *pure_under_mixed = evaluated(&e, pess_solution_policy(y), &mixed);
        assert_double_equal(info_of(pure_under_mixed).value, info_of(y).value, 1e-8);
        pess_solution_destroy(pure_under_mixed);
        pess_solution_destroy(x);
        pess_solution_destroy(y);
        estimate_destroy(&e);
    }
    assert_true(gained > 0.01);
}

/* Clipped as in the experiments: an unseen pair earns r_lo and goes on with γ·mean(v), whatever α. */
static void clipped_rewards_are_those_of_the_experiments(void **state) {
    (void)state;
    estimate e = estimate_random(15, 3, 3, 0, 4, 9, PESS_UNSEEN_PAPER);
    pess_solve_options options = options_for("ua", "count", 0.7);
    absorb(&options);
    options.clip = true;
    pess_solution *found = solved(&e, &options);
    const double *v = pess_solution_values(found);
    int64_t unseen = 0;
    for (int64_t s = 0; s < 15; s++) {
        double best = -INFINITY;
        for (int64_t z = 3 * s; z < 3 * s + 3; z++) {
            const int64_t n = e.counts->n[z];
            const double r = e.model->reward[z], future = naive_q(e.model, 0.9, 0, z, v) - r;
            unseen += n == 0;
            best = fmax(best, (n == 0 ? 0 : fmax(0, r - 0.7 / sqrt((double)n))) + future);
        }
        assert_double_equal(v[s], best, 1e-8);
    }
    assert_true(unseen > 3);
    options.uncertainty = "bernstein";
    pess_error error = {0};
    pess_solution *none = NULL;
    double start[15];
    OK(pess_start_uniform(e.model, start, &error));
    assert_int_equal(pess_solve(e.counts, e.model, start, &options, &none, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "not for 'bernstein'"));
    pess_solution_destroy(found);
    estimate_destroy(&e);
}

/* The affine pieces are right: Newton's method needs a few steps where plain sweeps at γ = 0.99 would take thousands.
 */
static void newtons_method_needs_few_steps(void **state) {
    (void)state;
    const pess_unseen rules[] = {PESS_UNSEEN_PAPER, PESS_UNSEEN_WORST, PESS_UNSEEN_SELF_LOOP};
    for (int rule = 0; rule < 3; rule++) {
        estimate e = estimate_random(400, 3, 3, rule == 1 ? 0.3 : 0, 40, 14, rules[rule]);
        for (int i = 4; i < BOUNDS; i++)
            for (int evaluation = 1; evaluation <= 2; evaluation++) {
                pess_solve_options options = options_for("ua", bounds[i], 0.5);
                options.gamma = 0.99;
                options.max_successors = 8;
                options.evaluation = (pess_evaluation)evaluation;
                pess_solution *found = solved(&e, &options);
                assert_converged(found);
                assert_true(info_of(found).iterations < 200);
                pess_solution_destroy(found);
            }
        estimate_destroy(&e);
    }
}

static void names_and_threads_do_not_matter(void **state) {
    (void)state;
    estimate e, other;
    relabelled(31, 3, 7, 5, 10, &e, &other);
    estimate large = estimate_random(2500, 2, 3, 0.1, 12, 11, PESS_UNSEEN_PAPER);
    for (int i = 0; i < BOUNDS; i++) {
        pess_solve_options options = options_for("ua", bounds[i], 0.5);
        pess_solution *x = solved(&e, &options), *y = solved(&other, &options);
        if (info_of(x).outcome == PESS_OUTCOME_CONVERGED)
            for (int64_t s = 0; s < 31; s++)
                assert_double_equal(pess_solution_values(x)[s], pess_solution_values(y)[(7 * s + 5) % 31], 1e-7);
        pess_solution_destroy(x);
        pess_solution_destroy(y);
        options.threads = 1;
        options.max_iterations = 500;
        x = solved(&large, &options);
        for (options.threads = 2; options.threads <= 4; options.threads += 2) {
            y = solved(&large, &options);
            assert_memory_equal(pess_solution_values(x), pess_solution_values(y), 2500 * sizeof(double));
            pess_solution_destroy(y);
        }
        pess_solution_destroy(x);
    }
    estimate_destroy(&e);
    estimate_destroy(&other);
    estimate_destroy(&large);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alpha_zero_is_naive),
        cmocka_unit_test(solves_its_equation),
        cmocka_unit_test(no_policy_does_better),
        cmocka_unit_test(more_pessimism_is_lower),
        cmocka_unit_test(statewise_beats_per_action),
        cmocka_unit_test(clipped_rewards_are_those_of_the_experiments),
        cmocka_unit_test(newtons_method_needs_few_steps),
        cmocka_unit_test(names_and_threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
