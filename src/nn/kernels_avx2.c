/* Kernels for AVX2 and FMA: tiles of 6 rows by 16 columns, twelve accumulators in registers. Compiled for that target
 * whatever the build's flags are, and called only where the CPU has it. */
#include "nn/kernels.h"

#ifdef PESS__KERNELS_X86

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#define PRIMITIVE static inline __attribute__((always_inline)) TARGET

enum { LANES = 8, ROWS = 6, PANELS = 1 };
#define ROWS_OF(panels) ROWS
#define ROW_CASES(panels, call)                                                                                        \
    CASE(6, panels, call) CASE(5, panels, call) CASE(4, panels, call) CASE(3, panels, call) CASE(2, panels, call)
#define WITH_PANELS(panels, function, ...) function(__VA_ARGS__, PANELS)

static inline int next_panels(int64_t columns) { return columns > 0 ? PANELS : 0; }

typedef __m256 vector;
PRIMITIVE vector load(const float *from) { return _mm256_loadu_ps(from); }
PRIMITIVE void store(float *to, vector v) { _mm256_storeu_ps(to, v); }
PRIMITIVE vector fill(const float *number) { return _mm256_broadcast_ss(number); }
PRIMITIVE vector zero(void) { return _mm256_setzero_ps(); }
PRIMITIVE vector fused(vector a, vector b, vector c) { return _mm256_fmadd_ps(a, b, c); }
PRIMITIVE vector plus(vector a, vector b) { return _mm256_add_ps(a, b); }
PRIMITIVE vector leak(vector v, vector sign, vector slope) {
    return _mm256_blendv_ps(_mm256_mul_ps(v, slope), v, _mm256_cmp_ps(sign, zero(), _CMP_GT_OQ));
}

#include "nn/kernels_tiles.h"

static bool supported(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

/* Eight rows of eight, PANEL apart, to eight columns. */
INLINE void transpose_eight(const float *from, float *to) {
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
TARGET void pess__transpose_avx2(const float *w, int64_t k, int64_t n, float *transposed) {
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

const pess__kernels pess__kernels_avx2 = PESS__TILED_KERNELS("avx2", pess__transpose_avx2);

#endif
