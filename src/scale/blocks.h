/* The preconditioner of several ranks: blocks that overlap (blocks.c). */
#ifndef PESS_SCALE_BLOCKS_H
#define PESS_SCALE_BLOCKS_H

#include "scale/slab.h"

#include <petscksp.h>

struct pess__chain;

typedef struct pess__blocks {
    const pess__slab *slab;
    KSP inner;
    Mat matrix; /* of the own states and those elsewhere that their rows lead to, by place */
    PetscInt *row, *column;
    PetscScalar *value;
    int64_t column_room, value_room;
    Vec in, out; /* [own+copies] for vectors that have no room for states elsewhere */
} pess__blocks;

/* Makes `pc` one, unless PETSc's options then choose another. */
PetscErrorCode pess__blocks_create(const pess__slab *slab, PC pc, pess__blocks **out);
void pess__blocks_destroy(pess__blocks *blocks);
/* The present numbers of the chain, and with `new_pattern` its columns. */
pess_status pess__blocks_fill(pess__blocks *blocks, const struct pess__chain *chain, bool new_pattern,
                              pess_error *error);

#endif
