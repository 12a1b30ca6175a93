/* Fixed points whose penalty depends on the values: v(s) = max_a q(s,a;v), or Σ_a π(a|s)·q(s,a;v) for a given policy,
 * where q(s,a;·) is not affine (worst cases over sets, variances). Newton's method guarded by the residual: freeze the
 * policy and the affine piece of every q at v, solve that linear system, and keep the answer if it brings the residual
 * down by at least the discount; if not, take a plain sweep. Policy iteration against an adversary can cycle; this
 * cannot, and where q is a γ-contraction it always arrives. */
#ifndef PESS_SOLVE_FIXED_POINT_H
#define PESS_SOLVE_FIXED_POINT_H

#include "solve/algorithm.h"
#include "solve/monitor.h"

typedef struct pess__operator {
    void *context;
    bool floored; /* a lower bound: no value is below V_lo, and sweeps begin there. Each sweep is then a bound, also at
                     γ = 1: v ≤ v^π implies max(V_lo, Tv) ≤ v^π */
    bool contraction; /* false: sweeps are damped when they lead away, and it gives up when nothing gets better */
    /* Once per sweep, before the pairs; NULL: nothing to do. */
    pess_status (*prepare)(void *context, const double *v, pess_error *error);
    /* q(s,a;v), given the naive r + γPv of the pair. Where `frozen` is not NULL its row of the pair is made the affine
     * piece at v. Called from many threads, at most problem->threads, each with its own number. */
    double (*pair)(const void *context, int thread, int64_t pair, double naive, const double *v, pess_model *frozen);
} pess__operator;

/* What is done with the frozen system, by options->method. A policy that is given leaves no choice. */
typedef struct pess__frozen_way {
    const char *name;
    bool never;     /* value iteration: nothing is frozen, sweeps alone */
    double forcing; /* solved to this share of the residual */
    int64_t sweeps; /* 0: by a linear solver; otherwise by so many sweeps at most */
} pess__frozen_way;

pess__frozen_way pess__frozen_way_of(const pess__problem *problem, bool optimise);
/* Refuses what no worst case can be found by. */
pess_status pess__frozen_way_check(const pess__problem *problem, pess_error *error);

/* The linear system of the frozen policy, v = c + Gv, wherever its rows are: in one process (fixed_point.c), or in the
 * ranks of src/scale. What several processes call, all of them call. */
typedef struct pess__frozen_kind {
    /* Of the rows of `frozen` as they are when it is filled in. */
    pess_status (*create)(const pess__problem *problem, const pess_model *frozen, pess__monitor *monitor, void **out,
                          pess_error *error);
    void (*destroy)(void *system);
    pess_status (*fill)(void *system, const double *choice, pess_error *error); /* choice [S*A]: π */
    double (*apply)(void *system, const double *v, double *out);                /* out = c + Gv; sup|out − v| */
    pess_status (*solve)(void *system, double tolerance, double *v, pess_error *error); /* from the guess in v */
    const char *(*name)(const void *system);                                            /* valid for ever */
    bool (*go_on)(void *monitor); /* pess__monitor_check, of all processes */
    /* Values on disk, NULL where none are kept: those of an earlier run to v, v to them, and none are needed. */
    pess_status (*take)(const pess_model *model, double *v, pess_error *error);
    pess_status (*keep)(const pess_model *model, const double *v, pess_error *error);
    void (*done)(void);
} pess__frozen_kind;

/* A copy of the model whose every sparse row has one more entry, of probability 0, at its end. */
pess_status pess__frozen_create(const pess_model *model, pess_model **out, pess_error *error);

/* Fills what pess__algorithm.solve must (the policy is greedy in q). */
pess_status pess__fixed_point_optimise(const pess__problem *problem, const pess__operator *operator_,
                                       pess_solution *solution, pess_error *error);
/* The same for solution->policy, which is given. */
pess_status pess__fixed_point_evaluate(const pess__problem *problem, const pess__operator *operator_,
                                       pess_solution *solution, pess_error *error);

/* `policy`, of zeros, becomes the solution's: greedy in q [S*A] in the first `states`; ties within 1e-8 go to the
 * smallest action. */
void pess__keep_greedy(const pess_model *model, int64_t states, const double *q, pess_policy *policy,
                       pess_solution *solution);

/* The problem as the bounds see it. */
pess__u_problem pess__u_problem_of(const pess__problem *problem);

#endif
