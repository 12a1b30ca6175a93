/* The processes that share a problem (MPI calls them ranks), and what they do together. Every function here is called
 * by all of them. */
#ifndef PESS_SCALE_RANKS_H
#define PESS_SCALE_RANKS_H

#include "core/status.h"

#include <mpi.h>

typedef struct pess__ranks {
    MPI_Comm comm;
    int rank, size;
} pess__ranks;

extern pess__ranks pess__ranks_all;

/* What happened to any of them has happened to all: the status and the sentence of the first one that failed. */
pess_status pess__agree(pess_status status, pess_error *error);

#define PESS__TRY_TOGETHER(call, error) PESS_TRY(pess__agree((call), (error)))

double pess__ranks_sum(double x);
int64_t pess__ranks_total(int64_t x);
int64_t pess__ranks_before(int64_t x); /* of the ranks before this one */
int64_t pess__ranks_largest(int64_t x);
double pess__ranks_most(double x);
bool pess__ranks_any(bool x);

/* Items of one size, each to the rank that `to` names. They are replaced by those that came here, in the order of the
 * ranks they came from; *count follows. */
pess_status pess__exchange(void *items, int64_t *count, size_t size, const int32_t *to, pess_error *error);

/* The same for pieces of text: those to rank r are bytes from[r] … from[r+1]-1. */
pess_status pess__exchange_bytes(char **bytes, int64_t *length, const int64_t *from, pess_error *error);

/* What all have, one behind the other, in portions at rank 0: `take` gets them there, in order. */
void pess__gather_in_pieces(const void *bytes, int64_t length,
                            void (*take)(void *user, const void *bytes, size_t length), void *user);

#endif
