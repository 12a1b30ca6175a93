/* Two orders of the states. A state's number is its rank in the order of names, which files, starts, checkpoints and
 * random rewards go by; where processes hold neighbours near each other, its place is another. Here is the one seam
 * between both: what is known by number goes to whoever has the place, and back. */
#ifndef PESS_SCALE_ORDER_H
#define PESS_SCALE_ORDER_H

#include "scale/ranks.h"

typedef struct pess__order {
    int64_t *begin;    /* [size+1] the first number of every rank */
    int64_t numbers;   /* of this rank: from begin[rank] on */
    int64_t own;       /* places of this rank */
    int64_t *number;   /* [own] of the state in each place */
    int32_t *leaving;  /* [numbers] own numbers, less the first, by the rank of their place */
    int32_t *arriving; /* [own] places by the rank of their number: so their numbers ascend */
    char why[80];      /* in words, for reports */
    int *leave_count, *leave_begin, *arrive_count, *arrive_begin; /* [size] */
} pess__order;

/* place [numbers]: of the states first_number[rank] … first_number[rank+1]-1; first_place [size+1] the first place of
 * every rank. */
pess_status pess__order_create(const int64_t *first_number, const int64_t *place, const int64_t *first_place,
                               pess__order **out, pess_error *error);
void pess__order_destroy(pess__order *order);

/* Items of one size: by_place[own] from by_number[numbers], and by_number from by_place. */
pess_status pess__order_inward(const pess__order *order, const void *by_number, size_t size, void *by_place,
                               pess_error *error);
pess_status pess__order_outward(const pess__order *order, const void *by_place, size_t size, void *by_number,
                                pess_error *error);

/* The own place of a number; -1: it is elsewhere. */
int64_t pess__order_own_place(const pess__order *order, int64_t number);

#endif
