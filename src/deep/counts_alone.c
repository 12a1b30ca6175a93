/* counts-alone: a control without values: the action that the data took most often in this state, by the uncertainty of
 * counts (and, outside the data, by the network that generalises it). */
#include "deep/neural_uncertainty.h"

#include <math.h>

static double decide(const pess__view *view, double *policy) {
    for (int64_t a = 0; a < view->actions; a++) policy[a] = -(double)view->penalty[a];
    (void)pess__take_best(policy, view->actions);
    return NAN; /* it gives no values */
}

const pess__learner pess__learner_counts_alone = {
    .info = {.name = "counts-alone",
             .summary = "a control without values: the action with the smallest uncertainty from counts",
             .values = false,
             .imitation = false,
             .samples = false,
             .source = "ours, to tell what values add",
             .settings = "updates steps batch u-cap relative uncertainty-steps imitation-rate",
             .uncertainty = "counts"},
    .decide = decide,
    .uncertainty = &pess__neural_uncertainty_counts,
    .counts = true,
    .untrained = true};
