/* Choosing by folds: counts by subtraction against counting anew, scores by hand, the choice against the truth. */
#include "logs.h"

#include "choose/choose.h"
#include "core/memory.h"

#include <math.h>

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        const pess_status ok_status = (call);                                                                          \
        if (ok_status != PESS_OK) fail_msg("%s: %s", #call, error.message);                                            \
    } while (0)

static pess_dataset *read_log(const char *text) {
    pess_error error = {0};
    pess_dataset *data = NULL;
    OK(pess_dataset_read_memory("log", text, strlen(text), NULL, &data, &error));
    return data;
}

/* A log of a garnet, with episodes and probabilities. */
static pess_dataset *simulated(int64_t states, int64_t actions, int64_t episodes, uint64_t seed, pess_mdp **mdp) {
    pess_error error = {0};
    pess_garnet_options garnet = pess_garnet_options_defaults();
    garnet.states = states;
    garnet.actions = actions;
    garnet.branching = 3;
    garnet.terminals = 1;
    garnet.seed = seed;
    OK(pess_mdp_garnet(&garnet, mdp, &error));
    pess_model *model = NULL;
    pess_policy *uniform = NULL;
    pess_dataset *data = NULL;
    double *start = calloc((size_t)states, sizeof *start);
    assert_non_null(start);
    OK(pess_mdp_model(*mdp, 1, &model, &error));
    OK(pess_policy_uniform(model, &uniform, &error));
    OK(pess_start_uniform(model, start, &error));
    pess_simulate_options options = pess_simulate_options_defaults();
    options.episodes = episodes;
    options.horizon = 30;
    options.seed = seed;
    OK(pess_simulate(*mdp, uniform, start, &options, &data, &error));
    free(start);
    pess_policy_destroy(uniform);
    pess_model_destroy(model);
    return data;
}

/* ---- folds */

static void every_episode_is_in_one_fold(void **state) {
    (void)state;
    pess_error error = {0};
    pess_mdp *mdp = NULL;
    pess_dataset *data = simulated(12, 3, 53, 1, &mdp);
    pess__folds folds;
    OK(pess__folds_create(data, 5, 7, 1, &folds, &error));
    assert_int_equal(folds.episodes.count, 53);
    uint8_t *seen = calloc((size_t)data->rows, 1);
    assert_non_null(seen);
    for (int64_t k = 0; k < 5; k++) {
        const int64_t size = folds.first[k + 1] - folds.first[k];
        assert_true(size == 10 || size == 11);
    }
    for (int64_t e = 0; e < 53; e++)
        for (int64_t i = folds.episodes.begin[e]; i < folds.episodes.begin[e + 1]; i++) {
            const int64_t row = folds.episodes.row[i];
            assert_int_equal(seen[row]++, 0);
            assert_int_equal(data->episode[row], data->episode[folds.episodes.row[folds.episodes.begin[e]]]);
        }
    for (int64_t i = 0; i < data->rows; i++) assert_int_equal(seen[i], 1);
    free(seen);
    pess__folds_release(&folds);
    pess_dataset_destroy(data);
    pess_mdp_destroy(mdp);
}

static pess_counts *count_rest(const pess__folds *folds, int64_t fold) {
    const pess_dataset *data = folds->data;
    pess_error error = {0};
    pess_counts *counts = NULL;
    int64_t n = 0;
    uint32_t *s = calloc((size_t)(3 * data->rows), sizeof *s);
    double *r = calloc((size_t)data->rows, sizeof *r);
    uint8_t *end = calloc((size_t)data->rows, 1);
    assert_true(s != NULL && r != NULL && end != NULL);
    for (int64_t e = 0; e < folds->episodes.count; e++)
        for (int64_t i = folds->episodes.begin[e]; i < folds->episodes.begin[e + 1]; i++) {
            const int64_t row = folds->episodes.row[i];
            if (e >= folds->first[fold] && e < folds->first[fold + 1]) continue;
            s[n] = data->state[row];
            s[data->rows + n] = data->action[row];
            s[2 * data->rows + n] = data->next_state[row];
            r[n] = data->reward[row];
            end[n++] = data->end[row];
        }
    const pess_columns columns = {
        .rows = n, .state = s, .action = s + data->rows, .next_state = s + 2 * data->rows, .reward = r, .end = end};
    pess_read_options read = pess_read_options_defaults();
    read.states = data->states;
    read.actions = data->actions;
    OK(pess_counts_from_columns(&columns, &read, &counts, &error));
    free(s);
    free(r);
    free(end);
    return counts;
}

static void subtraction_is_counting(void **state) {
    (void)state;
    pess_error error = {0};
    pess_mdp *mdp = NULL;
    pess_dataset *data = simulated(15, 4, 60, 2, &mdp);
    /* Rewards of another size in each fold, so that folds have origins of their own. */
    for (int64_t i = 0; i < data->rows; i++) ((double *)data->reward)[i] = 0.25 * (double)(i % 7) - 0.5;
    pess__folds folds;
    OK(pess__folds_create(data, 4, 3, 1, &folds, &error));
    for (int64_t k = 0; k < 4; k++) {
        pess_counts *part = NULL, *rest = NULL, *anew = count_rest(&folds, k);
        OK(pess__folds_part(&folds, k, 1, &part, &error));
        OK(pess__counts_subtract(folds.whole, part, &rest, &error));
        assert_int_equal(rest->transitions, anew->transitions);
        assert_int_equal(rest->terminals, anew->terminals);
        assert_int_equal(rest->pairs_seen, anew->pairs_seen);
        /* what rewards can be is known from the whole log: values of all folds lie in one range */
        assert_true(rest->reward_min == folds.whole->reward_min && rest->reward_max == folds.whole->reward_max);
        const int64_t pairs = rest->states * rest->actions;
        assert_int_equal(rest->row[pairs], anew->row[pairs]);
        for (int64_t z = 0; z < pairs; z++) {
            assert_int_equal(rest->n[z], anew->n[z]);
            assert_int_equal(rest->n_terminal[z], anew->n_terminal[z]);
            assert_true(fabs(rest->reward_sum[z] - anew->reward_sum[z]) < 1e-12);
            const double move = anew->reward_origin - rest->reward_origin, n = (double)anew->n[z];
            assert_true(fabs(rest->reward_offset[z] - (anew->reward_offset[z] + n * move)) < 1e-12);
            assert_true(fabs(rest->reward_square[z] -
                             (anew->reward_square[z] + 2 * move * anew->reward_offset[z] + n * move * move)) < 1e-12);
            assert_int_equal(rest->row[z], anew->row[z]);
        }
        for (int64_t i = 0; i < rest->row[pairs]; i++) {
            assert_int_equal(rest->next[i], anew->next[i]);
            assert_int_equal(rest->n_next[i], anew->n_next[i]);
        }
        pess_counts_destroy(part);
        pess_counts_destroy(rest);
        pess_counts_destroy(anew);
    }
    pess__folds_release(&folds);
    pess_dataset_destroy(data);
    pess_mdp_destroy(mdp);
}

/* ---- scores */

/* One decision: action 0 pays 1 of 2 times, action 1 pays always, action 2 never; the fold shows the first two. */
static void scores_are_those_by_hand(void **state) {
    (void)state;
    pess_error error = {0};
    pess_dataset *data = read_log("episode,state,action,reward,next_state,terminal,probability\n"
                                  "0,s,a,1,end,1,0.5\n1,s,a,0,end,1,0.5\n2,s,b,1,end,1,0.25\n"
                                  "3,s,c,0,end,1,0.25\n4,s,b,1,end,1,0.25\n");
    pess__folds folds;
    OK(pess__folds_create(data, 5, 0, 1, &folds, &error)); /* every episode is a fold */
    pess_counts *part = NULL;
    pess_model *model = NULL;
    pess_policy *policy = NULL;
    pess__judge judge;
    OK(pess_model_estimate(folds.whole, NULL, &model, &error));
    const double start[2] = {1, 0}, pi[6] = {0.5, 0.25, 0.25, 0, 0, 0}, returns[5] = {1, 0, 1, 0, 1};
    OK(pess_policy_create(2, 3, pi, &policy, &error));
    for (int64_t k = 0; k < 5; k++) {
        const int64_t row = folds.episodes.row[folds.first[k]], action = data->action[row];
        double score = 0, own[5] = {0};
        pess__weighted weighted;
        OK(pess__folds_part(&folds, k, 1, &part, &error));
        OK(pess__judge_create(folds.whole, part, model, start, &(pess_solve_options){.gamma = 1}, 0, &judge, &error));
        OK(pess__judge_score(&judge, policy, &score, &error));
        /* What the fold lacks pays the mean of the log, 3/5. */
        const double p = pi[action];
        assert_true(fabs(score - (p * data->reward[row] + (1 - p) * 0.6)) < 1e-5);
        for (int64_t e = 0; e < 5; e++) own[e] = returns[folds.episodes.row[folds.episodes.begin[e]]];
        OK(pess__weighted_score(&folds, k, policy, 0, own, &weighted, &error));
        assert_true(fabs(weighted.sum - p / data->probability[row]) < 1e-12);
        assert_true(fabs(weighted.mean - data->reward[row]) < 1e-12);
        pess__judge_release(&judge);
        pess_counts_destroy(part);
    }
    pess_policy_destroy(policy);
    pess_model_destroy(model);
    pess__folds_release(&folds);
    pess_dataset_destroy(data);
}

/* Where the fold shows every pair, the judge is the plain model of the fold. */
static void a_full_fold_is_its_own_model(void **state) {
    (void)state;
    pess_error error = {0};
    pess_mdp *mdp = NULL;
    pess_dataset *data = simulated(6, 2, 400, 5, &mdp);
    pess__folds folds;
    OK(pess__folds_create(data, 2, 0, 1, &folds, &error));
    pess_counts *part = NULL;
    pess_model *model = NULL;
    pess_policy *policy = NULL;
    pess_solution *solution = NULL;
    pess_solution_info info;
    pess__judge judge;
    double start[6], score = 0;
    OK(pess__folds_part(&folds, 0, 1, &part, &error));
    OK(pess_model_estimate(part, NULL, &model, &error));
    OK(pess_start_uniform(model, start, &error));
    OK(pess_policy_uniform(model, &policy, &error));
    OK(pess__judge_create(folds.whole, part, model, start, &(pess_solve_options){.gamma = 0.9}, 0, &judge, &error));
    OK(pess__judge_score(&judge, policy, &score, &error));
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = 0.9;
    OK(pess_evaluate(part, model, start, policy, &options, &solution, &error));
    pess_solution_get_info(solution, &info);
    assert_int_equal(part->pairs_seen, 10); /* all of the five states that are not terminal */
    assert_true(fabs(score - info.value) < 1e-6);
    pess_solution_destroy(solution);
    pess__judge_release(&judge);
    pess_policy_destroy(policy);
    pess_model_destroy(model);
    pess_counts_destroy(part);
    pess__folds_release(&folds);
    pess_dataset_destroy(data);
    pess_mdp_destroy(mdp);
}

/* ---- the choice */

static double true_value(const pess_mdp *mdp, const pess_policy *policy) {
    pess_error error = {0};
    pess_model *model = NULL;
    pess_solution *solution = NULL;
    pess_solution_info info;
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = 0.9;
    OK(pess_mdp_model(mdp, 1, &model, &error));
    double *start = calloc((size_t)pess_mdp_states(mdp), sizeof *start);
    assert_non_null(start);
    OK(pess_start_uniform(model, start, &error));
    OK(pess_evaluate(NULL, model, start, policy, &options, &solution, &error));
    pess_solution_get_info(solution, &info);
    pess_solution_destroy(solution);
    free(start);
    pess_model_destroy(model);
    return info.naive_value;
}

/* The one chosen is about as good as the best of the candidates, and far better than the worst; the same at any number
 * of threads; and it is what pess_solve finds with the options that are told. */
static void choice_against_the_truth(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        pess_error error = {0};
        pess_mdp *mdp = NULL;
        pess_dataset *data = simulated(20, 4, 60, seed, &mdp);
        pess_solve_options solve = pess_solve_options_defaults();
        solve.gamma = 0.9;
        pess_choose_options options = pess_choose_options_defaults();
        options.solve = &solve;
        pess_choice *choice = NULL, *again = NULL;
        options.threads = 1;
        OK(pess_choose(data, &options, &choice, &error));
        options.threads = 3;
        OK(pess_choose(data, &options, &again, &error));
        pess_choice_info info;
        pess_choice_get_info(choice, &info);
        double best = -INFINITY, worst = INFINITY;
        const pess_problem *problem = pess_choice_problem(choice);
        for (size_t i = 0; pess_choice_candidate(choice, i) != NULL; i++) {
            const pess_candidate_score *c = pess_choice_candidate(choice, i), *d = pess_choice_candidate(again, i);
            assert_memory_equal(&c->score, &d->score, sizeof c->score);
            assert_memory_equal(&c->weighted, &d->weighted, sizeof c->weighted);
            pess_solve_options own = solve;
            own.algorithm = c->algorithm;
            if (c->setting != NULL && strcmp(c->setting, "absorbed-alpha") == 0) own.absorbed_alpha = c->strength;
            if (c->setting != NULL && strcmp(c->setting, "min-count") == 0) own.min_count = c->strength;
            if (c->setting != NULL && strcmp(c->setting, "budget") == 0) own.budget = c->strength;
            pess_solution *solution = NULL;
            OK(pess_solve(pess_problem_counts(problem), pess_problem_model(problem), pess_problem_start(problem), &own,
                          &solution, &error));
            const double value = true_value(mdp, pess_solution_policy(solution));
            best = fmax(best, value);
            worst = fmin(worst, value);
            if ((int64_t)i == info.chosen)
                assert_memory_equal(pess_solution_values(solution), pess_solution_values(pess_choice_solution(choice)),
                                    20 * sizeof(double));
            pess_solution_destroy(solution);
        }
        const double chosen = true_value(mdp, pess_solution_policy(pess_choice_solution(choice)));
        assert_true(chosen >= worst + 0.75 * (best - worst));
        assert_true(info.sure > 0 && info.sure <= 1 && info.margin >= 0 && info.folds == 5);
        pess_choice_destroy(choice);
        pess_choice_destroy(again);
        pess_dataset_destroy(data);
        pess_mdp_destroy(mdp);
    }
}

/* Forty arms, each pulled once: what is best on the others is never in the fold, so every score is the mean of the log.
 * A fit that saw the held-out fold would find its ones there. */
static void fits_do_not_see_the_held_out_fold(void **state) {
    (void)state;
    char text[4000] = "episode,state,action,reward,next_state,terminal\n";
    for (int i = 0; i < 40; i++) {
        const size_t length = strlen(text);
        (void)snprintf(text + length, sizeof text - length, "%d,s,arm%d,%d,end,1\n", i, i, i % 2);
    }
    pess_error error = {0};
    pess_dataset *data = read_log(text);
    pess_choice *choice = NULL;
    pess_model_options model = pess_model_options_defaults();
    model.unseen = PESS_UNSEEN_WORST;
    pess_choose_options options = pess_choose_options_defaults();
    options.families = "naive,rmin";
    options.folds = 4;
    options.model = &model;
    OK(pess_choose(data, &options, &choice, &error));
    const pess_candidate_score *naive = pess_choice_candidate(choice, 0);
    assert_true(fabs(naive->score - 0.5) < 1e-6 && naive->error < 1e-6);
    pess_choice_destroy(choice);
    pess_dataset_destroy(data);
}

static void what_does_not_fit_is_told(void **state) {
    (void)state;
    pess_error error = {0};
    pess_choice *choice = NULL;
    pess_choose_options options = pess_choose_options_defaults();
    pess_dataset *data = read_log("episode,state,action,reward,next_state,terminal\n"
                                  "a,s,go,1,end,1\nb,s,go,0,end,1\nc,s,stay,0,s,0\nc,s,go,1,end,1\n");
    assert_int_equal(pess_choose(data, &options, &choice, &error), PESS_ARGUMENT);
    assert_string_equal(error.message, "5 folds need as many episodes; the log has 3");
    options.folds = 3;
    options.families = "naive,magic";
    assert_int_equal(pess_choose(data, &options, &choice, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "found 'magic'"));
    options.families = "naive,ua,naive";
    assert_int_equal(pess_choose(data, &options, &choice, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "'naive' is named twice"));
    options.families = "";
    assert_int_equal(pess_choose(data, &options, &choice, &error), PESS_ARGUMENT);
    options.families = "naive,density-proximal";
    options.score = PESS_CHOOSE_WEIGHTS;
    assert_int_equal(pess_choose(data, &options, &choice, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "no column 'probability'"));
    /* At γ = 1 density-proximal does not exist; the others go on. */
    options.score = PESS_CHOOSE_MODEL;
    pess_solve_options solve = pess_solve_options_defaults();
    solve.gamma = 1;
    options.solve = &solve;
    OK(pess_choose(data, &options, &choice, &error));
    pess_choice_info info;
    pess_choice_get_info(choice, &info);
    assert_int_equal(info.chosen, 0);
    assert_int_equal(info.runner_up, -1);
    assert_null(pess_choice_candidate(choice, 0)->left_out);
    assert_non_null(pess_choice_candidate(choice, 1)->left_out);
    assert_true(isnan(pess_choice_candidate(choice, 1)->score));
    pess_choice_destroy(choice);
    options.families = "density-proximal";
    assert_int_equal(pess_choose(data, &options, &choice, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "none of the candidates fits"));
    pess_dataset_destroy(data);
}

/* A family is of an algorithm, each of another one, and its strength is a setting which that reads. */
static void every_family_is_of_an_algorithm(void **state) {
    (void)state;
    const pess__family *family, *other;
    for (size_t k = 0; (family = pess__family_list(k)) != NULL; k++) {
        const pess_algorithm_info *info = pess_algorithm_find(family->algorithm);
        if (info == NULL) fail_msg("a family of no algorithm: %s", family->algorithm);
        for (size_t i = 0; i < k && (other = pess__family_list(i)) != NULL; i++)
            assert_string_not_equal(other->algorithm, family->algorithm);
        if (family->setting != NULL) assert_true(pess_setting_listed(info->settings, family->setting));
        for (int i = 1; i < pess__family_strengths(family); i++) assert_true(family->grid[i] > family->grid[i - 1]);
    }
}

/* A corridor of six cells: the first three pay 1 each, the others 1000. With a horizon of three steps everything is
 * worth 3, and no return beyond it counts. */
static void nothing_beyond_the_horizon_counts(void **state) {
    (void)state;
    char text[8192] = "episode,state,action,reward,next_state,terminal,probability\n";
    for (int episode = 0; episode < 20; episode++)
        for (int cell = 0; cell < 6; cell++)
            sprintf(text + strlen(text), "%d,%d,%d,%d,%d,%d,0.5\n", episode, cell, (episode + cell) % 2,
                    cell < 3 ? 1 : 1000, cell + 1, cell == 5);
    pess_error error = {0};
    pess_dataset *data = read_log(text);
    pess_solve_options solve = pess_solve_options_defaults();
    solve.gamma = 1;
    solve.horizon = 3;
    pess_choose_options options = pess_choose_options_defaults();
    options.solve = &solve;
    options.families = "naive,imitation,spibb"; /* all are alike, and the first one is chosen */
    pess_choice *choice = NULL;
    OK(pess_choose(data, &options, &choice, &error));
    pess_choice_info info;
    pess_choice_get_info(choice, &info);
    assert_int_equal(info.horizon, 3);
    assert_true(fabs(info.log_return - 3) < 1e-12);
    const pess_candidate_score *c;
    for (size_t i = 0; (c = pess_choice_candidate(choice, i)) != NULL; i++) {
        assert_null(c->left_out);
        assert_true(fabs(c->score - 3) < 1e-9);
        assert_true(isnan(c->weighted) || fabs(c->weighted - 3) < 1e-9);
        if (strcmp(c->algorithm, "imitation") == 0) assert_true(c->effective > 15); /* of 20: all weights are near 1 */
    }
    pess_policy_info policy;
    pess_policy_get_info(pess_solution_policy(pess_choice_solution(choice)), &policy);
    assert_int_equal(policy.steps, 3);
    pess_choice_destroy(choice);
    pess_dataset_destroy(data);
}

/* What is absorbed is in units of rewards; other strengths are not. */
static void strengths_in_units_of_rewards(void **state) {
    (void)state;
    int absorbed = 0, others = 0;
    const pess__family *family;
    for (size_t i = 0; (family = pess__family_list(i)) != NULL; i++) {
        for (int k = 0; k < pess__family_strengths(family) && family->setting != NULL; k++) {
            const bool of_rewards = strcmp(family->setting, "absorbed-alpha") == 0;
            const double found = pess__family_member_of(family, k, 3).strength;
            assert_true(fabs(found - family->grid[k] * (of_rewards ? 3 : 1)) <= 1e-12);
            absorbed += of_rewards, others += !of_rewards;
        }
        if (family->setting == NULL) assert_true(isnan(pess__family_member_of(family, 0, 3).strength));
    }
    assert_true(absorbed > 0 && others > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_is_of_an_algorithm),   cmocka_unit_test(every_episode_is_in_one_fold),
        cmocka_unit_test(subtraction_is_counting),           cmocka_unit_test(scores_are_those_by_hand),
        cmocka_unit_test(a_full_fold_is_its_own_model),      cmocka_unit_test(choice_against_the_truth),
        cmocka_unit_test(fits_do_not_see_the_held_out_fold), cmocka_unit_test(what_does_not_fit_is_told),
        cmocka_unit_test(nothing_beyond_the_horizon_counts), cmocka_unit_test(strengths_in_units_of_rewards)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
