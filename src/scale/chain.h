/* The Markov chain of a policy in a model that ranks hold together, and its two linear systems, (I − G)v = c and
 * (I − G)ᵀd = ρ with G = γA^πP. The sparse part of I − G is assembled, so that PETSc can make a preconditioner of it.
 * Two parts of rank one stand beside it: rows that lead to all states alike, and mass that an adversary moves to the
 * state of the lowest value. */
#ifndef PESS_SCALE_CHAIN_H
#define PESS_SCALE_CHAIN_H

#include "scale/blocks.h"
#include "scale/slab.h"

#include <petscksp.h>

typedef struct pess__chain {
    const pess_model *model;
    const pess__slab *slab;
    double gamma, v_lo;
    double *constant; /* [own] c */
    double *uniform;  /* [own] γ times the probability of a uniform row */
    double *lowest;   /* [own] γ times what goes to the state of the lowest value */
    bool any_uniform, any_lowest;

    /* I − G, sparse: the block of own states, and what leads elsewhere. PETSc works on these arrays. */
    PetscInt *row, *column, *away_row, *away_column;
    PetscScalar *value, *away_value;
    int32_t *away_place;                 /* the places that away_column is for */
    int64_t room, away_room, place_room; /* of columns and values */
    int64_t value_room, away_value_room;
    bool all_actions;   /* the pattern is that of all actions together, and stays */
    PetscInt *position; /* [places] of a place in the row at hand; -1 */

    Mat matrix, with_rank_one;
    KSP ksp;
    pess__blocks *blocks;                /* its preconditioner; NULL: one of PETSc's */
    int64_t most_iterations, iterations; /* of the linear solver: at most in one solve; so far */
    Vec x, b;
    KSPConvergedReason reason; /* why the solver stopped last */
    double norm;               /* of the residual at the last look */
    char name[160];            /* of the linear solver, for reports */
} pess__chain;

pess_status pess__chain_create(const pess_model *model, double gamma, double v_lo, pess__chain **out,
                               pess_error *error);
void pess__chain_destroy(pess__chain *chain);

/* The chain of `choice` [places] (-1: no action) or, where that is NULL, of `pi` [places*A]. bonus [places*A] or NULL.
 */
pess_status pess__chain_fill(pess__chain *chain, const int32_t *choice, const double *pi, const double *bonus,
                             pess_error *error);
/* v = c + Gv from the guess in v [places], until sup|c + Gv − v| is no larger than the tolerance. Places of others are
 * fresh before and after. */
pess_status pess__chain_solve(pess__chain *chain, double tolerance, double *v, pess_error *error);
/* out = c + Gv of the own states; returns sup|out − v| of all, and leaves |out − v|₂ in chain->norm. */
double pess__chain_apply(pess__chain *chain, const double *v, double *out);
/* d = ρ + Gᵀd of the own states. */
pess_status pess__chain_visits(pess__chain *chain, const double *start, double tolerance, double *d, pess_error *error);

/* system.c */
pess_status pess__chain_assemble(pess__chain *chain, bool new_pattern, pess_error *error);
void pess__chain_release_system(pess__chain *chain);
/* Refuses options of PETSc that it does not know, or cannot follow. */
pess_status pess__petsc_check_options(pess_error *error);
/* The largest index that PETSc was built for. */
int64_t pess__petsc_most(void);
/* PESS_INTERNAL with PETSc's own sentence. */
pess_status pess__petsc_failed(pess_error *error);
PetscErrorCode pess__petsc_keep_message(MPI_Comm comm, int line, const char *function, const char *file,
                                        PetscErrorCode code, PetscErrorType kind, const char *message, void *unused);

#define PESS__PETSC(call, error)                                                                                       \
    do {                                                                                                               \
        if ((call) != 0) return pess__petsc_failed(error);                                                             \
    } while (0)

#endif
