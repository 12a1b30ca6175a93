/* The state of an optimisation, shared by the ways to optimise (optimise.c) and the sweep over all states (improve.c).
 */
#ifndef PESS_SOLVE_OPTIMISE_H
#define PESS_SOLVE_OPTIMISE_H

#include "solve/algorithm.h"
#include "solve/evaluator.h"
#include "solve/packed.h"
#include "solve/structure.h"

typedef struct pess__sweep {
    double residual; /* sup|Tv − v| */
    double scale;    /* sup|Tv| */
    int64_t changed; /* states whose row of the policy changed */
} pess__sweep;

/* Whose chain is in solver->chain. */
typedef enum pess__filled {
    PESS__FILLED_NOT,       /* that of an earlier policy, or none */
    PESS__FILLED_PENALISED, /* that of the present one */
    PESS__FILLED_PLAIN,     /* the same, its constant without bonus and penalty */
} pess__filled;

typedef struct pess__solver {
    const pess__problem *problem;
    const pess_model *model;
    const pess__local *local;
    int64_t states, actions;
    double gamma;
    int threads;               /* for the sweeps: one where there are few states */
    bool any_uniform;          /* some row is uniform */
    double *v, *tv;            /* [S], and PESS__MORE_VALUES places that a sweep sets */
    int32_t *choice;           /* [S], where local->improve is NULL: the action, -1 in terminal states */
    double *pi;                /* [S*A], elsewhere */
    int64_t room;              /* of q: the pairs of a block of states */
    double *q, *row;           /* [room] and [A] per thread, pess__apart */
    pess__sweep *part;         /* [threads] */
    int64_t sweeps;            /* over all states so far */
    bool finishing;            /* only the last few are to come: packing would no longer pay */
    pess__packed *packed;      /* NULL: not, or not yet */
    pess__shared_rows *shared; /* NULL: rows are not shared */
    pess__evaluator *chain;
    pess__filled filled;
    bool evaluated; /* v is the value of the present policy, to the end */
    pess__structure structure;
    pess__monitor monitor;
} pess__solver;

/* Borrows problem and local; v is zero, the policy not there yet. */
pess_status pess__solver_create(const pess__problem *problem, const pess__local *local, pess__solver *solver,
                                pess_error *error);
void pess__solver_release(pess__solver *solver);

/* What a sweep does with the policy. */
typedef enum pess__switching {
    PESS__SWITCH_NEVER,  /* only Tv and the residual */
    PESS__SWITCH_GAINS,  /* where the best row gains more than `threshold` over the present one */
    PESS__SWITCH_ALWAYS, /* the maximising row, ties to the smallest action */
} pess__switching;

typedef struct pess__improving {
    pess__switching switching;
    double threshold, mean; /* mean: pess__solver_mean, of uniform rows */
} pess__improving;

/* tv = T v for v, tv of the solver; the policy is improved as told. */
pess__sweep pess__improve(pess__solver *solver, pess__switching switching, double threshold);
/* The same at one state, whose (Tv)(s) is returned; the sweep's fields are raised. One thread. */
double pess__improve_state(pess__solver *solver, const pess__improving *how, int64_t s, pess__sweep *sweep);
double pess__solver_mean(const pess__solver *solver);
/* States whose q are computed together where rows are packed. */
int64_t pess__sweep_block(int64_t actions);
/* Before a sweep: large models that are swept again and again are packed, rows that are shared found. */
void pess__solver_pack(pess__solver *solver);

/* The chain of the present policy, with or without the algorithm's bonus and penalty. */
pess_status pess__fill_chain(pess__solver *solver, bool penalised, pess_error *error);
/* v = A^π(r + bonus + γPv) − penalty(π) for the present policy. */
pess_status pess__solver_evaluate(pess__solver *solver, double tolerance, pess_error *error);
/* Asked once per outer iteration; false: stop, for the reason left in outcome, or interrupted. */
bool pess__go_on(pess__solver *solver, int64_t iterations, pess_outcome *outcome);
void pess__swap_values(pess__solver *solver);
/* Differences below this are rounding, and no residual need be smaller. */
double pess__solve_rounding(double scale);

/* Inexact policy iteration: each evaluation brings the residual down to this share of what the sweep found
 * (docs/solving.md has the reason), and sweeps carry each improvement further. */
#define PESS__FORCING 0.01
enum {
    PESS__FIRST_SWEEPS = 160, /* sweeps × actions before the first evaluation … */
    PESS__MORE_SWEEPS = 16,   /* … and between two; fewer … */
    PESS__SETTLED = 256,      /* … where the policy changes at no more than one state in so many */
    PESS__MANY_ACTIONS = 32   /* from here on an evaluation costs less than a sweep: several first policies are tried */
};

/* A sweep over all actions costs as many sweeps of an evaluation. */
static inline int pess__sweeps_for(int64_t actions, int sweeps_times_actions) {
    const int64_t count = sweeps_times_actions / actions, most = sweeps_times_actions / 4;
    return (int)(count < most ? count : most);
}

/* The greedy policy or one that takes a single action everywhere, whichever is worth more, and its value
 * (first_policy.c). */
pess_status pess__begin_with_best(pess__solver *solver, double tolerance, pess_error *error);

/* By options->method, or the one that fits: the outcome, iterations, method and reason. */
pess_status pess__iterate(pess__solver *solver, pess_solution_info *info, pess_error *error);
/* The ways to iterate (iterations.c, gauss_seidel.c); each starts from v and the policy as they are. `done` of those
 * that may give up: false where another way would do better. */
pess_status pess__policy_iteration(pess__solver *solver, bool exact, pess_solution_info *info, pess_error *error);
void pess__value_iteration(pess__solver *solver, pess_solution_info *info);
pess_status pess__modified_policy_iteration(pess__solver *solver, bool may_give_up, bool *done,
                                            pess_solution_info *info, pess_error *error);
void pess__gauss_seidel(pess__solver *solver, bool may_give_up, bool *done, pess_solution_info *info);
#endif
