/* Kernels for AVX2 and FMA: tiles of 6 rows by 16 columns, twelve accumulators in registers. Compiled for that target
 * whatever the build's flags are, and called only where the CPU has it. */
#include "nn/kernels.h"

#ifdef PESS__KERNELS_AVX2

#include "nn/optimise_loops.h"

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2,fma")))

enum { PANEL = PESS__PANEL, ROWS = 6 };

static bool supported(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

/* acc[r] += Σ_i a[r*row_step + i*step]·b[i*b_step …+15], i ascending. rows is a constant where this is inlined. */
AVX2_INLINE void tile_product(const float *a, int64_t row_step, int64_t step, int rows, const float *b, int64_t b_step,
                              int64_t count, __m256 acc[ROWS][2]) {
    for (int64_t i = 0; i < count; i++) {
        const __m256 low = _mm256_loadu_ps(b + i * b_step), high = _mm256_loadu_ps(b + i * b_step + 8);
        const float *from = a + i * step;
        for (int r = 0; r < rows; r++) {
            const __m256 factor = _mm256_broadcast_ss(from + r * row_step);
            acc[r][0] = _mm256_fmadd_ps(factor, low, acc[r][0]);
            acc[r][1] = _mm256_fmadd_ps(factor, high, acc[r][1]);
        }
    }
}

/* v where sign > 0, else slope·v */
AVX2_INLINE __m256 leak(__m256 v, __m256 sign, __m256 slope) {
    return _mm256_blendv_ps(_mm256_mul_ps(v, slope), v, _mm256_cmp_ps(sign, _mm256_setzero_ps(), _CMP_GT_OQ));
}

AVX2_INLINE void forward_tile(const float *x, int64_t k, int rows, const float *w, const float *bias, int64_t n,
                              __m256 slope, float *y) {
    __m256 acc[ROWS][2];
    for (int r = 0; r < rows; r++) acc[r][0] = _mm256_loadu_ps(bias), acc[r][1] = _mm256_loadu_ps(bias + 8);
    tile_product(x, k, 1, rows, w, PANEL, k, acc);
    for (int r = 0; r < rows; r++) {
        _mm256_storeu_ps(y + r * n, leak(acc[r][0], acc[r][0], slope));
        _mm256_storeu_ps(y + r * n + 8, leak(acc[r][1], acc[r][1], slope));
    }
}

AVX2_INLINE void input_tile(const float *dy, int64_t n, int rows, const float *t, int64_t k, const float *x,
                            __m256 slope, float *dx) {
    __m256 acc[ROWS][2];
    for (int r = 0; r < rows; r++) acc[r][0] = acc[r][1] = _mm256_setzero_ps();
    tile_product(dy, n, 1, rows, t, PANEL, n, acc);
    for (int r = 0; r < rows; r++)
        for (int h = 0; h < 2; h++) {
            const int64_t at = r * k + 8 * h;
            _mm256_storeu_ps(dx + at, x == NULL ? acc[r][h] : leak(acc[r][h], _mm256_loadu_ps(x + at), slope));
        }
}

/* Rows of the weights' gradient: `rows` of k, one panel of columns. */
AVX2_INLINE void weight_tile(const float *x, int64_t k, int rows, const float *dy, int64_t n, int64_t m, float *dw) {
    __m256 acc[ROWS][2];
    for (int r = 0; r < rows; r++)
        acc[r][0] = _mm256_loadu_ps(dw + r * PANEL), acc[r][1] = _mm256_loadu_ps(dw + r * PANEL + 8);
    tile_product(x, 1, k, rows, dy, n, m, acc);
    for (int r = 0; r < rows; r++)
        _mm256_storeu_ps(dw + r * PANEL, acc[r][0]), _mm256_storeu_ps(dw + r * PANEL + 8, acc[r][1]);
}

/* Calls a tile function with the number of rows as a constant. */
#define WITH_ROWS(rows, call)                                                                                          \
    switch (rows) {                                                                                                    \
        case 6: call(6); break;                                                                                        \
        case 5: call(5); break;                                                                                        \
        case 4: call(4); break;                                                                                        \
        case 3: call(3); break;                                                                                        \
        case 2: call(2); break;                                                                                        \
        default: call(1); break;                                                                                       \
    }

/* Rows of the next tile: six, but the last seven or eight as four and the rest, since tiles of one or two rows leave
 * the FMA units waiting. */
static inline int next_rows(int64_t left) { return left > 8 || left == ROWS ? ROWS : left > ROWS ? 4 : (int)left; }

AVX2 static void forward(const float *x, int64_t m, int64_t k, const float *w, const float *bias, int64_t n,
                         float slope, float *y) {
    const __m256 slopes = _mm256_set1_ps(slope);
    for (int64_t column = 0; column < n; column += PANEL)
        for (int64_t row = 0, rows; row < m; row += rows) {
            rows = next_rows(m - row);
#define CALL(r) forward_tile(x + row * k, k, r, w + column * k, bias + column, n, slopes, y + row * n + column)
            WITH_ROWS(rows, CALL)
#undef CALL
        }
}

AVX2 static void input_gradient(const float *dy, int64_t m, int64_t n, const float *transposed, int64_t k,
                                const float *x, float slope, float *dx) {
    const __m256 slopes = _mm256_set1_ps(slope);
    for (int64_t column = 0; column < k; column += PANEL)
        for (int64_t row = 0, rows; row < m; row += rows) {
            rows = next_rows(m - row);
            const int64_t at = row * k + column;
            const float *signs = x == NULL ? NULL : x + at;
#define CALL(r) input_tile(dy + row * n, n, r, transposed + column * n, k, signs, slopes, dx + at)
            WITH_ROWS(rows, CALL)
#undef CALL
        }
}

/* Columns of x are far apart, often a power of two, and would fight for the same cache lines: a strip of them is copied
 * to where it lies tight, and serves all panels. */
enum { STRIP = 24, STRIP_ROWS = 256 };

AVX2_INLINE void copy_strip(const float *x, int64_t k, int64_t m, int64_t width, float *strip) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < width; j += 8) _mm256_store_ps(strip + i * STRIP + j, _mm256_loadu_ps(x + i * k + j));
}

AVX2 static void weight_strip(const float *strip, int64_t width, const float *dy, int64_t m, int64_t n, int64_t k,
                              float *dw) {
    for (int64_t column = 0; column < n; column += PANEL)
        for (int64_t row = 0, rows; row < width; row += rows) {
            rows = next_rows(width - row);
#define CALL(r) weight_tile(strip + row, STRIP, r, dy + column, n, m, dw + column * k + row * PANEL)
            WITH_ROWS(rows, CALL)
#undef CALL
        }
}

AVX2 static void weight_gradient(const float *x, const float *dy, int64_t m, int64_t k, int64_t n, float *dw) {
    _Alignas(32) float strip[STRIP * STRIP_ROWS];
    for (int64_t row = 0; row < k; row += STRIP) {
        const int64_t width = k - row < STRIP ? k - row : STRIP;
        for (int64_t first = 0; first < m; first += STRIP_ROWS) {
            const int64_t count = m - first < STRIP_ROWS ? m - first : STRIP_ROWS;
            copy_strip(x + first * k + row, k, count, width, strip);
            weight_strip(strip, width, dy + first * n, count, n, k, dw + row * PANEL);
        }
    }
}

AVX2 static void bias_gradient(const float *dy, int64_t m, int64_t n, float *db) {
    for (int64_t column = 0; column < n; column += PANEL) {
        __m256 low = _mm256_loadu_ps(db + column), high = _mm256_loadu_ps(db + column + 8);
        for (int64_t row = 0; row < m; row++) {
            low = _mm256_add_ps(low, _mm256_loadu_ps(dy + row * n + column));
            high = _mm256_add_ps(high, _mm256_loadu_ps(dy + row * n + column + 8));
        }
        _mm256_storeu_ps(db + column, low);
        _mm256_storeu_ps(db + column + 8, high);
    }
}

/* Eight rows of eight, PANEL apart, to eight columns. */
AVX2_INLINE void transpose_eight(const float *from, float *to) {
    __m256 a[8], b[8];
    for (int i = 0; i < 8; i++) a[i] = _mm256_loadu_ps(from + i * PANEL);
    for (int i = 0; i < 4; i++) {
        b[2 * i] = _mm256_unpacklo_ps(a[2 * i], a[2 * i + 1]);
        b[2 * i + 1] = _mm256_unpackhi_ps(a[2 * i], a[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const __m256 p = b[4 * i + j], q = b[4 * i + 2 + j];
            a[4 * i + 2 * j] = _mm256_shuffle_ps(p, q, 0x44);
            a[4 * i + 2 * j + 1] = _mm256_shuffle_ps(p, q, 0xee);
        }
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_ps(to + i * PANEL, _mm256_permute2f128_ps(a[i], a[4 + i], 0x20));
        _mm256_storeu_ps(to + (4 + i) * PANEL, _mm256_permute2f128_ps(a[i], a[4 + i], 0x31));
    }
}

/* A block of 16 × 16 is one contiguous kilobyte on both sides. */
AVX2 static void transpose(const float *w, int64_t k, int64_t n, float *transposed) {
    for (int64_t column = 0; column < n; column += PANEL)
        for (int64_t row = 0; row < k; row += PANEL) {
            const float *from = w + column * k + row * PANEL;
            float *to = transposed + row * n + column * PANEL;
            transpose_eight(from, to);
            transpose_eight(from + 8, to + 8 * PANEL);
            transpose_eight(from + 8 * PANEL, to + 8);
            transpose_eight(from + 8 * PANEL + 8, to + 8 * PANEL + 8);
        }
}

/* Adds a row of `vectors` times eight numbers to another. */
AVX2_INLINE void add_row(const float *from, float *to, int vectors) {
    for (int v = 0; v < vectors; v++)
        _mm256_storeu_ps(to + 8 * v, _mm256_add_ps(_mm256_loadu_ps(to + 8 * v), _mm256_loadu_ps(from + 8 * v)));
}

/* Rows of N: 16 and 32 with the length as a constant, others panel by panel. */
AVX2_INLINE void add_rows(const float *from, float *to, int64_t n, int vectors) {
    if (vectors > 0)
        add_row(from, to, vectors);
    else
        for (int64_t j = 0; j < n; j += PANEL) add_row(from + j, to + j, 2);
}

/* For each link of each set bit: y[slot] += w[row] or, with `back`, dw[row] += dy[slot]. */
AVX2_INLINE void follow_links(const pess__bits_plan *plan, const uint8_t *bits, const float *from, float *to, int64_t n,
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

AVX2_INLINE void follow_all(const pess__bits_plan *plan, const uint8_t *bits, const float *from, float *to, int64_t n,
                            bool back) {
    if (n == 16)
        follow_links(plan, bits, from, to, n, 2, back);
    else if (n == 32)
        follow_links(plan, bits, from, to, n, 4, back);
    else
        follow_links(plan, bits, from, to, n, 0, back);
}

AVX2 static void bits_forward(const pess__bits_plan *plan, const uint8_t *bits, int64_t samples, const float *w,
                              const float *bias, int64_t n, float slope, float *y) {
    const __m256 slopes = _mm256_set1_ps(slope);
    const int64_t size = plan->positions * n;
    for (int64_t sample = 0; sample < samples; sample++, bits += plan->stride, y += size) {
        for (int64_t i = 0; i < size; i += n)
            for (int64_t j = 0; j < n; j += 8) _mm256_storeu_ps(y + i + j, _mm256_loadu_ps(bias + j));
        follow_all(plan, bits, w, y, n, false);
        for (int64_t i = 0; i < size; i += 8) {
            const __m256 t = _mm256_loadu_ps(y + i);
            _mm256_storeu_ps(y + i, leak(t, t, slopes));
        }
    }
}

AVX2 static void bits_gradient(const pess__bits_plan *plan, const uint8_t *bits, int64_t samples, const float *dy,
                               int64_t n, float *dw) {
    for (int64_t sample = 0; sample < samples; sample++, bits += plan->stride, dy += plan->positions * n)
        follow_all(plan, bits, dy, dw, n, true);
}

AVX2 static void adam(const pess__adam *s, int64_t count, const float *gradient, float *parameters, float *first,
                      float *second) {
    pess__adam_loop(s, count, gradient, parameters, first, second);
}

AVX2 static void rmsprop(const pess__rmsprop *s, int64_t count, const float *gradient, float *parameters, float *first,
                         float *second) {
    pess__rmsprop_loop(s, count, gradient, parameters, first, second);
}

const pess__kernels pess__kernels_avx2 = {"avx2",          supported,     forward,   input_gradient,
                                          weight_gradient, bias_gradient, transpose, bits_forward,
                                          bits_gradient,   adam,          rmsprop};

#endif
