#include "certify/choosing.h"

#include "certify/behaviour.h"
#include "core/memory.h"
#include "data/dataset.h"

#include <math.h>
#include <stdlib.h>

void pess__choosing_fold(const pess__choosing *choosing, int fold, int64_t *from, int64_t *to) {
    *from = choosing->episodes * fold / PESS__FOLDS;
    *to = choosing->episodes * (fold + 1) / PESS__FOLDS;
}

static void fit_release(pess__fit *fit) {
    pess_counts_destroy(fit->counts);
    pess_model_destroy(fit->model);
    pess_policy_destroy(fit->behaviour);
    free(fit->start);
}

void pess__choosing_destroy(pess__choosing *choosing) {
    if (choosing == NULL) return;
    for (int i = 0; i < PESS__FOLDS; i++) fit_release(&choosing->folds[i]);
    fit_release(&choosing->all);
    pess__returns_destroy(choosing->returns);
    pess__trajectories_destroy(choosing->trajectories);
    pess_dataset_destroy(choosing->data);
    free(choosing->probability);
    free(choosing->by_state);
    free(choosing);
}

/* Whole episodes before the cut, each in the order of its steps. */
static pess_status take_episodes(const pess_dataset *data, const pess__trajectories *t, int64_t cut, const double *all,
                                 pess__choosing *c, pess_error *error) {
    int64_t *row = NULL, count = 0;
    PESS_TRY(pess__allocate(&row, cut, sizeof *row, "a part of the log", error));
    for (int64_t e = 0; e < t->count; e++) {
        bool before = true;
        for (int64_t i = t->begin[e]; before && i < t->begin[e + 1]; i++) before = t->row[i] < cut;
        for (int64_t i = t->begin[e]; before && i < t->begin[e + 1]; i++) row[count++] = t->row[i];
    }
    pess_status status = pess__dataset_take(data, row, count, NULL, &c->data, error);
    if (status == PESS_OK)
        status = pess__allocate(&c->probability, count, sizeof *c->probability, "a part of the log", error);
    for (int64_t i = 0; status == PESS_OK && i < count; i++) c->probability[i] = all[row[i]];
    free(row);
    return status;
}

/* Probabilities that are known need no estimate. Only pairs that this part of the log shows are taken: what other rows
 * show would tell of them. */
static void know_behaviour(const double *by_state, const pess_counts *counts, pess_policy *behaviour) {
    for (int64_t s = 0; s < behaviour->states; s++) {
        const int64_t first = s * behaviour->actions;
        double sum = 0;
        for (int64_t z = first; z < first + behaviour->actions; z++) sum += counts->n[z] > 0 ? by_state[z] : 0;
        for (int64_t z = first; z < first + behaviour->actions && sum > 0; z++)
            behaviour->probability[z] = counts->n[z] > 0 ? by_state[z] / sum : 0;
    }
}

static pess_status fit(const pess__certification *job, const pess_dataset *data, const double *by_state, pess__fit *to,
                       pess_error *error) {
    pess_model_options options = pess_model_options_defaults();
    options.unseen = PESS_UNSEEN_WORST;
    options.reward_range[0] = job->model->reward_lo;
    options.reward_range[1] = job->model->reward_hi;
    options.return_range[0] = job->v_lo;
    options.return_range[1] = job->v_hi;
    PESS_TRY(pess_counts_create(data, 1, &to->counts, error));
    PESS_TRY(pess_model_estimate(to->counts, &options, &to->model, error));
    PESS_TRY(pess__allocate(&to->start, data->states, sizeof *to->start, "a start distribution", error));
    PESS_TRY(pess_start_from_counts(to->counts, to->start, error));
    PESS_TRY(pess_policy_empirical(to->counts, to->model, &to->behaviour, error));
    if (by_state != NULL) know_behaviour(by_state, to->counts, to->behaviour);
    return PESS_OK;
}

static pess_status fit_folds(const pess__certification *job, pess__choosing *c, pess_error *error) {
    int64_t *row = NULL;
    PESS_TRY(fit(job, c->data, c->log.by_state, &c->all, error));
    PESS_TRY(pess__allocate(&row, c->data->rows, sizeof *row, "a fold of the log", error));
    pess_status status = PESS_OK;
    for (int f = 0; status == PESS_OK && f < PESS__FOLDS; f++) {
        const pess__trajectories *t = c->trajectories;
        int64_t from, to, count = 0;
        pess__choosing_fold(c, f, &from, &to);
        for (int64_t i = 0; i < c->data->rows; i++)
            if (i < t->begin[from] || i >= t->begin[to]) row[count++] = t->row[i];
        pess_dataset *others = NULL;
        status = pess__dataset_take(c->data, row, count, NULL, &others, error);
        if (status == PESS_OK) status = fit(job, others, c->log.by_state, &c->folds[f], error);
        pess_dataset_destroy(others);
    }
    free(row);
    return status;
}

/* Rewards counted from lo lie between these, whether or not the episode ends with them. */
static void reward_ends(const pess__certification *job, pess__episode_log *log) {
    const double gamma = job->options->gamma, range = job->v_hi - job->v_lo, shift = (1 - gamma) * job->v_lo;
    log->reward_least = -gamma * range;
    log->reward_most = range;
    /* Rewards that were not declared are known only where they are what the range of values rests on. */
    if (!job->model->reward_declared && job->model->return_declared) return;
    log->reward_least = fmax(log->reward_least, fmin(0, job->model->reward_lo - shift));
    log->reward_most = fmin(range, fmax(job->model->reward_hi - shift, job->model->reward_hi - job->v_lo));
}

static pess_status fill(const pess__certification *job, const pess__trajectories *episodes, const double *probability,
                        bool declared, int64_t cut, pess__choosing *c, pess_error *error) {
    PESS_TRY(take_episodes(job->data, episodes, cut, probability, c, error));
    PESS_TRY(pess__trajectories_create(c->data, &c->trajectories, error));
    c->episodes = c->trajectories->count;
    PESS_TRY(
        pess__returns_create(c->data, c->trajectories, job->options->gamma, job->v_lo, job->v_hi, &c->returns, error));
    PESS_TRY(pess__allocate(&c->by_state, c->data->states * c->data->actions, sizeof(double), "a policy", error));
    bool known = true;
    if (declared)
        for (int64_t z = 0; z < c->data->states * c->data->actions; z++)
            c->by_state[z] = job->options->behaviour->probability[z];
    else
        known = pess__behaviour_by_state(c->data, c->probability, c->by_state);
    c->log = (pess__episode_log){.data = c->data,
                                 .probability = c->probability,
                                 .trajectories = c->trajectories,
                                 .returns = c->returns,
                                 .by_state = known ? c->by_state : NULL,
                                 .threads = 1};
    reward_ends(job, &c->log);
    PESS_TRY(pess__behaviour_check(c->data, c->probability, error));
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
