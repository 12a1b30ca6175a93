/* The file that keeps finished trials: wherever a kill or a full disk left it, whole records are taken up and others
 * are not; what is no such file, or that of another run, is refused and stays as it is. */
#include "scratch.h"

#include "experiment/checkpoint.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { TRIALS = 4, WIDTH = 3, RECORD = 16 + 8 * WIDTH };

static const char signature[] = "1 seed=7 rows=3";
static pess_error error;

static double number_of(int64_t trial, int64_t i) { return (double)(10 * trial + i) + 0.25; }

static pess_status open_at(const char *path, bool resume, const char *of, int64_t trials, double *values,
                           bool *finished, pess__checkpoint **out) {
    memset(values, 0, (size_t)(trials * WIDTH) * sizeof *values);
    memset(finished, 0, (size_t)trials * sizeof *finished);
    *out = NULL;
    return pess__checkpoint_open(path, resume, of, trials, WIDTH, values, finished, out, &error);
}

/* A file with all trials, the last first; its bytes. */
static char *write_all(const char *path, size_t *size) {
    double values[TRIALS * WIDTH], kept[TRIALS * WIDTH];
    bool finished[TRIALS];
    pess__checkpoint *c;
    scratch_remove(path);
    assert_ok(open_at(path, false, signature, TRIALS, kept, finished, &c), &error);
    for (int64_t t = 0; t < TRIALS; t++)
        for (int64_t i = 0; i < WIDTH; i++) values[t * WIDTH + i] = number_of(t, i);
    for (int64_t t = TRIALS; t-- > 0;) assert_ok(pess__checkpoint_add(c, t, 1, values + t * WIDTH, &error), &error);
    assert_ok(pess__checkpoint_close(c, &error), &error);
    FILE *file = fopen(path, "rb");
    struct stat about;
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &about), 0);
    *size = (size_t)about.st_size;
    char *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

static void put(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static size_t size_of(const char *path) {
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return (size_t)about.st_size;
}

/* How many trials are finished; each of them has its numbers. */
static int count_whole(const double *values, const bool *finished, int64_t trials) {
    int count = 0;
    for (int64_t t = 0; t < trials; t++) {
        count += finished[t];
        for (int64_t i = 0; finished[t] && i < WIDTH; i++) assert_true(values[t * WIDTH + i] == number_of(t, i));
    }
    return count;
}

static void whole_records_of_a_torn_file_are_taken_up(void **state) {
    (void)state;
    const char *path = scratch_path(0, ".pess");
    size_t size;
    char *bytes = write_all(path, &size);
    const size_t header = size - TRIALS * RECORD;
    double values[TRIALS * WIDTH];
    bool finished[TRIALS];
    pess__checkpoint *c;
    for (size_t length = 0; length <= size; length++) {
        const size_t whole = length < header ? 0 : (length - header) / RECORD;
        put(path, bytes, length);
        if (length >= header) { /* it holds trials, or could: nobody begins anew without saying so */
            assert_failure(open_at(path, false, signature, TRIALS, values, finished, &c), PESS_ARGUMENT, &error,
                           "holds the trials of an interrupted run", NULL);
            assert_int_equal(size_of(path), length);
            memset(finished, 0, sizeof finished);
            assert_ok(pess__checkpoint_read(path, signature, TRIALS, WIDTH, values, finished, &error), &error);
            assert_int_equal(count_whole(values, finished, TRIALS), whole);
        }
        assert_ok(open_at(path, length >= header || length % 2 == 0, signature, TRIALS, values, finished, &c), &error);
        assert_int_equal(count_whole(values, finished, TRIALS), whole);
        assert_ok(pess__checkpoint_close(c, &error), &error);
        assert_int_equal(size_of(path), header + whole * RECORD); /* and the torn rest is cut off */
    }
    free(bytes);
    scratch_remove(path);
}

static void damaged_records_are_not_taken_up(void **state) {
    (void)state;
    const char *path = scratch_path(0, ".pess");
    size_t size;
    char *bytes = write_all(path, &size);
    const size_t header = size - TRIALS * RECORD;
    double values[TRIALS * WIDTH];
    bool finished[TRIALS];
    pess__checkpoint *c;
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 0x41;
        put(path, bytes, size);
        const pess_status status = open_at(path, true, signature, TRIALS, values, finished, &c);
        if (at >= header) { /* those before it are good, and it is cut off with those behind it */
            assert_ok(status, &error);
            assert_int_equal(count_whole(values, finished, TRIALS), (at - header) / RECORD);
            assert_ok(pess__checkpoint_close(c, &error), &error);
        } else if (at == header - strlen(signature)) { /* the version, which may be another one */
            assert_ok(status, &error);
            assert_int_equal(count_whole(values, finished, TRIALS), TRIALS);
            assert_ok(pess__checkpoint_close(c, &error), &error);
        } else if (status == PESS_OK) { /* a length beyond the end of the file: its header looks torn */
            assert_in_range(at, 16, 23);
            assert_int_equal(count_whole(values, finished, TRIALS), 0);
            assert_ok(pess__checkpoint_close(c, &error), &error);
        } else {
            assert_int_equal(status, PESS_INPUT);
            assert_int_equal(size_of(path), size);
        }
        bytes[at] ^= 0x41;
    }
    free(bytes);
    scratch_remove(path);
}

/* Records that are whole but of no trial; and headers that no run writes. */
static void what_no_run_writes_is_not_taken_up(void **state) {
    (void)state;
    const char *path = scratch_path(0, ".pess");
    size_t size;
    char *bytes = write_all(path, &size);
    double values[TRIALS * WIDTH], row[WIDTH] = {1, 2, 3};
    bool finished[TRIALS];
    pess__checkpoint *c;
    assert_ok(open_at(path, true, signature, TRIALS, values, finished, &c), &error);
    assert_ok(pess__checkpoint_add(c, -1, 1, row, &error), &error);
    assert_ok(pess__checkpoint_close(c, &error), &error);
    assert_ok(open_at(path, true, signature, TRIALS, values, finished, &c), &error);
    assert_int_equal(count_whole(values, finished, TRIALS), TRIALS);
    assert_ok(pess__checkpoint_close(c, &error), &error);
    assert_int_equal(size_of(path), size);
    bytes[17] = 0x10; /* a length of 4096 and more */
    put(path, bytes, size);
    assert_failure(open_at(path, true, signature, TRIALS, values, finished, &c), PESS_INPUT, &error,
                   "does not hold the trials of an interrupted run", NULL);
    bytes[17] = 0x01; /* longer than the file: it looks torn to whoever goes on, and is no run's to whoever reads */
    put(path, bytes, size);
    assert_failure(pess__checkpoint_read(path, signature, TRIALS, WIDTH, values, finished, &error), PESS_INPUT, &error,
                   "does not hold the trials of an interrupted run", NULL);
    assert_int_equal(size_of(path), size);
    free(bytes);
    scratch_remove(path);
}

static void trials_of_a_longer_run_are_left_alone(void **state) {
    (void)state;
    const char *path = scratch_path(0, ".pess");
    size_t size;
    free(write_all(path, &size));
    double values[TRIALS * WIDTH];
    bool finished[TRIALS];
    pess__checkpoint *c;
    assert_ok(open_at(path, true, signature, 2, values, finished, &c), &error);
    assert_int_equal(count_whole(values, finished, 2), 2);
    assert_ok(pess__checkpoint_close(c, &error), &error);
    assert_int_equal(size_of(path), size); /* they are there for the longer run */
    scratch_remove(path);
}

static void files_of_other_runs_are_refused(void **state) {
    (void)state;
    const char *path = scratch_path(0, ".pess");
    size_t size;
    double values[TRIALS * WIDTH];
    bool finished[TRIALS];
    pess__checkpoint *c;
    free(write_all(path, &size));
    assert_failure(open_at(path, true, "1 seed=8 rows=3", TRIALS, values, finished, &c), PESS_INPUT, &error,
                   "found 'seed=7 rows=3', expected 'seed=8 rows=3'", NULL);
    assert_int_equal(size_of(path), size);
    assert_ok(open_at(path, true, "2 seed=7 rows=3", TRIALS, values, finished, &c), &error); /* another version */
    assert_ok(pess__checkpoint_close(c, &error), &error);
    static const char other[] = "state,action,reward,next_state\n";
    put(path, other, strlen(other));
    assert_failure(open_at(path, true, signature, TRIALS, values, finished, &c), PESS_INPUT, &error,
                   "does not hold the trials of an interrupted run; remove it to start again", NULL);
    assert_int_equal(size_of(path), strlen(other));
    scratch_remove(path);
}

static void what_cannot_be_read_or_written_is_said(void **state) {
    (void)state;
    double values[TRIALS * WIDTH];
    bool finished[TRIALS];
    pess__checkpoint *c;
    assert_failure(open_at("/tmp", true, signature, TRIALS, values, finished, &c), PESS_IO, &error,
                   "/tmp: cannot be written", NULL);
    assert_failure(open_at("/nowhere/kept.pess", true, signature, TRIALS, values, finished, &c), PESS_IO, &error,
                   "cannot be written: No such file or directory", NULL);
    assert_failure(open_at("/dev/full", true, signature, TRIALS, values, finished, &c), PESS_INPUT, &error,
                   "/dev/full: does not hold the trials", NULL);
    assert_failure(pess__checkpoint_read("/nowhere/kept.pess", signature, TRIALS, WIDTH, values, finished, &error),
                   PESS_IO, &error, "cannot be read: No such file or directory", NULL);
    assert_failure(pess__checkpoint_read("/tmp", signature, TRIALS, WIDTH, values, finished, &error), PESS_IO, &error,
                   "cannot be read: Is a directory", NULL);
    assert_ok(pess__checkpoint_close(NULL, &error), &error);
}

/* A limit on the size of files stands for a full disk. */
static struct rlimit no_limit;
static void (*handler)(int);

static void fill_disk_at(size_t size) {
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &no_limit), 0);
    struct rlimit small = no_limit;
    small.rlim_cur = size;
    handler = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
}

static void empty_disk(void) {
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &no_limit), 0);
    (void)signal(SIGXFSZ, handler);
}

/* The trial is refused, and those before it are there; a header that is not whole keeps nobody from beginning. */
static void a_full_disk_keeps_earlier_trials(void **state) {
    (void)state;
    const char *path = scratch_path(0, ".pess");
    double values[TRIALS * WIDTH] = {number_of(0, 0), number_of(0, 1), number_of(0, 2)}, kept[TRIALS * WIDTH];
    bool finished[TRIALS];
    pess__checkpoint *c;
    scratch_remove(path);
    fill_disk_at(10);
    pess_status status = open_at(path, false, signature, TRIALS, kept, finished, &c);
    empty_disk();
    assert_failure(status, PESS_IO, &error, path, "cannot be written: File too large", NULL);
    assert_ok(open_at(path, false, signature, TRIALS, kept, finished, &c), &error);
    assert_ok(pess__checkpoint_add(c, 0, 1, values, &error), &error);
    fill_disk_at(size_of(path) + RECORD / 2);
    status = pess__checkpoint_add(c, 1, 1, values, &error);
    (void)pess__checkpoint_close(c, NULL);
    empty_disk();
    assert_failure(status, PESS_IO, &error, path, "cannot be written: File too large", NULL);
    assert_ok(open_at(path, true, signature, TRIALS, kept, finished, &c), &error);
    assert_int_equal(count_whole(kept, finished, TRIALS), 1);
    assert_ok(pess__checkpoint_close(c, &error), &error);
    scratch_remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_records_of_a_torn_file_are_taken_up),
        cmocka_unit_test(damaged_records_are_not_taken_up),
        cmocka_unit_test(what_no_run_writes_is_not_taken_up),
        cmocka_unit_test(trials_of_a_longer_run_are_left_alone),
        cmocka_unit_test(files_of_other_runs_are_refused),
        cmocka_unit_test(what_cannot_be_read_or_written_is_said),
        cmocka_unit_test(a_full_disk_keeps_earlier_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
