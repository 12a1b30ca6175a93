/* The successors of all pairs, which the counts of a log and the models made of them have in common: whoever is
 * destroyed last frees them. */
#ifndef PESS_MODEL_SUCCESSORS_H
#define PESS_MODEL_SUCCESSORS_H

#include "core/status.h"

typedef struct pess__successors {
    _Atomic int owners;
    int64_t *row;   /* [S*A+1] successors of pair z are row[z] … row[z+1]-1 */
    uint32_t *next; /* ascending within a pair */
} pess__successors;

/* Zeros, with room for so many; one owner. Nobody writes once there are two. */
pess_status pess__successors_create(int64_t pairs, int64_t room, pess__successors **out, pess_error *error);
/* The same, for one more owner. */
pess__successors *pess__successors_own(pess__successors *successors);
/* For each of them. */
void pess__successors_disown(pess__successors *successors);

#endif
