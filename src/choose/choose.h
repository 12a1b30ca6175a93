/* Choosing an algorithm and its strength by folds of the episodes: families.c lists the candidates, folds.c the folds
 * and their counts, score.c what a held-out fold says of a policy, choose.c the decision. */
#ifndef PESS_CHOOSE_CHOOSE_H
#define PESS_CHOOSE_CHOOSE_H

#include "core/status.h"
#include "data/trajectories.h"
#include "model/counts.h"
#include "model/model.h"
#include "policy/policy.h"
#include "solve/families.h"

enum { PESS__CHOICE_REASON = 300 };

/* Residual, in units of reward, at which fits and scores of folds stop: far below what folds differ by. */
#define PESS__CHOICE_TOLERANCE 1e-6

/* ---- candidates */

/* The candidates of the families in the list, [*count], family by family, strengths ascending. `unit` is that of
 * rewards, which absorbed α is in. */
pess_status pess__candidates_create(const char *families, double unit, pess__family_member **out, int64_t *count,
                                    pess_error *error);

/* ---- folds */

/* Episodes in the order of their folds: those of fold k are first[k] … first[k+1]-1. Where the log has no episodes a
 * row is one. */
typedef struct pess__folds {
    const pess_dataset *data;
    int64_t count;               /* folds */
    pess__trajectories episodes; /* in that order */
    int64_t *first;              /* [count+1] */
    pess_counts *whole;          /* of all folds; names are the data's */
} pess__folds;

pess_status pess__folds_create(const pess_dataset *data, int64_t count, uint64_t seed, int threads, pess__folds *out,
                               pess_error *error);
void pess__folds_release(pess__folds *folds);
/* Counts of the fold alone. */
pess_status pess__folds_part(const pess__folds *folds, int64_t fold, int threads, pess_counts **out, pess_error *error);

/* ---- scores */

/* The model of a held-out fold, with two actions more. What the whole log did in the state on average: a policy takes
 * it where it takes an action that the fold does not show and another one does, which is then neither praised nor
 * blamed. The lowest value there is: for an action that no row of the log shows. */
typedef struct pess__judge {
    const pess_counts *whole, *part;
    pess_model *model; /* of actions + 2 */
    double gamma, v_lo, v_hi;
    int64_t horizon;     /* 0: none */
    const double *start; /* [S] */
} pess__judge;

/* `solve`: discount and horizon; `lowest`: a return, where values have no lower limit. */
pess_status pess__judge_create(const pess_counts *whole, const pess_counts *part, const pess_model *fitted,
                               const double *start, const pess_solve_options *solve, double lowest, pess__judge *out,
                               pess_error *error);
void pess__judge_release(pess__judge *judge);
/* E_ρ of the policy's value in it, within the range of values. */
pess_status pess__judge_score(const pess__judge *judge, const pess_policy *policy, double *score, pess_error *error);

/* Σw·G/Σw over the episodes of a fold, and Σw, Σw². NAN where all weights are 0. */
typedef struct pess__weighted {
    double mean, sum, squares;
} pess__weighted;

/* `returns` [episodes in the order of folds]. horizon: the steps that are weighed; 0: all. */
pess_status pess__weighted_score(const pess__folds *folds, int64_t fold, const pess_policy *policy, int64_t horizon,
                                 const double *returns, pess__weighted *out, pess_error *error);

/* ---- the choice */

struct pess_choice {
    pess_choice_info info;
    pess_candidate_score *scores;         /* [count] */
    char (*reasons)[PESS__CHOICE_REASON]; /* [count] behind left_out */
    int64_t count;
    pess_counts *counts;
    pess_problem *problem;
    pess_solution *solution;
    pess_solve_options solve;
};

#endif
