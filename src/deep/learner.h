/* The algorithms that learn from a fixed dataset with networks. Each is one file that says which policy it draws from
 * what is known of a state, and what that policy is worth; each has one row in learners.c. What it needs to know
 * besides the values, how its loss differs and which networks it has beside the first are fields of its row. Everything
 * else (targets, training, evaluation, checkpoints) is the same for all. */
#ifndef PESS_DEEP_LEARNER_H
#define PESS_DEEP_LEARNER_H

#include "nn/real.h"
#include "pess.h"

enum { PESS__MAX_ACTIONS = 64, PESS__MAX_NETWORKS = 4 };
#define PESS__HUBER_EDGE 5.0 /* squared error up to here, linear beyond */

/* What is known of a state: the values of its actions, and what the data say about them. */
typedef struct pess__view {
    int64_t actions;
    const pess__real *q;   /* value of action a by head k: q[k*head_stride + a]; for imitation the log odds */
    int64_t heads;         /* heads or networks that give values */
    int64_t head_stride;   /* read where heads > 1 */
    const double *mixture; /* [heads] weights of the heads, sum 1; NULL: equal ones */
    const float *prior;    /* [actions] π̂(a|s) of the imitation network; NULL unless info.imitation */
    const float
        *penalty; /* [actions] u(s,a) of the learner's uncertainty, capped and relative as asked; NULL without */
    const int32_t *counts; /* [actions] n(s,a), zeros outside the data; NULL for imitation */
    const float *actor;    /* [actions] π(a|s) of the actor network; NULL unless the learner has one */
    double cap;            /* largest u, and whether u counts from the state's smallest: for those who compute u */
    bool relative;         /* from the values */
} pess__view;

struct pess__neural_uncertainty;
struct pess__fitted;

typedef struct pess__learner {
    pess_learner_info info;
    /* π(·|s) to policy [actions]; returns what the state is worth under it, penalty included: the value that the
     * targets of the transitions into it bootstrap from. */
    double (*decide)(double alpha, const pess__view *view, double *policy);
    const struct pess__neural_uncertainty *uncertainty; /* where view.penalty comes from; NULL: nowhere */
    bool counts;             /* goes by n(s,a), which says little where next to no state comes back */
    bool untrained;          /* has no network of its own: acts by its uncertainty */
    bool conservative;       /* alpha × cross-entropy of the logged action joins the loss */
    int64_t networks;        /* that give values, each trained on its own resample of the data; 0: 1 */
    int64_t heads, mixtures; /* of a network, and of its heads per update; 0: 1 */
    pess_status (*open)(struct pess__fitted *fitted, pess_error *error); /* makes further networks */
    /* Before the tables are made: may put other data in the place of the data. */
    pess_status (*prepare)(struct pess__fitted *fitted, pess_error *error);
    /* After the values of an update have been trained: training of further networks. */
    pess_status (*after_update)(struct pess__fitted *fitted, pess_error *error);
} pess__learner;

const pess__learner *pess__learner_find(const char *name);
/* Seconds of a training (targets and uncertainty included, episodes not) beside those of a naive one, about. */
double pess__learner_cost(const pess__learner *learner);

extern const pess__learner pess__learner_imitation, pess__learner_naive, pess__learner_proximal,
    pess__learner_counts_alone, pess__learner_bcq, pess__learner_brac, pess__learner_spibb_dqn, pess__learner_cql,
    pess__learner_crr, pess__learner_crr_exp, pess__learner_rem, pess__learner_model_ensemble;

/* naive.c: the action of the largest value, and that value, whatever alpha. */
double pess__decide_greedy(double alpha, const pess__view *view, double *policy);
/* CRR: how much a logged action of that advantage counts. */
double pess__crr_weight(bool binary, double beta, double advantage);

/* softmax(outputs) to probabilities [actions]. */
void pess__softmax(const pess__real *outputs, int64_t actions, float *probabilities);

#endif
