/* Files that are read: a pipe, a part of standard input and memory give the bytes of a file, in any order; what cannot
 * be opened, kept or read is said. */
#include "scratch.h"

#include "core/infile.h"
#include "core/rng.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { SIZE = 300000, SKIPPED = 12345 };

static uint8_t content[SIZE];
static pess_error error;

static int begin(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(1, "a file", 0);
    for (size_t i = 0; i < SIZE; i++) content[i] = (uint8_t)pess__rng_next(&rng);
    content[0] = content[SKIPPED] = 'x'; /* of nothing that is packed */
    return 0;
}

/* The path of a pipe into which a child writes; `parts` of them with a pause after each. */
static const char *pipe_of_content(int parts, int *descriptor, pid_t *writer) {
    static char path[40];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *writer = fork();
    assert_true(*writer >= 0);
    if (*writer == 0) {
        (void)close(ends[0]);
        (void)signal(SIGPIPE, SIG_DFL);
        for (int i = 0; i < parts; i++) {
            const size_t part = SIZE / (size_t)parts;
            for (size_t at = 0; at < part;) {
                const ssize_t wrote = write(ends[1], content + (size_t)i * part + at, part - at);
                if (wrote < 0) _exit(1);
                at += (size_t)wrote;
            }
            if (parts > 1) (void)usleep(5000);
        }
        _exit(0);
    }
    (void)close(ends[1]);
    *descriptor = ends[0];
    (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    return path;
}

static void end_pipe(int descriptor, pid_t writer) {
    (void)close(descriptor); /* a writer that nobody reads ends by a signal */
    assert_int_equal(waitpid(writer, NULL, 0), writer);
}

/* Whatever is asked for first, the bytes are those of `expected`. */
static void assert_holds(pess__infile *file, const uint8_t *expected, int64_t size) {
    static uint8_t found[SIZE + 1];
    const uint8_t *map = NULL;
    size_t got = 0;
    int64_t told = 0;
    for (int round = 0; round < 2; round++) {
        assert_ok(pess__infile_head(file, found, 100, &got, &error), &error);
        assert_int_equal(got, 100);
        assert_memory_equal(found, expected, 100);
        assert_ok(pess__infile_read(file, found, SIZE / 2, &got, &error), &error);
        assert_memory_equal(found, expected, got);
        assert_ok(pess__infile_rewind(file, &error), &error);
        assert_ok(pess__infile_read(file, found, SIZE + 1, &got, &error), &error);
        assert_int_equal(got, size);
        assert_memory_equal(found, expected, got);
        assert_ok(pess__infile_rewind(file, &error), &error);
    }
    assert_ok(pess__infile_at(file, size - 7, found, 7, &error), &error);
    assert_memory_equal(found, expected + size - 7, 7);
    assert_failure(pess__infile_at(file, size - 7, found, 9, &error), PESS_INPUT, &error, "expected 2 more", NULL);
    assert_ok(pess__infile_map(file, &map, &told, &error), &error);
    assert_int_equal(told, size);
    assert_memory_equal(map, expected, (size_t)size);
}

/* Where its copy lies is said by TMPDIR, or not said. */
static void a_pipe_is_a_file(void **state) {
    (void)state;
    static const char *const folders[] = {NULL, "", "/tmp"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        pess__infile *file = NULL;
        int descriptor;
        pid_t writer;
        assert_int_equal(folders[i] != NULL ? setenv("TMPDIR", folders[i], 1) : unsetenv("TMPDIR"), 0);
        assert_ok(pess__infile_open(pipe_of_content(1, &descriptor, &writer), &file, &error), &error);
        assert_true(pess__infile_is_pipe(file));
        assert_false(pess__infile_is_plain(file));
        assert_holds(file, content, SIZE);
        pess__infile_close(file);
        end_pipe(descriptor, writer);
    }
}

static void nothing_happens(int number) { (void)number; }

/* Signals come while a pipe is waited for: what they interrupt is read again. */
static void signals_do_not_end_a_file(void **state) {
    (void)state;
    const struct sigaction handler = {.sa_handler = nothing_happens}; /* not SA_RESTART */
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    pess__infile *file = NULL;
    int descriptor;
    pid_t writer;
    const char *path = pipe_of_content(10, &descriptor, &writer);
    assert_int_equal(sigaction(SIGALRM, &handler, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    assert_ok(pess__infile_open(path, &file, &error), &error);
    assert_holds(file, content, SIZE);
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    pess__infile_close(file);
    end_pipe(descriptor, writer);
}

/* The copy of a pipe has no folder, no name, no room. */
static void a_pipe_that_cannot_be_kept_is_refused(void **state) {
    (void)state;
    static char longer[5000];
    const char *const folders[] = {"/nowhere", longer, "/tmp"};
    static const char *const words[] = {"no temporary file in /nowhere: No such file or directory",
                                        "TMPDIR is longer than a path can be",
                                        "the temporary copy cannot be written: "};
    struct rlimit all;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    memset(longer, 'x', sizeof longer - 1);
    for (int i = 0; i < 3; i++) {
        pess__infile *file = NULL;
        int64_t size = 0;
        int descriptor;
        pid_t writer;
        const struct rlimit little = {.rlim_cur = 1000, .rlim_max = all.rlim_max};
        const char *path = pipe_of_content(1, &descriptor, &writer);
        assert_int_equal(setenv("TMPDIR", folders[i], 1), 0);
        if (i == 2) assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
        pess_status status = pess__infile_open(path, &file, &error);
        if (status == PESS_OK) status = pess__infile_size(file, &size, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
        assert_failure(status, PESS_IO, &error, words[i], NULL);
        if (i == 2) pess__infile_close(file);
        end_pipe(descriptor, writer);
    }
    assert_int_equal(unsetenv("TMPDIR"), 0);
}

/* Standard input of which another program read a part; and bytes in memory. */
static void a_part_and_memory_are_files(void **state) {
    (void)state;
    const int before = dup(STDIN_FILENO), descriptor = open(scratch_path(0, ".bin"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    pess__infile *file = NULL;
    assert_true(before >= 0 && descriptor >= 0);
    assert_int_equal(write(descriptor, content, SIZE), SIZE);
    assert_int_equal(lseek(descriptor, SKIPPED, SEEK_SET), SKIPPED);
    assert_true(dup2(descriptor, STDIN_FILENO) >= 0);
    assert_ok(pess__infile_open("-", &file, &error), &error);
    assert_string_equal(pess__infile_name(file), "standard input");
    assert_false(pess__infile_is_plain(file)); /* it has no path */
    assert_holds(file, content + SKIPPED, SIZE - SKIPPED);
    pess__infile_close(file);
    assert_true(dup2(before, STDIN_FILENO) >= 0);
    (void)close(before);
    (void)close(descriptor);
    assert_ok(pess__infile_open(scratch_path(0, ".bin"), &file, &error), &error);
    assert_true(pess__infile_is_plain(file));
    assert_holds(file, content, SIZE);
    pess__infile_close(file);
    assert_ok(pess__infile_open_memory("bytes", content, SIZE, &file, &error), &error);
    assert_false(pess__infile_is_plain(file));
    assert_holds(file, content, SIZE);
    pess__infile_close(file);
    scratch_remove(scratch_path(0, ".bin"));
}

static void what_cannot_be_opened_is_said(void **state) {
    (void)state;
    pess__infile *file = NULL;
    assert_failure(pess__infile_open(NULL, &file, &error), PESS_ARGUMENT, &error, "no path is given", NULL);
    assert_failure(pess__infile_open("/nowhere/x", &file, &error), PESS_IO, &error,
                   "/nowhere/x: cannot be read: No such file or directory", NULL);
    assert_failure(pess__infile_open("/tmp", &file, &error), PESS_IO, &error, "/tmp: cannot be read: Is a directory",
                   NULL);
    assert_null(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipe_is_a_file),
        cmocka_unit_test(signals_do_not_end_a_file),
        cmocka_unit_test(a_pipe_that_cannot_be_kept_is_refused),
        cmocka_unit_test(a_part_and_memory_are_files),
        cmocka_unit_test(what_cannot_be_opened_is_said),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
