/* The bandit of the paper's introduction: many bad arms, of which some look good by chance. */
#include "model/mdp.h"
#include "model/model.h"

pess_bandit_options pess_bandit_options_defaults(void) {
    return (pess_bandit_options){.arms = 1000, .best = 0.99, .rest = 0.01};
}

static int64_t add_outcome(pess_mdp *mdp, int64_t k, double probability, double reward) {
    if (probability == 0) return k;
    mdp->next[k] = 0;
    mdp->probability[k] = probability;
    mdp->reward[k] = reward;
    return k + 1;
}

pess_status pess_mdp_bandit(const pess_bandit_options *options, pess_mdp **out, pess_error *error) {
    const pess_bandit_options defaults = pess_bandit_options_defaults();
    if (options == NULL) options = &defaults;
    if (!(options->best >= 0 && options->best <= 1 && options->rest >= 0 && options->rest <= 1))
        return pess__fail(error, PESS_ARGUMENT, "mean rewards %g and %g of the arms: expected numbers in [0,1]",
                          options->best, options->rest);
    PESS_TRY(pess__model_check_sizes(1, options->arms, error));
    pess_mdp *mdp = NULL;
    PESS_TRY(pess__mdp_allocate(1, options->arms, 2 * options->arms, &mdp, error));
    int64_t k = 0;
    for (int64_t arm = 0; arm < options->arms; arm++) {
        const double mean = arm == 0 ? options->best : options->rest;
        k = add_outcome(mdp, k, mean, 1);
        k = add_outcome(mdp, k, 1 - mean, 0);
        mdp->row[arm + 1] = k;
    }
    *out = mdp;
    return PESS_OK;
}
