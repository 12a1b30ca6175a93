/* imitation: u(s,a) = min(1/√π̂(a|s), cap) with the imitation network's π̂. It knows which actions are rare in a state
 * and in states like it, not how often the state was seen, so more data do not make it smaller. */
#include "deep/neural_uncertainty.h"
#include "deep/regression.h"

static void from_prior(const pess__view *view, double *u) {
    for (int64_t a = 0; a < view->actions; a++) u[a] = pess__root_share(view->prior[a]);
}

const pess__neural_uncertainty pess__neural_uncertainty_imitation = {
    .info = {.name = "imitation",
             .summary = "how unlikely the imitation network finds the action",
             .formula = "min(1/sqrt(p(a|s)), cap), p of the imitation network",
             .outside = "the same network",
             .cap = 10,
             .imitation = true},
    .learner = {.info = {.name = "ua-imitation",
                         .summary = "values less alpha times an uncertainty from the imitation network's probabilities",
                         .values = true,
                         .imitation = true,
                         .knobs = &pess__ua_knobs,
                         .source = "the rule of Buckman et al. 2021; the uncertainty is ours",
                         .settings = PESS__READS_UA " " PESS__READS_IMITATION,
                         .uncertainty = "imitation"},
                .decide = pess__decide_ua,
                .uncertainty = &pess__neural_uncertainty_imitation},
    .outside = from_prior};

/* imitation-counts: u(s,a) = min(1/√(π̂(a|s)·N(s)), cap), N(s) how often the data act in s: π̂·N is a smoothed n(s,a),
 * and the penalty shrinks as the data grow. Outside the data a network stands for 1/√N(s): it is trained to it at the
 * states of the data, each as often as it occurs, and held to [0,1], so that no state outside counts for less than one
 * visit. */
static double visits(const pess__view *view) {
    int64_t sum = 0;
    for (int64_t a = 0; a < view->actions; a++) sum += view->counts[a];
    return (double)sum;
}

void pess__share_visits(const pess__view *view, double root, double *u) {
    for (int64_t a = 0; a < view->actions; a++) u[a] = root * pess__root_share(view->prior[a]);
}

void pess__share_predicted_visits(const pess__view *view, double *u) {
    pess__share_visits(view, fmin(fmax((double)view->uncertainty[0], 0), 1), u);
}

static void from_both(const pess__view *view, double *u) {
    pess__share_visits(view, pess__root_count(visits(view), 1), u);
}

static void label(const pess__view *view, pess__real *labels) {
    labels[0] = (pess__real)pess__root_count(visits(view), 1);
}

const pess__neural_uncertainty pess__neural_uncertainty_imitation_counts = {
    .info = {.name = "imitation-counts",
             .summary = "the imitation network's share of how often the state occurs",
             .formula = "min(1/sqrt(p(a|s) N(s)), cap), p of the imitation network, N(s) exact",
             .outside = "p of the imitation network, N(s) of a network that was trained to predict 1/sqrt(N(s))",
             .cap = 10,
             .imitation = true},
    .learner =
        {.info = {.name = "ua-imitation-counts",
                  .summary =
                      "values less alpha times an uncertainty from those probabilities and how often the state occurs",
                  .values = true,
                  .imitation = true,
                  .knobs = &pess__ua_knobs,
                  .source = "the rule of Buckman et al. 2021; the uncertainty is ours",
                  .settings = PESS__READS_UA_NETWORK " " PESS__READS_IMITATION,
                  .uncertainty = "imitation-counts"},
         .decide = pess__decide_ua,
         .counts = true,
         .uncertainty = &pess__neural_uncertainty_imitation_counts},
    .inside = from_both,
    .outside = pess__share_predicted_visits,
    .train = pess__regress_labels,
    .label = label,
    .one_output = true};
