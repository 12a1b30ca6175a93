#include "scale/slab.h"

#include "core/memory.h"
#include "scale/engine.h"
#include "uncertainty/sets.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REFRESHING = 78 };

int pess__slab_rank(const int64_t *begin, int64_t state) {
    int low = 0, high = pess__ranks_all.size - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (begin[middle] <= state)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void pess__slab_cut(int64_t states, double *weight, int64_t buckets, int64_t *begin) {
    const int size = pess__ranks_all.size;
    double total = 0, sum = 0;
    MPI_Allreduce(MPI_IN_PLACE, weight, (int)buckets, MPI_DOUBLE, MPI_SUM, pess__ranks_all.comm);
    for (int64_t b = 0; b < buckets; b++) total += weight[b];
    int rank = 1;
    begin[0] = 0;
    for (int64_t b = 0; b < buckets && rank < size; b++) {
        sum += weight[b];
        while (rank < size && sum >= total * rank / size) begin[rank++] = (b + 1) * states / buckets;
    }
    while (rank <= size) begin[rank++] = states;
}

/* ------------------------------------------------------------------------------------------------ places */

static int compare_states(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static pess_status find_copied(pess__slab *slab, const int64_t *elsewhere, int64_t count, pess_error *error) {
    PESS_TRY(pess__allocate(&slab->copied, count, sizeof *slab->copied, "states elsewhere", error));
    if (count > 0) memcpy(slab->copied, elsewhere, (size_t)count * sizeof *slab->copied);
    qsort(slab->copied, (size_t)count, sizeof *slab->copied, compare_states);
    for (int64_t i = 0; i < count; i++)
        if (slab->copies == 0 || slab->copied[i] != slab->copied[slab->copies - 1])
            slab->copied[slab->copies++] = slab->copied[i];
    slab->places = slab->spread.own + slab->copies + 2;
    return PESS_OK;
}

int64_t pess__slab_place(const pess__slab *slab, int64_t state) {
    const int64_t own = state - slab->spread.first;
    if (own >= 0 && own < slab->spread.own) return own;
    const int64_t *found = bsearch(&state, slab->copied, (size_t)slab->copies, sizeof *slab->copied, compare_states);
    return found != NULL ? slab->spread.own + (found - slab->copied) : -1;
}

void pess__slab_take_order(pess__slab *slab, pess__order *order) {
    slab->order = order;
    slab->spread.number = order != NULL ? order->number : NULL;
}

int64_t pess__slab_own_place(const pess__slab *slab, int64_t number) {
    if (slab->order != NULL) return pess__order_own_place(slab->order, number);
    const int64_t own = number - slab->spread.first;
    return own >= 0 && own < slab->spread.own ? own : -1;
}

/* ------------------------------------------------------------------------------------------------ refreshes */

/* Every rank asks the others for the states it copies; who asks, and whom it asks, are its partners. */
static pess_status meet_partners(pess__slab *slab, const int64_t *asked, const int64_t *came, const int64_t *going,
                                 int64_t total, pess_error *error) {
    const int size = pess__ranks_all.size;
    for (int r = 0; r < size; r++) slab->partners += came[r] > 0 || going[r] > 0;
    PESS_TRY(pess__allocate(&slab->partner, slab->partners, sizeof(int), "partners", error));
    PESS_TRY(pess__allocate(&slab->give_begin, slab->partners + 1, sizeof(int64_t), "partners", error));
    PESS_TRY(pess__allocate(&slab->get_begin, slab->partners + 1, sizeof(int64_t), "partners", error));
    PESS_TRY(pess__allocate(&slab->give, total, sizeof *slab->give, "states for others", error));
    PESS_TRY(pess__allocate(&slab->given, total, sizeof *slab->given, "states for others", error));
    for (int r = 0, p = 0; r < size; r++) {
        if (came[r] == 0 && going[r] == 0) continue;
        slab->partner[p] = r;
        slab->give_begin[p + 1] = slab->give_begin[p] + came[r];
        slab->get_begin[p + 1] = slab->get_begin[p] + going[r];
        p++;
    }
    for (int64_t i = 0; i < total; i++) slab->give[i] = (int32_t)(asked[i] - slab->spread.first);
    return PESS_OK;
}

static pess_status plan_refreshes(pess__slab *slab, pess_error *error) {
    const int size = pess__ranks_all.size;
    int64_t *asked = NULL, *came = NULL, *going = NULL, count = slab->copies;
    int32_t *to = NULL;
    pess_status status = pess__allocate(&asked, count, sizeof *asked, "states elsewhere", error);
    if (status == PESS_OK) status = pess__allocate(&to, count, sizeof *to, "states elsewhere", error);
    if (status == PESS_OK) status = pess__allocate(&came, size, sizeof *came, "partners", error);
    if (status == PESS_OK) status = pess__allocate(&going, size, sizeof *going, "partners", error);
    status = pess__agree(status, error);
    if (status == PESS_OK) {
        for (int64_t i = 0; i < count; i++) {
            asked[i] = slab->copied[i];
            to[i] = pess__slab_rank(slab->begin, asked[i]);
            going[to[i]]++;
        }
        MPI_Alltoall(going, 1, MPI_INT64_T, came, 1, MPI_INT64_T, pess__ranks_all.comm);
        status = pess__exchange(&asked, &count, sizeof *asked, to, error);
    }
    if (status == PESS_OK) status = pess__agree(meet_partners(slab, asked, came, going, count, error), error);
    free(asked);
    free(to);
    free(came);
    free(going);
    return status;
}

enum { TOGETHER = 64 }; /* requests in flight */

/* Sends `out` and receives into `in`, partner by partner. */
static void trade(const pess__slab *slab, const double *out, const int64_t *out_begin, double *in,
                  const int64_t *in_begin) {
    MPI_Request requests[2 * TOGETHER];
    for (int from = 0; from < slab->partners; from += TOGETHER) {
        const int past = slab->partners - from < TOGETHER ? slab->partners : from + TOGETHER;
        int count = 0;
        for (int p = from; p < past; p++) {
            MPI_Irecv(in + in_begin[p], (int)(in_begin[p + 1] - in_begin[p]), MPI_DOUBLE, slab->partner[p], REFRESHING,
                      pess__ranks_all.comm, &requests[count++]);
            MPI_Isend(out + out_begin[p], (int)(out_begin[p + 1] - out_begin[p]), MPI_DOUBLE, slab->partner[p],
                      REFRESHING, pess__ranks_all.comm, &requests[count++]);
        }
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    }
}

void pess__slab_refresh(const pess__slab *slab, double *v) {
    for (int64_t i = 0; i < slab->give_begin[slab->partners]; i++) slab->given[i] = v[slab->give[i]];
    trade(slab, slab->given, slab->give_begin, v + slab->spread.own, slab->get_begin);
}

void pess__slab_collect(const pess__slab *slab, double *v) {
    trade(slab, v + slab->spread.own, slab->get_begin, slab->given, slab->give_begin);
    for (int64_t i = 0; i < slab->give_begin[slab->partners]; i++) v[slab->give[i]] += slab->given[i];
}

/* ------------------------------------------------------------------------------------------------ for the library */

static double sum(const pess__spread *spread, double x) {
    (void)spread;
    return pess__ranks_sum(x);
}

static double most(const pess__spread *spread, double x) {
    (void)spread;
    return pess__ranks_most(x);
}

static pess_status agree(const pess__spread *spread, pess_status status, pess_error *error) {
    (void)spread;
    return pess__agree(status, error);
}

static void refresh(const pess__spread *spread, double *v) { pess__slab_refresh((const pess__slab *)spread, v); }

/* The largest of sign·v, the smallest number that has it and where that is; -1: no state has actions. */
typedef struct extreme {
    double value;
    int64_t number, place;
} extreme;

static extreme own_extreme(const pess__spread *spread, const pess_model *model, const double *v, double sign) {
    extreme found = {-INFINITY, INT64_MAX, -1};
    for (int64_t s = 0; s < spread->own; s++) {
        const double value = sign * v[s];
        if (model->terminal[s] || value < found.value) continue;
        const int64_t number = pess__number_in(spread, s);
        if (value > found.value || number < found.number) found = (extreme){value, number, s};
    }
    return found;
}

/* Of equal values that of the smallest number, as in one process. */
static pess__extremes extremes(const pess__spread *spread, const pess_model *model, const double *v) {
    pess__slab *slab = (pess__slab *)spread;
    const extreme lowest = own_extreme(spread, model, v, -1), highest = own_extreme(spread, model, v, 1);
    double ends[2] = {lowest.value, highest.value};
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_DOUBLE, MPI_MAX, pess__ranks_all.comm);
    int64_t at[2] = {lowest.value == ends[0] ? lowest.number : INT64_MAX,
                     highest.value == ends[1] ? highest.number : INT64_MAX};
    MPI_Allreduce(MPI_IN_PLACE, at, 2, MPI_INT64_T, MPI_MIN, pess__ranks_all.comm);
    slab->lo_place = at[0] == lowest.number ? lowest.place : -1;
    return (pess__extremes){-ends[0], ends[1], at[0] == INT64_MAX ? -1 : slab->places - 2,
                            at[1] == INT64_MAX ? -1 : slab->places - 1};
}

pess_status pess__slab_create(int64_t states, const int64_t *begin, const int64_t *elsewhere, int64_t count,
                              pess__slab **out, pess_error *error) {
    const int size = pess__ranks_all.size, rank = pess__ranks_all.rank;
    pess__slab *slab = NULL;
    pess_status status = pess__allocate(&slab, 1, sizeof *slab, "a share of the states", error);
    if (status == PESS_OK) {
        slab->spread = (pess__spread){.states = states,
                                      .first = begin[rank],
                                      .own = begin[rank + 1] - begin[rank],
                                      .sum = sum,
                                      .most = most,
                                      .agree = agree,
                                      .refresh = refresh,
                                      .extremes = extremes,
                                      .optimise = pess__scale_optimise,
                                      .evaluate = pess__scale_evaluate,
                                      .frozen = &pess__scale_frozen,
                                      .visits = pess__scale_visits,
                                      .policy = pess__scale_policy,
                                      .thinnest = pess__scale_thinnest};
        slab->lo_place = -1;
        status = pess__allocate(&slab->begin, size + 1, sizeof *slab->begin, "ranges of states", error);
    }
    if (status == PESS_OK) {
        memcpy(slab->begin, begin, (size_t)(size + 1) * sizeof *begin);
        status = find_copied(slab, elsewhere, count, error);
    }
    status = pess__agree(status, error);
    if (status == PESS_OK) status = plan_refreshes(slab, error);
    if (status == PESS_OK)
        *out = slab;
    else
        pess__slab_destroy(slab);
    return status;
}

void pess__slab_destroy(pess__slab *slab) {
    if (slab == NULL) return;
    pess__dictionary_free(&slab->state_names);
    pess__order_destroy(slab->order);
    free(slab->begin);
    free(slab->copied);
    free(slab->partner);
    free(slab->give_begin);
    free(slab->get_begin);
    free(slab->give);
    free(slab->given);
    free(slab);
}
