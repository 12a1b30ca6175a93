/* Solvers for models that ranks hold together: what src/solve hands over (model/spread.h). Policy iteration as in
 * solve/optimise.c, and the linear systems of solve/fixed_point.c; they are PETSc's. */
#ifndef PESS_SCALE_ENGINE_H
#define PESS_SCALE_ENGINE_H

#include "model/spread.h"
#include "solve/algorithm.h"
#include "solve/fixed_point.h"

/* Pairs of a rank from which their rows are packed (solve/packed.h). Tests lower it. */
extern int64_t pess__scale_packed_from;

pess_status pess__scale_optimise(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                                 pess_error *error);
pess_status pess__scale_evaluate(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                                 pess_error *error);
extern const pess__frozen_kind pess__scale_frozen;
pess_status pess__scale_visits(const pess_model *model, const double *start, const pess_policy *policy,
                               const pess_solve_options *options, double *out, pess_error *error);
pess_status pess__scale_policy(const pess__spread *spread, int64_t actions, pess_policy **out, pess_error *error);
pess_status pess__scale_thinnest(const pess_counts *counts, pess_thin_place *list, int64_t room, int64_t *count,
                                 pess_error *error);

#endif
