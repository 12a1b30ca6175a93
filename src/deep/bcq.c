/* bcq: discrete batch-constrained Q-learning (Fujimoto et al. 2019, "Benchmarking Batch Deep Reinforcement Learning
 * Algorithms"): the best action among those that the data make likely enough,
 *
 *     π(s) = argmax over { a : π̂(a|s) / max_b π̂(b|s) > τ } of q(s,a),     v(s) = q(s, π(s)),     τ = 0.3
 *
 * π̂ is a network of its own here; theirs shares the convolutions with the values. */
#include "deep/learner.h"

#include <math.h>

static double decide(double alpha, const pess__view *view, double *policy) {
    double most_likely = 0, most = -INFINITY;
    int64_t best = 0;
    for (int64_t a = 0; a < view->actions; a++) most_likely = fmax(most_likely, (double)view->prior[a]);
    for (int64_t a = 0; a < view->actions; a++) {
        const double prior = (double)view->prior[a];
        const bool allowed = prior > alpha * most_likely || prior >= most_likely; /* the last: τ = 1 is imitation */
        policy[a] = 0;
        if (allowed && (double)view->q[a] > most) {
            most = (double)view->q[a];
            best = a;
        }
    }
    policy[best] = 1;
    return most;
}

const pess__learner pess__learner_bcq = {
    .info = {.name = "bcq",
             .summary = "the best action among those that the imitation network finds likely enough",
             .values = true,
             .imitation = true,
             .samples = false,
             .alpha = 0.3,
             .alpha_most = 1,
             .knob = "tau, the least probability relative to the likeliest action's",
             .source = "Fujimoto et al. 2019: tau 0.3"},
    .decide = decide};
