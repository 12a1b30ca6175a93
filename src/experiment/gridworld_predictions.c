/* The predictions of the paper's experiment section, each as a number that either bears it out or does not. Scores put
 * the random policy at 0 and the optimal one at 1. */
#include "experiment/gridworld.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Curve of an algorithm: its points stand together. NULL: not among those that were run. */
static const pess_experiment_point *curve(const pess__trials *t, const char *name, int64_t *count) {
    const pess__gridworld *grid = t->context;
    *count = grid->plan.case_count;
    for (int64_t m = 0; m < grid->name_count; m++)
        if (strcmp(grid->names[m], name) == 0) return t->experiment->points + m * *count;
    return NULL;
}

static double score_at(const pess__trials *t, const char *name, int64_t i) {
    int64_t n = 0;
    const pess_experiment_point *own = curve(t, name, &n), *random = curve(t, "random", &n),
                                *optimal = curve(t, "optimal", &n);
    return (own[i].mean - random[i].mean) / (optimal[i].mean - random[i].mean);
}

static double mean_score(const pess__trials *t, const char *name) {
    int64_t n = 0;
    (void)curve(t, name, &n);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += score_at(t, name, i);
    return sum / (double)n;
}

static bool has(const pess__trials *t, const char *name) {
    int64_t n = 0;
    return curve(t, name, &n) != NULL;
}

/* Predictions are judged where the experiment is the paper's: its curves, and both ends of its axis. */
static bool can_judge(const pess__trials *t) {
    const pess__gridworld *grid = t->context;
    return grid->plan.case_count >= 3 && has(t, "imitation") && has(t, "naive") && has(t, "ua") && has(t, "proximal");
}

static const char *NAIVE_REASON =
    "with these rewards the uniformly random reward of an unseen pair looks worse than average, so even the naive "
    "algorithm stays with what it has seen";
/* Mean rewards above one half are what makes the naive algorithm's guess about unseen pairs a pessimistic one. */
static pess_experiment_claim *predict(pess__trials *t, const char *algorithm, const char *claim, const char *reason,
                                      pess_error *error) {
    pess_experiment_claim *row = pess__experiment_add_claim(t->experiment, algorithm, claim, NULL, error);
    if (row != NULL && t->options->reward_beta[0] > t->options->reward_beta[1]) row->reason = reason;
    return row;
}

/* Best on average over the axis: the paper's "outperforms all other approaches". */
static pess_status judge_best(pess__trials *t, pess_error *error) {
    static const char *const others[] = {"imitation", "naive", "proximal"};
    pess_experiment_claim *row =
        predict(t, "ua", "outperforms all other approaches (largest mean score over the axis)", NULL, error);
    if (row == NULL) return PESS_MEMORY;
    row->holds = true;
    for (int i = 0; i < 3; i++) row->holds = row->holds && mean_score(t, "ua") > mean_score(t, others[i]);
    (void)snprintf(row->found, sizeof row->found, "mean scores: UA %.3f, imitation %.3f, naive %.3f, proximal %.3f",
                   mean_score(t, "ua"), mean_score(t, "imitation"), mean_score(t, "naive"), mean_score(t, "proximal"));
    return PESS_OK;
}

/* "Roughly mirrors the performance of the imitation approach, but improves upon it." */
static pess_status judge_proximal(pess__trials *t, pess_error *error) {
    pess_experiment_claim *row =
        predict(t, "proximal",
                "mirrors imitation and improves on it (nowhere more than 0.05 of the score below it, "
                "above it on average)",
                NULL, error);
    if (row == NULL) return PESS_MEMORY;
    int64_t n = 0;
    (void)curve(t, "proximal", &n);
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const double gain = score_at(t, "proximal", i) - score_at(t, "imitation", i);
        least = fmin(least, gain);
        most = fmax(most, gain);
    }
    const double mean = mean_score(t, "proximal") - mean_score(t, "imitation");
    row->holds = least > -0.05 && mean > 0;
    (void)snprintf(row->found, sizeof row->found, "score above imitation: least %+.3f, mean %+.3f, most %+.3f", least,
                   mean, most);
    return PESS_OK;
}

pess_status pess__gridworld_judge_exploration(pess__trials *t, pess_error *error) {
    if (!can_judge(t)) return PESS_OK;
    int64_t n = 0;
    const pess_experiment_point *imitation = curve(t, "imitation", &n);
    pess_experiment_claim *row = predict(t, "imitation",
                                         "performs well if and only if the data policy does: falls from "
                                         "optimal at ε = 0 to random at ε = 1",
                                         NULL, error);
    if (row == NULL) return PESS_MEMORY;
    bool falls = true;
    for (int64_t i = 1; i < n; i++)
        falls = falls && imitation[i].mean < imitation[i - 1].mean + imitation[i].ci95 + imitation[i - 1].ci95;
    row->holds = falls && fabs(score_at(t, "imitation", 0) - 1) < 0.03 && fabs(score_at(t, "imitation", n - 1)) < 0.03;
    (void)snprintf(row->found, sizeof row->found, "score %.3f at ε = 0, %.3f at ε = 1, %s between",
                   score_at(t, "imitation", 0), score_at(t, "imitation", n - 1), falls ? "falling" : "not falling");

    row =
        predict(t, "naive", "poor on data of a deterministic policy (score below 0.25 at ε = 0)", NAIVE_REASON, error);
    if (row == NULL) return PESS_MEMORY;
    row->holds = score_at(t, "naive", 0) < 0.25;
    (void)snprintf(row->found, sizeof row->found, "score %.3f at ε = 0", score_at(t, "naive", 0));

    row = predict(t, "naive", "stochastic data help it (score at ε = 1 at least 0.3 above that at ε = 0)", NAIVE_REASON,
                  error);
    if (row == NULL) return PESS_MEMORY;
    row->holds = score_at(t, "naive", n - 1) > score_at(t, "naive", 0) + 0.3;
    (void)snprintf(row->found, sizeof row->found, "score %.3f at ε = 0, %.3f at ε = 1", score_at(t, "naive", 0),
                   score_at(t, "naive", n - 1));

    row = predict(t, "ua", "near-optimal where near-optimal data exist (score above 0.9 at ε = 0)", NULL, error);
    if (row == NULL) return PESS_MEMORY;
    row->holds = score_at(t, "ua", 0) > 0.9;
    (void)snprintf(row->found, sizeof row->found, "score %.3f at ε = 0", score_at(t, "ua", 0));
    PESS_TRY(judge_best(t, error));
    return judge_proximal(t, error);
}

pess_status pess__gridworld_judge_data(pess__trials *t, pess_error *error) {
    if (!can_judge(t)) return PESS_OK;
    int64_t n = 0;
    const pess_experiment_point *imitation = curve(t, "imitation", &n), *optimal = curve(t, "optimal", &n);
    pess_experiment_claim *row = predict(t, "imitation",
                                         "follows the data policy: settles at its return, far from optimal, "
                                         "however much data there is",
                                         NULL, error);
    if (row == NULL) return PESS_MEMORY;
    const double last = score_at(t, "imitation", n - 1), before = score_at(t, "imitation", 3 * n / 4);
    row->holds = fabs(last - before) < 0.02 && imitation[n - 1].mean < 0.9 * optimal[n - 1].mean;
    (void)snprintf(row->found, sizeof row->found, "score %.3f with %.0f transitions, %.3f with %.0f", before,
                   imitation[3 * n / 4].x, last, imitation[n - 1].x);

    row = predict(t, "naive", "approaches optimality as data grow (score above 0.95 at the largest size)", NAIVE_REASON,
                  error);
    if (row == NULL) return PESS_MEMORY;
    row->holds = score_at(t, "naive", n - 1) > 0.95;
    (void)snprintf(row->found, sizeof row->found, "score %.3f with %.0f transitions", score_at(t, "naive", n - 1),
                   imitation[n - 1].x);

    row = predict(t, "ua", "approaches optimality as data grow (score above 0.98 at the largest size)", NULL, error);
    if (row == NULL) return PESS_MEMORY;
    row->holds = score_at(t, "ua", n - 1) > 0.98;
    (void)snprintf(row->found, sizeof row->found, "score %.3f with %.0f transitions", score_at(t, "ua", n - 1),
                   imitation[n - 1].x);
    PESS_TRY(judge_best(t, error));
    PESS_TRY(judge_proximal(t, error));

    row = predict(t, "proximal", "does not approach optimality as data grow (score below 0.8 at the largest size)",
                  NULL, error);
    if (row == NULL) return PESS_MEMORY;
    row->holds = score_at(t, "proximal", n - 1) < 0.8;
    (void)snprintf(row->found, sizeof row->found, "score %.3f with %.0f transitions", score_at(t, "proximal", n - 1),
                   imitation[n - 1].x);
    return PESS_OK;
}
