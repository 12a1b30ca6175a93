/* What pess_certify refuses: options, policies and logs that a certificate cannot rest on. */
#include "certify/certificate.h"

#include "core/memory.h"
#include "data/inspect.h"
#include "data/reading.h"
#include "data/trajectories.h"
#include "model/spread.h"
#include "policy/policy.h"

#include <math.h>
#include <string.h>

pess_status pess__certify_check_options(const pess__certification *job, pess_error *error) {
    const pess_certify_options *options = job->options;
    const pess_counts *counts = job->counts;
    const pess_dataset *data = job->data;
    if (data &&
        (counts->transitions != data->rows || counts->states != data->states || counts->actions != data->actions))
        return pess__fail(error, PESS_ARGUMENT, "the counts are those of another log");
    if (counts->transitions == 0)
        return pess__fail(error, PESS_INPUT, "the log is empty: there is nothing to certify from");
    if (options->policy != NULL)
        PESS_TRY(pess__policy_check_table(options->policy, counts->states, counts->actions, "the log", error));
    if (options->own_uncertainty != NULL) PESS_TRY(pess__uncertainty_check_own(options->own_uncertainty, error));
    const char *name = options->uncertainty;
    const pess_uncertainty_info *found = name ? pess_uncertainty_find(name) : NULL;
    if (name && !found) return pess__fail(error, PESS_ARGUMENT, "there is no uncertainty '%s'", name);
    if (name && !found->is_set)
        return pess__fail(error, PESS_ARGUMENT,
                          "'%s' holds for %s, so it cannot stand behind a certificate; l1, support and good-turing can",
                          name, found->holds_for);
    return PESS_OK;
}

/* So many steps bring so much; or, with a declared range of returns, less. With fewer steps to go it is less, too. */
static pess_status range_of_steps(pess__certification *job, pess_error *error) {
    const pess_model *model = job->model;
    const int64_t horizon = job->options->horizon;
    if (horizon == 0) return PESS_OK;
    pess__step_ranges *steps = &job->steps;
    steps->horizon = horizon;
    steps->each = (model->states - 1) / horizon;
    PESS_TRY(pess__allocate(&steps->lo, horizon + 1, sizeof *steps->lo, "the steps", error));
    PESS_TRY(pess__allocate(&steps->hi, horizon + 1, sizeof *steps->hi, "the steps", error));
    for (int64_t t = 0; t <= horizon; t++)
        pess__horizon_range(model, job->options->gamma, horizon - t, &steps->lo[t], &steps->hi[t]);
    job->v_lo = steps->lo[0];
    job->v_hi = steps->hi[0];
    if (job->v_lo <= job->v_hi) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "returns from %.10g to %.10g contradict rewards from %.10g to %.10g in %lld steps",
                      model->return_lo, model->return_hi, model->reward_lo, model->reward_hi, (long long)horizon);
}

pess_status pess__certify_check_range(pess__certification *job, pess_error *error) {
    const pess_model *model = job->model;
    PESS_TRY(pess__value_range_checked(model, job->options->gamma, &job->v_lo, &job->v_hi, error));
    PESS_TRY(range_of_steps(job, error));
    if (!isfinite(job->v_lo) || !isfinite(job->v_hi))
        return pess__fail_with_remedy(
            error,
            pess__fail(error, PESS_ARGUMENT,
                       "at discount 1 rewards alone do not bound the values: declare the range of returns"),
            "return-range", "LO,HI");
    if (!model->return_declared || !job->data) return PESS_OK;
    return pess__returns_check(job->data, job->options->gamma, model->return_lo, model->return_hi, error);
}

/* A policy that is given must say what it does wherever the log goes on. */
pess_status pess__certify_check_policy(const pess__certification *job, pess_error *error) {
    const pess_policy *policy = job->options->policy;
    for (int64_t s = 0; policy && s < policy->states; s++) {
        double sum = 0;
        for (int64_t a = 0; a < policy->actions; a++) sum += policy->probability[s * policy->actions + a];
        if (job->model->terminal[s] || fabs(sum - 1) <= 1e-9) continue;
        if (pess_names_given(job->counts->state_names))
            return pess__fail(error, PESS_INPUT, "the policy's probabilities at state %s sum to %.12g, expected 1",
                              pess_names_get(job->counts->state_names, s), sum);
        return pess__fail(error, PESS_INPUT, "the policy's probabilities at state %lld sum to %.12g, expected 1",
                          (long long)pess__state_number(job->model, s), sum);
    }
    return PESS_OK;
}

/* Next states that were taken from the next row are those of another step where steps are missing between the two. */
static pess_status refuse_invented(const pess_dataset *data, const pess_inspection *inspection, pess_error *error) {
    if (inspection->step_gaps == 0 || !data->reading || !data->reading->info.next_state_derived) return PESS_OK;
    return pess__fail(
        error, PESS_INPUT,
        "the next state of a row is that of the next row, but steps are missing between the two (in "
        "%lld place%s; an inspection names the first), so what followed there is not known: add the column "
        "next_state, or let a new episode begin after each gap",
        (long long)inspection->step_gaps, inspection->step_gaps == 1 ? "" : "s");
}

static pess_status refuse_late_starts(const pess_finding *late, pess_error *error) {
    return pess__fail_with_remedy(
        error, pess__fail(error, PESS_INPUT, "%s Where episodes start is not known.", late->text), "start", "FILE");
}

/* What only whoever made the log can know: whether rows that repeat are copies, and whether episodes that stop without
 * a mark go on. */
static pess_status assume_unmarked(pess__certification *job, const pess_inspection *inspection, pess_error *error) {
    const double open[] = {(double)inspection->open_ends, (double)inspection->episodes};
    if (open[0] == 0) return PESS_OK;
    return pess__assume(&job->certificate->assumptions, "open-ends",
                        "{0} of {1} episodes stop without being marked as terminal or cut off: they are taken to have "
                        "gone on unseen. If they ended there, the bounds do not hold.",
                        open, error);
}

static pess_status assume_no_copies(pess__certification *job, pess_error *error) {
    const double times = (double)pess__find_copies(job->data).times;
    if (times == 1) return PESS_OK;
    return pess__assume(&job->certificate->assumptions, "copied-rows",
                        "Every row stands in the log {0} times, and each time it is an outcome of its own. If they are "
                        "copies, the bounds do not hold.",
                        &times, error);
}

/* A step that is there twice counts an outcome twice: nothing holds then. Where steps are missing, or follow an end,
 * the episodes' returns and starts are not those of the logging policy: then it is not compared with. */
static pess_status heed(pess__certification *job, const pess_inspection *inspection, pess_error *error) {
    pess__assumptions *to = &job->certificate->assumptions;
    const double gaps = (double)inspection->gaps, lates = (double)inspection->late_starts;
    const pess_finding *twice = pess__finding(inspection, "duplicate-step"),
                       *late = pess__finding(inspection, "late-starts");
    if (twice) return pess__fail(error, PESS_INPUT, "%s", twice->text);
    PESS_TRY(refuse_invented(job->data, inspection, error));
    PESS_TRY(assume_unmarked(job, inspection, error));
    if (late && job->start_estimated) return refuse_late_starts(late, error);
    if (late) {
        job->compares = false;
        PESS_TRY(pess__assume(to, "late-starts",
                              "Episodes of which the first steps are missing: {0}. Which ones are missing does not "
                              "depend on their outcomes. The new policy is not compared with the one that made the "
                              "log.",
                              &lates, error));
    }
    if (pess__finding(inspection, "episode-gap")) {
        job->compares = false;
        PESS_TRY(pess__assume(to, "steps-missing",
                              "Steps are missing in the log's episodes, or out of order (rows that do not continue "
                              "the one before: {0}). Which ones are missing does not depend on their outcomes. The "
                              "new policy is not compared with the one that made the log.",
                              &gaps, error));
    }
    if (pess__finding(inspection, "cutoff-continues")) {
        job->compares = false;
        PESS_TRY(pess__assume(to, "cutoff-continues",
                              "Rows follow a cut-off row of their episode: what they return is not what would have "
                              "followed. The new policy is not compared with the one that made the log.",
                              NULL, error));
    }
    if (pess__finding(inspection, "terminal-continues")) {
        job->compares = false;
        PESS_TRY(pess__assume(to, "terminal-continues",
                              "Rows follow a terminal row of their episode, which contradicts it. The new policy is "
                              "not compared with the one that made the log.",
                              NULL, error));
    }
    return PESS_OK;
}

pess_status pess__certify_check_log(pess__certification *job, pess_error *error) {
    pess_inspection *inspection = NULL;
    job->compares = !job->data || job->split != NULL || job->options->method == PESS_CERTIFY_EPISODES;
    if (job->data) PESS_TRY(assume_no_copies(job, error));
    if (!job->counts->has_episodes || !job->data) return PESS_OK;
    PESS_TRY(pess_dataset_inspect(job->data, &inspection, error));
    const pess_status status = heed(job, inspection, error);
    pess_inspection_destroy(inspection);
    return status;
}
