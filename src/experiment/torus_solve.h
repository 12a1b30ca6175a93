/* Policy iteration for many instances on one torus, a lane each (solve/lanes.h). A lane that is done takes the next
 * job, so none of them waits for the slowest. */
#ifndef PESS_EXPERIMENT_TORUS_SOLVE_H
#define PESS_EXPERIMENT_TORUS_SOLVE_H

#include "experiment/torus.h"
#include "solve/lanes.h"

/* Which local problem is solved (paper, section 5): the greedy one covers naive and uncertainty-aware, whose penalty
 * is already in the reward. */
typedef enum pess__torus_kind {
    TORUS_EVALUATE, /* `policy` is given; only its true value is wanted */
    TORUS_GREEDY,   /* max_a q */
    TORUS_PROXIMAL  /* max_π Σπq − α·TV(π, π̂) */
} pess__torus_kind;

typedef struct pess__torus_job {
    pess__torus_kind kind;
    const pess__torus_model *model; /* that the policy is optimised in; unused by TORUS_EVALUATE */
    const double *reward;           /* [S*4] its rewards, penalised */
    const double *imitation;        /* [S*4] π̂, for TORUS_PROXIMAL */
    double alpha;                   /* for TORUS_PROXIMAL */
    const double *guess;            /* [S] values to begin from, or NULL: zero */
    const pess__torus_model *truth; /* that the policy is valued in; NULL: `model` is the truth */
    double *policy;                 /* [S*4] in for TORUS_EVALUATE, else out */
    double *values;                 /* [S] out: true values of the policy, or NULL */
    double value;                   /* out: their mean, E_ρ[v] for uniform ρ */
    int64_t steps;                  /* out: systems solved */
} pess__torus_job;

/* What the lanes of one thread need. */
typedef struct pess__torus_solver {
    const pess__torus *torus;
    const pess__lanes_plan *plan;
    double gamma;
    pess__lanes lanes;
    double *values; /* [LANES*S] */
} pess__torus_solver;

pess_status pess__torus_solver_create(const pess__torus *torus, const pess__lanes_plan *plan, double gamma,
                                      pess__torus_solver *out, pess_error *error);
void pess__torus_solver_destroy(pess__torus_solver *solver);

void pess__torus_run_jobs(pess__torus_solver *solver, pess__torus_job *jobs, int64_t count);

/* Stationary laws μ [S] of up to LANES policies [S*4] in their true models. */
void pess__torus_stationary(pess__torus_solver *solver, int64_t count, const pess__torus_model *const *truth,
                            const double *const *policy, double *const *law);

/* The same two, compiled for every processor and for newer ones. */
PESS__TWICE(void, pess__torus_jobs, (pess__torus_solver * solver, pess__torus_job *jobs, int64_t count));
PESS__TWICE(void, pess__torus_laws,
            (pess__torus_solver * solver, int64_t count, const pess__torus_model *const *truth,
             const double *const *policy, double *const *law));

#endif
