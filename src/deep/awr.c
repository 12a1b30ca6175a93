/* awr: advantage-weighted regression (Peng et al. 2019) for discrete actions. Nothing is maximised but the likelihood
 * of logged actions; what they are worth is what the data went on to do after them:
 *
 *     q(s,a) → r + γ v(s'),   v(s) → mean of q(s,a) over the logged a,
 *     actor: maximise Σ min(exp((q(s,a) − v(s))/β), 20) log π(a|s)
 *
 * Theirs weighs by single returns, λ = 0.95 of the way to the end of the episode; here their mean is learnt first, so
 * that luck is not taken for merit (λ = 0). Values, v and actor take turns as in iql, which looks above the mean. */
#include "deep/learner.h"

static const double most_weight = 20;

static pess__loss value_loss(const void *own) {
    (void)own;
    return (pess__loss){.kind = PESS__LOSS_SQUARED};
}

static pess__label actor_label(const pess__view *view, int64_t action) {
    return (pess__label){.weight = fmin(exp(pess__advantage(view, action) / pess__alpha(view->knobs)), most_weight)};
}

static const pess__own_network own[] = PESS__VALUE_AND_ACTOR(value_loss, actor_label);

PESS__ALPHA_TABLE(knobs, "1", "temperature of the weights, beta", PESS__BETWEEN(0, 1e30));

const pess__learner pess__learner_awr = {
    .info = {.name = "awr",
             .summary = "an actor trained to logged actions, weighted by how much better the data fared after them",
             .values = true,
             .imitation = false,
             .samples = true,
             .knobs = &knobs,
             .settings = PESS__READS_VALUES " " PESS__READS_ARGMAX,
             .source = "Peng et al. 2019: weights up to 20; their beta, 0.05, is for rewards of another scale"},
    .decide = pess__decide_actor,
    .own = own,
    .own_count = 2};
