/* The heartbeat of long work: reports progress about ten times a second and watches the deadline. */
#ifndef PESS_SOLVE_PULSE_H
#define PESS_SOLVE_PULSE_H

#include "core/threads.h"
#include "pess.h"

typedef struct pess__pulse {
    const pess_progress *progress; /* report may be NULL */
    const char *what, *unit;
    double deadline;    /* pess__clock() time, or infinity */
    double next_report; /* same clock */
    double done, total;
    bool late, interrupted; /* sticky */
} pess__pulse;

/* False once the deadline has passed or the caller asked to stop. `pulse` is a pess__pulse. */
static inline bool pess__pulse_beat(void *pulse) {
    pess__pulse *p = pulse;
    const double now = pess__clock();
    if (now >= p->deadline) p->late = true;
    if (p->progress->report != NULL && now >= p->next_report) {
        p->next_report = now + 0.1;
        if (!p->progress->report(p->progress->user, p->what, p->done, p->total, p->unit)) p->interrupted = true;
    }
    return !p->late && !p->interrupted;
}

#endif
