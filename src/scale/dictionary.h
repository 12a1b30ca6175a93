/* Names that all ranks number alike, although none has all of them. */
#ifndef PESS_SCALE_DICTIONARY_H
#define PESS_SCALE_DICTIONARY_H

#include "scale/ranks.h"

/* Rank r keeps the names of the numbers begin[r] … begin[r+1]-1. */
typedef struct pess__dictionary {
    int64_t *begin;   /* [size+1] */
    pess_names *kept; /* those of this rank */
} pess__dictionary;

/* All names that some rank has, in ascending order; to[i] is the number of this rank's name i. With `as_they_are` one
 * rank has names at most, which keep their numbers. */
pess_status pess__dictionary_create(const pess_names *names, bool as_they_are, pess__dictionary *out, int64_t *to,
                                    pess_error *error);
int64_t pess__dictionary_size(const pess__dictionary *dictionary);
/* The names of the numbers that are asked for, in that order. */
pess_status pess__dictionary_look_up(const pess__dictionary *dictionary, const int64_t *ids, int64_t count,
                                     pess_names **out, pess_error *error);
void pess__dictionary_free(pess__dictionary *dictionary);

#endif
