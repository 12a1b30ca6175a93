/* Logs of many chunks: the same result at any thread count, with quoted line feeds across chunk ends, with names that
 * show up late, and from a pipe. */
#include "logs.h"

#include "data/csv_chunk.h"

#include <sys/wait.h>

enum { ROWS = 60000 };

static void any_number_of_threads_reads_the_same(void **state) {
    (void)state;
    for (int kinds = 0; kinds < 32; kinds += kinds < 16 ? 5 : 15) {
        pess_dataset *data = logs_random(ROWS, 50, 4, kinds, 7 + (uint64_t)kinds);
        logs_write(data, logs_path("large.csv"));
        for (int threads = 1; threads <= 4; threads *= 2) {
            pess_dataset *read = logs_read(logs_path("large.csv"), threads);
            same_data(data, read);
            pess_dataset_destroy(read);
        }
        pess_dataset_destroy(data);
    }
}

/* One name at the very end: everything before it becomes a name too. */
static void a_late_name_makes_all_numbers_names(void **state) {
    (void)state;
    FILE *file = fopen(logs_path("late.csv"), "w");
    fprintf(file, "state,action,reward,next_state\n");
    for (int i = 0; i < ROWS; i++) fprintf(file, "%d,0,1,%d\n", 999 - i % 1000, 999 - (i + 1) % 1000);
    fprintf(file, "999,stop,1,goal\n");
    fclose(file);
    for (int threads = 1; threads <= 4; threads *= 2) {
        pess_dataset *d = logs_read(logs_path("late.csv"), threads);
        assert_int_equal(d->rows, ROWS + 1);
        assert_int_equal(d->states, 1001);
        assert_string_equal(pess_names_get(d->state_names, 0), "999");
        assert_string_equal(pess_names_get(d->state_names, 1), "998");
        assert_string_equal(pess_names_get(d->state_names, 1000), "goal");
        assert_int_equal(d->state[ROWS], 0);
        assert_int_equal(d->action[ROWS], 1);
        pess_dataset_destroy(d);
    }
}

/* The first error in the file is the one reported, whichever thread finds one first. */
static void the_first_error_is_the_one_told(void **state) {
    (void)state;
    FILE *file = fopen(logs_path("bad.csv"), "w");
    fprintf(file, "note,state,action,reward,next_state\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(file, i == 100 ? "\"a\nb\",0,0,0,0\n" : i >= 50000 ? "x,0,0,bad,0\n" : "x,0,0,0,0\n");
    fclose(file);
    pess_read_options options = pess_read_options_defaults();
    for (options.threads = 1; options.threads <= 4; options.threads++)
        logs_refused(logs_path("bad.csv"), &options, PESS_INPUT, ":50003:7:", "found 'bad'");
}

/* A row may be long, but not without end. */
static void long_rows_are_read_or_refused(void **state) {
    (void)state;
    const size_t size = 3 * PESS__PIECE_LONGEST_ROW;
    char *text = malloc(size + 200);
    static const char head[] = "state,action,reward,next_state,note\n";
    for (int quoted = 0; quoted < 2; quoted++) {
        size_t at = (size_t)sprintf(text, "%s0,0,0,0,%s", head, quoted ? "\"" : "");
        memset(text + at, quoted ? '\n' : 'x', size);
        const size_t kept = at + PESS__PIECE_LONGEST_ROW - 100;
        memcpy(text + kept, quoted ? "\"\n1,0,0,0,\n" : "y\n1,0,0,0,\n", 11);
        pess_dataset *d = logs_read(logs_file("long.csv", text, kept + 11), 2);
        assert_int_equal(d->rows, 2);
        pess_dataset_destroy(d);
        memset(text + at, quoted ? '\n' : 'x', size);
        pess_read_options options = pess_read_options_defaults();
        for (options.threads = 1; options.threads <= 4; options.threads += 3)
            logs_refused(logs_file("long.csv", text, at + size), &options, PESS_INPUT, ":2:", "found a");
    }
    free(text);
}

/* Standard input from a pipe, read by a child process whose copy is written back as CSV. */
static void from_pipe(const char *input, const char *output) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t reader = fork();
    if (reader == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        pess_read_options options = pess_read_options_defaults();
        options.threads = 1;
        pess_dataset *data = NULL;
        if (pess_dataset_read("-", &options, &data, NULL) != PESS_OK) _exit(1);
        const pess_status status = pess_dataset_write(data, output, NULL, NULL);
        pess_dataset_destroy(data);
        _exit(status == PESS_OK ? 0 : 2);
    }
    close(ends[0]);
    size_t length = 0;
    char *bytes = logs_bytes(input, &length);
    for (size_t done = 0; done < length;) {
        const size_t part = length - done < 5000 ? length - done : 5000;
        const ssize_t wrote = write(ends[1], bytes + done, part);
        assert_true(wrote > 0);
        done += (size_t)wrote;
    }
    close(ends[1]);
    free(bytes);
    int status = 0;
    waitpid(reader, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_pipe_reads_as_a_file_does(void **state) {
    (void)state;
    static const char *const names[] = {"in.csv", "in.csv.gz", "in.npz", "in.pesslog"};
    pess_dataset *data = logs_random(20000, 40, 3, LOGS_NAMES | LOGS_ENDS | LOGS_EPISODES | LOGS_STEPS, 3);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        logs_write(data, logs_path(names[i]));
        from_pipe(logs_path(names[i]), logs_path("out.csv"));
        pess_dataset *read = logs_read(logs_path("out.csv"), 2);
        same_data(data, read);
        pess_dataset_destroy(read);
    }
    pess_dataset_destroy(data);
    from_pipe(logs_path("late.csv"), logs_path("out.csv")); /* needs a second reading */
    pess_dataset *read = logs_read(logs_path("out.csv"), 2), *direct = logs_read(logs_path("late.csv"), 2);
    same_data(direct, read);
    pess_dataset_destroy(read);
    pess_dataset_destroy(direct);
}

static bool stop_at_once(void *user, const char *what, double done, double total, const char *unit) {
    (void)what, (void)unit;
    ++*(int *)user;
    assert_true(done <= total);
    return false;
}

static void reading_can_be_interrupted(void **state) {
    (void)state;
    const char *path = logs_path("slow.csv");
    FILE *file = fopen(path, "w");
    fprintf(file, "state,action,reward,next_state\n");
    for (int i = 0; i < 3000000; i++) fputs("0,0,0.123456789012345678,0\n", file);
    fclose(file);
    int calls = 0;
    pess_read_options options = pess_read_options_defaults();
    options.threads = 1;
    options.progress = (pess_progress){stop_at_once, &calls};
    pess_dataset *data = NULL;
    pess_error error;
    const pess_status status = pess_dataset_read(path, &options, &data, &error);
    if (calls > 0) /* a machine that reads all of it within a tenth of a second is not asked */
        assert_int_equal(status, PESS_INTERRUPTED);
    else
        pess_dataset_destroy(data);
    assert_true(calls <= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_reads_the_same), cmocka_unit_test(a_late_name_makes_all_numbers_names),
        cmocka_unit_test(the_first_error_is_the_one_told),      cmocka_unit_test(long_rows_are_read_or_refused),
        cmocka_unit_test(a_pipe_reads_as_a_file_does),          cmocka_unit_test(reading_can_be_interrupted)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
