/* The loops of dense LU, compiled twice (core/cpu.h).
 *
 * Blocked right-looking elimination in two levels: panels of PANEL columns for the cache, within them strips of STRIP
 * columns for the registers. The update of the trailing matrix, where all the work is, keeps a tile of 4 rows by 8
 * columns in registers; tiles whose factors are all zero are skipped, which in the matrices of grids is most of them.
 */
#include "core/lu_loops.h"

#include "core/quad.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { PANEL = 64, STRIP = 8, COLUMNS = 48, TILE_ROWS = 4, PARALLEL_FROM = 384 };

/* c [4,8] −= l [4,depth] · u [depth,8] */
static inline void update_tile(double *c, const double *l, const double *u, int64_t depth, int64_t stride) {
    pess__quad acc[TILE_ROWS][2];
    for (int i = 0; i < TILE_ROWS; i++) {
        acc[i][0] = pess__quad_load(c + i * stride);
        acc[i][1] = pess__quad_load(c + i * stride + 4);
    }
    for (int64_t p = 0; p < depth; p++) {
        const pess__quad left = pess__quad_load(u + p * stride), right = pess__quad_load(u + p * stride + 4);
        for (int i = 0; i < TILE_ROWS; i++) {
            const pess__quad factor = pess__quad_of(l[i * stride + p]);
            acc[i][0] -= factor * left;
            acc[i][1] -= factor * right;
        }
    }
    for (int i = 0; i < TILE_ROWS; i++) {
        pess__quad_store(c + i * stride, acc[i][0]);
        pess__quad_store(c + i * stride + 4, acc[i][1]);
    }
}

/* The same for the ragged edge: rows × columns entries. */
static void update_edge(double *c, const double *l, const double *u, int64_t rows, int64_t columns, int64_t depth,
                        int64_t stride) {
    if (columns <= 0) return;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t p = 0; p < depth; p++) {
            const double factor = l[i * stride + p];
            if (factor == 0.0) continue;
            for (int64_t j = 0; j < columns; j++) c[i * stride + j] -= factor * u[p * stride + j];
        }
}

static inline bool all_zero(const double *a, int64_t rows, int64_t columns, int64_t stride) {
    const pess__quad zero = {0};
    pess__quad_bits any = {0};
    for (int64_t i = 0; i < rows; i++) {
        int64_t j = 0;
        for (; j + 4 <= columns; j += 4) any |= (pess__quad_bits)(pess__quad_load(a + i * stride + j) != zero);
        for (; j < columns; j++) any[0] |= a[i * stride + j] != 0.0;
    }
    return (any[0] | any[1] | any[2] | any[3]) == 0;
}

/* A[from…to, first…last) −= L[from…to, k…k+depth) · U[k…k+depth, first…last) */
static void update(double *a, int64_t from, int64_t to, int64_t first, int64_t last, int64_t k, int64_t depth,
                   int64_t stride) {
    for (int64_t i = from; i < to; i += TILE_ROWS) {
        const int64_t rows = to - i < TILE_ROWS ? to - i : TILE_ROWS;
        const double *l = a + i * stride + k;
        if (all_zero(l, rows, depth, stride)) continue;
        int64_t j = first;
        if (rows == TILE_ROWS)
            for (; j + STRIP <= last; j += STRIP) update_tile(a + i * stride + j, l, a + k * stride + j, depth, stride);
        update_edge(a + i * stride + j, l, a + k * stride + j, rows, last - j, depth, stride);
    }
}

/* Columns [k, k+depth), depth ≤ STRIP, of all rows from k on: plain elimination.
 *   l_ik = a_ik / a_kk,   a_ij ← a_ij − l_ik a_kj
 * No pivots are needed: every Schur complement of a row diagonally dominant M-matrix is one again, so |a_kk| is the
 * largest entry of its row throughout and the growth factor is at most 2 (Higham 2002, section 9.5). */
static void eliminate_strip(double *a, int64_t k, int64_t depth, int64_t n, int64_t stride) {
    double inverse[STRIP], pivot[STRIP][STRIP] = {{0}}; /* rows of U with zeros up to the diagonal */
    for (int64_t p = 0; p < depth; p++) {
        double *row = a + (k + p) * stride + k;
        for (int64_t m = 0; m < p; m++) {
            const double factor = row[m] * inverse[m];
            if (factor == 0.0) continue;
            for (int64_t j = m + 1; j < depth; j++) row[j] -= factor * pivot[m][j];
            row[m] = factor;
        }
        inverse[p] = 1.0 / row[p];
        for (int64_t j = p + 1; j < depth; j++) pivot[p][j] = row[j];
    }
    for (int64_t i = k + depth; i < n; i++) {
        double *row = a + i * stride + k;
        if (depth < STRIP) {
            for (int64_t m = 0; m < depth; m++) {
                const double factor = row[m] * inverse[m];
                for (int64_t j = m + 1; j < depth; j++) row[j] -= factor * pivot[m][j];
                row[m] = factor;
            }
            continue;
        }
        pess__quad left = pess__quad_load(row), right = pess__quad_load(row + 4);
        if (all_zero(row, 1, STRIP, stride)) continue;
        for (int m = 0; m < 4; m++) {
            const double factor = left[m] * inverse[m];
            left -= pess__quad_of(factor) * pess__quad_load(pivot[m]);
            right -= pess__quad_of(factor) * pess__quad_load(pivot[m] + 4);
            left[m] = factor;
        }
        for (int m = 4; m < STRIP; m++) {
            const double factor = right[m - 4] * inverse[m];
            right -= pess__quad_of(factor) * pess__quad_load(pivot[m] + 4);
            right[m - 4] = factor;
        }
        pess__quad_store(row, left);
        pess__quad_store(row + 4, right);
    }
}

/* Rows k … k+depth of U in the columns [first, last): forward substitution with the unit triangle. */
static void solve_rows(double *a, int64_t k, int64_t depth, int64_t first, int64_t last, int64_t stride) {
    for (int64_t i = k + 1; i < k + depth; i++)
        for (int64_t p = k; p < i; p++) {
            const double factor = a[i * stride + p];
            if (factor == 0.0) continue;
            const double *restrict source = a + p * stride;
            double *restrict target = a + i * stride;
            for (int64_t j = first; j < last; j++) target[j] -= factor * source[j];
        }
}

/* u [8,8] becomes L⁻¹u with the unit triangle l [8,8]. */
static inline void solve_tile(double *u, const double *l, int64_t stride) {
    pess__quad left[STRIP], right[STRIP];
    for (int i = 0; i < STRIP; i++) {
        left[i] = pess__quad_load(u + i * stride);
        right[i] = pess__quad_load(u + i * stride + 4);
        for (int p = 0; p < i; p++) {
            const pess__quad factor = pess__quad_of(l[i * stride + p]);
            left[i] -= factor * left[p];
            right[i] -= factor * right[p];
        }
        pess__quad_store(u + i * stride, left[i]);
        pess__quad_store(u + i * stride + 4, right[i]);
    }
}

/* Columns [k, end) of all rows from k on. */
static void factor_panel(double *a, int64_t k, int64_t end, int64_t n, int64_t stride) {
    for (int64_t p = k; p < end; p += STRIP) {
        const int64_t depth = end - p < STRIP ? end - p : STRIP, next = p + depth;
        eliminate_strip(a, p, depth, n, stride);
        int64_t j = next;
        for (; j + STRIP <= end; j += STRIP) { /* a strip of columns at a time: zero ones stay as they are */
            if (all_zero(a + p * stride + j, STRIP, STRIP, stride)) continue;
            solve_tile(a + p * stride + j, a + p * stride + p, stride);
            update(a, next, n, j, j + STRIP, p, depth, stride);
        }
        solve_rows(a, p, depth, j, end, stride);
        if (j < end) update(a, next, n, j, end, p, depth, stride);
    }
}

/* Columns [first, last) right of a factored panel: their part of U, then what it takes from the rows below. Narrow
 * enough for the part of U to stay in the first cache; independent of all other columns. */
static void follow_columns(double *a, int64_t k, int64_t end, int64_t first, int64_t last, int64_t n, int64_t stride) {
    solve_rows(a, k, end - k, first, last, stride);
    update(a, end, n, first, last, k, end - k, stride);
}

void PESS__VARIANT(pess__lu_factor)(double *a, int64_t n, int64_t stride, int threads) {
    for (int64_t k = 0; k < n; k += PANEL) {
        const int64_t end = n - k < PANEL ? n : k + PANEL;
        factor_panel(a, k, end, n, stride);
        if (threads <= 1 || n - end < PARALLEL_FROM) {
            for (int64_t j = end; j < n; j += COLUMNS)
                follow_columns(a, k, end, j, j + COLUMNS < n ? j + COLUMNS : n, n, stride);
            continue;
        }
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t j = end; j < n; j += COLUMNS)
            follow_columns(a, k, end, j, j + COLUMNS < n ? j + COLUMNS : n, n, stride);
    }
}

/* Σ_{j in [from, to)} row_i(j)·b(j) of four rows at once: four sums that do not wait for one another. */
static void four_dots(const double *rows, int64_t stride, int64_t from, int64_t to, const double *b, double *dots) {
    pess__quad sum[4] = {{0}};
    int64_t j = from;
    for (; j + 4 <= to; j += 4) {
        const pess__quad part = pess__quad_load(b + j);
        for (int i = 0; i < 4; i++) sum[i] -= pess__quad_load(rows + i * stride + j) * part;
    }
    for (int i = 0; i < 4; i++) {
        dots[i] = -((sum[i][0] + sum[i][1]) + (sum[i][2] + sum[i][3]));
        for (int64_t k = j; k < to; k++) dots[i] += rows[i * stride + k] * b[k];
    }
}

/* Rows in groups of four, the last group ragged: what lies outside the group's own triangle in one go. */
void PESS__VARIANT(pess__lu_solve)(const double *lu, int64_t n, int64_t stride, double *b) {
    const int64_t whole = n / 4 * 4;
    for (int64_t i = 0; i < n; i += 4) {
        double dots[4] = {0};
        const int64_t rows = i < whole ? 4 : n - i;
        if (rows == 4) four_dots(lu + i * stride, stride, 0, i, b, dots);
        for (int64_t r = 0; r < rows; r++) {
            const double *row = lu + (i + r) * stride;
            for (int64_t j = rows == 4 ? i : 0; j < i + r; j++) dots[r] += row[j] * b[j];
            b[i + r] -= dots[r];
        }
    }
    for (int64_t i = (n - 1) / 4 * 4; i >= 0; i -= 4) {
        double dots[4] = {0};
        const int64_t rows = i < whole ? 4 : n - i, end = i + rows;
        if (rows == 4) four_dots(lu + i * stride, stride, end, n, b, dots);
        for (int64_t r = rows - 1; r >= 0; r--) {
            const double *row = lu + (i + r) * stride;
            for (int64_t j = i + r + 1; j < end; j++) dots[r] += row[j] * b[j];
            b[i + r] = (b[i + r] - dots[r]) / row[i + r];
        }
    }
}

void PESS__VARIANT(pess__lu_solve_transposed)(const double *lu, int64_t n, int64_t stride, double *b) {
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
