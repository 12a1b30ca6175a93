/* MDPs by hand, their exact models and their files. */
#include "scratch.h"

#include "model/mdp.h"
#include "model/model.h"

#include <math.h>
#include <zlib.h>

#define HEADER "idstatefrom,idaction,idstateto,probability,reward\n"

/* Two states that act, and state 2 which is terminal. Outcomes of (0,0) come in two parts and out of order. */
static const pess_mdp_transition by_hand[] = {
    {1, 0, 1, 1, -0.5},  {0, 0, 1, 0.25, 2},  {0, 0, 0, 0.5, 0},  {0, 1, 2, 1, 3},
    {0, 0, 1, 0.125, 0}, {0, 0, 2, 0.125, 8}, {1, 1, 0, 0.75, 4}, {1, 1, 1, 0.25, 0},
};
enum { OUTCOMES = sizeof by_hand / sizeof *by_hand };

static pess_mdp *make(void) {
    pess_mdp *mdp = NULL;
    pess_error error = {0};
    assert_ok(pess_mdp_create(3, 2, by_hand, OUTCOMES, &mdp, &error), &error);
    return mdp;
}

static void the_model_is_the_one_worked_out_by_hand(void **state) {
    (void)state;
    pess_mdp *mdp = make();
    pess_error error = {0};
    pess_model *model = NULL;
    assert_ok(pess_mdp_model(mdp, 0, &model, &error), &error);
    assert_int_equal(pess_mdp_transitions(mdp), OUTCOMES);
    assert_close(pess_model_reward(model, 0, 0), 0.25 * 2 + 0.125 * 8, 0);
    assert_close(pess_model_probability(model, 0, 0, 0), 0.5, 0);
    assert_close(pess_model_probability(model, 0, 0, 1), 0.375, 0);
    assert_close(pess_model_probability(model, 0, 0, 2), 0, 0);
    assert_close(pess_model_terminal(model, 0, 0), 0.125, 0);
    assert_close(pess_model_terminal(model, 0, 1), 1, 0);
    assert_close(pess_model_reward(model, 1, 1), 3, 0);
    assert_close(pess_model_probability(model, 1, 0, 1), 1, 0);
    assert_true(pess_model_is_terminal_state(model, 2));
    assert_false(pess_model_is_terminal_state(model, 0));
    assert_true(model->has_terminals);
    double lo = 0, hi = 0;
    pess_model_reward_range(model, &lo, &hi);
    assert_close(lo, -0.5, 0);
    assert_close(hi, 8, 0);
    for (int64_t pair = 0; pair < 6; pair++)
        for (int64_t k = model->row[pair] + 1; k < model->row[pair + 1]; k++)
            assert_true(model->next[k - 1] < model->next[k]);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
}

/* A long row in descending order, every next state twice: merged by sorting. */
static void long_unsorted_rows_are_merged(void **state) {
    (void)state;
    enum { STATES = 100 };
    pess_mdp_transition transitions[2 * STATES];
    for (int i = 0; i < 2 * STATES; i++)
        transitions[i] = (pess_mdp_transition){0, 0, STATES - 1 - i % STATES, i < STATES ? 0.004 : 0.006, i};
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    pess_error error = {0};
    assert_ok(pess_mdp_create(STATES, 1, transitions, 2 * STATES, &mdp, &error), &error);
    assert_ok(pess_mdp_model(mdp, 0, &model, &error), &error);
    assert_close(pess_model_probability(model, 0, 0, 0), 0.01, 1e-15); /* the others are terminal */
    assert_close(pess_model_terminal(model, 0, 0), 0.99, 1e-14);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
    for (int i = 0; i < STATES; i++) transitions[i] = (pess_mdp_transition){i, 0, i, 1, 0};
    pess_mdp_transition all[3 * STATES];
    memcpy(all, transitions + 1, (STATES - 1) * sizeof *all);
    for (int i = 0; i < 2 * STATES; i++)
        all[STATES - 1 + i] = (pess_mdp_transition){0, 0, (i * 37) % STATES, i < STATES ? 0.004 : 0.006, 1};
    assert_ok(pess_mdp_create(STATES, 1, all, 3 * STATES - 1, &mdp, &error), &error);
    assert_ok(pess_mdp_model(mdp, 0, &model, &error), &error);
    assert_int_equal(model->row[1], STATES);
    for (int i = 0; i < STATES; i++) assert_close(pess_model_probability(model, 0, 0, i), 0.01, 1e-15);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
}

static void files_go_round(void **state) {
    (void)state;
    pess_mdp *mdp = make(), *back = NULL;
    pess_error error = {0};
    const char *extensions[] = {".csv", ".csv.gz"};
    for (int i = 0; i < 2; i++) {
        const char *path = scratch_path(0, extensions[i]), *again = scratch_path(1, extensions[i]);
        assert_ok(pess_mdp_write(mdp, path, 0, &error), &error);
        assert_ok(pess_mdp_read(path, &back, &error), &error);
        assert_int_equal(pess_mdp_states(back), 3);
        assert_int_equal(pess_mdp_actions(back), 2);
        assert_ok(pess_mdp_write(back, again, 0, &error), &error);
        if (i == 0) {
            char *first = scratch_read(path), *second = scratch_read(again);
            assert_string_equal(first, second);
            assert_string_equal(first, HEADER "0,0,1,0.25,2\n0,0,0,0.5,0\n0,0,1,0.125,0\n0,0,2,0.125,8\n0,1,2,1,3\n"
                                              "1,0,1,1,-0.5\n1,1,0,0.75,4\n1,1,1,0.25,0\n");
            free(first);
            free(second);
        }
        pess_mdp_destroy(back);
        scratch_remove(path);
        scratch_remove(again);
    }
    pess_mdp_destroy(mdp);
}

/* ---- .pessmdp */

static void assert_same(const pess_mdp *a, const pess_mdp *b) {
    assert_int_equal(a->states, b->states);
    assert_int_equal(a->actions, b->actions);
    const size_t pairs = (size_t)(a->states * a->actions), count = (size_t)a->row[pairs];
    assert_memory_equal(a->row, b->row, (pairs + 1) * sizeof *a->row);
    assert_memory_equal(a->probability, b->probability, count * sizeof *a->probability);
    assert_memory_equal(a->reward, b->reward, count * sizeof *a->reward);
    assert_memory_equal(a->next, b->next, count * sizeof *a->next);
    assert_memory_equal(a->terminal, b->terminal, (size_t)a->states);
}

static void binary_files_keep_every_bit(void **state) {
    (void)state;
    for (int large = 0; large < 2; large++) {
        pess_error error = {0};
        pess_mdp *mdp = NULL, *again = NULL;
        pess_garnet_options garnet = pess_garnet_options_defaults();
        garnet.states = 500;
        garnet.terminals = 3;
        if (large)
            assert_ok(pess_mdp_garnet(&garnet, &mdp, &error), &error);
        else
            mdp = make();
        const char *path = scratch_path(0, ".pessmdp");
        assert_ok(pess_mdp_write(mdp, path, 0, &error), &error);
        assert_int_equal(pess_file_kind_of(path), PESS_FILE_MDP);
        assert_ok(pess_mdp_read(path, &again, &error), &error);
        assert_same(mdp, again);
        pess_mdp_destroy(mdp);
        pess_mdp_destroy(again);
        scratch_remove(path);
    }
}

static pess_status read_memory(const uint8_t *bytes, size_t size, pess_mdp **out, pess_error *error) {
    pess__infile *file = NULL;
    assert_ok(pess__infile_open_memory("a.pessmdp", bytes, size, &file, error), error);
    const pess_status status = pess__mdp_read_binary(file, out, error);
    pess__infile_close(file);
    return status;
}

/* Any byte that is another one, any file that is cut off: one sentence. */
static void damaged_binary_files_are_refused(void **state) {
    (void)state;
    enum { SIZE = 40 + 7 * 8 + OUTCOMES * 20 + 4 };
    pess_error error = {0};
    pess_mdp *mdp = make(), *none = NULL;
    const char *path = scratch_path(0, ".pessmdp");
    assert_ok(pess_mdp_write(mdp, path, 0, &error), &error);
    uint8_t *bytes = (uint8_t *)scratch_read(path);
    assert_ok(read_memory(bytes, SIZE, &none, &error), &error);
    pess_mdp_destroy(none);
    for (size_t i = 0; i < SIZE; i++) {
        bytes[i] ^= 0x10;
        assert_failure(read_memory(bytes, SIZE, &none, &error), PESS_INPUT, &error, "a.pessmdp", NULL);
        bytes[i] ^= 0x10;
        assert_failure(read_memory(bytes, i, &none, &error), PESS_INPUT, &error, "a.pessmdp", NULL);
    }
    free(bytes);
    pess_mdp_destroy(mdp);
    scratch_remove(path);
}

static void put_checksum(uint8_t *bytes, size_t size) {
    const uint32_t crc = (uint32_t)crc32_z(0, bytes, size - 4);
    memcpy(bytes + size - 4, &crc, sizeof crc);
}

/* Files whose checksum is right and whose contents are not. */
static void binary_files_that_make_no_sense_are_refused(void **state) {
    (void)state;
    enum { SIZE = 40 + 7 * 8 + OUTCOMES * 20 + 4, ROWS = 40, PROBABILITIES = ROWS + 7 * 8, LAST = SIZE - 8 };
    const struct {
        size_t at;
        uint8_t byte;
        const char *because;
    } bad[] = {{8, 2, "version"},
               {12, 1, "damaged"},
               {16, 200, "damaged"},
               {24, 0, "damaged"},
               {32, 1, "expected"},
               {ROWS + 8, 99, "does not ascend"},
               {PROBABILITIES + 7, 0x40, "probability"},
               {LAST, 7, "expected less than 3"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pess_error error = {0};
        pess_mdp *mdp = make(), *none = NULL;
        const char *path = scratch_path(0, ".pessmdp");
        assert_ok(pess_mdp_write(mdp, path, 0, &error), &error);
        uint8_t *bytes = (uint8_t *)scratch_read(path);
        bytes[bad[i].at] = bad[i].byte;
        put_checksum(bytes, SIZE);
        assert_failure(read_memory(bytes, SIZE, &none, &error), PESS_INPUT, &error, "a.pessmdp", bad[i].because, NULL);
        free(bytes);
        pess_mdp_destroy(mdp);
        scratch_remove(path);
    }
}

static void columns_come_in_any_order(void **state) {
    (void)state;
    const char *path = scratch_write(0, "note,reward,idstateto,probability,idaction,idstatefrom\r\n"
                                        "x,2.5,1,1,0,0\r\n\"y,z\",-1,0,0.25,1,1\r\n,1,1,0.75,1,1\r\n");
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    pess_error error = {0};
    assert_ok(pess_mdp_read(path, &mdp, &error), &error);
    assert_ok(pess_mdp_model(mdp, 0, &model, &error), &error);
    assert_close(pess_model_reward(model, 0, 0), 2.5, 0);
    assert_close(pess_model_reward(model, 1, 1), 0.5, 0);
    assert_int_equal(model->kind[1], PESS_ROW_NONE); /* state 0 lacks action 1, state 1 lacks action 0 */
    assert_int_equal(model->kind[2], PESS_ROW_NONE);
    assert_false(model->has_terminals);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
    scratch_remove(path);
}

/* Six digits are few: rows that are off by up to 1e-6 are scaled to sum to one. */
static void rounded_files_are_scaled(void **state) {
    (void)state;
    const char *path = scratch_write(0, HEADER "0,0,0,0.333333,1\n0,0,1,0.333333,1\n0,0,2,0.333333,1\n"
                                               "1,0,1,1,0\n2,0,2,1,0\n");
    pess_mdp *mdp = NULL;
    pess_error error = {0};
    assert_ok(pess_mdp_read(path, &mdp, &error), &error);
    assert_close(mdp->probability[0] + mdp->probability[1] + mdp->probability[2], 1, 1e-15);
    pess_mdp_destroy(mdp);
    scratch_remove(path);
}

/* A terminal state that nothing leads to keeps its place. */
static void a_lonely_last_state_is_kept(void **state) {
    (void)state;
    const pess_mdp_transition one = {0, 0, 0, 1, 1};
    pess_mdp *mdp = NULL, *back = NULL;
    pess_model *model = NULL;
    pess_error error = {0};
    const char *path = scratch_path(0, ".csv");
    assert_ok(pess_mdp_create(4, 1, &one, 1, &mdp, &error), &error);
    assert_ok(pess_mdp_write(mdp, path, 0, &error), &error);
    assert_ok(pess_mdp_read(path, &back, &error), &error);
    assert_int_equal(pess_mdp_states(back), 4);
    assert_ok(pess_mdp_model(back, 0, &model, &error), &error);
    double lo = 0, hi = 0;
    pess_model_reward_range(model, &lo, &hi);
    assert_close(lo, 1, 0);
    assert_close(pess_model_probability(model, 0, 0, 0), 1, 0);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
    pess_mdp_destroy(back);
    scratch_remove(path);
}

static void bad_files_are_refused(void **state) {
    (void)state;
    const struct {
        const char *text, *word, *where;
    } bad[] = {
        {"", "empty", ":1:1"},
        {HEADER, "no rows", ""},
        {"idstatefrom,idaction,idstateto,probability\n0,0,0,1\n", "reward", ":1:1"},
        {HEADER "-1,0,0,1,0\n", "'-1'", ":2:1"},
        {HEADER "0,1.5,0,1,0\n", "'1.5'", ":2:3"},
        {HEADER "0,0,99999999999999999999,1,0\n", "99999999999", ":2:5"},
        {HEADER "0,0,268435456,1,0\n", "268435455", ":2:5"},
        {HEADER "0,0,0,1,0\n0,0,200000000,0,0\n", "without large gaps", ""},
        {HEADER "0,0,0,1,0\n0,1000000,0,1,0\n", "action 1000000", ""},
        {HEADER "0,0,0,1.5,0\n", "'1.5'", ":2:7"},
        {HEADER "0,0,0,-0.5,0\n", "'-0.5'", ":2:7"},
        {HEADER "0,0,0,nan,0\n", "'nan'", ":2:7"},
        {HEADER "0,0,0,1,0\n1,0,0,1,inf\n", "'inf'", ":3:9"},
        {HEADER "0,0,0,1,good\n", "'good'", ":2:9"},
        {HEADER "0,0,0,1\n", "4 fields", ":2:"},
        {HEADER "0,0,0,0.5,0\n0,0,0,0.4,0\n", "state 0, action 0: the probabilities sum to 0.9", ""},
        {HEADER "1,2,0,0.5,0\n1,2,0,0.50001,0\n", "state 1, action 2: the probabilities sum to 1.00001", ""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *path = scratch_write(0, bad[i].text);
        pess_mdp *mdp = NULL;
        pess_error error = {0};
        assert_failure(pess_mdp_read(path, &mdp, &error), PESS_INPUT, &error, path, bad[i].word, bad[i].where, NULL);
        assert_null(mdp);
        scratch_remove(path);
    }
    pess_mdp *mdp = NULL;
    pess_error error = {0};
    assert_failure(pess_mdp_read("/nowhere/at/all.csv", &mdp, &error), PESS_IO, &error, "/nowhere/at/all.csv", NULL);
    mdp = make();
    assert_failure(pess_mdp_write(mdp, "/nowhere/at/all.csv", 0, &error), PESS_IO, &error, "/nowhere/at/all.csv", NULL);
    pess_mdp_destroy(mdp);
}

static void bad_transitions_are_refused(void **state) {
    (void)state;
    const struct {
        pess_mdp_transition transition;
        const char *word;
    } bad[] = {
        {{3, 0, 0, 1, 0}, "state 3"},      {{0, 2, 0, 1, 0}, "action 2"}, {{0, 0, -1, 1, 0}, "next state -1"},
        {{0, 0, 0, 2, 0}, "not in"},       {{0, 0, 0, NAN, 0}, "not in"}, {{0, 0, 0, 1, INFINITY}, "not finite"},
        {{0, 0, 0, 0.9, 0}, "sum to 0.9"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pess_mdp *mdp = NULL;
        pess_error error = {0};
        assert_failure(pess_mdp_create(3, 2, &bad[i].transition, 1, &mdp, &error), PESS_INPUT, &error, bad[i].word,
                       NULL);
        assert_null(mdp);
    }
    pess_mdp *mdp = NULL;
    pess_error error = {0};
    assert_failure(pess_mdp_create(0, 2, NULL, 0, &mdp, &error), PESS_ARGUMENT, &error, NULL);
    assert_failure(pess_mdp_create(PESS_MAX_STATES + 1, 2, NULL, 0, &mdp, &error), PESS_LIMIT, &error, NULL);
    assert_failure(pess_mdp_create(PESS_MAX_STATES, 1000, NULL, 0, &mdp, &error), PESS_LIMIT, &error, NULL);
}

static void the_bandit_is_the_papers(void **state) {
    (void)state;
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    pess_error error = {0};
    assert_ok(pess_mdp_bandit(NULL, &mdp, &error), &error);
    assert_ok(pess_mdp_model(mdp, 0, &model, &error), &error);
    assert_int_equal(pess_model_states(model), 1);
    assert_int_equal(pess_model_actions(model), 1000);
    assert_close(pess_model_reward(model, 0, 0), 0.99, 1e-15);
    assert_close(pess_model_reward(model, 0, 999), 0.01, 1e-15);
    assert_close(pess_model_probability(model, 0, 5, 0), 1, 0);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
    pess_bandit_options options = pess_bandit_options_defaults();
    options.arms = 3;
    options.best = 1;
    options.rest = 0;
    assert_ok(pess_mdp_bandit(&options, &mdp, &error), &error);
    assert_int_equal(pess_mdp_transitions(mdp), 3);
    pess_mdp_destroy(mdp);
    options.rest = -0.1;
    assert_failure(pess_mdp_bandit(&options, &mdp, &error), PESS_ARGUMENT, &error, "-0.1", NULL);
    options.rest = 0;
    options.arms = 0;
    assert_failure(pess_mdp_bandit(&options, &mdp, &error), PESS_ARGUMENT, &error, NULL);
}

static void built_in_processes_are_found_by_their_names(void **state) {
    (void)state;
    size_t count = 0;
    for (const pess_mdp_info *info; (info = pess_mdp_list(count)) != NULL; count++)
        assert_ptr_equal(pess_mdp_find(info->name), info);
    assert_true(count >= 3);
    assert_null(pess_mdp_find("nobody"));
    assert_null(pess_mdp_find(NULL));
}

static void an_unknown_process_is_told_those_there_are(void **state) {
    (void)state;
    pess_mdp *mdp = NULL;
    pess_error error = {0};
    assert_int_equal(pess_mdp_make("nowhere", NULL, &mdp, &error), PESS_ARGUMENT);
    size_t count = 0;
    for (const pess_mdp_info *info; (info = pess_mdp_list(count)) != NULL; count++)
        assert_non_null(strstr(error.message, info->name));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_process_is_told_those_there_are),
        cmocka_unit_test(the_model_is_the_one_worked_out_by_hand),
        cmocka_unit_test(long_unsorted_rows_are_merged),
        cmocka_unit_test(files_go_round),
        cmocka_unit_test(binary_files_keep_every_bit),
        cmocka_unit_test(damaged_binary_files_are_refused),
        cmocka_unit_test(binary_files_that_make_no_sense_are_refused),
        cmocka_unit_test(columns_come_in_any_order),
        cmocka_unit_test(rounded_files_are_scaled),
        cmocka_unit_test(a_lonely_last_state_is_kept),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(bad_transitions_are_refused),
        cmocka_unit_test(the_bandit_is_the_papers),
        cmocka_unit_test(built_in_processes_are_found_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
