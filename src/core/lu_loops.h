/* What lu.h declares, in its two variants. */
#ifndef PESS_CORE_LU_LOOPS_H
#define PESS_CORE_LU_LOOPS_H

#include "core/cpu.h"

#include <stdint.h>

PESS__TWICE(void, pess__lu_factor, (double *a, int64_t n, int64_t stride, int threads));
PESS__TWICE(void, pess__lu_solve, (const double *lu, int64_t n, int64_t stride, double *b));
PESS__TWICE(void, pess__lu_solve_transposed, (const double *lu, int64_t n, int64_t stride, double *b));

#endif
