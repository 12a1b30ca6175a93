/* What the second part of the log says about one policy: about the one that the first part chose, and about the one
 * that made the log. */
#include "certify/certificate.h"
#include "certify/episode_returns.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

pess__holdout_setup pess__test_setup(const pess__certification *job, bool logging, const pess__shares *shares) {
    const pess__split *split = job->split;
    return (pess__holdout_setup){.first = logging ? split->first_states : split->first,
                                 .second = logging ? split->second_states : split->second,
                                 .start = job->start_estimated ? job->start_second : job->start,
                                 .start_first = job->start_estimated ? job->start_first : job->start,
                                 .terminal = job->model->terminal,
                                 .ratio = split->ratio,
                                 .gamma = job->options->gamma,
                                 .reward_lo = job->model->reward_lo,
                                 .reward_hi = job->model->reward_hi,
                                 .v_lo = job->v_lo,
                                 .v_hi = job->v_hi,
                                 .start_estimated = job->start_estimated,
                                 .ends = job->model->has_terminals,
                                 .trajectories = job->trajectories,
                                 .steps = job->steps.each > 0 ? &job->steps : NULL,
                                 .max_successors = pess__most_successors(job, logging ? job->counts->actions : 1),
                                 .delta_box = logging ? shares->log_box : shares->box,
                                 .delta_sets = logging ? shares->log_sets : shares->sets,
                                 .delta_floor = logging ? shares->log_floor : shares->floor,
                                 .delta_pooled = logging ? shares->log_pooled : shares->pooled,
                                 .delta_relative = logging ? shares->log_relative : shares->relative,
                                 .pooled = shares->pooled > 0 || shares->log_pooled > 0,
                                 .side = logging ? -1 : 1,
                                 .threads = job->threads,
                                 .monitor = job->monitor};
}

/* Where ρ is the mean of K starts of the second part: v^π is fixed, so Hoeffding's inequality on v^π(s₀), whose range
 * the box knows. */
static double start_error(const pess__certification *job, const pess__holdout *holdout, double delta) {
    if (!job->start_estimated) return 0;
    double least, most;
    pess__holdout_extremes(holdout, holdout->low, holdout->high, &least, &most);
    const double range = fmin(most - least, job->v_hi - job->v_lo);
    const double starts = (double)job->episodes_second;
    return range * sqrt(pess__log_starts(starts, delta) / (2 * starts));
}

/* The sets speak of every policy, so of this one too: their worst and best case cut the box of the test. */
static pess_status run_between(const pess__robust *robust, const pess_policy *policy, pess__holdout_setup *setup,
                               pess__sweeps *sweeps, pess__holdout **out, pess_error *error) {
    const int64_t states = setup->first->states;
    double *bounds;
    PESS_TRY(pess__allocate(&bounds, 2 * states, sizeof *bounds, "bounds of values", error));
    setup->outer_low = bounds;
    setup->outer_high = bounds + states;
    pess_status status = pess__robust_value(robust, 1, policy, bounds, NULL, sweeps, error);
    if (status == PESS_OK) status = pess__robust_value(robust, -1, policy, bounds + states, NULL, sweeps, error);
    if (status == PESS_OK) status = pess__holdout_run(setup, out, error);
    free(bounds);
    return status;
}

pess_status pess__test_policy(pess__certification *job, const pess__shares *shares, const pess__robust *robust,
                              const pess_policy *policy, double *lower, const char **test, pess_error *error) {
    pess__holdout_setup setup = pess__test_setup(job, false, shares);
    setup.policy = policy;
    pess__holdout *holdout = NULL;
    PESS_TRY(run_between(robust, policy, &setup, &job->sweeps, &holdout, error));
    *lower = fmax(holdout->lower - start_error(job, holdout, shares->start_test), holdout->pooled_lower);
    *test = holdout->pooled_lower == *lower ? "pooled" : "box";
    *lower = fmax(*lower, job->v_lo); /* what every policy has */
    pess__sweeps_note(&job->sweeps, holdout->sweeps.residual, holdout->sweeps.capped);
    pess__holdout_destroy(holdout);
    return PESS_OK;
}

pess_status pess__logging_sets(const pess__certification *job, const pess__shares *shares, const pess_counts *whole,
                               const pess_counts *first, const pess_counts *second, pess_model **model,
                               pess__robust **out, pess_error *error) {
    const pess_model_options range = {.size = sizeof(pess_model_options),
                                      .unseen = PESS_UNSEEN_WORST,
                                      .reward_range = {job->model->reward_lo, job->model->reward_hi},
                                      .return_range = {NAN, NAN}};
    PESS_TRY(pess_model_estimate(whole, &range, model, error));
    (*model)->has_terminals = job->model->has_terminals;
    const pess__robust_delta delta = {shares->log_transitions, shares->log_learned, shares->log_rewards_low,
                                      shares->log_rewards_high};
    return pess__certify_robust(job, whole, *model, first, second, delta, out, error);
}

pess_status pess__test_logging(pess__certification *job, const pess__shares *shares, pess_error *error) {
    pess_certificate_info *info = &job->certificate->info;
    const int64_t states = job->counts->states;
    pess_policy *only = NULL;
    pess_model *model = NULL;
    pess__robust *robust = NULL;
    pess__holdout *holdout = NULL;
    PESS_TRY(pess__policy_allocate(states, 1, &only, error));
    for (int64_t s = 0; s < states; s++) only->probability[s] = job->model->terminal[s] ? 0 : 1;
    pess__holdout_setup setup = pess__test_setup(job, true, shares);
    setup.policy = only;
    const pess__split *split = job->split; /* the sets cut the box of the test */
    pess_status status = pess__logging_sets(job, shares, split->whole_states, split->first_states, split->second_states,
                                            &model, &robust, error);
    if (status == PESS_OK) status = run_between(robust, only, &setup, &job->sweeps, &holdout, error);
    if (status == PESS_OK) {
        const double box = holdout->upper + start_error(job, holdout, shares->log_start);
        info->behaviour_upper_bound = fmin(fmin(box, holdout->pooled_upper), job->v_hi);
        pess__sweeps_note(&job->sweeps, holdout->sweeps.residual, holdout->sweeps.capped);
    }
    if (status == PESS_OK && shares->log_episodes > 0) {
        double whole = 0;
        status = pess__returns_upper(job->data, job->options->gamma, job->v_lo, job->v_hi, shares->log_episodes, &whole,
                                     error);
        info->behaviour_upper_bound = fmin(info->behaviour_upper_bound, whole);
    }
    pess__holdout_destroy(holdout);
    pess__robust_destroy(robust);
    pess_model_destroy(model);
    pess_policy_destroy(only);
    return status;
}
