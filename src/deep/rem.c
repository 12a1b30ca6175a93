/* rem: random ensemble mixture (Agarwal et al. 2020): K heads on one network; every minibatch has a random convex
 * combination of them, in the loss and in the targets alike:
 *
 *     huber(Σ_k w_k q_k(s,a) − r − γ max_b Σ_k w_k q_k(s',b)),     w_k = w'_k / Σ w',  w' uniform in [0,1]
 *
 * and acts by the mean of the heads. Theirs are 200, which costs four times a naive run with networks as small as
 * these; here K = 50. The targets of an update are computed once for all its minibatches, so an update has MIXTURES
 * combinations that its steps take in turn. */
#include "deep/learner.h"

#include <math.h>

enum { HEADS = 50, MIXTURES = 20 };

static double decide(const pess__view *view, double *policy) {
    for (int64_t a = 0; a < view->actions; a++) {
        policy[a] = 0;
        for (int64_t k = 0; k < view->heads; k++)
            policy[a] += (view->mixture != NULL ? view->mixture[k] : 1 / (double)view->heads) *
                         (double)view->q[k * view->head_stride + a];
    }
    return pess__take_best(policy, view->actions);
}

const pess__learner pess__learner_rem = {
    .info = {.name = "rem",
             .summary = "fitted Q iteration of random mixtures of many heads",
             .values = true,
             .imitation = false,
             .samples = false,
             .settings = PESS__READS_VALUES,
             .source = "Agarwal et al. 2020; 50 heads for their 200, 20 mixtures per update"},
    .decide = decide,
    .heads = HEADS,
    .mixtures = MIXTURES};
