/* Logs that hold copies of their rows: each in succession (a join that fans out), or the whole log anew (an export that
 * was appended to itself). Chance makes neither: a log repeats itself in each of its rows, and a process that does so
 * every few steps is left alone. */
#include "data/inspect.h"

enum { MOST_TIMES = 8, FEWEST_ROWS = 32 };

static bool equal_rows(const pess_dataset *d, int64_t i, int64_t j) {
    return d->state[i] == d->state[j] && d->action[i] == d->action[j] && d->next_state[i] == d->next_state[j] &&
           d->reward[i] == d->reward[j] && d->end[i] == d->end[j] && (d->step == NULL || d->step[i] == d->step[j]) &&
           (d->probability == NULL || d->probability[i] == d->probability[j]);
}

/* Is every row equal to that `period` rows before it? */
static bool repeats(const pess_dataset *d, int64_t period) {
    for (int64_t i = period; i < d->rows; i++)
        if (!equal_rows(d, i - period, i)) return false;
    return true;
}

/* Do equal rows follow each other, `times` each time? */
static bool in_succession(const pess_dataset *d, int64_t times) {
    int64_t changes = 0;
    for (int64_t i = 1; i < d->rows; i++) {
        const bool equal = equal_rows(d, i - 1, i);
        if (i % times != 0 && !equal) return false;
        changes += !equal;
    }
    return changes >= FEWEST_ROWS;
}

static bool has_short_cycle(const pess_dataset *d) {
    for (int64_t period = 1; period < FEWEST_ROWS; period++)
        if (repeats(d, period)) return true;
    return false;
}

pess__copies pess__find_copies(const pess_dataset *d) {
    for (int64_t times = MOST_TIMES; times > 1; times--) {
        if (d->rows % times != 0 || d->rows / times < FEWEST_ROWS) continue;
        if (in_succession(d, times)) return (pess__copies){.times = times, .row = 1};
        if (repeats(d, d->rows / times) && !has_short_cycle(d))
            return (pess__copies){.times = times, .row = d->rows / times};
    }
    return (pess__copies){.times = 1, .row = -1};
}
