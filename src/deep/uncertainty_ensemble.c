/* ensemble: u(s,a) is the standard deviation of the values of four networks, v(s) = max_a mean − αu. Each network has
 * its own initial parameters and its own resample of the transitions (Osband et al. 2016); all share the targets. It
 * sees how far the fit depends on chance, which need not be how little was seen. */
#include "deep/neural_uncertainty.h"

static double decide(const pess__view *view, double *policy) {
    const double alpha = pess__alpha(view->knobs), count = (double)view->heads;
    double mean[PESS__MAX_ACTIONS], u[PESS__MAX_ACTIONS];
    for (int64_t a = 0; a < view->actions; a++) {
        double squares = 0;
        mean[a] = 0;
        for (int64_t k = 0; k < view->heads; k++) mean[a] += (double)view->q[k * view->head_stride + a] / count;
        for (int64_t k = 0; k < view->heads; k++) {
            const double d = (double)view->q[k * view->head_stride + a] - mean[a];
            squares += d * d;
        }
        u[a] = sqrt(squares / count);
    }
    pess__penalty_finish(view->cap, view->relative, view->actions, u);
    for (int64_t a = 0; a < view->actions; a++) policy[a] = mean[a] - alpha * u[a];
    return pess__take_best(policy, view->actions);
}

PESS__ALPHA_TABLE(knobs, "1", PESS__PENALTY_WEIGHT, PESS__ANY_WEIGHT);

const pess__neural_uncertainty pess__neural_uncertainty_ensemble = {
    .info = {.name = "ensemble",
             .summary = "how far four networks, each trained on its own resample of the data, differ",
             .formula = "standard deviation of their values of (s,a); q is their mean",
             .outside = "the same",
             .cap = INFINITY,
             .imitation = false},
    .learner = {.info = {.name = "ua-ensemble",
                         .summary = "mean less alpha standard deviations of the values of four networks",
                         .values = true,
                         .knobs = &knobs,
                         .source = "the rule of Buckman et al. 2021 with an ensemble, alpha 1 standard deviation",
                         .settings = PESS__READS_UA,
                         .uncertainty = "ensemble"},
                .decide = decide,
                .uncertainty = &pess__neural_uncertainty_ensemble,
                .networks = 4}};
