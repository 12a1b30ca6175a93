/* Dense LU for the small systems of policy evaluation: I − γP and its relatives. */
#ifndef PESS_CORE_LU_H
#define PESS_CORE_LU_H

#include <stdint.h>

/* Leading dimension for n columns: a multiple of four doubles, never of a whole page, so that rows do not collide in
 * the cache. */
int64_t pess__lu_stride(int64_t n);

/* a [n*stride], row-major, becomes L (unit diagonal, below) and U (above). No pivoting: the caller's matrix is a
 * nonsingular M-matrix (positive diagonal, no positive entry off it, weakly diagonally dominant by rows). */
void pess__lu_factor(double *a, int64_t n, int64_t stride, int threads);
/* b [n] becomes A⁻¹b. */
void pess__lu_solve(const double *lu, int64_t n, int64_t stride, double *b);
/* b [n] becomes A⁻ᵀb. */
void pess__lu_solve_transposed(const double *lu, int64_t n, int64_t stride, double *b);

#endif
