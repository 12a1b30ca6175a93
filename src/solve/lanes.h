/* Many small systems of one sparsity pattern at once, one instance per vector lane.
 *
 * Policy evaluation on a torus is (I − C)x = b where row s of C has its entries at the neighbours of s. The pattern is
 * the same for every instance, so an elimination order that keeps the fill small is found once (a plan), and the
 * numbers of LANES instances stand side by side: every operation of the elimination is one vector operation on all of
 * them. C = γP with γ < 1 makes I − C strictly diagonally dominant by rows, so no pivoting is needed. What a lane
 * computes never depends on the other lanes. */
#ifndef PESS_SOLVE_LANES_H
#define PESS_SOLVE_LANES_H

#include "core/cpu.h"
#include "core/status.h"

#define PESS__LANES 8      /* two AVX2 registers of four doubles: 8 % faster than one (bench_experiment) */
#define PESS__NEIGHBOURS 4 /* entries per row of C */

typedef struct pess__lanes_plan {
    int64_t n, operations, upper_count;
    uint32_t *state;    /* [n]   state eliminated at step i */
    uint32_t *position; /* [n*4] step of the state that neighbour d of the state of step i is */
    int64_t *lower_row; /* [n+1] steps k < i that touch row i … */
    uint32_t *lower;    /*       … ascending */
    int64_t *upper_row; /* [n+1] columns j > i of row i of U … */
    uint32_t *upper;    /*       … ascending */
} pess__lanes_plan;

/* neighbour [n*4]: column of each entry of C, repetitions and the row itself allowed; whoever is a neighbour of s has s
 * as a neighbour. */
pess_status pess__lanes_plan_create(int64_t n, const uint32_t *neighbour, pess__lanes_plan **out, pess_error *error);
void pess__lanes_plan_destroy(pess__lanes_plan *plan);
int64_t pess__lanes_plan_operations(const pess__lanes_plan *plan); /* multiply-adds of one elimination, per lane */

/* Room for one batch. Everything is interleaved: element i of lane l stands at [i*LANES + l]. */
typedef struct pess__lanes {
    double *coefficient;                    /* [n*4*LANES] in: C */
    double *right;                          /* [n*2*LANES] in: two right-hand sides per row */
    double *solution;                       /* [n*2*LANES] out: two solutions per row */
    double *upper, *pivot, *work, *forward; /* the factorisation's own */
    void *memory;
} pess__lanes;

pess_status pess__lanes_create(const pess__lanes_plan *plan, pess__lanes *out, pess_error *error);
void pess__lanes_destroy(pess__lanes *lanes);

/* (I − C)x = b for both right-hand sides of every lane. */
PESS__TWICE(void, pess__lanes_solve, (const pess__lanes_plan *plan, pess__lanes *lanes));
/* The x with (I − C)x = 0 whose entries sum to one, where the columns of C sum to one and the chain behind it is
 * irreducible: a stationary law, C being the transposed transition matrix. Into the first solution. */
PESS__TWICE(void, pess__lanes_null, (const pess__lanes_plan *plan, pess__lanes *lanes));

#endif
