/* NPZ logs: files that NumPy wrote (tests/data/npz), our own, and damage of every kind. */
#include "logs.h"

#include "data/columns.h"
#include "data/npy.h"

#include <math.h>
#include <zlib.h>

#define NPZ TEST_DATA "/npz/"

static void check_numbers(const char *path) {
    static const uint32_t state[] = {0, 1, 2, 1}, action[] = {0, 1, 0, 1}, next[] = {1, 2, 0, 2};
    static const double reward[] = {0.5, -1, 2, 0}, probability[] = {0.25, 0.5, 1, 0};
    static const uint8_t end[] = {0, 2, 1, 0};
    static const int64_t episode[] = {7, 7, 7, -2}, step[] = {0, 1, 2, 0};
    pess_dataset *d = logs_read(path, 1);
    assert_int_equal(d->rows, 4);
    same_array(d->state, state, 4, 4);
    same_array(d->action, action, 4, 4);
    same_array(d->next_state, next, 4, 4);
    same_array(d->reward, reward, 4, 8);
    same_array(d->end, end, 4, 1);
    same_array(d->episode, episode, 4, 8);
    same_array(d->step, step, 4, 8);
    same_array(d->probability, probability, 4, 8);
    pess_dataset_destroy(d);
}

static void files_of_numpy_are_read(void **state) {
    (void)state;
    check_numbers(NPZ "plain.npz");
    check_numbers(NPZ "deflated.npz");
    check_numbers(NPZ "types.npz");
    pess_dataset *d = logs_read(NPZ "names.npz", 1);
    static const char *const names[] = {"hall", "\xC3\xA9", "x,y"};
    for (int i = 0; i < 3; i++) assert_string_equal(pess_names_get(d->state_names, i), names[i]);
    assert_string_equal(pess_names_get(d->action_names, 1), "right");
    assert_string_equal(pess_names_get(d->episode_names, 1), "two");
    assert_int_equal(d->next_state[3], 2);
    pess_dataset_destroy(d);
}

static void what_is_no_log_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *path, *what;
    } all[] = {{NPZ "objects.npz", "array 'state': found Python objects"},
               {NPZ "structured.npz", "array 'state': found a structured type"},
               {NPZ "matrix.npz", "array 'state': found another shape, expected (N,)"},
               {NPZ "lengths.npz", "array 'action': found 2 rows, expected 4 as in 'state'"},
               {NPZ "missing.npz", "found no column 'next_state' among"},
               {NPZ "negative.npz", "array 'next_state', row 0: found -1, expected an integer from 0 to 268435455"},
               {NPZ "fraction.npz", "array 'action', row 1: found a number that is not an integer"},
               {NPZ "nan.npz", "column 'reward', row 2: found NaN"},
               {NPZ "complex.npz", "array 'reward': found a type"},
               {NPZ "half_text.npz", "found text in one of state and next_state"},
               {NPZ "text_reward.npz", "array 'reward': found text"},
               {NPZ "flag.npz", "array 'terminal', row 2: found 2, expected an integer from 0 to 1"},
               {NPZ "empty.npz", "no transitions"},
               {NPZ "long_header.npz", "header of more than 10000 bytes"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        logs_refused(all[i].path, NULL, PESS_INPUT, ".npz", all[i].what);
    pess_read_options options = pess_read_options_defaults();
    options.states = 2;
    logs_refused(NPZ "plain.npz", &options, PESS_INPUT, "array 'state', row 2: found 2", "from 0 to 1");
}

/* Every truncation and every flipped byte is either refused or changes nothing that was read. */
static void damage_is_refused(void **state) {
    (void)state;
    static const char *const files[] = {NPZ "plain.npz", NPZ "deflated.npz"};
    pess_dataset *whole = logs_read(files[0], 1);
    for (int f = 0; f < 2; f++) {
        size_t size = 0;
        char *bytes = logs_bytes(files[f], &size);
        pess_error error;
        pess_dataset *d = NULL;
        const pess_read_options options = {
            .size = sizeof options, .threads = 1, .format = "npz", .column = "next_state=next_state"};
        for (size_t kept = 0; kept < size; kept += 13) {
            pess__stream *stream = NULL;
            if (pess__stream_open_memory("cut", bytes, kept, &options, &stream, &error) == PESS_OK)
                assert_int_not_equal(pess__dataset_collect(stream, &d, &error), PESS_OK);
            assert_int_equal(error.status, PESS_INPUT);
        }
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (char)(bytes[i] ^ 0x11);
            pess__stream *stream = NULL;
            if (pess__stream_open_memory("flipped", bytes, size, &options, &stream, &error) == PESS_OK &&
                pess__dataset_collect(stream, &d, &error) == PESS_OK) {
                assert_true(d->rows == 4 && memcmp(d->reward, whole->reward, 32) == 0); /* an optional array may go */
                same_array(d->state, whole->state, 4, 4);
                pess_dataset_destroy(d);
            }
            bytes[i] = (char)(bytes[i] ^ 0x11);
        }
        free(bytes);
    }
    pess_dataset_destroy(whole);
}

/* A zip file with one deflated member that claims `claimed` bytes and holds `size`. */
static size_t make_zip(uint8_t *out, const uint8_t *data, size_t size, uint32_t claimed) {
    static const char name[] = "state.npy";
    uint8_t packed[4096];
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)data, .avail_in = (uInt)size, .next_out = packed, .avail_out = 4096};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const uint32_t length = (uint32_t)z.total_out;
    deflateEnd(&z);
    uint8_t common[26] = {20};
    pess__put(common + 4, 8, 2);
    pess__put(common + 10, crc32(0, data, (uInt)size), 4);
    pess__put(common + 14, length, 4);
    pess__put(common + 18, claimed, 4);
    pess__put(common + 22, 9, 2);
    uint8_t *at = out;
    at = (uint8_t *)memcpy(at, "PK\3\4", 4) + 4;
    at = (uint8_t *)memcpy(at, common, 26) + 26;
    at = (uint8_t *)memcpy(at, name, 9) + 9;
    at = (uint8_t *)memcpy(at, packed, length) + length;
    const size_t directory = (size_t)(at - out);
    uint8_t entry[46] = "PK\1\2";
    memcpy(entry + 6, common, 24);
    at = (uint8_t *)memcpy(at, entry, 46) + 46;
    at = (uint8_t *)memcpy(at, name, 9) + 9;
    uint8_t end[22] = "PK\5\6";
    pess__put(end + 8, 1, 2);
    pess__put(end + 10, 1, 2);
    pess__put(end + 12, 55, 4);
    pess__put(end + 16, directory, 4);
    at = (uint8_t *)memcpy(at, end, 22) + 22;
    return (size_t)(at - out);
}

static void sizes_that_lie_are_refused(void **state) {
    (void)state;
    static uint8_t array[1 << 20], file[1 << 13];
    memset(array, 0, sizeof array);
    const char header[] = "{'descr': '<i8', 'fortran_order': False, 'shape': (16,), }";
    memset(array + 10, ' ', 118);
    memcpy(array, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(array + 10, header, strlen(header));
    const size_t true_size = 128 + 16 * 8;
    size_t size = make_zip(file, array, true_size, (uint32_t)true_size);
    logs_refused(logs_file("z.npz", file, size), NULL, PESS_INPUT, "no column 'action'", "among 'state'");
    size = make_zip(file, array, true_size + 8, (uint32_t)true_size); /* more than it says: the checksum is of all */
    logs_refused(logs_file("z.npz", file, size), NULL, PESS_INPUT, "z.npz", "");
    size = make_zip(file, array, true_size, (uint32_t)true_size + 8);
    logs_refused(logs_file("z.npz", file, size), NULL, PESS_INPUT, "array 'state'", "does not fit its shape and type");
    size = make_zip(file, array, sizeof array, 3000000000u); /* says 3 GB */
    logs_refused(logs_file("z.npz", file, size), NULL, PESS_INPUT, "array 'state'", "more than a thousand times");
    logs_refused(logs_file("z.npz", "PK\3\4", 4), NULL, PESS_INPUT, "z.npz", "shorter than a zip file");
}

/* What the local header says again: the method, both sizes, the name. */
static void local_headers_that_differ_are_refused(void **state) {
    (void)state;
    static uint8_t array[256], file[1 << 13];
    const size_t size = make_zip(file, array, sizeof array, sizeof array);
    static const size_t places[] = {8, 18, 22, 30};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        file[places[i]] ^= 1;
        logs_refused(logs_file("z.npz", file, size), NULL, PESS_INPUT, "z.npz",
                     "member 'state.npy': its local header differs from the directory");
        file[places[i]] ^= 1;
    }
}

/* The end record of large files: 64-bit numbers in a record of their own, and where that is; the old one says so. */
static size_t widen(uint8_t *file, size_t size) {
    const size_t end = size - 22;
    uint8_t *const wide = file + end, *const locator = wide + 56, old[22] = "PK\5\6";
    const uint64_t count = pess__get16(wide + 10), bytes = pess__get32(wide + 12), offset = pess__get32(wide + 16);
    memset(wide, 0, 56 + 20);
    memcpy(wide, "PK\6\6", 4);
    pess__put(wide + 32, count, 8);
    pess__put(wide + 40, bytes, 8);
    pess__put(wide + 48, offset, 8);
    memcpy(locator, "PK\6\7", 4);
    pess__put(locator + 8, end, 8);
    memcpy(locator + 20, old, 22);
    memset(locator + 28, 0xFF, 12);
    return size + 56 + 20;
}

static void end_records_of_64_bits_are_read(void **state) {
    (void)state;
    static uint8_t array[256], file[1 << 13];
    memset(array + 10, ' ', 118);
    memcpy(array, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(array + 10, "{'descr': '<i8', 'fortran_order': False, 'shape': (16,), }", 58);
    const size_t narrow = make_zip(file, array, sizeof array, sizeof array), size = widen(file, narrow);
    uint8_t *const wide = file + narrow - 22, *const locator = wide + 56;
    logs_refused(logs_file("z.npz", file, size), NULL, PESS_INPUT, "no column 'action'",
                 "among 'state'"); /* it was read */
    pess__put(locator + 8, size, 8);
    logs_refused(logs_file("z.npz", file, size), NULL, PESS_INPUT, "z.npz", "the 64-bit end record is outside of it");
    pess__put(locator + 8, 1, 8);
    logs_refused(logs_file("z.npz", file, size), NULL, PESS_INPUT, "z.npz", "found no 64-bit end record");
    pess__put(locator + 8, narrow - 22, 8);
    const struct {
        size_t at;
        uint64_t number;
    } lies[] = {{32, 2}, {32, UINT64_MAX}, {40, 1000}, {40, UINT64_MAX - 7}, {48, size}, {48, UINT64_MAX - 7}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const uint64_t truth = pess__get64(wide + lies[i].at);
        pess__put(wide + lies[i].at, lies[i].number, 8);
        logs_refused(logs_file("z.npz", file, size), NULL, PESS_INPUT, "z.npz", "its directory does not fit");
        pess__put(wide + lies[i].at, truth, 8);
    }
    memcpy(locator, "none", 4); /* then the numbers of the old record count, which fit nothing */
    logs_refused(logs_file("z.npz", file, size), NULL, PESS_INPUT, "z.npz", "its directory does not fit");
    pess__put(locator + 20 + 4, 1, 2);
    logs_refused(logs_file("z.npz", file, size), NULL, PESS_INPUT, "z.npz", "it has several parts");
    memcpy(locator + 20, "none", 4);
    logs_refused(logs_file("z.npz", file, size), NULL, PESS_INPUT, "z.npz", "found no end record");
}

static void headers_are_read_in_all_spellings(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool good;
    } all[] = {{"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }\n", true},
               {"{'shape': (3, 1), 'fortran_order': True, 'descr': '|b1'}", true},
               {"{\"shape\":(3L,),\"fortran_order\":False,\"descr\":\"<f2\"}   \n", true},
               {"{'descr': '<i8', 'fortran_order': False, 'shape': (), }", false},
               {"{'descr': '<i8', 'fortran_order': False, 'shape': (3), }", false},
               {"{'descr': '<i8', 'fortran_order': False, 'shape': (3, 2), }", false},
               {"{'descr': '<i8', 'fortran_order': False, 'shape': (99999999999999999999,), }", false},
               {"{'descr': '<i8', 'fortran_order': False, 'shape': (-3,), }", false},
               {"{'descr': '<i3', 'fortran_order': False, 'shape': (3,), }", false},
               {"{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }", false},
               {"{'descr': '<i8', 'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", false},
               {"{'descr': '<i8', 'fortran_order': False, }", false},
               {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), } x", false},
               {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), ", false},
               {"{'descr': '<i8", false},
               {"", false}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        pess__npy_header header = {0};
        int64_t rows = 0;
        const char *problem = NULL;
        const bool good = pess__npy_parse_header(all[i].text, strlen(all[i].text), &header, &problem) &&
                          pess__npy_rows(&header, &rows, &problem);
        if (good != all[i].good || (good && rows != 3)) fail_msg("%s", all[i].text);
    }
}

static void all_types_of_elements_are_read(void **state) {
    (void)state;
    static const struct {
        uint16_t bits;
        double value;
    } halves[] = {{0x3C00, 1},     {0xC000, -2},       {0x0001, 0x1p-24}, {0x0400, 0x1p-14},
                  {0x7BFF, 65504}, {0x7C00, INFINITY}, {0x8000, -0.0}};
    const pess__npy_type half = {'f', 2, false}, wide = {'u', 8, true}, narrow = {'i', 1, false};
    double value = 0;
    int64_t integer = 0, bad = -1;
    for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++) {
        const uint8_t bytes[] = {(uint8_t)halves[i].bits, (uint8_t)(halves[i].bits >> 8)};
        pess__npy_double(&half, bytes, 1, &value);
        assert_memory_equal(&value, &halves[i].value, 8);
    }
    const uint8_t small[] = {0x80};
    assert_true(pess__npy_int64(&narrow, small, 1, &integer, &bad));
    assert_int_equal(integer, -128);
    const uint8_t huge[] = {0x80, 0, 0, 0, 0, 0, 0, 0}, two[] = {0, 0, 0, 0, 0, 0, 0, 2};
    assert_false(pess__npy_int64(&wide, huge, 1, &integer, &bad));
    assert_int_equal(bad, 0);
    assert_true(pess__npy_int64(&wide, two, 1, &integer, &bad));
    assert_int_equal(integer, 2);
}

static void arrays_are_written_and_read_back(void **state) {
    (void)state;
    for (int kinds = 0; kinds < 32; kinds++) {
        pess_dataset *d = logs_random(5000, 20, 3, kinds, (uint64_t)kinds);
        logs_write(d, logs_path("a.csv"));
        pess_dataset *csv = logs_read(logs_path("a.csv"), 2);
        logs_write(csv, logs_path("a.pesslog"));
        pess_dataset *native = logs_read(logs_path("a.pesslog"), 2);
        logs_write(native, logs_path("a.npz"));
        pess_dataset *npz = logs_read(logs_path("a.npz"), 2);
        logs_write(npz, logs_path("b.csv"));
        same_data(d, csv);
        same_data(d, native);
        same_data(d, npz);
        size_t a = 0, b = 0;
        char *first = logs_bytes(logs_path("a.csv"), &a), *second = logs_bytes(logs_path("b.csv"), &b);
        assert_int_equal(a, b);
        assert_memory_equal(first, second, a);
        free(first), free(second);
        pess_dataset_destroy(d), pess_dataset_destroy(csv), pess_dataset_destroy(native), pess_dataset_destroy(npz);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_of_numpy_are_read),
                                       cmocka_unit_test(what_is_no_log_is_refused),
                                       cmocka_unit_test(damage_is_refused),
                                       cmocka_unit_test(sizes_that_lie_are_refused),
                                       cmocka_unit_test(local_headers_that_differ_are_refused),
                                       cmocka_unit_test(end_records_of_64_bits_are_read),
                                       cmocka_unit_test(headers_are_read_in_all_spellings),
                                       cmocka_unit_test(all_types_of_elements_are_read),
                                       cmocka_unit_test(arrays_are_written_and_read_back)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
