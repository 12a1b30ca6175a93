/* Kernels in plain C, for any machine. The loops over the 16 columns of a panel have constant length, which compilers
 * turn into whatever vectors there are. */
#include "nn/kernels.h"

#include "nn/optimise_loops.h"

enum { PANEL = PESS__PANEL, ROWS = 4 };

static bool supported(void) { return true; }

/* acc[r][j] = Σ_k a[r][k]·b[k][j] for `rows` rows, from the values in acc on. */
static inline void panel_product(const pess__real *a, int64_t stride, int rows, const pess__real *b, int64_t k,
                                 pess__real acc[ROWS][PANEL]) {
    for (int64_t i = 0; i < k; i++)
        for (int r = 0; r < rows; r++) {
            const pess__real factor = a[r * stride + i];
            for (int j = 0; j < PANEL; j++) acc[r][j] += factor * b[i * PANEL + j];
        }
}

static inline int rows_from(int64_t row, int64_t m) { return m - row < ROWS ? (int)(m - row) : ROWS; }

static void forward(const pess__real *x, int64_t m, int64_t k, const pess__real *w, const pess__real *bias, int64_t n,
                    pess__real slope, pess__real *y) {
    for (int64_t row = 0; row < m; row += ROWS)
        for (int64_t column = 0; column < n; column += PANEL) {
            const int rows = rows_from(row, m);
            pess__real acc[ROWS][PANEL];
            for (int r = 0; r < rows; r++)
                for (int j = 0; j < PANEL; j++) acc[r][j] = bias[column + j];
            panel_product(x + row * k, k, rows, w + column * k, k, acc);
            for (int r = 0; r < rows; r++)
                for (int j = 0; j < PANEL; j++) {
                    const pess__real t = acc[r][j];
                    y[(row + r) * n + column + j] = t > 0 ? t : slope * t;
                }
        }
}

static void input_gradient(const pess__real *dy, int64_t m, int64_t n, const pess__real *transposed, int64_t k,
                           const pess__real *x, pess__real slope, pess__real *dx) {
    for (int64_t row = 0; row < m; row += ROWS)
        for (int64_t column = 0; column < k; column += PANEL) {
            const int rows = rows_from(row, m);
            pess__real acc[ROWS][PANEL] = {{0}};
            panel_product(dy + row * n, n, rows, transposed + column * n, n, acc);
            for (int r = 0; r < rows; r++)
                for (int j = 0; j < PANEL; j++) {
                    const int64_t at = (row + r) * k + column + j;
                    dx[at] = x == NULL || x[at] > 0 ? acc[r][j] : slope * acc[r][j];
                }
        }
}

static void weight_gradient(const pess__real *x, const pess__real *dy, int64_t m, int64_t k, int64_t n,
                            pess__real *dw) {
    for (int64_t column = 0; column < n; column += PANEL)
        for (int64_t i = 0; i < k; i++) {
            pess__real *out = dw + (column * k + i * PANEL), acc[PANEL];
            for (int j = 0; j < PANEL; j++) acc[j] = out[j];
            for (int64_t row = 0; row < m; row++) {
                const pess__real factor = x[row * k + i], *from = dy + row * n + column;
                for (int j = 0; j < PANEL; j++) acc[j] += factor * from[j];
            }
            for (int j = 0; j < PANEL; j++) out[j] = acc[j];
        }
}

static void bias_gradient(const pess__real *dy, int64_t m, int64_t n, pess__real *db) {
    for (int64_t row = 0; row < m; row++)
        for (int64_t j = 0; j < n; j++) db[j] += dy[row * n + j];
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

const pess__kernels pess__kernels_portable = {"portable",      supported,     forward,   input_gradient,
                                              weight_gradient, bias_gradient, transpose, bits_forward,
                                              bits_gradient,   adam,          rmsprop};
