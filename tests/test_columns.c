/* Logs given as columns: what is refused, with which sentence, by the call that copies and by the one that borrows;
 * names; and every allocation of both failing. */
#include "core/memory_hook.h"
#include "data/dataset.h"

#include "scratch.h"

#include <math.h>

enum { ROWS = 4 };

static const uint32_t states[ROWS] = {0, 1, 2, 1}, actions[ROWS] = {0, 1, 0, 1}, next_states[ROWS] = {1, 2, 0, 0};
static const double rewards[ROWS] = {0, 0.5, -1, 2}, probabilities[ROWS] = {0, 1, 0.5, 0.25};
static const uint8_t ends[ROWS] = {PESS_END_NONE, PESS_END_TERMINAL, PESS_END_CUTOFF, PESS_END_NONE};
static const int64_t episodes[ROWS] = {7, 7, 8, 9}, steps[ROWS] = {0, 1, 0, 0};
static const pess_columns good = {.rows = ROWS,
                                  .state = states,
                                  .action = actions,
                                  .next_state = next_states,
                                  .reward = rewards,
                                  .end = ends,
                                  .episode = episodes,
                                  .step = steps,
                                  .probability = probabilities};

typedef pess_status making(const pess_columns *, int64_t, int64_t, pess_dataset **, pess_error *);
static making *const both[] = {pess_dataset_create, pess_dataset_borrow};

static void refused(pess_columns columns, int64_t s, int64_t a, pess_status status, const char *text) {
    for (int i = 0; i < 2; i++) {
        pess_dataset *data = NULL;
        pess_error error = {0};
        assert_failure(both[i](&columns, s, a, &data, &error), status, &error, text, NULL);
        assert_null(data);
    }
}

static void columns_that_are_no_log_are_refused(void **state) {
    (void)state;
    pess_columns c = good;
    c.rows = -1;
    refused(c, 0, 0, PESS_ARGUMENT, "-1 rows, 0 states, 0 actions");
    refused(good, -3, 0, PESS_ARGUMENT, "-3 states");
    refused(good, 0, -2, PESS_ARGUMENT, "-2 actions");
    const void **const required[] = {(const void **)&c.state, (const void **)&c.action, (const void **)&c.next_state,
                                     (const void **)&c.reward};
    for (int i = 0; i < 4; i++) {
        c = good;
        *required[i] = NULL;
        refused(c, 0, 0, PESS_ARGUMENT, "the columns state, action, reward and next_state are required");
    }
    refused(good, 2, 0, PESS_INPUT, "row 1 of the columns: found state 1, action 1, next state 2");
    refused(good, 0, 1, PESS_INPUT, "expected ids below 0 states and 1 actions");
    const double bad_rewards[] = {NAN, INFINITY, -INFINITY}, bad_probabilities[] = {-0.1, 1.1, NAN};
    for (int i = 0; i < 3; i++) {
        double values[ROWS] = {0, 0, bad_rewards[i], 0};
        c = good;
        c.reward = values;
        refused(c, 0, 0, PESS_INPUT, "row 2 of the columns: the reward is not finite");
        values[2] = 0, values[3] = bad_probabilities[i];
        c = good;
        c.probability = values;
        refused(c, 0, 0, PESS_INPUT, "row 3 of the columns: the probability is not in [0,1]");
    }
    const uint8_t bad_ends[ROWS] = {PESS_END_CUTOFF + 1};
    c = good;
    c.end = bad_ends;
    refused(c, 0, 0, PESS_INPUT, "row 0 of the columns: `end` is not a pess_end");
}

static pess_names *names_of(const char *const *texts, int64_t count) {
    pess_names *names = NULL;
    pess_error error = {0};
    assert_ok(pess_names_create(texts, count, &names, &error), &error);
    return names;
}

static void names_say_how_many_there_are(void **state) {
    (void)state;
    static const char *const texts[] = {"a", "b", "c", "d"};
    pess_names *four = names_of(texts, 4), *two = names_of(texts, 2);
    pess_columns c = good;
    c.state_names = four, c.action_names = two;
    refused(c, 3, 2, PESS_ARGUMENT, "3 states are declared, but 4 are named");
    refused(c, 4, 5, PESS_ARGUMENT, "5 actions are declared, but 2 are named");
    for (int i = 0; i < 2; i++) {
        pess_dataset *data = NULL;
        pess_error error = {0};
        assert_ok(both[i](&c, i == 0 ? 0 : 4, 0, &data, &error), &error);
        assert_int_equal(pess_dataset_states(data), 4);
        assert_int_equal(pess_dataset_actions(data), 2);
        assert_string_equal(pess_names_get(pess_dataset_state_names(data), 3), "d");
        pess_dataset_destroy(data);
    }
    c.state_names = two;
    refused(c, 0, 0, PESS_INPUT, "next state 2; expected ids below 2 states");
    pess_names_destroy(four);
    pess_names_destroy(two);
}

static void columns_may_be_missing_or_empty(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        pess_dataset *data = NULL;
        pess_error error = {0};
        pess_columns c = good, found;
        c.end = NULL, c.episode = NULL, c.step = NULL, c.probability = NULL;
        assert_ok(both[i](&c, 0, 0, &data, &error), &error);
        pess_dataset_columns(data, &found);
        for (int r = 0; r < ROWS; r++) assert_int_equal(found.end[r], PESS_END_NONE);
        assert_true(found.episode == NULL && found.step == NULL && found.probability == NULL);
        pess_dataset_destroy(data);
        c = (pess_columns){.rows = 0};
        assert_ok(both[i](&c, 2, 3, &data, &error), &error);
        assert_int_equal(pess_dataset_states(data), 2);
        pess_dataset_destroy(data);
    }
}

/* A part of the log keeps the episodes of its rows, or gets those that are given. */
static void parts_have_the_rows_asked_for(void **state) {
    (void)state;
    static const int64_t row[] = {3, 1}, given[] = {40, 41};
    pess_dataset *data = NULL, *part = NULL;
    pess_error error = {0};
    assert_ok(pess_dataset_create(&good, 0, 0, &data, &error), &error);
    for (int i = 0; i < 2; i++) {
        pess_columns found;
        assert_ok(pess__dataset_take(data, row, 2, i == 0 ? NULL : given, &part, &error), &error);
        pess_dataset_columns(part, &found);
        for (int r = 0; r < 2; r++) {
            assert_int_equal(found.state[r], states[row[r]]);
            assert_int_equal(found.action[r], actions[row[r]]);
            assert_int_equal(found.next_state[r], next_states[row[r]]);
            assert_true(found.reward[r] == rewards[row[r]]);
            assert_int_equal(found.end[r], ends[row[r]]);
            assert_int_equal(found.episode[r], i == 0 ? episodes[row[r]] : given[r]);
        }
        pess_dataset_destroy(part);
    }
    pess_dataset_destroy(data);
}

static void names_are_utf8_and_each_once(void **state) {
    (void)state;
    static const char *const bad[] = {
        "\x80",     "\xC1\x81",         "\xE0\x80\x80",     "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xE2\x82", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3\x28",     NULL};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const texts[] = {"fine", bad[i]};
        pess_names *names = NULL;
        pess_error error = {0};
        assert_failure(pess_names_create(texts, 2, &names, &error), PESS_INPUT, &error, "name 1 is not UTF-8", NULL);
        assert_null(names);
    }
    static const char *const twice[] = {"a", "b", "a"};
    static const char *const fine[] = {"\xC3\xA9", "\xE2\x82\xAC", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF", ""};
    pess_names *names = NULL;
    pess_error error = {0};
    assert_failure(pess_names_create(twice, 3, &names, &error), PESS_INPUT, &error, "name 2: 'a' is name 0 already",
                   NULL);
    names = names_of(fine, 5);
    for (int i = 0; i < 5; i++) assert_int_equal(pess_names_find(names, fine[i]), i);
    assert_int_equal(pess_names_find(names, NULL), -1);
    assert_int_equal(pess_names_find(names, "absent"), -1);
    pess_names_destroy(names);
}

static void memory_that_runs_out_is_said(void **state) {
    (void)state;
    static const char *const texts[] = {"a", "b", "c"};
    int64_t failed = 0;
    for (int64_t n = 1;; n++) {
        pess_error error = {0};
        pess_names *names = NULL;
        pess_dataset *data[2] = {NULL, NULL};
        pess__memory_fail_at(n);
        pess_status status = pess_names_create(texts, 3, &names, &error);
        pess_columns c = good;
        c.state_names = names;
        for (int i = 0; i < 2; i++) {
            if (i == 1) c.end = NULL;
            if (status == PESS_OK) status = both[i](&c, 0, 0, &data[i], &error);
        }
        pess__memory_fail_at(0);
        pess_dataset_destroy(data[0]);
        pess_dataset_destroy(data[1]);
        pess_names_destroy(names);
        if (status == PESS_OK) break;
        assert_int_equal(status, PESS_MEMORY);
        assert_non_null(strstr(error.message, "not enough memory"));
        failed++;
    }
    assert_true(failed > 12); /* the eight columns, the log, and names twice */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_that_are_no_log_are_refused), cmocka_unit_test(names_say_how_many_there_are),
        cmocka_unit_test(columns_may_be_missing_or_empty),     cmocka_unit_test(parts_have_the_rows_asked_for),
        cmocka_unit_test(names_are_utf8_and_each_once),        cmocka_unit_test(memory_that_runs_out_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
