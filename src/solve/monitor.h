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

/* False once the deadline has passed or the caller asked to stop. `monitor` is a pess__monitor. */
static inline bool pess__monitor_check(void *monitor) {
    pess__monitor *p = monitor;
    const double now = pess__clock();
    if (now >= p->deadline) p->late = true;
    if (p->progress->report != NULL && now >= p->next_report) {
        p->next_report = now + 0.1;
        if (!p->progress->report(p->progress->user, p->what, p->done, p->total, p->unit)) p->interrupted = true;
    }
    return !p->late && !p->interrupted;
}

#endif
