/* The kernels of an instruction set with vectors and fused multiply-add, written once. The file that includes this says
 * what its vectors are:
 *
 *     TARGET                              attribute of a function that may use the instructions
 *     vector, LANES                       its type and how many numbers it holds
 *     load, store, fill, zero             of memory; one number in every lane; zeros
 *     fused, plus, leak                   a·b + c rounded once; a + b; v where sign > 0, else slope·v
 *     ROWS, PANELS                        the most rows and the most panels of 16 columns of a tile, in registers
 *     ROWS_OF(panels)                     rows of a tile with so many panels
 *     ROW_CASES(panels, call)             CASE(ROWS, panels, call) … CASE(2, panels, call)
 *     next_panels(columns)                panels of the next tile, where so many columns are left
 *     WITH_PANELS(panels, function, …)    function(…, panels) with the number of panels as a constant
 *
 * Each number of a result has a chain of its own, over k or m in ascending order with one fused multiply-add per term.
 * How wide the vectors are and how many chains run side by side changes no bit: all who include this give the same
 * bytes. */
#ifndef PESS_NN_KERNELS_TILES_H
#define PESS_NN_KERNELS_TILES_H

#include "nn/optimise_loops.h"

#define INLINE static inline __attribute__((always_inline)) TARGET

enum { PANEL = PESS__PANEL, VECTORS = PANEL / LANES, WIDTH = PANELS * VECTORS, AHEAD = 8 };

/* acc[r] += Σ_i a[r*row_step + i*step]·b[i*b_step …+15] of each panel, i ascending. rows and panels are constants where
 * this is inlined. Where factors come from one row of a after the other, no processor guesses the next: the row AHEAD
 * is asked for. */
INLINE void tile_product(const float *a, int64_t row_step, int64_t step, int rows, const float *b, int64_t b_step,
                         int64_t panel_step, int panels, int64_t count, vector acc[ROWS][WIDTH]) {
    for (int64_t i = 0; i < count; i++) {
        vector columns[WIDTH];
        const float *from = a + i * step;
        if (step > 1) {
            __builtin_prefetch(from + AHEAD * step);
            __builtin_prefetch(from + AHEAD * step + rows - 1);
        }
        for (int c = 0; c < panels * VECTORS; c++)
            columns[c] = load(b + i * b_step + c / VECTORS * panel_step + c % VECTORS * LANES);
        for (int r = 0; r < rows; r++) {
            const vector factor = fill(from + r * row_step);
            for (int c = 0; c < panels * VECTORS; c++) acc[r][c] = fused(factor, columns[c], acc[r][c]);
        }
    }
}

INLINE void forward_tile(const float *x, int64_t k, int64_t used, int rows, int panels, const float *w,
                         const float *bias, int64_t n, vector slope, float *y) {
    vector acc[ROWS][WIDTH];
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < panels * VECTORS; c++) acc[r][c] = load(bias + c * LANES);
    tile_product(x, k, 1, rows, w, PANEL, k * PANEL, panels, used, acc);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < panels * VECTORS; c++) store(y + r * n + c * LANES, leak(acc[r][c], acc[r][c], slope));
}

INLINE void input_tile(const float *dy, int64_t n, int64_t used, int rows, int panels, const float *t, int64_t k,
                       const float *x, vector slope, float *dx) {
    vector acc[ROWS][WIDTH];
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < panels * VECTORS; c++) acc[r][c] = zero();
    tile_product(dy, n, 1, rows, t, PANEL, n * PANEL, panels, used, acc);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < panels * VECTORS; c++) {
            const int64_t at = r * k + c * LANES;
            store(dx + at, x == NULL ? acc[r][c] : leak(acc[r][c], load(x + at), slope));
        }
}

/* Rows of the weights' gradient: `rows` of k, some panels of columns. The next tile's are asked for meanwhile. */
INLINE void weight_tile(const float *x, int64_t step, int rows, int panels, const float *dy, int64_t n, int64_t m,
                        int64_t k, bool add, float *dw) {
    vector acc[ROWS][WIDTH];
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < panels; c++) __builtin_prefetch(dw + (r + rows) * PANEL + c * k * PANEL, 1);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < panels * VECTORS; c++)
            acc[r][c] = add ? load(dw + r * PANEL + c / VECTORS * k * PANEL + c % VECTORS * LANES) : zero();
    tile_product(x, 1, step, rows, dy, n, PANEL, panels, m, acc);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < panels * VECTORS; c++)
            store(dw + r * PANEL + c / VECTORS * k * PANEL + c % VECTORS * LANES, acc[r][c]);
}

#define CASE(rows, panels, call)                                                                                       \
    case rows:                                                                                                         \
        if ((rows) <= ROWS_OF(panels)) call(rows);                                                                     \
        break;
/* Calls a tile function with the number of rows as a constant; that of panels is one already. */
#define WITH_ROWS(rows, panels, call)                                                                                  \
    switch (rows) {                                                                                                    \
        ROW_CASES(panels, call)                                                                                        \
        default: call(1); break;                                                                                       \
    }

/* Rows of the next tile: as many as it has, but the last few in two halves, since tiles of one or two rows leave the
 * FMA units waiting. */
static inline int next_rows(int64_t left, int most) {
    return left <= most ? (int)left : left < most + most / 2 ? (int)(left + 1) / 2 : most;
}

/* All rows of some panels. */
INLINE void forward_panels(const float *x, int64_t m, int64_t k, int64_t used, const float *w, const float *bias,
                           int64_t n, vector slope, float *y, int panels) {
    for (int64_t row = 0, rows; row < m; row += rows) {
        rows = next_rows(m - row, ROWS_OF(panels));
#define CALL(r) forward_tile(x + row * k, k, used, r, panels, w, bias, n, slope, y + row * n)
        WITH_ROWS(rows, panels, CALL)
#undef CALL
    }
}

TARGET static void forward(const float *x, int64_t m, int64_t k, int64_t used, const float *w, const float *bias,
                           int64_t n, float slope, float *y) {
    const vector slopes = fill(&slope);
    for (int64_t column = 0, panels; column < n; column += panels * PANEL) {
        panels = next_panels(n - column);
        WITH_PANELS(panels, forward_panels, x, m, k, used, w + column * k, bias + column, n, slopes, y + column);
    }
}

INLINE void input_panels(const float *dy, int64_t m, int64_t n, int64_t used, const float *transposed, int64_t k,
                         const float *x, vector slope, float *dx, int panels) {
    for (int64_t row = 0, rows; row < m; row += rows) {
        rows = next_rows(m - row, ROWS_OF(panels));
        const float *signs = x == NULL ? NULL : x + row * k;
#define CALL(r) input_tile(dy + row * n, n, used, r, panels, transposed, k, signs, slope, dx + row * k)
        WITH_ROWS(rows, panels, CALL)
#undef CALL
    }
}

TARGET static void input_gradient(const float *dy, int64_t m, int64_t n, int64_t used, const float *transposed,
                                  int64_t k, const float *x, float slope, float *dx) {
    const vector slopes = fill(&slope);
    for (int64_t column = 0, panels; column < k; column += panels * PANEL) {
        panels = next_panels(k - column);
        const float *signs = x == NULL ? NULL : x + column;
        WITH_PANELS(panels, input_panels, dy, m, n, used, transposed + column * n, k, signs, slopes, dx + column);
    }
}

/* Rows of dy are far apart, often by a power of two, and would fight for the same cache lines: a tile's panels of them
 * are copied to where they lie tight, and serve all rows of k. Their sum, the gradient of the biases, is taken on the
 * way. */
enum { BLOCK = 128, PANEL_WIDTH = PANELS * PANEL };

INLINE void copy_and_sum(const float *dy, int64_t n, int64_t m, int panels, bool add, float *to, float *db) {
    vector sum[WIDTH];
    for (int c = 0; c < panels * VECTORS; c++) sum[c] = add ? load(db + c * LANES) : zero();
    for (int64_t i = 0; i < m; i++)
        for (int c = 0; c < panels * VECTORS; c++) {
            const vector own = load(dy + i * n + c * LANES);
            sum[c] = plus(sum[c], own);
            store(to + i * PANEL_WIDTH + c * LANES, own);
        }
    for (int c = 0; c < panels * VECTORS; c++) store(db + c * LANES, sum[c]);
}

INLINE void weight_panels(const float *x, const float *dy, int64_t m, int64_t k, int64_t used, int64_t n, bool add,
                          float *dw, float *db, int panels) {
    _Alignas(64) float tight[PANEL_WIDTH * BLOCK];
    copy_and_sum(dy, n, m, panels, add, tight, db);
    for (int64_t row = 0, rows; row < used; row += rows) {
        rows = next_rows(used - row, ROWS_OF(panels));
#define CALL(r) weight_tile(x + row, k, r, panels, tight, PANEL_WIDTH, m, k, add, dw + row * PANEL)
        WITH_ROWS(rows, panels, CALL)
#undef CALL
    }
}

TARGET static void weight_gradient(const float *x, const float *dy, int64_t m, int64_t k, int64_t used, int64_t n,
                                   bool add, float *dw, float *db) {
    for (int64_t first = 0; first < m; first += BLOCK) {
        const int64_t count = m - first < BLOCK ? m - first : BLOCK;
        for (int64_t column = 0, panels; column < n; column += panels * PANEL) {
            panels = next_panels(n - column);
            WITH_PANELS(panels, weight_panels, x + first * k, dy + first * n + column, count, k, used, n,
                        add || first > 0, dw + column * k, db + column);
        }
    }
}

TARGET static void bias_gradient(const float *dy, int64_t m, int64_t n, float *db) {
    for (int64_t column = 0; column < n; column += PANEL) {
        vector sum[VECTORS];
        for (int v = 0; v < VECTORS; v++) sum[v] = load(db + column + v * LANES);
        for (int64_t row = 0; row < m; row++)
            for (int v = 0; v < VECTORS; v++) sum[v] = plus(sum[v], load(dy + row * n + column + v * LANES));
        for (int v = 0; v < VECTORS; v++) store(db + column + v * LANES, sum[v]);
    }
}

/* ---- the first layer of bits */

/* Adds a row of `vectors` to another. */
INLINE void add_row(const float *from, float *to, int vectors) {
    for (int v = 0; v < vectors; v++) store(to + LANES * v, plus(load(to + LANES * v), load(from + LANES * v)));
}

/* Rows of N: 16 and 32 with the length as a constant, others panel by panel. */
INLINE void add_rows(const float *from, float *to, int64_t n, int vectors) {
    if (vectors > 0)
        add_row(from, to, vectors);
    else
        for (int64_t j = 0; j < n; j += PANEL) add_row(from + j, to + j, VECTORS);
}

/* For each link of each set bit: y[slot] += w[row] or, with `back`, dw[row] += dy[slot]. */
INLINE void follow_links(const pess__bits_plan *plan, const uint8_t *bits, const float *from, float *to, int64_t n,
                         int vectors, bool back) {
    for (int64_t i = 0; i < plan->words; i++)
        for (uint64_t word = pess__load_word(bits, i); word != 0; word &= word - 1) {
            const int32_t *range = plan->first + 64 * i + __builtin_ctzll(word);
            for (int32_t link = range[0]; link < range[1]; link++) {
                const pess__link l = plan->links[link];
                add_rows(from + (back ? l.slot : l.row), to + (back ? l.row : l.slot), n, vectors);
            }
        }
}

INLINE void follow_all(const pess__bits_plan *plan, const uint8_t *bits, const float *from, float *to, int64_t n,
                       bool back) {
    if (n == PANEL)
        follow_links(plan, bits, from, to, n, VECTORS, back);
    else if (n == 2 * PANEL)
        follow_links(plan, bits, from, to, n, 2 * VECTORS, back);
    else
        follow_links(plan, bits, from, to, n, 0, back);
}

TARGET static void bits_forward(const pess__bits_plan *plan, const uint8_t *bits, int64_t samples, const float *w,
                                const float *bias, int64_t n, float slope, float *y) {
    const vector slopes = fill(&slope);
    const int64_t size = plan->positions * n;
    for (int64_t sample = 0; sample < samples; sample++, bits += plan->stride, y += size) {
        for (int64_t i = 0; i < size; i += n)
            for (int64_t j = 0; j < n; j += LANES) store(y + i + j, load(bias + j));
        follow_all(plan, bits, w, y, n, false);
        for (int64_t i = 0; i < size; i += LANES) {
            const vector t = load(y + i);
            store(y + i, leak(t, t, slopes));
        }
    }
}

TARGET static void bits_gradient(const pess__bits_plan *plan, const uint8_t *bits, int64_t samples, const float *dy,
                                 int64_t n, float *dw) {
    for (int64_t sample = 0; sample < samples; sample++, bits += plan->stride, dy += plan->positions * n)
        follow_all(plan, bits, dy, dw, n, true);
}

/* ---- optimisers */

TARGET static void adam(const pess__adam *s, int64_t count, const float *gradient, float *parameters, float *first,
                        float *second) {
    pess__adam_loop(s, count, gradient, parameters, first, second);
}

TARGET static void rmsprop(const pess__rmsprop *s, int64_t count, const float *gradient, float *parameters,
                           float *first, float *second) {
    pess__rmsprop_loop(s, count, gradient, parameters, first, second);
}

/* The table of the including file. */
#define PESS__TILED_KERNELS(its_name, its_transpose)                                                                   \
    {                                                                                                                  \
        .name = (its_name), .sums = "avx2", .supported = supported, .forward = forward,                                \
        .input_gradient = input_gradient, .weight_gradient = weight_gradient, .bias_gradient = bias_gradient,          \
        .transpose = (its_transpose), .bits_forward = bits_forward, .bits_gradient = bits_gradient, .adam = adam,      \
        .rmsprop = rmsprop                                                                                             \
    }

#endif
