/* Where memory runs out, whichever allocation it is, the library says so and loses nothing: each case is run again and
 * again with the first, the second, … allocation failing, until none is left to fail. */
#include "core/memory_hook.h"

#include "pess.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { ROWS = 60, MOST = 100000 };

static pess_dataset *make_data(void) {
    static uint32_t state[ROWS], action[ROWS], next_state[ROWS];
    static double reward[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        state[i] = i % 3;
        action[i] = i / 3 % 2;
        next_state[i] = (state[i] + action[i] + i % 2) % 3;
        reward[i] = (double)(i % 4) / 4;
    }
    const pess_columns columns = {
        .rows = ROWS, .state = state, .action = action, .next_state = next_state, .reward = reward};
    pess_dataset *data = NULL;
    assert_int_equal(pess_dataset_create(&columns, 3, 2, &data, NULL), PESS_OK);
    return data;
}

static pess_status solve(const pess_dataset *data, pess_error *error) {
    pess_counts *counts = NULL;
    pess_model *model = NULL;
    pess_solution *solution = NULL;
    double start[3] = {0};
    pess_status status = pess_counts_create(data, 1, &counts, error);
    if (status == PESS_OK) status = pess_model_estimate(counts, NULL, &model, error);
    if (status == PESS_OK) status = pess_start_uniform(model, start, error);
    if (status == PESS_OK) status = pess_solve(counts, model, start, NULL, &solution, error);
    pess_solution_destroy(solution);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    return status;
}

static pess_status certify(const pess_dataset *data, pess_error *error) {
    pess_certify_options options = pess_certify_options_defaults();
    options.gamma = 0.9;
    static const double start[3] = {1, 0, 0};
    options.start = start;
    options.reward_range[0] = 0;
    options.reward_range[1] = 1;
    pess_certificate *certificate = NULL;
    const pess_status status = pess_certify(data, &options, &certificate, error);
    pess_certificate_destroy(certificate);
    return status;
}

static int64_t failures_until_success(pess_status (*run)(const pess_dataset *, pess_error *)) {
    pess_dataset *data = make_data();
    int64_t n = 1;
    for (; n < MOST; n++) {
        pess_error error = {0};
        pess__memory_fail_at(n);
        const pess_status status = run(data, &error);
        pess__memory_fail_at(0);
        if (status == PESS_OK) break;
        if (status != PESS_MEMORY) fail_msg("allocation %lld: %s", (long long)n, error.message);
        assert_int_equal(error.status, PESS_MEMORY);
        assert_true(error.message[0] != '\0');
    }
    pess_dataset_destroy(data);
    return n - 1;
}

static void counting_and_solving_say_that_memory_ran_out(void **state) {
    (void)state;
    assert_true(failures_until_success(solve) > 10);
}

static void certifying_says_that_memory_ran_out(void **state) {
    (void)state;
    assert_true(failures_until_success(certify) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_and_solving_say_that_memory_ran_out),
        cmocka_unit_test(certifying_says_that_memory_ran_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
