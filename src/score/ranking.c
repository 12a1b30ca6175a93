/* Which policy to take. Values by the criterion decide; with criteria that are values, how much better another one may
 * be is judged by differences d to the chosen: of fitted Q evaluation network by network, since network k saw the same
 * resample whatever the policy was, so that what they have in common cancels; of importance sampling as if independent,
 * d ∓ z·√(e² + e'²). */
#include "score/score.h"

#include <math.h>

/* ---- Student's law */

/* P(|T| <= t), by the series for whole degrees of freedom (Abramowitz & Stegun 26.7.3 and 26.7.4). */
static double student_within(double t, int64_t freedom) {
    const double angle = atan(t / sqrt((double)freedom)), cosine = cos(angle);
    double term = freedom % 2 == 1 ? cosine : 1, sum = freedom == 1 ? 0 : term;
    for (int64_t k = freedom % 2 == 1 ? 3 : 2; k <= freedom - 2; k += 2) {
        term *= (double)(k - 1) / (double)k * cosine * cosine;
        sum += term;
    }
    return freedom % 2 == 1 ? 2 / M_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

double pess__student_quantile(double p, int64_t freedom) {
    double below = 0, above = 1;
    while (student_within(above, freedom) < 2 * p - 1 && above < 1e12) above *= 2;
    for (int step = 0; step < 100; step++) {
        const double middle = (below + above) / 2;
        if (student_within(middle, freedom) < 2 * p - 1)
            below = middle;
        else
            above = middle;
    }
    return above;
}

/* ---- values by the criterion */

static double value_of(const pess_score *s, pess_score_criterion criterion) {
    switch (criterion) {
        case PESS_SCORE_FQE: return s->fqe;
        case PESS_SCORE_FQE_LOWER: return s->fqe_lower;
        case PESS_SCORE_PER_DECISION: return s->per_decision;
        case PESS_SCORE_WEIGHTED: return s->weighted;
        case PESS_SCORE_TD_ERROR: return s->td_error;
        case PESS_SCORE_PREDICTED: return s->predicted;
        case PESS_SCORE_UNLOGGED: return s->unlogged;
    }
    return NAN;
}

static bool better(const pess_score *a, const pess_score *b, bool least) {
    return least ? a->value < b->value : a->value > b->value;
}

/* ---- differences */

typedef struct difference {
    double mean, error, upper; /* upper: one-sided, δ/2 */
} difference;

static difference by_networks(const pess_score *a, const pess_score *b, const pess_scores_info *info) {
    double squares = 0;
    difference d = {.mean = a->fqe - b->fqe, .error = NAN, .upper = NAN};
    if (info->networks < 2 || isnan(a->fqe_spread)) return d;
    for (int64_t k = 0; k < info->networks; k++) {
        const double away = a->fqe_networks[k] - b->fqe_networks[k] - d.mean;
        squares += away * away;
    }
    d.error = sqrt(squares / (double)(info->networks - 1));
    d.upper = d.mean + pess__student_quantile(1 - info->delta / 2, info->networks - 1) * d.error;
    return d;
}

/* As many degrees of freedom as make Student's law the normal one. */
static difference by_errors(const pess_score *a, const pess_score *b, double error_a, double error_b, double delta) {
    difference d = {.mean = a->value - b->value, .error = sqrt(error_a * error_a + error_b * error_b)};
    d.upper = d.mean + pess__student_quantile(1 - delta / 2, 1000) * d.error;
    return d;
}

/* a less b. */
static difference between(const pess_score *a, const pess_score *b, const pess_scores_info *info) {
    switch (info->criterion) {
        case PESS_SCORE_FQE:
        case PESS_SCORE_FQE_LOWER: return by_networks(a, b, info);
        case PESS_SCORE_PER_DECISION: return by_errors(a, b, a->per_decision_error, b->per_decision_error, info->delta);
        case PESS_SCORE_WEIGHTED: return by_errors(a, b, a->weighted_error, b->weighted_error, info->delta);
        case PESS_SCORE_TD_ERROR:
        case PESS_SCORE_PREDICTED:
        case PESS_SCORE_UNLOGGED: break;
    }
    return (difference){NAN, NAN, NAN};
}

void pess__score_rank(pess_score *scores, int64_t count, pess_scores_info *info) {
    const bool least = info->criterion == PESS_SCORE_TD_ERROR || info->criterion == PESS_SCORE_UNLOGGED;
    info->chosen = info->runner_up = -1;
    info->margin = info->margin_error = info->shortfall = NAN;
    for (int64_t i = 0; i < count; i++) scores[i].value = value_of(&scores[i], info->criterion);
    for (int64_t i = 0; i < count; i++) {
        scores[i].rank = isnan(scores[i].value) ? 0 : 1;
        for (int64_t j = 0; j < count && scores[i].rank > 0; j++)
            scores[i].rank += better(&scores[j], &scores[i], least) || (j < i && scores[j].value == scores[i].value);
        if (scores[i].rank == 1) info->chosen = i;
        if (scores[i].rank == 2) info->runner_up = i;
    }
    if (info->runner_up < 0) return;
    const difference next = between(&scores[info->chosen], &scores[info->runner_up], info);
    info->margin = next.mean;
    info->margin_error = next.error;
    double shortfall = 0;
    for (int64_t i = 0; i < count; i++)
        if (i != info->chosen && scores[i].rank > 0) {
            const double upper = between(&scores[i], &scores[info->chosen], info).upper;
            shortfall = isnan(upper) ? NAN : fmax(shortfall, upper) + 0 * shortfall; /* NAN stays */
        }
    info->shortfall = shortfall;
}
