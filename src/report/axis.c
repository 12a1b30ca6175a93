#include "report/axis.h"

#include <math.h>
#include <stdio.h>

/* The largest of 1, 2, 5 times a power of ten that gives at least `wanted` steps. */
static double round_step(double range, int wanted) {
    const double raw = range / (wanted > 0 ? wanted : 1), power = pow(10, floor(log10(raw)));
    const double share = raw / power;
    return (share >= 5 ? 5 : share >= 2 ? 2 : 1) * power;
}

static void linear_ticks(pess__axis *axis, int wanted, bool pad) {
    const double step = round_step(axis->hi - axis->lo, wanted);
    if (pad) {
        axis->lo = floor(axis->lo / step) * step;
        axis->hi = ceil(axis->hi / step) * step;
    }
    for (double k = ceil(axis->lo / step - 1e-9); k * step <= axis->hi + 1e-9 * step; k++) {
        if (axis->tick_count == PESS__MAX_TICKS) break;
        axis->tick[axis->tick_count++] = k * step;
    }
}

/* Powers of ten; where there are less than three of them, twice and five times those too; ticks as on a
 * linear axis where even of those there is none. */
static void log_ticks(pess__axis *axis, int wanted) {
    const double first = ceil(log10(axis->lo) - 1e-9), last = floor(log10(axis->hi) + 1e-9);
    static const double between[] = {1, 2, 5};
    double every = 1;
    if (last - first < 2) {
        for (int k = (int)first - 1; k <= (int)last; k++)
            for (int i = 0; i < 3; i++) {
                const double tick = between[i] * pow(10, k);
                if (tick >= axis->lo * (1 - 1e-9) && tick <= axis->hi * (1 + 1e-9))
                    axis->tick[axis->tick_count++] = tick;
            }
        if (axis->tick_count == 0) linear_ticks(axis, wanted, false);
        return;
    }
    while ((last - first) / every > 2 * wanted) every++;
    for (double k = first; k <= last && axis->tick_count < PESS__MAX_TICKS; k += every)
        axis->tick[axis->tick_count++] = pow(10, k);
}

pess__axis pess__axis_make(double lo, double hi, bool log, bool pad, int wanted, double from, double to) {
    pess__axis axis = {.lo = lo, .hi = hi, .from = from, .to = to, .log = log};
    if (!(hi > lo)) { /* one number: some room around it */
        const double room = fabs(lo) > 0 ? 0.1 * fabs(lo) : 1;
        axis.lo = log ? lo / 2 : lo - room;
        axis.hi = log ? hi * 2 : hi + room;
    }
    if (log)
        log_ticks(&axis, wanted);
    else
        linear_ticks(&axis, wanted, pad);
    return axis;
}

double pess__axis_place(const pess__axis *axis, double value) {
    const double share = axis->log ? (log(value) - log(axis->lo)) / (log(axis->hi) - log(axis->lo))
                                   : (value - axis->lo) / (axis->hi - axis->lo);
    return axis->from + share * (axis->to - axis->from);
}

void pess__axis_label(const pess__axis *axis, double value, char *out, int size) {
    if (value >= (axis->log ? 1e3 : 1e4)) /* 12345 would be 1.234e+04 */
        (void)snprintf(out, (size_t)size, value >= 1e6 ? "%.3gM" : "%.3gk", value >= 1e6 ? value / 1e6 : value / 1e3);
    else
        (void)snprintf(out, (size_t)size, "%.4g", fabs(value) < 1e-12 ? 0 : value);
}
