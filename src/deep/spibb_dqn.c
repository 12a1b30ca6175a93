/* spibb-dqn (Laroche et al. 2019, section 4): an action seen fewer than N∧ times keeps the baseline's probability, the
 * rest of the mass goes to the best of the others:
 *
 *     v(s) = Σ_{a: n(s,a) < N∧} π̂(a|s) q(s,a) + (Σ_{a: n(s,a) ≥ N∧} π̂(a|s)) · max_{a: n(s,a) ≥ N∧} q(s,a)
 *
 * Their pseudo-counts are exact counts of identical observations here, the baseline is the imitation network. Outside
 * the data nothing was ever seen: the baseline acts. */
#include "deep/learner.h"

static double decide(double alpha, const pess__view *view, double *policy) {
    int64_t best = -1;
    double kept = 0, free = 0;
    for (int64_t a = 0; a < view->actions; a++) {
        const double prior = (double)view->prior[a];
        const bool known = (double)view->counts[a] >= alpha;
        policy[a] = known ? 0 : prior;
        if (known) {
            free += prior;
            if (best < 0 || view->q[a] > view->q[best]) best = a;
        } else {
            kept += prior * (double)view->q[a];
        }
    }
    if (best < 0) return kept;
    policy[best] = free;
    return kept + free * (double)view->q[best];
}

const pess__learner pess__learner_spibb_dqn = {
    .info = {.name = "spibb-dqn",
             .summary = "the imitation policy for actions seen fewer than alpha times, the best of the others",
             .values = true,
             .imitation = true,
             .samples = true,
             .alpha = 3,
             .knob = "N, the count from which an action is free",
             .source = "Laroche et al. 2019, SPIBB-DQN; exact counts for pseudo-counts"},
    .decide = decide,
    .counts = true};
