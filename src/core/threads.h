/* Number of threads to use: `wanted`, or all there are for 0; fewer where the system has no more to give; one in a
 * child of fork(). Loops are OpenMP's; their results never depend on it. */
#ifndef PESS_CORE_THREADS_H
#define PESS_CORE_THREADS_H

#include "pess.h"

/* Where the compiler has no OpenMP there is one thread, number 0. */
#ifdef _OPENMP
#include <omp.h>
#else
static inline int omp_get_thread_num(void) { return 0; }
static inline int omp_get_max_threads(void) { return 1; }
static inline void omp_set_num_threads(int threads) { (void)threads; }
#endif

int pess__threads(int wanted);
/* The same for a number of threads that was found earlier and kept: the process may have forked since. */
int pess__threads_still(int threads);

/* For one of several threads: if `own` is a failure and *status is none yet, keeps it and its reason. (A critical
 * section of OpenMP would do, but clang exports its lock.) */
void pess__keep_failure(pess_status own, const pess_error *why, pess_status *status, pess_error *error);

/* Seconds of a clock that never goes back. */
double pess__clock(void);

#endif
