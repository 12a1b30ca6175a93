#include "certify/behaviour.h"

#include "certify/betting.h"
#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A state or action as messages show it. */
static const char *shown(const pess_names *names, int64_t id, char text[24]) {
    if (pess_names_given(names)) return pess_names_get(names, id);
    (void)snprintf(text, 24, "%lld", (long long)id);
    return text;
}

static pess_status refuse_zero(const pess_dataset *data, int64_t row, bool declared, pess_error *error) {
    char state[24], action[24];
    const char *s = shown(data->state_names, data->state[row], state),
               *a = shown(data->action_names, data->action[row], action);
    if (declared)
        return pess__fail(error, PESS_INPUT,
                          "the behaviour policy gives action %.60s at state %.60s no probability, but row %lld of the "
                          "log shows it",
                          a, s, (long long)row + 1);
    return pess__fail(error, PESS_INPUT,
                      "row %lld of the log has probability 0 for the action that was taken (%.60s at state %.60s), "
                      "expected a number above 0",
                      (long long)row + 1, a, s);
}

static pess_status fill(const pess_dataset *data, const pess_counts *counts, const pess_policy *policy,
                        pess__behaviour *b, pess_error *error) {
    PESS_TRY(pess__allocate(&b->own, data->rows, sizeof *b->own, "probabilities of actions", error));
    b->probability = b->own;
    for (int64_t i = 0; i < data->rows; i++) {
        const int64_t pair = (int64_t)data->state[i] * data->actions + data->action[i];
        b->own[i] =
            policy ? policy->probability[pair] : (double)counts->n[pair] / (double)counts->n_state[data->state[i]];
    }
    return PESS_OK;
}

pess_status pess__behaviour_create(const pess_dataset *data, const pess_counts *counts, const pess_policy *policy,
                                   bool estimated, pess__behaviour *out, pess_error *error) {
    *out = (pess__behaviour){.source = policy ? "declared" : estimated ? "estimated" : "logged"};
    if (policy || estimated)
        PESS_TRY(fill(data, counts, policy, out, error));
    else if (data->probability == NULL)
        return pess__fail_with_remedy(
            error,
            pess__fail(error, PESS_INPUT,
                       "the log has no column 'probability': weights of episodes need the probability with which each "
                       "logged action was taken, as logged or declared by a policy; estimated ones prove nothing"),
            "behaviour", "FILE");
    else
        out->probability = data->probability;
    for (int64_t i = 0; i < data->rows; i++)
        if (!(out->probability[i] > 0)) {
            pess__behaviour_release(out);
            return refuse_zero(data, i, policy != NULL, error);
        }
    return PESS_OK;
}

void pess__behaviour_release(pess__behaviour *behaviour) {
    free(behaviour->own);
    *behaviour = (pess__behaviour){0};
}

static int64_t pair_of(const pess_dataset *data, int64_t row) {
    return (int64_t)data->state[row] * data->actions + data->action[row];
}

bool pess__behaviour_by_state(const pess__behaviour_rows *rows, double *table) {
    const pess_dataset *data = rows->data;
    for (int64_t z = 0; z < data->states * data->actions; z++) table[z] = 0;
    for (int64_t i = 0; i < rows->count; i++) {
        const double probability = rows->probability[rows->row[i]];
        double *b = &table[pair_of(data, rows->row[i])];
        if (*b > 0 && fabs(*b - probability) > 1e-9 * *b) return false;
        *b = probability;
    }
    return true;
}

/* q̂/b of the rows in their order. */
static pess_status likelihood_ratios(const pess__behaviour_rows *rows, double *ratio, pess_error *error) {
    const pess_dataset *data = rows->data;
    int32_t *n = NULL;
    double *total = NULL;
    pess_status status = pess__allocate(&n, data->states * data->actions, sizeof *n, "counts of actions", error);
    if (status == PESS_OK) status = pess__allocate(&total, data->states, sizeof *total, "counts of actions", error);
    for (int64_t i = 0; status == PESS_OK && i < rows->count; i++) {
        const int64_t row = rows->row[i], s = data->state[row], pair = pair_of(data, row);
        ratio[i] = (n[pair] + 0.5) / (total[s] + 0.5 * (double)data->actions) / rows->probability[row];
        n[pair]++;
        total[s]++;
    }
    free(n);
    free(total);
    return status;
}

pess_status pess__behaviour_check(const pess__behaviour_rows *rows, pess_error *error) {
    double *ratio = NULL;
    PESS_TRY(pess__allocate(&ratio, rows->count, sizeof *ratio, "probabilities of actions", error));
    pess_status status = likelihood_ratios(rows, ratio, error);
    if (status == PESS_OK && pess__bet_log_capital(ratio, rows->count, 1) > log(1e6))
        status =
            pess__fail(error, PESS_INPUT,
                       "the behaviour policy's probabilities contradict the log: actions happen that they make too "
                       "unlikely (a bet against them multiplied its stake by more than a million)");
    free(ratio);
    return status;
}
