/* sac-n: soft actor-critic with N critics (An et al. 2021) for discrete actions (Christodoulou 2019). Pessimism is the
 * least of the critics' values; the more of them, the further it lies below their mean where they disagree:
 *
 *     q(s,a) = min_k q_k(s,a),     π(a|s) = exp(q(s,a)/τ) / Σ_b exp(q(s,b)/τ),
 *     v(s) = Σ_a π(a|s) (q(s,a) − τ log π(a|s)) = τ log Σ_b exp(q(s,b)/τ)
 *
 * Theirs trains an actor to that π and tunes τ to an entropy; with a handful of actions π is known exactly, so there is
 * no actor here, and τ is a knob. All critics learn from the same data to the same targets, as theirs do, each from its
 * own initial parameters in its own order. EDAC's term against critics whose gradients by the action agree has no
 * counterpart where actions are no numbers, and is left out. */
#include "deep/learner.h"

typedef struct sac_knobs {
    size_t size;
    int64_t critics;
    double temperature;
} sac_knobs;

static const pess_setting knob_rows[] = {
    {.name = "critics",
     .kind = PESS_SETTING_COUNT,
     PESS__FIELD(sac_knobs, critics),
     .standard = "5",
     PESS__FROM_TO(2, PESS__MAX_VALUE_NETWORKS),
     .argument = "N",
     .sentence = "networks whose least value counts: more of them, more pessimism, and N times the work"},
    {.name = "temperature",
     .kind = PESS_SETTING_NUMBER,
     PESS__FIELD(sac_knobs, temperature),
     .standard = "0.1",
     PESS__FROM_TO(0, 1e6),
     .argument = "T",
     .sentence = "weight of the policy's entropy: 0 takes the best action alone"},
};
static const pess_setting_table knobs = PESS__SETTING_TABLE("sac-n", sac_knobs, knob_rows);

static int64_t count(const void *own) { return ((const sac_knobs *)own)->critics; }

double pess__sac_temperature(const void *own) { return ((const sac_knobs *)own)->temperature; }

static double decide(const pess__view *view, double *policy) {
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
             .settings = PESS__READS_VALUES,
             .source =
                 "An et al. 2021, SAC-N, for discrete actions as in Christodoulou 2019; no actor, fixed temperature"},
    .decide = decide,
    .networks = 5,
    .network_count = count,
    .same_data = true};
