/* What certificates, gaps and theorems cannot rest on, each refused in one sentence; and what they do at the edges. */
#include "policy/policy.h"
#include "rows.h"
#include "scratch.h"

#include <math.h>

static pess_error error;

/* A log of whole episodes as text. */
static pess_dataset *log_of(const char *text) {
    pess_dataset *data = NULL;
    const pess_read_options options = {.size = sizeof options, .last_row = PESS_LAST_ROW_CUTOFF};
    assert_ok(pess_dataset_read_memory("log.csv", text, strlen(text), &options, &data, &error), &error);
    return data;
}

static pess_certify_options unit_rewards(pess_certify_method method) {
    pess_certify_options options = pess_certify_options_defaults();
    options.method = method, options.gamma = 0.9, options.threads = 1;
    options.reward_range[0] = 0, options.reward_range[1] = 1;
    return options;
}

static void refused(const pess_dataset *data, const pess_certify_options *options, pess_status status,
                    const char *words) {
    pess_certificate *certificate = NULL;
    assert_failure(pess_certify(data, options, &certificate, &error), status, &error, words, NULL);
    assert_null(certificate);
}

static pess_policy *policy_of(int64_t states, const double *probabilities) {
    pess_policy *policy = NULL;
    assert_ok(pess_policy_create(states, 2, probabilities, &policy, &error), &error);
    return policy;
}

/* ---- certificates */

#define TWO_EPISODES                                                                                                   \
    "episode,step,state,action,reward,next_state\np,0,well,wait,0,ill\np,1,ill,treat,1,well\n"                         \
    "q,0,well,treat,0.5,ill\nq,1,ill,wait,0,ill\n"

static void logs_that_bear_no_certificate_are_refused(void **state) {
    (void)state;
    pess_certify_options options = unit_rewards(PESS_CERTIFY_ROBUST);
    pess_dataset *data = log_of(TWO_EPISODES), *empty = NULL, *gaps = NULL;
    pess_counts *counts = NULL;
    assert_ok(pess_counts_create(data, 1, &counts, &error), &error);
    const pess_columns none = {.rows = 0};
    assert_ok(pess_dataset_create(&none, 2, 2, &empty, &error), &error);
    refused(empty, &options, PESS_INPUT, "the log is empty: there is nothing to certify from");
    options.counts = counts;
    refused(empty, &options, PESS_ARGUMENT, "the counts are those of another log");
    options.counts = NULL;
    gaps = log_of("episode,step,state,action,reward\np,0,a,x,0\np,2,b,y,1\np,3,a,x,1\np,5,b,x,0\np,6,a,y,1\np,7,b,x,"
                  "1\np,8,a,x,0\np,9,b,x,0\n");
    refused(gaps, &options, PESS_INPUT,
            "steps are missing between the two (in 2 places; an inspection names the first)");
    pess_dataset_destroy(gaps);
    gaps = log_of("episode,step,state,action,reward\np,0,a,x,0\np,2,b,y,1\np,3,a,x,1\np,4,b,x,0\np,5,a,x,0\n");
    refused(gaps, &options, PESS_INPUT, "(in 1 place; an inspection names the first)");
    pess_dataset_destroy(gaps);
    pess_counts_destroy(counts);
    pess_dataset_destroy(empty);
    pess_dataset_destroy(data);
}

/* The first member of a page says which version of the struct it is; nothing is written for another one. */
static void pages_of_another_size_are_refused(void **state) {
    (void)state;
    const pess_certify_options options = unit_rewards(PESS_CERTIFY_ROBUST);
    pess_dataset *data = log_of(TWO_EPISODES);
    pess_certificate *certificate = NULL;
    assert_ok(pess_certify(data, &options, &certificate, &error), &error);
    pess_certificate_page page = {.size = sizeof page, .unit = "points"};
    const char *path = scratch_path(0, ".html");
    assert_ok(pess_certificate_write_page(certificate, &page, path, &error), &error);
    assert_int_equal(remove(path), 0);
    page.size = 0;
    assert_failure(pess_certificate_write_page(certificate, &page, path, &error), PESS_ARGUMENT, &error,
                   "the page: found the size 0", NULL);
    assert_int_not_equal(remove(path), 0);
    const pess_cells_page cells = {.size = 8};
    assert_failure(pess_cells_write_page(&cells, path, &error), PESS_ARGUMENT, &error, "the page: found the size 8",
                   NULL);
    pess_certificate_destroy(certificate);
    pess_dataset_destroy(data);
}

static void declarations_that_contradict_are_refused(void **state) {
    (void)state;
    pess_dataset *data = log_of(TWO_EPISODES);
    pess_certify_options options = unit_rewards(PESS_CERTIFY_ROBUST);
    options.uncertainty = "nosuch";
    refused(data, &options, PESS_ARGUMENT, "there is no uncertainty 'nosuch'");
    options.uncertainty = "hoeffding";
    refused(data, &options, PESS_ARGUMENT, "so it cannot stand behind a certificate; l1, support and good-turing can");
    options = unit_rewards(PESS_CERTIFY_ROBUST);
    const double negative[2] = {-0.5, 1.5}, short_of_one[2] = {0.5, 0.25}, start[2] = {1, 0};
    options.start = negative;
    refused(data, &options, PESS_ARGUMENT, "the start distribution has -0.5 at state 0");
    options.start = short_of_one;
    refused(data, &options, PESS_ARGUMENT, "the start distribution sums to 0.75, expected 1");
    options = unit_rewards(PESS_CERTIFY_EPISODES);
    options.behaviour_estimated = true, options.start = start;
    refused(data, &options, PESS_INPUT, "no other start distribution can be declared");
    options = unit_rewards(PESS_CERTIFY_SPLIT);
    refused(data, &options, PESS_INPUT, "the log is too small to split");
    options = unit_rewards(PESS_CERTIFY_ROBUST);
    options.gamma = 1;
    refused(data, &options, PESS_ARGUMENT, "at discount 1 rewards alone do not bound the values");
    options.gamma = 0.9, options.horizon = 2, options.return_range[0] = 5, options.return_range[1] = 6;
    refused(data, &options, PESS_INPUT, "contradict rewards from 0 to 1 in 2 steps");
    pess_dataset_destroy(data);
}

/* By name where states have names, by number where they have none. */
static void policies_that_leave_a_state_out_are_refused(void **state) {
    (void)state;
    pess_certify_options options = unit_rewards(PESS_CERTIFY_ROBUST);
    const double one_state[4] = {0.5, 0.5, 0, 0};
    pess_policy *policy = policy_of(2, one_state), *wide = policy_of(1, one_state);
    pess_dataset *named = log_of(TWO_EPISODES),
                 *numbered = log_of("episode,state,action,reward,next_state\n0,0,0,0,1\n0,1,1,1,0\n1,0,1,0,1\n");
    options.policy = policy;
    refused(named, &options, PESS_INPUT, "the policy's probabilities at state ill sum to 0, expected 1");
    refused(numbered, &options, PESS_INPUT, "the policy's probabilities at state 1 sum to 0, expected 1");
    options.policy = wide;
    refused(named, &options, PESS_INPUT, "1 states");
    pess_dataset_destroy(numbered);
    pess_dataset_destroy(named);
    pess_policy_destroy(wide);
    pess_policy_destroy(policy);
}

/* ---- probabilities of the logged actions */

/* Two states, after which an episode ends; action 0 pays. In the first `fair` episodes it is taken every second time,
 * afterwards always. */
static pess_dataset *coins(int episodes, int fair, double first, double then) {
    made.count = 0;
    for (int e = 0; e < episodes; e++)
        for (int t = 0; t < 2; t++) {
            const uint32_t action = e < fair ? (uint32_t)(e + t) % 2 : 0;
            rows_put((log_row){.state = (uint32_t)t,
                               .action = action,
                               .reward = 0.5 * (action == 0),
                               .next = (uint32_t)t + 1,
                               .end = t == 1 ? PESS_END_TERMINAL : PESS_END_NONE,
                               .episode = e,
                               .step = t,
                               .probability = e < fair ? first : then});
        }
    return rows_dataset(3, 2, ROWS_EPISODES | ROWS_STEPS | ROWS_PROBABILITIES);
}

static void probabilities_that_the_log_contradicts_are_refused(void **state) {
    (void)state;
    pess_certify_options options = unit_rewards(PESS_CERTIFY_EPISODES);
    pess_dataset *data = coins(400, 200, 0.5, 0.05); /* never seen to be wrong before the policy is tested */
    refused(data, &options, PESS_INPUT, "the mean weight of the tested episodes is at least");
    pess_dataset_destroy(data);
    data = coins(400, 0, 0.5, 0.05);
    refused(data, &options, PESS_INPUT, "actions happen that they make too unlikely");
    pess_dataset_destroy(data);
    data = coins(40, 40, 0.5, 0.5);
    const double never[6] = {1, 0, 1, 0, 1, 0};
    pess_policy *policy = policy_of(3, never);
    options.behaviour = policy;
    refused(data, &options, PESS_INPUT, "gives action 1 at state 1 no probability, but row 2 of the log shows it");
    options.behaviour = NULL;
    pess_dataset_destroy(data);
    data = log_of("episode,state,action,reward,next_state,terminal,probability\np,well,wait,0,ill,0,0.5\n"
                  "p,ill,treat,1,well,1,0\n");
    refused(data, &options, PESS_INPUT,
            "row 2 of the log has probability 0 for the action that was taken (treat at state ill)");
    pess_dataset_destroy(data);
    data = log_of("state,action,reward,next_state,probability\na,x,0,b,0.5\nb,x,1,a,0.5\n");
    refused(data, &options, PESS_INPUT, "the log has no episode column");
    pess_dataset_destroy(data);
    pess_policy_destroy(policy);
}

static bool assumes(const pess_certificate *certificate, const char *code) {
    for (size_t i = 0; pess_certificate_assumption(certificate, i) != NULL; i++)
        if (strcmp(pess_certificate_assumption(certificate, i)->code, code) == 0) return true;
    return false;
}

/* Where the probability of an action changes at a state, doubly robust bets would not hold: none is made. */
static void probabilities_that_change_leave_out_bets_by_state(void **state) {
    (void)state;
    const pess_certify_options options = unit_rewards(PESS_CERTIFY_EPISODES);
    pess_dataset *data = coins(400, 400, 0.5, 0.5);
    for (int64_t i = 0; i < made.count; i += 3) made.probability[i] = 0.45;
    pess_dataset_destroy(data);
    data = rows_dataset(3, 2, ROWS_EPISODES | ROWS_STEPS | ROWS_PROBABILITIES);
    pess_certificate *certificate = NULL;
    assert_ok(pess_certify(data, &options, &certificate, &error), &error);
    const pess_episode_report *report = pess_certificate_episodes(certificate);
    assert_non_null(report);
    assert_string_not_equal(report->bet, "doubly-robust");
    assert_string_not_equal(report->difference_bet, "doubly-robust");
    assert_false(assumes(certificate, "behaviour-by-state"));
    assert_true(assumes(certificate, "behaviour-logged"));
    pess_certificate_destroy(certificate);
    pess_dataset_destroy(data);
}

/* ---- a horizon */

/* Names that are too long for a message are told apart by their numbers. */
static void long_names_at_steps_stay_apart(void **state) {
    (void)state;
    char text[1200], longest[101];
    memset(longest, 'x', 100);
    longest[100] = '\0';
    (void)snprintf(text, sizeof text,
                   "episode,state,action,reward,next_state\np,%s1,wait,0,%s2\np,%s2,treat,1,%s1\n"
                   "q,%s1,wait,0,%s2\nq,%s2,treat,1,%s1\n",
                   longest, longest, longest, longest, longest, longest, longest, longest);
    pess_dataset *data = log_of(text);
    pess_certify_options options = unit_rewards(PESS_CERTIFY_ROBUST);
    options.horizon = 2;
    pess_certificate *certificate = NULL;
    assert_ok(pess_certify(data, &options, &certificate, &error), &error);
    pess_certificate_info info;
    pess_certificate_get_info(certificate, &info);
    assert_int_equal(info.horizon, 2);
    assert_true(info.lower_bound >= 0 && info.optimal_upper_bound <= 2);
    pess_certificate_destroy(certificate);
    const double none[4] = {1, 0, 0, 0};
    pess_policy *policy = policy_of(2, none);
    options.policy = policy;
    refused(data, &options, PESS_INPUT, "at state number 1 at step 0 sum to 0");
    pess_policy_destroy(policy);
    pess_dataset_destroy(data);
}

static void episodes_that_begin_elsewhere_have_a_name(void **state) {
    (void)state;
    pess_dataset *data = log_of("episode,step,state,action,reward,next_state\nann,0,a,x,0,b\nbob,3,a,x,0,b\n");
    pess_certify_options options = unit_rewards(PESS_CERTIFY_ROBUST);
    options.horizon = 2;
    refused(data, &options, PESS_INPUT, "episode 'bob' begins at step 3, expected step 0");
    pess_counts *counts = NULL;
    assert_ok(pess_counts_create(data, 1, &counts, &error), &error);
    options.counts = counts;
    refused(NULL, &options, PESS_INPUT, "a horizon needs rows");
    pess_counts_destroy(counts);
    pess_dataset_destroy(data);
}

/* One table for all steps is the same as that table at each step; where the log ends an episode it may be empty. */
static void one_table_is_one_for_each_step(void **state) {
    (void)state;
    pess_dataset *data = coins(60, 60, 0.5, 0.5);
    const double once[6] = {0.75, 0.25, 0.25, 0.75, 0, 0}, start[3] = {1, 0, 0};
    double twice[12];
    memcpy(twice, once, sizeof once);
    memcpy(twice + 6, once, sizeof once);
    pess_policy *all = policy_of(3, once), *each = NULL;
    assert_ok(pess__policy_allocate_steps(2, 3, 2, &each, &error), &error);
    memcpy(each->probability, twice, sizeof twice);
    pess_certify_options options = unit_rewards(PESS_CERTIFY_ROBUST);
    options.horizon = 2, options.start = start, options.gamma = 1;
    double bounds[2];
    for (int i = 0; i < 2; i++) {
        pess_certificate *certificate = NULL;
        pess_certificate_info info;
        options.policy = i == 0 ? all : each;
        assert_ok(pess_certify(data, &options, &certificate, &error), &error);
        pess_certificate_get_info(certificate, &info);
        bounds[i] = info.lower_bound;
        pess_certificate_destroy(certificate);
    }
    assert_true(bounds[0] == bounds[1]);
    options = unit_rewards(PESS_CERTIFY_EPISODES);
    options.horizon = 2, options.behaviour = all; /* whole episodes by a declared policy */
    pess_certificate *certificate = NULL;
    assert_ok(pess_certify(data, &options, &certificate, &error), &error);
    assert_string_equal(pess_certificate_episodes(certificate)->behaviour, "declared");
    assert_true(assumes(certificate, "behaviour-declared"));
    pess_certificate_destroy(certificate);
    pess_policy_destroy(each);
    pess_policy_destroy(all);
    pess_dataset_destroy(data);
}

/* ---- what is given, and what is nothing */

/* A policy that was made without the log is bounded as it is, and its bound is no more than its value: always action 0
 * is worth 0.5 + 0.9·0.5 for certain. */
static void a_fresh_policy_is_tested_by_whole_episodes(void **state) {
    (void)state;
    pess_dataset *data = coins(2000, 2000, 0.5, 0.5);
    const double always[6] = {1, 0, 1, 0, 1, 0};
    pess_policy *policy = policy_of(3, always);
    pess_certify_options options = unit_rewards(PESS_CERTIFY_EPISODES);
    options.policy = policy, options.fresh = true;
    pess_certificate *certificate = NULL;
    pess_certificate_info info;
    assert_ok(pess_certify(data, &options, &certificate, &error), &error);
    pess_certificate_get_info(certificate, &info);
    for (int64_t s = 0; s < 2; s++) assert_true(pess_policy_row(pess_certificate_policy(certificate), s)[0] == 1);
    assert_true(info.lower_bound >= 0 && info.lower_bound <= 0.95 + 1e-9);
    pess_certificate_destroy(certificate);
    pess_policy_destroy(policy);
    pess_dataset_destroy(data);
}

/* Where rewards can only be 0, so can bounds. */
static void nothing_to_gain_is_certified_exactly(void **state) {
    (void)state;
    pess_dataset *data = coins(400, 400, 0.5, 0.5);
    memset(made.reward, 0, sizeof made.reward);
    pess_dataset_destroy(data);
    data = rows_dataset(3, 2, ROWS_EPISODES | ROWS_STEPS);
    const pess_certify_method methods[] = {PESS_CERTIFY_ROBUST, PESS_CERTIFY_SPLIT, PESS_CERTIFY_BEST};
    for (int i = 0; i < 3; i++) {
        pess_certify_options options = unit_rewards(methods[i]);
        options.reward_range[1] = 0;
        pess_certificate *certificate = NULL;
        pess_certificate_info info;
        assert_ok(pess_certify(data, &options, &certificate, &error), &error);
        pess_certificate_get_info(certificate, &info);
        assert_true(info.lower_bound == 0 && info.optimal_upper_bound == 0 && info.behaviour_upper_bound == 0);
        assert_false(info.recommend_switch);
        pess_certificate_destroy(certificate);
    }
    pess_dataset_destroy(data);
}

/* ---- estimators */

static void estimates_need_whole_episodes_and_their_policy(void **state) {
    (void)state;
    static const char rows[] = "state,action,reward,next_state,probability\na,x,1,b,0.5\nb,y,0,a,0.5\n",
                      cut[] = "episode,state,action,reward,next_state,truncated,probability\n"
                              "1,a,x,1,b,0,0.5\n1,b,y,0.5,a,1,0.5\n";
    const double both[4] = {1, 0, 0, 1}, one[2] = {1, 0};
    pess_policy *policy = policy_of(2, both), *small = policy_of(1, one);
    for (int i = 0; i < 2; i++) {
        pess_dataset *data = log_of(i == 0 ? rows : cut);
        pess_counts *counts = NULL;
        pess_model *model = NULL;
        pess_estimates found;
        pess_estimator_options options = pess_estimator_options_defaults();
        options.gamma = 0.5, options.bootstrap = 3, options.threads = 1;
        assert_ok(pess_counts_create(data, 1, &counts, &error), &error);
        assert_ok(pess_model_estimate(counts, NULL, &model, &error), &error);
        const pess_status status = pess_estimate_policy(data, counts, model, policy, &options, &found, &error);
        if (i == 0) {
            assert_failure(status, PESS_INPUT, &error, "the log has no episode column", NULL);
        } else { /* weights 2 and 4; one episode has no spread, and no reward behind the cut-off is counted */
            assert_ok(status, &error);
            assert_close(found.rows[0].value, 4 * (1 + 0.5 * 0.5), 1e-12);
            assert_close(found.rows[1].value, 2 * 1 + 4 * 0.5 * 0.5, 1e-12);
            assert_true(isinf(found.rows[0].error));
            assert_int_equal(found.cutoffs, 1);
            assert_failure(pess_estimate_policy(data, counts, model, small, &options, &found, &error), PESS_INPUT,
                           &error, "1 states and 2 actions", NULL);
            options.gamma = 1.5;
            assert_failure(pess_estimate_policy(data, counts, model, policy, &options, &found, &error), PESS_ARGUMENT,
                           &error, "gamma", NULL);
        }
        pess_model_destroy(model);
        pess_counts_destroy(counts);
        pess_dataset_destroy(data);
    }
    pess_policy_destroy(small);
    pess_policy_destroy(policy);
}

/* ---- gaps */

enum { CHAIN = 120 };

/* A ring of states in which both actions lead on and pay the same; action 1 was never tried at state 7. */
typedef struct ring {
    pess_dataset *data;
    pess_counts *counts;
    pess_model *model;
    pess_policy *policy; /* acts at random */
    double start[CHAIN];
} ring;

static ring make_ring(int columns) {
    ring r = {0};
    double even[2 * CHAIN];
    made.count = 0;
    for (uint32_t s = 0; s < CHAIN; s++)
        for (uint32_t a = 0; a < 2; a++)
            for (int n = 0; n < (s == 7 ? 4 - 4 * (int)a : 4); n++)
                rows_put((log_row){.state = s, .action = a, .next = (s + 1) % CHAIN, .reward = 0.5});
    for (int i = 0; i < 2 * CHAIN; i++) even[i] = 0.5, r.start[i / 2] = 1.0 / CHAIN;
    pess_model_options declared = pess_model_options_defaults();
    declared.reward_range[0] = 0, declared.reward_range[1] = 1;
    r.data = rows_dataset(CHAIN, 2, columns);
    assert_ok(pess_counts_create(r.data, 1, &r.counts, &error), &error);
    assert_ok(pess_model_estimate(r.counts, &declared, &r.model, &error), &error);
    assert_ok(pess_policy_create(CHAIN, 2, even, &r.policy, &error), &error);
    return r;
}

static void free_ring(ring *r) {
    pess_policy_destroy(r->policy);
    pess_model_destroy(r->model);
    pess_counts_destroy(r->counts);
    pess_dataset_destroy(r->data);
}

static pess_solve_options gaps_by(const char *uncertainty) {
    pess_solve_options options = pess_solve_options_defaults();
    options.uncertainty = uncertainty, options.gamma = 0.5, options.threads = 1;
    return options;
}

static bool in_order(const pess_gap *before, const pess_gap *gap) {
    if (before->gain != gap->gain) return before->gain > gap->gain;
    if (before->share != gap->share) return before->share > gap->share;
    return 2 * before->state + before->action < 2 * gap->state + gap->action;
}

/* One of many more pairs than the list has room for, and all of them. */
static void gaps_are_sorted_by_gain_and_place(void **state) {
    (void)state;
    static pess_gap one[1], all[2 * CHAIN];
    ring r = make_ring(0);
    const pess_solve_options options = gaps_by("count");
    int64_t found = 0;
    double uncertainty = 0, shares = 0;
    assert_ok(pess_gaps(r.counts, r.model, r.start, r.policy, &options, 1, one, &found, NULL, &error), &error);
    assert_int_equal(found, 1);
    assert_int_equal(one[0].state, 7);
    assert_int_equal(one[0].action, 1);
    assert_int_equal(one[0].count, 0);
    assert_ok(pess_gaps(r.counts, r.model, r.start, r.policy, &options, 2 * CHAIN, all, &found, &uncertainty, &error),
              &error);
    assert_int_equal(found, 2 * CHAIN);
    assert_memory_equal(&all[0], &one[0], sizeof one);
    for (int64_t i = 0; i < found; i++) {
        shares += all[i].share;
        if (i > 0) assert_true(in_order(&all[i - 1], &all[i]));
    }
    assert_close(shares, 1, 1e-12);
    assert_true(uncertainty > 0);
    free_ring(&r);
}

/* Counts of episodes are adaptive: the bound pays for it, unless the transitions are declared to be independent. */
static void gaps_of_independent_rows_are_no_larger(void **state) {
    (void)state;
    ring r = make_ring(ROWS_EPISODES);
    pess_solve_options options = gaps_by("hoeffding");
    pess_gap gap;
    int64_t found = 0;
    double adaptive = 0, independent = 0;
    assert_ok(pess_gaps(r.counts, r.model, r.start, r.policy, &options, 1, &gap, &found, &adaptive, &error), &error);
    options.iid = true;
    assert_ok(pess_gaps(r.counts, r.model, r.start, r.policy, &options, 1, &gap, &found, &independent, &error), &error);
    assert_true(independent <= adaptive);
    free_ring(&r);
}

static void gaps_that_mean_nothing_are_refused(void **state) {
    (void)state;
    ring r = make_ring(0);
    const double one_state[2] = {1, 0};
    pess_policy *small = policy_of(1, one_state);
    const struct {
        const char *uncertainty;
        double gamma;
        int64_t top;
        const pess_policy *policy;
        pess_status status;
        const char *words;
    } all[] = {{"count", 0.5, 0, r.policy, PESS_ARGUMENT, "at least one gap must be asked for"},
               {"nosuch", 0.5, 1, r.policy, PESS_ARGUMENT, "one number per pair, which 'nosuch' is not"},
               {"hoeffding-s", 0.5, 1, r.policy, PESS_ARGUMENT, "one number per pair, which 'hoeffding-s' is not"},
               {"hoeffding", 1.5, 1, r.policy, PESS_ARGUMENT, "gamma"},
               {"hoeffding", 1, 1, r.policy, PESS_ARGUMENT, ""},
               {"hoeffding", 0.5, 1, small, PESS_INPUT, "1 states and 2 actions"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pess_solve_options options = gaps_by(all[i].uncertainty);
        pess_gap gap;
        int64_t found = 0;
        options.gamma = all[i].gamma;
        assert_failure(
            pess_gaps(r.counts, r.model, r.start, all[i].policy, &options, all[i].top, &gap, &found, NULL, &error),
            all[i].status, &error, all[i].words, NULL);
    }
    pess_policy_destroy(small);
    free_ring(&r);
}

/* ---- theorems */

static pess_status theorems(const char *uncertainty, double alpha, int64_t states) {
    pess_mdp *mdp = NULL;
    pess_counts *counts = NULL;
    pess_model *model = NULL;
    pess_theorem_row rows[4];
    int64_t found = 0;
    pess_garnet_options garnet = pess_garnet_options_defaults();
    garnet.states = states, garnet.actions = 2, garnet.branching = 2;
    pess_theorem_options options = pess_theorem_options_defaults();
    options.uncertainty = uncertainty, options.gamma = 0.8, options.threads = 1;
    options.alphas = &alpha, options.alpha_count = 1;
    pess_dataset *data = log_of(TWO_EPISODES);
    const double start[2] = {0.5, 0.5};
    assert_ok(pess_mdp_garnet(&garnet, &mdp, &error), &error);
    assert_ok(pess_counts_create(data, 1, &counts, &error), &error);
    assert_ok(pess_model_estimate(counts, NULL, &model, &error), &error);
    const pess_status status = pess_theorems(mdp, counts, model, start, &options, rows, &found, &error);
    assert_int_equal(found, status == PESS_OK ? 4 : 0);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    pess_dataset_destroy(data);
    pess_mdp_destroy(mdp);
    return status;
}

static void what_the_theorems_do_not_speak_of_is_refused(void **state) {
    (void)state;
    assert_ok(theorems("hoeffding", 1, 2), &error);
    assert_failure(theorems("nosuch", 1, 2), PESS_ARGUMENT, &error, "which 'nosuch' is not", NULL);
    assert_failure(theorems("hoeffding-s", 1, 2), PESS_ARGUMENT, &error, "which 'hoeffding-s' is not", NULL);
    assert_failure(theorems("hoeffding", 1.5, 2), PESS_ARGUMENT, &error, "alpha from 0 to 1, found 1.5", NULL);
    assert_failure(theorems("hoeffding", -0.5, 2), PESS_ARGUMENT, &error, "alpha from 0 to 1, found -0.5", NULL);
    assert_failure(theorems("hoeffding", (double)NAN, 2), PESS_ARGUMENT, &error, "found nan", NULL);
    assert_failure(theorems("hoeffding", 1, 3), PESS_INPUT, &error,
                   "the process has 3 states and 2 actions, the dataset 2 and 2", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_that_bear_no_certificate_are_refused),
        cmocka_unit_test(pages_of_another_size_are_refused),
        cmocka_unit_test(declarations_that_contradict_are_refused),
        cmocka_unit_test(policies_that_leave_a_state_out_are_refused),
        cmocka_unit_test(probabilities_that_the_log_contradicts_are_refused),
        cmocka_unit_test(probabilities_that_change_leave_out_bets_by_state),
        cmocka_unit_test(long_names_at_steps_stay_apart),
        cmocka_unit_test(episodes_that_begin_elsewhere_have_a_name),
        cmocka_unit_test(one_table_is_one_for_each_step),
        cmocka_unit_test(a_fresh_policy_is_tested_by_whole_episodes),
        cmocka_unit_test(nothing_to_gain_is_certified_exactly),
        cmocka_unit_test(estimates_need_whole_episodes_and_their_policy),
        cmocka_unit_test(gaps_are_sorted_by_gain_and_place),
        cmocka_unit_test(gaps_of_independent_rows_are_no_larger),
        cmocka_unit_test(gaps_that_mean_nothing_are_refused),
        cmocka_unit_test(what_the_theorems_do_not_speak_of_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
