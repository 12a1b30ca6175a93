/* Problems of H decisions: backward induction, v_t = max_π A^π(r + γP v_{t+1}) − penalty(π) from v_H = 0. The best
 * action depends on how many steps are left, so the policy has a table for each step. The process does not: counts of
 * all steps are pooled. */
#ifndef PESS_SOLVE_HORIZON_H
#define PESS_SOLVE_HORIZON_H

#include "solve/algorithm.h"

/* As pess__optimise and pess__evaluate_local, for options->horizon steps. The policy that is given may have one table
 * for all steps. */
pess_status pess__horizon_optimise(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                                   pess_error *error);
pess_status pess__horizon_evaluate(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                                   pess_error *error);
/* For what is no backward induction: refuses a horizon. */
pess_status pess__no_horizon(const pess__problem *problem, const char *whom, pess_error *error);
/* d(s,a) = Σ_{t<H} γ^t P(s_t = s, a_t = a) [S*A]. */
pess_status pess__horizon_visits(const pess_model *model, const double *start, const pess_policy *policy, double gamma,
                                 int64_t horizon, double *visits, pess_error *error);

#endif
