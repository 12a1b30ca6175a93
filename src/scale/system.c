/* The linear systems of a chain, by PETSc's Krylov methods (KSP). BiCGSTAB with incomplete factors of each rank's
 * block, which overlaps with its neighbours where that is cheap, unless PETSc's options say otherwise. */
#include "core/memory.h"
#include "scale/chain.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_ITERATIONS = 20000, ATTEMPTS = 12 };

static char last_message[400]; /* of PETSc */

PetscErrorCode pess__petsc_keep_message(MPI_Comm comm, int line, const char *function, const char *file,
                                        PetscErrorCode code, PetscErrorType kind, const char *message, void *unused) {
    (void)comm, (void)line, (void)function, (void)file, (void)unused;
    if (kind == PETSC_ERROR_INITIAL && message != NULL) {
        (void)snprintf(last_message, sizeof last_message, "%s", message);
        last_message[strcspn(last_message, "\n")] = '\0';
    }
    return code;
}

int64_t pess__petsc_most(void) { return PETSC_MAX_INT; }

pess_status pess__petsc_failed(pess_error *error) {
    return pess__fail(error, PESS_ARGUMENT, "PETSc: %s",
                      last_message[0] != '\0' ? last_message : "it failed without a message");
}

/* ------------------------------------------------------------------------------------------------ setting up */

/* y = (I − G)x with both parts of rank one; transposed, x and the two vectors change places. */
static PetscErrorCode multiply(Mat shell, Vec in, Vec out, bool transposed) {
    pess__chain *chain = NULL;
    const PetscScalar *x;
    PetscScalar *y;
    PetscCall(MatShellGetContext(shell, &chain));
    PetscCall(transposed ? MatMultTranspose(chain->matrix, in, out) : MatMult(chain->matrix, in, out));
    PetscCall(VecGetArrayRead(in, &x));
    PetscCall(VecGetArray(out, &y));
    const pess__slab *slab = chain->slab;
    const int64_t own = slab->spread.own, at = slab->lo_place;
    const bool here = at >= 0;
    double part[2] = {0, !transposed && here ? x[at] : 0};
    for (int64_t s = 0; s < own; s++) {
        part[0] += transposed ? chain->uniform[s] * x[s] : x[s];
        if (transposed) part[1] += chain->lowest[s] * x[s];
    }
    MPI_Allreduce(MPI_IN_PLACE, part, 2, MPI_DOUBLE, MPI_SUM, pess__ranks_all.comm);
    const double mean = part[0] / (double)slab->spread.states;
    for (int64_t s = 0; s < own; s++) y[s] -= transposed ? mean : chain->uniform[s] * mean + chain->lowest[s] * part[1];
    if (transposed && here) y[at] -= part[1];
    PetscCall(VecRestoreArray(out, &y));
    PetscCall(VecRestoreArrayRead(in, &x));
    return 0;
}

static PetscErrorCode multiply_plain(Mat shell, Vec in, Vec out) { return multiply(shell, in, out, false); }
static PetscErrorCode multiply_transposed(Mat shell, Vec in, Vec out) { return multiply(shell, in, out, true); }

/* What block Jacobi asks of the matrix that it is not made of. */
static PetscErrorCode diagonal_block(Mat shell, Mat *out) {
    pess__chain *chain = NULL;
    PetscCall(MatShellGetContext(shell, &chain));
    return MatGetDiagonalBlock(chain->matrix, out);
}

/* Blocks that also have the states next to theirs (restricted additive Schwarz, Cai and Sarkis 1999) take about as many
 * steps as one block of all, and more memory for the rows of those states: where they are few, on every rank. */
static bool overlaps(const pess__slab *slab) {
    enum { FEW = 4 }; /* at most a quarter of the own ones */
    const bool many = slab->copies * FEW > slab->spread.own;
    return pess__ranks_all.size > 1 && !pess__ranks_any(many);
}

/* The true residual counts, so the preconditioner stands to the right, where the method allows it. */
static PetscErrorCode make_ksp(const pess__slab *overlapping, KSP *out, pess__blocks **blocks) {
    PetscBool chosen = PETSC_FALSE;
    PC pc;
    PetscCall(KSPCreate(pess__ranks_all.comm, out));
    PetscCall(PetscOptionsHasName(NULL, NULL, "-ksp_type", &chosen));
    PetscCall(KSPSetType(*out, KSPBCGS));
    if (!chosen) PetscCall(KSPSetPCSide(*out, PC_RIGHT));
    if (!chosen) PetscCall(KSPSetNormType(*out, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPGetPC(*out, &pc));
    PetscCall(PCSetType(pc, PCBJACOBI));
    PetscCall(PetscOptionsHasName(NULL, NULL, "-pc_type", &chosen));
    if (!chosen && overlapping != NULL) PetscCall(pess__blocks_create(overlapping, pc, blocks));
    PetscCall(KSPSetTolerances(*out, 1e-50, 1e-12, 1e50, MOST_ITERATIONS));
    PetscCall(KSPSetFromOptions(*out));
    PetscCall(KSPSetInitialGuessNonzero(*out, PETSC_TRUE));
    return 0;
}

/* With room for states elsewhere, which the solver's own vectors then have too. */
static PetscErrorCode make_solution(const pess__slab *slab, Vec *out) {
    const PetscInt copies = (PetscInt)slab->copies;
    PetscInt *copied;
    PetscCall(PetscMalloc1(copies + 1, &copied));
    for (PetscInt i = 0; i < copies; i++) copied[i] = (PetscInt)slab->copied[i];
    PetscCall(VecCreateGhost(pess__ranks_all.comm, (PetscInt)slab->spread.own, (PetscInt)slab->spread.states, copies,
                             copied, out));
    return PetscFree(copied);
}

static PetscErrorCode make_system(pess__chain *chain) {
    const PetscInt own = (PetscInt)chain->slab->spread.own, all = (PetscInt)chain->slab->spread.states;
    PetscInt most;
    KSPType method;
    PCType preconditioner;
    PC pc;
    PetscCall(make_ksp(overlaps(chain->slab) ? chain->slab : NULL, &chain->ksp, &chain->blocks));
    PetscCall(KSPGetTolerances(chain->ksp, NULL, NULL, NULL, &most));
    chain->most_iterations = most;
    PetscCall(KSPGetType(chain->ksp, &method));
    PetscCall(KSPGetPC(chain->ksp, &pc));
    PetscCall(PCGetType(pc, &preconditioner));
    const pess__order *order = chain->slab->order;
    (void)snprintf(chain->name, sizeof chain->name, "petsc %s %s%s%s", method,
                   chain->blocks != NULL ? "schwarz" : preconditioner, order != NULL ? ", " : "",
                   order != NULL ? order->why : "");
    PetscCall(make_solution(chain->slab, &chain->x));
    PetscCall(VecCreateMPIWithArray(pess__ranks_all.comm, 1, own, all, NULL, &chain->b));
    PetscCall(MatCreateShell(pess__ranks_all.comm, own, own, all, all, chain, &chain->with_rank_one));
    PetscCall(MatShellSetOperation(chain->with_rank_one, MATOP_MULT, (void (*)(void))multiply_plain));
    PetscCall(MatShellSetOperation(chain->with_rank_one, MATOP_MULT_TRANSPOSE, (void (*)(void))multiply_transposed));
    PetscCall(MatShellSetOperation(chain->with_rank_one, MATOP_GET_DIAGONAL_BLOCK, (void (*)(void))diagonal_block));
    return 0;
}

/* PETSc works on our arrays. The numbers of the columns that lead elsewhere it changes into its own. */
static PetscErrorCode make_matrix(pess__chain *chain) {
    const PetscInt own = (PetscInt)chain->slab->spread.own, all = (PetscInt)chain->slab->spread.states;
    Mat before = chain->matrix;
    PetscCall(MatCreateMPIAIJWithSplitArrays(pess__ranks_all.comm, own, own, all, all, chain->row, chain->column,
                                             chain->value, chain->away_row, chain->away_column, chain->away_value,
                                             &chain->matrix));
    PetscCall(MatDestroy(&before));
    return 0;
}

/* Tells PETSc that the numbers are others now. */
static PetscErrorCode touch(pess__chain *chain) {
    PetscCall(MatAssemblyBegin(chain->matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(chain->matrix, MAT_FINAL_ASSEMBLY));
    Mat full = chain->any_uniform || chain->any_lowest ? chain->with_rank_one : chain->matrix;
    PetscCall(KSPSetOperators(chain->ksp, full, chain->matrix));
    return 0;
}

pess_status pess__chain_assemble(pess__chain *chain, bool new_pattern, pess_error *error) {
    if (chain->ksp == NULL) PESS__PETSC(make_system(chain), error);
    if (new_pattern) PESS__PETSC(make_matrix(chain), error);
    if (chain->blocks != NULL) PESS_TRY(pess__blocks_fill(chain->blocks, chain, new_pattern, error));
    PESS__PETSC(touch(chain), error);
    return PESS_OK;
}

void pess__chain_release_system(pess__chain *chain) {
    (void)KSPDestroy(&chain->ksp);
    pess__blocks_destroy(chain->blocks);
    (void)MatDestroy(&chain->with_rank_one);
    (void)MatDestroy(&chain->matrix);
    (void)VecDestroy(&chain->x);
    (void)VecDestroy(&chain->b);
}

/* ------------------------------------------------------------------------------------------------ solving */

static PetscErrorCode run_solver(pess__chain *chain, bool transposed, KSPConvergedReason *reason) {
    PetscInt steps;
    PetscCall(transposed ? KSPSolveTranspose(chain->ksp, chain->b, chain->x)
                         : KSPSolve(chain->ksp, chain->b, chain->x));
    PetscCall(KSPGetIterationNumber(chain->ksp, &steps));
    PetscCall(KSPGetConvergedReason(chain->ksp, reason));
    chain->iterations += steps;
    return 0;
}

/* BiCGSTAB may break down, mostly on small systems; GMRES then goes on, from the beginning. */
static PetscErrorCode solve_once(pess__chain *chain, const double *b, double *x, double tolerance, bool transposed) {
    KSPConvergedReason reason;
    PetscBool breaks = PETSC_FALSE;
    PetscCall(VecPlaceArray(chain->x, x));
    PetscCall(VecPlaceArray(chain->b, b));
    PetscCall(KSPSetTolerances(chain->ksp, 1e-50, tolerance, 1e50, (PetscInt)chain->most_iterations));
    PetscCall(run_solver(chain, transposed, &reason));
    PetscCall(PetscObjectTypeCompare((PetscObject)chain->ksp, KSPBCGS, &breaks));
    if (reason < 0 && breaks) {
        PetscCall(KSPSetType(chain->ksp, KSPGMRES));
        PetscCall(VecSet(chain->x, 0));
        PetscCall(run_solver(chain, transposed, &reason));
        PetscCall(KSPSetType(chain->ksp, KSPBCGS));
    }
    chain->reason = reason;
    PetscCall(VecResetArray(chain->x));
    PetscCall(VecResetArray(chain->b));
    return 0;
}

static double largest(const double *v, int64_t count) {
    double most = 0;
    for (int64_t s = 0; s < count; s++) most = fmax(most, fabs(v[s]));
    return pess__ranks_most(most);
}

static pess_status stuck(const pess__chain *chain, double residual, double tolerance, pess_error *error) {
    const char *const text = KSPConvergedReasons[chain->reason];
    return pess__fail(
        error, PESS_NOT_CONVERGED,
        "the linear solver (%s) stays at a residual of %.3g where %.3g was asked for (%s); other solvers: "
        "-ksp_type gmres, -sub_pc_factor_levels 1",
        chain->name, residual, tolerance, text);
}

/* The residual that counts is the largest of all states; the solver stops by the root of the sum of squares, which is
 * many times that. How many times is taken from the first residual, and twice as small is asked for. Nothing rests on
 * the guess, nor on the solver's own recurrence: the residual is computed, and the solver goes on from where it is
 * until that is small enough. */
pess_status pess__chain_solve(pess__chain *chain, double tolerance, double *v, pess_error *error) {
    const int64_t own = chain->slab->spread.own;
    double *next = NULL, residual = 0;
    PESS__TRY_TOGETHER(pess__allocate(&next, own, sizeof *next, "the values", error), error);
    pess_status status = PESS_OK;
    const double first = pess__chain_apply(chain, v, next);
    double best = INFINITY, ask = tolerance * (first > 0 && isfinite(chain->norm) ? 0.5 * chain->norm / first : 1);
    int worse = 0;
    for (int attempt = 0; attempt < ATTEMPTS && status == PESS_OK; attempt++) {
        if (solve_once(chain, chain->constant, v, ask, false) != 0) status = pess__petsc_failed(error);
        if (status != PESS_OK) break;
        pess__slab_refresh(chain->slab, v);
        residual = pess__chain_apply(chain, v, next);
        if (residual <= fmax(tolerance, 32 * DBL_EPSILON * largest(v, own))) break;
        worse = residual < 0.5 * best ? 0 : worse + 1;
        best = fmin(best, residual);
        if (!isfinite(residual)) memset(v, 0, (size_t)own * sizeof *v);
        if (worse >= 3 || attempt == ATTEMPTS - 1) status = stuck(chain, residual, tolerance, error);
        ask *= 0.1;
    }
    free(next);
    return status;
}

pess_status pess__chain_visits(pess__chain *chain, const double *start, double tolerance, double *d,
                               pess_error *error) {
    const int64_t own = chain->slab->spread.own;
    memcpy(d, start, (size_t)own * sizeof *d);
    if (solve_once(chain, start, d, tolerance, true) != 0) return pess__petsc_failed(error);
    if (chain->reason < 0) return stuck(chain, NAN, tolerance, error);
    for (int64_t s = 0; s < own; s++)
        if (d[s] < 0 || chain->model->terminal[s]) d[s] = 0;
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ options */

/* A system of two equations on every rank takes all options that a real one would. */
static PetscErrorCode try_options(void) {
    Mat matrix;
    Vec b, x;
    KSP ksp;
    const PetscInt two = 2;
    PetscInt first;
    PetscCall(
        MatCreateAIJ(pess__ranks_all.comm, two, two, PETSC_DETERMINE, PETSC_DETERMINE, 2, NULL, 1, NULL, &matrix));
    PetscCall(MatGetOwnershipRange(matrix, &first, NULL));
    for (PetscInt i = first; i < first + two; i++) {
        PetscCall(MatSetValue(matrix, i, i, 1, INSERT_VALUES));
        PetscCall(MatSetValue(matrix, i, i == first ? i + 1 : i - 1, -0.5, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(matrix, &x, &b));
    PetscCall(VecSet(b, 1));
    PetscCall(make_ksp(NULL, &ksp, NULL));
    PetscCall(KSPSetOperators(ksp, matrix, matrix));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&matrix));
    return 0;
}

pess_status pess__petsc_check_options(pess_error *error) {
    PetscInt count = 0;
    char **names = NULL, **values = NULL;
    static const char *const ours[] = {"-ksp_rtol", "-ksp_atol"};
    last_message[0] = '\0';
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        PetscBool given = PETSC_FALSE;
        PESS__PETSC(PetscOptionsHasName(NULL, NULL, ours[i], &given), error);
        if (given)
            return pess__fail(error, PESS_ARGUMENT, "%s: how exactly systems are solved follows from --tolerance",
                              ours[i]);
    }
    PESS__PETSC(try_options(), error);
    PESS__PETSC(PetscOptionsLeftGet(NULL, &count, &names, &values), error);
    pess_status status = PESS_OK;
    if (count > 0)
        status =
            pess__fail(error, PESS_ARGUMENT, "PETSc knows no option '-%s', or the solver chosen has none", names[0]);
    PESS__PETSC(PetscOptionsLeftRestore(NULL, &count, &names, &values), error);
    return status;
}
