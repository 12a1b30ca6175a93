/* imitation: a network trained by maximum likelihood to predict the logged actions; acts by sampling its softmax. */
#include "deep/learner.h"

static double decide(const pess__view *view, double *policy) {
    for (int64_t a = 0; a < view->actions; a++) policy[a] = (double)view->prior[a];
    return NAN; /* it gives no values */
}

const pess__learner pess__learner_imitation = {
    .info = {.name = "imitation",
             .summary = "acts as the data do: a network that predicts the logged actions, sampled",
             .values = false,
             .imitation = false,
             .samples = true,
             .source = "behaviour cloning, Pomerleau 1991; the paper's imitation",
             .settings = "imitation-steps imitation-batch imitation-rate imitation-rate-last " PESS__READS_ARGMAX},
    .decide = decide};
