/* The bandit of the paper's introduction: many bad arms, of which some look good by chance. */
#include "model/mdps.h"
#include "model/model.h"

#define FIELD(name) PESS__FIELD(pess_bandit_options, name)

static const pess_setting settings[] = {
    {"arms", 0, PESS_SETTING_COUNT, FIELD(arms), "1000", PESS__AT_LEAST(1), .argument = "N",
     .sentence = "number of arms"},
    {"best", 0, PESS_SETTING_NUMBER, FIELD(best), "0.99", PESS__FROM_TO(0, 1), .argument = "P",
     .sentence = "mean reward of arm 0"},
    {"rest", 0, PESS_SETTING_NUMBER, FIELD(rest), "0.01", PESS__FROM_TO(0, 1), .argument = "P",
     .sentence = "mean reward of the others"},
};

static const pess_setting_table table = PESS__SETTING_TABLE("bandit", pess_bandit_options, settings);
PESS__SETTINGS_OF(bandit, table)

static int64_t add_transition(pess_mdp *mdp, int64_t k, double probability, double reward) {
    if (probability == 0) return k;
    mdp->next[k] = 0;
    mdp->probability[k] = probability;
    mdp->reward[k] = reward;
    return k + 1;
}

pess_status pess_mdp_bandit(const pess_bandit_options *options, pess_mdp **out, pess_error *error) {
    pess_bandit_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    options = &settled;
    PESS_TRY(pess__model_check_sizes(1, options->arms, error));
    pess_mdp *mdp = NULL;
    PESS_TRY(pess__mdp_allocate(1, options->arms, 2 * options->arms, &mdp, error));
    int64_t k = 0;
    for (int64_t arm = 0; arm < options->arms; arm++) {
        const double mean = arm == 0 ? options->best : options->rest;
        k = add_transition(mdp, k, mean, 1);
        k = add_transition(mdp, k, 1 - mean, 0);
        mdp->row[arm + 1] = k;
    }
    *out = mdp;
    return PESS_OK;
}

static pess_status make(const void *options, pess_mdp **out, pess_error *error) {
    return pess_mdp_bandit(options, out, error);
}

const pess__mdp_kind pess__mdp_kind_bandit = {
    .info = {.name = "bandit", .summary = "one state, many arms: the paper's example", .settings = &table},
    .make = make};
