/* sac-n: soft actor-critic with N critics (An et al. 2021) for discrete actions (Christodoulou 2019). Pessimism is the
 * least of the critics' values; the more of them, the further it lies below their mean where they disagree:
 *
 *     q(s,a) = min_k q_k(s,a),     π(a|s) = exp(q(s,a)/τ) / Σ_b exp(q(s,b)/τ),
 *     v(s) = Σ_a π(a|s) (q(s,a) − τ log π(a|s)) = τ log Σ_b exp(q(s,b)/τ)
 *
 * Theirs trains an actor to that π and tunes τ to an entropy; with a handful of actions π is known exactly, so there is
 * no actor here, and τ is a knob. All critics learn from the same data to the same targets, as theirs do, each from its
 * own initial parameters in its own order. edac.c keeps them from agreeing. */
#include "deep/learner.h"

static const pess_setting knob_rows[] = {PESS__SAC_ROWS};
static const pess_setting_table knobs = PESS__SETTING_TABLE("sac-n", pess__sac_knobs, knob_rows);

int64_t pess__sac_critics(const void *own) { return ((const pess__sac_knobs *)own)->critics; }

double pess__sac_temperature(const void *own) { return ((const pess__sac_knobs *)own)->temperature; }

double pess__decide_least(const pess__view *view, double *policy) {
    const double temperature = pess__sac_temperature(view->knobs);
    double least[PESS__MAX_ACTIONS] = {0}, sum = 0;
    int64_t best = 0;
    for (int64_t a = 0; a < view->actions; a++) {
        least[a] = INFINITY;
        for (int64_t k = 0; k < view->heads; k++) least[a] = fmin(least[a], (double)view->q[k * view->head_stride + a]);
        if (least[a] > least[best]) best = a;
    }
    for (int64_t a = 0; a < view->actions; a++) {
        policy[a] = temperature > 0 ? exp((least[a] - least[best]) / temperature) : a == best;
        sum += policy[a];
    }
    for (int64_t a = 0; a < view->actions; a++) policy[a] /= sum;
    return least[best] + temperature * log(sum);
}

const pess__learner pess__learner_sac_n = {
    .info = {.name = "sac-n",
             .summary = "the least value of N critics, and the softmax policy of it",
             .values = true,
             .imitation = false,
             .samples = true,
             .knobs = &knobs,
             .settings = PESS__READS_VALUES " " PESS__READS_ARGMAX,
             .source =
                 "An et al. 2021, SAC-N, for discrete actions as in Christodoulou 2019; no actor, fixed temperature"},
    .decide = pess__decide_least,
    .networks = 5,
    .network_count = pess__sac_critics,
    .same_data = true};
