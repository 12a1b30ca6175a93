/* A log ready to solve, and what every result from it rests on. */
#ifndef PESS_MODEL_PROBLEM_H
#define PESS_MODEL_PROBLEM_H

#include "core/assumptions.h"
#include "model/counts.h"
#include "model/model.h"

/* What counts, model and start take for granted and the log cannot show. */
pess_status pess__log_assumptions(const pess_counts *counts, const pess_model *model, const double *start,
                                  pess__assumptions *to, pess_error *error);

/* A problem of counts, model and start distribution, which become its own, except on failure. */
pess_status pess__problem_of_parts(pess_counts *counts, pess_model *model, double *start, bool start_from_log,
                                   pess_problem **out, pess_error *error);

/* pess__counts_keep_pairs, where the counts are the problem's own. */
void pess__problem_keep_pairs(pess_problem *problem);

#endif
