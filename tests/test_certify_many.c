/* The pooled test at many states: the chain by sweeps instead of an inverse, no differences of values, and no share of
 * δ for what is not run. */
#include "core/threads.h"
#include "coverage.h"
#include "small_worlds.h"

#include "certify/pooled.h"
#include "core/rng.h"

enum { MANY = 800, FEW = 40, ROOM = 120000 };

static uint32_t state_[ROOM], action_[ROOM], next_[ROOM];
static double reward_[ROOM];
static uint8_t end_[ROOM];

/* State s pays 1 with probability 0.2 + 0.6·s/states and goes one, eight or fifteen on. */
static double pays(int64_t s, int64_t states) { return 0.2 + 0.6 * (double)s / (double)states; }

static pess_dataset *draw(int64_t states, int64_t rows, uint64_t seed) {
    pess__rng rng = pess__rng_stream(seed, "many", 0);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t s = (int64_t)pess__rng_below(&rng, (uint64_t)states);
        const double u = pess__rng_uniform(&rng);
        state_[i] = (uint32_t)s;
        next_[i] = (uint32_t)((s + (u < 0.6 ? 1 : u < 0.8 ? 8 : 15)) % states);
        reward_[i] = pess__rng_uniform(&rng) < pays(s, states);
    }
    const pess_columns columns = {
        .rows = rows, .state = state_, .action = action_, .next_state = next_, .reward = reward_, .end = end_};
    pess_dataset *data = NULL;
    MUST(pess_dataset_create(&columns, states, 1, &data, error));
    return data;
}

/* Averaged over the states, which the process visits alike. */
static double truth(int64_t states, double gamma) {
    double sum = 0;
    for (int64_t s = 0; s < states; s++) sum += pays(s, states) / (double)states;
    return sum / (1 - gamma);
}

static void bounds_cover_at_many_states(void **state) {
    (void)state;
    const double gamma = 0.5, delta = 0.3;
    const int64_t runs = coverage_runs(12), allowed = failures_allowed(runs, delta);
    int64_t wrong = 0, pooled = 0;
    double start[MANY];
    for (int64_t s = 0; s < MANY; s++) start[s] = 1.0 / MANY;
    for (int64_t r = 0; r < runs; r++) {
        pess_dataset *data = draw(MANY, ROOM, coverage_seed(51) * 1000 + (uint64_t)r);
        pess_certify_options options = pess_certify_options_defaults();
        pess_certificate *certificate = NULL;
        pess_certificate_info info;
        options.method = PESS_CERTIFY_SPLIT;
        options.gamma = gamma;
        options.delta = delta;
        options.reward_range[0] = 0;
        options.reward_range[1] = 1;
        options.start = start;
        MUST(pess_certify(data, &options, &certificate, error));
        pess_certificate_get_info(certificate, &info);
        wrong += info.lower_bound > truth(MANY, gamma) || info.behaviour_upper_bound < truth(MANY, gamma);
        pooled += strcmp(info.test, "pooled") == 0;
        assert_true(info.lower_bound > 0.8 * truth(MANY, gamma));
        double sum = 0;
        const pess_ledger_entry *entry;
        for (size_t i = 0; (entry = pess_certificate_ledger(certificate, i)) != NULL; i++) {
            assert_null(strstr(entry->what, "differences"));
            sum += entry->delta;
        }
        assert_true(fabs(sum - delta) < 1e-12);
        pess_certificate_destroy(certificate);
        pess_dataset_destroy(data);
    }
    print_message("many states: wrong %lld, allowed %lld of %lld\n", (long long)wrong, (long long)allowed,
                  (long long)runs);
    assert_true(wrong <= allowed);
    assert_true(pooled == runs);
}

/* Visits by sweeps are those by the inverse. */
static void test_sweeps_agree_with_the_inverse(void **state) {
    (void)state;
    pess_dataset *data = draw(FEW, 4000, 7);
    pess_counts *counts = NULL;
    pess_policy *policy = NULL;
    pess__holdout *test = NULL;
    double start[FEW], one[FEW], pi[FEW], swept[FEW], dense[FEW];
    static double inverse[(FEW + 1) * FEW];
    uint8_t none[FEW] = {0}, bad[FEW] = {[3] = 1, [30] = 1};
    for (int s = 0; s < FEW; s++) start[s] = s % 2 ? 2.0 / FEW : 0, pi[s] = 1, one[s] = 1.0 / FEW;
    MUST(pess_counts_create(data, 0, &counts, error));
    MUST(pess_policy_create(FEW, 1, pi, &policy, error));
    const pess__holdout_setup setup = {.first = counts,
                                       .second = counts,
                                       .policy = policy,
                                       .start = one,
                                       .start_first = one,
                                       .terminal = none,
                                       .ratio = 1,
                                       .gamma = 0.9,
                                       .reward_hi = 1,
                                       .v_hi = 10,
                                       .delta_box = 0.1,
                                       .delta_sets = 0.1,
                                       .threads = 1};
    MUST(pess__holdout_run(&setup, &test, error));
    MUST(pess__pooled_invert(test, counts, bad, inverse, error));
    MUST(pess__pooled_visits(test, counts, bad, inverse, start, dense, error));
    MUST(pess__pooled_visits(test, counts, bad, NULL, start, swept, error));
    for (int s = 0; s < FEW; s++) assert_true(fabs(swept[s] - dense[s]) < 1e-11);
    pess__holdout_destroy(test);
    pess_policy_destroy(policy);
    pess_counts_destroy(counts);
    pess_dataset_destroy(data);
}

int main(void) {
    omp_set_num_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_cover_at_many_states),
        cmocka_unit_test(test_sweeps_agree_with_the_inverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
