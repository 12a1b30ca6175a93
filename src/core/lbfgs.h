/* Smooth maximisation without constraints: limited-memory BFGS (Liu & Nocedal 1989) with the bisection line search for
 * the weak Wolfe conditions (Lewis & Overton 2013), which also copes with functions that are only nearly smooth. */
#ifndef PESS_CORE_LBFGS_H
#define PESS_CORE_LBFGS_H

#include "core/status.h"

typedef struct pess__lbfgs {
    int64_t n;
    void *context;
    /* f(x) and its gradient [n]. A status other than PESS_OK ends the search with it. */
    pess_status (*evaluate)(void *context, const double *x, double *f, double *gradient, pess_error *error);
    int64_t max_steps;
    double tolerance; /* stop where a step raises f by less than this, relative to 1 + |f| */
} pess__lbfgs;

/* Climbs from x [n] and leaves the best point there, its value in *f and the number of steps taken in *steps. */
pess_status pess__lbfgs_maximise(const pess__lbfgs *search, double *x, double *f, int64_t *steps, pess_error *error);

#endif
