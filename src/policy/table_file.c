/* Policies and values in files: state,action,probability with the rows that are not zero, and state,value. */
#include "core/outfile.h"
#include "data/table.h"
#include "model/model.h"
#include "model/named.h"
#include "policy/policy.h"

enum { NOT_NAMED = -1 }; /* in the table while a file is read: the pair has had no row yet */

static pess_status read_rows(pess__table *table, const pess_model *model, const pess_names *state_names,
                             const pess_names *action_names, pess_policy *policy, pess_error *error) {
    int64_t state_column = 0, action_column = 0, probability_column = 0;
    PESS_TRY(pess__table_require(table, "state", &state_column, error));
    PESS_TRY(pess__table_require(table, "action", &action_column, error));
    PESS_TRY(pess__table_require(table, "probability", &probability_column, error));
    for (bool row = true;;) {
        PESS_TRY(pess__table_next(table, &row, error));
        if (!row) return PESS_OK;
        int64_t s = 0, a = 0;
        double p = 0;
        PESS_TRY(pess__table_id(table, state_column, state_names, model->states, "a state of the model", &s, error));
        PESS_TRY(
            pess__table_id(table, action_column, action_names, model->actions, "an action of the model", &a, error));
        PESS_TRY(pess__table_double(table, probability_column, 0, 1, "a probability", &p, error));
        const int64_t pair = s * model->actions + a;
        if (policy->probability[pair] != NOT_NAMED)
            return pess__table_fail(table, action_column, error, "expected each action of a state once");
        if (p > 0 && model->kind[pair] == PESS_ROW_NONE) {
            char shown[PESS__ID_SIZE];
            return pess__table_fail(table, action_column, error, "expected an action that state %s has%s",
                                    pess__show_id(state_names, s, shown),
                                    model->terminal[s] ? " (it is terminal and has none)" : "");
        }
        policy->probability[pair] = p;
    }
}

/* Turns what was not named into zeros; tells whether the state had any row. */
static bool close_row(double *row, int64_t actions) {
    bool named = false;
    for (int64_t a = 0; a < actions; a++) {
        if (row[a] == NOT_NAMED)
            row[a] = 0;
        else
            named = true;
    }
    return named;
}

static pess_status check_rows(const char *path, const pess_model *model, const pess_names *state_names,
                              pess_policy *policy, pess_error *error) {
    char shown[PESS__ID_SIZE];
    int64_t missing = 0, first = -1;
    for (int64_t s = 0; s < model->states; s++) {
        double *row = policy->probability + s * model->actions, sum = 0;
        const bool named = close_row(row, model->actions);
        if (model->terminal[s]) continue;
        if (!named) {
            if (missing++ == 0) first = s;
        } else if (!pess__normalise(row, model->actions, &sum)) {
            return pess__fail(error, PESS_INPUT, "%s: state %s: the probabilities sum to %.12g, expected 1", path,
                              pess__show_id(state_names, s, shown), sum);
        }
    }
    if (missing == 0) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "%s: a policy for another state set: %lld of the model's %lld states have no row, the first is "
                      "state %s",
                      path, (long long)missing, (long long)model->states, pess__show_id(state_names, first, shown));
}

pess_status pess__policy_read_table(const char *path, const pess_model *model, const pess_names *state_names,
                                    const pess_names *action_names, pess_policy **out, pess_error *error) {
    pess__table *table = NULL;
    pess_policy *policy = NULL;
    PESS_TRY(pess__table_open(path, &table, error));
    pess_status status = pess__policy_allocate(model->states, model->actions, &policy, error);
    if (status == PESS_OK) {
        const int64_t pairs = model->states * model->actions;
        for (int64_t pair = 0; pair < pairs; pair++) policy->probability[pair] = NOT_NAMED;
        status = read_rows(table, model, state_names, action_names, policy, error);
    }
    pess__table_close(table);
    if (status == PESS_OK) status = check_rows(path, model, state_names, policy, error);
    if (status != PESS_OK) {
        pess_policy_destroy(policy);
        return status;
    }
    *out = policy;
    return PESS_OK;
}

pess_status pess__policy_write_table(const pess_policy *policy, const char *path, const pess_names *state_names,
                                     const pess_names *action_names, pess_error *error) {
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_print(file, "state,action,probability\n");
    for (int64_t s = 0; s < policy->states; s++)
        for (int64_t a = 0; a < policy->actions; a++) {
            const double p = policy->probability[s * policy->actions + a];
            if (p == 0) continue;
            pess__write_id(file, state_names, s);
            pess__outfile_write(file, ",", 1);
            pess__write_id(file, action_names, a);
            pess__outfile_write(file, ",", 1);
            pess__outfile_double(file, p);
            pess__outfile_write(file, "\n", 1);
        }
    return pess__outfile_commit(file, error);
}

pess_status pess_values_write(const char *path, int64_t states, const pess_names *state_names, const double *values,
                              pess_error *error) {
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_print(file, "state,value\n");
    for (int64_t s = 0; s < states; s++) {
        pess__write_id(file, state_names, s);
        pess__outfile_write(file, ",", 1);
        pess__outfile_double(file, values[s]);
        pess__outfile_write(file, "\n", 1);
    }
    return pess__outfile_commit(file, error);
}
