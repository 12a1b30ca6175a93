/* brac: behaviour-regularised learning with the Kullback-Leibler divergence (Wu et al. 2019; the closed form for few
 * actions is Kappen's and Todorov's): the maximum over π of Σπq − α KL(π‖π̂) is
 *
 *     v(s) = α log Σ_a π̂(a|s) exp(q(s,a)/α),     π(a|s) ∝ π̂(a|s) exp(q(s,a)/α)
 *
 * Their paper tunes α for every task. Here it is proximal's, so that the two differ in the divergence alone. */
#include "deep/learner.h"

#include <math.h>

static double decide(const pess__view *view, double *policy) {
    const double alpha = pess__alpha(view->knobs);
    double most = -INFINITY, sum = 0, mass = 0;
    for (int64_t a = 0; a < view->actions; a++) most = fmax(most, (double)view->q[a]);
    if (!(alpha > 0)) { /* naive: the smallest of the best actions */
        bool found = false;
        for (int64_t a = 0; a < view->actions; a++) {
            policy[a] = !found && (double)view->q[a] >= most;
            found |= policy[a] > 0;
        }
        return most;
    }
    for (int64_t a = 0; a < view->actions; a++) {
        const double prior = fmax((double)view->prior[a], 1e-30);
        mass += prior; /* 1 but for rounding, which a large alpha would show */
        sum += policy[a] = prior * exp(((double)view->q[a] - most) / alpha);
    }
    for (int64_t a = 0; a < view->actions; a++) policy[a] /= sum;
    return most + alpha * log(sum / mass);
}

PESS__ALPHA_TABLE(knobs, "0.25", PESS__PENALTY_WEIGHT, PESS__ANY_WEIGHT);

const pess__learner pess__learner_brac = {
    .info = {.name = "brac",
             .summary = "pays alpha per nat of divergence from the imitation policy",
             .values = true,
             .imitation = true,
             .samples = true,
             .knobs = &knobs,
             .settings = PESS__READS_VALUES " " PESS__READS_ARGMAX " " PESS__READS_IMITATION,
             .source = "Wu et al. 2019 (KL, value penalty); alpha is tuned per task there, proximal's here"},
    .decide = decide};
