/* The nearest centre with AVX2 and AVX-512: tiles of rows by one panel of 16 centres, sums in registers. Compiled for
 * those targets whatever the build's flags are, and called only where the CPU has them. */
#include "cells/nearest.h"

#ifdef PESS__NEAREST_X86

#include <immintrin.h>
#include <string.h>

enum { PANEL = PESS__CENTRES, BLOCK = 48 }; /* BLOCK rows go through a panel while it is in the nearest cache */

/* What is known of a row after some panels, lane by lane: the least score, its centre, the least of the others. */
typedef struct lanes {
    float least[BLOCK * PANEL], second[BLOCK * PANEL];
    int32_t where[BLOCK * PANEL];
} lanes;

static inline void lanes_clear(lanes *l, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        l->least[i] = l->second[i] = __builtin_inff();
        l->where[i] = 0;
    }
}

/* The least of a row's lanes, of equals that with the smallest number, and the least of the others. */
static inline void least_lane(const lanes *l, int64_t at, int count, uint32_t *cell, float *second) {
    const float *least = l->least + at;
    const int32_t *where = l->where + at;
    int best = 0;
    for (int j = 1; j < count; j++)
        if (least[j] < least[best] || (least[j] == least[best] && where[j] < where[best])) best = j;
    *cell = (uint32_t)where[best];
    *second = l->second[at + best];
    for (int j = 0; j < count; j++) {
        const float other = j == best ? l->second[at + j] : least[j];
        if (other < *second) *second = other;
    }
}

/* ---- AVX2: 6 rows, two vectors of eight each */

#define AVX2 __attribute__((target("avx2,fma")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2,fma")))
enum { ROWS2 = 6 };

static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

AVX2_INLINE void tile2(const float *x, int64_t k, int rows, const float *panel, const float *half,
                       __m256 sum[ROWS2][2]) {
    for (int r = 0; r < rows; r++) sum[r][0] = _mm256_loadu_ps(half), sum[r][1] = _mm256_loadu_ps(half + 8);
    for (int64_t i = 0; i < k; i++) {
        const __m256 low = _mm256_loadu_ps(panel + i * PANEL), high = _mm256_loadu_ps(panel + i * PANEL + 8);
        for (int r = 0; r < rows; r++) {
            const __m256 factor = _mm256_broadcast_ss(x + r * k + i);
            sum[r][0] = _mm256_fnmadd_ps(factor, low, sum[r][0]);
            sum[r][1] = _mm256_fnmadd_ps(factor, high, sum[r][1]);
        }
    }
}

AVX2_INLINE void keep2(__m256 score, __m256i number, lanes *l, int64_t at) {
    const __m256 before = _mm256_loadu_ps(l->least + at);
    const __m256 mask = _mm256_cmp_ps(score, before, _CMP_LT_OQ);
    const __m256 old = _mm256_loadu_ps((const float *)(l->where + at));
    const __m256 other = _mm256_max_ps(before, score);
    _mm256_storeu_ps(l->second + at, _mm256_min_ps(_mm256_loadu_ps(l->second + at), other));
    _mm256_storeu_ps(l->least + at, _mm256_min_ps(before, score));
    _mm256_storeu_ps((float *)(l->where + at), _mm256_blendv_ps(old, _mm256_castsi256_ps(number), mask));
}

AVX2_INLINE void nearest_tile2(const pess__panels *panels, int64_t p, const float *x, int rows, lanes *l, int64_t row) {
    __m256 sum[ROWS2][2];
    tile2(x, panels->coordinates, rows, panels->values + p * panels->coordinates * PANEL, panels->half + p * PANEL,
          sum);
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i low = _mm256_add_epi32(_mm256_set1_epi32((int)p * PANEL), lane);
    const __m256i high = _mm256_add_epi32(low, _mm256_set1_epi32(8));
    for (int r = 0; r < rows; r++) {
        keep2(sum[r][0], low, l, (row + r) * 8);
        keep2(sum[r][1], high, l, (row + r) * 8);
    }
}

AVX2 static void nearest2(const pess__panels *panels, const float *x, int64_t rows, uint32_t *cell, float *second) {
    const int64_t k = panels->coordinates;
    lanes l = {{0}, {0}, {0}};
    for (int64_t first = 0; first < rows; first += BLOCK) {
        const int64_t count = rows - first < BLOCK ? rows - first : BLOCK;
        const float *from = x + first * k;
        lanes_clear(&l, count * 8);
        for (int64_t p = 0; p < panels->panels; p++) {
            int64_t row = 0;
            for (; row + ROWS2 <= count; row += ROWS2) nearest_tile2(panels, p, from + row * k, ROWS2, &l, row);
            for (; row < count; row++) nearest_tile2(panels, p, from + row * k, 1, &l, row);
        }
        for (int64_t i = 0; i < count; i++) least_lane(&l, i * 8, 8, &cell[first + i], &second[first + i]);
    }
}

AVX2 static void scores2(const pess__panels *panels, const float *x, int64_t rows, float *out) {
    const int64_t k = panels->coordinates;
    for (int64_t row = 0; row < rows; row += ROWS2) {
        __m256 sum[ROWS2][2];
        const int count = rows - row < ROWS2 ? (int)(rows - row) : ROWS2;
        if (count == ROWS2)
            tile2(x + row * k, k, ROWS2, panels->values, panels->half, sum);
        else
            for (int r = 0; r < count; r++) tile2(x + (row + r) * k, k, 1, panels->values, panels->half, sum + r);
        for (int r = 0; r < count; r++) {
            _mm256_storeu_ps(out + (row + r) * PANEL, sum[r][0]);
            _mm256_storeu_ps(out + (row + r) * PANEL + 8, sum[r][1]);
        }
    }
}

const pess__nearest pess__nearest_avx2 = {"avx2", has_avx2, nearest2, scores2};

/* ---- AVX-512: 12 rows by two panels, a vector of sixteen for each */

#define AVX512 __attribute__((target("avx512f")))
#define AVX512_INLINE static inline __attribute__((always_inline, target("avx512f")))
enum { ROWS5 = 12 };

static bool has_avx512(void) { return __builtin_cpu_supports("avx512f"); }

AVX512_INLINE void tile5(const float *x, int64_t k, int rows, const float *panel, const float *half, int panels,
                         __m512 sum[ROWS5][2]) {
    for (int r = 0; r < rows; r++)
        for (int p = 0; p < panels; p++) sum[r][p] = _mm512_loadu_ps(half + p * PANEL);
    for (int64_t i = 0; i < k; i++) {
        __m512 centre[2];
        for (int p = 0; p < panels; p++) centre[p] = _mm512_loadu_ps(panel + (p * k + i) * PANEL);
        for (int r = 0; r < rows; r++) {
            const __m512 factor = _mm512_set1_ps(x[r * k + i]);
            for (int p = 0; p < panels; p++) sum[r][p] = _mm512_fnmadd_ps(factor, centre[p], sum[r][p]);
        }
    }
}

AVX512_INLINE void nearest_tile5(const pess__panels *panels, int64_t p, int many, const float *x, int rows, lanes *l,
                                 int64_t row) {
    __m512 sum[ROWS5][2];
    tile5(x, panels->coordinates, rows, panels->values + p * panels->coordinates * PANEL, panels->half + p * PANEL,
          many, sum);
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (int r = 0; r < rows; r++) {
        const int64_t at = (row + r) * PANEL;
        __m512 least = _mm512_loadu_ps(l->least + at), second = _mm512_loadu_ps(l->second + at);
        __m512i where = _mm512_loadu_si512(l->where + at);
        for (int q = 0; q < many; q++) {
            const __mmask16 mask = _mm512_cmp_ps_mask(sum[r][q], least, _CMP_LT_OQ);
            second = _mm512_min_ps(second, _mm512_max_ps(least, sum[r][q]));
            least = _mm512_min_ps(least, sum[r][q]);
            where = _mm512_mask_add_epi32(where, mask, lane, _mm512_set1_epi32((int)(p + q) * PANEL));
        }
        _mm512_storeu_ps(l->least + at, least);
        _mm512_storeu_ps(l->second + at, second);
        _mm512_storeu_si512(l->where + at, where);
    }
}

AVX512_INLINE void panel_rows5(const pess__panels *panels, int64_t p, int many, const float *x, int64_t count,
                               lanes *l) {
    const int64_t k = panels->coordinates;
    int64_t row = 0;
    for (; row + ROWS5 <= count; row += ROWS5) nearest_tile5(panels, p, many, x + row * k, ROWS5, l, row);
    for (; row < count; row++) nearest_tile5(panels, p, many, x + row * k, 1, l, row);
}

AVX512 static void nearest5(const pess__panels *panels, const float *x, int64_t rows, uint32_t *cell, float *second) {
    lanes l = {{0}, {0}, {0}};
    for (int64_t first = 0; first < rows; first += BLOCK) {
        const int64_t count = rows - first < BLOCK ? rows - first : BLOCK;
        const float *from = x + first * panels->coordinates;
        lanes_clear(&l, count * PANEL);
        int64_t p = 0;
        for (; p + 2 <= panels->panels; p += 2) panel_rows5(panels, p, 2, from, count, &l);
        if (p < panels->panels) panel_rows5(panels, p, 1, from, count, &l);
        for (int64_t i = 0; i < count; i++) least_lane(&l, i * PANEL, PANEL, &cell[first + i], &second[first + i]);
    }
}

AVX512 static void scores5(const pess__panels *panels, const float *x, int64_t rows, float *out) {
    const int64_t k = panels->coordinates;
    for (int64_t row = 0; row < rows; row += ROWS5) {
        __m512 sum[ROWS5][2];
        const int count = rows - row < ROWS5 ? (int)(rows - row) : ROWS5;
        if (count == ROWS5)
            tile5(x + row * k, k, ROWS5, panels->values, panels->half, 1, sum);
        else
            for (int r = 0; r < count; r++) tile5(x + (row + r) * k, k, 1, panels->values, panels->half, 1, sum + r);
        for (int r = 0; r < count; r++) _mm512_storeu_ps(out + (row + r) * PANEL, sum[r][0]);
    }
}

const pess__nearest pess__nearest_avx512 = {"avx512", has_avx512, nearest5, scores5};

#endif
