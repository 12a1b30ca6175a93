/* Importance sampling over the n whole episodes, with w_t = Π_{k<=t} π(a_k|s_k)/b_k of the steps up to t, T the last:
 *
 *   per-decision   (1/n) Σ_i Σ_t γ^t w_t r_t          weighted   V = Σ_i w_T G / Σ_i w_T        (Precup et al. 2000)
 *
 * with standard errors sd/√n, and √(Σ w_T²(G − V)²)/Σ w_T (delta method), of which one weight alone says nothing. Of an
 * episode that was cut off, what was seen counts. */
#include "score/score.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

#define LARGEST 1e100 /* a weight is cut to it */

typedef struct sums {
    double weight, decision, whole; /* of an episode: w_T, Σ γ^t w_t r_t, G */
} sums;

static sums sum_episode(const pess__policy_table *table, const pess_observations *data, double gamma,
                        const float *behaviour, int64_t from, int64_t to) {
    sums s = {.weight = 1};
    double discount = 1;
    for (int64_t i = from; i < to; i++, discount *= gamma) {
        const double now = (double)table->probability[data->state[i] * data->actions + data->action[i]];
        s.weight = fmin(s.weight * (now / fmax((double)behaviour[i], 1e-30)), LARGEST);
        s.decision += discount * s.weight * (double)data->reward[i];
        s.whole += discount * (double)data->reward[i];
    }
    return s;
}

/* Standard error of the mean of a column. */
static double error_of(const sums *all, int64_t count, size_t offset, double mean) {
    double squares = 0;
    for (int64_t i = 0; i < count; i++) {
        const double away = *(const double *)((const char *)&all[i] + offset) - mean;
        squares += away * away;
    }
    return count > 1 ? sqrt(squares / (double)(count - 1) / (double)count) : NAN;
}

static void sum_up(const sums *all, int64_t count, pess_score *out) {
    double weight = 0, squares = 0, decision = 0, whole = 0, largest = 0, spread = 0;
    int64_t zeros = 0;
    for (int64_t i = 0; i < count; i++) {
        weight += all[i].weight;
        squares += all[i].weight * all[i].weight;
        decision += all[i].decision;
        whole += all[i].weight * all[i].whole;
        largest = fmax(largest, all[i].weight);
        zeros += !(all[i].weight > 0);
    }
    const double n = (double)count;
    out->per_decision = decision / n;
    out->per_decision_error = error_of(all, count, offsetof(sums, decision), out->per_decision);
    out->mean_weight = weight / n;
    out->mean_weight_error = error_of(all, count, offsetof(sums, weight), out->mean_weight);
    out->largest_weight = largest;
    out->zero_share = (double)zeros / n;
    out->effective = weight > 0 ? weight / squares * weight : 0;
    if (!(weight > 0)) return; /* no episode that the policy could have had: nothing to average over */
    out->weighted = whole / weight;
    for (int64_t i = 0; i < count; i++) {
        const double away = all[i].weight * (all[i].whole - out->weighted);
        spread += away * away;
    }
    out->weighted_error = count - zeros > 1 ? sqrt(spread) / weight : NAN;
}

pess_status pess__score_by_weights(const pess__policy_table *table, const pess_observations *data,
                                   const pess__score_episodes *episodes, double gamma, const float *behaviour,
                                   pess_score *out, pess_error *error) {
    sums *all = NULL;
    int64_t count = 0;
    if (episodes->whole == 0) return PESS_OK;
    PESS_TRY(pess__allocate(&all, episodes->whole, sizeof *all, "the weights of episodes", error));
    for (int64_t k = 0; k < episodes->count; k++)
        if (episodes->is_whole[k])
            all[count++] = sum_episode(table, data, gamma, behaviour, episodes->begin[k], episodes->begin[k + 1]);
    sum_up(all, count, out);
    free(all);
    return PESS_OK;
}
