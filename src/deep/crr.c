/* crr: critic-regularised regression (Wang et al. 2020) for discrete actions. An actor network is trained to the logged
 * actions that are better than its own average, by the critic:
 *
 *     maximise Σ w(s,a) log π(a|s),   A(s,a) = q(s,a) − Σ_b π(b|s) q(s,b),   w = 1[A > 0] or min(exp(A/β), 20), β = 1
 *
 * and the critic's targets are r + γ Σ_b π(b|s') q(s',b). Their four sampled actions are exact sums here. Critic and
 * actor take turns: after every update of the critic the actor makes as many steps on as large minibatches, with
 * weights from the critic and the actor as they were at the start of its turn. It goes on from where it was, also where
 * the protocol renews the critic. */
#include "deep/learner.h"

static const double most_weight = 20;

/* v = Σπq, π the actor's. */
static double decide(const pess__view *view, double *policy) {
    float actor[PESS__MAX_ACTIONS];
    double value = 0;
    pess__softmax(view->own[0], view->actions, actor);
    for (int64_t a = 0; a < view->actions; a++) {
        policy[a] = (double)actor[a];
        value += policy[a] * (double)view->q[a];
    }
    return value;
}

double pess__crr_weight(bool binary, double beta, double advantage) {
    if (binary) return advantage > 0 ? 1 : 0;
    return fmin(exp(advantage / beta), most_weight);
}

static double advantage(const pess__view *view, int64_t action) {
    double policy[PESS__MAX_ACTIONS];
    return (double)(float)((double)view->q[action] - decide(view, policy));
}

static pess__label binary(const pess__view *view, int64_t action) {
    return (pess__label){.weight = pess__crr_weight(true, 0, advantage(view, action))};
}

static pess__label exponential(const pess__view *view, int64_t action) {
    return (pess__label){.weight = pess__crr_weight(false, pess__alpha(view->knobs), advantage(view, action))};
}

static const pess__own_network binary_actor = {
    .name = "actor", .policy = true, .loss = pess__loss_actor, .label = binary};
static const pess__own_network exp_actor = {
    .name = "actor", .policy = true, .loss = pess__loss_actor, .label = exponential};

const pess__learner pess__learner_crr = {
    .info = {.name = "crr",
             .summary = "an actor trained to the logged actions that beat its own average; values of the actor",
             .values = true,
             .imitation = false,
             .samples = true,
             .settings = PESS__READS_VALUES " " PESS__READS_ARGMAX,
             .source = "Wang et al. 2020, CRR binary with the mean over actions"},
    .decide = decide,
    .own = &binary_actor,
    .own_count = 1};

PESS__ALPHA_TABLE(knobs, "1", "temperature of the weights, beta", PESS__ANY_WEIGHT);

/* awac: advantage-weighted actor-critic (Nair et al. 2020). The same with weights exp(A/λ) that nothing limits but what
 * a float holds. */
static pess__label unlimited(const pess__view *view, int64_t action) {
    return (pess__label){.weight = exp(fmin(advantage(view, action) / pess__alpha(view->knobs), 60))};
}

static const pess__own_network awac_actor = {
    .name = "actor", .policy = true, .loss = pess__loss_actor, .label = unlimited};

PESS__ALPHA_TABLE(awac_knobs, "1", "temperature of the weights, lambda", PESS__BETWEEN(0, 1e30));

const pess__learner pess__learner_awac = {
    .info = {.name = "awac",
             .summary = "an actor trained to all logged actions, each weighted by exp(advantage/alpha)",
             .values = true,
             .imitation = false,
             .samples = true,
             .knobs = &awac_knobs,
             .settings = PESS__READS_VALUES " " PESS__READS_ARGMAX,
             .source = "Nair et al. 2020, AWAC: lambda 1, the advantage by the mean over actions"},
    .decide = decide,
    .own = &awac_actor,
    .own_count = 1};

const pess__learner pess__learner_crr_exp = {
    .info = {.name = "crr-exp",
             .summary = "an actor trained to all logged actions, each weighted by exp(advantage/alpha), at most 20",
             .values = true,
             .imitation = false,
             .samples = true,
             .knobs = &knobs,
             .settings = PESS__READS_VALUES " " PESS__READS_ARGMAX,
             .source = "Wang et al. 2020, CRR exp: beta 1, weights up to 20"},
    .decide = decide,
    .own = &exp_actor,
    .own_count = 1};
