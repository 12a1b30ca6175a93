/* pess_certify: bounds for a policy found in a log, for the best possible one and for the one that made the log. */
#include "certify/certificate.h"
#include "certify/episode_returns.h"
#include "certify/episodes.h"
#include "certify/robust.h"

#include "core/memory.h"
#include "core/settings.h"
#include "core/threads.h"
#include "data/dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FIELD(name) PESS__FIELD(pess_certify_options, name)

static const pess_setting settings[] = {
    {"method", 0, PESS_SETTING_CHOICE, FIELD(method), "best", .choices = "best|robust|split|episodes",
     .sentence = "robust: the worst case over all processes that the log allows; split: a part of the log chooses the "
                 "policy, the rest tests it; episodes: the same with importance weights of whole episodes, which needs "
                 "no Markov assumption; best: the best of all that the log allows"},
    {"uncertainty", 'u', PESS_SETTING_TEXT, FIELD(uncertainty), NULL, .argument = "l1|support|good-turing",
     .sentence = "the set of processes over which robust takes the worst case",
     .where_unset = "l1 if a pair has at most 8 possible next states, otherwise support"},
    {"fresh", 0, PESS_SETTING_SWITCH, FIELD(fresh), "off",
     .sentence = "declare that the given policy was made without this log, so that a part of the log may test it"},
    {"gamma", 0, PESS_SETTING_NUMBER, FIELD(gamma), "0.99", PESS__FROM_TO(0, 1), .argument = "G",
     .sentence = "discount; 1 needs a range of returns"},
    {"delta", 0, PESS_SETTING_NUMBER, FIELD(delta), "0.05", PESS__BETWEEN(0, 1), .argument = "D",
     .sentence = "probability that any of the bounds is wrong"},
    {"split", 0, PESS_SETTING_NUMBER, FIELD(split), NULL, PESS__BETWEEN(0, 1), .argument = "F",
     .sentence =
         "share of the log that chooses the policy; at most this share if the log has episodes, since its first part "
         "then ends at a power of two from 8 to 262144 rows, that of whole episodes from 32 to 16777216",
     .where_unset = "0.2 of a log without episodes, else 0.25, and 0.5 for whole episodes"},
    {"first-part", 0, PESS_SETTING_COUNT, FIELD(first_part), NULL, PESS__AT_LEAST(1), .argument = "ROWS",
     .sentence = "declare how many rows choose the policy: a number that was fixed before anybody looked at the log",
     .where_unset = "by the share"},
    {"max-successors", 0, PESS_SETTING_COUNT, FIELD(max_successors), NULL, PESS__AT_LEAST(0), .argument = "K",
     .sentence = "declare how many next states a state-action pair can have at most", .where_unset = "all states"},
    {"iid", 0, PESS_SETTING_SWITCH, FIELD(iid), "off",
     .sentence = "declare that the transitions are independent draws, even though the log has episodes"},
    {"may-end", 0, PESS_SETTING_CHOICE, FIELD(may_end), "auto", .choices = "auto|on|off",
     .sentence =
         "whether a transition may end an episode even if the log never shows it; auto: if the log has episodes"},
    {"reward-range", 0, PESS_SETTING_RANGE, FIELD(reward_range), NULL, PESS__ANY_NUMBER, .argument = "LO,HI",
     .sentence = "declare the range of rewards", .where_unset = "the range that the log shows"},
    PESS__RETURN_RANGE_SETTING(pess_certify_options),
    {"seed", 0, PESS_SETTING_SEED, FIELD(seed), "1", .argument = "N",
     .sentence = "seed of the random split of a log without episodes"},
    PESS__THREADS_SETTING(pess_certify_options),
};

static const pess_setting_table table = PESS__SETTING_TABLE("certify", pess_certify_options, settings);
PESS__SETTINGS_OF(certify, table)

/* ------------------------------------------------------------------------------------------------ preparations */

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
            return pess__fail(error, PESS_ARGUMENT, "the start distribution has %g at state %lld", p, (long long)s);
        sum += job->start[s] = job->start_first[s] = job->start_second[s] = p;
    }
    if (!(fabs(sum - 1) <= 1e-9))
        return pess__fail(error, PESS_ARGUMENT, "the start distribution sums to %.12g, expected 1", sum);
    return PESS_OK;
}

static pess_status prepare_split(pess__certification *job, pess_error *error) {
    const pess_certify_options *options = job->options;
    pess_error why = {0};
    if (options->method == PESS_CERTIFY_EPISODES) return PESS_OK;
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
        return pess__fail(error, PESS_INPUT,
                          "steps are missing in the log's episodes, or out of order, or follow an end: the weights of "
                          "whole episodes are not known");
    if (alone) return pess__episodes_create(job, &job->episodes, error);
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

static pess_status prepare(pess__certification *job, pess_error *error) {
    const pess_certify_options *options = job->options;
    const pess_model_options model = {.size = sizeof(pess_model_options),
                                      .unseen = PESS_UNSEEN_WORST,
                                      .reward_range = {options->reward_range[0], options->reward_range[1]},
                                      .return_range = {options->return_range[0], options->return_range[1]}};
    PESS_TRY(pess__certify_check_options(job->data, options, error));
    job->threads = pess__threads(options->threads);
    if (!options->counts) PESS_TRY(pess_counts_create(job->data, 0, &job->own_counts, error));
    job->counts = options->counts ? options->counts : job->own_counts;
    PESS_TRY(pess_model_estimate(job->counts, &model, &job->model, error));
    if (options->may_end == PESS_MAY_END_ON || (options->may_end == PESS_MAY_END_AUTO && job->counts->has_episodes))
        job->model->has_terminals = true;
    PESS_TRY(pess__certify_check_policy(job, error));
    PESS_TRY(pess__certify_check_range(job, error));
    job->trajectories = job->counts->has_episodes && !options->iid;
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

/* ------------------------------------------------------------------------------------------------ sets */

/* How many starts there are may depend on what was seen: δ/(K(K+1)) for each number K. */
static double log_starts(double starts, double delta) { return log(starts * (starts + 1) / delta); }

/* |ρ − ρ̂|₁ <= √(2(ln(K(K+1)/δ) + S·ln 2)/K) for K starts (Weissman et al. 2003); for all values at once. */
static double start_radius(const pess__certification *job, double delta) {
    if (!job->start_estimated) return 0;
    const double starts = (double)job->counts->episodes, states = (double)job->counts->states;
    return fmin(2, sqrt(2 * (log_starts(starts, delta) + states * log(2)) / starts));
}

typedef struct set_bounds {
    pess__robust *robust;
    double lower, upper; /* of the policy; of the best policy */
    pess_policy *policy; /* the robust one, or NULL where one was given */
    pess__sweeps sweeps;
} set_bounds;

static void set_bounds_release(set_bounds *sets) {
    pess__robust_destroy(sets->robust);
    pess_policy_destroy(sets->policy);
}

static pess_status bound_with(const pess__certification *job, double start_delta, set_bounds *out, double *v,
                              int32_t *found, pess__start_mass *scratch, pess_error *error) {
    const int64_t states = job->counts->states;
    const double radius = start_radius(job, start_delta);
    PESS_TRY(pess__robust_value(out->robust, 1, job->options->policy, v, found, &out->sweeps, error));
    if (!job->options->policy)
        PESS_TRY(pess__policy_of_actions(states, job->counts->actions, found, &out->policy, error));
    /* Without discount the values that led to a policy may be above its own: one that never ends keeps them up. */
    if (out->policy && job->options->gamma == 1)
        PESS_TRY(pess__robust_value(out->robust, 1, out->policy, v, NULL, &out->sweeps, error));
    out->lower = pess__worst_start(job->start, v, states, job->model->terminal, radius, scratch);
    PESS_TRY(pess__robust_value(out->robust, -1, NULL, v, NULL, &out->sweeps, error));
    for (int64_t s = 0; s < states; s++) v[s] = -v[s];
    out->upper = -pess__worst_start(job->start, v, states, job->model->terminal, radius, scratch);
    return PESS_OK;
}

static pess_status bound_by_sets(const pess__certification *job, const pess__shares *shares, set_bounds *out,
                                 pess_error *error) {
    const pess__u_problem problem = {.counts = job->counts,
                                     .model = job->model,
                                     .gamma = job->options->gamma,
                                     .delta = job->options->delta,
                                     .v_lo = job->v_lo,
                                     .v_hi = job->v_hi,
                                     .trajectories = job->trajectories,
                                     .max_successors = job->options->max_successors,
                                     .threads = job->threads};
    const pess__robust_delta delta = {shares->transitions, shares->learned, shares->rewards_low, shares->rewards_high};
    const pess__split *split = job->split;
    const int64_t states = job->counts->states;
    double *v = NULL;
    int32_t *found = NULL;
    pess__start_mass *scratch = NULL;
    pess_status status = pess__robust_create(&problem, job->uncertainty, split ? split->first : NULL,
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

/* ------------------------------------------------------------------------------------------------ tests */

static pess__holdout_setup setup_of(const pess__certification *job, bool logging, const pess__shares *shares) {
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
                                 .max_successors = logging ? job->options->max_successors * job->counts->actions
                                                           : job->options->max_successors,
                                 .delta_box = logging ? shares->log_box : shares->box,
                                 .delta_sets = logging ? shares->log_sets : shares->sets,
                                 .delta_pooled = logging ? shares->log_pooled : shares->pooled,
                                 .delta_relative = logging ? shares->log_relative : shares->relative,
                                 .pooled = shares->pooled > 0 || shares->log_pooled > 0,
                                 .side = logging ? -1 : 1,
                                 .threads = job->threads};
}

/* Where ρ is the mean of K starts of the second part: v^π is fixed, so Hoeffding's inequality on v^π(s₀), whose range
 * the box knows. */
static double start_error(const pess__certification *job, const pess__holdout *holdout, double delta) {
    if (!job->start_estimated) return 0;
    double least, most;
    pess__holdout_extremes(holdout, holdout->low, holdout->high, &least, &most);
    const double range = fmin(most - least, job->v_hi - job->v_lo);
    const double starts = (double)job->episodes_second;
    return range * sqrt(log_starts(starts, delta) / (2 * starts));
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

static pess_status test_policy(pess__certification *job, const pess__shares *shares, const pess__robust *robust,
                               const pess_policy *policy, double *lower, const char **test, pess_error *error) {
    pess__holdout_setup setup = setup_of(job, false, shares);
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

/* The logging policy took n(s) samples at s, whatever the action: one row per state, of a process with one action. Its
 * sets, from the whole log, cut the box of its test. */
static pess_status logging_sets(const pess__certification *job, const pess__shares *shares, pess_model **model,
                                pess__robust **out, pess_error *error) {
    const pess_model_options range = {.size = sizeof(pess_model_options),
                                      .unseen = PESS_UNSEEN_WORST,
                                      .reward_range = {job->model->reward_lo, job->model->reward_hi},
                                      .return_range = {NAN, NAN}};
    PESS_TRY(pess_model_estimate(job->split->whole_states, &range, model, error));
    (*model)->has_terminals = job->model->has_terminals;
    const pess__u_problem problem = {.counts = job->split->whole_states,
                                     .model = *model,
                                     .gamma = job->options->gamma,
                                     .delta = job->options->delta,
                                     .v_lo = job->v_lo,
                                     .v_hi = job->v_hi,
                                     .trajectories = job->trajectories,
                                     .max_successors = job->options->max_successors * job->counts->actions,
                                     .threads = job->threads};
    const pess__robust_delta delta = {shares->log_transitions, shares->log_learned, shares->log_rewards_low,
                                      shares->log_rewards_high};
    return pess__robust_create(&problem, job->uncertainty, job->split->first_states, job->split->second_states, delta,
                               out, error);
}

static pess_status test_logging(pess__certification *job, const pess__shares *shares, pess_error *error) {
    pess_certificate_info *info = &job->certificate->info;
    const int64_t states = job->counts->states;
    pess_policy *only = NULL;
    pess_model *model = NULL;
    pess__robust *robust = NULL;
    pess__holdout *holdout = NULL;
    PESS_TRY(pess__policy_allocate(states, 1, &only, error));
    for (int64_t s = 0; s < states; s++) only->probability[s] = job->model->terminal[s] ? 0 : 1;
    pess__holdout_setup setup = setup_of(job, true, shares);
    setup.policy = only;
    pess_status status = logging_sets(job, shares, &model, &robust, error);
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

/* ------------------------------------------------------------------------------------------------ all together */

static pess_status face_value(const pess__certification *job, const pess_policy *policy, double *value,
                              pess_error *error) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = pess__below_one(job->options->gamma);
    options.threads = job->threads;
    pess_solution *solution = NULL;
    pess_status status = pess_evaluate(job->counts, job->model, job->start, policy, &options, &solution, error);
    if (status == PESS_OK) {
        pess_solution_info info;
        pess_solution_get_info(solution, &info);
        *value = info.value;
    }
    pess_solution_destroy(solution);
    return status;
}

static pess_status behaviour_estimate(const pess__certification *job, double *value, pess_error *error) {
    pess_policy *empirical = NULL;
    PESS_TRY(pess_policy_empirical(job->counts, job->model, &empirical, error));
    const pess_status status = face_value(job, empirical, value, error);
    pess_policy_destroy(empirical);
    return status;
}

/* The policy that is tested is the one that is handed out, at every state but the terminal ones, which have no actions.
 */
static pess_status keep_policy(pess__certification *job, const pess_policy *policy, pess_error *error) {
    pess_policy *kept = NULL;
    PESS_TRY(pess_policy_create(policy->states, policy->actions, policy->probability, &kept, error));
    for (int64_t s = 0; s < kept->states; s++)
        for (int64_t a = 0; a < kept->actions && job->model->terminal[s]; a++)
            kept->probability[s * kept->actions + a] = 0;
    pess_policy_destroy(job->certificate->policy);
    job->certificate->policy = kept;
    return PESS_OK;
}

/* The certified lower bound of each way, and the better one. */
static pess_status bound_policy(pess__certification *job, const pess__shares *shares, const set_bounds *sets,
                                pess_error *error) {
    pess_certificate_info *info = &job->certificate->info;
    const pess_certify_options *options = job->options;
    if (options->method != PESS_CERTIFY_SPLIT) {
        PESS_TRY(keep_policy(job, options->policy ? options->policy : sets->policy, error));
        info->lower_bound = sets->lower;
        info->method = "robust";
        info->test = "sets";
        const pess_candidate row = {options->policy ? "the given policy, sets" : "robust", NAN, sets->lower};
        PESS_TRY(pess__candidate_add(job->certificate, row, error));
    }
    if (!(shares->box > 0)) return PESS_OK;
    pess_policy *chosen = NULL;
    int64_t row = -1;
    const pess__holdout_setup setup = setup_of(job, false, shares);
    if (options->policy)
        PESS_TRY(pess_policy_create(options->policy->states, options->policy->actions, options->policy->probability,
                                    &chosen, error));
    else
        PESS_TRY(pess__choose_policy(job, &setup, &chosen, &row, error));
    double lower = 0;
    const char *test = "box";
    pess_status status = test_policy(job, shares, sets->robust, chosen, &lower, &test, error);
    if (status == PESS_OK && options->policy)
        status = pess__candidate_add(job->certificate, (pess_candidate){"the given policy, tested", NAN, lower}, error);
    if (status == PESS_OK) {
        if (row >= 0) job->certificate->candidates[row].lower = lower;
        if (options->method == PESS_CERTIFY_SPLIT || lower > info->lower_bound) {
            info->lower_bound = lower;
            info->method = "split";
            info->test = test;
            status = keep_policy(job, chosen, error);
        }
    }
    pess_policy_destroy(chosen);
    return status;
}

/* Whole episodes: their own choice and test. A certified improvement counts more than a higher bound. */
static pess_status bound_by_episodes(pess__certification *job, const pess__shares *shares, pess_error *error) {
    pess_certificate_info *info = &job->certificate->info;
    pess_episode_report *report = &job->certificate->episodes;
    const bool alone = job->options->method == PESS_CERTIFY_EPISODES;
    pess__episodes_result found = {0};
    PESS_TRY(pess__episodes_test(job, job->episodes, shares, &found, error));
    report->lower_bound = found.lower;
    report->difference_lower_bound = found.difference;
    const bool improves = fmax(found.difference, found.lower - info->behaviour_upper_bound) > 0,
               rival = !alone && info->lower_bound > info->behaviour_upper_bound;
    pess_status status = pess__episodes_assume_bets(job, error);
    if (status == PESS_OK && (alone || (improves == rival ? found.lower > info->lower_bound : improves))) {
        info->lower_bound = found.lower;
        info->method = "episodes";
        info->test = report->bet;
        info->value_estimate = found.estimate;
        info->behaviour_value_estimate = found.behaviour_estimate;
        job->difference = found.difference;
        status = keep_policy(job, found.policy, error);
    }
    if (alone) {
        info->first_part = found.first_rows;
        info->second_part = found.second_rows;
    }
    pess_policy_destroy(found.policy);
    return status;
}

/* What is estimated of both policies, unless whole episodes did it already. */
static pess_status estimate(pess__certification *job, pess_error *error) {
    pess_certificate_info *info = &job->certificate->info;
    if (isnan(info->value_estimate)) PESS_TRY(face_value(job, job->certificate->policy, &info->value_estimate, error));
    return isnan(info->behaviour_value_estimate) ? behaviour_estimate(job, &info->behaviour_value_estimate, error)
                                                 : PESS_OK;
}

static pess_status certify_by_episodes(pess__certification *job, const pess__shares *shares, pess_error *error) {
    pess_certificate_info *info = &job->certificate->info;
    PESS_TRY(pess__returns_upper(job->data, job->options->gamma, job->v_lo, job->v_hi, shares->log_episodes,
                                 &info->behaviour_upper_bound, error));
    PESS_TRY(bound_by_episodes(job, shares, error));
    PESS_TRY(estimate(job, error));
    pess__conclude(job, job->v_hi);
    return PESS_OK;
}

static pess_status certify(pess__certification *job, pess_error *error) {
    pess_certificate_info *info = &job->certificate->info;
    info->value_estimate = info->behaviour_value_estimate = NAN;
    PESS_TRY(prepare(job, error));
    const pess__shares shares = pess__shares_of(job);
    PESS_TRY(pess__ledger_write(job, &shares, error));
    PESS_TRY(pess__certify_assumptions(job, error));
    if (job->options->method == PESS_CERTIFY_EPISODES) return certify_by_episodes(job, &shares, error);
    if (job->options->policy && shares.box > 0 && !job->options->fresh) {
        const double rows = (double)job->split->second_rows;
        PESS_TRY(pess__assume(&job->certificate->assumptions, "policy-without-second-part",
                              "The given policy was chosen without the {0} rows that test it.", &rows, error));
    }
    set_bounds sets = {0};
    pess_status status = bound_by_sets(job, &shares, &sets, error);
    pess__sweeps_note(&job->sweeps, sets.sweeps.residual, sets.sweeps.capped);
    if (status == PESS_OK) status = bound_policy(job, &shares, &sets, error);
    set_bounds_release(&sets);
    if (status == PESS_OK && job->compares) status = test_logging(job, &shares, error);
    if (status == PESS_OK && job->episodes) status = bound_by_episodes(job, &shares, error);
    if (status == PESS_OK) status = estimate(job, error);
    if (status == PESS_OK) pess__conclude(job, sets.upper);
    return status;
}

pess_status pess_certify(const pess_dataset *data, const pess_certify_options *options, pess_certificate **out,
                         pess_error *error) {
    pess_certify_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    pess_certificate *certificate;
    PESS_TRY(pess__allocate(&certificate, 1, sizeof *certificate, "a certificate", error));
    pess__certification job = {
        .data = data, .options = &settled, .certificate = certificate, .threads = 1, .difference = -INFINITY};
    const pess_status status = certify(&job, error);
    pess__split_destroy(job.split);
    pess__episodes_destroy(job.episodes);
    pess_counts_destroy(job.own_counts);
    pess_model_destroy(job.model);
    free(job.start);
    free(job.start_first);
    free(job.start_second);
    if (status == PESS_OK)
        *out = certificate;
    else
        pess_certificate_destroy(certificate);
    return status;
}
