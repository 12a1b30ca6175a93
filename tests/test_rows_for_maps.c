/* Rows that a map is not made for, values that it has no rule for, and what it says of cells with missing values. */
#include "cells_case.h"

static pess_error error;
enum { MANY = 3000 }; /* more than one batch */

static pess_map *map_of(const ward *w, pess_cells_method method, const char *missing) {
    pess_cells_options options = pess_cells_options_defaults();
    pess_measurements *m = ward_measurements(w);
    pess_map *map = NULL;
    options.method = method;
    options.cells = WARD_CONDITIONS;
    options.missing = missing;
    assert_ok(pess_map_make(m, NULL, &options, &map, &error), &error);
    pess_measurements_destroy(m);
    return map;
}

static pess_measurements *rows_of(const double *values, int64_t rows, const char *const *names, int64_t features) {
    pess_measurements *m = NULL;
    const pess_measurement_columns columns = {.rows = rows, .features = features, .names = names, .values = values};
    assert_ok(pess_measurements_create(&columns, &m, &error), &error);
    return m;
}

static void other_columns_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *names[3];
        int64_t features;
        const char *sentence;
    } cases[] = {{{"pulse"}, 1, "found 'nothing' in place 2, expected 'lactate'"},
                 {{"lactate", "pulse"}, 2, "found 'lactate' in place 1, expected 'pulse'"},
                 {{"pulse", "lactate", "age"}, 3, "the map is made for 2 columns, found 3"}};
    const double values[] = {60, 1, 40};
    ward w = ward_create(40, 0, 1);
    pess_map *map = map_of(&w, PESS_CELLS_KMEANS, NULL);
    uint32_t cell = 99;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pess_measurements *m = rows_of(values, 1, cases[i].names, cases[i].features);
        assert_failure(pess_map_apply(map, m, 1, &cell, NULL, &error), PESS_ARGUMENT, &error, cases[i].sentence, NULL);
        assert_int_equal(cell, 99);
        pess_measurements_destroy(m);
    }
    pess_map_destroy(map);
    ward_free(&w);
}

static void values_without_a_place_are_refused(void **state) {
    (void)state;
    ward w = ward_create(40, 0, 1);
    pess_map *map = map_of(&w, PESS_CELLS_KMEANS, NULL);
    pess_place place;
    const double endless[] = {60, -INFINITY}, nothing[] = {NAN, 1};
    assert_failure(pess_map_place(map, endless, &place, &error), PESS_INPUT, &error, "found -inf for 'lactate'", NULL);
    assert_failure(pess_map_place(map, nothing, &place, &error), PESS_INPUT, &error, "no value for 'pulse'", NULL);
    pess_map_destroy(map);
    ward_free(&w);
}

/* Of many rows the first one is named, with any number of threads. */
static void the_first_row_without_a_value_is_named(void **state) {
    (void)state;
    static const char *const names[] = {"pulse", "lactate"};
    static double values[2 * MANY];
    static uint32_t cells[MANY];
    ward w = ward_create(40, 0, 1);
    pess_map *map = map_of(&w, PESS_CELLS_KMEANS, "pulse=median");
    for (int i = 0; i < 2 * MANY; i++) values[i] = w.values[i % (2 * w.rows)];
    values[2 * 5] = NAN; /* for which there is a rule */
    values[2 * 2800 + 1] = values[2 * 1700 + 1] = NAN;
    pess_measurements *m = rows_of(values, MANY, names, 2);
    for (int threads = 1; threads <= 2; threads++)
        assert_failure(pess_map_apply(map, m, threads, cells, NULL, &error), PESS_INPUT, &error,
                       "row 1701: found no value for 'lactate'", NULL);
    pess_measurements_destroy(m);
    pess_map_destroy(map);
    ward_free(&w);
}

/* Whether a value is missing decides on the cell: the map says so in words. */
static void cells_of_missing_values_are_described(void **state) {
    (void)state;
    ward w = ward_create(60, 0, 1);
    for (int64_t i = 0; i < w.rows; i++)
        if (w.condition[i] == 0) w.values[2 * i + 1] = NAN;
    pess_map *map = map_of(&w, PESS_CELLS_TREE, "lactate=flag");
    pess_map_info info;
    pess_map_get_info(map, &info);
    int missing = 0, there = 0;
    for (int64_t cell = 0; cell < info.cells; cell++) {
        char text[300];
        pess_map_describe(map, cell, text, sizeof text);
        missing += strstr(text, "lactate is missing") != NULL;
        there += strstr(text, "lactate is there") != NULL;
    }
    assert_true(missing > 0 && there > 0);
    pess_map_destroy(map);
    ward_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_columns_are_refused),
        cmocka_unit_test(values_without_a_place_are_refused),
        cmocka_unit_test(the_first_row_without_a_value_is_named),
        cmocka_unit_test(cells_of_missing_values_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
