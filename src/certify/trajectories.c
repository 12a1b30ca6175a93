#include "certify/trajectories.h"

#include "core/memory.h"
#include "data/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Signed numbers as keys that sort the same way. */
static uint64_t sort_key(int64_t number) { return (uint64_t)number ^ ((uint64_t)1 << 63); }

/* Sorts the rows by step, then by episode: both sorts keep the order of equals. */
static pess_status sort_rows(const pess_dataset *data, int64_t *order, pess_error *error) {
    uint64_t *key = NULL;
    PESS_TRY(pess__allocate(&key, data->rows, sizeof *key, "sorting the log", error));
    pess_status status = PESS_OK;
    for (int64_t i = 0; i < data->rows; i++) order[i] = i;
    if (data->step != NULL) {
        for (int64_t i = 0; i < data->rows; i++) key[i] = sort_key(data->step[i]);
        status = pess__order_by(key, data->rows, order, error);
    }
    for (int64_t i = 0; i < data->rows; i++) key[i] = sort_key(data->episode[i]);
    if (status == PESS_OK) status = pess__order_by(key, data->rows, order, error);
    free(key);
    return status;
}

/* Are episodes one after the other, each in the order of its steps, and none begun twice? Most logs are; ascending
 * episode ids show it at once. */
static bool in_order(const pess_dataset *data) {
    for (int64_t i = 1; i < data->rows; i++) {
        if (data->episode[i] < data->episode[i - 1]) return false;
        if (data->episode[i] == data->episode[i - 1] && data->step != NULL && data->step[i] < data->step[i - 1])
            return false;
    }
    return true;
}

static int64_t count_episodes(const pess_dataset *data, const int64_t *order) {
    int64_t count = data->rows > 0;
    for (int64_t i = 1; i < data->rows; i++) count += data->episode[order[i]] != data->episode[order[i - 1]];
    return count;
}

/* Episodes of sorted rows, put in the order of their first rows in the log. */
static pess_status arrange(const pess_dataset *data, const int64_t *order, pess__trajectories *t, pess_error *error) {
    uint64_t *first = NULL;
    int64_t *from = NULL, *sequence = NULL;
    pess_status status = pess__allocate(&first, t->count, sizeof *first, "the order of episodes", error);
    if (status == PESS_OK) status = pess__allocate(&from, t->count + 1, sizeof *from, "the order of episodes", error);
    if (status == PESS_OK)
        status = pess__allocate(&sequence, t->count, sizeof *sequence, "the order of episodes", error);
    if (status == PESS_OK) {
        int64_t e = -1;
        for (int64_t i = 0; i < data->rows; i++) {
            if (i == 0 || data->episode[order[i]] != data->episode[order[i - 1]]) {
                from[++e] = i;
                sequence[e] = e;
                first[e] = UINT64_MAX;
            }
            if ((uint64_t)order[i] < first[e]) first[e] = (uint64_t)order[i];
        }
        from[t->count] = data->rows;
        status = pess__order_by(first, t->count, sequence, error);
    }
    if (status == PESS_OK) {
        int64_t at = 0;
        for (int64_t e = 0; e < t->count; e++) {
            t->begin[e] = at;
            for (int64_t i = from[sequence[e]]; i < from[sequence[e] + 1]; i++) t->row[at++] = order[i];
        }
        t->begin[t->count] = at;
    }
    free(first);
    free(from);
    free(sequence);
    return status;
}

static pess_status fill(const pess_dataset *data, pess__trajectories *t, pess_error *error) {
    int64_t *order = NULL;
    PESS_TRY(pess__allocate(&order, data->rows, sizeof *order, "the order of the log", error));
    pess_status status = PESS_OK;
    if (in_order(data))
        for (int64_t i = 0; i < data->rows; i++) order[i] = i;
    else
        status = sort_rows(data, order, error);
    if (status == PESS_OK) {
        t->count = count_episodes(data, order);
        status = pess__allocate(&t->begin, t->count + 1, sizeof *t->begin, "the episodes", error);
    }
    if (status == PESS_OK) status = pess__allocate(&t->row, data->rows, sizeof *t->row, "the episodes", error);
    if (status == PESS_OK) status = arrange(data, order, t, error);
    free(order);
    return status;
}

pess_status pess__trajectories_create(const pess_dataset *data, pess__trajectories **out, pess_error *error) {
    pess__trajectories *t = NULL;
    PESS_TRY(pess__allocate(&t, 1, sizeof *t, "the episodes", error));
    const pess_status status = fill(data, t, error);
    if (status == PESS_OK)
        *out = t;
    else
        pess__trajectories_destroy(t);
    return status;
}

void pess__trajectories_destroy(pess__trajectories *trajectories) {
    if (trajectories == NULL) return;
    free(trajectories->begin);
    free(trajectories->row);
    free(trajectories);
}

/* ---- returns */

static pess_status refuse_return(const pess_dataset *data, int64_t row, const pess__returns *r, double found,
                                 pess_error *error) {
    const char *name = pess_names_get(data->episode_names, data->episode[row]);
    char number[24];
    (void)snprintf(number, sizeof number, "%lld", (long long)data->episode[row]);
    return pess__fail(
        error, PESS_INPUT,
        "the return of episode '%.60s' is %.10g, outside the declared range of returns from %.10g to %.10g",
        name != NULL ? name : number, found, r->lo, r->hi);
}

static pess_status sum_returns(const pess_dataset *data, const pess__trajectories *t, pess__returns *r,
                               pess_error *error) {
    const double rounding = 1e-9 * fmax(1, fmax(fabs(r->lo), fabs(r->hi)));
    for (int64_t e = 0; e < t->count; e++) {
        double sum = 0, discount = 1;
        for (int64_t i = t->begin[e]; i < t->begin[e + 1]; i++) {
            sum += discount * data->reward[t->row[i]];
            discount *= r->gamma;
        }
        const int64_t last = t->row[t->begin[e + 1] - 1];
        const bool whole = data->end[last] == PESS_END_TERMINAL;
        const double least = whole ? sum : sum + discount * r->lo, most = whole ? sum : sum + discount * r->hi;
        if (most < r->lo - rounding) return refuse_return(data, last, r, most, error);
        if (least > r->hi + rounding) return refuse_return(data, last, r, least, error);
        r->least[e] = fmin(fmax(least, r->lo), r->hi);
        r->most[e] = fmin(fmax(most, r->lo), r->hi);
    }
    return PESS_OK;
}

pess_status pess__returns_create(const pess_dataset *data, const pess__trajectories *trajectories, double gamma,
                                 double lo, double hi, pess__returns **out, pess_error *error) {
    pess__returns *r = NULL;
    PESS_TRY(pess__allocate(&r, 1, sizeof *r, "the returns", error));
    *r = (pess__returns){.gamma = gamma, .lo = lo, .hi = hi};
    pess_status status = pess__allocate(&r->least, trajectories->count, sizeof *r->least, "the returns", error);
    if (status == PESS_OK)
        status = pess__allocate(&r->most, trajectories->count, sizeof *r->most, "the returns", error);
    if (status == PESS_OK) status = sum_returns(data, trajectories, r, error);
    if (status == PESS_OK)
        *out = r;
    else
        pess__returns_destroy(r);
    return status;
}

void pess__returns_destroy(pess__returns *returns) {
    if (returns == NULL) return;
    free(returns->least);
    free(returns->most);
    free(returns);
}
