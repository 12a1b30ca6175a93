/* Where the uncertainty u(s,a) of uncertainty-aware learning with networks comes from. Each kind is one file and one
 * row in neural_uncertainties.c; with it come the learner "ua-<kind>", the penalty of every state of the data and, for
 * the states outside them, a network. Units are absorbed: the penalty is α·u. */
#ifndef PESS_DEEP_NEURAL_UNCERTAINTY_H
#define PESS_DEEP_NEURAL_UNCERTAINTY_H

#include "deep/fitted.h"

typedef struct pess__neural_uncertainty {
    pess_neural_uncertainty_info info;
    pess__learner learner; /* "ua-" and the name */
    /* u of a state in which the data act, from the tables; NULL: as outside. Capping and relating come after. */
    void (*inside)(const pess__fitted *fitted, int64_t state, double *u);
    /* u of any other state, from the imitation network's probabilities and the outputs of the uncertainty's network. */
    void (*outside)(const pess__fitted *fitted, const float *prior, const pess__real *outputs, double *u);
    /* Trains the uncertainty's network; NULL: it has none. */
    pess_status (*train)(pess__fitted *fitted, pess__net *net, pess_error *error);
    /* With pess__regress: what the network is to predict at the states in which the data act, `outputs` numbers each.
     */
    void (*label)(const pess__fitted *fitted, int64_t state, pess__real *labels);
    bool one_output; /* of its network; otherwise one per action */
} pess__neural_uncertainty;

const pess__neural_uncertainty *pess__neural_uncertainty_find(const char *name);
const pess__neural_uncertainty *pess__neural_uncertainty_at(size_t index); /* NULL past the last */

extern const pess__neural_uncertainty pess__neural_uncertainty_counts, pess__neural_uncertainty_support_net,
    pess__neural_uncertainty_imitation, pess__neural_uncertainty_imitation_counts, pess__neural_uncertainty_ensemble,
    pess__neural_uncertainty_propensity;

/* Trains the uncertainty's network and fills fitted->penalty. It depends on the data and the options alone, so that a
 * resumed run makes the same. */
pess_status pess__neural_uncertainty_prepare(pess__fitted *fitted, pess_error *error);
/* Penalty [actions] of an observation outside the data. */
void pess__neural_uncertainty_outside(const pess__fitted *fitted, const float *prior, const pess__real *outputs,
                                      float *penalty);
/* min(u, cap), and u − min u where it is relative. */
void pess__neural_uncertainty_finish(double cap, bool relative, int64_t actions, double *u);

/* uncertainty_counts.c: the learner's rule for all kinds that have a table: v = max_a q(a) − αu(a). */
double pess__decide_ua(double alpha, const pess__view *view, double *policy);
/* 1/√n, `none` where n is 0. */
double pess__root_count(double n, double none);
/* 1/√p of a probability, which may have become 0. */
double pess__root_share(float p);

/* uncertainty_propensity.c: is this transition one of those that its network does not learn from? */
bool pess__held_out(int64_t row);

/* regress.c: trains a network to the uncertainty's labels at the states in which the data act, each as often as the
 * data do.
 */
pess_status pess__regress(pess__fitted *fitted, pess__net *net, pess_error *error);

#endif
