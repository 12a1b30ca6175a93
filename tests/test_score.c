/* Scores of policies by logged data: fitted Q evaluation against exact evaluation, weights and ranks by hand. */
#include "deep/bundle.h"
#include "deep/play.h"
#include "fitted_case.h"
#include "score/score.h"

static pess_mdp *mdp;

/* ---- a policy with all actions, and its exact value on the empirical model */

static double chance(int64_t state, int a) { return (double[]){0.2, 0.5, 0.3}[(a + state) % ACTIONS]; }

static pess_policy *table_policy(void) {
    double probabilities[STATES * ACTIONS];
    pess_policy *policy = NULL;
    pess_error error;
    for (int64_t s = 0; s < STATES; s++)
        for (int a = 0; a < ACTIONS; a++) probabilities[s * ACTIONS + a] = chance(s, a);
    OK(pess_policy_create(STATES, ACTIONS, probabilities, &policy, &error));
    return policy;
}

static pess_policy *always(int action) {
    double probabilities[STATES * ACTIONS] = {0};
    pess_policy *policy = NULL;
    pess_error error;
    for (int64_t s = 0; s < STATES; s++) probabilities[s * ACTIONS + action] = 1;
    OK(pess_policy_create(STATES, ACTIONS, probabilities, &policy, &error));
    return policy;
}

static int64_t bit_of(const pess_observations *data, int64_t state) {
    const uint8_t *bits = data->observations + state * data->bytes;
    int64_t at = 0;
    while ((bits[at / 8] >> (at % 8) & 1) == 0) at++;
    return at;
}

/* v ← Σ_a π(a|s) (r̄ + γ v̄(s')), to the fixed point; then the mean over the first states of the episodes. */
static double exact_value(const pess_observations *data) {
    double v[STATES] = {0}, starts = 0;
    int64_t n[STATES][ACTIONS] = {{0}}, episodes = 0;
    for (int64_t i = 0; i < data->transitions; i++) n[data->state[i]][data->action[i]]++;
    for (int round = 0; round < 400; round++) {
        double sum[STATES][ACTIONS] = {{0}};
        for (int64_t i = 0; i < data->transitions; i++)
            sum[data->state[i]][data->action[i]] +=
                (double)data->reward[i] + (data->end[i] == PESS_END_TERMINAL ? 0 : GAMMA * v[data->next[i]]);
        for (int64_t s = 0; s < data->states; s++) {
            v[s] = 0;
            for (int a = 0; a < ACTIONS; a++)
                if (n[s][a] > 0) v[s] += chance(bit_of(data, s), a) * sum[s][a] / (double)n[s][a];
        }
    }
    for (int64_t i = 0; i < data->transitions; i++)
        if (i == 0 || data->end[i - 1] != PESS_END_NONE) {
            starts += v[data->state[i]];
            episodes++;
        }
    return starts / (double)episodes;
}

static pess_score_options scoring(void) {
    pess_score_options o = pess_score_options_defaults();
    const pess_train_options t = training(NULL, NULL, "naive", "none");
    o.gamma = GAMMA, o.network = "dense", o.seed = 5, o.protocol = t.protocol, o.networks = 2, o.updates = 70;
    o.steps = 100, o.weights = PESS_WEIGHTS_NONE;
    return o;
}

static pess_scores *score(const pess_policy *policy, const pess_observations *data, const pess_score_options *o) {
    pess_scores *scores = NULL;
    pess_error error = {0};
    if (pess_score_policies(&policy, NULL, 1, data, o, &scores, &error) != PESS_OK) fail_msg("%s", error.message);
    return scores;
}

/* Every pair is seen 60 times and more, and the network can hold a table: only learning is in between. The rule that
 * takes the best action instead would be off by 0.5 and more. */
static void fitted_q_evaluation_is_exact_evaluation_on_one_hot_states(void **state) {
    (void)state;
    pess_observations *data = uneven_log(mdp, 6000, UINT64_MAX);
    pess_policy *policy = table_policy();
    pess_score_options o = scoring();
    const double exact = exact_value(data);
    o.networks = 1; /* every episode once */
    pess_scores *scores = score(policy, data, &o);
    const double found = pess_scores_policy(scores, 0)->fqe;
    if (fabs(found - exact) > 0.02 * fabs(exact)) fail_msg("fitted %g, exact %g", found, exact);
    assert_true(isnan(pess_scores_policy(scores, 0)->fqe_spread));
    pess_scores_destroy(scores);

    o.networks = 4; /* resamples scatter around it */
    scores = score(policy, data, &o);
    const pess_score *s = pess_scores_policy(scores, 0);
    if (fabs(s->fqe - exact) > 0.1 * fabs(exact)) fail_msg("resampled %g, exact %g", s->fqe, exact);
    assert_true(s->fqe_spread > 0 && s->fqe_lower < s->fqe && s->fqe < s->fqe_upper);
    assert_close("t", (s->fqe - s->fqe_lower) / s->fqe_spread, pess__student_quantile(0.95, 3));
    pess_scores_destroy(scores);
    pess_policy_destroy(policy);
    pess_observations_destroy(data);
}

/* What moved over the last tenth is the difference to an evaluation that stops before it; where that is much, it is
 * said with the number. */
static void values_that_still_move_are_said_to(void **state) {
    (void)state;
    pess_observations *data = uneven_log(mdp, 6000, UINT64_MAX);
    pess_policy *policy = always(1); /* worth twice what the log obtained, where networks begin */
    pess_score_options o = scoring();
    pess_scores_info info;
    double fqe[2], moved[2];
    static const int64_t updates[] = {2, 1};
    o.steps = 5; /* far too few */
    for (int k = 0; k < 2; k++) {
        o.updates = updates[k];
        pess_scores *scores = score(policy, data, &o);
        const pess_score *s = pess_scores_policy(scores, 0);
        pess_scores_get_info(scores, &info);
        fqe[k] = s->fqe, moved[k] = s->fqe_moved;
        if (k == 0) assert_non_null(strstr(info.unsettled, "in the last 1 of 2 updates"));
        if (k == 1) assert_true(info.unsettled[0] == '\0');
        pess_scores_destroy(scores);
    }
    assert_close("moved", moved[0], fqe[0] - fqe[1]);
    assert_true(isnan(moved[1]) && fabs(moved[0]) > 0.02 * fabs(fqe[0]));
    o.updates = 70, o.steps = 100;
    pess_scores *scores = score(policy, data, &o);
    pess_scores_get_info(scores, &info);
    assert_true(info.unsettled[0] == '\0');
    pess_scores_destroy(scores);
    pess_policy_destroy(policy);
    pess_observations_destroy(data);
}

/* Resample k is a function of seed and k: the network that learns from it finds the exact value of its own episodes. */
static void resamples_are_of_whole_episodes(void **state) {
    (void)state;
    pess_observations *data = uneven_log(mdp, 500, UINT64_MAX);
    pess__score_episodes e = {0};
    pess__resample r = {0}, again = {0};
    pess_error error;
    OK(pess__score_episodes_create(data, "data", GAMMA, &e, &error));
    OK(pess__resample_create(data, &e, false, 5, 3, &r, &error));
    OK(pess__resample_create(data, &e, false, 5, 3, &again, &error));
    int64_t at = 0, repeated = 0;
    for (int64_t k = 0; k < e.count; k++) {
        assert_int_equal(r.episode[k], again.episode[k]);
        assert_int_equal(r.starts[k], data->state[e.begin[r.episode[k]]]);
        for (int64_t i = e.begin[r.episode[k]]; i < e.begin[r.episode[k] + 1]; i++) assert_int_equal(r.rows[at++], i);
        for (int64_t j = 0; j < k; j++) repeated += r.episode[j] == r.episode[k];
    }
    assert_int_equal(at, r.row_count);
    assert_true(repeated > 0);
    pess__resample_destroy(&r);
    pess__resample_destroy(&again);
    pess__score_episodes_destroy(&e);
    pess_observations_destroy(data);
}

/* Two rows from state 0 with rewards 1 and 5, of which one is given, and values to begin from: one update is r + γ v.
 */
static void one_update_learns_from_the_rows_and_values_that_it_is_given(void **state) {
    (void)state;
    pess_observations *data = no_steps(6);
    pess_error error = {0};
    add_step(data, 0, 0, 1, 1, PESS_END_CUTOFF);
    add_step(data, 0, 0, 5, 1, PESS_END_CUTOFF);
    const float policy[2 * ACTIONS] = {1, 0, 0, 1, 0, 0}, first[2] = {0, 4};
    const int64_t rows[] = {0}, states[] = {0};
    double value = NAN;
    pess__fitting f = {.data = data, .gamma = 0.5, .network = "dense", .threads = 1};
    f.protocol = training(NULL, data, "naive", "none").protocol;
    f.protocol.updates = 1, f.protocol.steps = 400, f.protocol.batch = 8;
    pess__fitted_evaluation e = {.policy = policy,
                                 .first = first,
                                 .lo = -100,
                                 .hi = 100,
                                 .rows = rows,
                                 .row_count = 1,
                                 .states = states,
                                 .count = 1,
                                 .values = &value};
    OK(pess__evaluate_fitted(&f, &e, &error));
    if (fabs(value - 3) > 0.05) fail_msg("%g is not 1 + 4/2", value);
    e.hi = 2.5; /* what values can be */
    OK(pess__evaluate_fitted(&f, &e, &error));
    assert_close("cut", value, 2.5);
    pess_observations_destroy(data);
}

/* Targets 1000 + 400/2 and, at an end, 3000 twice: steps too small to learn anything leave networks at their mean, also
 * where they begin anew at each update. */
static void networks_begin_at_the_mean_of_the_first_targets(void **state) {
    (void)state;
    pess_observations *data = no_steps(6);
    pess_error error = {0};
    add_step(data, 0, 0, 1000, 1, PESS_END_CUTOFF);
    add_step(data, 0, 0, 3000, 1, PESS_END_TERMINAL);
    add_step(data, 0, 0, 9000, 1, PESS_END_CUTOFF);
    const float policy[2 * ACTIONS] = {1, 0, 0, 0, 0.5F, 0.5F}, first[2] = {0, 400};
    const int64_t rows[] = {0, 1, 1}, states[] = {0, 1};
    double values[2];
    pess__fitting f = {.data = data, .gamma = 0.5, .network = "dense", .threads = 1};
    f.protocol = training(NULL, data, "naive", "none").protocol;
    f.protocol.updates = 3, f.protocol.steps = 1, f.protocol.batch = 8, f.protocol.rate = f.protocol.rate_last = 1e-9;
    const pess__fitted_evaluation e = {.policy = policy,
                                       .first = first,
                                       .lo = -1e6,
                                       .hi = 1e6,
                                       .rows = rows,
                                       .row_count = 3,
                                       .states = states,
                                       .count = 2,
                                       .values = values};
    for (int reset = 0; reset < 2; reset++) {
        f.protocol.reset = reset == 1;
        OK(pess__evaluate_fitted(&f, &e, &error));
        for (int i = 0; i < 2; i++)
            if (fabs(values[i] - 2400) > 2) fail_msg("reset %d, state %d: %g is not near 2400", reset, i, values[i]);
    }
    pess_observations_destroy(data);
}

/* Every step pays 100, and nothing ends but by a cut-off: all policies are worth 100/(1 − γ). */
static void large_values_are_near_after_a_few_steps(void **state) {
    (void)state;
    pess_observations *data = no_steps(STATES);
    for (int64_t i = 0; i < 60; i++)
        add_step(data, i % STATES, (int32_t)(i % ACTIONS), 100, (i + 1) % STATES,
                 i % 10 == 9 ? PESS_END_CUTOFF : PESS_END_NONE);
    pess_policy *policy = table_policy();
    pess_score_options o = scoring();
    o.updates = 2, o.steps = 5;
    pess_scores *scores = score(policy, data, &o);
    const double found = pess_scores_policy(scores, 0)->fqe, exact = 100 / (1 - GAMMA);
    if (fabs(found - exact) > 0.01 * exact) fail_msg("fitted %g, exact %g", found, exact);
    pess_scores_destroy(scores);
    pess_policy_destroy(policy);
    pess_observations_destroy(data);
}

/* Rewards 1, 2, 4 and the end; 8 and a cut-off; 16, where collecting stopped. */
static pess_observations *three_episodes(void) {
    pess_observations *data = no_steps(6);
    pess_error error;
    add_step(data, 0, 0, 1, 1, PESS_END_NONE);
    add_step(data, 1, 1, 2, 2, PESS_END_NONE);
    add_step(data, 2, 2, 4, 3, PESS_END_TERMINAL);
    add_step(data, 0, 1, 8, 4, PESS_END_CUTOFF);
    add_step(data, 1, 0, 16, 5, PESS_END_NONE);
    OK(pess_observations_stop(data, &error));
    return data;
}

static void what_follows_a_cut_off_is_the_mean_of_all(void **state) {
    (void)state;
    pess_observations *data = three_episodes();
    pess__score_episodes e = {0};
    pess_error error;
    OK(pess__score_episodes_create(data, "data", 0.5, &e, &error));
    assert_int_equal(e.count, 3);
    assert_int_equal(e.whole, 2);
    assert_false(e.is_whole[2]);
    /* m = (3 + 4 + 4 + (8 + m/2) + (16 + m/2)) / 5 */
    const double m = 35.0 / 4;
    assert_close("level", e.level, m);
    const double after[] = {3, 4, 4, 8 + m / 2, 16 + m / 2};
    for (int i = 0; i < 5; i++) assert_close("after", e.after[i], after[i]);
    assert_close("lo", e.lo, 0);
    assert_close("hi", e.hi, 32);
    pess__resample r = {0};
    OK(pess__resample_create(data, &e, true, 0, 0, &r, &error));
    assert_close("first state", (double)r.first[0], (3 + 8 + m / 2) / 2);
    assert_close("never left", (double)r.first[3], m);
    pess__resample_destroy(&r);
    pess__score_episodes_destroy(&e);
    pess_observations_destroy(data);
}

/* ---- weights */

/* A policy that draws is asked for its probabilities, or, for its most likely action, for that alone. */
static void a_drawing_policy_is_drawn_from_unless_its_argmax_is_asked_for(void **state) {
    (void)state;
    pess_observations *data = three_episodes();
    const int64_t states = data->shape.length;
    double own[6 * ACTIONS];
    for (int64_t s = 0; s < states; s++) own[s * ACTIONS] = 0.2, own[s * ACTIONS + 1] = 0.5, own[s * ACTIONS + 2] = 0.3;
    pess_policy *policy = NULL;
    pess_error error;
    OK(pess_policy_create(states, ACTIONS, own, &policy, &error));
    for (int argmax = 0; argmax < 2; argmax++) {
        pess__policy_table table = {0};
        OK(pess__policy_table_create(policy, data, argmax == 1, 1, &table, &error));
        for (int64_t i = 0; i < data->states * ACTIONS; i++)
            assert_true(table.probability[i] == (argmax ? (float)(i % ACTIONS == 1) : (float)own[i % ACTIONS]));
        pess__policy_table_destroy(&table);
    }
    pess_policy_destroy(policy);
    pess_observations_destroy(data);
}

static void weights_are_those_computed_by_hand(void **state) {
    (void)state;
    pess_observations *data = three_episodes();
    pess__score_episodes e = {0};
    pess_error error;
    pess_score s = {.weighted = NAN, .weighted_error = NAN};
    /* By observation, in the order in which the data show them, and action. */
    float policy[18] = {0.5F, 0.25F, 0.25F, 0, 1, 0, 0, 0.5F, 0.5F};
    const float behaviour[5] = {0.25F, 0.5F, 1, 0.5F, 0.5F};
    const pess__policy_table table = {.probability = policy};
    OK(pess__score_episodes_create(data, "data", 0.5, &e, &error));
    OK(pess__score_by_weights(&table, data, &e, 0.5, behaviour, &s, &error));
    /* First: w 2, 4, 2; rewards 1, 2, 4. Second: w 0.5, reward 8. The third is not whole. */
    const double decision[] = {2.0 * 1 + 0.5 * 4 * 2 + 0.25 * 2 * 4, 0.5 * 8}, whole[] = {1 + 1 + 1, 8}, w[] = {2, 0.5};
    const double mean = (decision[0] + decision[1]) / 2, weighted = (w[0] * whole[0] + w[1] * whole[1]) / 2.5;
    assert_close("per decision", s.per_decision, mean);
    assert_close("its error", s.per_decision_error, fabs(decision[0] - decision[1]) / 2);
    assert_close("weighted", s.weighted, weighted);
    assert_close("its error", s.weighted_error,
                 sqrt(pow(w[0] * (whole[0] - weighted), 2) + pow(w[1] * (whole[1] - weighted), 2)) / 2.5);
    assert_close("effective", s.effective, 2.5 * 2.5 / 4.25);
    assert_close("mean weight", s.mean_weight, 1.25);
    assert_close("its error", s.mean_weight_error, (w[0] - w[1]) / 2);
    assert_close("largest", s.largest_weight, 2);
    assert_close("zero", s.zero_share, 0);
    policy[0] = 0; /* an action that the policy never takes: one episode has all the weight */
    OK(pess__score_by_weights(&table, data, &e, 0.5, behaviour, &s, &error));
    assert_close("weighted", s.weighted, whole[1]);
    assert_true(isnan(s.weighted_error));
    policy[1] = 0;
    OK(pess__score_by_weights(&table, data, &e, 0.5, behaviour, &s, &error));
    assert_close("zero", s.zero_share, 1);
    assert_close("per decision", s.per_decision, 0);
    pess__score_episodes_destroy(&e);
    pess_observations_destroy(data);
}

/* The data's own policy, by its logged probabilities: all weights are 1, and importance sampling is the mean return. */
static void logged_probabilities_of_the_policy_itself_weigh_one(void **state) {
    (void)state;
    pess_observations *data = three_episodes();
    pess_policy *policy = NULL;
    pess_error error;
    double uniform[6 * ACTIONS];
    for (int i = 0; i < 6 * ACTIONS; i++) uniform[i] = 1.0 / ACTIONS;
    OK(pess_policy_create(6, ACTIONS, uniform, &policy, &error));
    for (int64_t i = 0; i < data->transitions; i++)
        OK(pess__observations_set_probability(data, i, 1.0 / ACTIONS, &error));
    pess_score_options o = scoring();
    o.weights = PESS_WEIGHTS_AUTO, o.updates = o.steps = 1, o.gamma = 0.5;
    pess_scores *scores = score(policy, data, &o);
    const pess_score *s = pess_scores_policy(scores, 0);
    pess_scores_info info;
    pess_scores_get_info(scores, &info);
    assert_string_equal(info.weights, "logged");
    assert_close("log", info.log_return, 5.5);
    assert_close("per decision", s->per_decision, 5.5);
    assert_close("weighted", s->weighted, 5.5);
    assert_close("effective", s->effective, 2);
    assert_close("unlogged", s->unlogged, (1 + 1 + 2 + 1 + 1) / 15.0); /* states 0 and 1: two actions each */
    assert_true(isnan(s->predicted) && isnan(s->td_error));
    pess_scores_destroy(scores);
    pess_policy_destroy(policy);
    pess_observations_destroy(data);
}

/* ---- the policy's own values */

static void own_values_are_those_of_its_network(void **state) {
    (void)state;
    pess_observations *data = three_episodes();
    float q[6 * ACTIONS] = {1, 2, 3, 6, 5, 4, 7, 8, 9};
    pess__net *net = table_network(6, ACTIONS, q);
    pess_policy *policy = NULL;
    pess_error error;
    OK(pess__bundle_argmax(net, &policy, &error));
    pess_score_options o = scoring();
    o.updates = o.steps = 1, o.gamma = 0.5;
    pess_scores *scores = score(policy, data, &o);
    const pess_score *s = pess_scores_policy(scores, 0);
    /* v: 3, 6, 9, and 0 of the others. q of the logged: 1, 5, 9, 2, 6. */
    const double away[] = {1 + 0.5 * 6 - 1, 2 + 0.5 * 9 - 5, 4 - 9, 8 - 2, 16 - 6};
    double squares = 0;
    for (int i = 0; i < 5; i++) squares += away[i] * away[i];
    assert_close("predicted", s->predicted, (3 + 3 + 6) / 3.0);
    assert_close("td error", s->td_error, squares / 5);
    pess_scores_destroy(scores);
    pess_policy_destroy(policy);
    pess__net_destroy(net);
    pess_observations_destroy(data);
}

/* ---- ranks */

static void students_quantiles_are_those_of_the_tables(void **state) {
    (void)state;
    const struct {
        double p, t;
        int64_t freedom;
    } listed[] = {{0.95, 6.313751515, 1}, {0.95, 2.919985580, 2},   {0.95, 2.353363435, 3}, {0.975, 2.776445105, 4},
                  {0.99, 3.364929999, 5}, {0.975, 2.228138852, 10}, {0.95, 1.753050356, 15}};
    for (size_t i = 0; i < sizeof listed / sizeof listed[0]; i++)
        assert_close("t", pess__student_quantile(listed[i].p, listed[i].freedom), listed[i].t);
}

static void the_best_is_taken_and_what_it_may_lack_is_said(void **state) {
    (void)state;
    pess_score s[3] = {
        {.fqe = 10, .fqe_spread = 1, .fqe_lower = 9, .fqe_networks = {9, 11}, .td_error = 3, .unlogged = 0.1},
        {.fqe = 12, .fqe_spread = 4, .fqe_lower = 4, .fqe_networks = {8, 16}, .td_error = 2, .unlogged = 0.3},
        {.fqe = NAN, .fqe_spread = NAN, .fqe_lower = NAN, .td_error = 1, .unlogged = 0.2}};
    pess_scores_info info = {.delta = 0.1, .networks = 2, .criterion = PESS_SCORE_FQE};
    pess__score_rank(s, 3, &info);
    assert_int_equal(info.chosen, 1);
    assert_int_equal(info.runner_up, 0);
    assert_int_equal(s[2].rank, 0);
    assert_close("margin", info.margin, 2);
    const double deviation = sqrt((3.0 * 3 + 3.0 * 3) / 1); /* differences -1 and 5, network by network */
    assert_close("error", info.margin_error, deviation);
    assert_close("shortfall", info.shortfall, -2 + pess__student_quantile(0.95, 1) * deviation);
    info.criterion = PESS_SCORE_FQE_LOWER;
    pess__score_rank(s, 3, &info);
    assert_int_equal(info.chosen, 0);
    info.criterion = PESS_SCORE_TD_ERROR; /* the smallest; no value, so nothing is said of what it lacks */
    pess__score_rank(s, 3, &info);
    assert_int_equal(info.chosen, 2);
    assert_int_equal(s[0].rank, 3);
    assert_true(isnan(info.shortfall));
    info.criterion = PESS_SCORE_UNLOGGED;
    pess__score_rank(s, 3, &info);
    assert_int_equal(info.chosen, 0);
    assert_int_equal(s[1].rank, 3);
}

/* ---- every kind of policy and of observation */

static void every_learner_is_scored_and_threads_do_not_matter(void **state) {
    (void)state;
    pess_observations *data = uneven_log(mdp, 600, UINT64_MAX);
    pess_policy *policies[64];
    const pess_learner_info *learner;
    int64_t count = 0;
    pess_error error = {0};
    for (size_t i = 0; (learner = pess_learner_list(i)) != NULL; i++, count++) {
        pess_train_options t = training(mdp, data, learner->name, learner->name);
        pess_train_result result;
        char path[400];
        t.protocol.updates = t.protocol.steps = 2, t.protocol.imitation_steps = 10, t.protocol.score_episodes = 0;
        if (pess_train_run(&t, &result, &error) != PESS_OK) fail_msg("%s: %s", learner->name, error.message);
        (void)snprintf(path, sizeof path, "%s/policy.pesspolicy", in_root(learner->name));
        OK(pess_policy_read(path, NULL, NULL, NULL, &policies[count], &error));
    }
    pess_score_options o = scoring();
    o.updates = 3, o.steps = 5, o.weights = PESS_WEIGHTS_IMITATION, o.protocol.imitation_steps = 20;
    pess_scores *one = NULL, *two = NULL;
    o.threads = 1;
    OK(pess_score_policies((const pess_policy *const *)policies, NULL, count, data, &o, &one, &error));
    o.threads = 3;
    OK(pess_score_policies((const pess_policy *const *)policies, NULL, count, data, &o, &two, &error));
    for (int64_t i = 0; i < count; i++) {
        pess_score a = *pess_scores_policy(one, (size_t)i), b = *pess_scores_policy(two, (size_t)i);
        a.name = b.name = NULL;
        assert_memory_equal(&a, &b, sizeof a);
        assert_true(isfinite(a.fqe) && isfinite(a.fqe_spread) && isfinite(a.per_decision));
        pess_policy_destroy(policies[i]);
    }
    pess_scores_destroy(one);
    pess_scores_destroy(two);
    pess_observations_destroy(data);
}

/* A cart that is pushed the way the pole falls. The truth is played; the data are random play, worth 19. */
static void cartpole_is_valued_as_it_plays(void **state) {
    (void)state;
    const pess__net_spec spec = {.input = PESS_OBSERVATION_FLOATS,
                                 .rows = 1,
                                 .cols = 1,
                                 .channels = 4,
                                 .layer_count = 1,
                                 .layers = {{PESS__LAYER_DENSE, 0, 0, 2, 1}}};
    const float push[10] = {0, 0, -1, -1, 0, 0, 1, 1, 0, 0}; /* weights of left and right, then biases */
    pess__net *net = NULL;
    pess_policy *policy = NULL;
    pess_observations *data = NULL;
    pess_error error = {0};
    OK(pess__net_create(&spec, NULL, &net, &error));
    pess__net_import(net, push);
    OK(pess__bundle_argmax(net, &policy, &error));
    pess_collect_options c = pess_collect_options_defaults();
    c.game = "cartpole", c.transitions = 15000, c.seed = 1, c.sticky = 0;
    OK(pess_collect(&c, &data, &error));
    pess_play_options p = pess_play_options_defaults();
    p.game = "cartpole", p.episodes = 200, p.sticky = 0;
    pess__play_measures truth = {.gamma = 0.95};
    pess_play_result played;
    OK(pess__play(policy, &p, &truth, &played, &error));
    pess_score_options o = scoring();
    o.gamma = 0.95, o.network = "dense 64, dense 64", o.updates = 60, o.steps = 40, o.protocol.batch = 128;
    o.protocol.rate = 1e-3;
    pess_scores *scores = score(policy, data, &o);
    pess_scores_info info;
    pess_scores_get_info(scores, &info);
    const double found = pess_scores_policy(scores, 0)->fqe;
    assert_true(info.log_return < 14); /* 1/(1 - γ) is 20 */
    if (fabs(found - truth.obtained) > 1) fail_msg("fitted %g, played %g", found, truth.obtained);
    pess_scores_destroy(scores);
    pess_policy_destroy(policy);
    pess__net_destroy(net);
    pess_observations_destroy(data);
}

/* ---- refusals */

static void assert_refused(const pess_policy *policy, const pess_observations *data, const pess_score_options *o,
                           const char *words) {
    pess_scores *scores = NULL;
    pess_error error = {0};
    assert_int_not_equal(pess_score_policies(&policy, NULL, 1, data, o, &scores, &error), PESS_OK);
    assert_null(scores);
    if (strstr(error.message, words) == NULL) fail_msg("'%s' does not say '%s'", error.message, words);
}

static void what_cannot_be_scored_is_refused(void **state) {
    (void)state;
    pess_observations *data = three_episodes(), *endless = no_steps(6), *single = no_steps(6), *empty = no_steps(6);
    pess_policy *policy = NULL, *other = table_policy();
    pess_error error;
    double uniform[6 * ACTIONS];
    for (int i = 0; i < 6 * ACTIONS; i++) uniform[i] = 1.0 / ACTIONS;
    OK(pess_policy_create(6, ACTIONS, uniform, &policy, &error));
    add_step(endless, 0, 0, 1, 1, PESS_END_NONE);
    add_step(endless, 1, 0, 1, 1, PESS_END_NONE);
    add_step(single, 0, 0, 1, 1, PESS_END_TERMINAL);
    pess_score_options o = scoring();
    o.updates = o.steps = 1;
    assert_refused(policy, endless, &o, "none of 2 transitions ends an episode");
    OK(pess_observations_stop(endless, &error)); /* as readers mark where logging stopped: that is no end either */
    assert_refused(policy, endless, &o, "none of 2 transitions ends an episode");
    assert_refused(policy, empty, &o, "none of 0 transitions");
    assert_refused(other, data, &o, "a table over 12 states");
    o.weights = PESS_WEIGHTS_LOGGED;
    assert_refused(policy, data, &o, "has no probabilities");
    o.weights = PESS_WEIGHTS_NONE, o.criterion = PESS_SCORE_WEIGHTED;
    assert_refused(policy, data, &o, "needs weights");
    o.criterion = PESS_SCORE_FQE_LOWER, o.networks = 1;
    assert_refused(policy, data, &o, "two networks or more");
    o.criterion = PESS_SCORE_FQE, o.networks = 3;
    pess_scores *scores = score(policy, single, &o);
    pess_scores_info info;
    pess_scores_get_info(scores, &info);
    assert_non_null(strstr(info.warning, "one episode"));
    assert_true(isnan(pess_scores_policy(scores, 0)->fqe_spread));
    pess_scores_destroy(scores);
    pess_policy_destroy(policy);
    pess_policy_destroy(other);
    pess_observations *const all[] = {data, endless, single, empty};
    for (int i = 0; i < 4; i++) pess_observations_destroy(all[i]);
}

static int open_all(void **state) {
    mdp = process();
    return open_root(state);
}

static int close_all(void **state) {
    pess_mdp_destroy(mdp);
    return remove_root(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fitted_q_evaluation_is_exact_evaluation_on_one_hot_states),
        cmocka_unit_test(values_that_still_move_are_said_to),
        cmocka_unit_test(resamples_are_of_whole_episodes),
        cmocka_unit_test(one_update_learns_from_the_rows_and_values_that_it_is_given),
        cmocka_unit_test(networks_begin_at_the_mean_of_the_first_targets),
        cmocka_unit_test(large_values_are_near_after_a_few_steps),
        cmocka_unit_test(what_follows_a_cut_off_is_the_mean_of_all),
        cmocka_unit_test(a_drawing_policy_is_drawn_from_unless_its_argmax_is_asked_for),
        cmocka_unit_test(weights_are_those_computed_by_hand),
        cmocka_unit_test(logged_probabilities_of_the_policy_itself_weigh_one),
        cmocka_unit_test(own_values_are_those_of_its_network),
        cmocka_unit_test(students_quantiles_are_those_of_the_tables),
        cmocka_unit_test(the_best_is_taken_and_what_it_may_lack_is_said),
        cmocka_unit_test(every_learner_is_scored_and_threads_do_not_matter),
        cmocka_unit_test(cartpole_is_valued_as_it_plays),
        cmocka_unit_test(what_cannot_be_scored_is_refused),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
