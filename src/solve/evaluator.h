/* The Markov chain of a policy in a model, and its two linear systems:
 *   v = c + G v     evaluation,   G = γ A^π P  [S,S]
 *   d = ρ + Gᵀ d    discounted visitation
 * G is kept as sparse rows plus the rank-one part of the uniform rows: G = sparse + w·1ᵀ/S. */
#ifndef PESS_SOLVE_EVALUATOR_H
#define PESS_SOLVE_EVALUATOR_H

#include "core/ilu.h"
#include "core/krylov.h"
#include "model/model.h"
#include "solve/monitor.h"

typedef struct pess__evaluator {
    const pess_model *model;
    int64_t states, actions;
    double gamma, v_lo;
    int threads;
    pess_evaluation evaluation; /* LU or KRYLOV, resolved */

    int64_t *row;     /* [S+1] */
    uint32_t *next;   /* entries of one state's row may repeat a next state */
    double *weight;   /* γ·π·p */
    double *uniform;  /* [S] w: γ times the probability of taking a uniform row */
    bool any_uniform; /* the model has uniform rows */
    int64_t room;     /* of next and weight */
    double *constant; /* [S] c */

    double *matrix; /* LU: [S*stride] */
    int64_t stride;
    double *scratch;     /* [S] */
    double *most;        /* [threads] */
    pess__krylov krylov; /* its vectors are taken when they are first needed: pess__evaluator_krylov */
    int krylov_threads;
    pess__ilu ilu;          /* of the chain last solved with it; n is 0 before the first */
    bool factored;          /* that is the chain that is here; whoever fills it in says so */
    int64_t moved;          /* rows that changed since its order was found; -1: nobody counts them */
    double *ordered;        /* [3*S] with it: constant, values and weights of the uniform part, by place */
    bool searched;          /* whether it … */
    bool branches_out;      /* … leads anywhere at once: then it is solved by turns, without factors */
    double *inverse;        /* [S] with that: 1/(1 − G(s,s)) */
    double *block;          /* with that: sums of blocks of states */
    double lost;            /* with that: what turns take away from 1 in all states, summed */
    double *turned;         /* [S] with that: ones, then, for BiCGSTAB, the constant after turns */
    bool mixes_slowly;      /* sweeps were tried and did not get there */
    pess__monitor *monitor; /* NULL: none */
} pess__evaluator;

typedef struct pess__evaluator_result {
    int64_t iterations; /* 0: direct */
    double residual;    /* sup|c + Gv − v|; NAN where it was not computed (LU) */
} pess__evaluator_result;

pess_status pess__evaluator_create(const pess_model *model, double gamma, double v_lo, pess_evaluation evaluation,
                                   int threads, pess__monitor *monitor, pess__evaluator **out, pess_error *error);
void pess__evaluator_destroy(pess__evaluator *chain);

/* The solver's vectors, where they are not there yet; its context is the chain. */
pess_status pess__evaluator_krylov(pess__evaluator *chain, pess_error *error);
/* v = c + Gv by the linear solver that suits the chain (linear.c), as far as it gets. */
pess_status pess__evaluator_by_krylov(pess__evaluator *chain, double tolerance, double *v, pess__krylov_result *result,
                                      pess_error *error);

/* The same by Gauss–Seidel in turns, for chains that lead anywhere (turns.c). */
pess_status pess__evaluator_by_turns(pess__evaluator *chain, double tolerance, double *v, pess__krylov_result *result,
                                     pess_error *error);

/* The mean of v, where some row needs it. */
static inline double pess__evaluator_mean(const pess__evaluator *chain, const double *v) {
    return chain->any_uniform ? pess__sum(chain->states, v) / (double)chain->states : 0.0;
}

/* The chain of the deterministic policy `choice` [S] (-1 in terminal states), or of π [S*A]. bonus [S*A] or NULL. */
pess_status pess__evaluator_fill_choice(pess__evaluator *chain, const int32_t *choice, const double *bonus,
                                        pess_error *error);
pess_status pess__evaluator_fill_policy(pess__evaluator *chain, const double *pi, const double *bonus,
                                        pess_error *error);

/* v = c + G v. On entry v is a guess (Krylov starts there). Krylov stops at `tolerance`, in sup-norm of the residual,
 * or near the limit of rounding; LU always solves to rounding. PESS_INTERRUPTED where the monitor was told to stop; at
 * a passed deadline v is as good as it got. */
pess_status pess__evaluator_evaluate(pess__evaluator *chain, double tolerance, double *v,
                                     pess__evaluator_result *result, pess_error *error);
/* The same matrix as the last evaluation, another constant: cheap after LU. */
pess_status pess__evaluator_again(pess__evaluator *chain, const double *constant, double tolerance, double *v,
                                  pess__evaluator_result *result, pess_error *error);
pess_status pess__evaluator_visitation(pess__evaluator *chain, const double *start, double tolerance, double *d,
                                       pess_error *error);
/* LU only: fills and factors I − G. */
void pess__evaluator_factor(pess__evaluator *chain);
/* out = c + G v; returns sup|out − v|. */
double pess__evaluator_apply(const pess__evaluator *chain, const double *v, double *out);

/* Σ(I − G)1, and v + α·1 with Σ(Gv + c − v) = α·Σ(I − G)1, Gv + c − v being nearly v − `before`, the values of one
 * sweep earlier. Terminal states stay. */
double pess__evaluator_lost(const pess__evaluator *chain);
void pess__evaluator_shift(const pess__evaluator *chain, double lost, const double *before, double *v);

/* States up to which a whole solve by LU costs less than one by Krylov (gridworlds: 100 even, 144 Krylov ahead). */
#define PESS__LU_STATES 128

#endif
