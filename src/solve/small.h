/* Policy iteration for greedy algorithms in models of few states: one block of memory, rows of equal length, sparse
 * elimination. */
#ifndef PESS_SOLVE_SMALL_H
#define PESS_SOLVE_SMALL_H

#include "solve/algorithm.h"

/* The model is small enough, and the method and evaluation are left open (or are those used here). */
bool pess__small_fits(const pess__problem *problem, const pess__local *local);
/* As pess__optimise. */
pess_status pess__small_optimise(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                                 pess_error *error);

#endif
