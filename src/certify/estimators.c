/* What a policy is worth by six estimators, with standard errors: evidence beside certificates. With w_t the weight of
 * the steps up to t, q̂ and v̂ of the model, and sums over the steps of each of n episodes:
 *
 *   importance sampling             (1/n) Σ_i w_T·G
 *   per-decision                    (1/n) Σ_i Σ_t γ^t·w_t·r_t
 *   weighted                        Σ_i w_T·G / Σ_i w_T
 *   doubly robust                   (1/n) Σ_i Σ_t γ^t·[w_t(r_t − q̂) + w_{t−1}·v̂]        (Jiang & Li 2016)
 *   weighted doubly robust          the same with w_t/Σ_j w_t in place of w_t/n         (Thomas & Brunskill 2016)
 *   model                           E_ρ[v̂]
 *
 * Of an episode that was cut off, importance sampling counts what was seen; the doubly robust sums add v̂ of the state
 * where it was cut. */
#include "certify/behaviour.h"
#include "certify/betting.h"
#include "certify/importance.h"
#include "core/memory.h"
#include "core/rng.h"
#include "core/settings.h"
#include "core/threads.h"
#include "data/inspect.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(name) PESS__FIELD(pess_estimator_options, name)

static const pess_setting settings[] = {
    {"gamma", 0, PESS_SETTING_NUMBER, FIELD(gamma), "0.99", PESS__FROM_TO(0, 1), .argument = "G",
     .sentence = "discount"},
    {"delta", 0, PESS_SETTING_NUMBER, FIELD(delta), "0.05", PESS__BETWEEN(0, 1), .argument = "D",
     .sentence = "probability that a certified bound is wrong"},
    PESS__RETURN_RANGE_SETTING(pess_estimator_options),
    {"bootstrap", 0, PESS_SETTING_COUNT, FIELD(bootstrap), "100", PESS__AT_LEAST(2), .argument = "N",
     .sentence = "resamples of the episodes for standard errors of the estimators"},
    PESS__SEED_SETTING(pess_estimator_options, "of the resamples of the episodes"),
    PESS__THREADS_SETTING(pess_estimator_options),
};

static const pess_setting_table table = PESS__SETTING_TABLE("estimator", pess_estimator_options, settings);
PESS__SETTINGS_OF(estimator, table)

enum { IS, PER_DECISION, WEIGHTED, DR, WEIGHTED_DR, MODEL };

static const pess_estimate named[PESS_ESTIMATES] = {
    {"importance sampling", "unbiased", NAN, NAN, NAN, NAN, NAN},
    {"per-decision importance sampling", "unbiased", NAN, NAN, NAN, NAN, NAN},
    {"weighted importance sampling", "consistent", NAN, NAN, NAN, NAN, NAN},
    {"doubly robust", "unbiased", NAN, NAN, NAN, NAN, NAN},
    {"weighted doubly robust", "consistent", NAN, NAN, NAN, NAN, NAN},
    {"model", "only with Markov states", NAN, NAN, NAN, NAN, NAN},
};

typedef struct estimation {
    const pess_dataset *data;
    const pess_counts *counts;
    const pess_model *model;
    const pess_policy *policy;
    const pess_estimator_options *options;
    pess__behaviour behaviour;
    pess__trajectories *t;
    int64_t longest;   /* steps of an episode */
    double *start, *v; /* [S] */
    double *q;         /* [S*A] */
    double *weight;    /* [rows in the order of t] w_t */
    double *final;     /* [episodes] w_T */
    double *values[4]; /* [episodes] of IS, PER_DECISION and DR; G in place of WEIGHTED */
} estimation;

static void release(estimation *e) {
    pess__behaviour_release(&e->behaviour);
    pess__trajectories_destroy(e->t);
    free(e->start);
    free(e->v);
    free(e->q);
    free(e->weight);
    free(e->final);
    for (int i = 0; i < 4; i++) free(e->values[i]);
}

/* ------------------------------------------------------------------------------------------------ the model */

/* E_ρ[v̂] of the policy by the model of these counts, with v̂ [S] unless it is NULL. */
static pess_status by_model(const estimation *e, const pess_counts *counts, const pess_model *model, double *v,
                            double *value, pess_error *error) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = e->options->gamma;
    options.threads = 1;
    double *start = NULL;
    pess_solution *solution = NULL;
    PESS_TRY(pess__allocate(&start, counts->states, sizeof *start, "a start distribution", error));
    pess_status status = pess_start_from_counts(counts, start, error);
    if (status == PESS_OK) status = pess_evaluate(counts, model, start, e->policy, &options, &solution, error);
    if (status == PESS_OK) {
        pess_solution_info info;
        pess_solution_get_info(solution, &info);
        *value = info.value;
        if (v) memcpy(v, pess_solution_values(solution), (size_t)counts->states * sizeof *v);
    }
    pess_solution_destroy(solution);
    free(start);
    return status;
}

/* ------------------------------------------------------------------------------------------------ episodes */

/* w_t, G and the sums of one episode. */
static void sum_episode(estimation *e, int64_t i) {
    const pess_dataset *d = e->data;
    double weight = 1, before = 1, discount = 1, whole = 0, decision = 0, robust = 0;
    for (int64_t k = e->t->begin[i]; k < e->t->begin[i + 1]; k++) {
        const int64_t row = e->t->row[k], s = d->state[row], pair = s * d->actions + d->action[row];
        weight = fmin(weight * (e->policy->probability[pair] / e->behaviour.probability[row]), 1e100);
        e->weight[k] = weight;
        whole += discount * d->reward[row];
        decision += discount * weight * d->reward[row];
        robust += discount * (weight > 0 ? weight * (d->reward[row] - e->q[pair]) : 0) + discount * before * e->v[s];
        before = weight;
        discount *= e->options->gamma;
    }
    const int64_t last = e->t->row[e->t->begin[i + 1] - 1];
    if (d->end[last] != PESS_END_TERMINAL) robust += discount * weight * e->v[d->next_state[last]];
    e->final[i] = weight;
    e->values[IS][i] = weight * whole;
    e->values[PER_DECISION][i] = decision;
    e->values[WEIGHTED][i] = whole;
    e->values[DR][i] = robust;
}

static void mean_and_error(const double *values, int64_t count, pess_estimate *to) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++) sum += values[i];
    to->value = sum / (double)count;
    for (int64_t i = 0; i < count; i++) squares += (values[i] - to->value) * (values[i] - to->value);
    to->error = count > 1 ? sqrt(squares / (double)(count - 1) / (double)count) : INFINITY;
}

/* Episode i counts `times[i]`-fold; NULL: each once. */
static double times_of(const uint32_t *times, int64_t i) { return times ? (double)times[i] : 1; }

static double weighted(const estimation *e, const uint32_t *times) {
    double sum = 0, total = 0;
    for (int64_t i = 0; i < e->t->count; i++) {
        sum += times_of(times, i) * e->final[i] * e->values[WEIGHTED][i];
        total += times_of(times, i) * e->final[i];
    }
    return total > 0 ? sum / total : NAN;
}

/* total [longest+1] <- Σ_i w_{t−1} at t; an episode that is over keeps its last weight. */
static void sum_weights(const estimation *e, const uint32_t *times, double *total) {
    double over = 0;
    memset(total, 0, (size_t)(e->longest + 2) * sizeof *total);
    double *ended = total + e->longest + 2;
    memset(ended, 0, (size_t)(e->longest + 2) * sizeof *ended);
    for (int64_t i = 0; i < e->t->count; i++) {
        const double n = times_of(times, i);
        const int64_t first = e->t->begin[i], length = e->t->begin[i + 1] - first;
        total[0] += n;
        for (int64_t t = 0; t < length; t++) total[t + 1] += n * e->weight[first + t];
        ended[length + 1] += n * e->final[i];
    }
    for (int64_t t = 1; t <= e->longest + 1; t++) {
        over += ended[t];
        total[t] += over;
    }
}

/* room [2·(longest + 2)]. */
static double weighted_robust(const estimation *e, const uint32_t *times, double *room) {
    const pess_dataset *d = e->data;
    double sum = 0;
    sum_weights(e, times, room);
    for (int64_t i = 0; i < e->t->count; i++) {
        const double n = times_of(times, i);
        double before = 1, discount = 1;
        const int64_t first = e->t->begin[i], last = e->t->begin[i + 1] - 1;
        for (int64_t k = first; n > 0 && k <= last; k++) {
            const int64_t row = e->t->row[k], s = d->state[row], pair = s * d->actions + d->action[row], t = k - first;
            const double w = e->weight[k];
            if (w > 0) sum += n * discount * w * (d->reward[row] - e->q[pair]) / room[t + 1];
            if (before > 0) sum += n * discount * before * e->v[s] / room[t];
            before = w;
            discount *= e->options->gamma;
        }
        const int64_t row = e->t->row[last];
        if (n > 0 && before > 0 && d->end[row] != PESS_END_TERMINAL)
            sum += n * discount * before * e->v[d->next_state[row]] / room[last - first + 1];
    }
    return sum;
}

/* ------------------------------------------------------------------------------------------------ the bootstrap */

/* The log of the episodes that were drawn, each time as an episode of its own. */
static pess_status resampled_log(const estimation *e, const uint32_t *times, pess_dataset **out, pess_error *error) {
    int64_t count = 0, episodes = 0, at = 0, *row = NULL, *episode = NULL;
    for (int64_t i = 0; i < e->t->count; i++) count += times[i] * (e->t->begin[i + 1] - e->t->begin[i]);
    pess_status status = pess__allocate(&row, count, sizeof *row, "a resampled log", error);
    if (status == PESS_OK) status = pess__allocate(&episode, count, sizeof *episode, "a resampled log", error);
    for (int64_t i = 0; status == PESS_OK && i < e->t->count; i++)
        for (uint32_t n = 0; n < times[i]; n++, episodes++)
            for (int64_t k = e->t->begin[i]; k < e->t->begin[i + 1]; k++, at++) {
                row[at] = e->t->row[k];
                episode[at] = episodes;
            }
    if (status == PESS_OK) status = pess__dataset_take(e->data, row, count, episode, out, error);
    free(row);
    free(episode);
    return status;
}

static pess_status resampled_model(const estimation *e, const uint32_t *times, double *value, pess_error *error) {
    pess_dataset *data = NULL;
    pess_counts *counts = NULL;
    pess_status status = resampled_log(e, times, &data, error);
    if (status == PESS_OK) status = pess_counts_create(data, 1, &counts, error);
    pess_dataset_destroy(data);
    pess_model *model = NULL;
    pess_model_options options = pess_model_options_defaults();
    options.unseen = PESS_UNSEEN_WORST;
    options.reward_range[0] = e->model->reward_lo;
    options.reward_range[1] = e->model->reward_hi;
    if (status == PESS_OK) status = pess_model_estimate(counts, &options, &model, error);
    /* An end that was not drawn is still one. */
    if (status == PESS_OK)
        memcpy(model->terminal, e->model->terminal, (size_t)e->data->states * sizeof *model->terminal);
    if (status == PESS_OK) status = by_model(e, counts, model, NULL, value, error);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    return status;
}

typedef struct resample {
    double weighted, weighted_robust, model;
    pess_status status;
    pess_error error;
} resample;

static void draw(const estimation *e, int64_t index, resample *to) {
    uint32_t *times = NULL;
    double *room = NULL;
    pess__rng rng = pess__rng_stream(e->options->seed, "bootstrap", (uint64_t)index);
    to->status = pess__allocate(&times, e->t->count, sizeof *times, "a resample", &to->error);
    if (to->status == PESS_OK)
        to->status = pess__allocate(&room, 2 * (e->longest + 2), sizeof *room, "a resample", &to->error);
    if (to->status == PESS_OK) {
        for (int64_t i = 0; i < e->t->count; i++) times[pess__rng_below(&rng, (uint64_t)e->t->count)]++;
        to->weighted = weighted(e, times);
        to->weighted_robust = weighted_robust(e, times, room);
        to->status = resampled_model(e, times, &to->model, &to->error);
    }
    free(times);
    free(room);
}

static double spread(const resample *all, int64_t count, size_t offset) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++) sum += *(const double *)((const char *)&all[i] + offset);
    for (int64_t i = 0; i < count; i++) {
        const double away = *(const double *)((const char *)&all[i] + offset) - sum / (double)count;
        squares += away * away;
    }
    return sqrt(squares / (double)(count - 1));
}

static pess_status bootstrap(const estimation *e, pess_estimates *out, pess_error *error) {
    const int64_t count = e->options->bootstrap;
    resample *all = NULL;
    PESS_TRY(pess__allocate(&all, count, sizeof *all, "resamples", error));
#pragma omp parallel for num_threads(pess__threads(e->options->threads)) schedule(dynamic, 1)
    for (int64_t i = 0; i < count; i++) draw(e, i, &all[i]);
    pess_status status = PESS_OK;
    for (int64_t i = 0; status == PESS_OK && i < count; i++)
        if ((status = all[i].status) != PESS_OK && error) *error = all[i].error;
    out->rows[WEIGHTED].error = spread(all, count, offsetof(resample, weighted));
    out->rows[WEIGHTED_DR].error = spread(all, count, offsetof(resample, weighted_robust));
    out->rows[MODEL].error = spread(all, count, offsetof(resample, model));
    free(all);
    return status;
}

/* ------------------------------------------------------------------------------------------------ all of them */

static pess_status prepare(estimation *e, pess_error *error) {
    const pess_dataset *d = e->data;
    const char *what = "estimates";
    if (d->episode == NULL)
        return pess__fail(error, PESS_INPUT, "the log has no episode column: whole episodes cannot be told apart");
    PESS_TRY(pess__policy_check_table(e->policy, d->states, d->actions, "the log", error));
    PESS_TRY(pess__behaviour_create(d, e->counts, e->options->behaviour, e->options->behaviour_estimated, &e->behaviour,
                                    error));
    PESS_TRY(pess__trajectories_create(d, &e->t, error));
    for (int64_t i = 0; i < e->t->count; i++)
        if (e->t->begin[i + 1] - e->t->begin[i] > e->longest) e->longest = e->t->begin[i + 1] - e->t->begin[i];
    PESS_TRY(pess__allocate(&e->v, d->states, sizeof *e->v, what, error));
    PESS_TRY(pess__allocate(&e->q, d->states * d->actions, sizeof *e->q, what, error));
    PESS_TRY(pess__allocate(&e->weight, d->rows, sizeof *e->weight, what, error));
    PESS_TRY(pess__allocate(&e->final, e->t->count, sizeof *e->final, what, error));
    for (int i = 0; i < 4; i++) PESS_TRY(pess__allocate(&e->values[i], e->t->count, sizeof(double), what, error));
    return PESS_OK;
}

static pess_status look_at_episodes(const estimation *e, bool *whole, pess_error *error) {
    pess_inspection *inspection = NULL;
    PESS_TRY(pess_dataset_inspect(e->data, &inspection, error));
    *whole = pess__episodes_are_whole(inspection);
    pess_inspection_destroy(inspection);
    return PESS_OK;
}

/* L(δ) of whole episodes: proved where the policy does not depend on them, and all of their steps are there. */
static pess_status certified(const estimation *e, pess_estimate *to, pess_error *error) {
    double lo, hi;
    pess__returns *returns = NULL;
    pess_model with_range = *e->model;
    if (!isnan(e->options->return_range[0])) {
        with_range.return_declared = true;
        with_range.return_lo = e->options->return_range[0];
        with_range.return_hi = e->options->return_range[1];
    }
    pess__value_range(&with_range, e->options->gamma, &lo, &hi);
    if (!isfinite(lo) || !isfinite(hi) || strcmp(e->behaviour.source, "estimated") == 0) return PESS_OK;
    bool whole = false;
    PESS_TRY(look_at_episodes(e, &whole, error));
    if (!whole) return PESS_OK;
    double *values = NULL;
    PESS_TRY(pess__allocate(&values, e->t->count, sizeof *values, "estimates", error));
    const pess_status status = pess__returns_create(e->data, e->t, e->options->gamma, lo, hi, &returns, error);
    if (status == PESS_OK) {
        pess__importance_values(returns, e->final, 0, e->t->count, INFINITY, values);
        const double least = lo + pess__bet_lower(values, e->t->count, e->options->delta);
        /* E[w(HI − G)] ≤ HI − V, also where courses of the policy are missing in the log. */
        for (int64_t i = 0; i < e->t->count; i++) values[i] = e->final[i] * (hi - returns->most[i]);
        const double most = hi - pess__bet_lower(values, e->t->count, e->options->delta);
        /* Not possible: the policy is no stranger to these episodes. */
        const bool possible = least <= hi && most >= lo;
        to->lower_bound = possible ? least : NAN;
        to->upper_bound = possible ? most : NAN;
    }
    pess__returns_destroy(returns);
    free(values);
    return status;
}

/* Episodes that go on behind their last row. */
static int64_t count_cutoffs(const estimation *e) {
    int64_t cutoffs = 0;
    for (int64_t i = 0; i < e->t->count; i++)
        cutoffs += e->data->end[e->t->row[e->t->begin[i + 1] - 1]] != PESS_END_TERMINAL;
    return cutoffs;
}

/* What each estimate is, which the end of the file's first comment explains. */
static const char *what_holds(int estimator, bool estimated, bool cut) {
    static const char *const seen[] = {"unbiased of the steps seen", "consistent of the steps seen"},
                             *const after[] = {"unbiased, by the model after cut-offs",
                                               "consistent, by the model after cut-offs"};
    if (estimator == MODEL) return named[MODEL].unbiased;
    const bool consistent = estimated || estimator == WEIGHTED || estimator == WEIGHTED_DR;
    if (!cut) return consistent ? "consistent" : "unbiased";
    return (estimator == DR || estimator == WEIGHTED_DR ? after : seen)[consistent];
}

static pess_status estimate(estimation *e, pess_estimates *out, pess_error *error) {
    const int64_t count = e->t->count;
    double *room = NULL;
    PESS_TRY(by_model(e, e->counts, e->model, e->v, &out->rows[MODEL].value, error));
    PESS_TRY(pess_q_values(e->model, e->options->gamma, e->v, e->q, error));
    for (int64_t i = 0; i < count; i++) sum_episode(e, i);
    mean_and_error(e->values[IS], count, &out->rows[IS]);
    mean_and_error(e->values[PER_DECISION], count, &out->rows[PER_DECISION]);
    mean_and_error(e->values[DR], count, &out->rows[DR]);
    PESS_TRY(pess__allocate(&room, 2 * (e->longest + 2), sizeof *room, "estimates", error));
    out->rows[WEIGHTED].value = weighted(e, NULL);
    out->rows[WEIGHTED_DR].value = weighted_robust(e, NULL, room);
    free(room);
    const pess__weight_summary s = pess__importance_summary(e->final, count);
    for (int i = 0; i < MODEL; i++) out->rows[i].effective = s.effective;
    PESS_TRY(bootstrap(e, out, error));
    PESS_TRY(certified(e, &out->rows[IS], error));
    const pess_estimate *robust = &out->rows[DR], *model = &out->rows[MODEL];
    out->disagreement =
        fabs(robust->value - model->value) / sqrt(robust->error * robust->error + model->error * model->error);
    out->disagrees = out->disagreement > 3;
    return PESS_OK;
}

pess_status pess_estimate_policy(const pess_dataset *data, const pess_counts *counts, const pess_model *model,
                                 const pess_policy *policy, const pess_estimator_options *options, pess_estimates *out,
                                 pess_error *error) {
    pess_estimator_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    PESS_TRY(pess__counts_need_all(counts, error));
    estimation e = {.data = data, .counts = counts, .model = model, .policy = policy, .options = &settled};
    *out = (pess_estimates){0};
    memcpy(out->rows, named, sizeof named);
    pess_status status = prepare(&e, error);
    if (status == PESS_OK) status = estimate(&e, out, error);
    if (status == PESS_OK) {
        out->episodes = e.t->count;
        out->cutoffs = count_cutoffs(&e);
        for (int i = 0; i < PESS_ESTIMATES; i++)
            out->rows[i].unbiased = what_holds(i, settled.behaviour_estimated, out->cutoffs > 0);
    }
    release(&e);
    return status;
}
