/* What the parts of check_certificate share: log and counts, sets of rows, the test of one policy. */
#ifndef PESS_TESTS_CHECK_CERTIFICATE_H
#define PESS_TESTS_CHECK_CERTIFICATE_H

#include "checker.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

extern real gamma_, r_lo, r_hi, v_lo, v_hi;
extern bool ends, adaptive;
extern int successors_declared;
extern uint8_t *terminal;

/* ---- certificate_log.c */

typedef struct row {
    long s, a, t, episode;
    real r;
    bool end;
} row;

typedef struct table { /* counts; column S of next is the end; sums of rewards are relative to the first one */
    int actions;
    real origin, least, most; /* rewards: the first, the least, the most */
    real *n, *sum, *square, *next, *paid;
} table;

/* Room that lasts until the end, and its end. */
void *keep(size_t count, size_t size);
void release(void);
table new_table(int actions);
void put(table *c, const row *x, bool one_action);
row *read_log(const char *path, long *count, bool *episodes);

/* ---- certificate_sets.c */

real worst_of_both(const table *c, const table *earlier, const table *later, int z, const char *set, real delta,
                   real delta_learned, int declared, const real *v);
real by_sets(const table *c, const table *earlier, const table *later, const char *prefix, int declared, const real *pi,
             int sign, real *v);

/* ---- certificate_policy.c */

enum { PRIORS = 3 };

typedef struct test {
    table first, second; /* second: what is tested, or the imagined one */
    const char *prefix;  /* of the ledger */
    real ratio;
    int rows, targets, priors, declared;
    int *pair, *state, *reference, (*target)[2];
    real *weight, *v1, *centre, *expected, *variance, *low, *high, *cap, *excess;
    int *stake;
    int side; /* 1: a lower bound is wanted, −1: an upper one */
    bool *closed;
    const real *outer_low, *outer_high; /* [S] from the sets, or NULL */
    real *inverse1, *inverse, *v, *range, *seen, *h, *prior_v[PRIORS], *prior_r[PRIORS];
    bool *held;
} test;

real ledger(const test *x, const char *what);
void try_policy(test *x, const real *pi, real *lower, real *upper);

/* ---- certificate_floor.c */

enum { RUNGS = 4 };
void choose_stakes(test *x);
void cut_by_floor(test *x, int rungs);

#endif
