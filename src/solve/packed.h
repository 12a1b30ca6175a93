/* A small model in rows of equal length, for sweeps without a branch:
 *   q(s,a) = c + Σ_k w_k v(next_k) + u·mean(v)
 * with rewards, bonuses and sinks in c, γ in w and u. Greedy families only. */
#ifndef PESS_SOLVE_PACKED_H
#define PESS_SOLVE_PACKED_H

#include "solve/optimise.h"

typedef struct pess__packed {
    int64_t states, actions, width;
    bool any_uniform;
    const uint8_t *terminal;
    double *constant, *uniform; /* [S*A]; constant is -infinity where there is no such action */
    double *weight;             /* [S*A*width] */
    uint32_t *next;             /* [S*A*width] */
} pess__packed;

/* Rows are short enough to be padded. */
bool pess__packed_fits(const pess__engine *engine);
pess_status pess__packed_create(const pess__engine *engine, pess__packed *out, pess_error *error);
void pess__packed_release(pess__packed *packed);

/* v ← Tv over the states in order, each seeing what the ones before it became; choice [S] is where the maximum was. */
void pess__packed_improve(const pess__packed *packed, double *v, int32_t *choice);
/* sup_s max_a q(s,a) − q(s, choice) */
double pess__packed_gain(const pess__packed *packed, const double *v, const int32_t *choice);

#endif
