/* Certificates from counts alone: what sets say of rows, they say of the counts of these rows. */
#include "model/counts.h"
#include "small_worlds.h"

#include <math.h>

static pess_certify_options options_of(const world *w, pess_certify_method method, const char *uncertainty) {
    pess_certify_options options = pess_certify_options_defaults();
    options.method = method;
    options.uncertainty = uncertainty;
    options.gamma = w->gamma;
    options.reward_range[0] = 0;
    options.reward_range[1] = 1;
    options.threads = 1;
    return options;
}

static pess_certificate_info info_of(const pess_certificate *certificate) {
    pess_certificate_info info;
    pess_certificate_get_info(certificate, &info);
    return info;
}

static pess_certificate *certified(const pess_dataset *data, const pess_certify_options *options) {
    pess_certificate *certificate = NULL;
    MUST(pess_certify(data, options, &certificate, error));
    return certificate;
}

static bool rests_on(const pess_certificate *certificate, const char *code) {
    const pess_assumption *assumption;
    for (size_t i = 0; (assumption = pess_certificate_assumption(certificate, i)) != NULL; i++)
        if (strcmp(assumption->code, code) == 0) return true;
    return false;
}

static void same_policy(const pess_policy *one, const pess_policy *other) {
    const size_t size = (size_t)(pess_policy_states(one) * pess_policy_actions(one)) * sizeof(double);
    assert_memory_equal(pess_policy_row(one, 0), pess_policy_row(other, 0), size);
}

/* Bounds for all policies at once do not look at rows, so not a bit differs. */
static void sets_say_of_counts_what_they_say_of_rows(void **state) {
    (void)state;
    static const char *const sets[] = {"l1", "good-turing"};
    for (uint64_t seed = 0; seed < 12; seed++) {
        world w = seed % 2 ? world_garnet(6, seed, 0.8, 0.6) : world_gridworld(3, seed, 0.7, 0.5);
        pess_dataset *data = log_of(&w, 4000, 20, seed);
        pess_counts *counts = NULL;
        MUST(pess_counts_create(data, 1, &counts, error));
        pess_certify_options options = options_of(&w, PESS_CERTIFY_ROBUST, sets[seed / 2 % 2]);
        options.start = seed % 3 ? w.start : NULL;
        options.max_successors = seed % 4 < 2 ? 4 : 0;
        pess_certificate *rows = certified(data, &options);
        options.counts = counts;
        pess_certificate *alone = certified(NULL, &options);
        options.method = PESS_CERTIFY_BEST; /* falls back to the same */
        pess_certificate *best = certified(NULL, &options);
        const pess_certificate_info r = info_of(rows), a = info_of(alone), b = info_of(best);
        assert_true(a.lower_bound == r.lower_bound && a.optimal_upper_bound == r.optimal_upper_bound);
        assert_true(a.value_estimate == r.value_estimate && a.decisions_changed == r.decisions_changed);
        assert_true(b.lower_bound == a.lower_bound && b.behaviour_upper_bound == a.behaviour_upper_bound);
        assert_string_equal(b.method, "robust");
        same_policy(pess_certificate_policy(rows), pess_certificate_policy(alone));
        assert_true(w.logging_value <= a.behaviour_upper_bound && a.behaviour_upper_bound < a.value_hi);
        assert_true(rests_on(best, "counts-alone") && !rests_on(rows, "counts-alone"));
        pess_certificate_destroy(rows);
        pess_certificate_destroy(alone);
        pess_certificate_destroy(best);
        pess_counts_destroy(counts);
        pess_dataset_destroy(data);
        world_free(&w);
    }
}

/* δ goes to what is done, and all of it. */
static void delta_is_not_spent_on_tests_that_need_rows(void **state) {
    (void)state;
    world w = world_gridworld(3, 1, 0.7, 0.5);
    pess_dataset *data = log_of(&w, 4000, 20, 1);
    pess_counts *counts = NULL;
    MUST(pess_counts_create(data, 1, &counts, error));
    for (int support = 0; support < 2; support++) {
        pess_certify_options options = options_of(&w, PESS_CERTIFY_BEST, support ? "support" : "l1");
        options.counts = counts;
        pess_certificate *certificate = certified(NULL, &options);
        const pess_ledger_entry *entry;
        double sum = 0;
        for (size_t i = 0; (entry = pess_certificate_ledger(certificate, i)) != NULL; i++) {
            sum += entry->delta;
            assert_null(strstr(entry->what, "test of the policy"));
            assert_null(strstr(entry->what, "learned"));
            assert_null(strstr(entry->what, "whole episodes"));
            assert_null(strstr(entry->what, "other places"));
        }
        assert_true(fabs(sum - 0.05) < 1e-15);
        pess_certificate_destroy(certificate);
    }
    pess_counts_destroy(counts);
    pess_dataset_destroy(data);
    world_free(&w);
}

/* A counted log without an episode column may be of trajectories that end: both are allowed for until declared
 * otherwise. */
static void counts_without_episodes_are_read_carefully(void **state) {
    (void)state;
    world w = world_gridworld(3, 2, 0.7, 0.5);
    pess_dataset *data = log_of(&w, 4000, 0, 2);
    pess_counts *counts = NULL;
    MUST(pess_counts_create(data, 1, &counts, error));
    counts->counted = true;
    pess_certify_options options = options_of(&w, PESS_CERTIFY_ROBUST, "l1");
    options.start = w.start;
    pess_certificate *rows = certified(data, &options);
    options.counts = counts;
    pess_certificate *careful = certified(NULL, &options);
    options.iid = true;
    options.may_end = PESS_MAY_END_OFF;
    pess_certificate *declared = certified(NULL, &options);
    assert_true(rests_on(careful, "trajectories-assumed") && rests_on(careful, "may-end"));
    assert_true(rests_on(declared, "iid-declared") && rests_on(declared, "no-ends"));
    assert_true(info_of(careful).lower_bound < info_of(declared).lower_bound);
    assert_true(info_of(declared).lower_bound == info_of(rows).lower_bound);
    pess_certificate_destroy(rows);
    pess_certificate_destroy(careful);
    pess_certificate_destroy(declared);
    pess_counts_destroy(counts);
    pess_dataset_destroy(data);
    world_free(&w);
}

static void refused(const pess_certify_options *options, pess_status status, const char *what) {
    pess_certificate *certificate = NULL;
    pess_error error = {0};
    assert_int_equal(pess_certify(NULL, options, &certificate, &error), status);
    assert_null(certificate);
    if (strstr(error.message, what) == NULL) fail_msg("expected '%s', got: %s", what, error.message);
}

static void what_needs_rows_is_refused(void **state) {
    (void)state;
    world w = world_gridworld(2, 3, 0.7, 0.5);
    pess_dataset *data = log_of(&w, 1000, 20, 3);
    pess_counts *counts = NULL;
    MUST(pess_counts_create(data, 1, &counts, error));
    pess_certify_options options = options_of(&w, PESS_CERTIFY_SPLIT, NULL);
    refused(&options, PESS_ARGUMENT, "found neither rows nor counts");
    options.counts = counts;
    refused(&options, PESS_INPUT, "splits need its rows");
    options.method = PESS_CERTIFY_EPISODES;
    refused(&options, PESS_INPUT, "whole episodes need its rows");
    options.method = PESS_CERTIFY_BEST;
    options.behaviour_estimated = true;
    refused(&options, PESS_INPUT, "weighs whole episodes");
    options.behaviour_estimated = false;
    options.policy = w.logging;
    options.fresh = true;
    refused(&options, PESS_INPUT, "is tested by a part of its rows");
    options.fresh = false;
    counts->repeated = 2;
    refused(&options, PESS_INPUT, "repeat a step");
    counts->repeated = 0;
    pess_certificate_destroy(certified(NULL, &options)); /* the policy that is given */
    pess_counts_destroy(counts);
    pess_dataset_destroy(data);
    world_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_say_of_counts_what_they_say_of_rows),
        cmocka_unit_test(delta_is_not_spent_on_tests_that_need_rows),
        cmocka_unit_test(counts_without_episodes_are_read_carefully),
        cmocka_unit_test(what_needs_rows_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
