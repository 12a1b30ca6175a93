/* iql: implicit Q-learning (Kostrikov et al. 2022) for discrete actions. No action outside the data is ever asked for:
 *
 *     v(s): expectile τ of q(s,a) over the logged a,    minimise Σ |τ − 1[u < 0]| u²,  u = q(s,a) − v(s)
 *     q(s,a) → r + γ v(s'),     actor: maximise Σ min(exp(β (q(s,a) − v(s))), 100) log π(a|s)
 *
 * Values, v and actor take turns: after the values of an update each of the two makes as many steps, with labels from
 * the networks as they were when its turn began. */
#include "deep/learner.h"

typedef struct iql_knobs {
    size_t size;
    double expectile, beta;
} iql_knobs;

static const pess_setting knob_rows[] = {
    {.name = "expectile",
     .kind = PESS_SETTING_NUMBER,
     PESS__FIELD(iql_knobs, expectile),
     .standard = "0.7",
     PESS__BETWEEN(0, 1),
     .argument = "T",
     .sentence = "which expectile of the values of logged actions: 0.5 is their mean, near 1 the best of them"},
    {.name = "beta",
     .kind = PESS_SETTING_NUMBER,
     PESS__FIELD(iql_knobs, beta),
     .standard = "3",
     PESS__FROM_TO(0, 1e6),
     .argument = "B",
     .sentence = "inverse temperature of the actor's weights; 0 imitates"},
};
static const pess_setting_table knobs = PESS__SETTING_TABLE("iql", iql_knobs, knob_rows);

static const double most_weight = 100;

/* Of d = v − q: u = −d. */
static double expectile(double d, double tau, double *slope) {
    const double weight = d > 0 ? 1 - tau : tau;
    *slope = 2 * weight * d;
    return weight * d * d;
}

static pess__loss value_loss(const void *own) {
    return (pess__loss){
        .kind = PESS__LOSS_DISTANCE, .parameter = ((const iql_knobs *)own)->expectile, .distance = expectile};
}

static pess__label actor_label(const pess__view *view, int64_t action) {
    const double beta = ((const iql_knobs *)view->knobs)->beta;
    return (pess__label){.weight = fmin(exp(beta * pess__advantage(view, action)), most_weight)};
}

static const pess__own_network own[] = PESS__VALUE_AND_ACTOR(value_loss, actor_label);

const pess__learner pess__learner_iql = {
    .info = {.name = "iql",
             .summary = "values of logged actions alone, by expectiles; an actor weighted by their advantage",
             .values = true,
             .imitation = false,
             .samples = true,
             .knobs = &knobs,
             .settings = PESS__READS_VALUES " " PESS__READS_ARGMAX,
             .source = "Kostrikov et al. 2022: expectile 0.7, beta 3, weights up to 100"},
    .decide = pess__decide_actor,
    .own = own,
    .own_count = 2};
