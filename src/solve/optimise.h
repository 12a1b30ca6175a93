/* The state of an optimisation, shared by the ways to optimise (optimise.c) and the sweep over all states (improve.c).
 */
#ifndef PESS_SOLVE_OPTIMISE_H
#define PESS_SOLVE_OPTIMISE_H

#include "solve/algorithm.h"
#include "solve/evaluator.h"

typedef struct pess__sweep {
    double residual; /* sup|Tv − v| */
    double scale;    /* sup|Tv| */
    int64_t changed; /* states whose row of the policy changed */
} pess__sweep;

typedef struct pess__engine {
    const pess__problem *problem;
    const pess_model *model;
    const pess__local *local;
    int64_t states, actions;
    double gamma;
    int threads;       /* for the sweeps: one where there are few states */
    bool any_uniform;  /* some row is uniform */
    double *v, *tv;    /* [S] */
    int32_t *choice;   /* [S], where local->improve is NULL: the action, -1 in terminal states */
    double *pi;        /* [S*A], elsewhere */
    double *q, *row;   /* [A] each per thread, pess__apart */
    pess__sweep *part; /* [threads] */
    pess__evaluator *chain;
    bool evaluated; /* v is the value of the present policy, to the end */
    pess__monitor monitor;
} pess__engine;

/* What a sweep does with the policy. */
typedef enum pess__switching {
    PESS__SWITCH_NEVER,  /* only Tv and the residual */
    PESS__SWITCH_GAINS,  /* where the best row gains more than `threshold` over the present one */
    PESS__SWITCH_ALWAYS, /* the maximising row, ties to the smallest action */
} pess__switching;

/* tv = T v for v, tv of the engine; the policy is improved as told. */
pess__sweep pess__improve(pess__engine *engine, pess__switching switching, double threshold);
#endif
