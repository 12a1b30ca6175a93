/* One line on stderr that says what is being done, how far it is and how long it will still take. */
#include "command.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The program draws one line at a time, so its state is the program's. */
static struct {
    char what[60];
    double begun, drawn;
    bool shown;
} line;

static void print_time(double seconds) {
    if (seconds >= 3600)
        (void)fprintf(stderr, "%.0f h %02.0f min", seconds / 3600, (double)((int)(seconds / 60) % 60));
    else if (seconds >= 60)
        (void)fprintf(stderr, "%d min %02d s", (int)(seconds / 60), (int)seconds % 60);
    else
        (void)fprintf(stderr, "%.0f s", seconds);
}

static bool draw(void *user, const char *what, double done, double total, const char *unit) {
    (void)user;
    const double time = now();
    if (strncmp(what, line.what, sizeof line.what - 1) != 0) {
        (void)snprintf(line.what, sizeof line.what, "%s", what);
        line.begun = time;
    }
    if (time - line.begun < 2 || time - line.drawn < 0.2) return true;
    line.drawn = time;
    line.shown = true;
    const double elapsed = time - line.begun;
    (void)fprintf(stderr, "\r\033[K%s: ", what);
    if (total > 0) {
        (void)fprintf(stderr, "%3.0f %% (%.4g of %.4g %s), ", 100 * done / total, done, total, unit);
        print_time(done > 0 ? elapsed * (total - done) / done : 0);
        (void)fputs(" left", stderr);
    } else {
        (void)fprintf(stderr, "%.4g %s, ", done, unit);
        print_time(elapsed);
    }
    (void)fflush(stderr);
    return true;
}

pess_progress terminal_progress(void) {
    if (!isatty(STDERR_FILENO)) return (pess_progress){0};
    return (pess_progress){.report = draw};
}

void terminal_progress_end(void) {
    if (line.shown) (void)fputs("\r\033[K", stderr);
    memset(&line, 0, sizeof line);
}
