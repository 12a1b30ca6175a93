/* Importance weights of whole episodes, and the non-negative numbers whose means are bounded by betting
 * (docs/theory.md, "Episodes"). b is the behaviour policy's probability of the logged action:
 *
 *   w_i = Π_t π(a_t|s_t)/b_t,        X_i = w_i·(G_i − lo),        E[X_i] <= V^π − lo,
 *
 * with equality where every action of π has b > 0: missing overlap makes the mean smaller, never larger. Of an episode
 * that was cut off, w is that of the steps seen and G the least it can be. */
#ifndef PESS_CERTIFY_IMPORTANCE_H
#define PESS_CERTIFY_IMPORTANCE_H

#include "data/trajectories.h"

/* What the weights of a part of the episodes are like. */
typedef struct pess__weight_summary {
    int64_t episodes;
    double mean;      /* near 1 where the probabilities are right and π has overlap */
    double error;     /* standard error of the mean */
    double effective; /* (Σw)²/Σw² episodes */
    double largest, zero_share;
} pess__weight_summary;

/* weight [to − from] of the episodes [from, to). probability [rows of the log] b > 0; policy [S*A]. decision, unless
 * NULL: Σ_t γ^t·w_{0:t}·r'_t, the per-decision sum of rewards counted from lo: r' = r − lo + γ·lo, and r − lo where the
 * episode ends. Its mean is V^π − lo. Weights beyond 1e100 are cut to it: smaller is still valid. */
void pess__importance_weights(const pess_dataset *data, const pess__trajectories *trajectories,
                              const double *probability, const double *policy, double gamma, double lo, int64_t from,
                              int64_t to, int threads, double *weight, double *decision);
pess__weight_summary pess__importance_summary(const double *weight, int64_t count);

/* X of the episodes [from, to): the mean is at most V^π − lo. cap: X is cut to it; INFINITY: not. */
void pess__importance_values(const pess__returns *returns, const double *weight, int64_t from, int64_t to, double cap,
                             double *values);
/* (w − 1)(G − lo) + (hi − lo) >= 0 with each G the one that makes it least: its mean is at most V^π − V^b + (hi − lo).
 * Paired: what an episode has in common under both policies cancels. */
void pess__importance_differences(const pess__returns *returns, const double *weight, int64_t from, int64_t to,
                                  double *values);

#endif
