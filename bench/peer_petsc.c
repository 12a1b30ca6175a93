/* Inexact policy iteration with PETSc's BiCGSTAB and ILU(0) on the model that bench_methods wrote, as one JSON line:
 * peer_petsc DUMP INNER [PETSc's options]. After each sweep the value of the greedy policy is found to INNER times the
 * Euclidean norm of the residual it begins with. Ends where sup|Tv − v| <= 1e-6. Processor seconds without reading. */
#include <petscksp.h>
#include <time.h>

typedef struct problem {
    int64_t states, actions, *row;
    double gamma, *probability, *reward;
    uint32_t *next;
} problem;

static void *get(FILE *file, size_t element, int64_t count) {
    void *out = malloc(element * (size_t)count);
    if (out == NULL || fread(out, element, (size_t)count, file) != (size_t)count) exit(1);
    return out;
}

static problem read_dump(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) exit(1);
    const int64_t *head = get(file, sizeof *head, 2);
    problem p = {.states = head[0], .actions = head[1]};
    const int64_t pairs = p.states * p.actions;
    p.gamma = *(double *)get(file, sizeof(double), 1);
    p.row = get(file, sizeof *p.row, pairs + 1);
    p.probability = get(file, sizeof(double), p.row[pairs]);
    p.reward = get(file, sizeof(double), pairs);
    p.next = get(file, sizeof *p.next, p.row[pairs]);
    (void)fclose(file);
    return p;
}

/* The greedy pairs, and sup|Tv − v|. */
static double improve(const problem *p, const double *v, int64_t *choice) {
    double most = 0;
    for (int64_t s = 0; s < p->states; s++) {
        double best = -INFINITY;
        for (int64_t z = s * p->actions; z < (s + 1) * p->actions; z++) {
            double q = p->reward[z];
            for (int64_t k = p->row[z]; k < p->row[z + 1]; k++) q += p->gamma * p->probability[k] * v[p->next[k]];
            if (q > best) choice[s] = z;
            best = q > best ? q : best;
        }
        most = fmax(most, fabs(best - v[s]));
    }
    return most;
}

/* I − γP and r of the choice; every row has its diagonal. */
static PetscErrorCode assemble(const problem *p, const int64_t *choice, Mat a, Vec b) {
    PetscScalar *constant;
    PetscCall(MatZeroEntries(a));
    PetscCall(VecGetArrayWrite(b, &constant));
    for (PetscInt s = 0; s < p->states; s++) {
        const int64_t z = choice[s];
        PetscCall(MatSetValue(a, s, s, 1, ADD_VALUES));
        for (int64_t k = p->row[z]; k < p->row[z + 1]; k++)
            PetscCall(MatSetValue(a, s, (PetscInt)p->next[k], -p->gamma * p->probability[k], ADD_VALUES));
        constant[s] = p->reward[z];
    }
    PetscCall(VecRestoreArrayWrite(b, &constant));
    PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    return 0;
}

/* The pattern of all actions, so that it stays. */
static PetscErrorCode make_matrix(const problem *p, Mat *a) {
    PetscInt most = 0;
    for (int64_t s = 0; s < p->states; s++) {
        const PetscInt length = (PetscInt)(p->row[(s + 1) * p->actions] - p->row[s * p->actions]) + 1;
        most = length > most ? length : most;
    }
    most = most < p->states ? most : (PetscInt)p->states;
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, (PetscInt)p->states, (PetscInt)p->states, most, NULL, a));
    for (PetscInt s = 0; s < p->states; s++) {
        PetscCall(MatSetValue(*a, s, s, 0, ADD_VALUES));
        for (int64_t k = p->row[s * p->actions]; k < p->row[(s + 1) * p->actions]; k++)
            PetscCall(MatSetValue(*a, s, (PetscInt)p->next[k], 0, ADD_VALUES));
    }
    PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
    return 0;
}

static PetscErrorCode solve(const problem *p, double inner) {
    const clock_t begun = clock();
    Mat a;
    Vec b, v;
    KSP ksp;
    PC pc;
    double residual;
    int64_t outer = 0, *choice = calloc((size_t)p->states, sizeof *choice);
    if (choice == NULL) return PETSC_ERR_MEM;
    PetscCall(make_matrix(p, &a));
    PetscCall(MatCreateVecs(a, &v, &b));
    PetscCall(VecSet(v, 0));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetType(ksp, KSPBCGS));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCILU));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    PetscCall(KSPConvergedDefaultSetUIRNorm(ksp)); /* relative to the residual that it begins with */
    PetscCall(KSPSetTolerances(ksp, inner, 1e-9, PETSC_DEFAULT, 10000));
    for (;; outer++) {
        const PetscScalar *values;
        PetscCall(VecGetArrayRead(v, &values));
        residual = improve(p, values, choice);
        PetscCall(VecRestoreArrayRead(v, &values));
        if (residual <= 1e-6 || outer == 1000) break;
        PetscCall(assemble(p, choice, a, b));
        PetscCall(KSPSetOperators(ksp, a, a));
        PetscCall(KSPSolve(ksp, b, v));
    }
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "{\"cpu_seconds\":%.4g,\"iterations\":%d,\"residual\":%.3g}\n",
                          (double)(clock() - begun) / CLOCKS_PER_SEC, (int)outer, residual));
    free(choice);
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&v));
    PetscCall(MatDestroy(&a));
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    const problem p = read_dump(argv[1]);
    const double inner = strtod(argv[2], NULL);
    PetscCall(solve(&p, inner));
    PetscCall(PetscFinalize());
    return 0;
}
