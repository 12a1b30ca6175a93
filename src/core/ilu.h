/* A = I − G of a sparse non-negative G with row sums below one, in an order of one's own, and its incomplete factors
 * without fill, ILU(0): M = LU with the pattern of A (Meijerink & van der Vorst 1977; A is an M-matrix, so the factors
 * exist and every pivot is positive). Where A is triangular or tridiagonal in that order, M = A.
 * Large systems are cut into blocks of neighbouring rows, factored on their own (block Jacobi): how many depends on n
 * alone, so that the factors do not depend on the number of threads. */
#ifndef PESS_CORE_ILU_H
#define PESS_CORE_ILU_H

#include "core/status.h"

typedef struct pess__ilu {
    int64_t n, blocks;
    int threads;
    uint32_t *order;   /* [n] the row of G at each place */
    uint32_t *place;   /* [n] the place of each row of G */
    int64_t *row;      /* [n+1] */
    int64_t *diagonal; /* [n] its entry in each row */
    uint32_t *column;  /* places, ascending within a row, each once */
    double *value;     /* of A */
    double *factor;    /* L below the diagonal (its own is 1); on the diagonal 1/U, above it U */
    int64_t room;      /* of the last three */
} pess__ilu;

/* Rows of G: entries row[i] … row[i+1]-1; a row may name a column more than once. */
typedef struct pess__sparse {
    int64_t n;
    const int64_t *row;
    const uint32_t *column;
    const double *value;
} pess__sparse;

pess_status pess__ilu_create(int64_t n, int threads, pess__ilu *out, pess_error *error);
void pess__ilu_release(pess__ilu *ilu);

/* order: a row comes before the column that it leads to with most of its weight, as far as cycles allow. These edges
 * form trees, whose leaves are eliminated first: nothing fills in, also where the ways back are in A. */
pess_status pess__ilu_order(const pess__sparse *g, pess__ilu *ilu, pess_error *error);
/* A in the order that is there, and its factors. */
pess_status pess__ilu_factor(const pess__sparse *g, pess__ilu *ilu, pess_error *error);
/* y = A x and y = M⁻¹ x, x and y by place. */
void pess__ilu_apply(const pess__ilu *ilu, const double *x, double *y);
void pess__ilu_precondition(const pess__ilu *ilu, const double *x, double *y);

#endif
