/* Kernels for AVX-512: tiles of 6 rows by 64 columns, 24 accumulators in registers. A row's factor serves four vectors
 * of columns, so that 24 multiplications wait for 10 loads. What is left over are tiles of 12 rows by 32 or 16. */
#include "nn/kernels.h"

#ifdef PESS__KERNELS_X86

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")))
#define PRIMITIVE static inline __attribute__((always_inline)) TARGET

enum { LANES = 16, ROWS = 12, PANELS = 4 };
#define ROWS_OF(panels) ((panels) == PANELS ? ROWS / 2 : ROWS)
#define ROW_CASES(panels, call)                                                                                        \
    CASE(12, panels, call)                                                                                             \
    CASE(11, panels, call)                                                                                             \
    CASE(10, panels, call)                                                                                             \
    CASE(9, panels, call)                                                                                              \
    CASE(8, panels, call)                                                                                              \
    CASE(7, panels, call)                                                                                              \
    CASE(6, panels, call)                                                                                              \
    CASE(5, panels, call) CASE(4, panels, call) CASE(3, panels, call) CASE(2, panels, call)
#define WITH_PANELS(panels, function, ...)                                                                             \
    if ((panels) == PANELS)                                                                                            \
        function(__VA_ARGS__, PANELS);                                                                                 \
    else if ((panels) == 2)                                                                                            \
        function(__VA_ARGS__, 2);                                                                                      \
    else                                                                                                               \
        function(__VA_ARGS__, 1)

static inline int next_panels(int64_t columns) {
    return columns >= PANELS * PESS__PANEL ? PANELS : columns >= 2 * PESS__PANEL ? 2 : 1;
}

typedef __m512 vector;
PRIMITIVE vector load(const float *from) { return _mm512_loadu_ps(from); }
PRIMITIVE void store(float *to, vector v) { _mm512_storeu_ps(to, v); }
PRIMITIVE vector fill(const float *number) { return _mm512_set1_ps(*number); }
PRIMITIVE vector zero(void) { return _mm512_setzero_ps(); }
PRIMITIVE vector fused(vector a, vector b, vector c) { return _mm512_fmadd_ps(a, b, c); }
PRIMITIVE vector plus(vector a, vector b) { return _mm512_add_ps(a, b); }
PRIMITIVE vector leak(vector v, vector sign, vector slope) {
    return _mm512_mask_mul_ps(v, _mm512_cmp_ps_mask(sign, zero(), _CMP_NGT_UQ), v, slope);
}

#include "nn/kernels_tiles.h"

static bool supported(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && pess__kernels_avx2.supported();
}

const pess__kernels pess__kernels_avx512 = PESS__TILED_KERNELS("avx512", pess__transpose_avx2);

#endif
