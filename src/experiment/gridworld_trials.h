/* Trials of the gridworld experiments: what a trial is (cases × methods), and a block of trials computed at once. */
#ifndef PESS_EXPERIMENT_GRIDWORLD_TRIALS_H
#define PESS_EXPERIMENT_GRIDWORLD_TRIALS_H

#include "experiment/torus_solve.h"

typedef enum pess__grid_kind {
    GRID_RANDOM,
    GRID_OPTIMAL,
    GRID_IMITATION,
    GRID_NAIVE,
    GRID_UA,
    GRID_PROXIMAL,
    GRID_SOLVER /* any algorithm of pess_algorithm_list, through pess_solve */
} pess__grid_kind;

typedef struct pess__grid_method {
    pess__grid_kind kind;
    double alpha;            /* absorbed units */
    const char *algorithm;   /* GRID_SOLVER: name for pess_solve … */
    const char *uncertainty; /* … and its uncertainty, or NULL */
} pess__grid_method;

/* One dataset of a trial. */
typedef struct pess__grid_case {
    double epsilon; /* of the ε-greedy optimal policy that collects it */
    int64_t transitions;
} pess__grid_case;

/* Everything that the trials of an experiment share; only read while they run. */
typedef struct pess__grid_plan {
    uint64_t seed;
    double gamma, beta_a, beta_b;
    bool stationary; /* states from the stationary law of the collecting policy, else from ρ (uniform) */
    bool clip;       /* UA's penalised reward clipped to [0,1]; else u is capped at W */
    int64_t case_count, method_count;
    const pess__grid_case *cases;
    const pess__grid_method *methods;
    pess__torus torus;
    pess__lanes_plan *elimination;
} pess__grid_plan;

/* The caller has set all but torus and elimination. */
pess_status pess__grid_plan_prepare(pess__grid_plan *plan, int64_t rows, int64_t cols, pess_error *error);
void pess__grid_plan_release(pess__grid_plan *plan);

/* What one thread needs to compute a block. */
typedef struct pess__grid_workspace pess__grid_workspace;

enum { GRID_BLOCK = PESS__LANES }; /* trials of a block */

pess_status pess__grid_workspace_create(const pess__grid_plan *plan, pess__grid_workspace **out, pess_error *error);
void pess__grid_workspace_destroy(pess__grid_workspace *workspace);

/* Trials first … first+count-1 (count ≤ GRID_BLOCK): exact returns to out[trial][case][method]. What a trial gives
 * depends on the plan and its number alone. */
pess_status pess__grid_block(const pess__grid_plan *plan, pess__grid_workspace *workspace, int64_t first, int64_t count,
                             double *out, pess_error *error);

/* The policy [S*4] that an algorithm finds on these data, by the generic solver, in the very model that the lanes see.
 * `stream` numbers the dataset. */
pess_status pess__grid_solve(const pess__grid_plan *plan, const pess__grid_method *method,
                             const pess__torus_counts *from, const pess__torus_model *torus_model, uint64_t stream,
                             double *policy, pess_error *error);

#endif
