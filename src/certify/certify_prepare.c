/* What a certificate stands on before any bound: counts, model, starts, the split of the log and its whole episodes. */
#include "certify/certificate.h"
#include "certify/episodes.h"

#include "core/memory.h"
#include "core/threads.h"
#include "data/dataset.h"
#include "model/spread.h"

#include <math.h>
#include <stdio.h>

static pess_status prepare_starts(pess__certification *job, pess_error *error) {
    const int64_t states = job->counts->states;
    PESS_TRY(pess__allocate(&job->start, states, sizeof(double), "a start distribution", error));
    PESS_TRY(pess__allocate(&job->start_first, states, sizeof(double), "a start distribution", error));
    PESS_TRY(pess__allocate(&job->start_second, states, sizeof(double), "a start distribution", error));
    job->start_estimated = job->options->start == NULL;
    if (job->start_estimated && !job->counts->has_episodes)
        return pess__fail(error, PESS_INPUT,
                          "the log has no episode column, so where its episodes start is not known: declare the start "
                          "distribution");
    if (job->start_estimated) return pess_start_from_counts(job->counts, job->start, error);
    double sum = 0;
    for (int64_t s = 0; s < states; s++) {
        const double p = job->options->start[s];
        if (!(p >= 0))
            return pess__fail(error, PESS_ARGUMENT, "the start distribution has %g at state %lld", p,
                              (long long)pess__state_number(job->model, s));
        sum += job->start[s] = job->start_first[s] = job->start_second[s] = p;
    }
    sum = pess__sum_of_all(job->model->spread, sum);
    if (!(fabs(sum - 1) <= 1e-9))
        return pess__fail(error, PESS_ARGUMENT, "the start distribution sums to %.12g, expected 1", sum);
    return PESS_OK;
}

static pess_status prepare_split(pess__certification *job, pess_error *error) {
    const pess_certify_options *options = job->options;
    pess_error why = {0};
    if (options->method == PESS_CERTIFY_EPISODES || !job->data) return PESS_OK;
    /* Starts are known of whole episodes only. */
    const pess__split_rule rule = {.share = pess__split_share(job),
                                   .first_part = options->first_part,
                                   .by_episodes = job->trajectories || job->start_estimated,
                                   .seed = options->seed};
    const pess_status status = pess__split_create(job->data, job->counts, &rule, &job->split, &why);
    if (status == PESS_INPUT && options->method != PESS_CERTIFY_SPLIT)
        return pess__assume(&job->certificate->assumptions, "too-small-to-split",
                            "The log is too small to split: no part of it tests the policy or the logging policy.",
                            NULL, error);
    if (status != PESS_OK) {
        if (error) *error = why;
        return status;
    }
    if (!job->start_estimated) return PESS_OK;
    PESS_TRY(pess_start_from_counts(job->split->first, job->start_first, error));
    job->episodes_second = job->split->second->episodes;
    return pess_start_from_counts(job->split->second, job->start_second, error);
}

/* Whole episodes: where they alone are asked for, what stands against them is an error. */
static pess_status prepare_episodes(pess__certification *job, pess_error *error) {
    const pess_certify_options *options = job->options;
    const bool alone = options->method == PESS_CERTIFY_EPISODES;
    pess_error why = {0};
    if (alone && job->counts->has_episodes && !job->compares)
        return pess__fail(
            error, PESS_INPUT,
            "steps are missing in the log's episodes, or out of order, or follow an end or a cut-off: the weights of "
            "whole episodes are not known");
    if (alone) return pess__episodes_create(job, &job->episodes, error);
    if (!job->data) return PESS_OK;
    const bool asked = job->data->probability || options->behaviour || options->behaviour_estimated;
    if (options->method != PESS_CERTIFY_BEST || !asked || !job->split || !job->trajectories || !job->compares ||
        !job->start_estimated || (options->policy && !options->fresh))
        return PESS_OK;
    const pess_status status = pess__episodes_create(job, &job->episodes, &why);
    if (status == PESS_INPUT && !options->behaviour) {
        char sentence[sizeof why.message + 64];
        (void)snprintf(sentence, sizeof sentence, "Whole episodes were not tested: %s.", why.message);
        return pess__assume(&job->certificate->assumptions, "episodes-not-tested", sentence, NULL, error);
    }
    if (status != PESS_OK && error) *error = why;
    return status;
}

pess_status pess__certify_prepare(pess__certification *job, pess_error *error) {
    const pess_certify_options *options = job->options;
    const pess_model_options model = {.size = sizeof(pess_model_options),
                                      .unseen = PESS_UNSEEN_WORST,
                                      .reward_range = {options->reward_range[0], options->reward_range[1]},
                                      .return_range = {options->return_range[0], options->return_range[1]}};
    job->threads = pess__threads(options->threads);
    if (!job->data && !options->counts)
        return pess__fail(error, PESS_ARGUMENT, "found neither rows nor counts, expected a log");
    if (!options->counts) PESS_TRY(pess_counts_create(job->data, 0, &job->own_counts, error));
    job->counts = options->counts ? options->counts : job->own_counts;
    PESS_TRY(pess__certify_check_options(job, error));
    if (!job->data) PESS_TRY(pess__counts_alone_check(job, error));
    const bool episodes = job->counts->has_episodes || pess__episodes_unknown(job->counts);
    PESS_TRY(pess_model_estimate(job->counts, &model, &job->model, error));
    if (options->horizon > 0 || options->may_end == PESS_MAY_END_ON ||
        (options->may_end == PESS_MAY_END_AUTO && episodes))
        job->model->has_terminals = true;
    PESS_TRY(pess__agree_of_all(job->model->spread, pess__certify_check_policy(job, error), error));
    PESS_TRY(pess__certify_check_range(job, error));
    job->trajectories = episodes && !options->iid;
    const bool few = options->max_successors > 0 && options->max_successors <= 8;
    job->uncertainty = pess_uncertainty_find(options->uncertainty ? options->uncertainty
                                             : few                ? "l1"
                                                                  : "support")
                           ->name;
    PESS_TRY(prepare_starts(job, error));
    PESS_TRY(prepare_split(job, error));
    PESS_TRY(pess__certify_check_log(job, error));
    return prepare_episodes(job, error);
}
