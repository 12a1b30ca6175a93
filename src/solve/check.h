/* What the solvers ask of their input before they start. */
#ifndef PESS_SOLVE_CHECK_H
#define PESS_SOLVE_CHECK_H

#include "model/model.h"
#include "policy/policy.h"
#include "solve/monitor.h"

/* Settings that do not depend on the algorithm; sets the range of values. */
pess_status pess__check_options(const pess_model *model, const pess_solve_options *options, double *v_lo, double *v_hi,
                                pess_error *error);
pess_status pess__check_start(const pess_model *model, const double *start, pess_error *error);
pess_status pess__check_policy(const pess_model *model, const pess_policy *policy, pess_error *error);
pess__monitor pess__monitor_start(const pess_solve_options *options, const char *what);

#endif
