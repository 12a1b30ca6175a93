/* Bounds from sets of processes that hold for all policies at once: of a policy, and of the best possible one. */
#include "certify/certificate.h"

#include "core/memory.h"
#include "model/spread.h"

#include <math.h>
#include <stdlib.h>

/* |ρ − ρ̂|₁ <= √(2(ln(K(K+1)/δ) + S·ln 2)/K) for K starts (Weissman et al. 2003); for all values at once. */
double pess__start_radius(const pess__certification *job, double delta) {
    if (!job->start_estimated) return 0;
    const double starts = (double)job->counts->episodes, states = (double)pess__all_states(job->model);
    return fmin(2, sqrt(2 * (pess__log_starts(starts, delta) + states * log(2)) / starts));
}

void pess__set_bounds_release(pess__set_bounds *sets) {
    pess__robust_destroy(sets->robust);
    pess_policy_destroy(sets->policy);
}

pess_status pess__certify_robust(const pess__certification *job, const pess_counts *counts, const pess_model *model,
                                 const pess_counts *first, const pess_counts *second, pess__robust_delta delta,
                                 pess__robust **out, pess_error *error) {
    /* a state has the successors of all its pairs */
    const int64_t pairs = job->counts->actions / counts->actions;
    const pess__u_problem problem = {.counts = counts,
                                     .model = model,
                                     .gamma = job->options->gamma,
                                     .delta = job->options->delta,
                                     .v_lo = job->v_lo,
                                     .v_hi = job->v_hi,
                                     .trajectories = job->trajectories,
                                     .max_successors = pess__most_successors(job, pairs),
                                     .threads = job->threads};
    PESS_TRY(pess__agree_of_all(
        model->spread, pess__robust_create(&problem, job->uncertainty, first, second, delta, out, error), error));
    (*out)->steps = job->steps.each > 0 ? &job->steps : NULL;
    (*out)->monitor = job->monitor;
    return PESS_OK;
}

static pess_status bound_with(const pess__certification *job, double start_delta, pess__set_bounds *out, double *v,
                              int32_t *found, pess__start_mass *scratch, pess_error *error) {
    const int64_t states = job->counts->states;
    const double radius = pess__start_radius(job, start_delta);
    PESS_TRY(pess__robust_value(out->robust, 1, job->options->policy, v, found, &out->sweeps, error));
    if (!job->options->policy) PESS_TRY(pess__policy_of_actions(job->model, found, &out->policy, error));
    /* Without discount the values that led to a policy may be above its own: one that never ends keeps them up. */
    if (out->policy && job->options->gamma == 1)
        PESS_TRY(pess__robust_value(out->robust, 1, out->policy, v, NULL, &out->sweeps, error));
    out->lower = pess__worst_start(job->model, job->start, v, radius, scratch);
    PESS_TRY(pess__robust_value(out->robust, -1, NULL, v, NULL, &out->sweeps, error));
    for (int64_t s = 0; s < states; s++) v[s] = -v[s];
    out->upper = -pess__worst_start(job->model, job->start, v, radius, scratch);
    return PESS_OK;
}

pess_status pess__bound_by_sets(const pess__certification *job, const pess__shares *shares, pess__set_bounds *out,
                                pess_error *error) {
    const pess__robust_delta delta = {shares->transitions, shares->learned, shares->rewards_low, shares->rewards_high};
    const pess__split *split = job->split;
    const int64_t states = job->counts->states;
    double *v = NULL;
    int32_t *found = NULL;
    pess__start_mass *scratch = NULL;
    pess_status status = pess__certify_robust(job, job->counts, job->model, split ? split->first : NULL,
                                              split ? split->second : NULL, delta, &out->robust, error);
    if (status == PESS_OK) status = pess__allocate(&v, states, sizeof *v, "values", error);
    if (status == PESS_OK) status = pess__allocate(&found, states, sizeof *found, "actions", error);
    if (status == PESS_OK) status = pess__allocate(&scratch, states, sizeof *scratch, "starts", error);
    if (status == PESS_OK) status = bound_with(job, shares->start_sets, out, v, found, scratch, error);
    free(v);
    free(found);
    free(scratch);
    return status;
}
