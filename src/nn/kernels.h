/* The inner loops, one table per instruction set; the table is chosen at run time. Shapes are padded: N and K of every
 * layer but the first are multiples of PESS__PANEL, and padding is zero and stays zero.
 *
 *     activations  [M][N]               row-major, M = samples × positions
 *     weights      [N/16][K][16]        panels of 16 columns, so that a product reads them in a straight line
 *     transposed   [K/16][N][16]        the same for the product with the transposed matrix
 *     first layer  [K][N]               row-major: its product is a sum of rows over the set bits
 *
 * Of a padded k, or n where it is summed over, the first `used` count: the others are 0 and are left out of sums.
 *
 * Every sum runs over k (or m) in ascending order with one rounding scheme per table, so a row's result depends neither
 * on its neighbours nor on how a batch was cut. */
#ifndef PESS_NN_KERNELS_H
#define PESS_NN_KERNELS_H

#include "nn/real.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PESS__PANEL = 16 };

/* Where a bit of the input goes in the first layer: it adds row `row` of the weights to the output at `slot`, for each
 * window it is in. Both are offsets in numbers, multiplied by N already. */
typedef struct pess__link {
    uint32_t slot, row;
} pess__link;

typedef struct pess__bits_plan {
    int64_t positions, words; /* words: 64-bit words of an observation, rounded up */
    int64_t stride;           /* bytes from one observation to the next, zero beyond its last bit */
    const int32_t *first;     /* [64*words + 1] links of each bit, by ascending slot */
    const pess__link *links;
} pess__bits_plan;

typedef struct pess__adam {
    pess__real rate, beta1, beta2, epsilon; /* rate: step size / (1 − β1^t) */
    pess__real root;                        /* 1/√(1 − β2^t) */
    pess__real rest1, rest2;                /* 1 − β1, 1 − β2 */
    pess__real scale;                       /* of the gradient (clipping) */
} pess__adam;

typedef struct pess__rmsprop {
    pess__real rate, decay, rest, epsilon, scale; /* rest: 1 − decay */
} pess__rmsprop;

typedef struct pess__kernels {
    const char *name;
    const char *sums; /* the rounding scheme: tables with the same sums give the same bytes */
    bool (*supported)(void);
    /* y = max(t, slope·t), t = bias + Σ_k x·w. */
    void (*forward)(const pess__real *x, int64_t m, int64_t k, int64_t used, const pess__real *w,
                    const pess__real *bias, int64_t n, pess__real slope, pess__real *y);
    /* dx = (Σ_n dy·w) · (x > 0 ? 1 : slope). x: activations of the layer below, NULL for no factor;
     * dx may take their place. */
    void (*input_gradient)(const pess__real *dy, int64_t m, int64_t n, int64_t used, const pess__real *transposed,
                           int64_t k, const pess__real *x, pess__real slope, pess__real *dx);
    /* dw = Σ_m x·dy, in panels like w, and db = Σ_m dy; with `add` both are added to what is there. */
    void (*weight_gradient)(const pess__real *x, const pess__real *dy, int64_t m, int64_t k, int64_t used, int64_t n,
                            bool add, pess__real *dw, pess__real *db);
    /* db += Σ_m dy alone, for the first layer of bits. */
    void (*bias_gradient)(const pess__real *dy, int64_t m, int64_t n, pess__real *db);
    void (*transpose)(const pess__real *w, int64_t k, int64_t n, pess__real *transposed);
    /* First layer, of `samples` padded observations: y = max(t, slope·t), t = bias + Σ w over the set bits in ascending
     * order; dw += dy over samples and bits. */
    void (*bits_forward)(const pess__bits_plan *plan, const uint8_t *bits, int64_t samples, const pess__real *w,
                         const pess__real *bias, int64_t n, pess__real slope, pess__real *y);
    void (*bits_gradient)(const pess__bits_plan *plan, const uint8_t *bits, int64_t samples, const pess__real *dy,
                          int64_t n, pess__real *dw);
    /* Optimisers, element by element. first, second: running moments. */
    void (*adam)(const pess__adam *s, int64_t count, const pess__real *gradient, pess__real *parameters,
                 pess__real *first, pess__real *second);
    void (*rmsprop)(const pess__rmsprop *s, int64_t count, const pess__real *gradient, pess__real *parameters,
                    pess__real *first, pess__real *second);
} pess__kernels;

/* All that were built, best first; the last works everywhere. */
const pess__kernels *const *pess__kernels_list(size_t *count);
/* The name of the path that is wanted: the given one, or that in the environment; NULL: the best there is. */
const char *pess__kernels_wanted(const char *name);
/* That path. NULL where there is no such path or the machine lacks it. */
const pess__kernels *pess__kernels_find(const char *name);

/* Word i of an observation. */
static inline uint64_t pess__load_word(const uint8_t *bits, int64_t i) {
    uint64_t word;
    __builtin_memcpy(&word, bits + 8 * i, sizeof word);
    return word;
}

extern const pess__kernels pess__kernels_portable;
#if defined(__x86_64__) && !defined(PESS__NN_DOUBLE)
#define PESS__KERNELS_X86
extern const pess__kernels pess__kernels_avx512, pess__kernels_avx2;
void pess__transpose_avx2(const pess__real *w, int64_t k, int64_t n, pess__real *transposed);
#endif

#endif
