/* Coverage: over seeded processes and logs, how often is one of the printed bounds wrong? Truth is exact. A bound that
 * holds with probability 1−δ may fail in at most failures_allowed(n, δ) of n runs; each such check raises a false alarm
 * with probability 1e-6. PESS_COVERAGE_TIMES and PESS_COVERAGE_SEED make it longer and fresh; then the limits that the
 * runs prove (Clopper–Pearson, 99 %) are the result. */
#include "core/threads.h"
#include "coverage.h"
#include "small_worlds.h"

typedef enum kind { GRIDWORLD, GARNET, CHAIN, BANDIT, KINDS } kind;

static world world_of_kind(kind k, uint64_t seed) {
    switch (k) {
        case GRIDWORLD: return world_gridworld(2, seed, 0.7, 0.5);
        case GARNET: return world_garnet(6, seed, 0.8, 0.6);
        case CHAIN: return world_chain(3 + (int64_t)(seed % 3), 0.8, 0.5);
        default: return world_bandit(3, 0.6, 0.5, 0.5, 0.9);
    }
}

typedef struct plan {
    const char *name;
    kind world;
    pess_certify_method method;
    const char *uncertainty;
    int64_t transitions, horizon; /* horizon 0: independent transitions */
    double delta;
    int64_t runs;
    bool counts_alone;
} plan;

static const plan plans[] = {
    {"gridworld, independent, best", GRIDWORLD, PESS_CERTIFY_BEST, NULL, 3000, 0, 0.3, 120},
    {"gridworld, trajectories, best", GRIDWORLD, PESS_CERTIFY_BEST, NULL, 3000, 10, 0.3, 120},
    {"gridworld, independent, robust l1", GRIDWORLD, PESS_CERTIFY_ROBUST, "l1", 400, 0, 0.5, 150},
    {"gridworld, independent, robust good-turing", GRIDWORLD, PESS_CERTIFY_ROBUST, "good-turing", 400, 0, 0.5, 150},
    {"garnet with an end, independent, best", GARNET, PESS_CERTIFY_BEST, NULL, 2000, 0, 0.2, 120},
    {"garnet with an end, trajectories, best", GARNET, PESS_CERTIFY_BEST, NULL, 2000, 20, 0.2, 120},
    {"garnet with an end, trajectories, split", GARNET, PESS_CERTIFY_SPLIT, NULL, 4000, 20, 0.5, 120},
    {"garnet with an end, trajectories, robust support", GARNET, PESS_CERTIFY_ROBUST, "support", 500, 20, 0.5, 150},
    {"chain, independent, split", CHAIN, PESS_CERTIFY_SPLIT, NULL, 1500, 0, 0.5, 150},
    {"chain, trajectories, best", CHAIN, PESS_CERTIFY_BEST, NULL, 1500, 15, 0.05, 150},
    {"bandit, independent, best", BANDIT, PESS_CERTIFY_BEST, NULL, 300, 0, 0.5, 150},
    {"bandit, independent, split", BANDIT, PESS_CERTIFY_SPLIT, NULL, 300, 0, 0.3, 200},
    {"bandit, trajectories, robust l1", BANDIT, PESS_CERTIFY_ROBUST, "l1", 300, 1, 0.5, 150},
    {"bandit, trajectories, counts alone", BANDIT, PESS_CERTIFY_BEST, NULL, 300, 1, 0.5, 150, true},
    {"chain, trajectories, counts alone", CHAIN, PESS_CERTIFY_BEST, "l1", 1500, 15, 0.5, 150, true},
};

typedef struct tally {
    int64_t wrong, lower_wrong, upper_wrong, logging_wrong, vacuous;
    double slack; /* mean of truth − lower bound, over the range of values */
} tally;

static void one_run(const plan *p, const world *w, uint64_t seed, tally *t) {
    pess_dataset *data = log_of(w, p->transitions, p->horizon, seed);
    pess_certify_options options = pess_certify_options_defaults();
    options.method = p->method;
    options.uncertainty = p->uncertainty;
    options.gamma = w->gamma;
    options.delta = p->delta;
    options.reward_range[0] = 0;
    options.reward_range[1] = 1;
    options.threads = 1;
    options.seed = seed;
    /* Half of the trajectory logs leave the start distribution to be estimated. */
    options.start = p->horizon > 0 && seed % 2 ? NULL : w->start;
    pess_certificate *certificate = NULL;
    pess_counts *counts = NULL;
    MUST(pess_counts_create(data, 1, &counts, error));
    options.counts = counts;
    MUST(pess_certify(p->counts_alone ? NULL : data, &options, &certificate, error));
    pess_certificate_info info;
    pess_certificate_get_info(certificate, &info);
    const double truth = true_value(w, pess_certificate_policy(certificate));
    const bool lower = truth<info.lower_bound, upper = w->optimal> info.optimal_upper_bound;
    const bool logging = w->logging_value > info.behaviour_upper_bound;
    t->lower_wrong += lower;
    t->upper_wrong += upper;
    t->logging_wrong += logging;
    t->wrong += lower || upper || logging;
    t->vacuous += info.vacuous;
    t->slack += (truth - info.lower_bound) / (info.value_hi - info.value_lo);
    double sum = 0;
    const pess_ledger_entry *entry;
    for (size_t i = 0; (entry = pess_certificate_ledger(certificate, i)) != NULL; i++) sum += entry->delta;
    assert_true(fabs(sum - p->delta) <= 1e-12);
    pess_certificate_destroy(certificate);
    pess_counts_destroy(counts);
    pess_dataset_destroy(data);
}

static void bounds_are_wrong_at_most_as_often_as_they_say(void **state) {
    (void)state;
    const uint64_t base = coverage_seed(20);
    print_message("%-50s %6s %6s %5s %8s %10s %9s %7s\n", "plan", "delta", "runs", "wrong", "allowed", "limit 99%",
                  "vacuous", "slack");
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const plan *p = &plans[i];
        const int64_t runs = coverage_runs(p->runs);
        tally t = {0};
        for (int64_t r = 0; r < runs; r++) {
            world w = world_of_kind(p->world, base + (uint64_t)(r / 10));
            one_run(p, &w, base * 7919 + (uint64_t)r, &t);
            world_free(&w);
        }
        const int64_t allowed = failures_allowed(runs, p->delta);
        print_message("%-50s %6.2f %6lld %5lld %8lld %9.3f%% %8.0f%% %7.3f\n", p->name, p->delta, (long long)runs,
                      (long long)t.wrong, (long long)allowed, 100 * failure_rate_limit(runs, t.wrong, 0.99),
                      100 * (double)t.vacuous / (double)runs, t.slack / (double)runs);
        assert_true(t.wrong <= allowed);
        assert_true(t.vacuous < runs / 2); /* and it says something */
    }
}

int main(void) {
    omp_set_num_threads(1); /* thousands of tiny problems: threads would only wait for each other */
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounds_are_wrong_at_most_as_often_as_they_say)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
