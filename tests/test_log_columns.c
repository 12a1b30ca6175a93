/* Columns of a log whose values cannot be, from NumPy arrays: each is refused, and the message names column and row. */
#include "arrays_file.h"

#include <math.h>

static pess_error error;
enum { ROWS = 3, COLUMNS = 6 };

/* A log of three rows with one value per column. */
typedef struct values {
    double state, action, reward, next_state, terminal, probability;
} values;

static const values good = {1, 1, 0.5, 1, 0, 0.25};

static pess_status read_log(const values *v, const pess_read_options *options) {
    const array arrays[COLUMNS] = {
        {"state", 1, {ROWS}, v->state, NULL},       {"action", 1, {ROWS}, v->action, NULL},
        {"reward", 1, {ROWS}, v->reward, NULL},     {"next_state", 1, {ROWS}, v->next_state, NULL},
        {"terminal", 1, {ROWS}, v->terminal, NULL}, {"probability", 1, {ROWS}, v->probability, NULL}};
    pess_dataset *data = NULL;
    const char *path = arrays_file(arrays, COLUMNS);
    const pess_status status = pess_dataset_read(path, options, &data, &error);
    pess_dataset_destroy(data);
    scratch_remove(path);
    return status;
}

static void values_that_cannot_be_are_refused(void **unused) {
    (void)unused;
    static const struct {
        values log;
        const char *sentence;
    } cases[] = {
        {{-1, 1, 0, 1, 0, 0.5}, "'state'"},
        {{1, PESS_MAX_ACTIONS, 0, 1, 0, 0.5}, "'action', row 0: found"},
        {{1, 1, NAN, 1, 0, 0.5}, "'reward', row 0: found NaN"},
        {{1, 1, INFINITY, 1, 0, 0.5}, "'reward', row 0: found an infinity"},
        {{1, 1, 0, 0.5, 0, 0.5}, "'next_state'"},
        {{1, 1, 0, 1, 2, 0.5}, "'terminal'"},
        {{1, 1, 0, 1, 0, -0.5}, "'probability', row 0"},
        {{1, 1, 0, 1, 0, 1.5}, "'probability', row 0"},
        {{1, 1, 0, 1, 0, NAN}, "'probability', row 0"},
    };
    assert_ok(read_log(&good, NULL), &error);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_failure(read_log(&cases[i].log, NULL), PESS_INPUT, &error, cases[i].sentence, NULL);
}

/* Ids are below what was declared. */
static void ids_beyond_what_is_declared_are_refused(void **unused) {
    (void)unused;
    static const values logs[] = {{3, 1, 0, 1, 0, 0.5}, {1, 1, 0, 3, 0, 0.5}, {1, 2, 0, 1, 0, 0.5}};
    static const char *const sentences[] = {"'state', row 0: found 3, expected an integer from 0 to 2",
                                            "'next_state', row 0: found 3, expected an integer from 0 to 2",
                                            "'action', row 0: found 2, expected an integer from 0 to 1"};
    pess_read_options options = pess_read_options_defaults();
    options.states = 3;
    options.actions = 2;
    assert_ok(read_log(&good, &options), &error);
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        assert_failure(read_log(&logs[i], &options), PESS_INPUT, &error, sentences[i], NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_cannot_be_are_refused),
        cmocka_unit_test(ids_beyond_what_is_declared_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
