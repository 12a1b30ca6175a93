/* Sparse elimination for the systems of small chains, (I − G) v = c with up to PESS__ELIMINATION_STATES states: states
 * with few predecessors and successors go first, one at a time, with their neighbours as bits in words; what is left,
 * once it is dense, goes to pess__lu_factor. In the chain of a grid policy next to nothing is left. */
#ifndef PESS_CORE_ELIMINATION_H
#define PESS_CORE_ELIMINATION_H

#include "core/quad.h"

#include <stddef.h>
#include <stdint.h>

enum { PESS__ELIMINATION_STATES = 128 };

/* A state that had at most two, later four, predecessors and successors left: most of them. The number of nobody where
 * there is none. */
enum { PESS__NEIGHBOURS = 4 };
typedef struct pess__step {
    uint16_t state, lower[PESS__NEIGHBOURS], upper[PESS__NEIGHBOURS];
    double inverse, lower_value[PESS__NEIGHBOURS], upper_value[PESS__NEIGHBOURS];
} pess__step;

typedef struct pess__elimination {
    int64_t n, stride;
    int words;          /* 64-bit words in a row of bits */
    double *a;          /* [(64·words+1)*stride] G − I where there is an entry; later the dense rest, factored.
                           The last row and column take what is written to no state */
    uint64_t *in, *out; /* [(64·words+1)*words] predecessors and successors among the states that are left */
    pess__step *step;   /* [n] first these steps … */
    uint16_t *order;    /* [n] … then those with longer lists: state by step; the dense ones last */
    double *inverse;    /* [n] 1/pivot */
    int64_t *lower_end, *upper_end;    /* [n] ends of its entries below */
    uint16_t *lower, *upper;           /* [n(n-1)/2] states */
    double *lower_value, *upper_value; /* [n(n-1)/2] */
    int64_t pairs, steps, lists;       /* steps with two neighbours, with up to four, with lists; the rest is dense */
    int64_t dense_stride;
} pess__elimination;

/* No state: its row and column are zero, its bit is beyond the last word. */
static inline int64_t pess__elimination_nobody(const pess__elimination *e) { return 64 * e->words; }

/* Bytes of memory for n states, and laying it out; the memory need not be zero and must be aligned as malloc's is. */
size_t pess__elimination_bytes(int64_t n);
void pess__elimination_place(pess__elimination *e, int64_t n, void *memory);

/* G = 0. */
void pess__elimination_clear(pess__elimination *e);

/* G(s,t) += weight */
void pess__elimination_add(pess__elimination *e, int64_t s, int64_t t, double weight);

/* Row s of G, all at once: its successors as bits [words], without itself; `width` of them with weights, `apart`
 * places from one another, each once, padded with nobody, of weight 0; `self` is G(s,s).
 * `words` are those of e, a constant where it can be one. */
static inline void pess__elimination_row(pess__elimination *e, int64_t s, int words, const uint64_t *bits,
                                         const uint16_t *next, const double *weight, int64_t width, int64_t apart,
                                         double self) {
    double *row = e->a + s * e->stride;
    uint64_t *in = e->in + (s >> 6);
    const uint64_t bit = (uint64_t)1 << (s & 63);
    for (int64_t k = 0; k < width * apart; k += apart) {
        row[next[k]] = weight[k];
        in[next[k] * words] |= bit;
    }
    in[s * words] &= ~bit;
    row[s] = self - 1.0;
    for (int w = 0; w < words; w++) e->out[s * words + w] = bits[w];
}

/* Factors I − G, which must be a nonsingular M-matrix: G not negative, its rows summing to at most one. */
void pess__elimination_factor(pess__elimination *e);
/* b [nobody+1], zero from n on: four right-hand sides at once become (I − G)⁻¹b. */
void pess__elimination_solve(const pess__elimination *e, pess__quad *b);
/* b [nobody+1], zero from n on, becomes (I − G)⁻ᵀb. */
void pess__elimination_solve_transposed(const pess__elimination *e, double *b);

#endif
