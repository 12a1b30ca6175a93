/* The stationary law of a policy: d = d·P^π. Periodic chains have one too; a chain with two recurrent classes or with
 * an end has none that is unique. */
#include "core/memory.h"
#include "model/model.h"
#include "policy/policy.h"
#include "simulate/chain.h"

#include <math.h>
#include <stdlib.h>

enum { DENSE_LIMIT = 2000 };

/* What the policy does goes on in the model, and that is known. */
static pess_status check_pair(const pess_model *model, int64_t pair, pess_error *error) {
    const long long state = (long long)(pair / model->actions), action = (long long)(pair % model->actions);
    if (model->kind[pair] == PESS_ROW_SINK)
        return pess__fail(error, PESS_INPUT,
                          "state %lld, action %lld was never seen and is taken to be the worst for ever: there is no "
                          "stationary law",
                          state, action);
    if (model->end_mass[pair] > 0)
        return pess__fail(error, PESS_INPUT,
                          "state %lld, action %lld ends the episode with probability %g, so there is no stationary "
                          "law: episodes end",
                          state, action, model->end_mass[pair]);
    return PESS_OK;
}

static pess_status check(const pess_model *model, const pess_policy *policy, pess_error *error) {
    PESS_TRY(pess__policy_check_table(policy, model->states, model->actions, "the model", error));
    PESS_TRY(pess__policy_check_model(policy->probability, model, error));
    for (int64_t pair = 0; pair < model->states * model->actions; pair++)
        if (policy->probability[pair] > 0) PESS_TRY(check_pair(model, pair, error));
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
