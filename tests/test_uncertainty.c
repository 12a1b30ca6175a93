/* Every formula of the table against values worked out by hand from the samples, and what all bounds have in common. */
#include "sampled.h"

#include "uncertainty/sets.h"

static double *compute(const char *name, const pess__u_problem *problem, const double *v) {
    pess_error error = {0};
    double *u = malloc((size_t)(problem->model->states * problem->model->actions) * sizeof *u);
    assert_non_null(u);
    OK(pess__uncertainty_find(name)->compute(problem, v, u, &error));
    return u;
}

/* Two states, two actions: (0,0) 16 times to 0 and 9 times to 1, (0,1) once, (1,0) 4 times, twice the end; (1,1) never.
 */
static estimate small_case(void) {
    sample_log log = sample_log_create(40);
    for (int i = 0; i < 25; i++) sample_log_add(&log, 0, 0, i % 2, i < 16 ? 0 : 1, false);
    sample_log_add(&log, 0, 1, 1, 1, false);
    for (int i = 0; i < 4; i++) sample_log_add(&log, 1, 0, 0, 1, i < 2);
    estimate e = estimate_create(&log, 2, 2, PESS_UNSEEN_PAPER);
    sample_log_destroy(&log);
    return e;
}

static void bounds_per_pair_are_those_of_their_formulas(void **state) {
    (void)state;
    estimate e = small_case();
    pess__u_problem problem = u_problem_of(&e, 0.9); /* W = 10 */
    assert_double_equal(problem.v_hi - problem.v_lo, 10, 1e-12);
    double *u = compute("count", &problem, NULL);
    assert_double_equal(u[0], 0.2, 1e-15);
    assert_double_equal(u[1], 1, 1e-15);
    assert_double_equal(u[2], 0.5, 1e-15);
    assert_double_equal(u[3], 10, 1e-12);
    free(u);
    u = compute("trivial", &problem, NULL);
    for (int z = 0; z < 4; z++) assert_double_equal(u[z], 10, 1e-12);
    free(u);
    pess__u_problem apart = problem;
    apart.v_lo = -2, apart.v_hi = 3;
    u = compute("trivial", &apart, NULL);
    for (int z = 0; z < 4; z++) assert_double_equal(u[z], 5, 1e-12);
    free(u);
    u = compute("hoeffding", &problem, NULL); /* ln(2·2·2/0.1) = ln 80 */
    assert_double_equal(u[0], 10 * sqrt(log(80) / 50), 1e-12);
    assert_double_equal(u[1], 10, 1e-12); /* the cap */
    assert_double_equal(u[2], 10 * sqrt(log(80) / 8), 1e-12);
    assert_double_equal(u[3], 10, 1e-12);
    free(u);
    problem.trajectories = true; /* δ/(25·26) */
    u = compute("hoeffding", &problem, NULL);
    assert_double_equal(u[0], 10 * fmin(sqrt(log(80 * 25 * 26) / 50), 1), 1e-12);
    free(u);
    problem.absorbed = true;
    u = compute("hoeffding", &problem, NULL);
    assert_double_equal(u[0], 0.2, 1e-15);
    free(u);
    estimate_destroy(&e);
}

static void bounds_per_state_are_those_of_their_formulas(void **state) {
    (void)state;
    pess_error error = {0};
    estimate e = small_case();
    pess__u_problem problem = u_problem_of(&e, 0.9);
    double c[2], w[4];
    const pess__uncertainty *row = pess__uncertainty_find("hoeffding-s");
    OK(row->statewise(&problem, c, w, &error)); /* |Π| = 2 */
    assert_double_equal(c[0], 10 * sqrt(0.5 * log(80)), 1e-12);
    assert_double_equal(c[1], c[0], 0);
    assert_double_equal(w[0], 0.04, 1e-15);
    assert_double_equal(w[1], 1, 1e-15);
    assert_true(w[3] == INFINITY);
    problem.local_policies = 1e300;
    OK(row->statewise(&problem, c, w, &error));
    assert_double_equal(c[0], 10 * sqrt(0.5 * (log(2 * 2 / 0.1) + 300 * log(10))), 1e-10);
    problem.trajectories = true; /* every (n(0), n(1)): 26·27·2·3 */
    OK(row->statewise(&problem, c, w, &error));
    assert_double_equal(c[0], 10 * sqrt(0.5 * (log(2 * 2 / 0.1) + 300 * log(10) + log(26 * 27 * 2 * 3))), 1e-10);
    problem.v_hi = INFINITY;
    assert_int_equal(row->statewise(&problem, c, w, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "needs a bounded range of values"));
    problem.absorbed = true; /* which needs none */
    OK(row->statewise(&problem, c, w, &error));
    assert_double_equal(c[1], 1, 0);
    problem.counts = NULL;
    assert_int_equal(row->statewise(&problem, c, w, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "needs the counts of a log"));
    estimate_destroy(&e);
}

/* Sample variance of r + γv(s') straight from the rows of a log. */
static double plain_bernstein(const sample_log *log, int64_t s, int64_t a, const double *v, double gamma, double width,
                              double log_term) {
    double sum = 0, square = 0, n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < log->rows; i++) {
            if (log->state[i] != s || log->action[i] != a) continue;
            const double x = log->reward[i] + gamma * (log->end[i] == PESS_END_TERMINAL ? 0 : v[log->next[i]]);
            if (pass == 0)
                sum += x, n++;
            else
                square += (x - sum / n) * (x - sum / n);
        }
    if (n < 2) return width;
    const double variance = square / (n - 1);
    return fmin(width, sqrt(2 * variance * log_term / n) + 7 * width * log_term / (3 * (n - 1)));
}

static void bernstein_is_that_of_the_raw_samples(void **state) {
    (void)state;
    world w = world_create(5, 2, 3, 0.5, 11);
    sample_log samples = sample_log_create(100000);
    pess__rng rng = pess__rng_stream(11, "bernstein", 0);
    const int64_t sizes[10] = {0, 1, 2, 30, 900, 2000, 5000, 5000, 10000, 20000};
    for (int64_t z = 0; z < 10; z++) world_sample(&w, z, sizes[z], &rng, &samples);
    estimate e = estimate_create(&samples, 5, 2, PESS_UNSEEN_PAPER);
    pess__u_problem problem = u_problem_of(&e, 0.9);
    const double v[5] = {9.5, 0.1, 5, 5, 8};
    double *u = compute("bernstein", &problem, v);
    bool informative = false;
    for (int64_t z = 0; z < 10; z++) {
        const double expected = plain_bernstein(&samples, z / 2, z % 2, v, 0.9, 10, log(3 * 10 / 0.1));
        assert_double_equal(u[z], expected, 1e-10);
        informative = informative || expected < 5;
    }
    assert_true(informative);
    double *loose = compute("bernstein", &problem, NULL); /* holds for the largest variance */
    for (int64_t z = 0; z < 10; z++) assert_true(loose[z] >= u[z] - 1e-12);
    free(u);
    free(loose);
    estimate_destroy(&e);
    sample_log_destroy(&samples);
    world_destroy(&w);
}

static void sets_have_the_parameters_of_their_formulas(void **state) {
    (void)state;
    pess_error error = {0};
    estimate e = small_case();
    pess__u_problem problem = u_problem_of(&e, 0.9);
    pess__set *set;
    const double dp = 0.05;                               /* half of δ */
    OK(pess__set_build(&problem, "l1", 1, &set, &error)); /* m = 2 states and the end */
    assert_double_equal(set->pairs[0].ball, sqrt(2 * (log(4 / dp) + 3 * log(2)) / 25), 1e-12);
    assert_double_equal(set->pairs[0].reward_width, sqrt(log(2 * 4 / dp) / 50), 1e-12);
    assert_double_equal(set->pairs[1].ball, 2, 0); /* n = 1: beyond every distribution */
    assert_true(set->pairs[0].end_open && !set->pairs[0].state_open);
    assert_true(!set->pairs[2].end_open && set->pairs[2].state_open);
    pess__set_destroy(set);
    OK(pess__set_build(&problem, "support", 1, &set, &error));
    const double b = log(3) + log(3); /* C(3,2) and m = 3 */
    assert_double_equal(set->pairs[0].unseen, (b + log(2 * 4 / dp)) / 25, 1e-12);
    assert_double_equal(set->pairs[0].seen_ball, sqrt(2 * (b + log(2 * 4 / dp) + 2 * log(2)) / 25), 1e-12);
    assert_double_equal(set->pairs[1].seen_ball, 0, 0); /* k = 1 */
    pess__set_destroy(set);
    problem.trajectories = true;
    OK(pess__set_build(&problem, "good-turing", 1, &set, &error)); /* no singletons in (0,0); one in (0,1) */
    const double price = log(25 * 26);
    assert_double_equal(set->pairs[0].unseen, fmin(1, (2 * sqrt(2) + sqrt(3)) * sqrt((log(9 * 4 / dp) + price) / 25)),
                        1e-12);
    assert_double_equal(set->pairs[0].ball, sqrt(2 * (log(3 * 4 / dp) + price + 3 * log(2)) / 25), 1e-12);
    assert_double_equal(set->pairs[0].seen_ball, sqrt(2 * (b + log(3 * 4 / dp) + price + 2 * log(2)) / 25), 1e-12);
    pess__set_destroy(set);
    problem.max_successors = 1;
    assert_int_equal(pess__set_build(&problem, "l1", 1, &set, &error), PESS_ARGUMENT); /* (0,0) shows two */
    assert_non_null(strstr(error.message, "shows 2 of state 0, action 0"));
    estimate_destroy(&e);
}

static void falls_with_counts(void **state) {
    (void)state;
    /* The same frequencies, 1, 2, 4, … times as many samples; u must fall, and reach the cap at the start. */
    const char *names[] = {"count", "hoeffding", "bernstein", "l1", "support", "good-turing"};
    const double v[3] = {0, 5, 10};
    double last[6] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
    for (int64_t copies = 1; copies <= 4096; copies *= 4) {
        sample_log log = sample_log_create(5 * copies);
        for (int64_t i = 0; i < 5 * copies; i++) sample_log_add(&log, 0, 0, 0, i % 5 < 3 ? 1 : 2, false);
        estimate e = estimate_create(&log, 3, 1, PESS_UNSEEN_WORST);
        for (int trajectories = 0; trajectories < 2; trajectories++) {
            pess__u_problem problem = u_problem_of(&e, 0.9);
            problem.trajectories = trajectories;
            for (int i = 0; i < 6; i++) {
                double *u = compute(names[i], &problem, v), *loose = compute(names[i], &problem, NULL);
                if (!trajectories) {
                    assert_true(u[0] < last[i] || u[0] > 10 - 1e-12);
                    last[i] = u[0];
                } else if (i > 0) {
                    assert_true(u[0] >= last[i]); /* adaptive counts cost something */
                }
                assert_double_equal(u[1] + u[2], 20, 1e-12); /* never seen */
                assert_true(loose[0] >= u[0] - 1e-12);
                free(u);
                free(loose);
            }
        }
        estimate_destroy(&e);
        sample_log_destroy(&log);
    }
    for (int i = 0; i < 6; i++) assert_true(last[i] < 1.5);
}

static void bounds_are_finite_at_a_million_states(void **state) {
    (void)state;
    pess_error error = {0};
    const int64_t many[2] = {2000, 1 << 20};
    for (int i = 0; i < 2; i++) {
        const int64_t states = many[i];
        sample_log log = sample_log_create(5000);
        for (int64_t j = 0; j < 5000; j++) sample_log_add(&log, 0, 0, 1, j % 50 == 0 ? 2 : 1, false);
        estimate e = estimate_create(&log, states, 1, PESS_UNSEEN_WORST);
        pess__u_problem problem = u_problem_of(&e, 0.9);
        double *v = calloc((size_t)states, sizeof *v);
        v[1] = v[2] = 10;
        const pess_uncertainty_info *info;
        for (size_t k = 0; (info = pess_uncertainty_list(k)) != NULL; k++) {
            if (!info->per_action) continue;
            double *u = compute(info->name, &problem, v);
            assert_true(u[0] > 0 && u[0] <= 10 + 1e-12);
            /* Only `support` says something of a row among a million possible successors: m·ln 2 is hopeless. */
            if (strcmp(info->name, "support") == 0) assert_true(u[0] < 1);
            if (strcmp(info->name, "l1") == 0) assert_true(states == 2000 || u[0] > 8);
            free(u);
        }
        double *c = malloc((size_t)states * sizeof *c), *w = malloc((size_t)states * sizeof *w);
        OK(pess__uncertainty_find("hoeffding-s")->statewise(&problem, c, w, &error));
        assert_true(isfinite(c[0]) && w[0] == 1.0 / 5000);
        free(c);
        free(w);
        free(v);
        estimate_destroy(&e);
        sample_log_destroy(&log);
    }
}

static void rows_of_the_table_agree_with_themselves(void **state) {
    (void)state;
    const pess_uncertainty_info *info;
    size_t count = 0;
    for (; (info = pess_uncertainty_list(count)) != NULL; count++) {
        const pess__uncertainty *row = pess__uncertainty_find(info->name);
        assert_ptr_equal(pess_uncertainty_find(info->name), info);
        assert_true(info->summary && info->formula && info->holds_for);
        assert_true((row->compute != NULL) == info->per_action && (row->statewise != NULL) == !info->per_action);
        assert_true((row->set_of != NULL) == info->is_set);
        if (info->is_set) assert_true(info->holds == PESS_HOLDS_EVERYTHING && info->depends_on_values);
    }
    assert_true(count >= 8);
    assert_null(pess_uncertainty_find("no such bound"));
    assert_null(pess_uncertainty_find(NULL));
    assert_string_equal(pess_uncertainty_find("count")->absorbed, "1/√n");
    assert_null(pess_uncertainty_find("l1")->absorbed);
}

static void an_unbounded_range_is_an_error(void **state) {
    (void)state;
    pess_error error = {0};
    estimate e = small_case();
    pess__u_problem problem = u_problem_of(&e, 0.9);
    problem.gamma = 1;
    problem.v_hi = INFINITY;
    double u[4];
    const char *names[] = {"trivial", "hoeffding", "bernstein", "l1", "support", "good-turing"};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(pess__uncertainty_find(names[i])->compute(&problem, NULL, u, &error), PESS_ARGUMENT);
        assert_non_null(strstr(error.message, "bounded range"));
    }
    OK(pess__uncertainty_find("count")->compute(&problem, NULL, u, &error));
    assert_true(u[3] == INFINITY);
    estimate_destroy(&e);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    estimate e = estimate_random(3000, 3, 4, 0.2, 6, 5, PESS_UNSEEN_PAPER);
    pess__u_problem problem = u_problem_of(&e, 0.9);
    double *v = malloc(3000 * sizeof *v);
    pess__rng rng = pess__rng_stream(6, "values", 0);
    for (int s = 0; s < 3000; s++) v[s] = 10 * pess__rng_uniform(&rng);
    const char *names[] = {"hoeffding", "bernstein", "l1", "support", "good-turing"};
    for (int i = 0; i < 5; i++) {
        problem.threads = 1;
        double *one = compute(names[i], &problem, v);
        for (int threads = 2; threads <= 4; threads += 2) {
            problem.threads = threads;
            double *many = compute(names[i], &problem, v);
            assert_memory_equal(one, many, 9000 * sizeof *one);
            free(many);
        }
        free(one);
    }
    free(v);
    estimate_destroy(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_the_table_agree_with_themselves),
        cmocka_unit_test(bounds_per_pair_are_those_of_their_formulas),
        cmocka_unit_test(bounds_per_state_are_those_of_their_formulas),
        cmocka_unit_test(bernstein_is_that_of_the_raw_samples),
        cmocka_unit_test(sets_have_the_parameters_of_their_formulas),
        cmocka_unit_test(falls_with_counts),
        cmocka_unit_test(bounds_are_finite_at_a_million_states),
        cmocka_unit_test(an_unbounded_range_is_an_error),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
