/* cql: conservative Q-learning, CQL(H) for discrete actions (Kumar et al. 2020, equation 4): naive but for the loss,
 *
 *     huber(q(s,a) − y) + α (log Σ_b exp q(s,b) − q(s,a))
 *
 * which pushes down the values of the actions that were not logged. α = 1 is theirs for Atari with 10 % of the data;
 * their values are distributions over 200 quantiles, ours are numbers. */
#include "deep/learner.h"

static pess__loss loss(const void *knobs) {
    return (pess__loss){.kind = PESS__LOSS_HUBER, .parameter = PESS__HUBER_EDGE, .conservative = pess__alpha(knobs)};
}

PESS__ALPHA_TABLE(knobs, "1", "weight of the regulariser in the loss", PESS__ANY_WEIGHT);

const pess__learner pess__learner_cql = {
    .info = {.name = "cql",
             .summary = "fitted Q iteration with a loss that pushes down the values of actions not logged",
             .values = true,
             .imitation = false,
             .samples = false,
             .knobs = &knobs,
             .settings = PESS__READS_VALUES " price-share",
             .source = "Kumar et al. 2020, CQL(H): alpha 1 as for Atari"},
    .decide = pess__decide_greedy,
    .loss = loss};
