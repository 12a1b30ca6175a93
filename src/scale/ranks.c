#include "scale/ranks.h"

#include "core/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pess__ranks pess__ranks_all = {.rank = 0, .size = 1};

#define ALL pess__ranks_all.comm

pess_status pess__agree(pess_status status, pess_error *error) {
    const int me = pess__ranks_all.rank, none = pess__ranks_all.size;
    int failed = status == PESS_OK ? none : me, first = none;
    MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, ALL);
    if (first == none) return PESS_OK;
    struct {
        pess_status status;
        pess_error error;
        char remedy[80]; /* its text: a pointer means nothing elsewhere */
    } what = {.status = status};
    static char remedy[sizeof what.remedy];
    if (error != NULL) what.error = *error;
    if (error != NULL && error->remedy != NULL) (void)snprintf(what.remedy, sizeof what.remedy, "%s", error->remedy);
    MPI_Bcast(&what, sizeof what, MPI_BYTE, first, ALL);
    memcpy(remedy, what.remedy, sizeof remedy);
    what.error.remedy = remedy[0] != '\0' ? remedy : NULL;
    if (error != NULL) *error = what.error;
    return what.status;
}

/* ------------------------------------------------------------------------------------------------ numbers */

double pess__ranks_sum(double x) {
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, ALL);
    return x;
}

int64_t pess__ranks_total(int64_t x) {
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT64_T, MPI_SUM, ALL);
    return x;
}

int64_t pess__ranks_before(int64_t x) {
    int64_t sum = 0;
    MPI_Exscan(&x, &sum, 1, MPI_INT64_T, MPI_SUM, ALL);
    return pess__ranks_all.rank == 0 ? 0 : sum;
}

int64_t pess__ranks_largest(int64_t x) {
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT64_T, MPI_MAX, ALL);
    return x;
}

double pess__ranks_most(double x) {
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, ALL);
    return x;
}

bool pess__ranks_any(bool x) { return pess__ranks_largest(x) > 0; }

/* ------------------------------------------------------------------------------------------------ exchanges */

/* How many go to and come from each rank, and where they begin. */
typedef struct lanes {
    int *count, *begin, *from_count, *from_begin; /* [size] */
    int64_t received;
} lanes;

static void lanes_free(lanes *l) {
    free(l->count);
    free(l->begin);
    free(l->from_count);
    free(l->from_begin);
    *l = (lanes){0};
}

static pess_status lanes_create(lanes *l, pess_error *error) {
    *l = (lanes){0};
    int **const all[] = {&l->count, &l->begin, &l->from_count, &l->from_begin};
    pess_status status = PESS_OK;
    for (size_t i = 0; i < 4 && status == PESS_OK; i++)
        status = pess__allocate(all[i], pess__ranks_all.size, sizeof(int), "an exchange", error);
    if (status != PESS_OK) lanes_free(l);
    return status;
}

/* The counts to others are set; false: more comes here than MPI can number. */
static bool lanes_tell(lanes *l) {
    MPI_Alltoall(l->count, 1, MPI_INT, l->from_count, 1, MPI_INT, ALL);
    int64_t sent = 0;
    for (int r = 0; r < pess__ranks_all.size; r++) {
        l->begin[r] = (int)sent;
        l->from_begin[r] = (int)l->received;
        sent += l->count[r];
        l->received += l->from_count[r];
    }
    return l->received <= INT_MAX;
}

static pess_status move(lanes *l, const void *sent, size_t size, void **received, pess_error *error) {
    pess_status status = PESS_OK;
    if (!lanes_tell(l))
        status = pess__fail(error, PESS_LIMIT, "%lld items for one rank: more ranks are needed, each has too much",
                            (long long)l->received);
    if (status == PESS_OK) status = pess__allocate(received, l->received, size, "what other ranks send", error);
    PESS__TRY_TOGETHER(status, error);
    MPI_Datatype item;
    MPI_Type_contiguous((int)size, MPI_BYTE, &item);
    MPI_Type_commit(&item);
    MPI_Alltoallv(sent, l->count, l->begin, item, *received, l->from_count, l->from_begin, item, ALL);
    MPI_Type_free(&item);
    return PESS_OK;
}

/* The items in the order of their ranks. */
static pess_status sort_by_rank(const char *items, int64_t count, size_t size, const int32_t *to, lanes *l, char **out,
                                pess_error *error) {
    if (count > INT_MAX)
        return pess__fail(error, PESS_LIMIT, "%lld items of one rank: more ranks are needed, each has too much",
                          (long long)count);
    PESS_TRY(pess__allocate(out, count, size, "what other ranks get", error));
    for (int64_t i = 0; i < count; i++) l->count[to[i]]++;
    int at = 0;
    for (int r = 0; r < pess__ranks_all.size; r++) l->begin[r] = at, at += l->count[r];
    for (int64_t i = 0; i < count; i++) memcpy(*out + (size_t)l->begin[to[i]]++ * size, items + (size_t)i * size, size);
    return PESS_OK;
}

pess_status pess__exchange(void *items, int64_t *count, size_t size, const int32_t *to, pess_error *error) {
    char **const place = items;
    char *sent = NULL;
    void *received = NULL;
    lanes l = {0};
    pess_status status = lanes_create(&l, error);
    if (status == PESS_OK) status = sort_by_rank(*place, *count, size, to, &l, &sent, error);
    status = pess__agree(status, error);
    if (status == PESS_OK) status = move(&l, sent, size, &received, error);
    if (status == PESS_OK) {
        free(*place);
        *place = received;
        *count = l.received;
    }
    free(sent);
    lanes_free(&l);
    return status;
}

pess_status pess__exchange_bytes(char **bytes, int64_t *length, const int64_t *from, pess_error *error) {
    lanes l = {0};
    void *received = NULL;
    pess_status status = lanes_create(&l, error);
    if (status == PESS_OK && *length > INT_MAX)
        status =
            pess__fail(error, PESS_LIMIT, "names of %lld bytes on one rank: more ranks are needed", (long long)*length);
    status = pess__agree(status, error);
    for (int r = 0; status == PESS_OK && r < pess__ranks_all.size; r++) l.count[r] = (int)(from[r + 1] - from[r]);
    if (status == PESS_OK) status = move(&l, *bytes, 1, &received, error);
    if (status == PESS_OK) {
        free(*bytes);
        *bytes = received;
        *length = l.received;
    }
    lanes_free(&l);
    return status;
}

/* ------------------------------------------------------------------------------------------------ one behind the other
 */

enum { PIECE = 1 << 20, GATHERING = 77 };

static void send_pieces(const char *bytes, int64_t length) {
    MPI_Send(&length, 1, MPI_INT64_T, 0, GATHERING, ALL);
    for (int64_t at = 0; at < length; at += PIECE)
        MPI_Send(bytes + at, length - at < PIECE ? (int)(length - at) : PIECE, MPI_BYTE, 0, GATHERING, ALL);
}

static void take_pieces(int rank, void (*take)(void *user, const void *bytes, size_t length), void *user) {
    static char piece[PIECE];
    int64_t length = 0;
    MPI_Recv(&length, 1, MPI_INT64_T, rank, GATHERING, ALL, MPI_STATUS_IGNORE);
    for (int64_t at = 0; at < length; at += PIECE) {
        const int part = length - at < PIECE ? (int)(length - at) : PIECE;
        MPI_Recv(piece, part, MPI_BYTE, rank, GATHERING, ALL, MPI_STATUS_IGNORE);
        take(user, piece, (size_t)part);
    }
}

void pess__gather_in_pieces(const void *bytes, int64_t length,
                            void (*take)(void *user, const void *bytes, size_t length), void *user) {
    if (pess__ranks_all.rank > 0) {
        send_pieces(bytes, length);
        return;
    }
    if (length > 0) take(user, bytes, (size_t)length);
    for (int r = 1; r < pess__ranks_all.size; r++) take_pieces(r, take, user);
}
