/* What a held-out fold says of a policy that it did not make. */
#include "choose/choose.h"

#include "certify/importance.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- by the model of the fold */

/* At γ = 1 a policy need not end in the model of a fold: it is valued at this discount instead, and within the range of
 * values where there is one. */
static const double LARGEST_DISCOUNT = 1 - 1e-6;

enum { AVERAGE, LOWEST, EXTRA }; /* the further actions */

static void fill_seen(const pess_counts *part, int64_t z, pess_model *model, int64_t to, int64_t *used) {
    const double n = (double)part->n[z];
    model->kind[to] = PESS_ROW_SPARSE;
    model->reward[to] = part->reward_sum[z] / n;
    model->end_mass[to] = (double)part->n_terminal[z] / n;
    for (int64_t k = part->row[z]; k < part->row[z + 1]; k++) {
        model->next[*used] = part->next[k];
        model->probability[(*used)++] = (double)part->n_next[k] / n;
    }
}

static int ascending(const void *left, const void *right) {
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The state's row under the policy that made the log: its transitions, whatever the action. `n_next` [S] is zero before
 * and after. A state that the log never acted in leads anywhere, with the mean reward. */
static void fill_average(const pess_counts *whole, int64_t s, double mean, pess_model *model, int64_t to,
                         int64_t *n_next, int64_t *used) {
    const int64_t from = *used;
    double reward = 0, ended = 0;
    for (int64_t z = s * whole->actions; z < (s + 1) * whole->actions; z++) {
        reward += whole->reward_sum[z];
        ended += (double)whole->n_terminal[z];
        for (int64_t k = whole->row[z]; k < whole->row[z + 1]; k++) {
            if (n_next[whole->next[k]] == 0) model->next[(*used)++] = whole->next[k];
            n_next[whole->next[k]] += whole->n_next[k];
        }
    }
    const double n = (double)whole->n_state[s];
    qsort(model->next + from, (size_t)(*used - from), sizeof *model->next, ascending);
    for (int64_t k = from; k < *used; k++) {
        model->probability[k] = (double)n_next[model->next[k]] / n;
        n_next[model->next[k]] = 0;
    }
    model->kind[to] = n > 0 ? PESS_ROW_SPARSE : PESS_ROW_UNIFORM;
    model->reward[to] = n > 0 ? reward / n : mean;
    model->end_mass[to] = n > 0 ? ended / n : 0;
}

static void fill_lowest(double lowest, pess_model *model, int64_t to) {
    model->kind[to] = PESS_ROW_SPARSE;
    model->reward[to] = lowest;
    model->end_mass[to] = 1;
}

static void fill_model(const pess_counts *whole, const pess_counts *part, double lowest, pess_model *model,
                       int64_t *n_next) {
    const int64_t actions = whole->actions;
    double sum = 0;
    for (int64_t z = 0; z < whole->states * actions; z++) sum += whole->reward_sum[z];
    int64_t used = 0;
    for (int64_t s = 0; s < whole->states; s++)
        for (int64_t a = 0; a < actions + EXTRA; a++) {
            const int64_t to = s * (actions + EXTRA) + a, z = s * actions + a;
            model->row[to] = used;
            if (model->terminal[s]) continue;
            if (a == actions + LOWEST)
                fill_lowest(lowest, model, to);
            else if (a == actions + AVERAGE)
                fill_average(whole, s, sum / (double)whole->transitions, model, to, n_next, &used);
            else if (part->n[z] > 0)
                fill_seen(part, z, model, to, &used);
        }
    model->row[whole->states * (actions + EXTRA)] = used;
}

pess_status pess__judge_create(const pess_counts *whole, const pess_counts *part, const pess_model *fitted,
                               const double *start, const pess_solve_options *solve, double lowest, pess__judge *out,
                               pess_error *error) {
    const int64_t states = whole->states, pairs = states * whole->actions;
    int64_t *n_next = NULL;
    pess_model *model = NULL;
    PESS_TRY(pess__allocate(&n_next, states, sizeof *n_next, "the model of a fold", error));
    const pess_status status =
        pess__model_create(states, whole->actions + EXTRA, part->row[pairs] + whole->row[pairs], &model, error);
    if (status == PESS_OK) {
        memcpy(model->terminal, fitted->terminal, (size_t)states);
        model->has_terminals = fitted->has_terminals;
        *out = (pess__judge){.whole = whole,
                             .part = part,
                             .model = model,
                             .gamma = solve->horizon > 0 ? solve->gamma : fmin(solve->gamma, LARGEST_DISCOUNT),
                             .horizon = solve->horizon,
                             .start = start};
        if (solve->horizon > 0)
            pess__horizon_range(fitted, solve->gamma, solve->horizon, &out->v_lo, &out->v_hi);
        else
            pess__value_range(fitted, solve->gamma, &out->v_lo, &out->v_hi);
        fill_model(whole, part, isfinite(out->v_lo) ? out->v_lo : lowest, model, n_next);
        model->reward_lo = fitted->reward_lo;
        model->reward_hi = fitted->reward_hi;
    }
    free(n_next);
    return status;
}

void pess__judge_release(pess__judge *judge) {
    pess_model_destroy(judge->model);
    *judge = (pess__judge){0};
}

/* The policy with what it does in pairs that the fold lacks moved to one of the further actions. */
static pess_status judged_policy(const pess__judge *judge, const pess_policy *policy, pess_policy **out,
                                 pess_error *error) {
    const int64_t actions = policy->actions;
    pess_policy *judged = NULL;
    PESS_TRY(pess__policy_allocate_steps(policy->steps, policy->states, actions + EXTRA, &judged, error));
    for (int64_t i = 0; i < policy->steps * policy->states; i++) {
        const int64_t s = i % policy->states;
        const double *from = policy->probability + i * actions;
        double *to = judged->probability + i * (actions + EXTRA);
        if (judge->model->terminal[s]) continue;
        for (int64_t a = 0; a < actions; a++) {
            const int64_t z = s * actions + a;
            const bool known = judge->whole->n[z] > 0 || judge->whole->n_state[s] == 0;
            to[judge->part->n[z] > 0 ? a : actions + (known ? AVERAGE : LOWEST)] += from[a];
        }
    }
    *out = judged;
    return PESS_OK;
}

pess_status pess__judge_score(const pess__judge *judge, const pess_policy *policy, double *score, pess_error *error) {
    pess_policy *judged = NULL;
    pess_solution *solution = NULL;
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = judge->gamma;
    options.horizon = judge->horizon;
    options.tolerance = fmax(PESS__CHOICE_TOLERANCE * (judge->model->reward_hi - judge->model->reward_lo), 1e-300);
    options.threads = 1;
    PESS_TRY(judged_policy(judge, policy, &judged, error));
    const pess_status status = pess_evaluate(NULL, judge->model, judge->start, judged, &options, &solution, error);
    if (status == PESS_OK) {
        pess_solution_info info;
        pess_solution_get_info(solution, &info);
        *score = fmin(fmax(info.naive_value, judge->v_lo), judge->v_hi);
    }
    pess_solution_destroy(solution);
    pess_policy_destroy(judged);
    return status;
}

/* ---- by importance weights */

/* Π_t π_t(a|s)/b over the first steps of an episode. */
static double weight_by_steps(const pess__folds *folds, int64_t episode, const pess_policy *policy, int64_t horizon) {
    const pess_dataset *data = folds->data;
    const int64_t *row = folds->episodes.row + folds->episodes.begin[episode];
    const int64_t length = folds->episodes.begin[episode + 1] - folds->episodes.begin[episode];
    double weight = 1;
    for (int64_t t = 0; t < length && t < horizon; t++) {
        const double *pi = pess_policy_step_row(policy, policy->steps > 1 ? t : 0, data->state[row[t]]);
        weight *= pi[data->action[row[t]]] / data->probability[row[t]];
    }
    return weight;
}

pess_status pess__weighted_score(const pess__folds *folds, int64_t fold, const pess_policy *policy, int64_t horizon,
                                 const double *returns, pess__weighted *out, pess_error *error) {
    const int64_t from = folds->first[fold], to = folds->first[fold + 1];
    double *weight = NULL, value = 0;
    PESS_TRY(pess__allocate(&weight, to - from, sizeof *weight, "the weights of a fold", error));
    if (horizon == 0)
        pess__importance_weights(folds->data, &folds->episodes, folds->data->probability, policy->probability, 1, 0,
                                 from, to, 1, weight, NULL);
    for (int64_t e = from; e < to && horizon > 0; e++) weight[e - from] = weight_by_steps(folds, e, policy, horizon);
    *out = (pess__weighted){0};
    for (int64_t e = from; e < to; e++) {
        const double w = weight[e - from];
        out->sum += w;
        out->squares += w * w;
        value += w * returns[e];
    }
    out->mean = out->sum > 0 ? value / out->sum : NAN;
    free(weight);
    return PESS_OK;
}
