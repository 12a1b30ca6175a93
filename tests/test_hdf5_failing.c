/* The library HDF5 fails, one call after another (tests/tools/failing_hdf5.c): what is written is whole or not there,
 * what is read is right or refused. And whatever the child says that reads, its parent believes nothing that cannot be.
 */
#include "scratch.h"

#include "data/hdf5.h"
#include "tools/failing_hdf5.h"

#include <dlfcn.h>
#include <math.h>
#include <sys/stat.h>

enum { ONE_BY_ONE = 48 };

static failing_hdf5 *failing;

/* The call that fails next: one by one at first, then an eighth farther on each time. */
static int64_t next(int64_t n) { return n + (n < ONE_BY_ONE ? 1 : n / 8); }

/* What a file holds, written again in another format. */
typedef pess_status copying(const char *from, const char *to, pess_error *error);

static pess_status copy_observations(const char *from, const char *to, pess_error *error) {
    pess_observations *data = NULL;
    pess_status status = pess_observations_read(from, &data, error);
    if (status == PESS_OK) status = pess_observations_write(data, to, error);
    pess_observations_destroy(data);
    return status;
}

static pess_status copy_log(const char *from, const char *to, pess_error *error) {
    pess_dataset *data = NULL;
    pess_status status = pess_dataset_read(from, NULL, &data, error);
    if (status == PESS_OK) status = pess_dataset_write(data, to, NULL, error);
    pess_dataset_destroy(data);
    return status;
}

static void assert_same_files(const char *one, const char *other) {
    long size[2];
    char *bytes[2];
    const char *const paths[] = {one, other};
    for (int i = 0; i < 2; i++) {
        struct stat info;
        assert_int_equal(stat(paths[i], &info), 0);
        size[i] = (long)info.st_size;
        bytes[i] = scratch_read(paths[i]);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], (size_t)size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* Copies with one call after another that fails: refused, and nothing is there, or the same as without a failure.
 * Returns how often it was refused. */
static int64_t fails_at_every_call(copying *copy, const char *from, const char *to, pess_status expected,
                                   const char *sentence, void (*compare)(const char *)) {
    int64_t failures = 0;
    for (int64_t n = 1;; n = next(n)) {
        pess_error error = {0};
        *failing = (failing_hdf5){.fails_at = n};
        const pess_status status = copy(from, to, &error);
        const bool was_the_last = failing->calls < n;
        *failing = (failing_hdf5){0};
        if (status != PESS_OK) {
            assert_failure(status, expected, &error, sentence, NULL);
            if (strstr(error.message, "hostile") != NULL) fail_msg("call %lld: %s", (long long)n, error.message);
            assert_int_equal(access(to, F_OK), -1);
            failures++;
            continue;
        }
        compare(to);
        scratch_remove(to);
        if (was_the_last) return failures;
    }
}

static char whole[200]; /* what it is like without a failure */

static void is_whole(const char *path) { assert_same_files(path, whole); }

static void begin_with(copying *copy, const char *from, const char *ending) {
    pess_error error = {0};
    (void)snprintf(whole, sizeof whole, "%s", scratch_path(1, ending));
    assert_ok(copy(from, whole, &error), &error);
}

/* An HDF5 file holds what the whole file does: it is read, and written in the format of that. */
static void holds_the_whole(const char *path) {
    pess_error error = {0};
    const char *again = scratch_path(2, ".npz");
    assert_ok(copy_observations(path, again, &error), &error);
    assert_same_files(again, whole);
    scratch_remove(again);
}

static void files_are_written_whole_or_not_at_all(void **state) {
    (void)state;
    static const char *const files[] = {TEST_DATA "/sources/minari_bits.h5", TEST_DATA "/sources/minari_vectors.h5"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        begin_with(copy_observations, files[i], ".npz");
        assert_true(fails_at_every_call(copy_observations, whole, scratch_path(0, ".h5"), PESS_IO,
                                        "the library HDF5 does not write the file", holds_the_whole) > 40);
        scratch_remove(whole);
    }
}

static void files_are_read_right_or_refused(void **state) {
    (void)state;
    static const struct {
        copying *copy;
        const char *path, *ending;
    } files[] = {{copy_observations, TEST_DATA "/sources/minari_bits.h5", ".npz"},
                 {copy_observations, TEST_DATA "/sources/minari_bytes.h5", ".npz"},
                 {copy_observations, TEST_DATA "/sources/d4rl_vectors.h5", ".npz"},
                 {copy_observations, TEST_DATA "/sources/d3rlpy_vectors.h5", ".npz"},
                 {copy_log, TEST_DATA "/sources/d4rl_next.h5", ".csv"},
                 {copy_log, TEST_DATA "/sources/pytables.h5", ".csv"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        begin_with(files[i].copy, files[i].path, files[i].ending);
        assert_true(fails_at_every_call(files[i].copy, files[i].path, scratch_path(0, files[i].ending), PESS_INPUT,
                                        files[i].path, is_whole) > 30);
        scratch_remove(whole);
    }
}

/* ---- what the child says */

typedef struct message {
    pess__hdf5_header header;
    const void *bytes; /* [size] */
    size_t size;
} message;

static void say(const message *messages, size_t count) {
    *failing = (failing_hdf5){0};
    for (size_t i = 0; i < count; i++) {
        assert_true((size_t)failing->speech + sizeof messages->header + messages[i].size <= sizeof failing->said);
        memcpy(failing->said + failing->speech, &messages[i].header, sizeof messages->header);
        failing->speech += (int64_t)sizeof messages->header;
        if (messages[i].size > 0) memcpy(failing->said + failing->speech, messages[i].bytes, messages[i].size);
        failing->speech += (int64_t)messages[i].size;
    }
}

static void refused(const message *messages, size_t count, const char *sentence) {
    pess_error error = {0};
    pess_observations *data = NULL;
    say(messages, count);
    const pess_status status = pess_observations_read(TEST_DATA "/sources/minari_bits.h5", &data, &error);
    *failing = (failing_hdf5){0};
    assert_failure(status, PESS_INPUT, &error, sentence, NULL);
}

static void beginnings_that_cannot_be_are_not_believed(void **state) {
    (void)state;
    static const char hostile[] = "minari_bits.h5: the reader of HDF5 files, a process of its own, ended";
    const pess__hdf5_begin good = {.shape = pess_observation_bits(8), .actions = 2, .origin = "minari"};
    pess__hdf5_begin bad[12];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) bad[i] = good;
    bad[0].shape.kind = PESS_OBSERVATION_FLOATS + 1;
    bad[1].shape.length = -1;
    bad[2].shape.length = PESS__HDF5_MOST_BYTES + 1;
    bad[3].shape.rows = -1;
    bad[4].shape.cols = -1;
    bad[5].shape.channels = -1;
    bad[6].shape.rows = bad[6].shape.cols = bad[6].shape.channels = 3;
    bad[7].actions = -1;
    bad[8].actions = PESS_MAX_ACTIONS + 1;
    bad[9].width = -1;
    bad[10].width = PESS__HDF5_MOST_BYTES + 1;
    bad[11].width = PESS__HDF5_MOST_BYTES / 4;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(&(message){{PESS__HDF5_BEGIN, 1}, &bad[i], sizeof bad[i]}, 1, hostile);
    refused(&(message){{PESS__HDF5_BEGIN, 1}, &good, sizeof good - 1}, 1, hostile);
    refused(&(message){{PESS__HDF5_ROWS, 1}, NULL, 0}, 1, hostile);
    refused(&(message){{99, 1}, NULL, 0}, 1, hostile);
    refused(&(message){{PESS__HDF5_END, 0}, NULL, 0}, 1, "found no episodes, expected at least one");
}

static void rows_that_cannot_be_are_not_believed(void **state) {
    (void)state;
    static const char hostile[] = "minari_bits.h5: the reader of HDF5 files, a process of its own, ended";
    struct {
        pess__hdf5_row row;
        uint8_t states[2];
    } one = {.row = {.action = 1}}; /* of eight bits, before and after */
    const size_t size = sizeof one.row + 2;
    const pess__hdf5_begin begin = {.shape = pess_observation_bits(8), .actions = 2, .origin = "minari"};
    message said[] = {{{PESS__HDF5_BEGIN, 1}, &begin, sizeof begin}, {{PESS__HDF5_ROWS, 0}, &one, size}};
    refused(said, 2, hostile);
    said[1].header.count = pess__hdf5_most_rows(&begin) + 1;
    refused(said, 2, hostile);
    said[1].header.count = 2; /* and one of them comes */
    refused(said, 2, hostile);
    said[1].header = (pess__hdf5_header){PESS__HDF5_BEGIN, 1};
    refused(said, 2, hostile);
    said[1].header = (pess__hdf5_header){PESS__HDF5_ROWS, 1};
    refused(said, 2, hostile); /* no end */
    one.row.end = -1;
    refused(said, 2, hostile);
    one.row.end = PESS_END_CUTOFF + 1;
    refused(said, 2, hostile);
    one.row = (pess__hdf5_row){.action = 2};
    refused(said, 2, "action");
    one.row = (pess__hdf5_row){.reward = NAN};
    refused(said, 2, "reward");
    refused(said, 1, hostile);
}

/* Its sentences are no longer than they may be, and have no characters that a terminal obeys. */
static void sentences_are_shown(void **state) {
    (void)state;
    refused(&(message){{PESS__HDF5_ERROR, 6}, "a\033[2J\302", 6}, 1, "a?[2J?");
    refused(&(message){{PESS__HDF5_ERROR, PESS__HDF5_LONGEST_ERROR + 1}, "a", 1}, 1, "hostile");
    refused(&(message){{PESS__HDF5_ERROR, 7}, "a", 1}, 1, "hostile");
    const pess__hdf5_begin begin = {.shape = pess_observation_bits(8), .actions = 2, .origin = "minari"};
    const message late[] = {{{PESS__HDF5_BEGIN, 1}, &begin, sizeof begin}, {{PESS__HDF5_ERROR, 4}, "late", 4}};
    refused(late, 2, "late");
}

static char place[] = "/tmp/pess-test-XXXXXX"; /* where all of this runs: an empty directory */

/* Files are put together in memory, by HDF5 too, which takes the disk where it is not told so. */
static void nothing_lies_where_the_program_runs(void **state) {
    (void)state;
    assert_int_equal(rmdir(place), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_written_whole_or_not_at_all),
                                       cmocka_unit_test(files_are_read_right_or_refused),
                                       cmocka_unit_test(beginnings_that_cannot_be_are_not_believed),
                                       cmocka_unit_test(rows_that_cannot_be_are_not_believed),
                                       cmocka_unit_test(sentences_are_shown),
                                       cmocka_unit_test(nothing_lies_where_the_program_runs)};
    void *library = dlopen(FAILING_HDF5, RTLD_NOW);
    void **shared = library != NULL ? dlsym(library, "failing_hdf5_shared") : NULL;
    if (shared == NULL || *shared == NULL || setenv("PESS_HDF5", FAILING_HDF5, 1) != 0) return 1;
    if (mkdtemp(place) == NULL || chdir(place) != 0) return 1;
    failing = *shared;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
