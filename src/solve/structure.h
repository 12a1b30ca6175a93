/* What kind of graph a model is, measured at the cost of a few sweeps at most: which method fits depends on it
 * (docs/solving.md). */
#ifndef PESS_SOLVE_STRUCTURE_H
#define PESS_SOLVE_STRUCTURE_H

#include "model/model.h"

typedef struct pess__structure {
    pess_structure found;
    uint32_t *order;      /* [S] the states, those that others depend on first; NULL: no use was seen in it */
    uint32_t *components; /* with component order: [found.components + 1] where each begins in `order`; else NULL */
} pess__structure;

/* Shares and bandwidth of a sample of pairs, and whether everything leads nearly everywhere; components or the
 * breadth-first order are looked for where that promises something, and gamma is large enough for it to pay. */
pess_status pess__structure_measure(const pess_model *model, double gamma, pess__structure *out, pess_error *error);
/* The order whatever it promises: by components where there are many, else breadth first. */
pess_status pess__structure_order(const pess_model *model, pess__structure *out, pess_error *error);
void pess__structure_release(pess__structure *structure);

/* Strongly connected components of the states over all actions (Tarjan 1972), each after those that it leads to. */
pess_status pess__components(const pess_model *model, pess__structure *out, pess_error *error);
/* States by their distance to an end or to a reward that is not the usual one, nearest first; found.depth is the
 * largest. States that lead to neither come last. */
pess_status pess__breadth_first(const pess_model *model, pess__structure *out, pess_error *error);

#endif
