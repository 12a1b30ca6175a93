/* Worst cases over an ambiguity set, as the operators of `ua` and `robust` use them. */
#ifndef PESS_SOLVE_ADVERSARY_H
#define PESS_SOLVE_ADVERSARY_H

#include "solve/fixed_point.h"
#include "uncertainty/sets.h"

typedef struct pess__adversary {
    const pess__problem *problem;
    pess__set *set;
    pess__set_scratch *scratch; /* one per thread */
    pess__extremes extremes;    /* of the values of the present sweep */
} pess__adversary;

/* The sets of problem->uncertainty, every width and radius times `scale`. */
pess_status pess__adversary_create(const pess__problem *problem, double scale, pess__adversary *out, pess_error *error);
void pess__adversary_destroy(pess__adversary *adversary);
/* pess__operator.prepare for a context that begins with a pess__adversary. */
pess_status pess__adversary_prepare(void *context, const double *v, pess_error *error);
/* min P·v over the pair's set. Where `frozen` is not NULL its row becomes (1−weight)·P_D + weight·(the worst P). */
double pess__adversary_worst(const pess__adversary *adversary, int thread, int64_t pair, const double *v, double weight,
                             double *centre, pess_model *frozen);

#endif
