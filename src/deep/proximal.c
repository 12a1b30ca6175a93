/* proximal: stay near the empirical policy, here the imitation network's (paper, section 5.2, Proposition 1 and the
 * appendix on deep experiments). */
#include "deep/learner.h"

/* max_π Σ_a π(a)q(a) − α Σ_a max(π(a) − π̂(a), 0): actions with q > max q − α keep their probability π̂, the rest goes
 * to the best action, each unit at the price α. */
static double decide(const pess__view *view, double *policy) {
    const double alpha = pess__alpha(view->knobs);
    const int32_t best = pess__greedy(view->q, view->actions);
    const double top = (double)view->q[best];
    double kept = 0, moved = 0;
    for (int64_t a = 0; a < view->actions; a++) {
        const double q = (double)view->q[a], prior = (double)view->prior[a];
        const bool keeps = alpha > 0 && (a == best || q > top - alpha);
        policy[a] = keeps ? prior : 0;
        if (keeps)
            kept += prior * q;
        else
            moved += prior;
    }
    if (!(alpha > 0)) { /* naive, to the last bit */
        policy[best] = 1;
        return top;
    }
    policy[best] += moved;
    return kept + moved * (top - alpha);
}

PESS__ALPHA_TABLE(knobs, "0.25", PESS__PENALTY_WEIGHT, PESS__ANY_WEIGHT);

const pess__learner pess__learner_proximal = {
    .info = {.name = "proximal",
             .summary = "leaves the imitation policy only where the gain exceeds alpha per unit of probability",
             .values = true,
             .imitation = true,
             .samples = true,
             .knobs = &knobs,
             .source = "Buckman et al. 2021, the paper: alpha 0.25",
             .settings = PESS__READS_VALUES " " PESS__READS_ARGMAX " " PESS__READS_IMITATION},
    .decide = decide};
