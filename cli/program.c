/* What a program does around its commands: options that all of them have, signals, the end. */
#include "program.h"

#include "shown.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "500M", "1.5G", "4e9". */
static bool set_max_memory(const char *text) {
    static const char units[] = "KMGT";
    char *end = NULL;
    double bytes = strtod(text, &end);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    for (const char *u = units; unit != NULL && u <= unit; u++) bytes *= 1000;
    if (unit != NULL) end++;
    if (end == text || *end != '\0' || !(bytes >= 1e6 && bytes < 9e18)) return false;
    pess_set_max_memory((int64_t)bytes);
    return true;
}

/* Finds --json and takes --quiet and --max-memory out of the arguments. Reports are silenced only where results go to
 * files: what a command writes to standard output instead is its result. */
#define MAX_MEMORY "--max-memory"

static int look_ahead(int argc, char **argv) {
    bool to_file = false, over = false, standard = false; /* "-o -" is standard output */
    int count = 0;
    for (int i = 0; i < argc; i++) {
        over = over || strcmp(argv[i], "--") == 0;
        const bool quiet = !over && strcmp(argv[i], "--quiet") == 0;
        const size_t memory = !over && strncmp(argv[i], MAX_MEMORY, strlen(MAX_MEMORY)) == 0 ? strlen(MAX_MEMORY) : 0;
        if (memory > 0 && (argv[i][memory] == '=' || argv[i][memory] == '\0')) {
            const char *size = argv[i][memory] == '=' ? argv[i] + memory + 1 : i + 1 < argc ? argv[++i] : "";
            if (!set_max_memory(size)) {
                (void)report_wrong("%s: " MAX_MEMORY ": found '%s', expected a size of at least 1M: 500M or 4G",
                                   program_name, size);
                return -1;
            }
            continue;
        }
        if (!over) {
            asked.json = asked.json || strcmp(argv[i], "--json") == 0;
            standard = standard || strcmp(argv[i], "-") == 0;
            to_file = to_file || strncmp(argv[i], "-o", 2) == 0 || strncmp(argv[i], "--out", 5) == 0;
        }
        asked.quiet = asked.quiet || quiet;
        if (!quiet) argv[count++] = argv[i];
    }
    if (asked.quiet && to_file && !standard && !asked.json) {
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere >= 0) (void)dup2(nowhere, STDOUT_FILENO);
    }
    return count;
}

/* Told to end: nothing half-written stays, and who waits for us sees which signal it was. */
static void end_cleanly(int number) {
    pess_remove_temporaries();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* A signal that the caller has ignored (nohup) stays so. A full pipe and the limit of a file's size are errors of
 * write.
 */
static void watch_signals(void) {
    static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};
    struct sigaction action = {.sa_handler = end_cleanly}, before;
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            (void)sigaction(ends[i], &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
}

/* A library that calls exit() by itself (OpenMP's runtime where a thread cannot be made) says 1, which here means a
 * negative result. */
static bool ended; /* by main */

static void correct_exit_code(int code, void *unused) {
    (void)unused;
    if (ended || code == EXIT_FINE) return;
    pess_remove_temporaries();
    _exit(EXIT_LIMIT);
}

/* What was printed is there, or the program says that it is not; unless it has said already why it failed. */
static int finish(int code) {
    const bool answered = code < EXIT_USAGE || code > EXIT_IO;
    terminal_progress_end();
    ended = true;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || !answered) return code;
    (void)fprintf(stderr, "%s: standard output cannot be written\n", program_name);
    return EXIT_IO;
}

static int run_command(int argc, char **argv, const program *frame) {
    if (argc < 2) {
        frame->print_overview(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        frame->print_overview(stdout);
        return EXIT_FINE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        frame->print_version();
        return EXIT_FINE;
    }
    const command *found = find_command(frame->commands, frame->count, argv[1]);
    if (found == NULL) return unknown_command("", frame->commands, frame->count, argv[1]);
    return found->run(argc - 1, argv + 1);
}

int run_program(int argc, char **argv, const program *frame) {
    show_through_filter();
    watch_signals();
    (void)on_exit(correct_exit_code, NULL);
    const int count = look_ahead(argc, argv);
    return finish(count >= 0 ? run_command(count, argv, frame) : EXIT_USAGE);
}
