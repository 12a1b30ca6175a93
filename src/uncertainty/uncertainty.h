/* Bellman uncertainty u(s,a): one file per bound, one row in the table of uncertainty.c. */
#ifndef PESS_UNCERTAINTY_UNCERTAINTY_H
#define PESS_UNCERTAINTY_UNCERTAINTY_H

#include "core/status.h"
#include "model/counts.h"
#include "model/model.h"

/* What every bound may look at; borrowed. */
typedef struct pess__u_problem {
    const pess_counts *counts;
    const pess_model *model;
    double gamma, delta;
    double v_lo, v_hi;      /* range of values; W = v_hi - v_lo */
    bool absorbed;          /* constants dropped */
    bool trajectories;      /* n is random and adaptive: pay for every n ≤ N at once */
    int64_t max_successors; /* m */
    double local_policies;  /* |Π_local| for the state-wise bound; 0: the |A| deterministic policies */
    int threads;
} pess__u_problem;

typedef struct pess__uncertainty {
    pess_uncertainty_info info;
    /* per_action bounds: u [S*A]. `v` [S] is the current value where depends_on_values, else ignored (may be NULL). */
    pess_status (*compute)(const pess__u_problem *problem, const double *v, double *u, pess_error *error);
    /* state-wise bounds only: the factor c(s) [S] and the per-pair weights w(s,a) [S*A] of
     * u(s,π) = min(c·√(Σ_a π(a|s)²·w(s,a)), W) */
    pess_status (*statewise)(const pess__u_problem *problem, double *c, double *w, pess_error *error);
} pess__uncertainty;

const pess__uncertainty *pess__uncertainty_find(const char *name);

#endif
