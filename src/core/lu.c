/* Dense LU: the loops for this processor. */
#include "core/lu.h"

#include "core/lu_loops.h"

int64_t pess__lu_stride(int64_t n) {
    const int64_t padded = (n + 3) / 4 * 4;
    return padded % 64 == 0 ? padded + 4 : padded;
}

void pess__lu_factor(double *a, int64_t n, int64_t stride, int threads) {
    PESS__CHOOSE(pess__lu_factor)(a, n, stride, threads);
}

void pess__lu_solve(const double *lu, int64_t n, int64_t stride, double *b) {
    PESS__CHOOSE(pess__lu_solve)(lu, n, stride, b);
}

void pess__lu_solve_transposed(const double *lu, int64_t n, int64_t stride, double *b) {
    PESS__CHOOSE(pess__lu_solve_transposed)(lu, n, stride, b);
}
