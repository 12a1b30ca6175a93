#include "experiment/torus_solve.h"

#include "core/memory.h"

#include <stdlib.h>

pess_status pess__torus_solver_create(const pess__torus *torus, const pess__lanes_plan *plan, double gamma,
                                      pess__torus_solver *out, pess_error *error) {
    *out = (pess__torus_solver){.torus = torus, .plan = plan, .gamma = gamma};
    PESS_TRY(
        pess__allocate(&out->values, PESS__LANES * torus->states, sizeof *out->values, "the values of a batch", error));
    const pess_status status = pess__lanes_create(plan, &out->lanes, error);
    if (status != PESS_OK) pess__torus_solver_destroy(out);
    return status;
}

void pess__torus_solver_destroy(pess__torus_solver *solver) {
    pess__lanes_destroy(&solver->lanes);
    free(solver->values);
    solver->values = NULL;
}

void pess__torus_run_jobs(pess__torus_solver *solver, pess__torus_job *jobs, int64_t count) {
    PESS__CHOOSE(pess__torus_jobs)(solver, jobs, count);
}

void pess__torus_stationary(pess__torus_solver *solver, int64_t count, const pess__torus_model *const *truth,
                            const double *const *policy, double *const *law) {
    PESS__CHOOSE(pess__torus_laws)(solver, count, truth, policy, law);
}
