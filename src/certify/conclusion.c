/* What follows from the bounds: the recommendation, how much of the estimate is certified, what would change, and how
 * much data a certificate would take. */
#include "certify/certificate.h"

#include "model/spread.h"
#include "policy/policy.h"

#include <float.h>
#include <math.h>

/* Less than this share of the estimate is not worth mentioning. */
static const double VACUOUS_BELOW = 0.05;

/* Where the lower bound lies between V_lo and the estimate. */
static double certified_share(const pess_certificate_info *info) {
    const double promised = info->lower_bound - info->value_lo, estimated = info->value_estimate - info->value_lo;
    const double rounding = 64 * DBL_EPSILON * (info->value_hi - info->value_lo);
    if (!(estimated > rounding)) return promised > rounding ? 1 : 0;
    return fmin(fmax(promised / estimated, 0), 1);
}

/* The widths of the bounds shrink like 1/√n, so for them to fit into the estimated gain it takes (widths/gain)² as many
 * data; a guess, and too small a one where a bound still stands at the end of the range of values. `difference` bounds
 * the gain itself where both policies were compared in pairs. */
static double data_needed(const pess_certificate_info *info, double difference) {
    const double gain = info->value_estimate - info->behaviour_value_estimate;
    const double apart = fmax(info->value_estimate - info->lower_bound, 0) +
                         fmax(info->behaviour_upper_bound - info->behaviour_value_estimate, 0);
    const double widths = fmin(apart, fmax(gain - difference, 0));
    if (!(gain > 0)) return NAN;
    return fmax(widths * widths / (gain * gain), 1);
}

/* Of the most likely action of the policy and of the log, at a state with data; the smallest one of equals. */
static bool differs(const pess_counts *counts, const double *pi, int64_t s) {
    int64_t chosen = 0, logged = 0;
    for (int64_t a = 1; a < counts->actions; a++) {
        if (pi[a] > pi[chosen]) chosen = a;
        if (counts->n[s * counts->actions + a] > counts->n[s * counts->actions + logged]) logged = a;
    }
    return chosen != logged;
}

static void compare_with_log(const pess__certification *job, pess_certificate_info *info) {
    const pess_counts *counts = job->counts;
    const pess_policy *policy = job->certificate->policy;
    double kept = 0, compared = 0, changed = 0;
    for (int64_t s = 0; s < counts->states; s++) {
        const double *pi = policy->probability + s * counts->actions;
        if (counts->n_state[s] == 0) continue;
        compared++;
        changed += differs(counts, pi, s);
        /* Of the decisions at a state, as many as both would make: 1 − total variation. */
        for (int64_t a = 0; a < counts->actions; a++)
            kept += fmin(pi[a] * (double)counts->n_state[s], (double)counts->n[s * counts->actions + a]);
    }
    kept = pess__sum_of_all(counts->spread, kept);
    info->states_compared = (int64_t)pess__sum_of_all(counts->spread, compared);
    info->states_changed = (int64_t)pess__sum_of_all(counts->spread, changed);
    info->decisions_changed = counts->transitions > 0 ? fmax(1 - kept / (double)counts->transitions, 0) : 0;
}

static void describe(const pess__certification *job, pess_certificate_info *info) {
    info->uncertainty = job->options->method == PESS_CERTIFY_EPISODES ? NULL : job->uncertainty;
    info->gamma = job->options->gamma;
    info->delta = job->options->delta;
    info->horizon = job->options->horizon;
    info->split = !isnan(job->options->split) || info->uncertainty ? pess__split_share(job) : 0.5;
    info->may_end = job->model->has_terminals;
    info->outcome = job->sweeps.capped ? PESS_OUTCOME_ITERATION_LIMIT : PESS_OUTCOME_CONVERGED;
    info->residual = job->sweeps.residual;
    info->transitions = job->counts->transitions;
    info->episodes = job->counts->has_episodes ? job->counts->episodes : 0;
    if (!job->split) return;
    info->first_part = job->split->first_rows;
    info->second_part = job->split->second_rows;
}

void pess__conclude(pess__certification *job, double optimal_upper) {
    pess_certificate_info *info = &job->certificate->info;
    info->value_lo = job->v_lo;
    info->value_hi = job->v_hi;
    info->lower_bound = fmax(info->lower_bound, job->v_lo);
    info->optimal_upper_bound = fmin(optimal_upper, job->v_hi);
    info->suboptimality_upper_bound = info->optimal_upper_bound - info->lower_bound;
    if (!job->compares) info->behaviour_upper_bound = job->v_hi;
    info->improvement_lower_bound = fmax(info->lower_bound - info->behaviour_upper_bound, job->difference);
    info->recommend_switch = info->improvement_lower_bound > 0;
    info->certified_share = certified_share(info);
    info->vacuous = !info->recommend_switch && info->certified_share < VACUOUS_BELOW;
    info->data_needed = job->compares && !info->recommend_switch ? data_needed(info, job->difference) : NAN;
    compare_with_log(job, info);
    describe(job, info);
}
