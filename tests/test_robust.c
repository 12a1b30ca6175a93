/* Robust values against plain value iteration over worst cases written out by sorting, and what they must obey. */
#include "solved.h"

#include "uncertainty/sets.h"

static const char *const sets[] = {"l1", "support", "good-turing"};

typedef struct entry {
    double value, mass;
} entry;

static int rising(const void *x, const void *y) {
    const double a = ((const entry *)x)->value, b = ((const entry *)y)->value;
    return a < b ? -1 : a > b ? 1 : 0;
}

/* Sorted by value, `amount` taken from the top; what it was worth. */
static double taken_from_top(const entry *entries, int count, double amount) {
    double worth = 0;
    for (int i = count - 1; i >= 0 && amount > 0; i--) {
        const double part = fmin(amount, entries[i].mass);
        worth += part * entries[i].value;
        amount -= part;
    }
    return worth;
}

/* min P·v over the pair's set, from its parameters. */
static double plain_worst(const estimate *e, const pess__set_pair *set, int64_t z, const double *v) {
    const pess_model *model = e->model;
    entry entries[70];
    int count = 0;
    double centre = 0, anywhere = INFINITY;
    for (int64_t i = model->row[z]; i < model->row[z + 1]; i++)
        entries[count++] = (entry){v[model->next[i]], model->probability[i]};
    if (model->end_mass[z] > 0) entries[count++] = (entry){0, model->end_mass[z]};
    for (int i = 0; i < count; i++) centre += entries[i].value * entries[i].mass;
    qsort(entries, (size_t)count, sizeof *entries, rising);
    const double low = entries[0].value;
    if (set->state_open)
        for (int64_t s = 0; s < model->states; s++)
            if (!model->terminal[s]) anywhere = fmin(anywhere, v[s]);
    if (set->end_open) anywhere = fmin(anywhere, 0);
    double found = -INFINITY;
    if (isfinite(set->ball)) {
        const double moved = set->ball / 2, out = anywhere < low ? fmin(moved, set->unseen) : 0;
        found = centre - taken_from_top(entries, count, moved) + (out > 0 ? out * anywhere : 0) + (moved - out) * low;
    }
    if (isfinite(set->seen_ball)) {
        const double moved = set->seen_ball / 2;
        double seen = centre - taken_from_top(entries, count, moved) + moved * low;
        if (anywhere < seen) seen = (1 - set->unseen) * seen + set->unseen * anywhere;
        found = fmax(found, seen);
    }
    return found;
}

static double plain_q(const estimate *e, const pess__set *set, double alpha, int64_t z, const double *v) {
    const double v_lo = set->problem.v_lo;
    if (e->counts->n[z] == 0) return (1 - alpha) * naive_q(e->model, 0.9, v_lo, z, v) + alpha * v_lo;
    return fmax(e->model->reward[z] - set->pairs[z].reward_width, 0) + 0.9 * plain_worst(e, &set->pairs[z], z, v);
}

/* v ← max_a (or Σ_a π) of plain_q, 400 times: 0.9^400 is 5e-19. */
static void plain_values(const estimate *e, const pess__set *set, double alpha, const pess_policy *policy, double *v) {
    const int64_t states = e->model->states, actions = e->model->actions;
    double *next = malloc((size_t)states * sizeof *next);
    memset(v, 0, (size_t)states * sizeof *v);
    for (int sweep = 0; sweep < 400; sweep++) {
        for (int64_t s = 0; s < states; s++) {
            double best = policy ? 0 : -INFINITY;
            for (int64_t z = s * actions; z < (s + 1) * actions; z++) {
                const double q = plain_q(e, set, alpha, z, v);
                best = policy ? best + policy->probability[z] * q : fmax(best, q);
            }
            next[s] = e->model->terminal[s] ? 0 : best;
        }
        memcpy(v, next, (size_t)states * sizeof *v);
    }
    free(next);
}

static void matches_plain_value_iteration(void **state) {
    (void)state;
    pess_error error = {0};
    for (uint64_t seed = 1; seed <= 6; seed++) {
        estimate e = estimate_random(20, 3, 5, seed % 2 ? 0.4 : 0, seed % 3 ? 300 : 30, seed, (pess_unseen)(seed % 3));
        pess_policy *policy = random_policy(e.model, seed);
        for (int i = 0; i < 3; i++)
            for (int variant = 0; variant < 3; variant++) {
                pess_solve_options options = options_for("robust", sets[i], variant == 2 ? 0.3 : 1);
                e.counts->has_episodes = variant == 1;
                pess__u_problem problem = u_problem_of(&e, 0.9);
                problem.trajectories = variant == 1;
                pess__set *set;
                OK(pess__set_build(&problem, sets[i], options.alpha, &set, &error));
                double v[20];
                pess_solution *best = solved(&e, &options), *value = evaluated(&e, policy, &options);
                assert_converged(best);
                assert_converged(value);
                plain_values(&e, set, options.alpha, NULL, v);
                for (int s = 0; s < 20; s++) assert_double_equal(pess_solution_values(best)[s], v[s], 1e-8);
                plain_values(&e, set, options.alpha, policy, v);
                for (int s = 0; s < 20; s++) assert_double_equal(pess_solution_values(value)[s], v[s], 1e-8);
                pess_solution_destroy(best);
                pess_solution_destroy(value);
                pess__set_destroy(set);
            }
        pess_policy_destroy(policy);
        estimate_destroy(&e);
    }
}

static void values_lie_between_naive_and_the_bottom(void **state) {
    (void)state;
    estimate e = estimate_random(25, 3, 4, 0.3, 300, 7, PESS_UNSEEN_WORST);
    const pess_solve_options naive = options_for("naive", NULL, 1);
    pess_solution *top = solved(&e, &naive);
    for (int i = 0; i < 3; i++) {
        double last[25];
        memcpy(last, pess_solution_values(top), sizeof last);
        for (int step = 0; step <= 5; step++) {
            const pess_solve_options options = options_for("robust", sets[i], 0.2 * step);
            pess_solution *found = solved(&e, &options);
            if (step == 0) assert_memory_equal(pess_solution_values(found), last, sizeof last);
            for (int s = 0; s < 25; s++) {
                assert_true(pess_solution_values(found)[s] <= last[s] + 1e-9);
                assert_true(pess_solution_values(found)[s] >= -1e-9);
                last[s] = pess_solution_values(found)[s];
            }
            if (step > 0) assert_true(info_of(found).value < info_of(top).value - 1e-3);
            pess_solution_destroy(found);
        }
    }
    pess_solution_destroy(top);
    estimate_destroy(&e);
}

/* The returned policy's true value is at least the robust one: the truth is in the set (here it is, by construction of
 * the seed; the statistical promise is tested with the sets). */
static void bounds_the_truth_from_below(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        world w = world_create(6, 2, 2, 0, seed);
        sample_log log = sample_log_create(6 * 2 * 2000);
        pess__rng rng = pess__rng_stream(seed, "truth", 0);
        for (int64_t z = 0; z < 12; z++) world_sample(&w, z, 2000, &rng, &log);
        estimate e = estimate_create(&log, 6, 2, PESS_UNSEEN_WORST);
        for (int i = 0; i < 3; i++) {
            const pess_solve_options options = options_for("robust", sets[i], 1);
            pess_solution *found = solved(&e, &options);
            const pess_policy *policy = pess_solution_policy(found);
            double v[6] = {0}, next[6];
            for (int sweep = 0; sweep < 400; sweep++) {
                for (int s = 0; s < 6; s++) {
                    next[s] = 0;
                    for (int z = 2 * s; z < 2 * s + 2; z++) {
                        double q = w.reward[z];
                        for (int t = 0; t < 6; t++) q += 0.9 * w.next[7 * z + t] * v[t];
                        next[s] += policy->probability[z] * q;
                    }
                }
                memcpy(v, next, sizeof v);
            }
            for (int s = 0; s < 6; s++) {
                assert_true(pess_solution_values(found)[s] <= v[s]);
                assert_true(pess_solution_values(found)[s] > 0.5 * v[s]); /* and says something */
            }
            pess_solution_destroy(found);
        }
        estimate_destroy(&e);
        sample_log_destroy(&log);
        world_destroy(&w);
    }
}

static void an_unseen_pair_is_the_bottom(void **state) {
    (void)state;
    sample_log log = sample_log_create(100000);
    for (int i = 0; i < 50000; i++) sample_log_add(&log, 0, 0, 0.5, 0, false);
    estimate e = estimate_create(&log, 2, 2, PESS_UNSEEN_PAPER); /* state 1 and (0,1) never */
    pess_solve_options options = options_for("robust", "support", 1);
    pess_solution *found = solved(&e, &options);
    const double *v = pess_solution_values(found);
    assert_double_equal(v[1], 0, 1e-12);
    assert_true(v[0] > 4.8 && v[0] < 5); /* r − h, and next to nothing to state 1 */
    assert_true(pess_policy_row(pess_solution_policy(found), 0)[0] == 1);
    pess_solution_destroy(found);
    options.alpha = 1.5;
    pess_error error = {0};
    const double start[2] = {1, 0};
    assert_int_equal(pess_solve(e.counts, e.model, start, &options, &found, &error), PESS_ARGUMENT);
    options = options_for("robust", "hoeffding", 1);
    assert_int_equal(pess_solve(e.counts, e.model, start, &options, &found, &error), PESS_ARGUMENT);
    estimate_destroy(&e);
    sample_log_destroy(&log);
}

/* Without a discount: every pair ends or moves on with probability one half; sweeps get there. */
static void values_need_no_discount_where_episodes_end(void **state) {
    (void)state;
    sample_log log = sample_log_create(40000);
    for (int i = 0; i < 40000; i++) sample_log_add(&log, i % 2, 0, 1, 1 - i % 2, i % 4 < 2);
    estimate e = estimate_create(&log, 2, 1, PESS_UNSEEN_WORST);
    pess_solve_options options = options_for("robust", "l1", 1);
    options.gamma = 1;
    pess_solution *found = solved(&e, &options);
    assert_converged(found);
    assert_true(info_of(found).value > 1.7 && info_of(found).value < 2); /* 2 for the frequencies as they are */
    pess_solution_destroy(found);
    estimate_destroy(&e);
    sample_log_destroy(&log);
}

static void names_and_threads_do_not_matter(void **state) {
    (void)state;
    estimate e, other, large = estimate_random(3000, 2, 4, 0.1, 30, 12, PESS_UNSEEN_PAPER);
    relabelled(29, 3, 8, 3, 11, &e, &other);
    for (int i = 0; i < 3; i++) {
        pess_solve_options options = options_for("robust", sets[i], 1);
        pess_solution *x = solved(&e, &options), *y = solved(&other, &options);
        for (int64_t s = 0; s < 29; s++)
            assert_double_equal(pess_solution_values(x)[s], pess_solution_values(y)[(8 * s + 3) % 29], 1e-8);
        pess_solution_destroy(x);
        pess_solution_destroy(y);
        options.threads = 1;
        x = solved(&large, &options);
        assert_converged(x);
        assert_true(info_of(x).iterations < 100); /* policy iteration, not sweeps */
        for (options.threads = 2; options.threads <= 4; options.threads += 2) {
            y = solved(&large, &options);
            assert_memory_equal(pess_solution_values(x), pess_solution_values(y), 3000 * sizeof(double));
            assert_memory_equal(pess_policy_row(pess_solution_policy(x), 0),
                                pess_policy_row(pess_solution_policy(y), 0), 6000 * sizeof(double));
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
        cmocka_unit_test(matches_plain_value_iteration),
        cmocka_unit_test(values_lie_between_naive_and_the_bottom),
        cmocka_unit_test(bounds_the_truth_from_below),
        cmocka_unit_test(an_unseen_pair_is_the_bottom),
        cmocka_unit_test(values_need_no_discount_where_episodes_end),
        cmocka_unit_test(names_and_threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
