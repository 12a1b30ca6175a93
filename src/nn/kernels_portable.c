/* Kernels in plain C, for any machine. The loops over the 16 columns of a panel have constant length, which compilers
 * turn into whatever vectors there are. */
#include "nn/kernels.h"

#include "nn/optimise_loops.h"

#include <string.h>

enum { PANEL = PESS__PANEL, ROWS = 2 };

#define INLINE static inline __attribute__((always_inline))

static bool supported(void) { return true; }

/* Sixteen bytes of numbers: every compiler has vectors of that size, whatever the machine has. */
typedef pess__real vector __attribute__((vector_size(16)));
enum { LANES = 16 / sizeof(pess__real), VECTORS = PANEL / LANES };

INLINE vector load(const pess__real *from) {
    vector v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store(pess__real *to, vector v) { __builtin_memcpy(to, &v, sizeof v); }

/* acc[r] += Σ_i a[r*row_step + i*step]·b[i*b_step …+15], i ascending. rows is a constant where this is inlined, so that
 * the sums stay in registers. */
INLINE void tile_product(const pess__real *a, int64_t row_step, int64_t step, int rows, const pess__real *b,
                         int64_t b_step, int64_t count, vector acc[ROWS][VECTORS]) {
    for (int64_t i = 0; i < count; i++)
        for (int r = 0; r < rows; r++) {
            const pess__real factor = a[r * row_step + i * step];
            for (int v = 0; v < VECTORS; v++) acc[r][v] += factor * load(b + i * b_step + v * LANES);
        }
}

INLINE void forward_tile(const pess__real *x, int64_t k, int64_t used, int rows, const pess__real *w,
                         const pess__real *bias, int64_t n, pess__real slope, pess__real *y) {
    vector acc[ROWS][VECTORS];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < VECTORS; v++) acc[r][v] = load(bias + v * LANES);
    tile_product(x, k, 1, rows, w, PANEL, used, acc);
    for (int r = 0; r < rows; r++) {
        for (int v = 0; v < VECTORS; v++) store(y + r * n + v * LANES, acc[r][v]);
        for (int j = 0; j < PANEL; j++) y[r * n + j] = y[r * n + j] > 0 ? y[r * n + j] : slope * y[r * n + j];
    }
}

INLINE void input_tile(const pess__real *dy, int64_t n, int64_t used, int rows, const pess__real *t, int64_t k,
                       const pess__real *x, pess__real slope, pess__real *dx) {
    vector acc[ROWS][VECTORS] = {{{0}}};
    tile_product(dy, n, 1, rows, t, PANEL, used, acc);
    for (int r = 0; r < rows; r++) {
        pess__real sums[PANEL];
        for (int v = 0; v < VECTORS; v++) store(sums + v * LANES, acc[r][v]);
        for (int j = 0; j < PANEL; j++) dx[r * k + j] = sums[j] * (x == NULL || x[r * k + j] > 0 ? 1 : slope);
    }
}

static void forward(const pess__real *x, int64_t m, int64_t k, int64_t used, const pess__real *w,
                    const pess__real *bias, int64_t n, pess__real slope, pess__real *y) {
    for (int64_t column = 0; column < n; column += PANEL) {
        const pess__real *panel = w + column * k;
        int64_t row = 0;
        for (; row + ROWS <= m; row += ROWS)
            forward_tile(x + row * k, k, used, ROWS, panel, bias + column, n, slope, y + row * n + column);
        if (row < m) forward_tile(x + row * k, k, used, 1, panel, bias + column, n, slope, y + row * n + column);
    }
}

static void input_gradient(const pess__real *dy, int64_t m, int64_t n, int64_t used, const pess__real *transposed,
                           int64_t k, const pess__real *x, pess__real slope, pess__real *dx) {
    for (int64_t column = 0; column < k; column += PANEL) {
        const pess__real *panel = transposed + column * n;
        for (int64_t row = 0; row < m; row += ROWS) {
            const int64_t at = row * k + column;
            const pess__real *signs = x == NULL ? NULL : x + at;
            if (row + ROWS <= m)
                input_tile(dy + row * n, n, used, ROWS, panel, k, signs, slope, dx + at);
            else
                input_tile(dy + row * n, n, used, 1, panel, k, signs, slope, dx + at);
        }
    }
}

static void bias_gradient(const pess__real *dy, int64_t m, int64_t n, pess__real *db) {
    for (int64_t row = 0; row < m; row++)
        for (int64_t j = 0; j < n; j++) db[j] += dy[row * n + j];
}

/* Two rows of k at a time; k is even, so that beyond an odd number of rows is padding. */
static void weight_gradient(const pess__real *x, const pess__real *dy, int64_t m, int64_t k, int64_t used, int64_t n,
                            bool add, pess__real *dw, pess__real *db) {
    if (!add) memset(db, 0, (size_t)n * sizeof *db);
    bias_gradient(dy, m, n, db);
    for (int64_t column = 0; column < n; column += PANEL)
        for (int64_t row = 0; row < used; row += ROWS) {
            pess__real *out = dw + column * k + row * PANEL;
            vector acc[ROWS][VECTORS];
            for (int r = 0; r < ROWS; r++)
                for (int v = 0; v < VECTORS; v++) acc[r][v] = add ? load(out + r * PANEL + v * LANES) : (vector){0};
            tile_product(x + row, 1, k, ROWS, dy + column, n, m, acc);
            for (int r = 0; r < ROWS; r++)
                for (int v = 0; v < VECTORS; v++) store(out + r * PANEL + v * LANES, acc[r][v]);
        }
}

static void transpose(const pess__real *w, int64_t k, int64_t n, pess__real *transposed) {
    for (int64_t column = 0; column < n; column++)
        for (int64_t i = 0; i < k; i++)
            transposed[i / PANEL * n * PANEL + column * PANEL + i % PANEL] =
                w[column / PANEL * k * PANEL + i * PANEL + column % PANEL];
}

static void bits_forward(const pess__bits_plan *plan, const uint8_t *bits, int64_t samples, const pess__real *w,
                         const pess__real *bias, int64_t n, pess__real slope, pess__real *y) {
    const int64_t size = plan->positions * n;
    for (int64_t sample = 0; sample < samples; sample++, bits += plan->stride, y += size) {
        for (int64_t i = 0; i < size; i += n)
            for (int64_t j = 0; j < n; j++) y[i + j] = bias[j];
        for (int64_t i = 0; i < plan->words; i++)
            for (uint64_t word = pess__load_word(bits, i); word != 0; word &= word - 1) {
                const int32_t *range = plan->first + 64 * i + __builtin_ctzll(word);
                for (int32_t link = range[0]; link < range[1]; link++) {
                    const pess__real *from = w + plan->links[link].row;
                    pess__real *to = y + plan->links[link].slot;
                    for (int64_t j = 0; j < n; j++) to[j] += from[j];
                }
            }
        for (int64_t i = 0; i < size; i++) y[i] = y[i] > 0 ? y[i] : slope * y[i];
    }
}

static void bits_gradient(const pess__bits_plan *plan, const uint8_t *bits, int64_t samples, const pess__real *dy,
                          int64_t n, pess__real *dw) {
    for (int64_t sample = 0; sample < samples; sample++, bits += plan->stride, dy += plan->positions * n)
        for (int64_t i = 0; i < plan->words; i++)
            for (uint64_t word = pess__load_word(bits, i); word != 0; word &= word - 1) {
                const int32_t *range = plan->first + 64 * i + __builtin_ctzll(word);
                for (int32_t link = range[0]; link < range[1]; link++) {
                    const pess__real *from = dy + plan->links[link].slot;
                    pess__real *to = dw + plan->links[link].row;
                    for (int64_t j = 0; j < n; j++) to[j] += from[j];
                }
            }
}

static void adam(const pess__adam *s, int64_t count, const pess__real *gradient, pess__real *parameters,
                 pess__real *first, pess__real *second) {
    pess__adam_loop(s, count, gradient, parameters, first, second);
}

static void rmsprop(const pess__rmsprop *s, int64_t count, const pess__real *gradient, pess__real *parameters,
                    pess__real *first, pess__real *second) {
    pess__rmsprop_loop(s, count, gradient, parameters, first, second);
}

const pess__kernels pess__kernels_portable = {
    .name = "portable",
    .sums = "portable",
    .supported = supported,
    .forward = forward,
    .input_gradient = input_gradient,
    .weight_gradient = weight_gradient,
    .bias_gradient = bias_gradient,
    .transpose = transpose,
    .bits_forward = bits_forward,
    .bits_gradient = bits_gradient,
    .adam = adam,
    .rmsprop = rmsprop,
};
