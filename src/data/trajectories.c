#include "data/trajectories.h"

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

/* Episodes of a log that is in order. */
static pess_status fill_in_order(const pess_dataset *data, pess__trajectories *t, pess_error *error) {
    t->count = data->rows > 0;
    for (int64_t i = 1; i < data->rows; i++) t->count += data->episode[i] != data->episode[i - 1];
    PESS_TRY(pess__allocate(&t->begin, t->count + 1, sizeof *t->begin, "the episodes", error));
    PESS_TRY(pess__allocate(&t->row, data->rows, sizeof *t->row, "the episodes", error));
    int64_t e = 0;
    for (int64_t i = 0; i < data->rows; i++) {
        if (i > 0 && data->episode[i] != data->episode[i - 1]) t->begin[++e] = i;
        t->row[i] = i;
    }
    t->begin[t->count] = data->rows;
    return PESS_OK;
}

static pess_status fill(const pess_dataset *data, pess__trajectories *t, pess_error *error) {
    int64_t *order = NULL;
    if (in_order(data)) return fill_in_order(data, t, error);
    PESS_TRY(pess__allocate(&order, data->rows, sizeof *order, "the order of the log", error));
    pess_status status = sort_rows(data, order, error);
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

static double rounding_of(double lo, double hi) { return 1e-9 * fmax(1, fmax(fabs(lo), fabs(hi))); }

/* `row` is where the return begins, counted from 0 in the log and in its episode. */
static pess_status refuse_return(const pess_dataset *data, int64_t row, int64_t step, double found, double lo,
                                 double hi, pess_error *error) {
    const char *const outside = "outside the declared range of returns from";
    if (data->episode == NULL)
        return pess__fail(error, PESS_INPUT, "the return from row %lld on is %.10g, %s %.10g to %.10g",
                          (long long)row + 1, found, outside, lo, hi);
    const char *name = pess_names_get(data->episode_names, data->episode[row]);
    char number[24];
    (void)snprintf(number, sizeof number, "%lld", (long long)data->episode[row]);
    if (name == NULL) name = number;
    if (step == 0)
        return pess__fail(error, PESS_INPUT, "the return of episode '%.60s' is %.10g, %s %.10g to %.10g", name, found,
                          outside, lo, hi);
    return pess__fail(error, PESS_INPUT,
                      "the return of episode '%.60s' from its step %lld on is %.10g, %s %.10g to %.10g", name,
                      (long long)step + 1, found, outside, lo, hi);
}

static pess_status sum_returns(const pess_dataset *data, const pess__trajectories *t, pess__returns *r,
                               pess_error *error) {
    const double rounding = rounding_of(r->lo, r->hi);
    for (int64_t e = 0; e < t->count; e++) {
        double sum = 0, discount = 1;
        for (int64_t i = t->begin[e]; i < t->begin[e + 1]; i++) {
            sum += discount * data->reward[t->row[i]];
            discount *= r->gamma;
        }
        const int64_t last = t->row[t->begin[e + 1] - 1];
        const bool whole = data->end[last] == PESS_END_TERMINAL;
        const double least = whole ? sum : sum + discount * r->lo, most = whole ? sum : sum + discount * r->hi;
        if (most < r->lo - rounding) return refuse_return(data, last, 0, most, r->lo, r->hi, error);
        if (least > r->hi + rounding) return refuse_return(data, last, 0, least, r->lo, r->hi, error);
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

/* G = r + γG', from the last row of an episode to its first; what may follow a cut-off is an interval. */
static pess_status check_episode(const pess_dataset *data, const int64_t *row, int64_t length, double gamma, double lo,
                                 double hi, pess_error *error) {
    const double rounding = rounding_of(lo, hi);
    double least = lo, most = hi;
    for (int64_t i = length - 1; i >= 0; i--) {
        const bool ends = data->end[row[i]] == PESS_END_TERMINAL;
        least = data->reward[row[i]] + (ends ? 0 : gamma * least);
        most = data->reward[row[i]] + (ends ? 0 : gamma * most);
        if (most < lo - rounding) return refuse_return(data, row[i], i, most, lo, hi, error);
        if (least > hi + rounding) return refuse_return(data, row[i], i, least, lo, hi, error);
        least = fmax(least, lo);
        most = fmin(most, hi);
    }
    return PESS_OK;
}

pess_status pess_dataset_check_returns(const pess_dataset *data, double gamma, const double range[2],
                                       pess_error *error) {
    if (!(gamma >= 0 && gamma <= 1)) return pess__fail(error, PESS_ARGUMENT, "gamma %g is not in [0,1]", gamma);
    return pess__returns_check(data, gamma, range[0], range[1], error);
}

pess_status pess__returns_check(const pess_dataset *data, double gamma, double lo, double hi, pess_error *error) {
    pess__trajectories *episodes = NULL;
    pess_status status = PESS_OK;
    if (data->episode == NULL) {
        for (int64_t i = 0; i < data->rows && status == PESS_OK; i++)
            status = check_episode(data, &i, 1, gamma, lo, hi, error);
        return status;
    }
    PESS_TRY(pess__trajectories_create(data, &episodes, error));
    for (int64_t e = 0; e < episodes->count && status == PESS_OK; e++)
        status = check_episode(data, episodes->row + episodes->begin[e], episodes->begin[e + 1] - episodes->begin[e],
                               gamma, lo, hi, error);
    pess__trajectories_destroy(episodes);
    return status;
}
