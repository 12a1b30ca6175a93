/* Datasets of observations as arrays of NumPy: each array in turn is one that does not fit, and is refused by its name;
 * what says nothing is passed over. The archives are made here. */
#include "scratch.h"

#include <math.h>
#include <zlib.h>

enum { MOST = 12, ROOM = 1 << 14 };

typedef struct array {
    const char *name, *type, *shape;
    const void *bytes;
    size_t size;
} array;

static uint8_t file[ROOM];
static size_t used;

static void put(const void *bytes, size_t size) {
    assert_true(used + size <= sizeof file);
    memcpy(file + used, bytes, size);
    used += size;
}

static void put_number(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) put(&(uint8_t){(uint8_t)(value >> (8 * i))}, 1);
}

/* What a local header and an entry of the directory have in common (zip, 4.3.7 and 4.3.12), stored as they are. */
static void put_entry(const array *a, size_t size, uint32_t crc) {
    put_number(20, 2), put_number(0, 2), put_number(0, 2), put_number(0, 4);
    put_number(crc, 4), put_number(size, 4), put_number(size, 4);
    put_number(strlen(a->name) + 4, 2), put_number(0, 2);
}

static void write_arrays(const array *arrays, int count) {
    size_t at[MOST], sizes[MOST];
    uint32_t crc[MOST];
    used = 0;
    for (int i = 0; i < count; i++) {
        const array *a = &arrays[i];
        char header[200];
        const int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n",
                                    a->type, a->shape);
        uint8_t member[2000] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)length, 0};
        memcpy(member + 10, header, (size_t)length);
        memcpy(member + 10 + length, a->bytes, a->size);
        sizes[i] = 10 + (size_t)length + a->size;
        crc[i] = (uint32_t)crc32(0, member, (uInt)sizes[i]);
        at[i] = used;
        put("PK\3\4", 4);
        put_entry(a, sizes[i], crc[i]);
        put(a->name, strlen(a->name)), put(".npy", 4);
        put(member, sizes[i]);
    }
    const size_t directory = used;
    for (int i = 0; i < count; i++) {
        put("PK\1\2", 4), put_number(20, 2);
        put_entry(&arrays[i], sizes[i], crc[i]);
        put_number(0, 2), put_number(0, 2), put_number(0, 2), put_number(0, 4), put_number(at[i], 4);
        put(arrays[i].name, strlen(arrays[i].name)), put(".npy", 4);
    }
    const size_t end = used;
    put("PK\5\6", 4), put_number(0, 4), put_number((uint64_t)count, 2), put_number((uint64_t)count, 2);
    put_number(end - directory, 4), put_number(directory, 4), put_number(0, 2);
    FILE *out = fopen(scratch_path(0, ".npz"), "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(file, 1, used, out), used);
    assert_int_equal(fclose(out), 0);
}

static const float seen[] = {0, 1, 2, 3}, then_seen[] = {2, 3, 4, 5}, nans[] = {1, NAN};
static const double none[] = {0, 0}, one[] = {0, 1}, both[] = {1, 1}, half[] = {0, 0.5}, infinite[] = {0.5, INFINITY},
                    nan_second[] = {0, NAN}, many[] = {0, 1, 0}, vectors[] = {0, 1, 0, 1, 0, 1}, huge[] = {1e9},
                    three[] = {3};
static const uint8_t pixels[] = {1, 2, 3, 4};

#define ARRAY(name, type, shape, values)                                                                               \
    { name, type, shape, values, sizeof(values) }

static const array usual[] = {ARRAY("observations", "<f4", "(2, 2)", seen), ARRAY("actions", "<f8", "(2,)", one),
                              ARRAY("rewards", "<f8", "(2,)", one), ARRAY("terminals", "<f8", "(2,)", one)};
enum { USUAL = 4 };

/* The usual arrays with these in place of theirs, or beside them. */
static pess_status read_with(const array *others, int count, pess_observations **out, pess_error *error) {
    array all[MOST];
    int total = USUAL;
    memcpy(all, usual, sizeof usual);
    for (int i = 0; i < count && others[i].name != NULL; i++) {
        int at = 0;
        while (at < total && strcmp(all[at].name, others[i].name) != 0) at++;
        all[at] = others[i];
        if (at == total) total++;
    }
    write_arrays(all, total);
    return pess_observations_read(scratch_path(0, ".npz"), out, error);
}

static void arrays_that_do_not_fit_are_refused(void **state) {
    (void)state;
    static const struct {
        array others[3];
        const char *words;
    } all[] = {
        {{ARRAY("actions", "<f8", "(3,)", many)}, "array 'actions': found 3 numbers, expected 2 as in 'observations'"},
        {{ARRAY("actions", "<f8", "(3, 2)", vectors)}, "array 'actions': found 3 numbers, expected 2"},
        {{ARRAY("actions", "<f8", "(2,)", nan_second)}, "array 'actions', row 1: found nan, expected a whole number"},
        {{ARRAY("actions", "<f8", "(2,)", infinite)}, "array 'actions', row 1, number 0: found inf, expected a finite"},
        {{ARRAY("rewards", "<f8", "(2,)", infinite)}, "array 'rewards', row 1: found inf"},
        {{ARRAY("terminals", "<f8", "(2,)", half)},
         "array 'terminals', row 1: found 0.5, expected a whole number from 0 to 1"},
        {{ARRAY("timeouts", "<f8", "(2,)", half)}, "array 'timeouts', row 1: found 0.5"},
        {{ARRAY("stopped", "<f8", "(2,)", half)}, "array 'stopped', row 1: found 0.5"},
        {{ARRAY("probabilities", "<f8", "(2,)", one)}, "array 'probabilities', row 0: found 0"},
        {{ARRAY("next_observations", "<f4", "(1, 4)", seen)}, "found 1 rows of 4 floats, expected 2 of 2 floats"},
        {{ARRAY("next_observations", "<f4", "(4, 1)", seen)}, "found 4 rows of 1 floats, expected 2 of 2 floats"},
        {{ARRAY("next_observations", "|u1", "(2, 2)", pixels)}, "found 2 rows of 2 bytes, expected 2 of 2 floats"},
        {{ARRAY("observations", "|u1", "(2, 1, 2)", pixels), ARRAY("next_observations", "|u1", "(2, 2, 1)", pixels)},
         "array 'next_observations': found another shape, expected that of 'observations'"},
        {{ARRAY("next_observations", "|S1", "(2, 2)", pixels)},
         "array 'next_observations': found text, expected numbers"},
        {{{"observations", "<f4", "(2, 0)", "", 0}}, "array 'observations': found observations without numbers"},
        {{ARRAY("observations", "<f4", "(2, 2, 1, 1, 1)", seen)},
         "found five dimensions, expected at most [N, C, H, W]"},
        {{{"observations", "<f4", "(0, 2)", "", 0}}, "array 'observations': found no rows, expected"},
        {{{"observations", "<f4", "()", nans, 4}}, "array 'observations': found no rows, expected"},
        {{ARRAY("terminals", "<f8", "(2,)", none), ARRAY("timeouts", "<f8", "(2,)", both)},
         "no transition is left: of 2 rows none has a next observation"},
        {{ARRAY("action_values", "<f4", "(4,)", seen)},
         "array 'action_values': found another shape, expected a row for each of 2 actions"},
        {{{"action_values", "<f4", "()", seen, 4}}, "array 'action_values': found another shape"},
        {{ARRAY("action_values", "<f4", "(2,)", nans)}, "array 'action_values': found nan, expected finite numbers"},
        {{ARRAY("action_names", "<f8", "(2,)", one)},
         "array 'action_names': found no texts, expected one for each action"},
        {{{"action_names", "|S2", "(2, 1)", "a\0a\0", 4}}, "array 'action_names', row 1: found 'a' a second time"},
        {{{"action_names", "|S2", "(3,)", "aba\0a\0", 6}, ARRAY("action_count", "<f8", "(1,)", three)},
         "array 'action_names', row 2: found 'a' a second time"},
        {{{"action_names", "|S2", "(2,)", "a\0\0\0", 4}}, "array 'action_names', row 1: found no name in UTF-8"},
        {{{"action_names", "|S2", "(2,)", "a\0\xff\xfe", 4}}, "array 'action_names', row 1: found no name in UTF-8"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pess_observations *data = NULL;
        pess_error error = {0};
        assert_failure(read_with(all[i].others, 3, &data, &error), PESS_INPUT, &error, scratch_path(0, ".npz"),
                       all[i].words, NULL);
        assert_null(data);
    }
    scratch_remove(scratch_path(0, ".npz"));
}

/* Names of games that are none, and numbers of actions that there cannot be. */
static void arrays_that_say_nothing_are_passed_over(void **state) {
    (void)state;
    char longest[100];
    memset(longest, 'x', sizeof longest);
    const array all[] = {ARRAY("game", "<f8", "(1,)", huge),         {"game", "|S100", "(1,)", longest, sizeof longest},
                         {"game", "|S2", "(2,)", "abcd", 4},         ARRAY("action_count", "<f8", "(1,)", huge),
                         ARRAY("action_count", "<f8", "(1,)", none), ARRAY("action_count", "<f8", "(2,)", both)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pess_observations *data = NULL;
        pess_observations_info info;
        pess_error error = {0};
        array other = all[i];
        if (strcmp(other.shape, "(1,)") == 0 && other.bytes == none) other.size = sizeof(double);
        assert_ok(read_with(&other, 1, &data, &error), &error);
        pess_observations_get_info(data, &info);
        assert_int_equal(info.actions, 2);
        assert_string_equal(info.game, "");
        assert_int_equal(info.transitions, 2);
        pess_observations_destroy(data);
    }
    scratch_remove(scratch_path(0, ".npz"));
}

static void what_the_arrays_say_is_read(void **state) {
    (void)state;
    const array all[] = {ARRAY("next_observations", "<f4", "(2, 2)", then_seen),
                         ARRAY("action_values", "<f4", "(2, 2)", seen),
                         {"action_names", "|S5", "(2,)", "wait\0treat", 10},
                         {"game", "|S4", "(1,)", "ward", 4},
                         ARRAY("timeouts", "<f8", "(2,)", both),
                         ARRAY("probabilities", "<f8", "(2,)", both)};
    pess_observations *data = NULL;
    pess_error error = {0};
    assert_ok(read_with(all, 6, &data, &error), &error);
    pess_observations_info info;
    pess_action_space space;
    const uint8_t *from, *to;
    int32_t action;
    double reward;
    pess_end end;
    pess_observations_get_info(data, &info);
    pess_observations_actions(data, &space);
    assert_string_equal(info.game, "ward");
    assert_int_equal(space.width, 2);
    assert_memory_equal(space.values, seen, sizeof seen);
    assert_string_equal(pess_names_get(space.names, 1), "treat");
    assert_true(pess_observations_get(data, 0, &from, &action, &reward, &to, &end));
    assert_memory_equal(from, seen, 2 * sizeof *seen);
    assert_memory_equal(to, then_seen, 2 * sizeof *then_seen);
    assert_int_equal(end, PESS_END_CUTOFF);
    assert_true(pess_observations_get(data, 1, &from, &action, &reward, &to, &end));
    assert_int_equal(action, 1);
    assert_true(reward == 1);
    assert_int_equal(end, PESS_END_TERMINAL); /* which wins */
    pess_observations_destroy(data);
    scratch_remove(scratch_path(0, ".npz"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_that_do_not_fit_are_refused),
        cmocka_unit_test(arrays_that_say_nothing_are_passed_over),
        cmocka_unit_test(what_the_arrays_say_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
