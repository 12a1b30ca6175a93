/* Watches long work: reports progress about ten times a second, and says when to stop. */
#ifndef PESS_SOLVE_MONITOR_H
#define PESS_SOLVE_MONITOR_H

#include "core/threads.h"
#include "pess.h"

typedef struct pess__monitor {
    const pess_progress *progress; /* report may be NULL */
    const char *what, *unit;
    double deadline;    /* pess__clock() time, or infinity */
    double next_report; /* same clock */
    double done, total;
    bool late, interrupted; /* sticky */
} pess__monitor;

static inline pess__monitor pess__monitor_start(const pess_progress *progress, const char *what, double deadline) {
    return (pess__monitor){.progress = progress,
                           .what = what,
                           .unit = "iterations",
                           .deadline = deadline,
                           .next_report = pess__clock() + 0.1};
}

/* False once the deadline has passed or the caller asked to stop. `monitor` is a pess__monitor. */
static inline bool pess__monitor_check(void *monitor) {
    pess__monitor *m = monitor;
    const double now = pess__clock();
    if (now >= m->deadline) m->late = true;
    if (m->progress->report != NULL && now >= m->next_report) {
        m->next_report = now + 0.1;
        if (!m->progress->report(m->progress->user, m->what, m->done, m->total, m->unit)) m->interrupted = true;
    }
    return !m->late && !m->interrupted;
}

/* Whether it was stopped before; asks neither clock nor caller. */
static inline bool pess__monitor_stopped(const pess__monitor *m) { return m->late || m->interrupted; }

#endif
