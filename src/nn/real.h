/* The number type of the networks: float. The gradient checks build the same sources with double, where finite
 * differences are exact enough to mean something. */
#ifndef PESS_NN_REAL_H
#define PESS_NN_REAL_H

#ifdef PESS__NN_DOUBLE
typedef double pess__real;
#else
typedef float pess__real;
#endif

#endif
