/* Maps: a process with known cells is found again, files keep every byte, and what is not possible is refused. */
#include "cells_case.h"

#include "cells/map.h"

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        if ((call) != PESS_OK) fail_msg("%s: %s", #call, error.message);                                               \
    } while (0)

static pess_map *make(const pess_measurements *m, pess_cells_method method, int64_t cells, int threads) {
    pess_error error = {0};
    pess_cells_options options = pess_cells_options_defaults();
    options.method = method;
    options.cells = cells;
    options.threads = threads;
    pess_map *map = NULL;
    OK(pess_map_make(m, "ward", &options, &map, &error));
    return map;
}

/* Are the cells the conditions, each cell within one of them? */
static void known_cells_are_found_by_every_method(void **state) {
    (void)state;
    pess_error error = {0};
    ward w = ward_create(200, 0, 1);
    pess_measurements *m = ward_measurements(&w);
    uint32_t *cell = calloc((size_t)w.rows, sizeof *cell);
    assert_non_null(cell);
    for (int method = PESS_CELLS_KMEANS; method <= PESS_CELLS_TREE; method++) {
        const int64_t cells = method == PESS_CELLS_BINS ? 16 : WARD_CONDITIONS;
        pess_map *map = make(m, (pess_cells_method)method, cells, 2);
        OK(pess_map_apply(map, m, 2, cell, NULL, &error));
        int32_t condition[16];
        for (int i = 0; i < 16; i++) condition[i] = -1;
        int64_t strangers = 0;
        for (int64_t i = 0; i < w.rows; i++) {
            if (condition[cell[i]] < 0) condition[cell[i]] = w.condition[i];
            strangers += condition[cell[i]] != w.condition[i];
        }
        /* Quantile edges fall where the counts say; they cut off a few per cent of a condition. */
        assert_true(strangers <= (method == PESS_CELLS_KMEANS ? 0 : w.rows / 10));
        pess_map_destroy(map);
    }
    free(cell);
    pess_measurements_destroy(m);
    ward_free(&w);
}

static void maps_are_the_same_bytes_at_any_number_of_threads(void **state) {
    (void)state;
    pess_error error = {0};
    ward w = ward_create(300, 0, 2);
    pess_measurements *m = ward_measurements(&w);
    for (int method = PESS_CELLS_KMEANS; method <= PESS_CELLS_TREE; method++) {
        char *bytes[3];
        const int threads[] = {1, 2, 5};
        for (int i = 0; i < 3; i++) {
            pess_map *map = make(m, (pess_cells_method)method, 12, threads[i]);
            OK(pess_map_write(map, scratch_path(i, ".pessmap"), &error));
            bytes[i] = scratch_read(scratch_path(i, ".pessmap"));
            pess_map_destroy(map);
        }
        FILE *file = fopen(scratch_path(0, ".pessmap"), "rb");
        assert_non_null(file);
        (void)fseek(file, 0, SEEK_END);
        const size_t size = (size_t)ftell(file);
        (void)fclose(file);
        assert_memory_equal(bytes[0], bytes[1], size);
        assert_memory_equal(bytes[0], bytes[2], size);
        for (int i = 0; i < 3; i++) {
            free(bytes[i]);
            (void)remove(scratch_path(i, ".pessmap"));
        }
    }
    pess_measurements_destroy(m);
    ward_free(&w);
}

static void a_map_that_was_written_is_the_same_map(void **state) {
    (void)state;
    pess_error error = {0};
    ward w = ward_create(100, 0, 3);
    pess_measurements *m = ward_measurements(&w);
    for (int method = PESS_CELLS_KMEANS; method <= PESS_CELLS_TREE; method++) {
        pess_map *map = make(m, (pess_cells_method)method, 9, 1), *again = NULL;
        const char *path = scratch_path(0, ".pessmap");
        OK(pess_map_write(map, path, &error));
        OK(pess_map_read(path, &again, &error));
        assert_string_equal(pess_map_features(map), pess_map_features(again));
        for (int64_t i = 0; i < 200; i++) {
            pess_place a, b;
            OK(pess_map_place(map, w.values + 2 * i, &a, &error));
            OK(pess_map_place(again, w.values + 2 * i, &b, &error));
            assert_true(a.cell == b.cell && a.distance == b.distance && a.outside == b.outside && a.rows == b.rows);
        }
        for (int64_t c = 0; c < map->cells; c++) {
            char a[200], b[200];
            pess_map_describe(map, c, a, sizeof a);
            pess_map_describe(again, c, b, sizeof b);
            assert_string_equal(a, b);
        }
        (void)remove(path);
        pess_map_destroy(map);
        pess_map_destroy(again);
    }
    pess_measurements_destroy(m);
    ward_free(&w);
}

static void one_row_at_a_time_is_all_rows_at_once(void **state) {
    (void)state;
    pess_error error = {0};
    ward w = ward_create(150, 0, 4);
    pess_measurements *m = ward_measurements(&w);
    uint32_t *cell = calloc((size_t)w.rows, sizeof *cell);
    pess_place *place = calloc((size_t)w.rows, sizeof *place);
    assert_true(cell && place);
    for (int method = PESS_CELLS_KMEANS; method <= PESS_CELLS_TREE; method++) {
        pess_map *map = make(m, (pess_cells_method)method, 30, 1);
        OK(pess_map_apply(map, m, 3, cell, place, &error));
        for (int64_t i = 0; i < w.rows; i++) {
            pess_place one;
            OK(pess_map_place(map, w.values + 2 * i, &one, &error));
            assert_int_equal(one.cell, cell[i]);
            assert_true(one.distance == place[i].distance && one.outside == place[i].outside);
        }
        pess_map_destroy(map);
    }
    free(cell);
    free(place);
    pess_measurements_destroy(m);
    ward_free(&w);
}

/* Rows that made the cells reach exactly to 1; one that lies far off is far above it, in every method. */
static void what_was_never_seen_lies_outside(void **state) {
    (void)state;
    pess_error error = {0};
    ward w = ward_create(100, 0, 5);
    pess_measurements *m = ward_measurements(&w);
    for (int method = PESS_CELLS_KMEANS; method <= PESS_CELLS_TREE; method++) {
        pess_map *map = make(m, (pess_cells_method)method, 4, 1);
        double most = 0;
        for (int64_t i = 0; i < w.rows; i++) {
            char name[24];
            (void)snprintf(name, sizeof name, "%lld", (long long)w.episode[i]);
            if (!pess_map_made_of(map, name)) continue;
            pess_place place;
            OK(pess_map_place(map, w.values + 2 * i, &place, &error));
            most = fmax(most, place.outside);
        }
        assert_true(most == 1);
        pess_place far;
        OK(pess_map_place(map, (const double[]){500, 40}, &far, &error));
        assert_true(far.outside > 3);
        pess_map_destroy(map);
    }
    pess_measurements_destroy(m);
    ward_free(&w);
}

/* Only the episodes that the rule names are looked at: others may hold anything. */
static void held_out_episodes_do_not_change_the_map(void **state) {
    (void)state;
    pess_error error = {0};
    ward w = ward_create(100, 0, 6);
    pess_measurements *m = ward_measurements(&w);
    pess_map *map = make(m, PESS_CELLS_KMEANS, 8, 1);
    for (int64_t i = 0; i < w.rows; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "%lld", (long long)w.episode[i]);
        if (!pess_map_made_of(map, name)) w.values[2 * i] = 1e6;
    }
    pess_measurements *changed = ward_measurements(&w);
    pess_map *other = make(changed, PESS_CELLS_KMEANS, 8, 1);
    assert_memory_equal(map->centre, other->centre, (size_t)(8 * map->coordinates) * sizeof *map->centre);
    pess_dataset *making = NULL, *held_out = NULL, *all = NULL;
    OK(pess_map_log(map, m, PESS_PART_MAKING, 1, &making, &error));
    OK(pess_map_log(map, m, PESS_PART_HELD_OUT, 1, &held_out, &error));
    OK(pess_map_log(map, m, PESS_PART_ALL, 1, &all, &error));
    pess_columns a, b, c;
    pess_dataset_columns(making, &a);
    pess_dataset_columns(held_out, &b);
    pess_dataset_columns(all, &c);
    assert_true(a.rows > 0 && b.rows > 0);
    assert_int_equal(a.rows + b.rows, c.rows);
    assert_true(a.origin.cells && b.origin.cells && a.origin.cells_made_of == map->episodes);
    assert_int_equal(a.origin.episodes_shared, map->episodes);
    assert_int_equal(b.origin.episodes_shared, 0);
    assert_int_equal(c.origin.episodes_shared, map->episodes);
    pess_dataset_destroy(making);
    pess_dataset_destroy(held_out);
    pess_dataset_destroy(all);
    pess_map_destroy(map);
    pess_map_destroy(other);
    pess_measurements_destroy(m);
    pess_measurements_destroy(changed);
    ward_free(&w);
}

/* Three rows of one episode, out of order: the log follows the steps; the last row has no next one. */
static void a_log_of_cells_follows_the_steps_of_its_episodes(void **state) {
    (void)state;
    pess_error error = {0};
    static const char *const names[] = {"x"};
    const double values[] = {2, 0, 1, 0, 2};
    const int64_t episode[] = {7, 7, 7, 8, 8}, step[] = {2, 0, 1, 0, 1};
    const uint32_t action[] = {0, 1, 1, 0, 1};
    const double reward[] = {5, 3, 4, 1, 2};
    const uint8_t end[] = {PESS_END_CUTOFF, 0, 0, 0, PESS_END_TERMINAL};
    const pess_measurement_columns columns = {5, 1, names, values, action, reward, end, episode, step};
    pess_measurements *m = NULL;
    OK(pess_measurements_create(&columns, &m, &error));
    pess_cells_options options = pess_cells_options_defaults();
    options.cells = 3;
    options.share = 1;
    options.method = PESS_CELLS_BINS;
    pess_map *map = NULL;
    OK(pess_map_make(m, NULL, &options, &map, &error));
    pess_dataset *log = NULL;
    OK(pess_map_log(map, m, PESS_PART_ALL, 1, &log, &error));
    pess_columns c;
    pess_dataset_columns(log, &c);
    const uint32_t states[] = {0, 1, 0, 2}, next[] = {1, 2, 2, 2};
    const double rewards[] = {3, 4, 1, 2};
    const uint8_t ends[] = {0, PESS_END_CUTOFF, 0, PESS_END_TERMINAL};
    assert_int_equal(c.rows, 4);
    assert_memory_equal(c.state, states, sizeof states);
    assert_memory_equal(c.next_state, next, sizeof next);
    assert_memory_equal(c.reward, rewards, sizeof rewards);
    assert_memory_equal(c.end, ends, sizeof ends);
    pess_dataset_destroy(log);
    pess_map_destroy(map);
    pess_measurements_destroy(m);
}

/* A missing value is the median, a number, or a measurement of its own, as its rule says. */
static void missing_values_follow_the_rule_of_their_column(void **state) {
    (void)state;
    pess_error error = {0};
    static const char *const names[] = {"a", "b"};
    double values[80];
    for (int i = 0; i < 40; i++) {
        values[2 * i] = i;
        values[2 * i + 1] = i % 4 == 0 ? NAN : 100 + (double)i;
    }
    const pess_measurement_columns columns = {40, 2, names, values};
    pess_measurements *m = NULL;
    OK(pess_measurements_create(&columns, &m, &error));
    pess_cells_options options = pess_cells_options_defaults();
    options.share = 1;
    options.cells = 4;
    options.missing = "median,b=flag";
    pess_map *map = NULL;
    OK(pess_map_make(m, NULL, &options, &map, &error));
    pess_map_column b;
    pess_map_get_column(map, 1, &b);
    assert_int_equal(map->coordinates, 3);
    assert_int_equal(b.missing_rows, 10);
    assert_true(b.fill == b.middle);
    double raw[3];
    float x[3];
    assert_int_equal(pess__map_coordinates(map, (const double[]){3, NAN}, raw, x), -1);
    assert_true(raw[0] == 3 && raw[1] == b.middle && raw[2] == 1);
    pess_map_destroy(map);
    options.missing = "b=-7";
    OK(pess_map_make(m, NULL, &options, &map, &error));
    assert_int_equal(pess__map_coordinates(map, (const double[]){3, NAN}, raw, x), -1);
    assert_true(raw[1] == -7);
    pess_place place;
    assert_int_equal(pess_map_place(map, (const double[]){NAN, 3}, &place, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "'a'"));
    pess_map_destroy(map);
    pess_measurements_destroy(m);
}

static void refused(const pess_measurements *m, const pess_cells_options *options, const char *words) {
    pess_error error = {0};
    pess_map *map = NULL;
    assert_int_not_equal(pess_map_make(m, NULL, options, &map, &error), PESS_OK);
    assert_null(map);
    if (strstr(error.message, words) == NULL) fail_msg("'%s' lacks '%s'", error.message, words);
}

static void what_cannot_be_made_is_refused_in_a_sentence(void **state) {
    (void)state;
    pess_error error = {0};
    ward w = ward_create(30, 0, 7);
    pess_measurements *m = ward_measurements(&w);
    pess_cells_options options = pess_cells_options_defaults();
    options.cells = 400;
    refused(m, &options, "different rows");
    options = pess_cells_options_defaults();
    options.missing = "sometimes";
    refused(m, &options, "sometimes");
    options.missing = "height=median";
    refused(m, &options, "height");
    options = pess_cells_options_defaults();
    options.method = PESS_CELLS_BINS;
    options.cells = 3;
    refused(m, &options, "2^2");
    pess_measurements_destroy(m);
    for (int64_t i = 0; i < w.rows; i++) w.values[2 * i] = 70;
    m = ward_measurements(&w);
    options = pess_cells_options_defaults();
    refused(m, &options, "varies");
    pess_measurements_destroy(m);
    for (int64_t i = 0; i < w.rows; i++) w.values[2 * i] = NAN;
    m = ward_measurements(&w);
    refused(m, &options, "no value");
    pess_measurements_destroy(m);
    for (int64_t i = 0; i < w.rows; i++) {
        w.values[2 * i] = (double)i;
        w.episode[i] = 5;
    }
    m = ward_measurements(&w);
    refused(m, &options, "1 episode");
    w.values[3] = NAN;
    pess_measurements *gap = ward_measurements(&w);
    options.share = 1;
    refused(gap, &options, "'lactate'");
    static const char *const other[] = {"pulse", "height"};
    const pess_measurement_columns columns = {2, 2, other, w.values};
    pess_measurements *strange = NULL;
    OK(pess_measurements_create(&columns, &strange, &error));
    options.cells = 4;
    pess_map *map = NULL;
    OK(pess_map_make(m, NULL, &options, &map, &error));
    uint32_t cells[2];
    assert_int_equal(pess_map_apply(map, strange, 1, cells, NULL, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "height"));
    pess_map_destroy(map);
    pess_measurements_destroy(strange);
    pess_measurements_destroy(gap);
    pess_measurements_destroy(m);
    ward_free(&w);
}

/* The measurement in which the centre lies farthest from the middle, in units of its scale, comes first. */
static void cells_of_k_means_are_told_by_where_they_are_unlike_others(void **state) {
    (void)state;
    ward w = ward_create(200, 0, 1);
    pess_measurements *m = ward_measurements(&w);
    pess_map *map = make(m, PESS_CELLS_KMEANS, WARD_CONDITIONS, 1);
    for (int64_t c = 0; c < map->cells; c++) {
        char text[200], pulse[60], lactate[60], expected[200];
        const float *at = map->centre + 2 * c;
        (void)snprintf(pulse, sizeof pulse, "pulse %.4g",
                       map->columns[0].middle + (double)at[0] * map->columns[0].scale);
        (void)snprintf(lactate, sizeof lactate, "lactate %.4g",
                       map->columns[1].middle + (double)at[1] * map->columns[1].scale);
        const bool turned = fabsf(at[1]) > fabsf(at[0]);
        (void)snprintf(expected, sizeof expected, "around %s, %s", turned ? lactate : pulse, turned ? pulse : lactate);
        pess_map_describe(map, c, text, sizeof text);
        assert_string_equal(text, expected);
    }
    pess_map_destroy(map);
    pess_measurements_destroy(m);
    ward_free(&w);
}

/* Every cut and every changed byte of a map file is found. */
static void damaged_maps_are_refused(void **state) {
    (void)state;
    pess_error error = {0};
    ward w = ward_create(60, 0, 8);
    pess_measurements *m = ward_measurements(&w);
    for (int method = PESS_CELLS_KMEANS; method <= PESS_CELLS_TREE; method++) {
        pess_map *map = make(m, (pess_cells_method)method, 6, 1), *read = NULL;
        const char *path = scratch_path(0, ".pessmap");
        OK(pess_map_write(map, path, &error));
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        (void)fseek(file, 0, SEEK_END);
        const size_t size = (size_t)ftell(file);
        (void)fclose(file);
        char *bytes = scratch_read(path);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(pess__map_read_memory("cut", bytes, i, &read, &error), PESS_INPUT);
            bytes[i] ^= 1;
            assert_int_equal(pess__map_read_memory("changed", bytes, size, &read, &error), PESS_INPUT);
            bytes[i] ^= 1;
        }
        assert_null(read);
        free(bytes);
        (void)remove(path);
        pess_map_destroy(map);
    }
    pess_measurements_destroy(m);
    ward_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_cells_are_found_by_every_method),
        cmocka_unit_test(maps_are_the_same_bytes_at_any_number_of_threads),
        cmocka_unit_test(a_map_that_was_written_is_the_same_map),
        cmocka_unit_test(one_row_at_a_time_is_all_rows_at_once),
        cmocka_unit_test(what_was_never_seen_lies_outside),
        cmocka_unit_test(held_out_episodes_do_not_change_the_map),
        cmocka_unit_test(a_log_of_cells_follows_the_steps_of_its_episodes),
        cmocka_unit_test(missing_values_follow_the_rule_of_their_column),
        cmocka_unit_test(what_cannot_be_made_is_refused_in_a_sentence),
        cmocka_unit_test(cells_of_k_means_are_told_by_where_they_are_unlike_others),
        cmocka_unit_test(damaged_maps_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
