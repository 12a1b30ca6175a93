/* Axes: a range of numbers on a range of the page, and where its ticks are. */
#ifndef PESS_REPORT_AXIS_H
#define PESS_REPORT_AXIS_H

#include <stdbool.h>

enum { PESS__MAX_TICKS = 24 };

typedef struct pess__axis {
    double lo, hi;   /* numbers */
    double from, to; /* places: lo is at `from` */
    bool log;
    int tick_count;
    double tick[PESS__MAX_TICKS];
} pess__axis;

/* A range that holds lo..hi, with round ticks, about `wanted` of them. `pad` widens a linear range to its ticks. */
pess__axis pess__axis_make(double lo, double hi, bool log, bool pad, int wanted, double from, double to);
double pess__axis_place(const pess__axis *axis, double value);
/* A tick's label: short, with k for thousands. */
void pess__axis_label(const pess__axis *axis, double value, char *out, int size);

#endif
