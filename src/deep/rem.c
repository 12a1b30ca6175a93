/* rem: random ensemble mixture (Agarwal et al. 2020): K heads on one network; every minibatch has a random convex
 * combination of them, in the loss and in the targets alike:
 *
 *     huber(Σ_k w_k q_k(s,a) − r − γ max_b Σ_k w_k q_k(s',b)),     w_k = w'_k / Σ w',  w' uniform in [0,1]
 *
 * and acts by the mean of the heads. Theirs are 200, which costs four times a naive run with networks as small as
 * these; the default is less. The targets of an update are computed once for all its minibatches, so an update has
 * MIXTURES combinations that its steps take in turn. */
#include "deep/learner.h"

#include <math.h>

enum { HEADS = 50, MIXTURES = 20 };

typedef struct rem_knobs {
    size_t size;
    int64_t heads;
} rem_knobs;

static const pess_setting knob_rows[] = {
    {.name = PESS__HEADS,
     .kind = PESS_SETTING_COUNT,
     PESS__FIELD(rem_knobs, heads),
     .standard = "50",
     PESS__FROM_TO(2, 200),
     .argument = "K",
     .sentence = "heads of the network, whose random mixtures learn"},
};
static const pess_setting_table knobs = PESS__SETTING_TABLE("rem", rem_knobs, knob_rows);

static int64_t head_count(const void *own) { return ((const rem_knobs *)own)->heads; }

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
             .knobs = &knobs,
             .settings = PESS__READS_VALUES,
             .source = "Agarwal et al. 2020; 50 heads for their 200, 20 mixtures per update"},
    .decide = decide,
    .heads = HEADS,
    .head_count = head_count,
    .mixtures = MIXTURES};
