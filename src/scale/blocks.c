/* Restricted additive Schwarz (Cai and Sarkis 1999): every rank solves, incompletely, for its own states and for those
 * elsewhere that its rows lead to, and keeps the result of its own. That is PETSc's PCASM with an overlap of one; but
 * PCASM copies each block out of the matrix anew for every policy and passes all states through lists of indices at
 * every step. Here the own states come first in a block, as they do in vectors, whose room for states elsewhere lies
 * behind them (VecGhost): so only those are ever sent or copied. */
#include "scale/blocks.h"

#include "core/memory.h"
#include "scale/chain.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ the matrix */

/* An entry of a row elsewhere; both are places of all. */
typedef struct entry {
    int64_t row, column;
    double value;
} entry;

static int64_t row_length(const pess__chain *c, int64_t s) {
    return (int64_t)c->row[s + 1] - c->row[s] + c->away_row[s + 1] - c->away_row[s];
}

/* The rows that other ranks have as neighbours. */
static pess_status rows_for_others(const pess__chain *c, entry **list, int32_t **to, int64_t *count,
                                   pess_error *error) {
    const pess__slab *slab = c->slab;
    int64_t total = 0, at = 0;
    for (int64_t i = 0; i < slab->give_begin[slab->partners]; i++) total += row_length(c, slab->give[i]);
    PESS_TRY(pess__allocate(list, total, sizeof **list, "the blocks", error));
    PESS_TRY(pess__allocate(to, total, sizeof **to, "the blocks", error));
    for (int p = 0; p < slab->partners; p++)
        for (int64_t i = slab->give_begin[p]; i < slab->give_begin[p + 1]; i++) {
            const int64_t s = slab->give[i], row = s + slab->spread.first;
            for (PetscInt k = c->row[s]; k < c->row[s + 1]; k++, at++) {
                (*list)[at] = (entry){row, c->column[k] + slab->spread.first, c->value[k]};
                (*to)[at] = slab->partner[p];
            }
            for (PetscInt k = c->away_row[s]; k < c->away_row[s + 1]; k++, at++) {
                const int64_t column = slab->copied[c->away_place[k] - slab->spread.own];
                (*list)[at] = (entry){row, column, c->away_value[k]};
                (*to)[at] = slab->partner[p];
            }
        }
    *count = total;
    return PESS_OK;
}

/* The rows of this rank: columns here, then those elsewhere, both ascending. */
static void copy_own_rows(pess__blocks *b, const pess__chain *c, bool columns) {
    PetscInt used = 0;
    for (int64_t s = 0; s < b->slab->spread.own; s++) {
        const PetscInt here = c->row[s + 1] - c->row[s], away = c->away_row[s + 1] - c->away_row[s];
        memcpy(b->value + used, c->value + c->row[s], (size_t)here * sizeof *b->value);
        memcpy(b->value + used + here, c->away_value + c->away_row[s], (size_t)away * sizeof *b->value);
        if (columns) memcpy(b->column + used, c->column + c->row[s], (size_t)here * sizeof *b->column);
        for (PetscInt k = 0; columns && k < away; k++)
            b->column[used + here + k] = (PetscInt)c->away_place[c->away_row[s] + k];
        used += here + away;
        b->row[s + 1] = used;
    }
}

/* One entry of the row that ends at *end, its columns kept ascending. */
static void insert(pess__blocks *b, PetscInt begin, PetscInt *end, PetscInt column, double value) {
    PetscInt at = (*end)++;
    for (; at > begin && b->column[at - 1] > column; at--) {
        b->column[at] = b->column[at - 1];
        b->value[at] = b->value[at - 1];
    }
    b->column[at] = column;
    b->value[at] = value;
}

/* The rows of states elsewhere, which come in the order of their places: what leads to states that the block has. */
static void add_other_rows(pess__blocks *b, const entry *list, int64_t count) {
    const int64_t own = b->slab->spread.own;
    PetscInt used = b->row[own];
    int64_t at = 0;
    for (int64_t i = 0; i < b->slab->copies; i++) {
        const PetscInt begin = used;
        for (; at < count && list[at].row == b->slab->copied[i]; at++) {
            const int64_t place = pess__slab_place(b->slab, list[at].column);
            if (place >= 0) insert(b, begin, &used, (PetscInt)place, list[at].value);
        }
        b->row[own + i + 1] = used;
    }
}

static PetscErrorCode make_matrix(pess__blocks *b, bool new_pattern) {
    const PetscInt all = (PetscInt)(b->slab->spread.own + b->slab->copies);
    if (b->matrix == NULL || new_pattern) {
        PetscCall(MatDestroy(&b->matrix));
        PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, all, all, b->row, b->column, b->value, &b->matrix));
    }
    PetscCall(MatAssemblyBegin(b->matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(b->matrix, MAT_FINAL_ASSEMBLY));
    return 0;
}

pess_status pess__blocks_fill(pess__blocks *b, const pess__chain *chain, bool new_pattern, pess_error *error) {
    const int64_t own = b->slab->spread.own, here = (int64_t)chain->row[own] + chain->away_row[own];
    const bool columns = new_pattern || b->matrix == NULL;
    entry *list = NULL;
    int32_t *to = NULL;
    int64_t count = 0;
    pess_status status = pess__agree(rows_for_others(chain, &list, &to, &count, error), error);
    if (status == PESS_OK) status = pess__exchange(&list, &count, sizeof *list, to, error);
    const int64_t entries = here + count;
    if (status == PESS_OK && entries > pess__petsc_most())
        status = pess__fail(error, PESS_LIMIT,
                            "one rank's block has %lld entries, more than this PETSc can number: use more ranks, or a "
                            "PETSc with 64-bit indices",
                            (long long)entries);
    if (status == PESS_OK)
        status = pess__grow(&b->column, &b->column_room, entries + 1, sizeof *b->column, "the blocks", error);
    if (status == PESS_OK)
        status = pess__grow(&b->value, &b->value_room, entries + 1, sizeof *b->value, "the blocks", error);
    status = pess__agree(status, error);
    if (status == PESS_OK) {
        copy_own_rows(b, chain, columns);
        add_other_rows(b, list, count);
        if (make_matrix(b, columns) != 0) status = pess__petsc_failed(error);
    }
    free(list);
    free(to);
    return status;
}

/* ------------------------------------------------------------------------------------------------ applying it */

static PetscErrorCode set_up(PC pc) {
    pess__blocks *b = NULL;
    PetscCall(PCShellGetContext(pc, &b));
    PetscCall(KSPSetOperators(b->inner, b->matrix, b->matrix));
    return KSPSetUp(b->inner);
}

/* A vector as a block has it, with room for states elsewhere: its own, or `spare` with a copy of it. */
static PetscErrorCode with_room(const pess__blocks *b, Vec vector, Vec spare, Vec *out) {
    const PetscScalar *from;
    PetscScalar *to;
    PetscCall(VecGhostGetLocalForm(vector, out));
    if (*out != NULL) return 0;
    *out = spare;
    PetscCall(VecGetArrayRead(vector, &from));
    PetscCall(VecGetArray(spare, &to));
    memcpy(to, from, (size_t)b->slab->spread.own * sizeof *to);
    PetscCall(VecRestoreArray(spare, &to));
    return VecRestoreArrayRead(vector, &from);
}

static PetscErrorCode give_back(const pess__blocks *b, Vec vector, Vec spare, Vec *local) {
    const PetscScalar *from;
    PetscScalar *to;
    if (*local != spare) return VecGhostRestoreLocalForm(vector, local);
    PetscCall(VecGetArrayRead(spare, &from));
    PetscCall(VecGetArray(vector, &to));
    memcpy(to, from, (size_t)b->slab->spread.own * sizeof *to);
    PetscCall(VecRestoreArray(vector, &to));
    return VecRestoreArrayRead(spare, &from);
}

/* y = own part of M⁻¹x, x that of all states in the block. Transposed, x is zero elsewhere, and what M⁻ᵀx has there is
 * added to the states that it is of. */
static PetscErrorCode apply(PC pc, Vec x, Vec y, bool transposed) {
    pess__blocks *b = NULL;
    Vec in, out;
    PetscScalar *values;
    PetscCall(PCShellGetContext(pc, &b));
    PetscCall(with_room(b, x, b->in, &in));
    PetscCall(with_room(b, y, b->out, &out));
    PetscCall(VecGetArray(in, &values));
    if (transposed)
        memset(values + b->slab->spread.own, 0, (size_t)b->slab->copies * sizeof *values);
    else
        pess__slab_refresh(b->slab, values);
    PetscCall(VecRestoreArray(in, &values));
    PetscCall(transposed ? KSPSolveTranspose(b->inner, in, out) : KSPSolve(b->inner, in, out));
    if (transposed) {
        PetscCall(VecGetArray(out, &values));
        pess__slab_collect(b->slab, values);
        PetscCall(VecRestoreArray(out, &values));
    }
    if (in != b->in) PetscCall(VecGhostRestoreLocalForm(x, &in));
    return give_back(b, y, b->out, &out);
}

static PetscErrorCode apply_plain(PC pc, Vec x, Vec y) { return apply(pc, x, y, false); }
static PetscErrorCode apply_transposed(PC pc, Vec x, Vec y) { return apply(pc, x, y, true); }

/* ------------------------------------------------------------------------------------------------ beginning, end */

static PetscErrorCode make_inner(KSP *out) {
    PC pc;
    PetscCall(KSPCreate(PETSC_COMM_SELF, out));
    PetscCall(KSPSetOptionsPrefix(*out, "sub_"));
    PetscCall(KSPSetType(*out, KSPPREONLY));
    PetscCall(KSPGetPC(*out, &pc));
    PetscCall(PCSetType(pc, PCILU));
    return KSPSetFromOptions(*out);
}

PetscErrorCode pess__blocks_create(const pess__slab *slab, PC pc, pess__blocks **out) {
    const PetscInt all = (PetscInt)(slab->spread.own + slab->copies);
    pess__blocks *b = NULL;
    PetscCall(PetscNew(&b));
    *out = b;
    b->slab = slab;
    PetscCall(PetscCalloc1(all + 1, &b->row));
    PetscCall(make_inner(&b->inner));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, all, &b->in));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, all, &b->out));
    PetscCall(PCSetType(pc, PCSHELL));
    PetscCall(PCShellSetContext(pc, b));
    PetscCall(PCShellSetName(pc, "overlapping blocks"));
    PetscCall(PCShellSetSetUp(pc, set_up));
    PetscCall(PCShellSetApply(pc, apply_plain));
    return PCShellSetApplyTranspose(pc, apply_transposed);
}

void pess__blocks_destroy(pess__blocks *b) {
    if (b == NULL) return;
    (void)KSPDestroy(&b->inner);
    (void)MatDestroy(&b->matrix);
    (void)VecDestroy(&b->in);
    (void)VecDestroy(&b->out);
    (void)PetscFree(b->row);
    free(b->column);
    free(b->value);
    (void)PetscFree(b);
}
