#include "scale/order.h"

#include "core/memory.h"
#include "scale/slab.h"

#include <stdlib.h>
#include <string.h>

void pess__order_destroy(pess__order *order) {
    if (order == NULL) return;
    free(order->begin);
    free(order->number);
    free(order->leaving);
    free(order->arriving);
    free(order->leave_count);
    free(order->leave_begin);
    free(order->arrive_count);
    free(order->arrive_begin);
    free(order);
}

/* ------------------------------------------------------------------------------------------------ who has what */

typedef struct state_at {
    int64_t place, number;
} state_at;

static pess_status allocate_order(const int64_t *first_number, const int64_t *first_place, pess__order *o,
                                  pess_error *error) {
    static const char what[] = "an order of the states";
    const int size = pess__ranks_all.size, rank = pess__ranks_all.rank;
    o->numbers = first_number[rank + 1] - first_number[rank];
    o->own = first_place[rank + 1] - first_place[rank];
    PESS_TRY(pess__allocate(&o->begin, size + 1, sizeof *o->begin, what, error));
    memcpy(o->begin, first_number, (size_t)(size + 1) * sizeof *o->begin);
    PESS_TRY(pess__allocate(&o->number, o->own, sizeof *o->number, what, error));
    PESS_TRY(pess__allocate(&o->leaving, o->numbers, sizeof *o->leaving, what, error));
    PESS_TRY(pess__allocate(&o->arriving, o->own, sizeof *o->arriving, what, error));
    PESS_TRY(pess__allocate(&o->leave_count, size, sizeof(int), what, error));
    PESS_TRY(pess__allocate(&o->leave_begin, size, sizeof(int), what, error));
    PESS_TRY(pess__allocate(&o->arrive_count, size, sizeof(int), what, error));
    return pess__allocate(&o->arrive_begin, size, sizeof(int), what, error);
}

/* Own numbers by the rank that has their place, ascending for each. */
static void plan_leaving(pess__order *o, const int32_t *to) {
    const int size = pess__ranks_all.size;
    for (int64_t i = 0; i < o->numbers; i++) o->leave_count[to[i]]++;
    for (int r = 1; r < size; r++) o->leave_begin[r] = o->leave_begin[r - 1] + o->leave_count[r - 1];
    for (int64_t i = 0; i < o->numbers; i++) o->leaving[o->leave_begin[to[i]]++] = (int32_t)i;
    for (int r = 0; r < size; r++) o->leave_begin[r] -= o->leave_count[r];
}

/* The own places as they are told, which is by rank and there by number. */
static void plan_arriving(pess__order *o, const state_at *told, int64_t first_place) {
    const int size = pess__ranks_all.size;
    for (int64_t i = 0; i < o->own; i++) {
        o->arriving[i] = (int32_t)(told[i].place - first_place);
        o->number[o->arriving[i]] = told[i].number;
        o->arrive_count[pess__slab_rank(o->begin, told[i].number)]++;
    }
    for (int r = 1; r < size; r++) o->arrive_begin[r] = o->arrive_begin[r - 1] + o->arrive_count[r - 1];
}

static pess_status tell_places(pess__order *o, const int64_t *place, const int64_t *first_place, pess_error *error) {
    state_at *told = NULL;
    int32_t *to = NULL;
    int64_t count = o->numbers;
    pess_status status = pess__allocate(&told, count, sizeof *told, "an order of the states", error);
    if (status == PESS_OK) status = pess__allocate(&to, count, sizeof *to, "an order of the states", error);
    status = pess__agree(status, error);
    for (int64_t i = 0; status == PESS_OK && i < count; i++) {
        told[i] = (state_at){place[i], o->begin[pess__ranks_all.rank] + i};
        to[i] = pess__slab_rank(first_place, place[i]);
    }
    if (status == PESS_OK) plan_leaving(o, to);
    if (status == PESS_OK) status = pess__exchange(&told, &count, sizeof *told, to, error);
    if (status == PESS_OK) plan_arriving(o, told, first_place[pess__ranks_all.rank]);
    free(told);
    free(to);
    return status;
}

pess_status pess__order_create(const int64_t *first_number, const int64_t *place, const int64_t *first_place,
                               pess__order **out, pess_error *error) {
    pess__order *o = NULL;
    pess_status status = pess__allocate(&o, 1, sizeof *o, "an order of the states", error);
    if (status == PESS_OK) status = allocate_order(first_number, first_place, o, error);
    status = pess__agree(status, error);
    if (status == PESS_OK) status = tell_places(o, place, first_place, error);
    if (status == PESS_OK)
        *out = o;
    else
        pess__order_destroy(o);
    return status;
}

/* ------------------------------------------------------------------------------------------------ across the seam */

/* One side of the seam: the states of this rank in the order in which they are sent or received, rank by rank. */
typedef struct side {
    int64_t states;
    const int32_t *list;
    const int *count, *begin;
} side;

static pess_status cross(const side *from, const char *given, const side *to, char *got, size_t size,
                         pess_error *error) {
    char *sent = NULL, *received = NULL;
    pess_status status = pess__allocate(&sent, from->states, size, "states in another order", error);
    if (status == PESS_OK) status = pess__allocate(&received, to->states, size, "states in another order", error);
    status = pess__agree(status, error);
    if (status == PESS_OK) {
        MPI_Datatype item;
        for (int64_t i = 0; i < from->states; i++)
            memcpy(sent + (size_t)i * size, given + (size_t)from->list[i] * size, size);
        MPI_Type_contiguous((int)size, MPI_BYTE, &item);
        MPI_Type_commit(&item);
        MPI_Alltoallv(sent, from->count, from->begin, item, received, to->count, to->begin, item, pess__ranks_all.comm);
        MPI_Type_free(&item);
        for (int64_t i = 0; i < to->states; i++)
            memcpy(got + (size_t)to->list[i] * size, received + (size_t)i * size, size);
    }
    free(sent);
    free(received);
    return status;
}

static side by_number_of(const pess__order *o) {
    return (side){o->numbers, o->leaving, o->leave_count, o->leave_begin};
}

static side by_place_of(const pess__order *o) { return (side){o->own, o->arriving, o->arrive_count, o->arrive_begin}; }

pess_status pess__order_inward(const pess__order *order, const void *by_number, size_t size, void *by_place,
                               pess_error *error) {
    const side from = by_number_of(order), to = by_place_of(order);
    return cross(&from, by_number, &to, by_place, size, error);
}

pess_status pess__order_outward(const pess__order *order, const void *by_place, size_t size, void *by_number,
                                pess_error *error) {
    const side from = by_place_of(order), to = by_number_of(order);
    return cross(&from, by_place, &to, by_number, size, error);
}

int64_t pess__order_own_place(const pess__order *order, int64_t number) {
    int64_t low = 0, high = order->own;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (order->number[order->arriving[middle]] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < order->own && order->number[order->arriving[low]] == number ? order->arriving[low] : -1;
}
