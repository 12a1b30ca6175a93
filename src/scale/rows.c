#include "scale/rows.h"

#include "core/memory.h"
#include "data/names.h"
#include "data/table.h"
#include "model/named.h"
#include "policy/policy.h"
#include "scale/input.h"
#include "scale/together.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The own state that the row at hand is about; -1: it is elsewhere, or unknown to all. */
static pess_status own_state(const pess__table *table, int64_t column, const pess__slab *slab,
                             const pess_counts *counts, int64_t *out, pess_error *error) {
    int64_t state = -1;
    *out = -1;
    if (pess_names_given(counts->state_names)) {
        const pess__csv_field field = pess__table_field(table, column);
        state = pess__names_find(counts->state_names, field.text, field.length);
    } else {
        PESS_TRY(pess__table_int64(table, column, 0, slab->spread.states - 1, "a state of the log", &state, error));
        state = pess__slab_own_place(slab, state);
    }
    if (state >= 0 && state < slab->spread.own) *out = state;
    return PESS_OK;
}

/* Every row must have been somebody's. */
static pess_status all_known(const char *path, int64_t rows, int64_t mine, pess_error *error) {
    const int64_t known = pess__ranks_total(mine);
    if (known == rows) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: %lld of %lld rows name states that the log does not have", path,
                      (long long)(rows - known), (long long)rows);
}

/* ------------------------------------------------------------------------------------------------ start */

static pess_status take_start_rows(pess__table *table, const pess__slab *slab, const pess_counts *counts, double *start,
                                   int64_t *rows, int64_t *mine, pess_error *error) {
    int64_t state_column = 0, probability_column = 0;
    PESS_TRY(pess__table_require(table, "state", &state_column, error));
    PESS_TRY(pess__table_require(table, "probability", &probability_column, error));
    for (bool row = true;; ++*rows) {
        int64_t s = -1;
        double p = 0;
        PESS_TRY(pess__table_next(table, &row, error));
        if (!row) return PESS_OK;
        PESS_TRY(own_state(table, state_column, slab, counts, &s, error));
        PESS_TRY(pess__table_double(table, probability_column, 0, 1, "a probability", &p, error));
        if (s < 0) continue;
        if (start[s] >= 0) return pess__table_fail(table, state_column, error, "expected each state once");
        start[s] = p;
        ++*mine;
    }
}

pess_status pess__read_start_rows(const char *path, const pess__slab *slab, const pess_counts *counts, double *start,
                                  pess_error *error) {
    pess__table *table = NULL;
    int64_t rows = 0, mine = 0;
    double sum = 0;
    for (int64_t s = 0; s < slab->spread.own; s++) start[s] = -1;
    pess_status status = pess__table_open(path, &table, error);
    if (status == PESS_OK) status = take_start_rows(table, slab, counts, start, &rows, &mine, error);
    pess__table_close(table);
    PESS__TRY_TOGETHER(status, error);
    PESS_TRY(all_known(path, rows, mine, error));
    for (int64_t s = 0; s < slab->spread.own; s++) {
        if (start[s] < 0) start[s] = 0;
        sum += start[s];
    }
    sum = pess__ranks_sum(sum);
    if (!(fabs(sum - 1) <= pess__sum_tolerance(slab->spread.states)))
        return pess__fail(error, PESS_INPUT, "%s: the probabilities sum to %.12g, expected 1", path, sum);
    for (int64_t s = 0; s < slab->spread.own && fabs(sum - 1) > 1e-12; s++) start[s] /= sum;
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ policies */

typedef struct policy_rows {
    const char *path;
    const pess__slab *slab;
    const pess_counts *counts;
    const pess_model *model;
    double *probability; /* [places*A] */
    uint8_t *named;      /* [own*A] the pair has had its row */
    int64_t rows, mine;
} policy_rows;

static pess_status take_policy_row(const pess__table *table, const int64_t column[3], policy_rows *r,
                                   pess_error *error) {
    int64_t s = -1, a = 0;
    double p = 0;
    PESS_TRY(own_state(table, column[0], r->slab, r->counts, &s, error));
    PESS_TRY(pess__table_id(table, column[1], r->counts->action_names, r->model->actions, "an action of the model", &a,
                            error));
    PESS_TRY(pess__table_double(table, column[2], 0, 1 + 1e-9, "a probability", &p, error));
    if (s < 0) return PESS_OK;
    const int64_t z = s * r->model->actions + a;
    if (r->named[z]) return pess__table_fail(table, column[1], error, "expected each action of a state once");
    if (p > 0 && r->model->kind[z] == PESS_ROW_NONE)
        return pess__table_fail(table, column[1], error, "expected an action that the state has");
    r->named[z] = 1;
    r->probability[z] = fmin(p, 1);
    r->mine++;
    return PESS_OK;
}

static pess_status take_policy_rows(pess__table *table, policy_rows *r, pess_error *error) {
    static const char *const names[] = {"state", "action", "probability"};
    int64_t column[3];
    for (int k = 0; k < 3; k++) PESS_TRY(pess__table_require(table, names[k], &column[k], error));
    if (pess__table_column(table, "step") >= 0)
        return pess__fail(error, PESS_INPUT,
                          "%s: a policy for a finite horizon (it has a column 'step'), expected one for all steps",
                          r->path);
    for (bool row = true;; r->rows++) {
        PESS_TRY(pess__table_next(table, &row, error));
        if (!row) return PESS_OK;
        PESS_TRY(take_policy_row(table, column, r, error));
    }
}

/* Rows that sum to one; states without any get that of `filling`, where there is one. */
static pess_status complete_rows(policy_rows *r, const pess_policy *filling, int64_t *filled, pess_error *error) {
    const int64_t actions = r->model->actions;
    for (int64_t s = 0; s < r->slab->spread.own; s++) {
        double *row = r->probability + s * actions, sum = 0;
        bool named = false;
        for (int64_t a = 0; a < actions; a++) named |= r->named[s * actions + a];
        if (r->model->terminal[s]) continue;
        const int64_t number = pess__number_in(&r->slab->spread, s);
        if (named && !pess__normalise(row, actions, &sum))
            return pess__fail(error, PESS_INPUT, "%s: state %lld: the probabilities sum to %.12g, expected 1", r->path,
                              (long long)number, sum);
        if (named) continue;
        ++*filled;
        if (filling != NULL) memcpy(row, filling->probability + s * actions, (size_t)actions * sizeof *row);
    }
    return PESS_OK;
}

static pess_status fill_rows(policy_rows *r, pess_unknown unknown, pess_policy_fit *fit, pess_error *error) {
    pess_policy *filling = NULL;
    int64_t filled = 0;
    pess_status status = PESS_OK;
    if (unknown == PESS_UNKNOWN_BEHAVIOUR) status = pess_policy_empirical(r->counts, r->model, &filling, error);
    if (unknown == PESS_UNKNOWN_UNIFORM) status = pess_policy_uniform(r->model, &filling, error);
    if (status == PESS_OK) status = complete_rows(r, filling, &filled, error);
    pess_policy_destroy(filling);
    PESS__TRY_TOGETHER(status, error);
    filled = pess__ranks_total(filled);
    if (fit != NULL) *fit = (pess_policy_fit){.filled = filled};
    if (filled == 0 || unknown != PESS_UNKNOWN_REFUSE) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "%s: a policy for another state set: %lld of the model's %lld states have no row", r->path,
                      (long long)filled, (long long)r->slab->spread.states);
}

pess_status pess__read_policy_together(const char *path, const pess_counts *counts, const pess_model *model,
                                       pess_unknown unknown, pess_policy **out, pess_policy_fit *fit,
                                       pess_error *error) {
    const pess__slab *slab = pess__slab_of(model);
    pess__table *table = NULL;
    pess_policy *policy = NULL;
    policy_rows r = {.path = path, .slab = slab, .counts = counts, .model = model};
    pess_status status = pess__scale_policy(&slab->spread, model->actions, &policy, error);
    if (status == PESS_OK) status = pess__allocate(&r.named, slab->spread.own * model->actions, 1, "a policy", error);
    if (status == PESS_OK) status = pess__table_open(path, &table, error);
    if (status == PESS_OK) {
        r.probability = policy->probability;
        status = take_policy_rows(table, &r, error);
    }
    pess__table_close(table);
    status = pess__agree(status, error);
    if (status == PESS_OK && unknown == PESS_UNKNOWN_REFUSE) status = all_known(path, r.rows, r.mine, error);
    if (status == PESS_OK) status = fill_rows(&r, unknown, fit, error);
    if (status == PESS_OK && fit != NULL) fit->skipped = r.rows - pess__ranks_total(r.mine);
    free(r.named);
    if (status == PESS_OK)
        *out = policy;
    else
        pess_policy_destroy(policy);
    return status;
}
