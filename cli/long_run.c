/* Runs of hours: Ctrl-C in good order. */
#include "long_run.h"

#include <signal.h>

/* ---- Ctrl-C: the first asks the run to stop in good order, a second one stops the program */

static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
    if (interrupted != 0) {
        pess_remove_temporaries();
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
    interrupted = 1;
}

static bool report(void *user, const char *what, double done, double total, const char *unit) {
    const pess_progress line = terminal_progress();
    (void)user;
    if (line.report != NULL && !line.report(line.user, what, done, total, unit)) return false;
    return interrupted == 0;
}

pess_progress interruptible_progress(void) {
    struct sigaction action = {.sa_handler = on_signal};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    return (pess_progress){.report = report};
}

int report_run_error(const char *command_name, const option_list *list, const pess_error *error) {
    const int code = report_option_error(command_name, list->rows, list->count, error);
    if (error->status == PESS_INTERRUPTED)
        (void)fputs("The same command with --resume continues from there.\n", stderr);
    return code;
}
