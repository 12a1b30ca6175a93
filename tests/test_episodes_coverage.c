/* Coverage of certificates from whole episodes, on seven processes, one of them with a hidden variable, where methods
 * that need Markov states are wrong and this one is not; and mutants of the bound, which must be caught. A bound that
 * holds with probability 1−δ may fail in at most failures_allowed(n, δ) of n runs; each such check raises a false alarm
 * with probability 1e-6. */
#include "coverage.h"
#include "hidden_world.h"
#include "rows.h"

#include "certify/betting.h"
#include "certify/importance.h"
#include "core/threads.h"
#include "data/dataset.h"

typedef enum kind { GRIDWORLD, GARNET, LONG_GARNET, CHAIN, BANDIT, WIDE, HIDDEN } kind;

typedef struct plan {
    const char *name;
    kind world;
    int64_t episodes, horizon;
    double delta;
    int64_t runs;
} plan;

/* The place of the cut is declared, so that all of δ is spent. Horizons below the end of episodes cut them off. */
static const plan plans[] = {
    {"gridworld, cut off", GRIDWORLD, 400, 8, 0.5, 50},
    {"garnet with an end", GARNET, 400, 100, 0.5, 50},
    {"garnet with an end, often cut off", LONG_GARNET, 300, 4, 0.5, 50},
    {"chain, cut off", CHAIN, 300, 6, 0.3, 50},
    {"bandit, one step", BANDIT, 300, 1, 0.5, 80},
    {"gridworld of 3 by 3", WIDE, 600, 6, 0.5, 40},
};

static world world_of_kind(kind k, uint64_t seed) {
    switch (k) {
        case GRIDWORLD: return world_gridworld(2, seed, 0.6, 0.5);
        case GARNET: return world_garnet(6, seed, 0.8, 0.6);
        case LONG_GARNET: return world_garnet(12, seed, 0.7, 0.7);
        case CHAIN: return world_chain(3 + (int64_t)(seed % 3), 0.6, 0.5);
        case WIDE: return world_gridworld(3, seed, 0.5, 0.6);
        default: return world_bandit(3, 0.7, 0.4, 0.01, 0.9);
    }
}

typedef struct tally {
    int64_t wrong, lower_wrong, difference_wrong, logging_wrong, vacuous, doubly_robust;
} tally;

static pess_certify_options options_of(double gamma, double delta, int64_t rows, pess_certify_method method) {
    pess_certify_options options = pess_certify_options_defaults();
    options.method = method;
    options.gamma = gamma;
    options.delta = delta;
    options.reward_range[0] = 0;
    options.reward_range[1] = 1;
    options.first_part = rows / 3;
    options.threads = 1;
    return options;
}

/* One certificate of the method `episodes` against the truth. */
static void count_run(const pess_certificate *certificate, double value, double logging, tally *t) {
    pess_certificate_info info;
    pess_certificate_get_info(certificate, &info);
    const pess_episode_report *report = pess_certificate_episodes(certificate);
    assert_non_null(report);
    const bool lower = value < report->lower_bound,
               difference = value - logging<report->difference_lower_bound, upper = logging> info.behaviour_upper_bound;
    t->lower_wrong += lower;
    t->difference_wrong += difference;
    t->logging_wrong += upper;
    t->wrong += lower || difference || upper;
    t->vacuous += info.vacuous;
    t->doubly_robust +=
        strcmp(report->bet, "doubly-robust") == 0 || strcmp(report->difference_bet, "doubly-robust") == 0;
    double sum = 0;
    const pess_ledger_entry *entry;
    for (size_t i = 0; (entry = pess_certificate_ledger(certificate, i)) != NULL; i++) sum += entry->delta;
    assert_true(fabs(sum - info.delta) <= 1e-12);
}

static void report_plan(const char *name, double delta, int64_t runs, const tally *t) {
    print_message("%-36s delta %.2f runs %4lld wrong %3lld (lower %lld, difference %lld, logging %lld) allowed %3lld "
                  "vacuous %lld doubly robust %lld\n",
                  name, delta, (long long)runs, (long long)t->wrong, (long long)t->lower_wrong,
                  (long long)t->difference_wrong, (long long)t->logging_wrong, (long long)failures_allowed(runs, delta),
                  (long long)t->vacuous, (long long)t->doubly_robust);
}

static void episodes_are_wrong_at_most_as_often_as_they_say(void **state) {
    (void)state;
    const uint64_t base = coverage_seed(40);
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const plan *p = &plans[i];
        const int64_t runs = coverage_runs(p->runs);
        tally t = {0};
        for (int64_t r = 0; r < runs; r++) {
            world w = world_of_kind(p->world, base + (uint64_t)(r / 10));
            pess_dataset *data = log_of(&w, p->episodes * p->horizon, p->horizon, base * 7919 + (uint64_t)r);
            pess_columns columns;
            pess_dataset_columns(data, &columns);
            const pess_certify_options options = options_of(w.gamma, p->delta, columns.rows, PESS_CERTIFY_EPISODES);
            pess_certificate *certificate = NULL;
            MUST(pess_certify(data, &options, &certificate, error));
            count_run(certificate, true_value(&w, pess_certificate_policy(certificate)), w.logging_value, &t);
            pess_certificate_destroy(certificate);
            pess_dataset_destroy(data);
            world_free(&w);
        }
        report_plan(p->name, p->delta, runs, &t);
        assert_true(t.wrong <= failures_allowed(runs, p->delta));
        assert_true(t.vacuous < runs / 2);
    }
}

/* The certified value of the policy that a method returns for a log of the hidden world. */
static pess_certificate *certify_hidden(uint64_t seed, double delta, pess_certify_method method) {
    pess_dataset *data = hidden_log(2000, seed);
    pess_certify_options options = options_of(1, delta, 4000, method);
    options.return_range[0] = 0;
    options.return_range[1] = 1;
    pess_certificate *certificate = NULL;
    MUST(pess_certify(data, &options, &certificate, error));
    pess_dataset_destroy(data);
    return certificate;
}

static void a_hidden_variable_fools_models_but_not_episodes(void **state) {
    (void)state;
    const double delta = 0.3, logging = hidden_behaviour_value();
    const int64_t runs = coverage_runs(30), allowed = failures_allowed(runs, delta);
    int64_t robust_wrong = 0, split_wrong = 0;
    tally t = {0};
    for (int64_t r = 0; r < runs; r++) {
        const uint64_t seed = coverage_seed(90) * 31 + (uint64_t)r;
        pess_certificate *episodes = certify_hidden(seed, delta, PESS_CERTIFY_EPISODES),
                         *robust = certify_hidden(seed, delta, PESS_CERTIFY_ROBUST),
                         *split = certify_hidden(seed, delta, PESS_CERTIFY_SPLIT);
        pess_certificate_info info;
        count_run(episodes, hidden_policy_value(pess_certificate_policy(episodes)), logging, &t);
        pess_certificate_get_info(robust, &info);
        robust_wrong += info.lower_bound > hidden_policy_value(pess_certificate_policy(robust));
        pess_certificate_get_info(split, &info);
        split_wrong += info.lower_bound > hidden_policy_value(pess_certificate_policy(split));
        pess_certificate_destroy(episodes);
        pess_certificate_destroy(robust);
        pess_certificate_destroy(split);
    }
    report_plan("hidden variable", delta, runs, &t);
    print_message("hidden variable: robust wrong in %lld, split in %lld of %lld runs\n", (long long)robust_wrong,
                  (long long)split_wrong, (long long)runs);
    assert_true(t.wrong <= allowed && t.vacuous == 0);
    assert_true(robust_wrong > allowed && split_wrong > allowed);
}

/* ------------------------------------------------------------------------------------------------ mutants */

enum { EPISODES = 150, FEW = 10, CONTEXTS = 40 };

typedef enum mutant { NONE, LAST_STEP, SELF_NORMALISED, CHOSEN_ON_TESTED, HALF_LEVEL, MUTANTS } mutant;
static const char *const mutant_names[] = {"the bound itself", "weights without the last step",
                                           "self-normalised weights", "choosing on the tested episodes",
                                           "1/(2δ) for 1/δ"};

/* One step: contexts all alike, action 1 with probability `rare`, a payment of 1 with probability pays[action]. */
typedef struct one_step {
    int64_t episodes;
    double rare, pays[2], takes; /* takes: the policy's probability of action 1 */
} one_step;

/* Each mutant with a process that shows what is wrong with it. */
static const one_step processes[MUTANTS] = {
    {EPISODES, 0.5, {0.1, 0.9}, 0.1}, {EPISODES, 0.5, {0.1, 0.9}, 0.1}, {FEW, 0.02, {1, 0}, 0.5},
    {EPISODES, 0.5, {0.5, 0.5}, 0.5}, {EPISODES, 0.5, {0.1, 0.9}, 0.1},
};

static pess_dataset *one_step_log(const one_step *p, uint64_t seed) {
    pess__rng rng = pess__rng_stream(seed, "one step", 0);
    made.count = 0;
    for (int64_t i = 0; i < p->episodes; i++) {
        const int a = pess__rng_uniform(&rng) < p->rare;
        const uint32_t context = (uint32_t)pess__rng_below(&rng, CONTEXTS);
        rows_put((log_row){.state = context,
                           .action = (uint32_t)a,
                           .next = CONTEXTS,
                           .reward = pess__rng_uniform(&rng) < p->pays[a],
                           .probability = a ? p->rare : 1 - p->rare,
                           .end = PESS_END_TERMINAL,
                           .episode = i});
    }
    return rows_dataset(CONTEXTS + 1, 2, ROWS_EPISODES | ROWS_PROBABILITIES);
}

/* The action that paid more in each context of the tested episodes themselves. */
static void choose_on_tested(const pess_dataset *data, double *policy) {
    double paid[2 * CONTEXTS] = {0}, n[2 * CONTEXTS] = {0};
    for (int64_t i = 0; i < data->rows; i++) {
        paid[2 * data->state[i] + data->action[i]] += data->reward[i];
        n[2 * data->state[i] + data->action[i]]++;
    }
    for (int c = 0; c < CONTEXTS; c++) {
        const bool one = paid[2 * c + 1] / fmax(n[2 * c + 1], 1) > paid[2 * c] / fmax(n[2 * c], 1);
        policy[2 * c] = !one;
        policy[2 * c + 1] = one;
    }
}

/* X of the tested episodes. */
static void weigh(const pess_dataset *data, const double *policy, mutant m, double *values) {
    pess__trajectories *t = NULL;
    pess__returns *returns = NULL;
    double weight[EPISODES], sum = 0;
    MUST(pess__trajectories_create(data, &t, error));
    MUST(pess__returns_create(data, t, 1, 0, 1, &returns, error));
    pess__importance_weights(data, t, data->probability, policy, 1, 0, 0, t->count, 1, weight, NULL);
    for (int64_t i = 0; i < t->count; i++) sum += weight[i];
    for (int64_t i = 0; i < t->count && m == LAST_STEP; i++) weight[i] = 1; /* of no step at all */
    for (int64_t i = 0; i < t->count && m == SELF_NORMALISED; i++) weight[i] *= (double)t->count / sum;
    pess__importance_values(returns, weight, 0, t->count, INFINITY, values);
    pess__returns_destroy(returns);
    pess__trajectories_destroy(t);
}

/* Is the bound above the truth at some moment of the collection? Capital against the true mean says so. */
static bool ever_wrong(const double *values, int64_t count, double truth, double log_level, bool any_moment) {
    for (int64_t n = any_moment ? 1 : count; n <= count; n++)
        if (pess__bet_log_capital(values, n, truth) >= log_level) return true;
    return false;
}

static bool mutant_wrong(mutant m, double delta, uint64_t seed) {
    const one_step *p = &processes[m];
    pess_dataset *data = one_step_log(p, seed);
    double values[EPISODES], policy[2 * (CONTEXTS + 1)] = {0};
    for (int c = 0; c < CONTEXTS; c++) {
        policy[2 * c] = 1 - p->takes;
        policy[2 * c + 1] = p->takes;
    }
    if (m == CHOSEN_ON_TESTED) choose_on_tested(data, policy);
    weigh(data, policy, m, values);
    pess_dataset_destroy(data);
    const double truth = (1 - p->takes) * p->pays[0] + p->takes * p->pays[1];
    const double level = m == HALF_LEVEL ? log(1 / (2 * delta)) : log(1 / delta);
    return ever_wrong(values, p->episodes, truth, level, m == NONE || m == HALF_LEVEL);
}

static void mutants_are_caught(void **state) {
    (void)state;
    const double delta = 0.5;
    for (mutant m = NONE; m < MUTANTS; m++) {
        const int64_t runs = 400, allowed = failures_allowed(runs, delta);
        int64_t wrong = 0;
        for (int64_t r = 0; r < runs; r++) wrong += mutant_wrong(m, delta, 7000 + (uint64_t)r);
        print_message("%-34s wrong %4lld of %lld, allowed %lld\n", mutant_names[m], (long long)wrong, (long long)runs,
                      (long long)allowed);
        assert_true(m == NONE ? wrong <= allowed : wrong > allowed);
    }
}

int main(void) {
    omp_set_num_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutants_are_caught),
        cmocka_unit_test(a_hidden_variable_fools_models_but_not_episodes),
        cmocka_unit_test(episodes_are_wrong_at_most_as_often_as_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
