#include "core/exact.h"

#include <math.h>

/* Shewchuk's Grow-Expansion, leaving out parts that are zero. */
static void add_part(pess__exact *e, double x) {
    int kept = 0;
    for (int i = 0; i < e->parts; i++) {
        double error = 0;
        x = pess__two_sum(x, e->part[i], &error);
        if (error != 0) e->part[kept++] = error;
    }
    if (x != 0 || kept == 0) e->part[kept++] = x;
    e->parts = kept;
}

/* The double nearest to the sum of the parts, ties to even. */
static double nearest(const pess__exact *e) {
    int i = e->parts - 1;
    double sum = e->part[i], error = 0;
    while (i > 0 && error == 0) sum = pess__two_sum(sum, e->part[--i], &error);
    /* Half a unit was rounded away to even, and what lies below says that it was more than half. */
    if (i > 0 && error != 0 && (error < 0) == (e->part[i - 1] < 0)) {
        const double twice = 2 * error, other = sum + twice;
        if (other - sum == twice) sum = other;
    }
    return sum;
}

static int take_wide(pess__exact *e, double *part) {
    int count = 0;
    do {
        const double next = nearest(e);
        if (!isfinite(next)) {
            part[0] = NAN;
            return 1;
        }
        part[count++] = next;
        add_part(e, -next);
    } while (!(e->parts == 1 && e->part[0] == 0) && count < PESS__EXACT_PARTS);
    return count;
}

/* As few parts as the sum needs. */
static void compress(pess__exact *e) {
    double part[PESS__EXACT_PARTS];
    const int count = take_wide(e, part);
    for (int i = 0; i < count; i++) e->part[i] = part[count - 1 - i];
    e->parts = count;
}

void pess__exact_widen(pess__exact *e, double x) {
    if (!e->wide) {
        e->wide = true;
        e->parts = 0;
        add_part(e, e->rest);
        add_part(e, e->sum);
    }
    if (e->parts == PESS__EXACT_GROWING) compress(e);
    add_part(e, x);
}

int pess__exact_take(pess__exact *e, double part[PESS__EXACT_PARTS]) {
    int count = 1;
    if (e->wide) {
        count = take_wide(e, part);
    } else {
        double left = 0;
        part[0] = pess__two_sum(e->sum, e->rest, &left) + 0.0; /* no negative zero */
        if (!isfinite(part[0])) part[0] = NAN;
        if (left != 0 && isfinite(part[0])) part[count++] = left;
    }
    e->sum = e->rest = 0;
    e->wide = false;
    e->parts = 0;
    return count;
}
