/* Krylov methods for sparse systems A x = b: BiCGSTAB, and GMRES(m) where it breaks down. */
#ifndef PESS_CORE_KRYLOV_H
#define PESS_CORE_KRYLOV_H

#include "core/status.h"

typedef struct pess__krylov {
    int64_t n;
    int threads;
    /* y = A x */
    void (*apply)(const void *context, const double *x, double *y);
    /* y = M⁻¹ x for an M near A, or NULL. */
    void (*precondition)(const void *context, const double *x, double *y);
    const void *context; /* of both */
    /* Asked once per iteration; false stops where it is. NULL: never stops. */
    bool (*keep_going)(void *user);
    void *user;
    double *work;     /* [6*n], from pess__krylov_create */
    double *room;     /* [2*n] where there is a preconditioner, from pess__krylov_solve */
    double *partial;  /* sums of blocks */
    int64_t partials; /* number of blocks */
} pess__krylov;

typedef struct pess__krylov_result {
    int64_t iterations; /* of BiCGSTAB and GMRES together */
    double residual;    /* sup-norm of b − A x, computed from x */
    bool converged;     /* residual <= tolerance */
    bool stopped;       /* keep_going said so */
} pess__krylov_result;

/* Sets n, threads and the memory; the rest is the caller's. */
pess_status pess__krylov_create(int64_t n, int threads, pess__krylov *out, pess_error *error);
void pess__krylov_release(pess__krylov *krylov);

/* Improves x until sup|b − Ax| <= tolerance or it no longer can; never leaves x worse than it found it. */
pess_status pess__krylov_solve(pess__krylov *krylov, const double *b, double *x, double tolerance,
                               int64_t max_iterations, pess__krylov_result *result, pess_error *error);

/* Σ_i x_i y_i and Σ_i x_i in fixed blocks: the same bits at any number of threads. */
double pess__dot(const pess__krylov *krylov, const double *x, const double *y);
double pess__sum(int64_t n, const double *x);

#endif
