/* The tests behind a certificate, one at a time: each holds as often as it must, says something, and would be caught if
 * its radius were half of what it is. False alarms: 1e-6 per check of coverage. */
#include "core/threads.h"
#include "coverage.h"
#include "small_worlds.h"

#include "certify/episode_returns.h"
#include "certify/holdout.h"
#include "certify/pooled.h"
#include "certify/robust.h"
#include "core/rng.h"

enum { STATES = 30 };

/* One action, coins of different bias, a next state drawn from three. */
static world coins(double gamma) {
    pess_mdp_transition transitions[STATES * 6];
    int64_t count = 0;
    for (int64_t s = 0; s < STATES; s++)
        for (int64_t i = 0; i < 3; i++) {
            const double p = 0.2 + 0.6 * (double)s / STATES, q = i == 0 ? 0.6 : 0.2;
            const int64_t next = (s + i * 7 + 1) % STATES;
            transitions[count++] = (pess_mdp_transition){s, 0, next, q * p, 1};
            transitions[count++] = (pess_mdp_transition){s, 0, next, q * (1 - p), 0};
        }
    pess_mdp *mdp = NULL;
    MUST(pess_mdp_create(STATES, 1, transitions, count, &mdp, error));
    return world_of(mdp, gamma, 0);
}

static pess__holdout *holdout_of(const world *w, const pess_counts *first, const pess_counts *second, double ratio,
                                 pess__holdout_setup setup) {
    static const uint8_t none[STATES];
    setup.first = first;
    setup.second = second;
    setup.policy = w->logging;
    setup.start = setup.start_first = w->start;
    setup.terminal = none;
    setup.ratio = ratio;
    setup.gamma = w->gamma;
    setup.reward_hi = 1;
    setup.v_hi = 1 / (1 - w->gamma);
    setup.threads = 1;
    pess__holdout *test = NULL;
    MUST(pess__holdout_run(&setup, &test, error));
    return test;
}

static double mean_reward(const pess_counts *counts, int64_t s) {
    return counts->n[s] > 0 ? counts->reward_sum[s] / (double)counts->n[s] : 0.5;
}

/* At γ = 0 the box is the mean reward ± its width, state by state. */
static void the_box_covers_and_half_of_it_does_not(void **state) {
    (void)state;
    world w = coins(0);
    const int64_t runs = coverage_runs(600), allowed = failures_allowed(runs, 0.05);
    int64_t wrong = 0, mutant_wrong = 0;
    for (int64_t r = 0; r < runs; r++) {
        const uint64_t seed = coverage_seed(1) * 1000 + 2 * (uint64_t)r;
        pess_counts *first = counts_of(&w, 1000, seed), *second = counts_of(&w, 3000, seed + 1);
        pess__holdout *test =
            holdout_of(&w, first, second, 3, (pess__holdout_setup){.delta_box = 0.05, .delta_sets = 0.05});
        bool outside = false, outside_half = false;
        for (int64_t s = 0; s < STATES; s++) {
            const double truth = pess_model_reward(w.model, s, 0), mean = mean_reward(second, s);
            const double low = mean - (mean - test->low[s]) / 2, high = mean + (test->high[s] - mean) / 2;
            if (truth < test->low[s] || truth > test->high[s]) outside = true;
            if (truth < low || truth > high) outside_half = true;
        }
        wrong += outside;
        mutant_wrong += outside_half;
        pess__holdout_destroy(test);
        pess_counts_destroy(first);
        pess_counts_destroy(second);
    }
    print_message("box: wrong %lld, half the radius %lld, allowed %lld of %lld\n", (long long)wrong,
                  (long long)mutant_wrong, (long long)allowed, (long long)runs);
    assert_true(wrong <= allowed);
    assert_true(mutant_wrong > allowed);
    world_free(&w);
}

/* The pooled bound of ρ·v^π. On one state there is nothing to pool and the bound is nearly exact, so that half of it
 * is caught; on many states it must hold too. */
static void pooled_runs(const world *w, int64_t runs, int64_t size, double delta, int64_t *wrong, int64_t *mutant) {
    int64_t pooled = 0;
    *wrong = *mutant = 0;
    for (int64_t r = 0; r < runs; r++) {
        const uint64_t seed = coverage_seed(2) * 1000 + 2 * (uint64_t)r;
        pess_counts *first = counts_of(w, size, seed), *second = counts_of(w, 3 * size, seed + 1);
        const pess__holdout_setup shares = {.delta_box = delta / 8,
                                            .delta_sets = delta / 8,
                                            .delta_pooled = delta / 2,
                                            .delta_relative = delta / 4,
                                            .max_successors = 3,
                                            .pooled = true};
        pess__holdout *test = holdout_of(w, first, second, 3, shares);
        const double half = (test->pooled_upper - test->pooled_lower) / 4;
        const double centre = (test->pooled_upper + test->pooled_lower) / 2;
        *wrong += w->optimal < test->pooled_lower;
        *mutant += w->optimal < centre - half;
        pooled += test->pooled_lower > 0;
        pess__holdout_destroy(test);
        pess_counts_destroy(first);
        pess_counts_destroy(second);
    }
    assert_true(pooled > runs * 9 / 10); /* it is the pooled test that is being tested */
}

static void the_pooled_bound_covers_and_half_its_radius_does_not(void **state) {
    (void)state;
    const double delta = 0.004;
    world many = coins(0.5), one = world_bandit(1, 0.5, 0.5, 0.5, 0);
    const int64_t runs = coverage_runs(200), more = coverage_runs(4000), allowed = failures_allowed(more, delta);
    int64_t wrong, mutant;
    pooled_runs(&many, runs, 3000, delta, &wrong, &mutant);
    assert_true(wrong <= failures_allowed(runs, delta));
    pooled_runs(&one, more, 300, delta, &wrong, &mutant);
    print_message("pooled: wrong %lld, half the radius %lld, allowed %lld of %lld\n", (long long)wrong,
                  (long long)mutant, (long long)allowed, (long long)more);
    assert_true(wrong <= allowed);
    assert_true(mutant > allowed);
    world_free(&many);
    world_free(&one);
}

/* T^π v in the process of coins(): state s pays with probability 0.2 + 0.6·s/STATES. */
static double coins_update(const double *v, int64_t s, double gamma) {
    double next = 0;
    for (int64_t i = 0; i < 3; i++) next += (i == 0 ? 0.6 : 0.2) * v[(s + i * 7 + 1) % STATES];
    return 0.2 + 0.6 * (double)s / STATES + gamma * next;
}

/* How far ṽ = min(T^π ṽ, cap) is below what (1) says of it: v̂ − Σ D·x over the states below the cap, less the excess at
 * the others. Not at all, from any state; without the excess it is. */
typedef struct cap_check {
    double worst, worst_without; /* the least of ṽ − what (1) says */
    int64_t capped;
} cap_check;

static cap_check check_cap(const pess__holdout *test, const pess__pooled_view *view) {
    const double gamma = test->setup.gamma;
    double v[STATES] = {0}, x[STATES];
    cap_check found = {INFINITY, INFINITY, 0};
    for (int sweep = 0; sweep < 200; sweep++)
        for (int64_t s = 0; s < STATES; s++) v[s] = fmin(coins_update(v, s, gamma), test->cap[s]);
    for (int64_t s = 0; s < STATES; s++) {
        const double mean = coins_update(v, s, gamma);
        x[s] = mean > test->cap[s] ? 0 : pess__mean_outcome(view->counts, s, v, gamma) - mean;
        found.capped += mean > test->cap[s];
        assert_true(v[s] <= mean + 1e-12);
    }
    for (int64_t s = 0; s < STATES; s++) {
        double noise = 0, excess = 0;
        for (int64_t t = 0; t < STATES; t++) {
            noise += view->inverse[s * STATES + t] * x[t];
            excess += view->inverse[s * STATES + t] * view->excess[t];
        }
        found.worst = fmin(found.worst, v[s] - (view->low_value[s] - noise - excess));
        found.worst_without = fmin(found.worst_without, v[s] - (view->low_value[s] - noise));
    }
    return found;
}

static void any_cap_is_valid_and_its_excess_is_needed(void **state) {
    (void)state;
    world w = coins(0.8);
    int64_t capped = 0, caught = 0;
    for (uint64_t r = 0; r < 60; r++) {
        pess_counts *first = counts_of(&w, 400, 900 + 2 * r), *second = counts_of(&w, 3000, 901 + 2 * r);
        const pess__holdout_setup shares = {.delta_box = 0.01,
                                            .delta_sets = 0.01,
                                            .delta_pooled = 0.02,
                                            .delta_relative = 0.01,
                                            .pooled = true,
                                            .side = 1};
        pess__holdout *test = holdout_of(&w, first, second, 3, shares);
        pess__pooled *pooled = NULL;
        pess__pooled_view *view = NULL;
        /* Any cap is valid: here many are too low. */
        for (int64_t s = 0; s < STATES; s++) test->cap[s] = test->value[s] + 0.1 * (double)((s + (int64_t)r) % 5 - 2);
        MUST(pess__pooled_create(test, &pooled, error));
        MUST(pess__pooled_view_create(pooled, second, false, 1, &view, error));
        const cap_check found = check_cap(test, view);
        assert_true(found.worst >= -1e-9);
        capped += found.capped;
        caught += found.worst_without < -1e-9;
        pess__pooled_view_destroy(view);
        pess__pooled_destroy(pooled);
        pess__holdout_destroy(test);
        pess_counts_destroy(first);
        pess_counts_destroy(second);
    }
    print_message("states at their cap %lld; without the excess (1) is wrong in %lld of 60\n", (long long)capped,
                  (long long)caught);
    assert_true(capped > 0 && caught > 0);
    world_free(&w);
}

/* The bound of one side, also where the first part is so small that caps are far from the values. */
static void the_bound_of_one_side_covers(void **state) {
    (void)state;
    const double delta = 0.2;
    world w = coins(0.5);
    const int64_t runs = coverage_runs(150), allowed = failures_allowed(runs, delta);
    for (int side = -1; side <= 1; side += 2) {
        int64_t wrong = 0, said = 0;
        for (int64_t r = 0; r < runs; r++) {
            const uint64_t seed = coverage_seed(9) * 1000 + 2 * (uint64_t)r;
            pess_counts *first = counts_of(&w, r % 2 ? 600 : 60, seed), *second = counts_of(&w, 3000, seed + 1);
            const pess__holdout_setup shares = {.delta_box = delta / 8,
                                                .delta_sets = delta / 8,
                                                .delta_pooled = delta / 2,
                                                .delta_relative = delta / 4,
                                                .max_successors = 3,
                                                .pooled = true,
                                                .side = side};
            pess__holdout *test = holdout_of(&w, first, second, r % 2 ? 5 : 50, shares);
            wrong += w.optimal < test->pooled_lower || w.optimal > test->pooled_upper;
            said += isfinite(side > 0 ? test->pooled_lower : test->pooled_upper);
            pess__holdout_destroy(test);
            pess_counts_destroy(first);
            pess_counts_destroy(second);
        }
        print_message("side %d: wrong %lld, allowed %lld of %lld, bounds %lld\n", side, (long long)wrong,
                      (long long)allowed, (long long)runs, (long long)said);
        assert_true(wrong <= allowed);
        assert_true(said > runs / 2);
    }
    world_free(&w);
}

/* A coin that nearly always pays: outcomes that were seen say how much a bet may lose so far, but how large it may be
 * is limited by the outcomes that are possible. A bet ten times too large is caught. */
static void test_bets_are_limited_by_what_is_possible(void **state) {
    (void)state;
    const double delta = 0.2, pays = 0.98;
    const int64_t runs = coverage_runs(1000), allowed = failures_allowed(runs, delta), size = 15;
    world w = world_bandit(1, pays, pays, 0, 0);
    int64_t wrong = 0, mutant = 0;
    for (int64_t r = 0; r < runs; r++) {
        const uint64_t seed = coverage_seed(9) * 1000 + 2 * (uint64_t)r;
        pess_counts *first = counts_of(&w, size, seed), *second = counts_of(&w, 3 * size, seed + 1);
        const pess__holdout_setup shares = {.delta_box = delta / 4,
                                            .delta_sets = delta / 4,
                                            .delta_pooled = delta / 4,
                                            .delta_relative = delta / 4,
                                            .max_successors = 1,
                                            .pooled = true};
        pess__holdout *test = holdout_of(&w, first, second, 3, shares);
        wrong += pays < fmax(test->lower, test->pooled_lower);
        /* Every outcome seen is 1, at distance 0 from their mean: (2) with θR = 10 instead of less than 1. */
        mutant += mean_reward(second, 0) == 1 && pays < 1 - log(1 / delta) / (10 * (double)second->n[0]);
        pess__holdout_destroy(test);
        pess_counts_destroy(first);
        pess_counts_destroy(second);
    }
    print_message("pole: wrong %lld, bets ten times too large %lld, allowed %lld of %lld\n", (long long)wrong,
                  (long long)mutant, (long long)allowed, (long long)runs);
    assert_true(wrong <= allowed);
    assert_true(mutant > allowed);
    world_free(&w);
}

/* Reward bounds of the sets, at γ = 0 where nothing else is in the way. */
static void the_sets_cover_and_half_of_them_do_not(void **state) {
    (void)state;
    world w = coins(0);
    const int64_t runs = coverage_runs(800), allowed = failures_allowed(runs, 0.05);
    int64_t wrong = 0, mutant_wrong = 0;
    for (int64_t r = 0; r < runs; r++) {
        pess_counts *counts = counts_of(&w, 3000, coverage_seed(3) * 1000 + (uint64_t)r);
        const pess_model_options options = {.size = sizeof(pess_model_options),
                                            .unseen = PESS_UNSEEN_WORST,
                                            .reward_range = {0, 1},
                                            .return_range = {NAN, NAN}};
        pess_model *model = NULL;
        MUST(pess_model_estimate(counts, &options, &model, error));
        const pess__u_problem problem = {.counts = counts, .model = model, .v_hi = 1, .threads = 1};
        pess__robust *robust = NULL;
        MUST(pess__robust_create(&problem, "support", NULL, NULL, (pess__robust_delta){0.05, 0, 0.05, 0.05}, &robust,
                                 error));
        double v[STATES];
        pess__sweeps sweeps = {0};
        MUST(pess__robust_value(robust, 1, NULL, v, NULL, &sweeps, error));
        bool outside = false, outside_half = false;
        for (int64_t s = 0; s < STATES; s++) {
            const double truth = pess_model_reward(w.model, s, 0), mean = mean_reward(counts, s);
            if (truth < v[s]) outside = true;
            if (truth < mean - (mean - v[s]) / 2) outside_half = true;
        }
        wrong += outside;
        mutant_wrong += outside_half;
        pess__robust_destroy(robust);
        pess_model_destroy(model);
        pess_counts_destroy(counts);
    }
    print_message("sets: wrong %lld, half the radius %lld, allowed %lld of %lld\n", (long long)wrong,
                  (long long)mutant_wrong, (long long)allowed, (long long)runs);
    assert_true(wrong <= allowed);
    assert_true(mutant_wrong > allowed);
    world_free(&w);
}

/* Four times the data, half the width. */
static void four_times_the_data_halve_the_width(void **state) {
    (void)state;
    world w = coins(0.5);
    double width[2] = {0};
    for (int i = 0; i < 2; i++)
        for (uint64_t r = 0; r < 10; r++) {
            const int64_t size = i == 0 ? 20000 : 80000;
            pess_counts *first = counts_of(&w, size / 4, 77 + r), *second = counts_of(&w, size, 177 + r);
            const pess__holdout_setup shares = {.delta_box = 0.01,
                                                .delta_sets = 0.01,
                                                .delta_pooled = 0.02,
                                                .delta_relative = 0.01,
                                                .max_successors = 3,
                                                .pooled = true};
            pess__holdout *test = holdout_of(&w, first, second, 4, shares);
            width[i] += test->pooled_upper - test->pooled_lower;
            pess__holdout_destroy(test);
            pess_counts_destroy(first);
            pess_counts_destroy(second);
        }
    assert_true(width[0] / width[1] > 1.8 && width[0] / width[1] < 2.5);
    assert_true(width[1] / 10 < 0.1);
    world_free(&w);
}

/* ------------------------------------------------------------------------------------------------ adaptive counts */

/* A fair coin is thrown until it looks good, or 4000 times: the mean at that time is biased upwards. */
static pess_dataset *stopped_log(uint64_t seed, double delta, bool *fooled) {
    enum { LIMIT = 4000 };
    static uint32_t zeros[LIMIT];
    static double reward[LIMIT];
    static int64_t episode[LIMIT];
    static uint8_t end[LIMIT];
    pess__rng rng = pess__rng_stream(seed, "stopped", 0);
    int64_t n = 0;
    double sum = 0;
    *fooled = false;
    while (n < LIMIT && !*fooled) {
        reward[n] = pess__rng_uniform(&rng) < 0.5;
        episode[n] = n;
        end[n] = PESS_END_CUTOFF;
        sum += reward[n++];
        /* What Hoeffding's inequality for a fixed number of throws would call a lower bound. */
        *fooled = n >= 16 && sum / (double)n - sqrt(log(1 / delta) / (2 * (double)n)) > 0.5;
    }
    const pess_columns columns = {n, zeros, zeros, zeros, reward, end, episode, NULL, NULL};
    pess_dataset *data = NULL;
    MUST(pess_dataset_create(&columns, 1, 1, &data, error));
    return data;
}

static void test_stopping_does_not_fool_it(void **state) {
    (void)state;
    const double delta = 0.2;
    const int64_t runs = coverage_runs(800), allowed = failures_allowed(runs, delta);
    int64_t wrong[2] = {0}, fooled_count = 0;
    for (int64_t r = 0; r < runs; r++) {
        bool fooled;
        pess_dataset *data = stopped_log(coverage_seed(5) * 10000 + (uint64_t)r, delta, &fooled);
        fooled_count += fooled;
        for (int method = PESS_CERTIFY_ROBUST; method <= PESS_CERTIFY_SPLIT; method++) {
            const double start[] = {1};
            pess_certify_options options = pess_certify_options_defaults();
            options.method = (pess_certify_method)method;
            options.gamma = 0;
            options.delta = delta;
            options.reward_range[0] = 0;
            options.reward_range[1] = 1;
            options.start = start;
            options.threads = 1;
            pess_certificate *certificate = NULL;
            MUST(pess_certify(data, &options, &certificate, error));
            pess_certificate_info info;
            pess_certificate_get_info(certificate, &info);
            wrong[method - 1] += info.lower_bound > 0.5;
            pess_certificate_destroy(certificate);
        }
        pess_dataset_destroy(data);
    }
    print_message("stopping: fixed-n Hoeffding fooled %lld, robust %lld, split %lld, allowed %lld of %lld\n",
                  (long long)fooled_count, (long long)wrong[0], (long long)wrong[1], (long long)allowed,
                  (long long)runs);
    assert_true(fooled_count > allowed);
    assert_true(wrong[0] <= allowed && wrong[1] <= allowed);
}

/* ------------------------------------------------------------------------------------------------ the heuristic */

/* The paper's formula W·√(ln(2SA/δ)/(2n)) must hold for all values at once to be a Bellman uncertainty; it holds for
 * one. With many successors and a value that knows the sample it fails nearly always, far more often than δ. */
static void test_hoeffding_formula_is_violated(void **state) {
    (void)state;
    enum { NEXT = 100, SAMPLES = 100 };
    const double delta = 0.05;
    int64_t violated = 0;
    const int64_t runs = 400;
    for (int64_t r = 0; r < runs; r++) {
        pess__rng rng = pess__rng_stream(9, "violated", (uint64_t)r);
        int64_t n[NEXT] = {0};
        for (int i = 0; i < SAMPLES; i++) n[pess__rng_below(&rng, NEXT)]++;
        double error = 0; /* (P_D − P)v for v = W where P_D > P, else 0; in units of W */
        for (int i = 0; i < NEXT; i++) error += fmax((double)n[i] / SAMPLES - 1.0 / NEXT, 0);
        violated += error > sqrt(log(2 * (NEXT + 1) / delta) / (2 * SAMPLES));
    }
    print_message("hoeffding for all values: violated %lld of %lld at delta %g\n", (long long)violated, (long long)runs,
                  delta);
    assert_true(violated > failures_allowed(runs, delta));
}

/* ------------------------------------------------------------------------------------------------ the rest */

/* Whole episodes: three throws of a coin and a cut, of which the most that can follow is counted; and one throw each,
 * where the bound is nearly exact and half of it is caught. */
static void episode_runs(double gamma, int64_t horizon, int64_t runs, double delta, int64_t *wrong, int64_t *mutant) {
    world w = world_bandit(1, 0.5, 0.5, gamma, 0);
    const double top = 1 / (1 - gamma), rest = pow(gamma, (double)horizon) * top;
    const double truth = 0.5 * (1 - pow(gamma, (double)horizon)) * top + rest; /* what the bound is about */
    *wrong = *mutant = 0;
    for (int64_t r = 0; r < runs; r++) {
        pess_dataset *data = log_of(&w, 300 * horizon, horizon, coverage_seed(6) * 10000 + (uint64_t)r);
        pess_columns columns;
        pess_dataset_columns(data, &columns);
        double upper = 0, mean = rest;
        MUST(pess__returns_upper(data, gamma, 0, top, delta, &upper, error));
        for (int64_t i = 0; i < columns.rows; i++)
            mean += columns.reward[i] * pow(gamma, (double)columns.step[i]) / 300;
        assert_true(upper > mean && upper <= top);
        *wrong += upper < truth;
        *mutant += mean + (upper - mean) / 2 < truth;
        pess_dataset_destroy(data);
    }
    world_free(&w);
}

static void the_mean_of_episodes_covers_and_half_its_radius_does_not(void **state) {
    (void)state;
    const double delta = 0.01;
    const int64_t runs = coverage_runs(2000), allowed = failures_allowed(runs, delta);
    int64_t wrong, mutant;
    episode_runs(0.5, 3, runs, delta, &wrong, &mutant);
    assert_true(wrong <= allowed);
    episode_runs(0, 1, runs, delta, &wrong, &mutant);
    print_message("episodes: wrong %lld, half the radius %lld, allowed %lld of %lld\n", (long long)wrong,
                  (long long)mutant, (long long)allowed, (long long)runs);
    assert_true(wrong <= allowed);
    assert_true(mutant > allowed);
}

static void test_kl_bounds_invert_the_divergence(void **state) {
    (void)state;
    for (double m = 0; m <= 1; m += 0.125)
        for (double n = 1; n < 1e5; n *= 7) {
            const double up = pess__kl_upper(m, n, 3), low = pess__kl_lower(m, n, 3);
            assert_true(low <= m && m <= up && low >= 0 && up <= 1);
            if (up < 0.999 && m > 0 && m < 1)
                assert_true(fabs(n * (m * log(m / up) + (1 - m) * log((1 - m) / (1 - up))) - 3) < 1e-6);
            if (m == 0) assert_true(fabs(up - (1 - exp(-3 / n))) < 1e-9);
            assert_true(up - m <= sqrt(3 / (2 * n)) + 1e-12); /* Pinsker: never wider than Hoeffding */
        }
}

/* The closed form is never above the exact end, and never below what Pinsker's inequality gives. */
static void test_coin_low_is_safe_and_tight(void **state) {
    (void)state;
    for (double p = 0; p <= 1; p += 1.0 / 64)
        for (double level = 1e-6; level < 5; level *= 1.7) {
            const double exact = pess__kl_lower(p, 1, level), q = pess__coin_low(p, level);
            assert_true(q <= exact + 1e-9);
            assert_true(q >= 0 && q >= p - sqrt(level / 2) - 1e-12);
            if (level < 1e-4 && p > 0.1) assert_true(p - q <= 1.1 * (p - exact) + 1e-9);
        }
}

/* The set by subsets lies within the ball, so its worst case is no lower; and no member that satisfies all its
 * inequalities goes below it. */
static void no_member_goes_below_a_set_by_subsets(void **state) {
    (void)state;
    world w = world_garnet(6, 5, 0.8, 0.6);
    pess_counts *counts = counts_of(&w, 300, 4);
    pess_model *model = NULL;
    const pess_model_options options = {.size = sizeof(pess_model_options),
                                        .unseen = PESS_UNSEEN_WORST,
                                        .reward_range = {0, 1},
                                        .return_range = {NAN, NAN}};
    MUST(pess_model_estimate(counts, &options, &model, error));
    pess__u_problem problem = {.counts = counts, .model = model, .gamma = 0.8, .delta = 0.1, .v_hi = 5, .threads = 1};
    pess__subset_sets *subsets = NULL;
    pess__set *ball = NULL;
    pess__set_scratch *scratch = NULL;
    MUST(pess__subset_create(&problem, "l1", &subsets, error));
    problem.delta = 0.2; /* of which half is for the transitions */
    MUST(pess__set_build(&problem, "l1", 1, &ball, error));
    MUST(pess__set_scratch_create(ball, 1, &scratch, error));
    pess__rng rng = pess__rng_stream(8, "members", 0);
    pess__subset_slot slots[16];
    int64_t members = 0;
    for (int r = 0; r < 300; r++) {
        double v[6];
        for (int s = 0; s < 6; s++) v[s] = 5 * pess__rng_uniform(&rng);
        const pess__extremes extremes = pess__value_extremes(model, v);
        for (int64_t z = 0; z < 12; z++) {
            if (counts->n[z] == 0) continue;
            double centre;
            const double low = pess__subset_extreme(subsets, 1, z, v, &extremes, slots);
            const double high = pess__subset_extreme(subsets, -1, z, v, &extremes, slots);
            const double ball_low = pess__set_worst(ball, z, v, &extremes, scratch, &centre);
            assert_true(low <= centre + 1e-12 && centre <= high + 1e-12);
            assert_true(low >= ball_low - 1e-9);
            /* Members near the row: move a little mass anywhere; keep those that satisfy every subset. */
            double p[7] = {0}, q[7], sum = 0;
            for (int64_t i = model->row[z]; i < model->row[z + 1]; i++) p[model->next[i]] = model->probability[i];
            p[6] = model->end_mass[z];
            for (int t = 0; t < 7; t++)
                sum += q[t] = t < 6 && model->terminal[t] ? 0 : (p[t] + 0.02) * exp(0.5 * pess__rng_normal(&rng));
            bool member = true;
            for (int set = 0; set < 128; set++) {
                double a = 0, b = 0;
                for (int t = 0; t < 7; t++)
                    if (set >> t & 1) a += p[t], b += q[t] / sum;
                if (b < pess__kl_lower(fmin(a, 1), 1, subsets->pairs[z].level) - 1e-12) member = false;
            }
            double value = 0;
            for (int t = 0; t < 6; t++) value += q[t] / sum * v[t];
            members += member;
            if (member) assert_true(value >= low - 1e-9 && value <= high + 1e-9);
        }
    }
    assert_true(members > 100);
    pess__set_scratch_destroy(scratch);
    pess__set_destroy(ball);
    pess__subset_destroy(subsets);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    world_free(&w);
}

static void test_worst_start_moves_mass_to_the_lowest(void **state) {
    (void)state;
    const double p[] = {0.5, 0.25, 0.25}, v[] = {3, 1, 2};
    const pess_model three = {.states = 3, .terminal = (uint8_t[3]){0}};
    pess__start_mass scratch[3];
    assert_true(fabs(pess__worst_start(&three, p, v, 0, scratch) - 2.25) < 1e-12);
    assert_true(fabs(pess__worst_start(&three, p, v, 0.2, scratch) - (2.25 - 0.1 * 2)) < 1e-12);
    assert_true(fabs(pess__worst_start(&three, p, v, 1.2, scratch) - (2.25 - 0.5 * 2 - 0.1)) < 1e-12);
    assert_true(fabs(pess__worst_start(&three, p, v, 2, scratch) - 1) < 1e-12);
}

static pess_certificate_info info_of(const pess_dataset *data, const world *w, int threads) {
    pess_certify_options options = pess_certify_options_defaults();
    options.gamma = w->gamma;
    options.reward_range[0] = 0;
    options.reward_range[1] = 1;
    options.start = w->start;
    options.threads = threads;
    pess_certificate *certificate = NULL;
    MUST(pess_certify(data, &options, &certificate, error));
    pess_certificate_info info;
    pess_certificate_get_info(certificate, &info);
    pess_certificate_destroy(certificate);
    return info;
}

static void test_threads_make_no_difference(void **state) {
    (void)state;
    world w = world_gridworld(4, 3, 0.9, 0.5);
    pess_dataset *data = log_of(&w, 40000, 0, 5);
    const pess_certificate_info one = info_of(data, &w, 1), three = info_of(data, &w, 3);
    assert_memory_equal(&one.lower_bound, &three.lower_bound, sizeof(double));
    assert_memory_equal(&one.behaviour_upper_bound, &three.behaviour_upper_bound, sizeof(double));
    assert_memory_equal(&one.optimal_upper_bound, &three.optimal_upper_bound, sizeof(double));
    assert_true(one.recommend_switch && one.improvement_lower_bound > 0); /* and it finds something */
    pess_dataset_destroy(data);
    world_free(&w);
}

/* On average nothing gets better when data are taken away. */
static void test_less_data_promises_less(void **state) {
    (void)state;
    double lower[3] = {0}, suboptimality[3] = {0}, logging[3] = {0};
    for (uint64_t r = 0; r < 12; r++) {
        world w = world_gridworld(3, r, 0.8, 0.5);
        for (int i = 0; i < 3; i++) {
            pess_dataset *data = log_of(&w, 20000, 0, 100 + r), *subset = NULL;
            pess_columns columns;
            pess_dataset_columns(data, &columns);
            columns.rows = 20000 >> (2 * i); /* rows are independent: a prefix is a random subset */
            MUST(pess_dataset_create(&columns, pess_mdp_states(w.mdp), 4, &subset, error));
            const pess_certificate_info info = info_of(subset, &w, 1);
            lower[i] += info.lower_bound;
            suboptimality[i] += info.suboptimality_upper_bound;
            logging[i] += info.behaviour_upper_bound;
            pess_dataset_destroy(subset);
            pess_dataset_destroy(data);
        }
        world_free(&w);
    }
    for (int i = 0; i < 2; i++) {
        assert_true(lower[i] > lower[i + 1]);
        assert_true(suboptimality[i] < suboptimality[i + 1]);
        assert_true(logging[i] < logging[i + 1]);
    }
}

int main(void) {
    omp_set_num_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_box_covers_and_half_of_it_does_not),
        cmocka_unit_test(the_pooled_bound_covers_and_half_its_radius_does_not),
        cmocka_unit_test(any_cap_is_valid_and_its_excess_is_needed),
        cmocka_unit_test(the_bound_of_one_side_covers),
        cmocka_unit_test(test_bets_are_limited_by_what_is_possible),
        cmocka_unit_test(the_sets_cover_and_half_of_them_do_not),
        cmocka_unit_test(four_times_the_data_halve_the_width),
        cmocka_unit_test(test_stopping_does_not_fool_it),
        cmocka_unit_test(test_hoeffding_formula_is_violated),
        cmocka_unit_test(the_mean_of_episodes_covers_and_half_its_radius_does_not),
        cmocka_unit_test(test_kl_bounds_invert_the_divergence),
        cmocka_unit_test(test_coin_low_is_safe_and_tight),
        cmocka_unit_test(no_member_goes_below_a_set_by_subsets),
        cmocka_unit_test(test_worst_start_moves_mass_to_the_lowest),
        cmocka_unit_test(test_threads_make_no_difference),
        cmocka_unit_test(test_less_data_promises_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
