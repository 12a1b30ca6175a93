/* counts: u(s,a) = min(1/√n(s,a), cap) with n over identical observations, cap where n = 0. A state outside the data,
 * or one that only ends episodes there, has no counts: its u is the output of a network like that of support-net. */
#include "deep/neural_uncertainty.h"
#include "deep/regression.h"

double pess__decide_ua(const pess__view *view, double *policy) {
    const double alpha = pess__alpha(view->knobs);
    for (int64_t a = 0; a < view->actions; a++) policy[a] = (double)view->q[a] - alpha * (double)view->penalty[a];
    return pess__take_best(policy, view->actions);
}

static const pess_setting rows[] = {PESS__ALPHA_ROW("0.5", PESS__PENALTY_WEIGHT, PESS__ANY_WEIGHT)};
const pess_setting_table pess__ua_knobs = PESS__SETTING_TABLE("alpha", pess__alpha_knob, rows);

static void from_counts(const pess__view *view, double *u) {
    for (int64_t a = 0; a < view->actions; a++) u[a] = pess__root_count((double)view->counts[a], view->cap);
}

static void from_network(const pess__view *view, double *u) {
    for (int64_t a = 0; a < view->actions; a++) u[a] = (double)view->uncertainty[a];
}

/* min(1/√n, cap) of every action, tried or not. */
static void label(const pess__view *view, pess__real *labels) {
    double u[PESS__MAX_ACTIONS];
    from_counts(view, u);
    for (int64_t a = 0; a < view->actions; a++) labels[a] = (pess__real)fmin(u[a], view->cap);
}

const pess__neural_uncertainty pess__neural_uncertainty_counts = {
    .info = {.name = "counts",
             .summary = "how often the action was taken in exactly this observation",
             .formula = "min(1/sqrt(n(s,a)), cap), cap where n = 0",
             .outside = "a network that was trained to predict u at the states of the data",
             .cap = 5,
             .imitation = false},
    .learner = {.info = {.name = "ua-counts",
                         .summary = "values less alpha times an uncertainty from exact counts",
                         .values = true,
                         .knobs = &pess__ua_knobs,
                         .source = "the rule of Buckman et al. 2021 with its 1/sqrt(n); alpha and cap are ours",
                         .settings = PESS__READS_UA_NETWORK,
                         .uncertainty = "counts"},
                .decide = pess__decide_ua,
                .counts = true,
                .uncertainty = &pess__neural_uncertainty_counts},
    .inside = from_counts,
    .outside = from_network,
    .train = pess__regress_labels,
    .label = label};

/* support-net: the network alone, in the data and outside them, so that states that look alike share their counts. */
const pess__neural_uncertainty pess__neural_uncertainty_support_net = {
    .info = {.name = "support-net",
             .summary = "a network's prediction of the uncertainty from counts, at every state alike",
             .formula = "network(s)[a], trained to min(1/sqrt(n(s,a)), cap) at all pairs of the states of the data",
             .outside = "the same network",
             .cap = 5,
             .imitation = false},
    .learner = {.info = {.name = "ua-support-net",
                         .summary = "values less alpha times a network's prediction of the uncertainty from counts",
                         .values = true,
                         .knobs = &pess__ua_knobs,
                         .source = "the rule of Buckman et al. 2021; the uncertainty is ours",
                         .settings = PESS__READS_UA_NETWORK,
                         .uncertainty = "support-net"},
                .decide = pess__decide_ua,
                .counts = true,
                .uncertainty = &pess__neural_uncertainty_support_net},
    .inside = NULL,
    .outside = from_network,
    .train = pess__regress_labels,
    .label = label};
