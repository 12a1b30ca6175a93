/* imitation: a network trained by maximum likelihood to predict the logged actions; acts by sampling its softmax. */
#include "deep/learner.h"

#include <math.h>

static double decide(double alpha, const pess__view *view, double *policy) {
    (void)alpha;
    for (int64_t a = 0; a < view->actions; a++) policy[a] = (double)view->prior[a];
    return NAN; /* it has no opinion on values */
}

const pess__learner pess__learner_imitation = {
    .info = {.name = "imitation",
             .summary = "acts as the data do: a network that predicts the logged actions, sampled",
             .values = false,
             .imitation = false,
             .samples = true,
             .alpha = NAN},
    .decide = decide};
