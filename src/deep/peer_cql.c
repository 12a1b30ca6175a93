/* cql: conservative Q-learning, CQL(H) for discrete actions (Kumar et al. 2020, equation 4): naive but for the loss,
 *
 *     huber(q(s,a) − y) + α (log Σ_b exp q(s,b) − q(s,a))
 *
 * which pushes down the values of the actions that were not logged. α = 1 is theirs for Atari with 10 % of the data;
 * their values are distributions over 200 quantiles, ours are numbers. */
#include "deep/learner.h"

#include "deep/play.h"

static double decide(double alpha, const pess__sight *sight, double *policy) {
    (void)alpha; /* it is in the loss */
    const int32_t best = pess__greedy(sight->q, sight->actions);
    for (int64_t a = 0; a < sight->actions; a++) policy[a] = a == best;
    return (double)sight->q[best];
}

const pess__learner pess__learner_cql = {
    .info = {.name = "cql",
             .summary = "fitted Q iteration with a loss that pushes down the values of actions not logged",
             .values = true,
             .imitation = false,
             .samples = false,
             .alpha = 1,
             .knob = "weight of the regulariser in the loss",
             .source = "Kumar et al. 2020, CQL(H): alpha 1 as for Atari"},
    .decide = decide,
    .conservative = true};
