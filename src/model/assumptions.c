#include "model/assumptions.h"

#include "model/spread.h"

static pess_status assume_rewards(pess__assumptions *to, const pess_model *model, pess_error *error) {
    const double range[] = {model->reward_lo, model->reward_hi};
    if (model->reward_declared) return PESS_OK;
    return pess__assume(to, "rewards-from-log", "Rewards lie in [{0}, {1}]: the range that the log shows.", range,
                        error);
}

static pess_status assume_returns(pess__assumptions *to, const pess_model *model, pess_error *error) {
    const double returns[] = {model->return_lo, model->return_hi};
    if (!model->return_declared) return PESS_OK;
    return pess__assume(to, "return-range-declared",
                        "Declared: from any state on, the discounted return lies in [{0}, {1}].", returns, error);
}

pess_status pess__assume_sizes(pess__assumptions *to, const pess_counts *counts, const pess_model *model,
                               pess_error *error) {
    const double states = (double)pess__all_states(model), actions = (double)counts->actions;
    if (!counts->states_declared)
        PESS_TRY(pess__assume(to, "states-from-log",
                              states == 1 ? "There is one state: the log shows no other."
                                          : "There are {0} states: as many as the log shows.",
                              &states, error));
    if (!counts->actions_declared)
        PESS_TRY(pess__assume(to, "actions-from-log",
                              counts->actions == 1 ? "There is one action: the log shows no other."
                                                   : "There are {0} actions: as many as the log shows.",
                              &actions, error));
    PESS_TRY(assume_rewards(to, model, error));
    return assume_returns(to, model, error);
}

pess_status pess__assume_value_range(pess__assumptions *to, const pess_model *model, pess_error *error) {
    return model->return_declared ? assume_returns(to, model, error) : assume_rewards(to, model, error);
}

pess_status pess__assume_returns_unchecked(pess__assumptions *to, const pess_model *model, pess_error *error) {
    if (!model->return_declared) return PESS_OK;
    return pess__assume(to, "returns-unchecked",
                        "The range of returns was not checked against the log: its counts have no episodes.", NULL,
                        error);
}

pess_status pess__assume_repeated(pess__assumptions *to, const pess_counts *counts, pess_error *error) {
    const double repeated = (double)counts->repeated;
    if (counts->repeated == 0) return PESS_OK;
    return pess__assume(to, "repeated-steps",
                        counts->repeated == 1
                            ? "One row repeats a step of its episode and is counted like the others, so the log looks "
                              "larger than it is."
                            : "At least {0} rows repeat a step of their episode and are counted like the others, so "
                              "the log looks larger than it is.",
                        &repeated, error);
}

pess_status pess__assume_cutoffs(pess__assumptions *to, const pess_counts *counts, pess_error *error) {
    const double cutoffs = (double)counts->cutoffs;
    if (counts->cutoffs == 0) return PESS_OK;
    return pess__assume(to, "cutoffs-continue",
                        counts->cutoffs == 1
                            ? "The one cut-off transition is taken to continue from its next state."
                            : "The {0} cut-off transitions are taken to continue from their next states.",
                        &cutoffs, error);
}
