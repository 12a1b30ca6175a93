/* What the two ways to pack rows share. */
#ifndef PESS_SOLVE_PACKED_PARTS_H
#define PESS_SOLVE_PACKED_PARTS_H

#include "solve/packed.h"

static inline int64_t pess__packed_slices(const pess__packed *packed) {
    return (packed->states * packed->actions + PESS__SLICE - 1) / PESS__SLICE;
}

/* constant, next and code. */
pess_status pess__packed_allocate(pess__packed *packed, int64_t entries, pess_error *error);
/* *out is NULL where the pairs of a slice have too few successors in common, or where a row's are not in order, so that
 * sums could differ in their last bits. */
pess_status pess__packed_joint(const pess_model *model, const double *bonus, pess__packed **out, pess_error *error);

#endif
