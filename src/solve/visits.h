/* Where a policy goes. */
#ifndef PESS_SOLVE_VISITS_H
#define PESS_SOLVE_VISITS_H

#include "model/model.h"
#include "policy/policy.h"

/* d(s)·π(a|s) [S*A], discounted; with a horizon the sum over its steps of d_t(s)·π_t(a|s). */
pess_status pess__pair_visits(const pess_model *model, const double *start, const pess_policy *policy,
                              const pess_solve_options *options, double *visits, pess_error *error);

#endif
