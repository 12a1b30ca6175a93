/* pess_certify: bounds for a policy found in a log, for the best possible one and for the one that made the log. */
#include "certify/certificate.h"
#include "certify/episode_returns.h"
#include "certify/episodes.h"
#include "certify/stepped.h"

#include "core/memory.h"
#include "core/settings.h"
#include "policy/policy.h"

#include <math.h>
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
    {"horizon", 0, PESS_SETTING_COUNT, FIELD(horizon), NULL, PESS__AT_LEAST(1), .argument = "H",
     .sentence = "decisions of an episode that count; the policy then has a table for each step",
     .where_unset = "no limit"},
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
    kept->kind = policy->kind;
    for (int64_t s = 0; s < kept->states; s++)
        for (int64_t a = 0; a < kept->actions && job->model->terminal[s]; a++)
            kept->probability[s * kept->actions + a] = 0;
    pess_policy_destroy(job->certificate->policy);
    job->certificate->policy = kept;
    return PESS_OK;
}

/* The certified lower bound of each way, and the better one. */
static pess_status bound_policy(pess__certification *job, const pess__shares *shares, const pess__set_bounds *sets,
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
    const pess__holdout_setup setup = pess__test_setup(job, false, shares);
    if (options->policy)
        PESS_TRY(pess_policy_create(options->policy->states, options->policy->actions, options->policy->probability,
                                    &chosen, error));
    else
        PESS_TRY(pess__choose_policy(job, &setup, &chosen, &row, error));
    double lower = 0;
    const char *test = "box";
    pess_status status = pess__test_policy(job, shares, sets->robust, chosen, &lower, &test, error);
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
    PESS_TRY(pess__certify_prepare(job, error));
    const pess__shares shares = pess__shares_of(job);
    PESS_TRY(pess__ledger_write(job, &shares, error));
    PESS_TRY(pess__certify_assumptions(job, error));
    if (job->options->method == PESS_CERTIFY_EPISODES) return certify_by_episodes(job, &shares, error);
    if (job->options->policy && shares.box > 0 && !job->options->fresh) {
        const double rows = (double)job->split->second_rows;
        PESS_TRY(pess__assume(&job->certificate->assumptions, "policy-without-second-part",
                              "The given policy was chosen without the {0} rows that test it.", &rows, error));
    }
    pess__set_bounds sets = {0};
    pess_status status = pess__bound_by_sets(job, &shares, &sets, error);
    pess__sweeps_note(&job->sweeps, sets.sweeps.residual, sets.sweeps.capped);
    if (status == PESS_OK) status = bound_policy(job, &shares, &sets, error);
    pess__set_bounds_release(&sets);
    if (status == PESS_OK && job->compares)
        status = (job->split ? pess__test_logging : pess__counts_alone_logging)(job, &shares, error);
    if (status == PESS_OK && job->episodes) status = bound_by_episodes(job, &shares, error);
    if (status == PESS_OK) status = estimate(job, error);
    if (status == PESS_OK) pess__conclude(job, sets.upper);
    return status;
}

static pess_status certify_log(const pess_dataset *data, const pess_certify_options *options, pess_certificate **out,
                               pess_error *error) {
    pess_certificate *certificate;
    PESS_TRY(pess__allocate(&certificate, 1, sizeof *certificate, "a certificate", error));
    pess__monitor monitor = pess__monitor_start(&options->progress, "certifying", INFINITY);
    pess__certification job = {.monitor = &monitor,
                               .data = data,
                               .options = options,
                               .certificate = certificate,
                               .threads = 1,
                               .difference = -INFINITY};
    if (data != NULL) job.origin = data->origin;
    const pess_status status = certify(&job, error);
    pess__split_destroy(job.split);
    pess__episodes_destroy(job.episodes);
    pess_counts_destroy(job.own_counts);
    pess_model_destroy(job.model);
    free(job.steps.lo);
    free(job.steps.hi);
    free(job.start);
    free(job.start_first);
    free(job.start_second);
    if (status == PESS_OK)
        *out = certificate;
    else
        pess_certificate_destroy(certificate);
    return status;
}

/* With a horizon the log is one of states at steps, and what comes of it is folded. */
static pess_status certify_steps(const pess_dataset *data, const pess_certify_options *options, pess_certificate **out,
                                 pess_error *error) {
    pess__stepped wide;
    pess_certificate *certificate = NULL;
    pess_policy *folded = NULL;
    PESS_TRY(pess__stepped_create(data, options, &wide, error));
    pess_status status = certify_log(wide.data, &wide.options, &certificate, error);
    pess__stepped_release(&wide);
    if (status == PESS_OK) status = pess__stepped_fold(data, options->horizon, certificate->policy, &folded, error);
    if (status != PESS_OK) {
        pess_certificate_destroy(certificate);
        return status;
    }
    pess_policy_destroy(certificate->policy);
    certificate->policy = folded;
    *out = certificate;
    return PESS_OK;
}

pess_status pess_certify(const pess_dataset *data, const pess_certify_options *options, pess_certificate **out,
                         pess_error *error) {
    pess_certify_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    if (settled.counts != NULL) PESS_TRY(pess__counts_need_all(settled.counts, error));
    return settled.horizon > 0 ? certify_steps(data, &settled, out, error) : certify_log(data, &settled, out, error);
}
