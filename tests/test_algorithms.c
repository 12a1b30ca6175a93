/* The table of algorithms, and what holds for each of them; RaMDP, R-MIN and DUIPI by their definitions. */
#include "fixture.h"
#include "solve/algorithm.h"

static const fixture_shape shape = {
    .states = 30, .actions = 3, .branching = 3, .uniform = 0.1, .end = 0.1, .terminals = 1};
static const double gamma_used = 0.9;

static pess_solve_options options_for(const char *algorithm) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = algorithm;
    options.gamma = gamma_used;
    options.min_count = 8;
    return options;
}

static double mean_of(const double *start, const double *v, int64_t n) {
    double sum = 0;
    for (int64_t s = 0; s < n; s++) sum += start[s] * v[s];
    return sum;
}

/* Every algorithm solves, and what it returns fits together: rows sum to one, value and naive_value are those of the
 * policy by evaluation of it, evaluate says the same. */
static void every_algorithm_solves_and_evaluates(void **state) {
    (void)state;
    pess_model *model = fixture_model(&shape, 4);
    pess_counts *counts = fixture_counts(model, 40, 4);
    double *start = fixture_start(model);
    const pess_algorithm_info *algorithm;
    size_t count = 0;
    for (; (algorithm = pess_algorithm_list(count)) != NULL; count++) {
        pess_error error = {0};
        assert_ptr_equal(pess_algorithm_find(algorithm->name), algorithm);
        assert_true(strlen(algorithm->summary) > 10 && strlen(algorithm->equation) > 5 &&
                    strlen(algorithm->source) > 5);
        pess_solve_options options = options_for(algorithm->name);
        options.tolerance = 1e-8;
        options.max_iterations = 20000;
        pess_solution *solution = NULL, *again = NULL;
        OK(pess_solve(counts, model, start, &options, &solution, &error));
        pess_solution_info info;
        pess_solution_get_info(solution, &info);
        assert_non_null(info.method);
        assert_non_null(info.evaluation);
        assert_true(isfinite(info.residual) && info.residual >= 0);
        const pess_policy *policy = pess_solution_policy(solution);
        double *naive = fixture_evaluate(model, policy, gamma_used);
        assert_true(fixture_difference(naive, pess_solution_naive_values(solution), model->states) <= 1e-6);
        assert_true(fabs(info.naive_value - mean_of(start, naive, model->states)) <= 1e-6);
        assert_true(fabs(info.value - mean_of(start, pess_solution_values(solution), model->states)) <= 1e-12);
        OK(pess_evaluate(counts, model, start, policy, &options, &again, &error));
        assert_true(fixture_difference(pess_solution_values(again), pess_solution_values(solution), model->states) <=
                    1e-5);
        free(naive);
        pess_solution_destroy(solution);
        pess_solution_destroy(again);
    }
    assert_true(count >= 12);
    assert_null(pess_algorithm_find("no such algorithm"));
    assert_null(pess_algorithm_find(NULL));
    free(start);
    pess_counts_destroy(counts);
    pess_model_destroy(model);
}

/* RaMDP is naive in a model whose rewards are lowered by hand; R-MIN in one whose rare pairs are sinks. */
static void ramdp_and_rmin_are_naive_in_models_lowered_by_hand(void **state) {
    (void)state;
    for (int which = 0; which < 2; which++) {
        pess_error error = {0};
        pess_model *model = fixture_model(&shape, 8);
        pess_counts *counts = fixture_counts(model, 40, 8);
        double *start = fixture_start(model), lo, hi;
        pess__value_range(model, gamma_used, &lo, &hi);
        pess_solve_options options = options_for(which == 0 ? "ramdp" : "rmin");
        options.alpha = 0.3;
        pess_solution *solution = NULL, *plain = NULL;
        OK(pess_solve(counts, model, start, &options, &solution, &error));
        for (int64_t z = 0; z < model->states * model->actions; z++) {
            if (model->kind[z] == PESS_ROW_NONE) continue;
            const double n = (double)counts->n[z];
            if (which == 0)
                model->reward[z] -= 0.3 * (n > 0 ? fmin(1 / sqrt(n), hi - lo) : hi - lo);
            else if (n < 8) {
                model->kind[z] = PESS_ROW_SINK;
                model->reward[z] = lo - gamma_used * lo;
            }
        }
        options = options_for("naive");
        OK(pess_solve(NULL, model, start, &options, &plain, &error));
        assert_true(fixture_difference(pess_solution_values(plain), pess_solution_values(solution), 30) <= 1e-9);
        pess_solution_destroy(solution);
        pess_solution_destroy(plain);
        free(start);
        pess_counts_destroy(counts);
        pess_model_destroy(model);
    }
}

/* ramdp and ua with count are one method by two names. */
static void ramdp_is_ua_with_count(void **state) {
    (void)state;
    pess_error error = {0};
    pess_model *model = fixture_model(&shape, 9);
    pess_counts *counts = fixture_counts(model, 40, 9);
    double *start = fixture_start(model);
    pess_solve_options options = options_for("ramdp");
    pess_solution *ramdp = NULL, *ua = NULL;
    OK(pess_solve(counts, model, start, &options, &ramdp, &error));
    options = options_for("ua");
    options.uncertainty = "count";
    OK(pess_solve(counts, model, start, &options, &ua, &error));
    assert_true(fixture_difference(pess_solution_values(ramdp), pess_solution_values(ua), 30) <= 1e-9);
    pess_solution_destroy(ramdp);
    pess_solution_destroy(ua);
    free(start);
    pess_counts_destroy(counts);
    pess_model_destroy(model);
}

/* Mean and variance of DUIPI by iterating its two equations from zero, for the returned policy. */
static void duipi_solves_its_equations(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        pess_error error = {0};
        pess_model *model = fixture_model(&shape, 60 + seed);
        pess_counts *counts = fixture_counts(model, 60, seed);
        double *start = fixture_start(model), lo, hi;
        pess__value_range(model, gamma_used, &lo, &hi);
        pess_solve_options options = options_for("duipi");
        options.alpha = 0.5;
        pess_solution *solution = NULL;
        OK(pess_solve(counts, model, start, &options, &solution, &error));
        const double *pi = pess_solution_policy(solution)->probability;
        const int64_t states = 30, pairs = 90;
        double v[30] = {0}, variance[30] = {0},
               *truth = fixture_evaluate(model, pess_solution_policy(solution), gamma_used);
        memcpy(v, truth, sizeof v);
        double q_variance[90] = {0}, prior = 1.0 / (30 + (model->has_terminals ? 1 : 0));
        for (int sweep = 0; sweep < 400; sweep++) {
            for (int64_t z = 0; z < pairs; z++) {
                const double n = (double)counts->n[z], r = model->reward[z];
                q_variance[z] = model->kind[z] == PESS_ROW_NONE ? 0 : (hi - lo) * (hi - lo);
                if (model->kind[z] != PESS_ROW_SPARSE || n == 0) continue;
                q_variance[z] = 0;
                for (int64_t s = 0; s < states; s++) {
                    double seen = 0;
                    for (int64_t k = counts->row[z]; k < counts->row[z + 1]; k++)
                        if (counts->next[k] == s) seen = (double)counts->n_next[k];
                    const double p = (seen + prior) / (n + 1), d = r + gamma_used * v[s];
                    const double step = gamma_used * pess_model_probability(model, z / 3, z % 3, s);
                    q_variance[z] += step * step * variance[s] + d * d * p * (1 - p) / (n + 2);
                }
                if (model->has_terminals) {
                    const double p = prior / (n + 1); /* no terminal transition was counted */
                    q_variance[z] += r * r * p * (1 - p) / (n + 2);
                }
                const double scatter = n * r - n * r * r; /* rewards 0 or 1 */
                q_variance[z] += (scatter + 1.5 * 1.5 / 4) / ((n + 1) * n);
            }
            for (int64_t s = 0; s < states; s++) {
                variance[s] = 0;
                for (int64_t a = 0; a < 3; a++) variance[s] += pi[3 * s + a] * pi[3 * s + a] * q_variance[3 * s + a];
            }
        }
        pess_solution_info info;
        pess_solution_get_info(solution, &info);
        double gain = 0;
        for (int64_t s = 0; s < states; s++) {
            assert_true(fabs(v[s] - 0.5 * sqrt(variance[s]) - pess_solution_values(solution)[s]) <= 1e-6);
            if (model->terminal[s]) continue;
            double best = -INFINITY;
            for (int64_t z = 3 * s; z < 3 * s + 3; z++)
                if (model->kind[z] != PESS_ROW_NONE)
                    best = fmax(best, model->reward[z] + gamma_used * fixture_next_value(model, gamma_used, z, v) -
                                          0.5 * sqrt(q_variance[z]));
            gain = fmax(gain, fabs(best - pess_solution_values(solution)[s]));
        }
        assert_true(fabs(gain - info.residual) <= 1e-6);
        if (info.outcome == PESS_OUTCOME_CONVERGED) assert_true(info.residual <= 2e-8);
        free(truth);
        pess_solution_destroy(solution);
        free(start);
        pess_counts_destroy(counts);
        pess_model_destroy(model);
    }
}

/* NULL options are the defaults, and an alpha that is not given is the span of the rewards, from
 * -0.5 to 1, absorbed, for the algorithm's own uncertainty; 1 in the theory's units for another one and for sets. */
static void null_options_are_the_defaults(void **state) {
    (void)state;
    pess_error error = {0};
    pess_model *model = fixture_model(&shape, 4);
    pess_counts *counts = fixture_counts(model, 40, 4);
    double *start = fixture_start(model);
    static const struct {
        const char *algorithm, *uncertainty;
        double alpha;
        bool absorbed;
    } cases[] = {{"ua", NULL, 1.5, true},     {"ua", "count", 1.5, true},    {"ua", "hoeffding", 1, false},
                 {"robust", NULL, 1, false},  {"proximal", NULL, 1.5, true}, {"ramdp", NULL, 1.5, true},
                 {"naive", NULL, NAN, false}, {"spibb", NULL, NAN, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pess_solve_options options = pess_solve_options_defaults();
        options.algorithm = cases[i].algorithm;
        options.uncertainty = cases[i].uncertainty;
        pess_solution *solution = NULL;
        OK(pess_solve(counts, model, start, &options, &solution, &error));
        pess_solution_info info;
        pess_solution_get_info(solution, &info);
        assert_true(isnan(cases[i].alpha) ? isnan(info.alpha) : info.alpha == cases[i].alpha);
        assert_int_equal(info.absorbed, cases[i].absorbed);
        if (i == 0) {
            pess_solution *same = NULL, *value = NULL;
            OK(pess_solve(counts, model, start, NULL, &same, &error));
            OK(pess_evaluate(counts, model, start, pess_solution_policy(same), NULL, &value, &error));
            assert_memory_equal(pess_solution_values(solution), pess_solution_values(same),
                                (size_t)model->states * sizeof(double));
            OK(pess_visitation(model, start, pess_solution_policy(same), NULL, start, &error));
            free(start);
            start = fixture_start(model);
            pess_solution_destroy(same);
            pess_solution_destroy(value);
        }
        pess_solution_destroy(solution);
    }
    pess_solve_options both = pess_solve_options_defaults();
    pess_solution *solution = NULL;
    both.alpha = both.absorbed_alpha = 1;
    assert_int_equal(pess_solve(counts, model, start, &both, &solution, &error), PESS_ARGUMENT);
    free(start);
    pess_counts_destroy(counts);
    pess_model_destroy(model);
}

/* Every name that an algorithm or an uncertainty says it reads is a setting of some algorithms alone, and every such
 * setting is read by some algorithm. */
static void specific_settings_are_those_that_some_algorithm_reads(void **state) {
    (void)state;
    const pess_setting_table *table = pess_solve_settings();
    const pess_algorithm_info *algorithm;
    const pess_uncertainty_info *bound;
    for (size_t i = 0; i < table->count; i++) {
        bool read = false;
        for (size_t k = 0; (algorithm = pess_algorithm_list(k)) != NULL; k++)
            read |= pess_setting_listed(algorithm->settings, table->rows[i].name);
        for (size_t k = 0; (bound = pess_uncertainty_list(k)) != NULL; k++)
            read |= pess_setting_listed(bound->settings, table->rows[i].name);
        assert_int_equal(read, table->rows[i].specific);
    }
    for (size_t k = 0; (algorithm = pess_algorithm_list(k)) != NULL; k++)
        assert_int_equal(pess_setting_listed(algorithm->settings, "uncertainty"),
                         algorithm->default_uncertainty != NULL);
    assert_true(pess_algorithm_reads("spibb", NULL, "min-count") && pess_algorithm_reads("spibb", NULL, "gamma"));
    assert_false(pess_algorithm_reads("spibb", NULL, "alpha") || pess_algorithm_reads("ua", NULL, "delta"));
    assert_true(pess_algorithm_reads("ua", "hoeffding", "delta") && pess_algorithm_reads("robust", NULL, "delta"));
    assert_false(pess_algorithm_reads("naive", "hoeffding", "delta") || pess_algorithm_reads("ua", NULL, "no setting"));
    assert_false(pess_algorithm_reads(NULL, NULL, "alpha"));
    assert_true(pess_algorithm_reads("naive", NULL, "method") && pess_algorithm_reads("ua", NULL, "method"));
    for (size_t k = 0; (algorithm = pess_algorithm_list(k)) != NULL; k++)
        assert_int_equal(pess_algorithm_reads(algorithm->name, NULL, "method"),
                         pess__algorithm_find(algorithm->name)->own_way == NULL);
}

/* What makes a policy, and not its value, is read by nobody who evaluates one. */
static void evaluating_reads_less_than_solving(void **state) {
    (void)state;
    assert_true(pess_algorithm_reads("spibb", NULL, "min-count") && pess_evaluation_reads("rmin", NULL, "min-count"));
    assert_false(pess_evaluation_reads("spibb", NULL, "min-count") || pess_evaluation_reads("naive", NULL, "method"));
    assert_false(pess_evaluation_reads("ua", "count", "max-iterations"));
    assert_true(pess_evaluation_reads("robust", NULL, "max-iterations") && pess_evaluation_reads("ua", NULL, "alpha"));
    assert_true(pess_evaluation_reads("spibb", NULL, "gamma"));
    assert_false(pess_evaluation_reads(NULL, NULL, "alpha") || pess_evaluation_reads("ua", NULL, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_algorithm_solves_and_evaluates),
                                       cmocka_unit_test(ramdp_and_rmin_are_naive_in_models_lowered_by_hand),
                                       cmocka_unit_test(ramdp_is_ua_with_count),
                                       cmocka_unit_test(duipi_solves_its_equations),
                                       cmocka_unit_test(null_options_are_the_defaults),
                                       cmocka_unit_test(specific_settings_are_those_that_some_algorithm_reads),
                                       cmocka_unit_test(evaluating_reads_less_than_solving)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
