/* Pessimist: what policies are worth by data that others logged, and which one to take (docs/scoring.md).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_SCORE_H
#define PESS_SCORE_H

#include "pess/networks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the probabilities of the logged actions come from. */
typedef enum pess_score_weights {
    PESS_WEIGHTS_AUTO,      /* the data's own where they have them, otherwise an imitation network's */
    PESS_WEIGHTS_LOGGED,    /* the data's own */
    PESS_WEIGHTS_IMITATION, /* an imitation network's */
    PESS_WEIGHTS_NONE       /* no importance weights */
} pess_score_weights;

/* By what policies are put in order. */
typedef enum pess_score_criterion {
    PESS_SCORE_FQE,          /* value of the episodes' first states by fitted Q evaluation */
    PESS_SCORE_FQE_LOWER,    /* the lower end of its interval */
    PESS_SCORE_PER_DECISION, /* per-decision importance sampling */
    PESS_SCORE_WEIGHTED,     /* weighted importance sampling */
    PESS_SCORE_TD_ERROR,     /* smallest error of the policy's own values: a simple rule that fails */
    PESS_SCORE_PREDICTED,    /* largest value by the policy's own values: another one */
    PESS_SCORE_UNLOGGED      /* least mass on actions that were never logged in their states */
} pess_score_criterion;

enum { PESS_SCORE_NETWORKS = 16 }; /* at most */

typedef struct pess_score_options {
    size_t size;
    double gamma;     /* NAN: the one that the policies were trained with, or 0.99 */
    int64_t networks; /* of fitted Q evaluation, each on a resample of the episodes of its own */
    int64_t updates;  /* Bellman updates of each; 0: 1/(1 − gamma), from 20 to 200 */
    int64_t steps;    /* gradient steps of an update; 0: all networks together make as many as a training would */
    double delta;     /* error probability of the intervals */
    pess_score_weights weights;
    pess_score_criterion criterion;
    const char *imitation;         /* file of a trained imitation network of these data; NULL: one is trained */
    const char *network, *kernels; /* as in pess_train_options */
    bool argmax;                   /* score the most probable action in place of the policy's probabilities */
    uint64_t seed;
    int threads; /* 0: all there are. The result does not depend on it */

    /* Not in the table. */
    const char *data_name;  /* for messages; NULL: "data" */
    pess_protocol protocol; /* batches and step sizes, and how long imitation trains */
    pess_progress progress;
} pess_score_options;

/* The settings in pess_score_options, a row each. */
PESS_API const pess_setting_table *pess_score_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_score_options pess_score_options_defaults(void);

/* A policy. Values are expected discounted returns from the episodes' first states; NAN: not known. */
typedef struct pess_score {
    const char *name;
    double value; /* by the criterion */
    int64_t rank; /* 1: the best; 0: the criterion says nothing of this policy */

    double fqe;                  /* mean over the networks */
    double fqe_spread;           /* their standard deviation: NAN for one network or one episode */
    double fqe_lower, fqe_upper; /* fqe ∓ t·spread, Student's t with one degree of freedom less than networks */
    double fqe_networks[PESS_SCORE_NETWORKS]; /* each network's */
    double fqe_moved; /* by how much fqe changed over the last tenth of the updates; NAN: there is but one update */

    double per_decision, per_decision_error; /* with standard errors over the episodes */
    double weighted, weighted_error;
    double effective;                      /* (Σw)²/Σw² episodes that the weights are worth */
    double mean_weight, mean_weight_error; /* near 1 where the probabilities are right and the policy has overlap */
    double largest_weight, zero_share;     /* zero_share: of episodes that the policy would never have */

    double predicted; /* mean over the first states by the policy's own values */
    double td_error;  /* mean squared Bellman error of its own values over the transitions */
    double unlogged;  /* its mass on actions never logged in the state, over the transitions */
} pess_score;

typedef struct pess_scores_info {
    double gamma, delta;
    pess_score_criterion criterion;
    int64_t policies, networks, updates, steps, batch;
    int64_t transitions, starts, episodes; /* episodes: whole ones; starts: of all, those too that logging cut off */
    const char *weights;                   /* "logged", "imitation" or "none" */
    double log_return, log_return_error;   /* mean discounted return of the whole episodes; NAN: there are none */
    int64_t chosen, runner_up;             /* the best by the criterion and the next; -1: there is none */
    double margin, margin_error;           /* value of the chosen less the runner-up's, and its standard error; NAN */
    double shortfall;    /* by how much the best of the others may be better, at most, with a one-sided error of delta/2
                            for each; 0: none may; NAN: the criterion is no value, or there is one policy */
    char warning[256];   /* what the data do not support, in a sentence; empty where there is nothing */
    char unsettled[256]; /* that fitted Q evaluation still moved at its last updates, and by how much; or empty */
    double seconds;
} pess_scores_info;

typedef struct pess_scores pess_scores;

/* Scores `count` policies on the same resamples of the same data. PESS_INPUT where one was made for other observations
 * or actions, or the data have no episodes. */
PESS_API pess_status pess_score_policies(const pess_policy *const *policies, const char *const *names, int64_t count,
                                         const pess_observations *data, const pess_score_options *options,
                                         pess_scores **out, pess_error *error);
/* Frees it. */
PESS_API void pess_scores_destroy(pess_scores *scores);
/* Which policy comes first and by how much, and what the scores rest on. */
PESS_API void pess_scores_get_info(const pess_scores *scores, pess_scores_info *out);
/* In the order in which they were given; NULL past the last. */
PESS_API const pess_score *pess_scores_policy(const pess_scores *scores, size_t index);

#ifdef __cplusplus
}
#endif
#endif
