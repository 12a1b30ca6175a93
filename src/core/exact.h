/* Sums of doubles without rounding, so that a sum depends on its terms and not on their order. A sum is kept as parts
 * that do not overlap (Shewchuk, Adaptive precision floating-point arithmetic, 1997); two doubles are enough for
 * almost every sum, and pess__exact holds the others. */
#ifndef PESS_CORE_EXACT_H
#define PESS_CORE_EXACT_H

#include <stdbool.h>
#include <stdint.h>

/* The two parts of a sum: *sum = fl(a + b), and what rounding took away (Knuth's TwoSum). */
static inline double pess__two_sum(double a, double b, double *error) {
    const double sum = a + b, b_part = sum - a;
    *error = (a - (sum - b_part)) + (b - b_part);
    return sum;
}

/* Adds x to sum + rest, exactly. False, and nothing changed: two parts do not hold the result. */
static inline bool pess__add_to_pair(double *sum, double *rest, double x) {
    double error = 0, left = 0;
    const double new_sum = pess__two_sum(*sum, x, &error);
    if (error == 0) {
        *sum = new_sum;
        return true;
    }
    const double new_rest = pess__two_sum(*rest, error, &left);
    if (left != 0 || left != left) return false;
    *sum = new_sum;
    *rest = new_rest;
    return true;
}

/* 2098 bits from the smallest double to the largest, 53 in each part that pess__exact_take gives; while a sum grows,
 * parts may be shorter and more. */
enum { PESS__EXACT_PARTS = 42, PESS__EXACT_GROWING = 96 };

/* {0} is the empty sum. */
typedef struct pess__exact {
    double sum, rest; /* the sum, unless `wide` */
    bool wide;
    int parts;
    double part[PESS__EXACT_GROWING]; /* ascending, without overlap */
} pess__exact;

void pess__exact_widen(pess__exact *exact, double x); /* adds x by the long way */

static inline void pess__exact_add(pess__exact *exact, double x) {
    if (exact->wide || !pess__add_to_pair(&exact->sum, &exact->rest, x)) pess__exact_widen(exact, x);
}

/* Takes the sum apart, largest part first: each is the double nearest to what is left. Returns how many there are, at
 * least one; the one part is NaN where the sum is beyond the range of doubles. The sum is empty afterwards. */
int pess__exact_take(pess__exact *exact, double part[PESS__EXACT_PARTS]);

#endif
