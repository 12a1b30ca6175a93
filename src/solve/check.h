/* What the solvers ask of their input before they start. */
#ifndef PESS_SOLVE_CHECK_H
#define PESS_SOLVE_CHECK_H

#include "model/model.h"
#include "policy/policy.h"

/* The options as they will be used: defaults for NULL, every value in its range. */
pess_status pess__solve_settle(const pess_solve_options *options, pess_solve_options *settled, pess_error *error);
/* In pess__clock() time; infinity where there is none. */
double pess__deadline(const pess_solve_options *options);
/* The range of values. At γ = 1 refuses models in which no policy is proper (solve/proper.h); *endless is a state from
 * which some policy can go on for ever, -1 where there is none, γ < 1 or there is a horizon (else 0). `names` of
 * states, for messages, or NULL. */
pess_status pess__check_range(const pess_model *model, double gamma, int64_t horizon, const pess_names *names,
                              double *v_lo, double *v_hi, int64_t *endless, pess_error *error);
/* At γ = 1 where some policy is endless: refuses one [S*A] that is not proper. */
pess_status pess__check_proper(const pess_model *model, const double *pi, const pess_names *names, pess_error *error);
/* What rewards can differ by: 0 is one of them where episodes end. No more than values can differ by. */
double pess__reward_span(const pess_model *model, double v_lo, double v_hi);
pess_status pess__check_start(const pess_model *model, const double *start, pess_error *error);
/* A table for all steps, or, where there is a horizon (else 0), for each. */
pess_status pess__check_policy(const pess_model *model, const pess_policy *policy, int64_t horizon, pess_error *error);

#endif
