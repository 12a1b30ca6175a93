/* Policies and values in files: state,action,probability with the rows that are not zero, and state,value. */
#include "core/filekind.h"
#include "core/outfile.h"
#include "data/table.h"
#include "model/counts.h"
#include "model/model.h"
#include "model/named.h"
#include "model/spread.h"
#include "policy/policy.h"

#include <math.h>
#include <string.h>

enum { NOT_NAMED = -1 }; /* in the table while a file is read: the pair has had no row yet */

/* What a file is read for. counts is NULL where the rule for unknown states is to refuse them. */
typedef struct reading {
    const char *path;
    const pess_counts *counts;
    const pess_model *model;
    const pess_names *state_names, *action_names;
    pess_unknown unknown;
    int64_t horizon; /* of the problem; 0: none */
    pess_policy_fit fit;
} reading;

enum { STATE, ACTION, PROBABILITY, STEP, COLUMNS }; /* STEP: -1 where there is none */

/* Probabilities that were summed up may exceed one by rounding. */
static const double HIGHEST = 1 + 1e-9;

static pess_status read_row(pess__table *table, const int64_t column[COLUMNS], reading *r, pess_policy *policy,
                            pess_error *error) {
    const pess_model *model = r->model;
    int64_t s = 0, a = 0, step = 0;
    double p = 0;
    const pess_status known =
        pess__table_id(table, column[STATE], r->state_names, model->states, "a state of the model", &s, error);
    if (known == PESS_INPUT && r->unknown != PESS_UNKNOWN_REFUSE) {
        r->fit.skipped++;
        return PESS_OK;
    }
    PESS_TRY(known);
    PESS_TRY(
        pess__table_id(table, column[ACTION], r->action_names, model->actions, "an action of the model", &a, error));
    PESS_TRY(pess__table_double(table, column[PROBABILITY], 0, HIGHEST, "a probability", &p, error));
    if (column[STEP] >= 0)
        PESS_TRY(pess__table_int64(table, column[STEP], 0, r->horizon - 1, "a step before the horizon", &step, error));
    const int64_t pair = s * model->actions + a;
    double *place = &policy->probability[step * model->states * model->actions + pair];
    if (*place != NOT_NAMED)
        return pess__table_fail(table, column[ACTION], error, "expected each action of a state once");
    if (p > 0 && model->kind[pair] == PESS_ROW_NONE) {
        char shown[PESS__ID_SIZE];
        return pess__table_fail(table, column[ACTION], error, "expected an action that state %s has%s",
                                pess__show_id(r->state_names, s, shown),
                                model->terminal[s] ? " (it is terminal and has none)" : "");
    }
    *place = fmin(p, 1);
    return PESS_OK;
}

static pess_status find_columns(const pess__table *table, const reading *r, int64_t column[COLUMNS],
                                pess_error *error) {
    PESS_TRY(pess__table_require(table, "state", &column[STATE], error));
    PESS_TRY(pess__table_require(table, "action", &column[ACTION], error));
    PESS_TRY(pess__table_require(table, "probability", &column[PROBABILITY], error));
    column[STEP] = pess__table_column(table, "step");
    if (column[STEP] < 0 || r->horizon > 0) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "%s: a policy for a finite horizon (it has a column 'step'), expected one for all steps",
                      r->path);
}

static pess_status read_rows(pess__table *table, const int64_t column[COLUMNS], reading *r, pess_policy *policy,
                             pess_error *error) {
    const int64_t entries = policy->steps * policy->states * policy->actions;
    for (int64_t i = 0; i < entries; i++) policy->probability[i] = NOT_NAMED;
    for (bool row = true;;) {
        PESS_TRY(pess__table_next(table, &row, error));
        if (!row) return PESS_OK;
        PESS_TRY(read_row(table, column, r, policy, error));
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

static pess_status refuse_sum(const reading *r, int64_t state, double sum, pess_error *error) {
    char shown[PESS__ID_SIZE];
    return pess__fail(error, PESS_INPUT, "%s: state %s: the probabilities sum to %.12g, expected 1", r->path,
                      pess__show_id(r->state_names, state, shown), sum);
}

/* Every state that is not terminal has a row that sums to one, at every step, or gets one by the rule. */
static pess_status check_rows(reading *r, const pess_policy *filling, pess_policy *policy, pess_error *error) {
    const pess_model *model = r->model;
    const int64_t rows = policy->steps * model->states;
    char shown[PESS__ID_SIZE];
    int64_t first = -1;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t s = i % model->states;
        double *row = policy->probability + i * model->actions, sum = 0;
        const bool named = close_row(row, model->actions);
        if (model->terminal[s]) continue;
        if (named && !pess__normalise(row, model->actions, &sum)) return refuse_sum(r, s, sum, error);
        if (named) continue;
        if (r->fit.filled++ == 0) first = s;
        if (filling != NULL)
            memcpy(row, filling->probability + s * model->actions, (size_t)model->actions * sizeof *row);
    }
    if (r->fit.filled == 0 || filling != NULL) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "%s: a policy for another state set: %lld of the model's %lld states have no row%s, the first is "
                      "state %s",
                      r->path, (long long)r->fit.filled, (long long)rows, policy->steps > 1 ? " (at some step)" : "",
                      pess__show_id(r->state_names, first, shown));
}

static pess_status fill_rows(reading *r, pess_policy *policy, pess_error *error) {
    pess_policy *filling = NULL;
    if (r->unknown == PESS_UNKNOWN_BEHAVIOUR)
        PESS_TRY(pess_policy_empirical(r->counts, r->model, &filling, error));
    else if (r->unknown == PESS_UNKNOWN_UNIFORM)
        PESS_TRY(pess_policy_uniform(r->model, &filling, error));
    const pess_status status = check_rows(r, filling, policy, error);
    pess_policy_destroy(filling);
    return status;
}

static pess_status read_table(reading *r, pess_policy **out, pess_error *error) {
    int64_t column[COLUMNS];
    pess__table *table = NULL;
    pess_policy *policy = NULL;
    PESS_TRY(pess__table_open(r->path, &table, error));
    pess_status status = find_columns(table, r, column, error);
    if (status == PESS_OK)
        status = pess__policy_allocate_steps(column[STEP] >= 0 ? r->horizon : 1, r->model->states, r->model->actions,
                                             &policy, error);
    if (status == PESS_OK) status = read_rows(table, column, r, policy, error);
    pess__table_close(table);
    if (status == PESS_OK) status = fill_rows(r, policy, error);
    if (status != PESS_OK) {
        pess_policy_destroy(policy);
        return status;
    }
    *out = policy;
    return PESS_OK;
}

pess_status pess__policy_read_table(const char *path, const pess_model *model, const pess_names *state_names,
                                    const pess_names *action_names, pess_policy **out, pess_error *error) {
    reading r = {.path = path, .model = model, .state_names = state_names, .action_names = action_names};
    return read_table(&r, out, error);
}

pess_status pess_policy_read_for_log(const char *path, const pess_counts *counts, const pess_model *model,
                                     pess_unknown unknown, int64_t horizon, pess_policy **out, pess_policy_fit *fit,
                                     pess_error *error) {
    reading r = {.path = path,
                 .counts = counts,
                 .model = model,
                 .state_names = counts->state_names,
                 .action_names = counts->action_names,
                 .unknown = unknown,
                 .horizon = horizon};
    if ((unsigned)unknown > PESS_UNKNOWN_UNIFORM)
        return pess__fail(error, PESS_ARGUMENT, "%d is not a rule for unknown states", (int)unknown);
    const pess_file_kind found = pess_file_kind_of(path);
    if (found != PESS_FILE_OTHER)
        return pess__fail(error, PESS_INPUT, "%s: found %s, expected a table over the states of the log", path,
                          pess__file_row_of(found)->what);
    if (pess__with_others != NULL) return pess__with_others->read_policy(path, counts, model, unknown, out, fit, error);
    PESS_TRY(read_table(&r, out, error));
    if (fit != NULL) *fit = r.fit;
    return PESS_OK;
}

static void write_row(pess__outfile *file, const pess_policy *policy, int64_t step, int64_t state,
                      const pess_names *state_names, const pess_names *action_names) {
    const double *row = policy->probability + (step * policy->states + state) * policy->actions;
    for (int64_t a = 0; a < policy->actions; a++) {
        if (row[a] == 0) continue;
        if (policy->steps > 1) pess__outfile_print(file, "%lld,", (long long)step);
        pess__write_id(file, state_names, state);
        pess__outfile_write(file, ",", 1);
        pess__write_id(file, action_names, a);
        pess__outfile_write(file, ",", 1);
        pess__outfile_double(file, row[a]);
        pess__outfile_write(file, "\n", 1);
    }
}

pess_status pess__policy_write_table(const pess_policy *policy, const char *path, const pess_names *state_names,
                                     const pess_names *action_names, pess_error *error) {
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_print(file, "%sstate,action,probability\n", policy->steps > 1 ? "step," : "");
    for (int64_t t = 0; t < policy->steps; t++)
        for (int64_t s = 0; s < policy->states; s++) write_row(file, policy, t, s, state_names, action_names);
    return pess__outfile_commit(file, error);
}

pess_status pess_values_write(const char *path, int64_t states, const pess_names *state_names, const double *values,
                              pess_error *error) {
    if (pess__with_others != NULL) return pess__with_others->write_values(path, state_names, values, error);
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
