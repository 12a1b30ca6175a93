/* spibb-dqn (Laroche et al. 2019, section 4): an action seen fewer than N∧ times keeps the baseline's probability, the
 * rest of the mass goes to the best of the others:
 *
 *     v(s) = Σ_{a: n(s,a) < N∧} π̂(a|s) q(s,a) + (Σ_{a: n(s,a) ≥ N∧} π̂(a|s)) · max_{a: n(s,a) ≥ N∧} q(s,a)
 *
 * Their pseudo-counts are exact counts of identical observations here, the baseline is the imitation network. Outside
 * the data nothing was ever seen: the baseline acts. */
#include "deep/learner.h"

static double decide(const pess__view *view, double *policy) {
    const double least = pess__alpha(view->knobs); /* N∧ */
    int64_t best = -1;
    double kept = 0, free = 0;
    for (int64_t a = 0; a < view->actions; a++) {
        const double prior = (double)view->prior[a];
        const bool known = (double)view->counts[a] >= least;
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

PESS__ALPHA_TABLE(knobs, "3", "count from which an action is free, N", PESS__ANY_WEIGHT);

const pess__learner pess__learner_spibb_dqn = {
    .info = {.name = "spibb-dqn",
             .summary = "the imitation policy for actions seen fewer than alpha times, the best of the others",
             .values = true,
             .imitation = true,
             .samples = true,
             .knobs = &knobs,
             .settings = PESS__READS_VALUES " " PESS__READS_ARGMAX " " PESS__READS_IMITATION,
             .source = "Laroche et al. 2019, SPIBB-DQN; exact counts for pseudo-counts"},
    .decide = decide,
    .counts = true};
