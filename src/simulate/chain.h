/* The Markov chain of a policy in a model, its recurrent class and its stationary law. */
#ifndef PESS_SIMULATE_CHAIN_H
#define PESS_SIMULATE_CHAIN_H

#include "core/status.h"

/* Sparse rows of transition probabilities among `size` nodes; each next node once per row. */
typedef struct pess__markov_chain {
    int64_t size;
    int64_t *row; /* [size+1] */
    uint32_t *next;
    double *probability;
} pess__markov_chain;

/* P^π of the model. Where the model has implicit uniform rows there is one node more than states: the uniform row goes
 * through that node, which takes no time, so that nothing dense is ever stored. */
pess_status pess__markov_chain_create(const pess_model *model, const pess_policy *policy, pess__markov_chain *out,
                                      pess_error *error);
void pess__markov_chain_clear(pess__markov_chain *chain);

/* in[node] = 1 for the nodes of the only recurrent class; `classes` is the number of recurrent classes found.
 * Nodes without any way out and without any way in from elsewhere (terminal states) are no class. */
pess_status pess__markov_chain_recurrent(const pess__markov_chain *chain, uint8_t *in, int64_t *classes,
                                         pess_error *error);

/* The chain restricted to the nodes with in = 1, renumbered in order. */
pess_status pess__markov_chain_restrict(const pess__markov_chain *chain, const uint8_t *in, pess__markov_chain *out,
                                        pess_error *error);

/* Stationary law of an irreducible chain by elimination without subtraction: Grassmann, Taksar & Heyman 1985. x [size],
 * sums to one. Every entry is accurate to many digits, however small. O(size³) time, O(size²) memory. */
pess_status pess__markov_chain_eliminate(const pess__markov_chain *chain, double *x, pess_error *error);

/* The same of a dense chain p [n*n], which is destroyed. Its diagonal is not looked at. */
void pess__eliminate_dense(double *p, int64_t n, double *x);

/* The same by multilevel aggregation with Gauss-Seidel smoothing (Horton & Leutenegger 1994): for large sparse chains.
 * Returns PESS_NOT_CONVERGED with the residual where ‖xP - x‖₁ stays above 1e-12. The error of x is the residual times
 * the chain's mixing time. */
pess_status pess__markov_chain_multilevel(const pess__markov_chain *chain, double *x, pess_error *error);

#endif
