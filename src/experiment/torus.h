/* The gridworld of the paper's experiments, laid out for many trials: a torus whose cells have four neighbours, so
 * that the true and the empirical model of a trial are small dense blocks per cell. Directions and actions are up,
 * right, down, left, as in pess_mdp_gridworld. */
#ifndef PESS_EXPERIMENT_TORUS_H
#define PESS_EXPERIMENT_TORUS_H

#include "core/rng.h"
#include "core/status.h"

enum { TORUS_ACTIONS = 4 };

typedef struct pess__torus {
    int64_t rows, cols, states;
    double slip;
    uint32_t *neighbour; /* [S*4] cell in direction d */
} pess__torus;

pess_status pess__torus_create(int64_t rows, int64_t cols, double slip, pess__torus *out, pess_error *error);
void pess__torus_destroy(pess__torus *torus);

/* A model on the torus. A pair that the data never show has probability 0 in every direction and unseen 1: its next
 * state is uniform over all cells. Actions are the innermost index, so that a row of q is one vector. */
typedef struct pess__torus_model {
    double *probability; /* [S*4*4] of direction d under action a: [(s*4 + d)*4 + a] */
    double *reward;      /* [S*4] */
    double *unseen;      /* [S*4] 0 or 1 */
} pess__torus_model;

/* What a dataset shows. */
typedef struct pess__torus_counts {
    int64_t *pair;    /* [S*4]   n(s,a) */
    int64_t *success; /* [S*4]   rewards of 1 among them */
    int64_t *move;    /* [S*4*4] moves in direction d: [(s*4 + a)*4 + d] */
} pess__torus_counts;

/* True model: Bernoulli rewards whose means are drawn from Beta(a,b). */
void pess__torus_draw(const pess__torus *torus, double a, double b, pess__rng *rng, pess__torus_model *out);

/* The counts of n independent transitions. cumulative [S*4+1]: the probabilities of the pairs (s,a) before each pair.
 * The counts have the distribution of n single draws, at a cost that does not depend on n: pairs are multinomial; given
 * n(s,a), rewards are binomial and moves multinomial, independently of each other. */
void pess__torus_sample(const pess__torus *torus, const pess__torus_model *truth, const double *cumulative, int64_t n,
                        pess__rng *rng, pess__torus_counts *out);

/* Empirical model and policy π̂ [S*4]: unseen pairs get a reward drawn uniformly from [0,1], unseen states the uniform
 * policy. root [S*4] is 1/√n, infinite at n = 0. */
void pess__torus_estimate(const pess__torus *torus, const pess__torus_counts *counts, pess__rng *unseen,
                          pess__torus_model *out, double *imitation, double *root);

#endif
