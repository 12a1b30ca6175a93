/* Scores of policies by logged data, in parts: the episodes, what the policy says of every state of the data, fitted Q
 * evaluation, importance weights, and the order of several. */
#ifndef PESS_SCORE_SCORE_H
#define PESS_SCORE_SCORE_H

#include "data/observations.h"
#include "deep/evaluation.h"
#include "policy/policy.h"

/* ---- episodes.c */

typedef struct pess__score_episodes {
    int64_t count, whole; /* all, and those that did not end because collecting stopped */
    int64_t *begin;       /* [count+1] transitions */
    bool *is_whole;       /* [count] */
    double *after;        /* [transitions] discounted rewards from the transition on, itself included */
    double level;         /* value of a state of which nothing is known: the mean over the transitions */
    double lo, hi;        /* what values can be, by the rewards */
} pess__score_episodes;

/* PESS_INPUT where no transition ends an episode; `name` begins the message. */
pess_status pess__score_episodes_create(const pess_observations *data, const char *name, double gamma,
                                        pess__score_episodes *out, pess_error *error);
void pess__score_episodes_destroy(pess__score_episodes *episodes);

/* Episodes drawn with replacement (Efron 1979), as many as there are; with one network, each once. */
typedef struct pess__resample {
    int64_t *episode;                   /* [episodes.count] */
    int64_t *rows, row_count, row_room; /* transitions */
    float *first;                       /* [states] mean of `after` over the rows from a state */
    int64_t *starts;                    /* [episodes.count] states */
} pess__resample;

pess_status pess__resample_create(const pess_observations *data, const pess__score_episodes *episodes, bool each_once,
                                  uint64_t seed, int64_t index, pess__resample *out, pess_error *error);
void pess__resample_destroy(pess__resample *resample);

/* ---- policy_table.c */

/* What a policy says of every state of the data. */
typedef struct pess__policy_table {
    float *probability; /* [states*actions] */
    double *value;      /* [states] what it expects from there on; NAN */
    float *outputs;     /* [states*actions] its own values of actions; NULL where it has none */
} pess__policy_table;

/* PESS_INPUT where the policy does not fit the data. */
pess_status pess__score_check(const pess_policy *policy, const char *name, const pess_observations *data,
                              const char *data_name, bool argmax, pess_error *error);
pess_status pess__policy_table_create(const pess_policy *policy, const pess_observations *data, bool argmax,
                                      int threads, pess__policy_table *out, pess_error *error);
void pess__policy_table_destroy(pess__policy_table *table);
/* Fills predicted, td_error and unlogged. */
void pess__score_own_values(const pess__policy_table *table, const pess_observations *data,
                            const pess__score_episodes *episodes, double gamma, pess_score *out);

/* ---- weights.c: fills what comes of importance weights. behaviour: [transitions] probabilities of logged actions. */
pess_status pess__score_by_weights(const pess__policy_table *table, const pess_observations *data,
                                   const pess__score_episodes *episodes, double gamma, const float *behaviour,
                                   pess_score *out, pess_error *error);

/* ---- bootstrap.c: fills what comes of fitted Q evaluation. */
pess_status pess__score_by_networks(const pess__fitting *fitting, const pess__policy_table *table,
                                    const pess__score_episodes *episodes, int64_t networks, double delta, int threads,
                                    pess_score *out, pess_error *error);

/* ---- ranking.c: values by the criterion, ranks, and what is said of the best. */
void pess__score_rank(pess_score *scores, int64_t count, pess_scores_info *info);
/* Of Student's law with so many degrees of freedom, for 1/2 < p < 1. */
double pess__student_quantile(double p, int64_t freedom);

#endif
