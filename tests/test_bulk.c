/* Logs and results without a call per element: columns and bytes from memory, names, counts, models and q as arrays. */
#include "logs.h"

#include <math.h>

static void assert_same_counts(const pess_counts *a, const pess_counts *b) {
    pess_counts_arrays x, y;
    pess_counts_get_arrays(a, &x);
    pess_counts_get_arrays(b, &y);
    const size_t pairs = (size_t)(x.states * x.actions), successors = (size_t)x.successors;
    assert_true(x.states == y.states && x.actions == y.actions && x.successors == y.successors);
    assert_memory_equal(x.pair, y.pair, pairs * sizeof *x.pair);
    assert_memory_equal(x.state, y.state, (size_t)x.states * sizeof *x.state);
    assert_memory_equal(x.terminal, y.terminal, pairs * sizeof *x.terminal);
    assert_memory_equal(x.reward_sum, y.reward_sum, pairs * sizeof *x.reward_sum);
    assert_memory_equal(&x.reward_origin, &y.reward_origin, sizeof x.reward_origin);
    assert_memory_equal(x.reward_offset, y.reward_offset, pairs * sizeof *x.reward_offset);
    assert_memory_equal(x.reward_square, y.reward_square, pairs * sizeof *x.reward_square);
    assert_memory_equal(x.row, y.row, (pairs + 1) * sizeof *x.row);
    assert_memory_equal(x.next, y.next, successors * sizeof *x.next);
    assert_memory_equal(x.next_count, y.next_count, successors * sizeof *x.next_count);
    assert_memory_equal(x.next_offset, y.next_offset, successors * sizeof *x.next_offset);
    assert_true((x.starts == NULL) == (y.starts == NULL));
    if (x.starts != NULL) assert_memory_equal(x.starts, y.starts, (size_t)x.states * sizeof *x.starts);
}

static void counts_from_columns_and_from_bytes_are_those_of_the_log(void **state) {
    (void)state;
    pess_error error = {0};
    for (int kinds = 0; kinds < 4; kinds++) {
        pess_dataset *data =
            logs_random(70000, 40, 3, (kinds & 1 ? LOGS_EPISODES : 0) | (kinds & 2 ? LOGS_ENDS : 0), 5);
        pess_columns columns;
        pess_dataset_columns(data, &columns);
        pess_counts *copied = NULL, *straight = NULL, *read = NULL;
        pess_read_options options = pess_read_options_defaults();
        options.states = 40;
        options.actions = 3;
        assert_int_equal(pess_counts_create(data, 2, &copied, &error), PESS_OK);
        if (!(kinds & 2)) columns.end = NULL; /* the same as a column of zeros */
        assert_int_equal(pess_counts_from_columns(&columns, &options, &straight, &error), PESS_OK);
        assert_same_counts(copied, straight);
        logs_write(data, logs_path("bulk.csv"));
        size_t length = 0;
        char *bytes = logs_bytes(logs_path("bulk.csv"), &length);
        assert_int_equal(pess_counts_read_memory("bytes", bytes, length, &options, &read, &error), PESS_OK);
        assert_same_counts(copied, read);
        pess_dataset *again = NULL;
        assert_int_equal(pess_dataset_read_memory("bytes", bytes, length, NULL, &again, &error), PESS_OK);
        pess_columns second;
        pess_dataset_columns(again, &second);
        assert_int_equal(second.rows, columns.rows);
        assert_memory_equal(second.reward, columns.reward, (size_t)columns.rows * sizeof(double));
        assert_int_equal(pess_counts_read_memory("bytes", "state,action\n", 13, NULL, &read, &error), PESS_INPUT);
        assert_non_null(strstr(error.message, "bytes"));
        free(bytes);
        pess_dataset_destroy(again);
        pess_dataset_destroy(data);
        pess_counts_destroy(copied);
        pess_counts_destroy(straight);
        pess_counts_destroy(read);
    }
}

static void columns_keep_their_names(void **state) {
    (void)state;
    pess_error error = {0};
    static const char *const state_texts[] = {"hall", "kitchen", "garden"}, *const twice[] = {"a", "a"},
                             *const broken[] = {"\xff"};
    static const uint32_t states[] = {0, 1}, actions[] = {0, 0}, next[] = {1, 0};
    static const double rewards[] = {1, 2};
    pess_names *names = NULL, *none = NULL;
    assert_int_equal(pess_names_create(state_texts, 3, &names, &error), PESS_OK);
    assert_int_equal(pess_names_create(twice, 2, &none, &error), PESS_INPUT);
    assert_int_equal(pess_names_create(broken, 1, &none, &error), PESS_INPUT);
    assert_null(none);
    pess_columns columns = {
        .rows = 2, .state = states, .action = actions, .next_state = next, .reward = rewards, .state_names = names};
    pess_dataset *data = NULL;
    pess_counts *counts = NULL;
    assert_int_equal(pess_dataset_create(&columns, 0, 0, &data, &error), PESS_OK);
    assert_int_equal(pess_dataset_states(data), 3); /* the garden is named, though nobody was there */
    assert_string_equal(pess_names_get(pess_dataset_state_names(data), 1), "kitchen");
    assert_int_equal(pess_counts_from_columns(&columns, NULL, &counts, &error), PESS_OK);
    assert_int_equal(pess_names_find(pess_counts_state_names(counts), "garden"), 2);
    pess_dataset *other = NULL;
    assert_int_equal(pess_dataset_create(&columns, 2, 0, &other, &error), PESS_ARGUMENT);
    static const uint32_t beyond[] = {1, 3};
    columns.next_state = beyond;
    assert_int_equal(pess_dataset_create(&columns, 0, 0, &other, &error), PESS_INPUT);
    assert_null(other);
    pess_names_destroy(names);
    pess_names_destroy(NULL);
    pess_dataset_destroy(data);
    pess_counts_destroy(counts);
}

/* q from the arrays of the model, entry by entry, is what the library says. */
static void models_and_q_as_arrays(void **state) {
    (void)state;
    pess_error error = {0};
    pess_dataset *data = logs_random(300, 20, 4, LOGS_ENDS, 3);
    pess_counts *counts = NULL;
    assert_int_equal(pess_counts_create(data, 1, &counts, &error), PESS_OK);
    for (int unseen = 0; unseen < 3; unseen++) {
        pess_model_options options = pess_model_options_defaults();
        options.unseen = (pess_unseen)unseen;
        pess_problem *problem = NULL;
        pess_solution *solution = NULL;
        assert_int_equal(pess_problem_create(counts, &options, "uniform", &problem, &error), PESS_OK);
        const pess_model *model = pess_problem_model(problem);
        assert_int_equal(pess_solve(counts, model, pess_problem_start(problem), NULL, &solution, &error), PESS_OK);
        const double *v = pess_solution_values(solution);
        double q[80], mean = 0, lo = 0, hi = 0;
        assert_int_equal(pess_q_values(model, 0.99, v, q, &error), PESS_OK);
        pess_model_reward_range(model, &lo, &hi);
        for (int s = 0; s < 20; s++) mean += v[s] / 20;
        pess_model_arrays m;
        pess_model_get_arrays(model, &m);
        assert_true(m.states == 20 && m.actions == 4 && m.successors == m.row[80]);
        for (int z = 0; z < 80; z++) {
            double next = m.kind[z] == PESS_ROW_UNIFORM ? mean : m.kind[z] == PESS_ROW_SINK ? fmin(lo / 0.01, 0) : 0;
            double mass = m.end[z];
            for (int64_t k = m.row[z]; k < m.row[z + 1]; k++) {
                next += m.probability[k] * v[m.next[k]];
                mass += m.probability[k];
            }
            if (m.kind[z] == PESS_ROW_NONE) {
                assert_true(isinf(q[z]) && q[z] < 0 && m.terminal[z / 4]);
                continue;
            }
            if (m.kind[z] == PESS_ROW_SPARSE) assert_true(fabs(mass - 1) < 1e-12);
            assert_true(m.reward[z] == pess_model_reward(model, z / 4, z % 4));
            if (fabs(q[z] - (m.reward[z] + 0.99 * next)) > 1e-9) fail_msg("pair %d: %g", z, q[z]);
        }
        const double *pi = pess_policy_probabilities(pess_solution_policy(solution));
        for (int s = 0; s < 20; s++) assert_ptr_equal(pi + 4 * s, pess_policy_row(pess_solution_policy(solution), s));
        assert_int_equal(pess_q_values(model, 2, v, q, &error), PESS_ARGUMENT);
        pess_solution_destroy(solution);
        pess_problem_destroy(problem);
    }
    pess_counts_destroy(counts);
    pess_dataset_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_from_columns_and_from_bytes_are_those_of_the_log),
                                       cmocka_unit_test(columns_keep_their_names),
                                       cmocka_unit_test(models_and_q_as_arrays)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
