/* The local problem of the state-wise bound (paper, appendix B): the best distribution over one state's actions. */
#ifndef PESS_SOLVE_WATERFILL_H
#define PESS_SOLVE_WATERFILL_H

#include <stdint.h>

/* Maximises Σ_a π(a)q(a) − strength·√(Σ_a π(a)²w(a)) over the distributions π [A] on the actions whose q and w are
 * finite (w > 0: the inverse count); the others get 0. strength > 0. Returns the maximum, -infinity where no action is
 * left. Takes no memory; linear in the number of actions for each of a few steps. */
double pess__waterfill(const double *q, const double *w, int64_t actions, double strength, double *pi);

#endif
