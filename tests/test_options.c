/* Every options struct of the library: its table is sound, and where options are NULL the defaults hold. */
#include "cells_case.h"
#include "scratch.h"

typedef const pess_setting_table *(*table_function)(void);

static const table_function tables[] = {
    pess_act_settings,     pess_measurements_settings, pess_actions_settings,    pess_cells_settings,
    pess_markov_settings,  pess_trials_settings,       pess_certify_settings,    pess_estimator_settings,
    pess_theorem_settings, pess_choose_settings,       pess_compare_settings,    pess_read_settings,
    pess_env_settings,     pess_play_settings,         pess_dqn_settings,        pess_collect_settings,
    pess_train_settings,   pess_model_settings,        pess_gridworld_settings,  pess_bandit_settings,
    pess_garnet_settings,  pess_solve_settings,        pess_simulate_settings,   pess_protocol_settings,
    pess_score_settings,   pess_import_settings,       pess_experiment_settings, pess_observations_settings,
};

enum { TABLES = sizeof tables / sizeof tables[0] };

/* A default that its own row refuses would never be noticed: it would be left unset. */
static void every_default_is_one_that_its_row_accepts(void **state) {
    (void)state;
    for (size_t t = 0; t < TABLES; t++) {
        const pess_setting_table *table = tables[t]();
        void *options = calloc(1, table->size);
        assert_non_null(options);
        pess_setting_defaults(table, options);
        for (size_t i = 0; i < table->count; i++) {
            const pess_setting *row = &table->rows[i];
            pess_error error = {0};
            if (row->standard != NULL && pess_setting_set(table, options, row->name, row->standard, &error) != PESS_OK)
                fail_msg("%s: %s", table->name, error.message);
            assert_true(pess_setting_is_default(table, options, row->name));
        }
        assert_int_equal(pess_setting_check(table, options, NULL), PESS_OK);
        free(options);
    }
}

/* Rows lie inside their struct and behind its size, have a sentence, and no two have the same name. */
static void rows_describe_fields_of_their_struct(void **state) {
    (void)state;
    for (size_t t = 0; t < TABLES; t++) {
        const pess_setting_table *table = tables[t]();
        for (size_t i = 0; i < table->count; i++) {
            const pess_setting *row = &table->rows[i];
            assert_true(row->offset >= sizeof(size_t) && row->offset < table->size);
            assert_true(row->sentence != NULL && row->sentence[0] != '\0');
            assert_ptr_equal(pess_setting_find(table, row->name), row);
        }
    }
}

/* ---- NULL in place of options */

static pess_mdp *small_mdp(void) {
    pess_mdp *mdp = NULL;
    pess_gridworld_options o = pess_gridworld_options_defaults();
    o.rows = o.cols = 2;
    assert_int_equal(pess_mdp_gridworld(&o, &mdp, NULL), PESS_OK);
    return mdp;
}

static void environments_of_an_mdp_need_no_options(void **state) {
    (void)state;
    pess_mdp *mdp = small_mdp();
    pess_env *env = NULL;
    pess_batch *batch = NULL;
    pess_env_step_result result;
    assert_int_equal(pess_env_create_mdp(mdp, NULL, NULL, &env, NULL), PESS_OK);
    assert_int_equal(pess_env_step(env, 1, &result, NULL), PESS_OK);
    assert_int_equal(pess_batch_create_mdp(mdp, NULL, NULL, 3, 1, &batch, NULL), PESS_OK);
    assert_int_equal(pess_batch_count(batch), 3);
    pess_batch_destroy(batch);
    pess_env_destroy(env);
    pess_mdp_destroy(mdp);
}

static void what_needs_a_game_says_so(void **state) {
    (void)state;
    static const char expected[] = "no game is named";
    pess_error error = {0};
    pess_env *env = NULL;
    pess_batch *batch = NULL;
    pess_play_result played;
    pess_observations *data = NULL;
    const char *path = scratch_path(0, ".trace");
    assert_int_equal(pess_env_create(NULL, &env, &error), PESS_ARGUMENT);
    assert_string_equal(error.message, expected);
    assert_int_equal(pess_batch_create(NULL, 3, 1, &batch, &error), PESS_ARGUMENT);
    assert_string_equal(error.message, expected);
    assert_int_equal(pess_play(NULL, NULL, &played, &error), PESS_ARGUMENT);
    assert_string_equal(error.message, expected);
    assert_int_equal(pess_collect(NULL, &data, &error), PESS_ARGUMENT);
    assert_string_equal(error.message, expected);
    assert_int_equal(pess_trace_record(NULL, NULL, 3, path, &error), PESS_ARGUMENT);
    assert_string_equal(error.message, expected);
    assert_null(pess_env_find(NULL));
}

static void trainings_without_options_are_refused_in_words(void **state) {
    (void)state;
    pess_error error = {0};
    pess_dqn_result player;
    pess_train_result trained;
    assert_int_equal(pess_dqn_run(NULL, &player, &error), PESS_ARGUMENT);
    assert_int_equal(pess_train_run(NULL, &trained, &error), PESS_ARGUMENT);
    assert_true(error.message[0] != '\0');
}

/* A log of episodes with everything that is made of it, all without options. */
typedef struct whole_way {
    pess_mdp *mdp;
    pess_dataset *data;
    pess_counts *counts;
    pess_model *model;
    pess_solution *solution;
    double start[4];
} whole_way;

static whole_way walk(void) {
    whole_way w = {.mdp = small_mdp(), .start = {0.25, 0.25, 0.25, 0.25}};
    pess_model *exact = NULL;
    pess_policy *uniform = NULL;
    pess_columns columns;
    pess_simulate_options simulate = pess_simulate_options_defaults();
    simulate.episodes = 200;
    simulate.horizon = 5;
    assert_int_equal(pess_mdp_model(w.mdp, 1, &exact, NULL), PESS_OK);
    assert_int_equal(pess_policy_uniform(exact, &uniform, NULL), PESS_OK);
    assert_int_equal(pess_simulate(w.mdp, uniform, w.start, &simulate, &w.data, NULL), PESS_OK);
    pess_dataset_columns(w.data, &columns);
    assert_int_equal(pess_counts_from_columns(&columns, NULL, &w.counts, NULL), PESS_OK);
    assert_int_equal(pess_model_estimate(w.counts, NULL, &w.model, NULL), PESS_OK);
    assert_int_equal(pess_solve(w.counts, w.model, w.start, NULL, &w.solution, NULL), PESS_OK);
    pess_policy_destroy(uniform);
    pess_model_destroy(exact);
    return w;
}

static void walk_destroy(whole_way *w) {
    pess_solution_destroy(w->solution);
    pess_model_destroy(w->model);
    pess_counts_destroy(w->counts);
    pess_dataset_destroy(w->data);
    pess_mdp_destroy(w->mdp);
}

static void a_log_goes_the_whole_way_without_options(void **state) {
    (void)state;
    whole_way w = walk();
    const pess_policy *policy = pess_solution_policy(w.solution);
    pess_solution *value = NULL;
    pess_certificate *certificate = NULL;
    pess_choice *choice = NULL;
    pess_problem *problem = NULL;
    pess_decider *decider = NULL;
    pess_gap gap[2];
    pess_thin_place thin[2];
    pess_theorem_row theorems[20];
    pess_estimates estimates;
    pess_dataset *simulated = NULL;
    int64_t found = 0;
    double uncertainty = 0;
    pess_error error = {0};
    assert_int_equal(pess_evaluate(w.counts, w.model, w.start, policy, NULL, &value, NULL), PESS_OK);
    assert_int_equal(pess_certify(w.data, NULL, &certificate, &error), PESS_OK);
    assert_int_equal(pess_choose(w.data, NULL, &choice, &error), PESS_OK);
    assert_int_equal(pess_problem_create(w.counts, NULL, NULL, &problem, &error), PESS_OK);
    assert_int_equal(pess_decider_create(policy, NULL, NULL, NULL, w.counts, NULL, &decider, &error), PESS_OK);
    assert_int_equal(pess_gaps(w.counts, w.model, w.start, policy, NULL, 2, gap, &found, &uncertainty, &error),
                     PESS_OK);
    assert_int_equal(pess_thin_places(w.counts, w.model, w.start, policy, NULL, 2, thin, &found, &error), PESS_OK);
    assert_int_equal(pess_theorems(w.mdp, w.counts, w.model, w.start, NULL, theorems, &found, &error), PESS_OK);
    assert_true(found > 0 && found <= 20);
    assert_int_equal(pess_estimate_policy(w.data, w.counts, w.model, policy, NULL, &estimates, &error), PESS_OK);
    /* how many transitions there are to be has no default */
    assert_int_equal(pess_simulate(w.mdp, policy, w.start, NULL, &simulated, &error), PESS_ARGUMENT);
    pess_decider_destroy(decider);
    pess_problem_destroy(problem);
    pess_choice_destroy(choice);
    pess_certificate_destroy(certificate);
    pess_solution_destroy(value);
    walk_destroy(&w);
}

static void built_in_processes_need_no_options(void **state) {
    (void)state;
    pess_mdp *mdp = NULL;
    assert_int_equal(pess_mdp_gridworld(NULL, &mdp, NULL), PESS_OK);
    pess_mdp_destroy(mdp);
    assert_int_equal(pess_mdp_bandit(NULL, &mdp, NULL), PESS_OK);
    pess_mdp_destroy(mdp);
    assert_int_equal(pess_mdp_garnet(NULL, &mdp, NULL), PESS_OK);
    pess_mdp_destroy(mdp);
}

/* Files that are missing are refused for that, not for options that are. */
static void what_reads_files_needs_no_options(void **state) {
    (void)state;
    const char *none = scratch_path(1, ".none");
    pess_dataset *data = NULL;
    pess_counts *counts = NULL;
    pess_problem *problem = NULL;
    pess_observations *observations = NULL;
    pess_policy *policy = NULL;
    pess_decider *decider = NULL;
    pess_comparison *comparison = NULL;
    pess_measurements *measurements = NULL;
    pess_experiment *experiment = NULL;
    pess_error error = {0};
    assert_int_not_equal(pess_dataset_read(none, NULL, &data, &error), PESS_OK);
    assert_non_null(strstr(error.message, none));
    assert_int_not_equal(pess_counts_read(none, NULL, &counts, &error), PESS_OK);
    assert_int_not_equal(pess_problem_read(none, NULL, NULL, NULL, &problem, &error), PESS_OK);
    assert_int_not_equal(pess_problem_read_checked(none, NULL, NULL, NULL, 0.9, &problem, &error), PESS_OK);
    assert_int_not_equal(pess_log_read(none, NULL, &data, &counts, &error), PESS_OK);
    assert_false(pess_counts_file(none, NULL));
    assert_int_not_equal(pess_decider_read(none, NULL, NULL, NULL, &decider, &error), PESS_OK);
    assert_int_not_equal(pess_observations_import(none, NULL, &observations, &error), PESS_OK);
    assert_int_not_equal(pess_policy_import(none, NULL, &policy, &error), PESS_OK);
    assert_int_not_equal(pess_compare_directories(&none, 1, NULL, &comparison, &error), PESS_OK);
    assert_int_equal(pess_measurements_read(none, NULL, &measurements, &error), PESS_ARGUMENT);
    assert_int_equal(pess_experiment_create(NULL, &experiment, &error), PESS_ARGUMENT);
    assert_true(error.message[0] != '\0');
}

static void cells_need_no_options(void **state) {
    (void)state;
    ward w = ward_create(120, 0, 1);
    pess_measurements *measurements = ward_measurements(&w);
    pess_map *map = NULL;
    pess_cells_trial trials[64];
    int64_t count = 0;
    pess_error error = {0};
    if (pess_map_make(measurements, "test", NULL, &map, &error) != PESS_OK) fail_msg("%s", error.message);
    const pess_status status = pess_cells_trials(map, measurements, NULL, NULL, NULL, trials, &count, &error);
    if (status != PESS_OK) fail_msg("%s", error.message);
    assert_true(count > 0);
    pess_map_destroy(map);
    pess_measurements_destroy(measurements);
    ward_free(&w);
}

/* What is missing beside the options is named; what has defaults is not asked for. */
static void what_lacks_its_input_says_so(void **state) {
    (void)state;
    const pess_learner_info *learner = NULL;
    pess_batch *batch = NULL;
    pess_scores *scores = NULL;
    pess_error error = {0};
    assert_int_equal(pess_train_learner(NULL, &learner, &error), PESS_OK);
    assert_string_equal(learner->name, "naive");
    const pess_env_callbacks none = {.size = sizeof none};
    assert_int_equal(pess_batch_create_own(&none, NULL, 2, 1, &batch, &error), PESS_ARGUMENT);
    assert_int_equal(pess_score_policies(NULL, NULL, 0, NULL, NULL, &scores, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "no policies"));
}

/* The rest of what takes options: from memory, from several files, on observations, and the names of nothing. */
static void all_others_need_no_options(void **state) {
    (void)state;
    static const char text[] = "state,action,reward,next_state\n0,0,1,1\n1,0,0,0\n";
    const char *path = scratch_write(0, text), *target = scratch_path(1, ".pesscounts");
    whole_way w = walk();
    pess_dataset *data = NULL;
    pess_counts *counts = NULL;
    pess_markov markov;
    double visits[4];
    pess_error error = {0};
    assert_ok(pess_dataset_read_memory("text", text, strlen(text), NULL, &data, &error), &error);
    assert_ok(pess_counts_read_memory("text", text, strlen(text), NULL, &counts, &error), &error);
    assert_ok(pess_counts_merge(&path, 1, NULL, target, &error), &error);
    assert_ok(pess_visitation(w.model, w.start, pess_solution_policy(w.solution), NULL, visits, &error), &error);
    assert_ok(pess_markov_test(w.data, w.data, NULL, &markov, &error), &error);
    assert_int_equal(
        pess_act_observations(pess_solution_policy(w.solution), path, scratch_path(2, ".csv"), NULL, NULL, &error),
        PESS_ARGUMENT); /* a table sees no observations */
    assert_null(pess_learner_find(NULL));
    assert_null(pess_setting_find(pess_solve_settings(), NULL));
    assert_false(pess_setting_listed("alpha", NULL));
    assert_int_equal(pess_protocol_find(NULL, &(pess_protocol){0}, &error), PESS_ARGUMENT);
    pess_counts_destroy(counts);
    pess_dataset_destroy(data);
    walk_destroy(&w);
    scratch_remove(path);
    scratch_remove(target);
}

static void observations_need_no_options(void **state) {
    (void)state;
    ward w = ward_create(12, 0, 1);
    pess_measurements *measurements = ward_measurements(&w);
    pess_observations *data = NULL;
    pess_env *env = NULL;
    pess_error error = {0};
    assert_ok(pess_measurements_observations(measurements, NULL, &data, &error), &error);
    assert_int_equal(pess_observations_number_actions(data, NULL, NULL, &error), PESS_ARGUMENT);
    const pess_env_callbacks none = {.size = sizeof none};
    assert_int_equal(pess_env_create_own(&none, NULL, &env, &error), PESS_ARGUMENT);
    pess_observations_destroy(data);
    pess_measurements_destroy(measurements);
    ward_free(&w);
}

/* A size that no version of the struct had: whoever filled it in did not say what it is. */
static void a_size_that_cannot_be_is_refused(void **state) {
    (void)state;
    for (size_t t = 0; t < TABLES; t++) {
        const pess_setting_table *table = tables[t]();
        void *options = calloc(1, table->size);
        pess_error error = {0};
        assert_non_null(options);
        pess_setting_defaults(table, options);
        *(size_t *)options = 0;
        assert_int_equal(pess_setting_check(table, options, &error), PESS_ARGUMENT);
        *(size_t *)options = table->size + 8;
        assert_int_equal(pess_setting_check(table, options, &error), PESS_ARGUMENT);
        free(options);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_is_one_that_its_row_accepts),
        cmocka_unit_test(rows_describe_fields_of_their_struct),
        cmocka_unit_test(environments_of_an_mdp_need_no_options),
        cmocka_unit_test(what_needs_a_game_says_so),
        cmocka_unit_test(trainings_without_options_are_refused_in_words),
        cmocka_unit_test(a_log_goes_the_whole_way_without_options),
        cmocka_unit_test(built_in_processes_need_no_options),
        cmocka_unit_test(what_reads_files_needs_no_options),
        cmocka_unit_test(cells_need_no_options),
        cmocka_unit_test(what_lacks_its_input_says_so),
        cmocka_unit_test(all_others_need_no_options),
        cmocka_unit_test(observations_need_no_options),
        cmocka_unit_test(a_size_that_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
