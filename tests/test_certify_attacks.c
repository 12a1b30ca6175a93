/* Logs made to break a certificate while every printed assumption holds. Each attack broke an earlier version. A bound
 * that holds with probability 1−δ may be wrong in at most failures_allowed(n, δ) of n logs; each such check raises a
 * false alarm with probability 1e-6. */
#include "coverage.h"
#include "rows.h"
#include "small_worlds.h"

#include "certify/certificate.h"
#include "certify/episode_returns.h"
#include "certify/pooled.h"
#include "certify/robust.h"
#include "core/rng.h"
#include "core/threads.h"

static void row_add(uint32_t state, uint32_t action, double reward, uint32_t next, pess_end end, int64_t episode,
                    int64_t step) {
    rows_put((log_row){state, action, reward, next, end, episode, step, 0});
}

enum { ORDERED = ROWS_EPISODES | ROWS_STEPS };

static pess_certify_options attacked(double gamma, double delta, double lo, double hi, const double *start) {
    pess_certify_options options = pess_certify_options_defaults();
    options.gamma = gamma;
    options.delta = delta;
    options.reward_range[0] = lo;
    options.reward_range[1] = hi;
    options.start = start;
    options.threads = 1;
    return options;
}

static pess_certificate *certified(pess_dataset *data, const pess_certify_options *options,
                                   pess_certificate_info *info) {
    pess_certificate *certificate = NULL;
    MUST(pess_certify(data, options, &certificate, error));
    pess_certificate_get_info(certificate, info);
    pess_dataset_destroy(data);
    return certificate;
}

/* Certifies what stands in `made` and forgets it. */
static pess_certificate_info info_of_rows(int64_t states, int64_t actions, bool episodes,
                                          const pess_certify_options *options) {
    pess_certificate_info info;
    pess_certificate_destroy(certified(rows_dataset(states, actions, episodes ? ORDERED : 0), options, &info));
    made.count = 0;
    return info;
}

static void must_refuse(const pess_dataset *data, const pess_certify_options *options, const char *why) {
    pess_certificate *certificate = NULL;
    pess_error error = {0};
    assert_int_equal(pess_certify(data, options, &certificate, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, why));
    assert_null(certificate);
}

static void report(const char *attack, int64_t wrong, int64_t allowed, int64_t runs) {
    print_message("%s: wrong %lld, allowed %lld of %lld\n", attack, (long long)wrong, (long long)allowed,
                  (long long)runs);
    assert_true(wrong <= allowed);
}

/* ------------------------------------------------------------------------------------------------ where the log ends
 */

/* A fair coin is thrown until some stretch that lasts to the last throw is lucky beyond what a test of that stretch
 * allows for, or 20000 times; then the collector pulls another arm until a share of the whole log ends where the
 * stretch began. A stretch should be about as long as the first part lets the test expect. */
static void pad_to_luck(pess__rng *rng, double share) {
    enum { THROWS = 20000, FIRST = 500 };
    static int64_t sum[THROWS + 1];
    int64_t cut = -1;
    for (int64_t n = 1; n <= THROWS && cut < 0; n++) {
        row_add(0, 0, pess__rng_uniform(rng) < 0.5, 0, PESS_END_CUTOFF, n, 0);
        sum[n] = sum[n - 1] + (made.reward[n - 1] > 0);
        const int64_t earliest = (int64_t)(share * (double)n) + 1;
        for (int64_t from = earliest; 2 * from < n + earliest && n > FIRST && cut < 0; from += 1 + n / 1000) {
            const double length = (double)(n - from), excess = (double)(sum[n] - sum[from]) - 0.5 * length;
            if (excess > (2.75 + 8 / sqrt(length)) * sqrt(0.25 * length)) cut = from;
        }
    }
    while ((double)made.count * share < (double)cut) row_add(0, 1, 0, 0, PESS_END_CUTOFF, made.count + 1, 0);
}

static void test_the_end_of_the_log_does_not_place_the_cut(void **state) {
    (void)state;
    static const double start[] = {1};
    const double delta = 0.2;
    const int64_t runs = coverage_runs(60), allowed = failures_allowed(runs, delta);
    for (int method = PESS_CERTIFY_BEST; method <= PESS_CERTIFY_SPLIT; method++) {
        int64_t wrong = 0;
        for (int64_t r = 0; r < runs; r++) {
            pess__rng rng = pess__rng_stream(coverage_seed(31), "pad to luck", (uint64_t)r);
            pess_certify_options options = attacked(0, delta, 0, 1, start);
            options.method = (pess_certify_method)method;
            options.split = 0.9;
            pad_to_luck(&rng, options.split);
            wrong += info_of_rows(1, 2, true, &options).lower_bound > 0.5;
        }
        report(method == PESS_CERTIFY_BEST     ? "padding, best"
               : method == PESS_CERTIFY_ROBUST ? "padding, robust"
                                               : "padding, split",
               wrong, allowed, runs);
    }
}

/* The place of the cut is one of those that were fixed before the log: as it grows row by row, no other is taken. */
static void a_longer_log_is_cut_where_a_shorter_one_was(void **state) {
    (void)state;
    const pess_certify_method methods[] = {PESS_CERTIFY_SPLIT, PESS_CERTIFY_EPISODES};
    for (size_t m = 0; m < 2; m++)
        for (int64_t rows = 90; rows < 280; rows += 7) {
            pess_certify_options options = attacked(0, 0.05, 0, 1, NULL);
            options.method = methods[m];
            options.split = 0.5;
            for (int64_t i = 0; i < rows; i++)
                rows_put((log_row){0, 0, (double)(i & 1), 0, PESS_END_TERMINAL, i, 0, 1});
            pess_certificate_info info;
            pess_certificate_destroy(certified(rows_dataset(1, 1, ORDERED | ROWS_PROBABILITIES), &options, &info));
            made.count = 0;
            assert_true(info.first_part == 32 || info.first_part == 64 || info.first_part == 128);
            assert_true(2 * info.first_part <= rows && 4 * info.first_part > rows);
            assert_int_equal(info.second_part, rows - info.first_part);
        }
}

/* Each of the places, 16 for the split and 20 for whole episodes, has an equal share of what is spent after the cut;
 * one that was declared has all of it. */
static void every_place_of_the_cut_has_its_share(void **state) {
    (void)state;
    for (int declared = 0; declared < 2; declared++)
        for (int whole = 0; whole < 2; whole++) {
            pess_certify_options options = attacked(0, 0.05, 0, 1, NULL);
            options.method = whole ? PESS_CERTIFY_EPISODES : PESS_CERTIFY_SPLIT;
            options.first_part = declared ? 50 : 0;
            for (int64_t i = 0; i < 200; i++) rows_put((log_row){0, 0, (double)(i & 1), 0, PESS_END_TERMINAL, i, 0, 1});
            pess_certificate_info info;
            pess_certificate *certificate =
                certified(rows_dataset(1, 1, ORDERED | ROWS_PROBABILITIES), &options, &info);
            made.count = 0;
            double here = 0, elsewhere = 0;
            const pess_ledger_entry *entry;
            for (size_t i = 0; (entry = pess_certificate_ledger(certificate, i)) != NULL; i++) {
                if (strstr(entry->what, "other places")) elsewhere = entry->delta;
                if (strstr(entry->what, "test of the policy") || strstr(entry->what, "whole episodes: the"))
                    here += entry->delta;
            }
            assert_true(declared ? elsewhere == 0 : elsewhere >= (whole ? 19 : 15) * here * (1 - 1e-9));
            pess_certificate_destroy(certificate);
        }
}

/* How many starts there are may be chosen by looking: all numbers of them together have δ. */
static void every_number_of_starts_has_its_share(void **state) {
    (void)state;
    double spent = 0;
    for (double starts = 1; starts < 1e5; starts++) spent += exp(-pess__log_starts(starts, 0.05));
    assert_true(spent > 0.049 && spent <= 0.05 * (1 + 1e-9));
}

/* −ln P(|N(0,1)| <= β) is taken off for every row of the pooled test: rounded, if at all, upwards. */
static void the_price_of_a_posterior_is_not_too_low(void **state) {
    (void)state;
    const double exact = -log1p(-erfc(PESS__POSTERIOR_REACH / sqrt(2)));
    assert_true(PESS__POSTERIOR_PRICE >= exact && PESS__POSTERIOR_PRICE < exact * (1 + 1e-4));
}

/* ------------------------------------------------------------------------------------------------ numbers */

/* Two arms with the same coin, which pays base or base + unit. */
static pess_certificate_info paid_from(double base, double unit, double gamma, double delta, uint64_t seed) {
    static const double start[] = {1};
    pess__rng rng = pess__rng_stream(coverage_seed(32), "paid from", seed);
    for (int64_t i = 0; i < 2000; i++)
        row_add(0, (uint32_t)(i & 1), pess__rng_uniform(&rng) < 0.5 ? base + unit : base, 0, PESS_END_NONE, 0, 0);
    const pess_certify_options options = attacked(gamma, delta, base, base + unit, start);
    return info_of_rows(1, 2, false, &options);
}

/* A constant on top of all rewards changes nothing but the values; nothing large may cancel. */
static void a_constant_on_top_of_rewards_changes_nothing(void **state) {
    (void)state;
    const double delta = 0.05, bases[] = {0, 1e7, -3e9};
    const int64_t runs = coverage_runs(60), allowed = failures_allowed(runs, delta);
    for (size_t b = 0; b < sizeof bases / sizeof *bases; b++) {
        int64_t wrong = 0;
        double above = 0; /* what is certified beyond the least */
        for (int64_t r = 0; r < runs; r++) {
            const pess_certificate_info info = paid_from(bases[b], 1, 0.5, delta, (uint64_t)r);
            const double truth = (bases[b] + 0.5) / 0.5;
            wrong += info.lower_bound > truth || info.behaviour_upper_bound < truth ||
                     info.optimal_upper_bound < truth || info.recommend_switch;
            above += (info.lower_bound - info.value_lo) / (double)runs;
        }
        report(b == 0 ? "rewards from 0" : b == 1 ? "rewards from 1e7" : "rewards from -3e9", wrong, allowed, runs);
        if (b < 2) assert_true(above > 0.75 && above < 1); /* squares of -3e9 are rounded, and that is allowed for */
    }
}

/* Nor does the unit in which rewards are counted. */
static void the_unit_of_rewards_does_not_matter(void **state) {
    (void)state;
    const double units[] = {1, 1e-12, 1e-100, 1e12};
    for (uint64_t r = 0; r < 10; r++) {
        const pess_certificate_info one = paid_from(0, 1, 0.5, 0.05, r);
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
            const pess_certificate_info info = paid_from(0, units[u], 0.5, 0.05, r);
            assert_true(info.optimal_upper_bound >= units[u]); /* the truth */
            assert_true(fabs(info.optimal_upper_bound / units[u] - one.optimal_upper_bound) < 1e-6);
            assert_true(fabs(info.behaviour_upper_bound / units[u] - one.behaviour_upper_bound) < 1e-6);
            assert_true(info.lower_bound <= units[u]);
        }
    }
}

/* ------------------------------------------------------------------------------------------------ the policy */

/* The first episodes end in state 1; later ones begin there, and what is earned there depends on the action. */
static void silent_state(pess__rng *rng) {
    for (int64_t e = 0; e < 1200; e++) {
        const uint32_t s = e < 400 ? 0 : (uint32_t)(e & 1), a = (uint32_t)pess__rng_below(rng, 2);
        row_add(s, a, s == 0 ? pess__rng_uniform(rng) < 0.5 : a, 1 - s, PESS_END_TERMINAL, e, 0);
    }
}

static void test_the_policy_that_is_tested_is_the_one_that_is_handed_out(void **state) {
    (void)state;
    static const double start[] = {0.5, 0.5};
    for (uint64_t r = 0; r < 20; r++) {
        pess__rng rng = pess__rng_stream(33, "silent state", r);
        pess_certify_options options = attacked(0, 0.05, 0, 1, start);
        options.method = r % 2 ? PESS_CERTIFY_SPLIT : PESS_CERTIFY_BEST;
        pess_certificate_info info;
        silent_state(&rng);
        pess_certificate *certificate = certified(rows_dataset(2, 2, ORDERED), &options, &info);
        made.count = 0;
        double value = 0;
        for (int64_t s = 0; s < 2; s++) {
            const double *row = pess_policy_row(pess_certificate_policy(certificate), s);
            assert_true(fabs(row[0] + row[1] - 1) < 1e-12);
            value += 0.5 * (s == 0 ? 0.5 : row[1]);
        }
        assert_true(info.lower_bound > 0.3 && info.lower_bound <= value);
        pess_certificate_destroy(certificate);
    }
}

/* ------------------------------------------------------------------------------------------------ starts */

/* Without an episode column nobody knows which rows begin an episode once rows went to the parts at random. */
static void test_starts_need_episodes(void **state) {
    (void)state;
    for (int64_t i = 0; i < 300; i++) row_add((uint32_t)(i % 3), 0, 1, (uint32_t)((i + 1) % 3), i % 3 == 2, 0, 0);
    pess_dataset *data = rows_dataset(3, 1, 0);
    made.count = 0;
    const pess_certify_options options = attacked(0.9, 0.05, 0, 1, NULL);
    must_refuse(data, &options, "no episode column");
    pess_dataset_destroy(data);
}

/* ------------------------------------------------------------------------------------------------ what is not there */

/* Every step pays 1 and ends the episode with probability 1/2000, which about a third of such logs never show. */
static void an_end_that_was_never_logged_is_allowed_for(void **state) {
    (void)state;
    static const double start[] = {1};
    const double delta = 0.05, gamma = 0.99, truth = 1 / (1 - gamma * (1 - 1.0 / 2000));
    const int64_t runs = coverage_runs(60), allowed = failures_allowed(runs, delta);
    int64_t wrong = 0;
    for (int64_t r = 0; r < runs; r++) {
        pess__rng rng = pess__rng_stream(coverage_seed(34), "rare end", (uint64_t)r);
        for (int64_t e = 0; made.count < 2000; e++)
            for (int64_t t = 0; t < 20; t++) {
                const bool ends = pess__rng_uniform(&rng) < 1.0 / 2000;
                const pess_end end = ends ? PESS_END_TERMINAL : t == 19 ? PESS_END_CUTOFF : PESS_END_NONE;
                row_add(0, 0, 1, 0, end, e, t);
                if (ends) break;
            }
        const pess_certify_options options = attacked(gamma, delta, 0, 1, start);
        wrong += info_of_rows(1, 1, true, &options).lower_bound > truth;
    }
    report("an end never logged", wrong, allowed, runs);
    for (int64_t i = 0; i < 2000; i++)
        row_add(0, 0, 1, 0, i % 20 == 19 ? PESS_END_CUTOFF : PESS_END_NONE, i / 20, i % 20);
    const pess_certify_options options = attacked(gamma, delta, 0, 1, start);
    const pess_certificate_info info = info_of_rows(1, 1, true, &options); /* of a log that shows none */
    assert_true(info.may_end && info.lower_bound <= truth);
}

/* State 0 leads to 1 or 2, both to the end. Action 1 is worse; the rows of state 2, which pays 1, are missing. */
static void skip_steps(pess__rng *rng, bool skip) {
    for (int64_t e = 0; e < 3000; e++) {
        const uint32_t a = (uint32_t)pess__rng_below(rng, 2), next = pess__rng_uniform(rng) < 0.5 ? 1 : 2;
        row_add(0, a, a == 0 ? 0.1 : 0, next, PESS_END_NONE, e, 0);
        if (next == 1) row_add(1, 0, 0, 3, PESS_END_NONE, e, 1);
        if (next == 2 && !skip) row_add(2, 0, 1, 3, PESS_END_NONE, e, 1);
        row_add(3, 0, 0, 4, PESS_END_TERMINAL, e, 2);
    }
}

static void test_missing_steps_end_the_comparison(void **state) {
    (void)state;
    for (int skip = 0; skip < 2; skip++) {
        pess__rng rng = pess__rng_stream(35, "skip steps", 0);
        pess_certify_options options = attacked(0.9, 0.05, 0, 1, NULL);
        pess_certificate_info info;
        skip_steps(&rng, skip);
        pess_certificate *certificate = certified(rows_dataset(5, 2, ORDERED), &options, &info);
        made.count = 0;
        bool said = false;
        const pess_assumption *a;
        for (size_t i = 0; (a = pess_certificate_assumption(certificate, i)) != NULL; i++)
            said = said || strcmp(a->code, "steps-missing") == 0;
        assert_int_equal(said, skip);
        assert_int_equal(info.behaviour_upper_bound == info.value_hi, skip);
        assert_false(skip && info.recommend_switch);
        pess_certificate_destroy(certificate);
    }
}

/* One state, three steps, action 1 pays 1 each time and action 0 nothing; of every second episode with action 1 the
 * second step is missing, so that the log looks worse than it was. No state shows it, but the steps have numbers. */
static void test_missing_numbers_end_the_comparison(void **state) {
    (void)state;
    for (int skip = 0; skip < 2; skip++) {
        for (int64_t e = 0; e < 1000; e++)
            for (int64_t t = 0; t < 3; t++)
                if (!skip || t != 1 || e % 4 != 1)
                    row_add(0, (uint32_t)(e & 1), (double)(e & 1), 0, t == 2 ? PESS_END_TERMINAL : PESS_END_NONE, e, t);
        const pess_certify_options options = attacked(0.9, 0.05, 0, 1, NULL);
        const pess_certificate_info info = info_of_rows(1, 2, true, &options);
        assert_int_equal(info.recommend_switch, !skip);
        assert_int_equal(info.behaviour_upper_bound == info.value_hi, skip);
    }
}

/* Every episode is cut off after a step that pays 0, and one of another state follows that pays 1: what follows a
 * cut-off is no part of the return, which is 0. */
static void test_rows_after_a_cutoff_are_no_return(void **state) {
    (void)state;
    pess_certify_options options = attacked(0.9, 0.05, 0, 1, NULL);
    for (int64_t e = 0; e < 500; e++) {
        rows_put((log_row){0, 0, 0, 0, PESS_END_CUTOFF, e, 0, 1});
        rows_put((log_row){1, 0, 1, 2, PESS_END_TERMINAL, e, 1, 1});
    }
    pess_dataset *data = rows_dataset(3, 1, ORDERED | ROWS_PROBABILITIES);
    pess_certificate_info info;
    options.method = PESS_CERTIFY_EPISODES;
    must_refuse(data, &options, "follow an end or a cut-off");
    options.method = PESS_CERTIFY_BEST;
    pess_certificate_destroy(certified(data, &options, &info));
    made.count = 0;
    assert_true(info.lower_bound <= 0 && info.behaviour_upper_bound == info.value_hi);
}

/* Half of the episodes lack their first step: where episodes start is then not known. */
static void test_missing_beginnings_are_refused(void **state) {
    (void)state;
    static const double start[] = {1, 0, 0};
    pess_certify_options options = attacked(0.9, 0.05, 0, 1, NULL);
    for (int64_t e = 0; e < 400; e++) {
        if (e % 2) row_add(0, 0, 0, 1, PESS_END_NONE, e, 0);
        row_add(1, 0, 0, 1, PESS_END_NONE, e, 1);
        row_add(1, 0, 1, 2, PESS_END_TERMINAL, e, 2);
    }
    pess_dataset *data = rows_dataset(3, 1, ORDERED);
    pess_certificate_info info;
    must_refuse(data, &options, "Where episodes start is not known");
    options.start = start;
    pess_certificate_destroy(certified(data, &options, &info));
    made.count = 0;
    assert_true(info.behaviour_upper_bound == info.value_hi);
}

/* Rows after a terminal one contradict it: returns and starts are then not those of the logging policy. */
static void test_rows_after_an_end_end_the_comparison(void **state) {
    (void)state;
    for (int goes_on = 0; goes_on < 2; goes_on++) {
        for (int64_t i = 0; i < 2000; i++)
            row_add(0, (uint32_t)(i / 2 & 1), (double)(i / 2 & 1), 0,
                    i % 2 || goes_on ? PESS_END_TERMINAL : PESS_END_NONE, i / 2, i % 2);
        const pess_certify_options options = attacked(0.9, 0.05, 0, 1, NULL);
        const pess_certificate_info info = info_of_rows(1, 2, true, &options);
        assert_int_equal(info.recommend_switch, !goes_on);
        assert_int_equal(info.behaviour_upper_bound == info.value_hi, goes_on);
    }
}

/* Trying seeds or splits until one pleases is a choice that nothing pays for, and it is said. */
static void test_one_attempt_is_assumed(void **state) {
    (void)state;
    static const double start[] = {1};
    for (int method = PESS_CERTIFY_BEST; method <= PESS_CERTIFY_EPISODES; method++) {
        pess_certify_options options = attacked(0, 0.05, 0, 1, method == PESS_CERTIFY_EPISODES ? NULL : start);
        options.method = (pess_certify_method)method;
        for (int64_t i = 0; i < 200; i++) rows_put((log_row){0, 0, (double)(i & 1), 0, PESS_END_TERMINAL, i, 0, 1});
        pess_certificate_info info;
        pess_certificate *certificate = certified(rows_dataset(1, 1, ORDERED | ROWS_PROBABILITIES), &options, &info);
        made.count = 0;
        bool said = false;
        const pess_assumption *a;
        for (size_t i = 0; (a = pess_certificate_assumption(certificate, i)) != NULL; i++)
            said = said || (strcmp(a->code, "one-attempt") == 0 && strstr(a->text, "seeds") != NULL);
        assert_true(said);
        pess_certificate_destroy(certificate);
    }
}

static void test_a_step_that_is_there_twice_is_refused(void **state) {
    (void)state;
    pess_certificate *certificate = NULL;
    pess_error error = {0};
    for (int64_t e = 0; e < 100; e++) {
        row_add(0, 0, 1, 0, PESS_END_NONE, e, 0);
        row_add(0, 0, 1, 0, PESS_END_TERMINAL, e, e == 57 ? 0 : 1);
    }
    pess_dataset *data = rows_dataset(1, 1, ORDERED);
    made.count = 0;
    const pess_certify_options options = attacked(0.9, 0.05, 0, 1, NULL);
    assert_int_equal(pess_certify(data, &options, &certificate, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "repeat a step"));
    pess_dataset_destroy(data);
}

/* ------------------------------------------------------------------------------------------------ whole episodes */

/* Episodes of one throw, until their mean is so low that a bound for a fixed number of them is below the truth. */
static void test_stopping_episodes_does_not_fool_their_mean(void **state) {
    (void)state;
    enum { MOST = 6000 };
    const double delta = 0.3;
    const int64_t runs = coverage_runs(200), allowed = failures_allowed(runs, delta);
    int64_t wrong = 0, fooled = 0;
    for (int64_t r = 0; r < runs; r++) {
        pess__rng rng = pess__rng_stream(coverage_seed(36), "stopped episodes", (uint64_t)r);
        bool stop = false;
        for (double sum = 0; made.count < MOST && !stop;) {
            const double reward = pess__rng_uniform(&rng) < 0.5, n = (double)(made.count + 1);
            row_add(0, 0, reward, 0, PESS_END_TERMINAL, made.count, 0);
            sum += reward;
            stop = n >= 10 && pess__kl_upper(sum / n, n, log(1 / delta)) < 0.5;
        }
        fooled += stop;
        pess_dataset *data = rows_dataset(1, 1, ORDERED);
        made.count = 0;
        double upper = 0;
        MUST(pess__returns_upper(data, 0.9, 0, 1, delta, &upper, error));
        wrong += upper < 0.5;
        pess_dataset_destroy(data);
    }
    print_message("a bound for a fixed number of episodes is fooled in %lld of %lld\n", (long long)fooled,
                  (long long)runs);
    assert_true(fooled > allowed);
    report("stopped episodes", wrong, allowed, runs);
}

/* ------------------------------------------------------------------------------------------------ how it ended */

static bool rests_on(const pess_certificate *certificate, const char *code) {
    const pess_assumption *a;
    for (size_t i = 0; (a = pess_certificate_assumption(certificate, i)) != NULL; i++)
        if (strcmp(a->code, code) == 0) return true;
    return false;
}

/* Ends that are not marked would be taken for a future, and copies for further outcomes: nothing proves that they are,
 * so that a certificate rests on it. */
static void test_unmarked_ends_and_copies_are_said(void **state) {
    (void)state;
    enum { WHOLE, UNMARKED, TWICE, KINDS };
    for (int kind = WHOLE; kind < KINDS; kind++) {
        for (int64_t e = 0; e < 200; e++) {
            const int64_t k = kind == TWICE ? e % 100 : e, a = k * k % 11 % 2;
            row_add(0, (uint32_t)a, 0, 1, PESS_END_NONE, e, 0);
            row_add(1, 0, (double)(k * k % 13 % 2), 2, kind == UNMARKED ? PESS_END_NONE : PESS_END_TERMINAL, e, 1);
        }
        pess_dataset *data = rows_dataset(3, 2, ORDERED);
        const pess_certify_options options = attacked(0.9, 0.05, 0, 1, NULL);
        pess_certificate_info info;
        pess_certificate *certificate = certified(data, &options, &info);
        made.count = 0;
        assert_int_equal(rests_on(certificate, "open-ends"), kind == UNMARKED);
        assert_int_equal(rests_on(certificate, "copied-rows"), kind == TWICE);
        pess_certificate_destroy(certificate);
    }
}

static void test_an_iteration_limit_is_said(void **state) {
    (void)state;
    static const double start[] = {1};
    for (int i = 0; i < 2; i++) {
        for (int64_t k = 0; k < 400; k++) row_add(0, 0, (double)(k & 1), 0, PESS_END_NONE, 0, 0);
        pess_certify_options options = attacked(i == 0 ? 0.9 : 0.9999999, 0.05, 0, 1, start);
        options.method = PESS_CERTIFY_ROBUST;
        const pess_certificate_info info = info_of_rows(1, 1, false, &options);
        assert_int_equal(info.outcome, i == 0 ? PESS_OUTCOME_CONVERGED : PESS_OUTCOME_ITERATION_LIMIT);
        assert_true(info.lower_bound <= 0.5 / (1 - options.gamma)); /* looser, not wrong */
        assert_true(info.optimal_upper_bound >= 0.5 / (1 - options.gamma));
    }
}

int main(void) {
    omp_set_num_threads(1);
    if (getenv("PESS_TEST_FILTER")) cmocka_set_test_filter(getenv("PESS_TEST_FILTER")); /* tools/repairs.py */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_end_of_the_log_does_not_place_the_cut),
        cmocka_unit_test(a_longer_log_is_cut_where_a_shorter_one_was),
        cmocka_unit_test(every_place_of_the_cut_has_its_share),
        cmocka_unit_test(every_number_of_starts_has_its_share),
        cmocka_unit_test(the_price_of_a_posterior_is_not_too_low),
        cmocka_unit_test(test_rows_after_an_end_end_the_comparison),
        cmocka_unit_test(test_one_attempt_is_assumed),
        cmocka_unit_test(a_constant_on_top_of_rewards_changes_nothing),
        cmocka_unit_test(the_unit_of_rewards_does_not_matter),
        cmocka_unit_test(test_the_policy_that_is_tested_is_the_one_that_is_handed_out),
        cmocka_unit_test(test_starts_need_episodes),
        cmocka_unit_test(an_end_that_was_never_logged_is_allowed_for),
        cmocka_unit_test(test_missing_steps_end_the_comparison),
        cmocka_unit_test(test_missing_numbers_end_the_comparison),
        cmocka_unit_test(test_rows_after_a_cutoff_are_no_return),
        cmocka_unit_test(test_missing_beginnings_are_refused),
        cmocka_unit_test(test_a_step_that_is_there_twice_is_refused),
        cmocka_unit_test(test_stopping_episodes_does_not_fool_their_mean),
        cmocka_unit_test(test_unmarked_ends_and_copies_are_said),
        cmocka_unit_test(test_an_iteration_limit_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
