/* bcq: discrete batch-constrained Q-learning (Fujimoto et al. 2019, "Benchmarking Batch Deep Reinforcement Learning
 * Algorithms"): the best action among those that the data make likely enough,
 *
 *     π(s) = argmax over { a : π̂(a|s) / max_b π̂(b|s) > τ } of q(s,a),     v(s) = q(s, π(s)),     τ = 0.3
 *
 * π̂ is a network of its own here; theirs shares the convolutions with the values. */
#include "deep/learner.h"

#include <math.h>

static double decide(const pess__view *view, double *policy) {
    const double tau = pess__alpha(view->knobs);
    double most_likely = 0;
    for (int64_t a = 0; a < view->actions; a++) most_likely = fmax(most_likely, (double)view->prior[a]);
    for (int64_t a = 0; a < view->actions; a++) {
        const double prior = (double)view->prior[a];
        const bool allowed = prior > tau * most_likely || prior >= most_likely; /* the last: τ = 1 is imitation */
        policy[a] = allowed ? (double)view->q[a] : -INFINITY;
    }
    return pess__take_best(policy, view->actions);
}

PESS__ALPHA_TABLE(knobs, "0.3", "least probability relative to the likeliest action's, tau", PESS__FROM_TO(0, 1));

const pess__learner pess__learner_bcq = {
    .info = {.name = "bcq",
             .summary = "the best action among those that the imitation network finds likely enough",
             .values = true,
             .imitation = true,
             .samples = false,
             .knobs = &knobs,
             .settings = PESS__READS_VALUES " " PESS__READS_IMITATION,
             .source = "Fujimoto et al. 2019: tau 0.3"},
    .decide = decide};
