#include "scale/output.h"

#include "core/memory.h"
#include "core/outfile.h"
#include "core/text.h"
#include "data/names.h"
#include "model/named.h"
#include "policy/policy.h"
#include "scale/together.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ pieces */

/* Rows of a file, in the order of numbers, a portion of states at a time: every rank sends its own, rank 0 writes them,
 * rank by rank. */
typedef struct rows {
    int64_t first, own; /* numbers of this rank */
    const pess_names *states, *actions;
    const double *numbers; /* values [own], or probabilities [own*A] */
    int64_t width;         /* numbers per state; 0: values */
    pess__outfile *file;   /* at rank 0 */
} rows;

static void put_id(pess__outfile *to, const pess_names *names, int64_t place, int64_t number) {
    if (pess_names_given(names))
        pess__write_id(to, names, place);
    else
        pess__outfile_print(to, "%lld", (long long)number);
}

static void put_state(pess__outfile *to, const rows *r, int64_t s) {
    for (int64_t a = 0; a < (r->width > 0 ? r->width : 1); a++) {
        const double number = r->numbers[r->width > 0 ? s * r->width + a : s];
        if (r->width > 0 && number == 0) continue;
        put_id(to, r->states, s, s + r->first);
        if (r->width > 0) {
            pess__outfile_write(to, ",", 1);
            put_id(to, r->actions, a, a);
        }
        pess__outfile_write(to, ",", 1);
        pess__outfile_double(to, number);
        pess__outfile_write(to, "\n", 1);
    }
}

/* What a rank sends of its states: numbers, and names where there are any. */
enum { PORTION = 8192, TELLING = 79 };

typedef struct portion {
    int64_t count, name_bytes;
} portion;

static pess_status pack_names(const rows *r, int64_t from, int64_t count, char **bytes, int64_t *length,
                              pess_error *error) {
    int64_t room = 0;
    *length = 0;
    for (int64_t s = from; pess_names_given(r->states) && s < from + count; s++) {
        const char *name = pess_names_get(r->states, s);
        const int64_t size = (int64_t)strlen(name) + 1;
        PESS_TRY(pess__grow(bytes, &room, *length + size, 1, "names", error));
        memcpy(*bytes + *length, name, (size_t)size);
        *length += size;
    }
    return PESS_OK;
}

static pess_status send_rows(const rows *r, pess_error *error) {
    const int64_t wide = r->width > 0 ? r->width : 1;
    for (int64_t at = 0; at < r->own; at += PORTION) {
        portion p = {r->own - at < PORTION ? r->own - at : PORTION, 0};
        char *names = NULL;
        const pess_status status = pack_names(r, at, p.count, &names, &p.name_bytes, error);
        if (status != PESS_OK) p = (portion){-1, 0};
        MPI_Send(&p, sizeof p, MPI_BYTE, 0, TELLING, pess__ranks_all.comm);
        if (status == PESS_OK) {
            MPI_Send(r->numbers + at * wide, (int)(p.count * wide), MPI_DOUBLE, 0, TELLING, pess__ranks_all.comm);
            MPI_Send(names, (int)p.name_bytes, MPI_BYTE, 0, TELLING, pess__ranks_all.comm);
        }
        free(names);
        PESS_TRY(status);
    }
    const portion over = {0, 0};
    MPI_Send(&over, sizeof over, MPI_BYTE, 0, TELLING, pess__ranks_all.comm);
    return PESS_OK;
}

static pess_status name_rows(const char *bytes, int64_t count, pess_names **out, pess_error *error) {
    int64_t id = 0;
    PESS_TRY(pess__names_create(out, error));
    for (int64_t i = 0; i < count; i++, bytes += strlen(bytes) + 1)
        PESS_TRY(pess__names_add(*out, bytes, strlen(bytes), &id, error));
    return PESS_OK;
}

/* One portion of another rank; its states are first … in the numbering of all. */
static pess_status write_portion(const rows *r, int rank, const portion *p, int64_t first, pess_error *error) {
    const int64_t wide = r->width > 0 ? r->width : 1;
    double *numbers = NULL;
    char *bytes = NULL;
    pess_names *names = NULL;
    pess_status status = pess__allocate(&numbers, p->count * wide, sizeof *numbers, "rows of others", error);
    if (status == PESS_OK) status = pess__allocate(&bytes, p->name_bytes, 1, "names of others", error);
    if (status == PESS_OK) {
        MPI_Recv(numbers, (int)(p->count * wide), MPI_DOUBLE, rank, TELLING, pess__ranks_all.comm, MPI_STATUS_IGNORE);
        MPI_Recv(bytes, (int)p->name_bytes, MPI_BYTE, rank, TELLING, pess__ranks_all.comm, MPI_STATUS_IGNORE);
        if (p->name_bytes > 0) status = name_rows(bytes, p->count, &names, error);
    }
    if (status == PESS_OK) {
        const rows other = {first, p->count, names, r->actions, numbers, r->width, r->file};
        for (int64_t s = 0; s < p->count; s++) put_state(r->file, &other, s);
    }
    free(numbers);
    free(bytes);
    pess_names_destroy(names);
    return status;
}

static pess_status write_rows_of(const rows *r, int rank, int64_t first, pess_error *error) {
    for (;;) {
        portion p = {0};
        MPI_Recv(&p, sizeof p, MPI_BYTE, rank, TELLING, pess__ranks_all.comm, MPI_STATUS_IGNORE);
        if (p.count == 0) return PESS_OK;
        if (p.count < 0) return pess__fail(error, PESS_MEMORY, "rank %d: not enough memory for names", rank);
        PESS_TRY(write_portion(r, rank, &p, first, error));
        first += p.count;
    }
}

static pess_status write_in_order(rows *r, const int64_t *begin, const char *path, const char *title,
                                  pess_error *error) {
    const bool first = pess__ranks_all.rank == 0;
    PESS__TRY_TOGETHER(first ? pess__outfile_open(path, &r->file, error) : PESS_OK, error);
    pess_status status = PESS_OK;
    if (!first) {
        status = send_rows(r, error);
    } else {
        pess__outfile_print(r->file, "%s\n", title);
        for (int64_t s = 0; s < r->own; s++) put_state(r->file, r, s);
        for (int rank = 1; rank < pess__ranks_all.size && status == PESS_OK; rank++)
            status = write_rows_of(r, rank, begin[rank], error);
        if (status == PESS_OK)
            status = pess__outfile_commit(r->file, error);
        else
            pess__outfile_abandon(r->file);
    }
    return pess__agree(status, error);
}

/* ------------------------------------------------------------------------------------------------ policies, values */

static const pess__slab *current;

/* Names of the numbers that this rank writes. */
static pess_status names_by_number(const pess__slab *slab, const rows *r, pess_names **out, pess_error *error) {
    int64_t *ids = NULL;
    if (slab->state_names.begin == NULL) return PESS_OK;
    PESS__TRY_TOGETHER(pess__allocate(&ids, r->own, sizeof *ids, "names", error), error);
    for (int64_t i = 0; i < r->own; i++) ids[i] = r->first + i;
    const pess_status status = pess__dictionary_look_up(&slab->state_names, ids, r->own, out, error);
    free(ids);
    return status;
}

/* The rows go from the places to whoever writes their numbers. */
static pess_status write_ordered(rows *r, const char *path, const char *title, pess_error *error) {
    const pess__order *order = current->order;
    const int64_t wide = r->width > 0 ? r->width : 1;
    double *numbers = NULL;
    pess_names *names = NULL;
    r->first = order->begin[pess__ranks_all.rank];
    r->own = order->numbers;
    pess_status status = pess__agree(pess__allocate(&numbers, r->own * wide, sizeof *numbers, "rows", error), error);
    if (status == PESS_OK)
        status = pess__order_outward(order, r->numbers, (size_t)wide * sizeof *numbers, numbers, error);
    if (status == PESS_OK) status = names_by_number(current, r, &names, error);
    if (status == PESS_OK) {
        r->numbers = numbers;
        r->states = names;
        status = write_in_order(r, order->begin, path, title, error);
    }
    free(numbers);
    pess_names_destroy(names);
    return status;
}

static pess_status write_rows(rows *r, const char *path, const char *title, pess_error *error) {
    if (current->order != NULL) return write_ordered(r, path, title, error);
    r->first = current->spread.first;
    r->own = current->spread.own;
    return write_in_order(r, current->begin, path, title, error);
}

void pess__output_of(const pess__slab *slab) { current = slab; }

pess_status pess__write_values_together(const char *path, const pess_names *state_names, const double *values,
                                        pess_error *error) {
    rows r = {.states = state_names, .numbers = values};
    return write_rows(&r, path, "state,value", error);
}

static pess_status write_policy(const pess_policy *policy, const char *path, const pess_names *state_names,
                                const pess_names *action_names, pess_error *error) {
    rows r = {.states = state_names, .actions = action_names, .numbers = policy->probability, .width = policy->actions};
    return write_rows(&r, path, "state,action,probability", error);
}

pess_status pess__scale_policy(const pess__spread *spread, int64_t actions, pess_policy **out, pess_error *error) {
    static pess__policy_kind kind;
    PESS_TRY(pess__policy_allocate(((const pess__slab *)spread)->places, actions, out, error));
    kind = *(*out)->kind;
    kind.write = write_policy;
    (*out)->kind = &kind;
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ thin places */

static double weight_of(const pess_thin_place *place) {
    return place->visits / sqrt(place->count > 0 ? (double)place->count : 0.01);
}

/* The heaviest first; of equals that of the smaller state. */
static int compare_places(const void *left, const void *right) {
    const pess_thin_place *a = left, *b = right;
    const double x = weight_of(a), y = weight_of(b);
    if (x != y) return x < y ? 1 : -1;
    return (a->state > b->state) - (a->state < b->state);
}

static pess_status name_places(const pess__slab *slab, const pess_counts *counts, pess_thin_place *list, int64_t count,
                               pess_error *error) {
    pess_names *names = NULL;
    int64_t *ids = NULL;
    if (slab->state_names.begin == NULL) return PESS_OK;
    pess_status status = pess__agree(pess__allocate(&ids, count, sizeof *ids, "names", error), error);
    for (int64_t i = 0; status == PESS_OK && i < count; i++) ids[i] = list[i].state;
    /* a state may be there twice: each by itself */
    for (int64_t i = 0; status == PESS_OK && i < count; i++) {
        status = pess__dictionary_look_up(&slab->state_names, &ids[i], 1, &names, error);
        if (status != PESS_OK) break;
        const char *name = pess_names_get(names, 0);
        status = pess__agree(pess__names_add(counts->state_names, name, strlen(name), &list[i].state, error), error);
        pess_names_destroy(names);
        names = NULL;
    }
    free(ids);
    return status;
}

pess_status pess__scale_thinnest(const pess_counts *counts, pess_thin_place *list, int64_t room, int64_t *count,
                                 pess_error *error) {
    const pess__slab *slab = (const pess__slab *)counts->spread;
    const int size = pess__ranks_all.size;
    pess_thin_place *all = NULL;
    int64_t total = 0;
    PESS__TRY_TOGETHER(pess__allocate(&all, size * room, sizeof *all, "thin places", error), error);
    for (int64_t i = 0; i < room; i++) list[i] = i < *count ? list[i] : (pess_thin_place){.state = -1};
    for (int64_t i = 0; i < *count; i++) list[i].state = pess__number_in(&slab->spread, list[i].state);
    const int bytes = (int)((size_t)room * sizeof *list);
    MPI_Allgather(list, bytes, MPI_BYTE, all, bytes, MPI_BYTE, pess__ranks_all.comm);
    for (int64_t i = 0; i < size * room; i++)
        if (all[i].state >= 0) all[total++] = all[i];
    qsort(all, (size_t)total, sizeof *all, compare_places);
    *count = total < room ? total : room;
    memcpy(list, all, (size_t)*count * sizeof *list);
    free(all);
    return name_places(slab, counts, list, *count, error);
}
