#include "scale/scale.h"

#include "core/limits.h"
#include "core/threads.h"
#include "model/spread.h"
#include "scale/chain.h"
#include "scale/checkpoint.h"
#include "scale/counting.h"
#include "scale/input.h"
#include "scale/output.h"
#include "scale/reorder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static MPI_Comm at_the_end; /* for the last meeting alone */
static int said = -1;       /* what a process other than the first writes to standard error; -1: it is the first */
static int loud;            /* its real standard error */

static const pess__others others = {.read = pess__read_together,
                                    .read_policy = pess__read_policy_together,
                                    .write_values = pess__write_values_together};

int pess_scale_rank(void) { return pess__ranks_all.rank; }
int pess_scale_size(void) { return pess__ranks_all.size; }

void pess_scale_wait(void) { MPI_Barrier(pess__ranks_all.comm); }

/* ------------------------------------------------------------------------------------------------ arguments */

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static bool is_petsc_option(const char *text) {
    static const char *const families[] = {"-ksp_", "-pc_",  "-sub_",     "-mg_",     "-mat_",
                                           "-vec_", "-log_", "-options_", "-malloc_", "-on_error_"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (begins(text, families[i])) return true;
    return false;
}

/* A word that is an option's value, not another option: negative numbers are values. */
static bool is_value(const char *text) {
    return text != NULL && (text[0] != '-' || (text[1] >= '0' && text[1] <= '9') || text[1] == '.');
}

static pess_status take_petsc_option(char **argv, int *i, pess_error *error) {
    const char *value = is_value(argv[*i + 1]) ? argv[*i + 1] : NULL;
    PESS__PETSC(PetscOptionsSetValue(NULL, argv[*i], value), error);
    if (value != NULL) ++*i;
    return PESS_OK;
}

/* --checkpoint FILE, --checkpoint-every SECONDS. */
static pess_status take_checkpoint(char **argv, int *i, const char **path, double *seconds, bool *taken,
                                   pess_error *error) {
    const bool every = strcmp(argv[*i], "--checkpoint-every") == 0;
    *taken = every || strcmp(argv[*i], "--checkpoint") == 0;
    if (!*taken) return PESS_OK;
    char *end = NULL;
    const char *value = argv[*i + 1];
    if (value == NULL || value[0] == '\0')
        return pess__fail(error, PESS_ARGUMENT, "%s: expected %s behind it", argv[*i], every ? "seconds" : "a file");
    if (every) *seconds = strtod(value, &end);
    if (every && (*end != '\0' || !(*seconds >= 0)))
        return pess__fail(error, PESS_ARGUMENT, "--checkpoint-every: found '%s', expected seconds", value);
    if (!every) *path = value;
    ++*i;
    return PESS_OK;
}

/* --reorder auto|on|off */
static pess_status take_reorder(char **argv, int *i, bool *taken, pess_error *error) {
    static const char *const words[] = {"auto", "on", "off"};
    const char *value = argv[*i + 1];
    *taken = strcmp(argv[*i], "--reorder") == 0;
    for (int k = 0; *taken && k < 3; k++) {
        if (value == NULL || strcmp(value, words[k]) != 0) continue;
        pess__reorder_set((pess__reorder)k);
        ++*i;
        return PESS_OK;
    }
    if (!*taken) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT, "--reorder: found '%s', expected auto, on or off",
                      value != NULL ? value : "");
}

static pess_status take_options(int *argc, char **argv, pess_error *error) {
    const char *path = NULL;
    double seconds = 600;
    int count = 0;
    bool over = false;
    for (int i = 0; i < *argc; i++) {
        bool taken = false;
        over = over || strcmp(argv[i], "--") == 0;
        if (!over && is_petsc_option(argv[i])) {
            PESS_TRY(take_petsc_option(argv, &i, error));
            continue;
        }
        if (!over) PESS_TRY(take_checkpoint(argv, &i, &path, &seconds, &taken, error));
        if (!over && !taken) PESS_TRY(take_reorder(argv, &i, &taken, error));
        if (!taken) argv[count++] = argv[i];
    }
    argv[count] = NULL;
    *argc = count;
    pess__checkpoint_set(path, seconds);
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ beginning, end */

/* The first process speaks; what the others say is kept, in case one of them fails alone. */
static void hush(void) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    said = memfd_create("pess-mpi", MFD_CLOEXEC);
    loud = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (nowhere >= 0) (void)dup2(nowhere, STDOUT_FILENO);
    if (said >= 0) (void)dup2(said, STDERR_FILENO);
    if (nowhere >= 0) (void)close(nowhere);
}

/* The processes are the threads: neither we nor the BLAS that PETSc calls have others. */
static void work_alone(void) {
    void (*set)(int threads) = NULL;
    omp_set_num_threads(1);
    *(void **)&set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    if (set != NULL) set(1);
}

/* Without mpiexec a process is alone: Open MPI then needs no daemon beside it, nor anything that would start one. */
static pess_status start_petsc(pess_error *error) {
    (void)setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    PESS__PETSC(PetscOptionsSetValue(NULL, "-no_signal_handler", NULL), error);
    PESS__PETSC(PetscInitialize(NULL, NULL, NULL, NULL), error);
    PESS__PETSC(PetscPushErrorHandler(pess__petsc_keep_message, NULL), error);
    return PESS_OK;
}

pess_status pess_scale_begin(int *argc, char **argv, pess_error *error) {
    if (getenv("OMP_NUM_THREADS") == NULL) work_alone();
    const pess_status taken = take_options(argc, argv, error); /* PETSc reads some of its options as it starts */
    PESS_TRY(start_petsc(error));
    pess__ranks_all.comm = PETSC_COMM_WORLD;
    MPI_Comm_rank(PETSC_COMM_WORLD, &pess__ranks_all.rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &pess__ranks_all.size);
    MPI_Comm_dup(PETSC_COMM_WORLD, &at_the_end);
    if (pess__ranks_all.rank > 0) hush();
    PESS_TRY(taken);
    PESS_TRY(pess__petsc_check_options(error));
    pess__with_others = &others;
    return PESS_OK;
}

/* Waits a moment for all to arrive. */
static bool all_arrive(double seconds) {
    MPI_Request meeting;
    int done = 0;
    const double until = pess__clock() + seconds;
    MPI_Ibarrier(at_the_end, &meeting);
    while (!done && pess__clock() < until) {
        MPI_Test(&meeting, &done, MPI_STATUS_IGNORE);
        if (!done) (void)usleep(2000);
    }
    return done;
}

/* What this process had to say, to the real standard error. */
static void speak(void) {
    char text[2000];
    (void)fflush(stderr);
    if (said < 0) return;
    const ssize_t length = pread(said, text, sizeof text - 1, 0);
    if (length <= 0) return;
    text[length] = '\0';
    char whole[2100];
    const int size = snprintf(whole, sizeof whole, "rank %d: %s", pess__ranks_all.rank, text);
    if (size > 0) (void)!write(loud, whole, strlen(whole));
}

int pess_scale_end(int code, bool failed) {
    enum { PATIENCE = 3 };
    (void)fflush(stdout);
    if (failed && !all_arrive(PATIENCE)) {
        speak();
        MPI_Abort(PETSC_COMM_WORLD, code);
    }
    if (!failed) (void)all_arrive(INFINITY);
    MPI_Comm_free(&at_the_end);
    (void)PetscFinalize();
    return code;
}

/* ------------------------------------------------------------------------------------------------ counting */

pess_status pess_scale_count(const char *const *patterns, int64_t count, const pess_read_options *options,
                             const char *target, pess_error *error) {
    pess__share share;
    PESS_TRY(pess__count_together(patterns, count, false, options, &share, error));
    pess_status status = pess__check_sizes("the log", share.states, share.actions, error);
    if (status == PESS_OK) status = pess__share_write(&share, target, error);
    pess__share_free(&share);
    return status;
}
