/* mpiexec -n N mpi_torus ours|shell SIDE GAMMA TOLERANCE [shuffled]: the best policy of a torus of SIDE × SIDE states
 * with four actions, its rows made on the processes that have them, as one JSON line. `ours` is policy iteration as
 * pess-mpi has it. `shell` is the approach of madupite (Gargiani et al. 2024), written from its description: a matrix
 * of the policy that is made anew for each policy, I − γP as a shell around it, so that no preconditioner can be made
 * of it, GMRES to a ten-thousandth of the residual. `shuffled` numbers the states at random, as a log's names may.
 * mpi_torus log SIDE FILE [shuffled]: a counted log of that torus, for pess-mpi. */
#include "core/memory.h"
#include "core/rng.h"
#include "core/threads.h"
#include "scale/chain.h"
#include "scale/engine.h"
#include "scale/scale.h"
#include "scale/slab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { ACTIONS = 4 };

typedef struct torus {
    int64_t side, first, own;
    int64_t *number, *cell; /* [states] of the cells, and back; NULL: in order */
    double gamma, tolerance;
    pess__slab *slab;
    pess_model *model;
} torus;

static void need(pess_status status, const pess_error *error) {
    if (status == PESS_OK) return;
    (void)fprintf(stderr, "mpi_torus: %s\n", error->message);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int64_t cell_of(const torus *t, int64_t state) { return t->cell != NULL ? t->cell[state] : state; }

/* up, right, down, left */
static int64_t neighbour(const torus *t, int64_t state, int direction) {
    static const int down[] = {-1, 0, 1, 0}, across[] = {0, 1, 0, -1};
    const int64_t n = t->side, row = cell_of(t, state) / n, column = cell_of(t, state) % n;
    const int64_t next = (row + n + down[direction]) % n * n + (column + n + across[direction]) % n;
    return t->number != NULL ? t->number[next] : next;
}

/* Every process knows all numbers, for there is no log to read them from. */
static void shuffle(torus *t) {
    const int64_t states = t->side * t->side;
    pess_error error = {0};
    pess__rng rng = pess__rng_stream(1, "names", 0);
    need(pess__allocate(&t->number, states, sizeof *t->number, "numbers", &error), &error);
    need(pess__allocate(&t->cell, states, sizeof *t->cell, "numbers", &error), &error);
    for (int64_t s = 0; s < states; s++) {
        const int64_t at = (int64_t)(pess__rng_uniform(&rng) * (double)(s + 1));
        t->number[s] = t->number[at];
        t->number[at] = s;
    }
    for (int64_t s = 0; s < states; s++) t->cell[t->number[s]] = s;
}

/* The share of successors that another process has. */
static double cut_share(const torus *t) {
    double elsewhere = 0;
    for (int64_t k = 0; k < t->own * ACTIONS * ACTIONS; k++) elsewhere += t->model->next[k] >= t->own;
    return pess__ranks_sum(elsewhere) / ((double)(t->side * t->side) * ACTIONS * ACTIONS);
}

static int compare(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* With probability 0.2 the direction is drawn from all four. Rewards are those of the pair. */
static void fill_state(torus *t, int64_t s) {
    pess__rng rng = pess__rng_stream(1, "torus", (uint64_t)cell_of(t, s + t->first));
    uint32_t next[ACTIONS], place[ACTIONS];
    for (int d = 0; d < ACTIONS; d++)
        next[d] = place[d] = (uint32_t)pess__slab_place(t->slab, neighbour(t, s + t->first, d));
    qsort(next, ACTIONS, sizeof *next, compare);
    for (int a = 0; a < ACTIONS; a++) {
        const int64_t z = s * ACTIONS + a;
        t->model->kind[z] = PESS_ROW_SPARSE;
        t->model->reward[z] = pess__rng_uniform(&rng) * pess__rng_uniform(&rng);
        for (int d = 0; d < ACTIONS; d++) {
            t->model->next[z * ACTIONS + d] = next[d];
            t->model->probability[z * ACTIONS + d] = next[d] == place[a] ? 0.85 : 0.05;
        }
    }
}

static void make(torus *t) {
    const int64_t states = t->side * t->side;
    const int size = pess__ranks_all.size, rank = pess__ranks_all.rank;
    pess_error error = {0};
    int64_t *begin = NULL, *elsewhere = NULL, count = 0;
    need(pess__allocate(&begin, size + 1, sizeof *begin, "ranges", &error), &error);
    for (int r = 0; r <= size; r++) begin[r] = t->side * r / size * t->side;
    t->first = begin[rank];
    t->own = begin[rank + 1] - t->first;
    need(pess__allocate(&elsewhere, 4 * t->side + 4 * t->own, sizeof *elsewhere, "neighbours", &error), &error);
    for (int64_t s = t->first; s < t->first + t->own; s++)
        for (int d = 0; d < ACTIONS; d++) {
            const int64_t next = neighbour(t, s, d);
            if (next < t->first || next >= t->first + t->own) elsewhere[count++] = next;
        }
    need(pess__slab_create(states, begin, elsewhere, count, &t->slab, &error), &error);
    need(pess__model_create(t->slab->places, ACTIONS, t->own * ACTIONS * ACTIONS, &t->model, &error), &error);
    t->model->spread = &t->slab->spread;
    t->model->reward_hi = 1;
    for (int64_t s = 0; s < t->own; s++) fill_state(t, s);
    for (int64_t z = 0; z <= t->slab->places * ACTIONS; z++)
        t->model->row[z] = z < t->own * ACTIONS ? z * ACTIONS : t->own * ACTIONS * ACTIONS;
    for (int64_t s = t->own; s < t->slab->places; s++) t->model->terminal[s] = 1;
    free(begin);
    free(elsewhere);
}

/* ------------------------------------------------------------------------------------------------ ours */

/* Processor time of this process, busy waiting included. */
static double processor_time(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double solve_ours(const torus *t, pess_solution_info *info, double *sum, double *processor) {
    pess_error error = {0};
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = t->gamma;
    options.tolerance = t->tolerance;
    double *start = NULL;
    pess_solution *solution = NULL;
    need(pess__allocate(&start, t->slab->places, sizeof *start, "start", &error), &error);
    for (int64_t s = 0; s < t->own; s++) start[s] = 1 / (double)t->slab->spread.states;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = pess__clock(), before = processor_time();
    need(pess_solve(NULL, t->model, start, &options, &solution, &error), &error);
    const double seconds = pess__clock() - begun;
    *processor = processor_time() - before;
    pess_solution_get_info(solution, info);
    *sum = info->value;
    pess_solution_destroy(solution);
    free(start);
    return seconds;
}

/* ------------------------------------------------------------------------------------------------ shell */

typedef struct shell {
    const torus *t;
    Mat policy; /* P of the present policy */
    double *v, *tv;
    int32_t *choice;
} shell;

static PetscErrorCode multiply(Mat matrix, Vec in, Vec out) {
    shell *s = NULL;
    PetscCall(MatShellGetContext(matrix, &s));
    PetscCall(MatMult(s->policy, in, out));
    PetscCall(VecAYPX(out, -s->t->gamma, in));
    return 0;
}

/* tv = Tv, the greedy policy and sup|Tv − v|. */
static double improve(shell *s) {
    const pess_model *model = s->t->model;
    double most = 0;
    pess__slab_refresh(s->t->slab, s->v);
    for (int64_t i = 0; i < s->t->own; i++) {
        double best = -INFINITY;
        for (int64_t z = i * ACTIONS; z < (i + 1) * ACTIONS; z++) {
            double q = 0;
            for (int64_t k = model->row[z]; k < model->row[z + 1]; k++)
                q += model->probability[k] * s->v[model->next[k]];
            q = model->reward[z] + s->t->gamma * q;
            if (q > best) best = q, s->choice[i] = (int32_t)(z - i * ACTIONS);
        }
        s->tv[i] = best;
        most = fmax(most, fabs(best - s->v[i]));
    }
    return pess__ranks_most(most);
}

static PetscErrorCode make_policy(shell *s, Vec reward) {
    const torus *t = s->t;
    const PetscInt own = (PetscInt)t->own, all = (PetscInt)t->slab->spread.states;
    PetscScalar *r;
    PetscCall(MatDestroy(&s->policy));
    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, own, own, all, all, ACTIONS, NULL, ACTIONS, NULL, &s->policy));
    PetscCall(VecGetArray(reward, &r));
    for (int64_t i = 0; i < t->own; i++) {
        const int64_t z = i * ACTIONS + s->choice[i];
        PetscInt row = (PetscInt)(i + t->first), column[ACTIONS];
        for (int d = 0; d < ACTIONS; d++) {
            const int64_t place = t->model->next[z * ACTIONS + d];
            column[d] = (PetscInt)(place < t->own ? place + t->first : t->slab->copied[place - t->own]);
        }
        PetscCall(
            MatSetValues(s->policy, 1, &row, ACTIONS, column, t->model->probability + z * ACTIONS, INSERT_VALUES));
        r[i] = t->model->reward[z];
    }
    PetscCall(VecRestoreArray(reward, &r));
    PetscCall(MatAssemblyBegin(s->policy, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(s->policy, MAT_FINAL_ASSEMBLY));
    return 0;
}

static PetscErrorCode iterate(shell *s, pess_solution_info *info) {
    const torus *t = s->t;
    const PetscInt own = (PetscInt)t->own, all = (PetscInt)t->slab->spread.states;
    Mat matrix;
    Vec x, b;
    KSP ksp;
    PC pc;
    PetscCall(VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, own, all, s->v, &x));
    PetscCall(VecCreateMPI(PETSC_COMM_WORLD, own, all, &b));
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, own, own, all, all, s, &matrix));
    PetscCall(MatShellSetOperation(matrix, MATOP_MULT, (void (*)(void))multiply));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetType(ksp, KSPGMRES));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCNONE));
    PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    PetscCall(KSPSetOperators(ksp, matrix, matrix));
    for (info->iterations = 0; (info->residual = improve(s)) > t->tolerance && info->iterations < 1000;
         info->iterations++) {
        PetscCall(make_policy(s, b));
        PetscCall(KSPSetTolerances(ksp, 1e-50, fmax(1e-4 * info->residual, 0.1 * t->tolerance), 1e50, 100000));
        PetscCall(KSPSolve(ksp, b, x));
    }
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&matrix));
    PetscCall(MatDestroy(&s->policy));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    return 0;
}

static double solve_shell(const torus *t, pess_solution_info *info, double *sum, double *processor) {
    pess_error error = {0};
    shell s = {.t = t};
    need(pess__allocate(&s.v, t->slab->places, sizeof *s.v, "values", &error), &error);
    need(pess__allocate(&s.tv, t->slab->places, sizeof *s.tv, "values", &error), &error);
    need(pess__allocate(&s.choice, t->slab->places, sizeof *s.choice, "policy", &error), &error);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = pess__clock(), before = processor_time();
    if (iterate(&s, info) != 0) need(pess__petsc_failed(&error), &error);
    const double seconds = pess__clock() - begun;
    *processor = processor_time() - before;
    for (int64_t i = 0; i < t->own; i++) *sum += s.v[i] / (double)t->slab->spread.states;
    *sum = pess__ranks_sum(*sum);
    free(s.v);
    free(s.tv);
    free(s.choice);
    return seconds;
}

/* ------------------------------------------------------------------------------------------------ log */

/* Twenty transitions of every pair, 17 of them where it aims at: in the log a direction is drawn in 20 % too. */
static int write_log(const torus *t, const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL) return 1;
    (void)fputs("state,action,next_state,count,reward_sum\n", file);
    for (int64_t z = 0; z < t->own * ACTIONS; z++)
        for (int64_t k = t->model->row[z]; k < t->model->row[z + 1]; k++) {
            const int count = t->model->probability[k] > 0.5 ? 17 : 1;
            (void)fprintf(file, "%lld,%lld,%u,%d,%.17g\n", (long long)(z / ACTIONS), (long long)(z % ACTIONS),
                          t->model->next[k], count, count * t->model->reward[z]);
        }
    return fclose(file) == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    pess_error error = {0};
    need(pess_scale_begin(&argc, argv, &error), &error);
    if (argc >= 4 && strcmp(argv[1], "log") == 0) {
        torus t = {.side = atoll(argv[2])};
        if (argc == 5) shuffle(&t);
        make(&t);
        return pess_scale_end(write_log(&t, argv[3]), false);
    }
    const bool shuffled = argc == 6 && strcmp(argv[5], "shuffled") == 0;
    if (argc != 5 && !shuffled) return 2;
    torus t = {.side = atoll(argv[2]), .gamma = atof(argv[3]), .tolerance = atof(argv[4])};
    if (shuffled) shuffle(&t);
    make(&t);
    const double cut = cut_share(&t);
    pess_solution_info info = {0};
    double value = 0, processor = 0;
    const double seconds = strcmp(argv[1], "ours") == 0 ? solve_ours(&t, &info, &value, &processor)
                                                        : solve_shell(&t, &info, &value, &processor);
    struct rusage used;
    (void)getrusage(RUSAGE_SELF, &used);
    const double memory = pess__ranks_most((double)used.ru_maxrss * 1024), busiest = pess__ranks_most(processor);
    if (pess_scale_rank() == 0)
        (void)printf("{\"how\": \"%s\", \"states\": %lld, \"ranks\": %d, \"seconds\": %.4f, \"processor\": %.4f, "
                     "\"iterations\": %lld, \"residual\": %.3g, \"value\": %.10g, \"memory\": %.4g, \"cut\": %.4g}\n",
                     argv[1], (long long)(t.side * t.side), pess_scale_size(), seconds, busiest,
                     (long long)info.iterations, info.residual, value, memory, cut);
    pess_model_destroy(t.model);
    pess__slab_destroy(t.slab);
    free(t.number);
    free(t.cell);
    return pess_scale_end(0, false);
}
