#include "certify/choosing.h"

#include "certify/behaviour.h"
#include "core/memory.h"
#include "data/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pess__choosing_fold(const pess__choosing *choosing, int fold, int64_t *from, int64_t *to) {
    *from = choosing->episodes * fold / PESS__FOLDS;
    *to = choosing->episodes * (fold + 1) / PESS__FOLDS;
}

void pess__choosing_scored(const pess__choosing *choosing, int64_t scored, int fold, int64_t *from, int64_t *to,
                           int64_t *place) {
    pess__choosing_fold(choosing, fold, from, to);
    *place = scored * fold / PESS__FOLDS;
    *to = *from + scored * (fold + 1) / PESS__FOLDS - *place;
}

static void fit_release(pess__fit *fit) {
    pess_counts_destroy(fit->counts);
    pess_model_destroy(fit->model);
    pess_policy_destroy(fit->behaviour);
}

void pess__choosing_destroy(pess__choosing *choosing) {
    if (choosing == NULL) return;
    for (int i = 0; i < PESS__FOLDS; i++) fit_release(&choosing->folds[i]);
    fit_release(&choosing->all);
    pess__returns_destroy(choosing->returns);
    pess__trajectories_destroy(choosing->trajectories);
    free(choosing->by_state);
    free(choosing->start);
    free(choosing);
}

/* Whole episodes before the cut, each in the order of its steps. */
static pess_status take_episodes(const pess__trajectories *t, int64_t cut, pess__choosing *c, pess_error *error) {
    pess__trajectories *taken = NULL;
    PESS_TRY(pess__allocate(&taken, 1, sizeof *taken, "a part of the log", error));
    c->trajectories = taken;
    PESS_TRY(pess__allocate(&taken->begin, t->count + 1, sizeof *taken->begin, "a part of the log", error));
    PESS_TRY(pess__allocate(&taken->row, cut, sizeof *taken->row, "a part of the log", error));
    int64_t at = 0;
    for (int64_t e = 0; e < t->count; e++) {
        const int64_t length = t->begin[e + 1] - t->begin[e];
        bool before = true;
        for (int64_t i = t->begin[e]; before && i < t->begin[e + 1]; i++) before = t->row[i] < cut;
        if (!before) continue;
        memcpy(taken->row + at, t->row + t->begin[e], (size_t)length * sizeof *taken->row);
        taken->begin[++taken->count] = at += length;
    }
    c->episodes = taken->count;
    c->length = (double)at / (double)taken->count;
    return PESS_OK;
}

static pess_status find_starts(const pess_dataset *data, pess__choosing *c, pess_error *error) {
    const pess__trajectories *t = c->trajectories;
    PESS_TRY(pess__allocate(&c->start, data->states, sizeof *c->start, "a start distribution", error));
    for (int64_t e = 0; e < t->count; e++) c->start[data->state[t->row[t->begin[e]]]] += 1 / (double)t->count;
    return PESS_OK;
}

/* Probabilities that are known need no estimate. Of logged ones, only pairs that this part of the log shows are taken:
 * what other rows show would tell of them. Declared ones are known of all pairs, whatever the log shows. */
static void know_behaviour(const double *by_state, bool declared, const pess_counts *counts, pess_policy *behaviour) {
    for (int64_t s = 0; s < behaviour->states; s++) {
        const int64_t first = s * behaviour->actions, end = first + behaviour->actions;
        double sum = 0;
        for (int64_t z = first; z < end; z++) sum += declared || counts->n[z] > 0 ? by_state[z] : 0;
        for (int64_t z = first; z < end && sum > 0; z++)
            behaviour->probability[z] = declared ? by_state[z] : counts->n[z] > 0 ? by_state[z] / sum : 0;
    }
}

static pess_status fit(const pess__certification *job, const double *by_state, pess__fit *to, pess_error *error) {
    pess_model_options options = pess_model_options_defaults();
    options.unseen = PESS_UNSEEN_WORST;
    options.reward_range[0] = job->model->reward_lo;
    options.reward_range[1] = job->model->reward_hi;
    options.return_range[0] = job->v_lo;
    options.return_range[1] = job->v_hi;
    PESS_TRY(pess_model_estimate(to->counts, &options, &to->model, error));
    PESS_TRY(pess_policy_empirical(to->counts, to->model, &to->behaviour, error));
    if (by_state != NULL) know_behaviour(by_state, job->options->behaviour != NULL, to->counts, to->behaviour);
    return PESS_OK;
}

static pess_status fit_folds(const pess__certification *job, pess__choosing *c, pess_error *error) {
    const pess__trajectories *t = c->trajectories;
    pess_status status =
        pess__counts_of_rows(job->data, t->row, t->begin[t->count], job->threads, &c->all.counts, error);
    if (status == PESS_OK) status = fit(job, c->log.by_state, &c->all, error);
    for (int f = 0; status == PESS_OK && f < PESS__FOLDS; f++) {
        int64_t from, to;
        pess_counts *own = NULL;
        pess__choosing_fold(c, f, &from, &to);
        status = pess__counts_of_rows(job->data, t->row + t->begin[from], t->begin[to] - t->begin[from], job->threads,
                                      &own, error);
        if (status == PESS_OK) status = pess__counts_subtract(c->all.counts, own, &c->folds[f].counts, error);
        pess_counts_destroy(own);
        if (status == PESS_OK) status = fit(job, c->log.by_state, &c->folds[f], error);
    }
    return status;
}

/* The least that a reward counted from lo can be, whether or not the episode ends with it. */
static double least_reward(const pess__certification *job) {
    const double gamma = job->options->gamma, least = -gamma * (job->v_hi - job->v_lo);
    /* Rewards that were not declared are known only where they are what the range of values rests on. */
    if (!job->model->reward_declared && job->model->return_declared) return least;
    return fmax(least, fmin(0, job->model->reward_lo - (1 - gamma) * job->v_lo));
}

/* b(a|s) where the behaviour is such a policy. */
static pess_status know_by_state(const pess__certification *job, const pess__behaviour_rows *rows, bool declared,
                                 pess__choosing *c, bool *known, pess_error *error) {
    const int64_t pairs = job->data->states * job->data->actions;
    PESS_TRY(pess__allocate(&c->by_state, pairs, sizeof *c->by_state, "a policy", error));
    *known = declared || pess__behaviour_by_state(rows, c->by_state);
    if (declared) memcpy(c->by_state, job->options->behaviour->probability, (size_t)pairs * sizeof *c->by_state);
    return PESS_OK;
}

static pess_status fill(const pess__certification *job, const pess__trajectories *episodes, const double *probability,
                        bool declared, int64_t cut, pess__choosing *c, pess_error *error) {
    bool known = false;
    PESS_TRY(take_episodes(episodes, cut, c, error));
    PESS_TRY(find_starts(job->data, c, error));
    PESS_TRY(pess__returns_create(job->data, c->trajectories, job->options->gamma, job->v_lo, job->v_hi, &c->returns,
                                  error));
    const pess__behaviour_rows rows = {job->data, probability, c->trajectories->row,
                                       c->trajectories->begin[c->episodes]};
    PESS_TRY(know_by_state(job, &rows, declared, c, &known, error));
    c->log = (pess__episode_log){.data = job->data,
                                 .probability = probability,
                                 .trajectories = c->trajectories,
                                 .returns = c->returns,
                                 .reward_least = least_reward(job),
                                 .by_state = known ? c->by_state : NULL,
                                 .threads = 1};
    PESS_TRY(pess__behaviour_check(&rows, error));
    return fit_folds(job, c, error);
}

pess_status pess__choosing_create(const pess__certification *job, const pess__trajectories *episodes,
                                  const double *probability, bool declared, int64_t cut, pess__choosing **out,
                                  pess_error *error) {
    pess__choosing *c = NULL;
    PESS_TRY(pess__allocate(&c, 1, sizeof *c, "the choosing part of the log", error));
    const pess_status status = fill(job, episodes, probability, declared, cut, c, error);
    if (status == PESS_OK)
        *out = c;
    else
        pess__choosing_destroy(c);
    return status;
}
