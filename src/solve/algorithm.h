/* Algorithms: fixed points of evaluation v = A^π(r + γPv) − penalty(π), and how each is optimised (paper, sections 4
 * and 5). One file per algorithm, one row in the table of algorithms.c. */
#ifndef PESS_SOLVE_ALGORITHM_H
#define PESS_SOLVE_ALGORITHM_H

#include "core/assumptions.h"
#include "core/status.h"
#include "model/counts.h"
#include "model/model.h"
#include "policy/policy.h"
#include "uncertainty/uncertainty.h"

/* What an algorithm is given; borrowed, checked beforehand. counts is NULL for exact models. */
typedef struct pess__problem {
    const pess_counts *counts;
    const pess_model *model;
    const double *start; /* [S] */
    const pess_solve_options *options;
    const pess__uncertainty *uncertainty; /* NULL where the algorithm takes none */
    pess__uncertainty own;                /* what `uncertainty` points to where the caller brought one */
    double alpha;                         /* strength of the pessimism; NAN where the algorithm takes none */
    bool absorbed;                        /* it is in absorbed units */
    bool trajectories;                    /* counts are adaptive: the log has episodes, and is not declared i.i.d. */
    double v_lo, v_hi;
    double unit; /* of absorbed α and of the range of values beside it: the span of the rewards; 1 for theory's units */
    int64_t endless; /* γ = 1: a state from which some policy can go on for ever; -1: there is none */
    int threads;     /* resolved, >= 1 */
    double deadline; /* pess__clock() time, or infinity */
} pess__problem;

struct pess_solution {
    pess_solution_info info;
    pess_policy *policy;
    double *values, *naive_values; /* [S] */
    double *uncertainty;           /* [S*A] or NULL */
    pess__assumptions assumptions;
};

typedef struct pess__algorithm {
    pess_algorithm_info info;
    bool works_without_counts; /* fits exact models, where problem->counts is NULL */
    bool pairs_alone;          /* of the counts it reads n(s,a) and n(s) alone, as far as its uncertainty does */
    const char *own_way;       /* why it has no choice of method; NULL: it has */
    bool spreads;              /* nothing but the solvers below looks at several states: processes can share it */
    /* Fill policy, values, uncertainty (where there is one) and of info: outcome, iterations, residual, method,
     * evaluation. The caller adds the rest; naive_values too, where they are left NULL (the solver below sets them). */
    pess_status (*solve)(const pess__problem *problem, pess_solution *solution, pess_error *error);
    /* The algorithm's value of solution->policy, which is given; same fields. */
    pess_status (*evaluate)(const pess__problem *problem, pess_solution *solution, pess_error *error);
} pess__algorithm;

const pess__algorithm *pess__algorithm_find(const char *name);

/* The solver shared by all algorithms whose penalty at a state depends on π(·|s) alone:
 *   (Tv)(s) = max_π  Σ_a π(a)·q(s,a) − penalty_s(π),   q(s,a) = r(s,a) + γ(Pv)(s,a) + bonus(s,a).
 * An algorithm describes its local problem; policy, value and modified policy iteration are generic. */
typedef struct pess__local {
    const double *bonus; /* [S*A] added to q, or NULL */
    const void *context;
    /* Writes the maximising π(·|s) for q [A] and returns the maximum. Pairs of kind ROW_NONE have q = -infinity and
     * must get 0. NULL: greedy (ties within 1e-8 go to the smallest action). Called from many threads. */
    double (*improve)(const void *context, int64_t state, const double *q, double *pi);
    double (*penalty)(const void *context, int64_t state, const double *pi); /* NULL: none */
} pess__local;

/* max_π of the local problem at every state, to a fixed point, by options->method. Fills what pess__algorithm.solve
 * must.
 */
pess_status pess__optimise(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                           pess_error *error);
/* v = A^π(r + bonus + γPv) − penalty(π) for solution->policy, by options->evaluation. */
pess_status pess__evaluate_local(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                                 pess_error *error);
/* The same of a policy that pays no penalty. */
pess_status pess__evaluate_plain(const pess__problem *problem, pess_solution *solution, pess_error *error);
/* u [S*A] becomes the solution's, or is freed where `status` is not PESS_OK; returns `status`. */
pess_status pess__keep_uncertainty(pess_solution *solution, double *u, pess_status status);
/* n_∧ as it is given, or `otherwise`. */
double pess__min_count(const pess__problem *problem, double otherwise);
/* For what is not policy iteration: refuses γ = 1 where some policy can go on for ever. */
pess_status pess__need_ends(const pess__problem *problem, const char *whom, pess_error *error);
/* Refuses a pair that was never seen where values have no limit, so that its penalty has none. */
pess_status pess__unseen_without_limit(const pess__problem *problem, int64_t pair, pess_error *error);
/* q [S*A] = r + γPv (+ bonus); -infinity where there is no such action. */
void pess__q_values(const pess__problem *problem, const double *bonus, const double *v, double *q);
/* Smallest action within 1e-8 of the largest q. */
int64_t pess__greedy_action(const double *q, int64_t actions);

/* Settings that pess__optimise reads (pess_algorithm_info.settings). */
#define PESS__READS_METHOD "method max-iterations"

#define PESS__TIE 1e-8

#endif
