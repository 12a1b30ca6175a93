/* Certificates from counts alone, without the rows: sets say what they say of rows. Nothing can be split, so no part of
 * the log tests a policy, and the logging policy is bounded by sets as well. */
#include "certify/certificate.h"

#include "core/memory.h"
#include "model/assumptions.h"

#include <stdlib.h>

pess_status pess__counts_alone_check(const pess__certification *job, pess_error *error) {
    const pess_certify_options *options = job->options;
    if (options->method == PESS_CERTIFY_SPLIT || options->method == PESS_CERTIFY_EPISODES)
        return pess__fail_with_remedy(
            error,
            pess__fail(error, PESS_INPUT,
                       "the log is counted: %s need its rows, which are not in counts; give the log that was counted, "
                       "or take the method that needs only counts",
                       options->method == PESS_CERTIFY_SPLIT ? "splits" : "whole episodes"),
            "method", "robust");
    if (options->behaviour || options->behaviour_estimated)
        return pess__fail(error, PESS_INPUT,
                          "the policy that made the log weighs whole episodes, which are not in counts: give the log "
                          "that was counted, or leave that policy out");
    if (options->fresh)
        return pess__fail(error, PESS_INPUT,
                          "a policy made without the log is tested by a part of its rows, which are not in counts: "
                          "give the log that was counted, or do not declare it");
    if (job->counts->repeated > 0)
        return pess__fail(error, PESS_INPUT,
                          "at least %lld rows of the log repeat a step of their episode, so the counts have outcomes "
                          "twice, and no bound holds for them",
                          (long long)job->counts->repeated);
    return PESS_OK;
}

pess_status pess__counts_alone_assume(const pess__certification *job, pess_error *error) {
    pess__assumptions *to = &job->certificate->assumptions;
    PESS_TRY(pess__assume(to, "counts-alone",
                          "The log was given as counts, without its rows. So only sets bound the policies: no part of "
                          "the log tests one, and whole episodes are not weighed. The log itself allows all of that.",
                          NULL, error));
    PESS_TRY(pess__assume(to, "counts-unchecked",
                          "No transition was counted twice, and which ones are missing does not depend on their "
                          "outcomes. Counts cannot show it.",
                          NULL, error));
    return pess__assume_returns_unchecked(to, job->model, error);
}

/* Its best case over the sets, from the worst starts that the log allows. */
static pess_status bound_logging(pess__certification *job, const pess__shares *shares, const pess__robust *robust,
                                 pess_error *error) {
    const int64_t states = job->counts->states;
    double *v = NULL;
    pess__start_mass *scratch = NULL;
    pess__sweeps sweeps = {0};
    pess_status status = pess__allocate(&v, states, sizeof *v, "values", error);
    if (status == PESS_OK) status = pess__allocate(&scratch, states, sizeof *scratch, "starts", error);
    if (status == PESS_OK) status = pess__robust_value(robust, -1, NULL, v, NULL, &sweeps, error);
    if (status == PESS_OK) {
        for (int64_t s = 0; s < states; s++) v[s] = -v[s];
        const double upper =
            -pess__worst_start(job->model, job->start, v, pess__start_radius(job, shares->log_start), scratch);
        job->certificate->info.behaviour_upper_bound = fmin(upper, job->v_hi);
        pess__sweeps_note(&job->sweeps, sweeps.residual, sweeps.capped);
    }
    free(v);
    free(scratch);
    return status;
}

pess_status pess__counts_alone_logging(pess__certification *job, const pess__shares *shares, pess_error *error) {
    pess_counts *all_actions = NULL;
    pess_model *model = NULL;
    pess__robust *robust = NULL;
    pess_status status = pess__counts_of_states(job->counts, &all_actions, error);
    if (status == PESS_OK) status = pess__logging_sets(job, shares, all_actions, NULL, NULL, &model, &robust, error);
    if (status == PESS_OK) status = bound_logging(job, shares, robust, error);
    pess__robust_destroy(robust);
    pess_model_destroy(model);
    pess_counts_destroy(all_actions);
    return status;
}
