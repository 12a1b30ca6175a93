/* pess_act against brute force: every row's answer is worked out again from the policy, the log and the map. */
#include "cells_case.h"

#include "cells/map.h"

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        if ((call) != PESS_OK) fail_msg("%s: %s", #call, error.message);                                               \
    } while (0)

enum { CELLS = 6, ACTIONS = 3 };

typedef struct scene {
    ward w;
    pess_measurements *m;
    pess_map *map;
    pess_dataset *log;
    pess_counts *counts;
    pess_policy *policy;
} scene;

/* Cell 2 has no action; cell 3 one that the log never took. */
static const double table[CELLS * ACTIONS] = {0.2, 0.8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0.5, 0.5, 0, 0.1, 0.3, 0.6};

static scene scene_create(void) {
    pess_error error = {0};
    scene s = {.w = ward_create(80, 0, 11)};
    s.m = ward_measurements(&s.w);
    pess_cells_options options = pess_cells_options_defaults();
    options.cells = CELLS;
    OK(pess_map_make(s.m, NULL, &options, &s.map, &error));
    OK(pess_map_log(s.map, s.m, PESS_PART_ALL, 1, &s.log, &error));
    OK(pess_counts_create(s.log, 1, &s.counts, &error));
    OK(pess_policy_create(CELLS, ACTIONS, table, &s.policy, &error));
    return s;
}

static void scene_free(scene *s) {
    pess_policy_destroy(s->policy);
    pess_counts_destroy(s->counts);
    pess_dataset_destroy(s->log);
    pess_map_destroy(s->map);
    pess_measurements_destroy(s->m);
    ward_free(&s->w);
}

/* How often the log was in a cell, and took an action there. */
static void count(const scene *s, int64_t cell, int64_t action, int64_t *state_count, int64_t *action_count) {
    pess_columns c;
    pess_dataset_columns(s->log, &c);
    *state_count = *action_count = 0;
    for (int64_t i = 0; i < c.rows; i++) {
        *state_count += c.state[i] == cell;
        *action_count += c.state[i] == cell && c.action[i] == action;
    }
}

/* The centre of the cell in standardised units, and how far its own rows reach, from the definition. */
static double outside_of(const scene *s, int64_t cell, const double *row) {
    double far = 0, own = 0;
    for (int64_t i = -1; i < s->w.rows; i++) {
        const double *values = i < 0 ? row : s->w.values + 2 * i;
        double square = 0;
        for (int64_t f = 0; f < 2; f++) {
            pess_map_column c;
            pess_map_get_column(s->map, f, &c);
            square += pow((values[f] - c.middle) / c.scale - (double)s->map->centre[cell * 2 + f], 2);
        }
        if (i < 0) {
            own = sqrt(square);
            continue;
        }
        char name[24];
        pess_place place;
        pess_error error = {0};
        (void)snprintf(name, sizeof name, "%lld", (long long)s->w.episode[i]);
        OK(pess_map_place(s->map, values, &place, &error));
        if (place.cell == cell && pess_map_made_of(s->map, name)) far = fmax(far, sqrt(square));
    }
    return own / far;
}

static void answers_are_those_of_brute_force(void **state) {
    (void)state;
    pess_error error = {0};
    scene s = scene_create();
    pess_decider *decider = NULL;
    OK(pess_decider_create(s.policy, NULL, NULL, s.map, s.counts, NULL, &decider, &error));
    int seen[5] = {0};
    for (int64_t i = 0; i < 300; i++) {
        double row[2] = {s.w.values[2 * i], s.w.values[2 * i + 1]};
        if (i % 10 == 0) row[0] += 30;
        if (i % 50 == 7) row[1] = NAN;
        pess_decision d;
        OK(pess_act(decider, row, i, &d, &error));
        seen[d.advice]++;
        if (isnan(row[1])) {
            assert_int_equal(d.advice, PESS_ADVICE_MISSING);
            continue;
        }
        pess_place place;
        OK(pess_map_place(s.map, row, &place, &error));
        const double outside = outside_of(&s, place.cell, row);
        assert_true(fabs(d.outside - outside) <= 1e-12 * outside);
        int64_t best = 0, state_count = 0, action_count = 0;
        for (int64_t a = 1; a < ACTIONS; a++)
            if (table[place.cell * ACTIONS + a] > table[place.cell * ACTIONS + best]) best = a;
        const double probability = table[place.cell * ACTIONS + best];
        count(&s, place.cell, best, &state_count, &action_count);
        assert_int_equal(d.state, place.cell);
        assert_int_equal(d.state_count, state_count);
        assert_int_equal(d.action, probability > 0 ? best : -1);
        if (probability > 0) assert_int_equal(d.action_count, action_count);
        const pess_advice advice = outside > 1         ? PESS_ADVICE_OUTSIDE
                                   : probability == 0  ? PESS_ADVICE_NO_POLICY
                                   : action_count == 0 ? PESS_ADVICE_FEW_COUNTS
                                                       : PESS_ADVICE_POLICY;
        assert_int_equal(d.advice, advice);
    }
    for (int advice = 0; advice < 5; advice++) assert_true(seen[advice] > 0);
    pess_decider_destroy(decider);
    scene_free(&s);
}

/* Drawn actions have the frequencies of the policy: off by five standard deviations with probability 6e-7. */
static void drawn_actions_follow_the_probabilities(void **state) {
    (void)state;
    pess_error error = {0};
    scene s = scene_create();
    pess_act_options options = pess_act_options_defaults();
    options.choice = PESS_ACT_DRAW;
    pess_decider *decider = NULL;
    OK(pess_decider_create(s.policy, NULL, NULL, NULL, NULL, &options, &decider, &error));
    const int64_t draws = 20000;
    int64_t taken[ACTIONS] = {0};
    for (int64_t i = 0; i < draws; i++) {
        pess_decision d;
        OK(pess_act_state(decider, 5, i, &d, &error));
        taken[d.action]++;
    }
    for (int64_t a = 0; a < ACTIONS; a++) {
        const double p = table[5 * ACTIONS + a];
        assert_true(fabs((double)taken[a] - p * (double)draws) < 5 * sqrt(p * (1 - p) * (double)draws));
    }
    pess_decision d;
    assert_int_equal(pess_act_state(decider, CELLS, 0, &d, &error), PESS_ARGUMENT);
    assert_int_equal(pess_act(decider, s.w.values, 0, &d, &error), PESS_ARGUMENT);
    pess_decider_destroy(decider);
    scene_free(&s);
}

static char *answer(const pess_decider *decider, const char *rows) {
    pess_error error = {0};
    int64_t count_of_rows = 0;
    const char *out = scratch_path(1, ".txt");
    OK(pess_act_rows(decider, rows, out, &count_of_rows, &error));
    char *text = scratch_read(out);
    (void)remove(out);
    return text;
}

/* The file of answers says of each row what pess_act says, and at any number of threads the same bytes. */
static void files_are_answered_row_by_row(void **state) {
    (void)state;
    pess_error error = {0};
    scene s = scene_create();
    const char *rows = scratch_path(0, ".csv");
    FILE *file = fopen(rows, "wb");
    assert_non_null(file);
    (void)fprintf(file, "bed,lactate,pulse\n");
    for (int64_t i = 0; i < s.w.rows; i++)
        (void)fprintf(file, "%lld,%.17g,%.17g\n", (long long)i, s.w.values[2 * i + 1], s.w.values[2 * i]);
    (void)fclose(file);
    char *text[3];
    for (int i = 0; i < 3; i++) {
        pess_act_options options = pess_act_options_defaults();
        options.threads = i == 0 ? 1 : i == 1 ? 2 : 5;
        pess_decider *decider = NULL;
        OK(pess_decider_create(s.policy, NULL, NULL, s.map, s.counts, &options, &decider, &error));
        text[i] = answer(decider, rows);
        pess_decision *many = calloc((size_t)s.w.rows, sizeof *many);
        assert_non_null(many);
        OK(pess_act_many(decider, s.w.values, s.w.rows, many, &error));
        const char *line = strchr(text[i], '\n') + 1;
        for (int64_t row = 0; i == 0 && row < s.w.rows; row++, line = strchr(line, '\n') + 1) {
            pess_decision d;
            OK(pess_act(decider, s.w.values + 2 * row, row, &d, &error));
            long long number = 0, cell = 0;
            assert_int_equal(sscanf(line, "%lld,%lld,", &number, &cell), 2);
            assert_int_equal(number, row + 1);
            assert_int_equal(cell, d.state);
            assert_int_equal(many[row].state, d.state);
            assert_int_equal(many[row].action, d.action);
            const bool keep = strstr(line, "keep present practice") != NULL &&
                              strstr(line, "keep present practice") < strchr(line, '\n');
            assert_int_equal(keep, d.advice != PESS_ADVICE_POLICY);
        }
        free(many);
        pess_decider_destroy(decider);
    }
    assert_string_equal(text[0], text[1]);
    assert_string_equal(text[0], text[2]);
    for (int i = 0; i < 3; i++) free(text[i]);
    (void)remove(rows);
    scene_free(&s);
}

/* A policy without the log that it was made from. */
static void policies_that_cannot_be_read_alone_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"action,probability\n0,1\n", "found no column 'state'"},
        {"state,probability\n0,1\n", "found no column 'action'"},
        {"state,action\n0,1\n", "found no column 'probability'"},
        {"state,action,probability\n", "found no rows, expected a policy"},
        {"step,state,action,probability\n0,0,0,1\n", "a policy for a finite horizon"},
        {"state,action,probability\n0,0\n", ":2:1: found 2 fields"},
        {"state,action,probability\n,0,1\n", ":2:1: column 'state'"},
        {"state,action,probability\n0,\xff,1\n", ":2:3: column 'action'"},
        {"state,action,probability\n0,0,1.5\n", ":2:5: column 'probability'"},
        {"state,action,probability\n0,0,0.5\n", "sum"},
    };
    pess_error error = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pess_decider *decider = NULL;
        const char *path = scratch_write(0, cases[i].text);
        assert_failure(pess_decider_read(path, NULL, NULL, NULL, &decider, &error), PESS_INPUT, &error,
                       cases[i].sentence, NULL);
        assert_null(decider);
        scratch_remove(path);
    }
}

/* Names, numbers below 0 and numbers with large gaps are names, unless they cost next to nothing. */
static void what_is_no_small_number_is_a_name(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t states, actions;
        const char *last; /* action */
    } cases[] = {{"1,2,1\n", 2, 3, NULL},
                 {"a,2,1\n", 1, 3, NULL},
                 {"-1,x,1\n", 1, 1, "x"},
                 {"4294967295,0,1\n", 1, 1, NULL},
                 {"200000000,0,1\n5,60000,1\n", 2, 60001, NULL}};
    pess_error error = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        pess_decider *decider = NULL;
        (void)snprintf(text, sizeof text, "state,action,probability\n%s", cases[i].text);
        const char *path = scratch_write(0, text);
        assert_ok(pess_decider_read(path, NULL, NULL, NULL, &decider, &error), &error);
        assert_int_equal(pess_decider_states(decider), cases[i].states);
        assert_int_equal(pess_decider_actions(decider), cases[i].actions);
        const char *name = pess_decider_action_name(decider, cases[i].actions - 1);
        if (cases[i].last == NULL)
            assert_null(name);
        else
            assert_string_equal(name, cases[i].last);
        pess_decider_destroy(decider);
        scratch_remove(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_brute_force),
        cmocka_unit_test(drawn_actions_follow_the_probabilities),
        cmocka_unit_test(files_are_answered_row_by_row),
        cmocka_unit_test(policies_that_cannot_be_read_alone_are_refused),
        cmocka_unit_test(what_is_no_small_number_is_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
