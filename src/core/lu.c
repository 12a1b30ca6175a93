/* Blocked right-looking elimination. The update of the trailing matrix, where all the work is, keeps a tile of 4 rows
 * by 8 columns in registers. */
#include "core/lu.h"

#include <stddef.h>
#include <string.h>
#if defined(__FMA__) && defined(__AVX2__)
#include <immintrin.h>
#endif

enum { BLOCK = 32, TILE_ROWS = 4, TILE_COLUMNS = 8, PARALLEL_FROM = 384 };

typedef double quad __attribute__((vector_size(32)));

static inline quad load(const double *p) {
    quad x;
    memcpy(&x, p, sizeof x);
    return x;
}

static inline void store(double *p, quad x) { memcpy(p, &x, sizeof x); }

/* c − a·b, fused where the machine can. */
static inline quad subtract_product(quad c, quad a, quad b) {
#if defined(__FMA__) && defined(__AVX2__)
    return (quad)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return c - a * b;
#endif
}

int64_t pess__lu_stride(int64_t n) {
    const int64_t padded = (n + 3) / 4 * 4;
    return padded % 64 == 0 ? padded + 4 : padded;
}

/* c [4,8] −= l [4,depth] · u [depth,8] */
static inline void update_tile(double *c, const double *l, const double *u, int64_t depth, int64_t stride) {
    quad acc[TILE_ROWS][2];
    for (int i = 0; i < TILE_ROWS; i++) {
        acc[i][0] = load(c + i * stride);
        acc[i][1] = load(c + i * stride + 4);
    }
    for (int64_t p = 0; p < depth; p++) {
        const quad left = load(u + p * stride), right = load(u + p * stride + 4);
        for (int i = 0; i < TILE_ROWS; i++) {
            const double factor = l[i * stride + p];
            const quad spread = {factor, factor, factor, factor};
            acc[i][0] = subtract_product(acc[i][0], spread, left);
            acc[i][1] = subtract_product(acc[i][1], spread, right);
        }
    }
    for (int i = 0; i < TILE_ROWS; i++) {
        store(c + i * stride, acc[i][0]);
        store(c + i * stride + 4, acc[i][1]);
    }
}

/* The same for the ragged edge: rows × columns entries. */
static void update_edge(double *c, const double *l, const double *u, int64_t rows, int64_t columns, int64_t depth,
                        int64_t stride) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t p = 0; p < depth; p++) {
            const double factor = l[i * stride + p];
            for (int64_t j = 0; j < columns; j++) c[i * stride + j] -= factor * u[p * stride + j];
        }
}

/* Rows [from, to) of the trailing matrix: A22 −= L21·U12. */
static void update_rows(double *a, int64_t from, int64_t to, int64_t k, int64_t depth, int64_t n, int64_t stride) {
    int64_t j = k + depth;
    for (; j + TILE_COLUMNS <= n; j += TILE_COLUMNS) {
        int64_t i = from;
        for (; i + TILE_ROWS <= to; i += TILE_ROWS)
            update_tile(a + i * stride + j, a + i * stride + k, a + k * stride + j, depth, stride);
        update_edge(a + i * stride + j, a + i * stride + k, a + k * stride + j, to - i, TILE_COLUMNS, depth, stride);
    }
    update_edge(a + from * stride + j, a + from * stride + k, a + k * stride + j, to - from, n - j, depth, stride);
}

/* Columns [k, k+depth) of all rows below k: plain elimination.
 *   l_ik = a_ik / a_kk,   a_ij ← a_ij − l_ik a_kj
 * No pivots are needed: every Schur complement of a row diagonally dominant M-matrix is one again, so |a_kk| is the
 * largest entry of its row throughout and the growth factor is at most 2 (Higham 2002, section 9.5). */
static void factor_panel(double *a, int64_t k, int64_t depth, int64_t n, int64_t stride) {
    const int64_t end = k + depth;
    for (int64_t p = k; p < end; p++) {
        const double *pivot = a + p * stride;
        const double inverse = 1.0 / pivot[p];
        for (int64_t i = p + 1; i < n; i++) {
            double *row = a + i * stride;
            const double factor = row[p] * inverse;
            row[p] = factor;
            for (int64_t j = p + 1; j < end; j++) row[j] -= factor * pivot[j];
        }
    }
}

/* U12: forward substitution with the unit triangle of the panel. */
static void solve_block_row(double *a, int64_t k, int64_t depth, int64_t n, int64_t stride) {
    for (int64_t i = k + 1; i < k + depth; i++)
        for (int64_t p = k; p < i; p++) {
            const double factor = a[i * stride + p];
            const double *restrict source = a + p * stride;
            double *restrict target = a + i * stride;
            for (int64_t j = k + depth; j < n; j++) target[j] -= factor * source[j];
        }
}

void pess__lu_factor(double *a, int64_t n, int64_t stride, int threads) {
    for (int64_t k = 0; k < n; k += BLOCK) {
        const int64_t depth = n - k < BLOCK ? n - k : BLOCK, next = k + depth;
        factor_panel(a, k, depth, n, stride);
        if (next >= n) break;
        solve_block_row(a, k, depth, n, stride);
        if (threads <= 1 || n - next < PARALLEL_FROM) {
            update_rows(a, next, n, k, depth, n, stride);
            continue;
        }
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t i = next; i < n; i += BLOCK) update_rows(a, i, i + BLOCK < n ? i + BLOCK : n, k, depth, n, stride);
    }
}

void pess__lu_solve(const double *lu, int64_t n, int64_t stride, double *b) {
    for (int64_t i = 1; i < n; i++) {
        const double *row = lu + i * stride;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < i; j++) sum += row[j] * b[j];
        b[i] -= sum;
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        const double *row = lu + i * stride;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = i + 1; j < n; j++) sum += row[j] * b[j];
        b[i] = (b[i] - sum) / row[i];
    }
}

void pess__lu_solve_transposed(const double *lu, int64_t n, int64_t stride, double *b) {
    for (int64_t i = 0; i < n; i++) {
        const double *row = lu + i * stride;
        const double value = b[i] / row[i];
        b[i] = value;
        for (int64_t j = i + 1; j < n; j++) b[j] -= value * row[j];
    }
    for (int64_t i = n - 1; i > 0; i--) {
        const double *row = lu + i * stride;
        const double value = b[i];
        for (int64_t j = 0; j < i; j++) b[j] -= value * row[j];
    }
}
