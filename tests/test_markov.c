/* The test of the Markov property: worked out again row by row, its false alarms counted, and a hidden variable found.
 */
#include "cells_case.h"

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        if ((call) != PESS_OK) fail_msg("%s: %s", #call, error.message);                                               \
    } while (0)

typedef struct parts {
    pess_dataset *making, *held_out;
} parts;

static parts parts_of(int64_t episodes, double memory, uint64_t seed) {
    pess_error error = {0};
    parts out = {0};
    ward w = ward_create(episodes, memory, seed);
    pess_measurements *m = ward_measurements(&w);
    pess_cells_options options = pess_cells_options_defaults();
    options.cells = WARD_CONDITIONS;
    options.threads = 1;
    pess_map *map = NULL;
    OK(pess_map_make(m, NULL, &options, &map, &error));
    OK(pess_map_log(map, m, PESS_PART_MAKING, 1, &out.making, &error));
    OK(pess_map_log(map, m, PESS_PART_HELD_OUT, 1, &out.held_out, &error));
    pess_map_destroy(map);
    pess_measurements_destroy(m);
    ward_free(&w);
    return out;
}

static void parts_free(parts *p) {
    pess_dataset_destroy(p->making);
    pess_dataset_destroy(p->held_out);
}

/* ---- the same by counting all rows again for each forecast */

typedef struct step {
    int before, pair, follows;
} step;

static int64_t steps_of(const pess_dataset *log, bool reward, step *out) {
    pess_columns c;
    pess_dataset_columns(log, &c);
    for (int64_t i = 0; i < c.rows; i++) {
        const bool first = i == 0 || c.episode[i] != c.episode[i - 1];
        out[i].before = first ? WARD_CONDITIONS : (int)c.state[i - 1];
        out[i].pair = (int)(2 * c.state[i] + c.action[i]);
        out[i].follows = c.end[i] == PESS_END_TERMINAL ? WARD_CONDITIONS : (int)c.next_state[i];
        if (reward) out[i].follows = c.reward[i] > 0;
    }
    return c.rows;
}

/* How many of the first n steps agree with s; -1 stands for anything. */
static double matching(const step *steps, int64_t n, int before, int pair, int follows) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += (before < 0 || steps[i].before == before) && (pair < 0 || steps[i].pair == pair) &&
                 (follows < 0 || steps[i].follows == follows);
    return (double)count;
}

static double plain_log_evidence(const parts *p, bool reward, double *bits_one) {
    const double alphabet = reward ? 2 : WARD_CONDITIONS + 1, betas[] = {1, 8, 64};
    pess_columns c;
    pess_dataset_columns(p->making, &c);
    int64_t n = c.rows;
    pess_dataset_columns(p->held_out, &c);
    step *steps = calloc((size_t)(n + c.rows), sizeof *steps);
    assert_non_null(steps);
    (void)steps_of(p->making, reward, steps);
    (void)steps_of(p->held_out, reward, steps + n);
    double one = 0, two[3] = {0}, most = 0, mean = 0;
    for (int64_t i = n; i < n + c.rows; i++) {
        const step *s = &steps[i];
        const double q0 = (matching(steps, i, -1, -1, s->follows) + 0.5) / ((double)i + alphabet / 2);
        const double q1 =
            (matching(steps, i, -1, s->pair, s->follows) + q0) / (matching(steps, i, -1, s->pair, -1) + 1);
        one += log(q1);
        for (int b = 0; b < 3; b++)
            two[b] += log((matching(steps, i, s->before, s->pair, s->follows) + betas[b] * q1) /
                          (matching(steps, i, s->before, s->pair, -1) + betas[b]));
        most +=
            log(matching(steps + n, c.rows, -1, s->pair, s->follows) / matching(steps + n, c.rows, -1, s->pair, -1));
    }
    for (int b = 0; b < 3; b++) mean += exp(two[b] - two[1]) / 3;
    *bits_one = -one / ((double)c.rows * log(2));
    free(steps);
    return two[1] + log(mean) - most;
}

static void evidence_is_that_of_its_definition(void **state) {
    (void)state;
    for (int memory = 0; memory < 2; memory++) {
        pess_error error = {0};
        parts p = parts_of(40, 0.4 * memory, 5);
        pess_markov m;
        OK(pess_markov_test(p.making, p.held_out, NULL, &m, &error));
        double bits_next = 0, bits_reward = 0;
        const double next = plain_log_evidence(&p, false, &bits_next);
        const double reward = plain_log_evidence(&p, true, &bits_reward);
        assert_true(fabs(m.next.log_evidence - next) < 1e-8 && fabs(m.next.bits_one - bits_next) < 1e-10);
        assert_true(fabs(m.reward.log_evidence - reward) < 1e-8 && fabs(m.reward.bits_one - bits_reward) < 1e-10);
        assert_true(fabs(m.log_evidence - log((exp(next) + exp(reward)) / 2)) < 1e-8);
        parts_free(&p);
    }
}

/* A Markov process is flagged with probability 0.2 at most: more than 69 of 200 times with probability below 1e-6. */
static void markov_cells_are_rarely_flagged(void **state) {
    (void)state;
    pess_markov_options options = pess_markov_options_defaults();
    options.error_probability = 0.2;
    int flagged = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        pess_error error = {0};
        parts p = parts_of(30, 0, 100 + seed);
        pess_markov m;
        OK(pess_markov_test(p.making, p.held_out, &options, &m, &error));
        flagged += m.flagged;
        parts_free(&p);
    }
    assert_true(flagged <= 69);
}

static void a_process_with_memory_is_flagged(void **state) {
    (void)state;
    pess_error error = {0};
    pess_markov_options options = pess_markov_options_defaults();
    options.error_probability = 1e-6;
    parts p = parts_of(400, 0.4, 3);
    pess_markov m;
    OK(pess_markov_test(p.making, p.held_out, &options, &m, &error));
    assert_true(m.flagged);
    assert_true(m.next.bits_two < m.next.bits_one);
    parts_free(&p);
    p = parts_of(400, 0, 3);
    OK(pess_markov_test(p.making, p.held_out, &options, &m, &error));
    assert_false(m.flagged);
    parts_free(&p);
}

/* The first trial is what the map's own log of the episodes held out comes to. */
static void assert_values_of(const pess_map *map, const pess_measurements *m, const pess_solve_options *options,
                             const pess_cells_trial *trial) {
    pess_error error = {0};
    pess_dataset *log = NULL;
    pess_counts *counts = NULL;
    pess_problem *problem = NULL;
    pess_solution *solution = NULL;
    pess_solution_info info;
    OK(pess_map_log(map, m, PESS_PART_HELD_OUT, 1, &log, &error));
    OK(pess_counts_create(log, 1, &counts, &error));
    OK(pess_problem_create(counts, NULL, NULL, &problem, &error));
    OK(pess_solve(counts, pess_problem_model(problem), pess_problem_start(problem), options, &solution, &error));
    pess_solution_get_info(solution, &info);
    assert_true(fabs(trial->value - info.value) <= 1e-9 && fabs(trial->naive_value - info.naive_value) <= 1e-9);
    pess_solution_destroy(solution);
    pess_problem_destroy(problem);
    pess_counts_destroy(counts);
    pess_dataset_destroy(log);
}

/* Maps of the same conditions give the same policy, whatever their start; half as many cells need not. */
static void trials_tell_how_much_the_answer_depends_on_the_cells(void **state) {
    (void)state;
    pess_error error = {0};
    ward w = ward_create(200, 0, 8);
    pess_measurements *m = ward_measurements(&w);
    pess_cells_options cells = pess_cells_options_defaults();
    cells.cells = WARD_CONDITIONS;
    pess_map *map = NULL;
    OK(pess_map_make(m, NULL, &cells, &map, &error));
    pess_solve_options solve = pess_solve_options_defaults();
    solve.gamma = 0.9;
    pess_cells_trial trials[PESS_CELLS_SIZES * 3];
    int64_t count = 0;
    OK(pess_cells_trials(map, m, &cells, &solve, NULL, trials, &count, &error));
    assert_int_equal(count, 9);
    assert_values_of(map, m, &solve, &trials[0]);
    for (int64_t i = 0; i < count; i++) {
        assert_true(trials[i].agreement >= 0 && trials[i].agreement <= 1);
        assert_int_equal(trials[i].cells, i < 3 ? 4 : i < 6 ? 2 : 8);
        if (i < 3) assert_true(trials[i].agreement == 1 && fabs(trials[i].value - trials[0].value) < 1e-6);
    }
    pess_map_destroy(map);
    pess_measurements_destroy(m);
    ward_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_is_that_of_its_definition),
        cmocka_unit_test(markov_cells_are_rarely_flagged),
        cmocka_unit_test(a_process_with_memory_is_flagged),
        cmocka_unit_test(trials_tell_how_much_the_answer_depends_on_the_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
