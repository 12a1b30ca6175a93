/* Where the uncertainty u(s,a) of uncertainty-aware learning with networks comes from. Each kind is one file and one
 * word in the table below; with it come the learner "ua-<kind>", the penalty of every state of the data and, for
 * the states outside them, a network. Units are absorbed: the penalty is α·u. */
#ifndef PESS_DEEP_NEURAL_UNCERTAINTY_H
#define PESS_DEEP_NEURAL_UNCERTAINTY_H

#include "deep/tables.h"

/* What the training of an uncertainty's network may read, and where it may leave a warning. */
typedef struct pess__uncertainty_training {
    const pess__setup *setup;
    const pess__tables *tables;
    char *warning; /* [PESS__WARNING_SIZE] */
} pess__uncertainty_training;

typedef struct pess__neural_uncertainty {
    pess_neural_uncertainty_info info;
    pess__learner learner; /* "ua-" and the name */
    /* What u needs of the data as a whole, to out [states*actions], which is view->widths; NULL: nothing. */
    pess_status (*widths)(const pess__setup *setup, const pess__tables *tables, float *out, pess_error *error);
    /* u of a state in which the data act, from its widths, counts and prior; NULL: as outside. Capping and subtracting
     * the smallest come after. */
    void (*inside)(const pess__view *view, double *u);
    /* u of any other state, from its prior and the outputs of the uncertainty's network; NULL: the learner computes u
     * from the values. */
    void (*outside)(const pess__view *view, double *u);
    /* Trains the uncertainty's network; NULL: it has none. */
    pess_status (*train)(const pess__uncertainty_training *training, pess__net *net, pess_error *error);
    /* For pess__regress_labels: what the network is to predict at a state in which the data act. */
    void (*label)(const pess__view *view, pess__real *labels);
    bool one_output; /* of its network; otherwise one per action */
} pess__neural_uncertainty;

const pess__neural_uncertainty *pess__neural_uncertainty_find(const char *name);
const pess__neural_uncertainty *pess__neural_uncertainty_at(size_t index); /* NULL past the last */

/* clang-format off */
/* The table of neural uncertainties: pess__neural_uncertainty_<word>. */
#define PESS__NEURAL_UNCERTAINTIES(X)                                                                                  \
    X(counts) X(support_net) X(imitation) X(imitation_counts) X(ensemble) X(propensity) X(elliptical)   \
    X(kernel_counts)
/* clang-format on */
#define PESS__DECLARE(word) extern const pess__neural_uncertainty pess__neural_uncertainty_##word;
PESS__NEURAL_UNCERTAINTIES(PESS__DECLARE)
#undef PESS__DECLARE

/* Trains the network of the learner's uncertainty, which is then the caller's, and fills tables->penalty. Both depend
 * on the data and the options alone, so that a resumed run makes the same. */
pess_status pess__penalties_create(const pess__setup *setup, pess__tables *tables, pess__net **net, char *warning,
                                   pess_error *error);
/* Penalty [actions] of an observation outside the data, from its prior and view->uncertainty. */
void pess__penalty_outside(const pess__neural_uncertainty *uncertainty, const pess__view *view, float *penalty);
/* min(u, cap), and u − min u where it is relative. */
void pess__penalty_finish(double cap, bool relative, int64_t actions, double *u);

/* uncertainty_counts.c: the learner's rule for all kinds that have a table: v = max_a q(a) − αu(a), and its knob. */
double pess__decide_ua(const pess__view *view, double *policy);
extern const pess_setting_table pess__ua_knobs;
/* 1/√n, `none` where n is 0. */
double pess__root_count(double n, double none);
/* 1/√p of a probability, which may have become 0. */
double pess__root_share(float p);
/* uncertainty_imitation.c: u(s,a) = root/√π̂(a|s), root = 1/√N(s) of a state's visits; as the single output of the
 * uncertainty's network predicts it, held to [0,1]. */
void pess__share_visits(const pess__view *view, double root, double *u);
void pess__share_predicted_visits(const pess__view *view, double *u);

#define PESS__READS_UA PESS__READS_VALUES " u-cap relative"
#define PESS__READS_UA_NETWORK PESS__READS_UA " uncertainty-steps imitation-rate"

#endif
