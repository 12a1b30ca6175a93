/* One line on stderr that says what is being done, how far it is and how long it will still take. */
#include "command.h"
#include "shown.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct asked asked;
const char *program_name = "pess";

static const char CLEAR[] = "\r\033[K"; /* of this line */

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

void duration_text(double seconds, char *out, size_t size) {
    const long long whole = llround(fmin(fmax(seconds, 0), 1e9));
    if (whole >= 2LL * 86400)
        (void)snprintf(out, size, "%.1f days", seconds / 86400);
    else if (whole >= 3600)
        (void)snprintf(out, size, "%lld h %02lld min", whole / 3600, whole / 60 % 60);
    else if (whole >= 60)
        (void)snprintf(out, size, "%lld min %02lld s", whole / 60, whole % 60);
    else
        (void)snprintf(out, size, "%lld s", whole);
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
    char text[40];
    draw_on_terminal(CLEAR);
    (void)fprintf(stderr, "%s: ", what);
    if (total > 0) {
        duration_text(done > 0 ? elapsed * (total - done) / done : 0, text, sizeof text);
        (void)fprintf(stderr, "%3.0f %% (%.4g of %.4g %s), %s left", 100 * done / total, done, total, unit, text);
    } else {
        duration_text(elapsed, text, sizeof text);
        (void)fprintf(stderr, "%.4g %s, %s", done, unit, text);
    }
    (void)fflush(stderr);
    return true;
}

pess_progress terminal_progress(void) {
    if (asked.quiet || !isatty(STDERR_FILENO)) return (pess_progress){0};
    return (pess_progress){.report = draw};
}

void terminal_progress_end(void) {
    if (line.shown) draw_on_terminal(CLEAR);
    memset(&line, 0, sizeof line);
}
