/* A log ready to solve, and what every result from it rests on. */
#ifndef PESS_MODEL_PROBLEM_H
#define PESS_MODEL_PROBLEM_H

#include "core/assumptions.h"
#include "model/counts.h"
#include "model/model.h"

/* What counts, model and start take for granted and the log cannot show. */
pess_status pess__log_assumptions(const pess_counts *counts, const pess_model *model, const double *start,
                                  pess__assumptions *to, pess_error *error);

#endif
