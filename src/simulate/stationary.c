/* The stationary law of a policy: d = d·P^π. Periodic chains have one too; a chain with two recurrent classes or with
 * an end has none that is unique. */
#include "core/memory.h"
#include "model/model.h"
#include "policy/policy.h"
#include "simulate/chain.h"

#include <math.h>
#include <stdlib.h>

enum { DENSE_LIMIT = 2000 };

static pess_status check_state(const pess_model *model, const pess_policy *policy, int64_t s, pess_error *error) {
    double sum = 0;
    for (int64_t a = 0; a < model->actions; a++) {
        const int64_t pair = s * model->actions + a;
        const double p = policy->probability[pair];
        sum += p;
        if (p == 0) continue;
        if (model->kind[pair] == PESS_ROW_NONE)
            return pess__fail(error, PESS_INPUT,
                              "policy: state %lld has no action %lld, but it is given probability %g", (long long)s,
                              (long long)a, p);
        if (model->kind[pair] == PESS_ROW_SINK)
            return pess__fail(error, PESS_INPUT,
                              "state %lld, action %lld was never seen and is taken to be the worst for ever: there is "
                              "no stationary law",
                              (long long)s, (long long)a);
        if (model->end_mass[pair] > 0)
            return pess__fail(error, PESS_INPUT,
                              "state %lld, action %lld ends the episode with probability %g, so there is no stationary "
                              "law: episodes end",
                              (long long)s, (long long)a, model->end_mass[pair]);
    }
    if (fabs(sum - 1) > 1e-6)
        return pess__fail(error, PESS_INPUT, "policy: state %lld: the probabilities sum to %.12g, expected 1",
                          (long long)s, sum);
    return PESS_OK;
}

static pess_status check(const pess_model *model, const pess_policy *policy, pess_error *error) {
    PESS_TRY(pess__policy_check_table(policy, model->states, model->actions, "the model", error));
    for (int64_t s = 0; s < model->states; s++)
        if (!model->terminal[s]) PESS_TRY(check_state(model, policy, s, error));
    return PESS_OK;
}

/* The law of the only recurrent class, spread over the model's states. */
static pess_status solve_class(const pess__markov_chain *chain, const uint8_t *in, int64_t states, double *out,
                               pess_error *error) {
    pess__markov_chain part = {0};
    double *x = NULL;
    PESS_TRY(pess__markov_chain_restrict(chain, in, &part, error));
    pess_status status = pess__allocate(&x, part.size, sizeof *x, "a stationary law", error);
    if (status == PESS_OK)
        status = part.size <= DENSE_LIMIT ? pess__markov_chain_eliminate(&part, x, error)
                                          : pess__markov_chain_multilevel(&part, x, error);
    if (status == PESS_OK) {
        double sum = 0; /* without the node that stands for uniform rows, which takes no time */
        int64_t at = 0;
        for (int64_t s = 0; s < states; s++) sum += out[s] = in[s] ? x[at++] : 0;
        for (int64_t s = 0; s < states; s++) out[s] /= sum;
    }
    free(x);
    pess__markov_chain_clear(&part);
    return status;
}

pess_status pess_stationary(const pess_model *model, const pess_policy *policy, double *out, pess_error *error) {
    PESS_TRY(check(model, policy, error));
    pess__markov_chain chain = {0};
    PESS_TRY(pess__markov_chain_create(model, policy, &chain, error));
    uint8_t *in = NULL;
    int64_t classes = 0;
    pess_status status = pess__allocate(&in, chain.size, sizeof *in, "a stationary law", error);
    if (status == PESS_OK) status = pess__markov_chain_recurrent(&chain, in, &classes, error);
    if (status == PESS_OK && classes != 1)
        status = pess__fail(error, PESS_INPUT,
                            "the stationary law is not unique: the policy has %lld recurrent classes of states%s",
                            (long long)classes, classes == 0 ? " (every state is terminal)" : "");
    if (status == PESS_OK) status = solve_class(&chain, in, model->states, out, error);
    free(in);
    pess__markov_chain_clear(&chain);
    return status;
}
