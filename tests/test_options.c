/* Every options struct of the library: its table is sound, and where options are NULL the defaults hold. */
#include "scratch.h"

typedef const pess_setting_table *(*table_function)(void);

static const table_function tables[] = {
    pess_act_settings,        pess_measurements_settings, pess_cells_settings,     pess_markov_settings,
    pess_trials_settings,     pess_certify_settings,      pess_theorem_settings,   pess_read_settings,
    pess_env_settings,        pess_play_settings,         pess_dqn_settings,       pess_collect_settings,
    pess_train_settings,      pess_model_settings,        pess_gridworld_settings, pess_bandit_settings,
    pess_garnet_settings,     pess_solve_settings,        pess_simulate_settings,  pess_protocol_settings,
    pess_experiment_settings,
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_is_one_that_its_row_accepts),
        cmocka_unit_test(rows_describe_fields_of_their_struct),
        cmocka_unit_test(environments_of_an_mdp_need_no_options),
        cmocka_unit_test(what_needs_a_game_says_so),
        cmocka_unit_test(trainings_without_options_are_refused_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
