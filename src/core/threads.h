/* Number of threads to use: `wanted`, or all there are for 0. Loops are OpenMP's; their results never depend on it. */
#ifndef PESS_CORE_THREADS_H
#define PESS_CORE_THREADS_H

int pess__threads(int wanted);

/* Seconds of a clock that never goes back. */
double pess__clock(void);

#endif
