/* An uncertainty that the caller brings: u [S*A] of all pairs at once, checked, and never above W. */
#include "core/settings.h"
#include "uncertainty/uncertainty.h"

#include <math.h>

static pess_status check(const pess__u_problem *problem, double *u, pess_error *error) {
    const int64_t actions = problem->model->actions, pairs = problem->model->states * actions;
    const double width = problem->v_hi - problem->v_lo;
    for (int64_t z = 0; z < pairs; z++) {
        if (problem->model->kind[z] == PESS_ROW_NONE)
            u[z] = 0;
        else if (u[z] >= 0)
            u[z] = fmin(u[z], width);
        else
            return pess__fail(error, PESS_INPUT,
                              "the uncertainty '%s' at state %lld, action %lld: found %g, expected 0 or more",
                              problem->own->name, (long long)(z / actions), (long long)(z % actions), u[z]);
    }
    return PESS_OK;
}

static pess_status compute(const pess__u_problem *problem, const double *v, double *u, pess_error *error) {
    (void)v;
    PESS_TRY(pess__u_check_counts(problem, error));
    if (!problem->own->compute(problem->own->user, problem->counts, problem->model, u))
        return pess__fail(error, PESS_INTERRUPTED, "the uncertainty '%s' was not computed", problem->own->name);
    return check(problem, u, error);
}

pess_status pess__uncertainty_check_own(const pess_own_uncertainty *own, pess_error *error) {
    PESS_TRY(pess__check_struct("the uncertainty of the caller's own", own, sizeof *own, error));
    if (own->name != NULL && own->compute != NULL) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT, "an uncertainty of the caller's own needs a name and a function");
}

pess__uncertainty pess__uncertainty_of_caller(const pess_own_uncertainty *own) {
    return (pess__uncertainty){.info = {.name = own->name,
                                        .summary = "the caller's own",
                                        .formula = "",
                                        .holds = PESS_HOLDS_NOTHING,
                                        .holds_for = pess__holds_nothing,
                                        .per_action = true},
                               .compute = compute};
}
