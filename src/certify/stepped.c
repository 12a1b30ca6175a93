#include "certify/stepped.h"

#include "core/limits.h"
#include "core/memory.h"
#include "data/names.h"
#include "data/trajectories.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The step with which episodes begin: the least of the log, 0 where steps are not numbered. */
static int64_t first_step(const pess_dataset *data) {
    int64_t least = data->step != NULL ? data->step[0] : 0;
    for (int64_t i = 1; i < data->rows && data->step != NULL; i++)
        if (data->step[i] < least) least = data->step[i];
    return least;
}

static pess_status refuse_beginning(const pess_dataset *data, int64_t row, int64_t begin, pess_error *error) {
    char number[24];
    (void)snprintf(number, sizeof number, "%lld", (long long)data->episode[row]);
    const char *name = pess_names_get(data->episode_names, data->episode[row]);
    return pess__fail(error, PESS_INPUT,
                      "episode '%.60s' begins at step %lld, expected step %lld as other episodes do: with a horizon it "
                      "must be known how many steps are left",
                      name != NULL ? name : number, (long long)data->step[row], (long long)begin);
}

/* step_of [rows]: how many decisions of its episode came before the row. */
static pess_status find_steps(const pess_dataset *data, int64_t *step_of, pess_error *error) {
    pess__trajectories *episodes = NULL;
    const int64_t begin = first_step(data);
    PESS_TRY(pess__trajectories_create(data, &episodes, error));
    pess_status status = PESS_OK;
    for (int64_t e = 0; e < episodes->count && status == PESS_OK; e++) {
        const int64_t *row = episodes->row + episodes->begin[e];
        const int64_t length = episodes->begin[e + 1] - episodes->begin[e];
        for (int64_t i = 0; i < length; i++) step_of[row[i]] = data->step != NULL ? data->step[row[i]] - begin : i;
        if (step_of[row[0]] != 0) status = refuse_beginning(data, row[0], begin, error);
    }
    pess__trajectories_destroy(episodes);
    return status;
}

/* "ward 3 at step 2", for messages. */
static pess_status name_states(const pess_dataset *data, int64_t horizon, pess_names **out, pess_error *error) {
    PESS_TRY(pess__names_create(out, error));
    for (int64_t i = 0; i <= horizon * data->states; i++) {
        char text[128];
        int64_t id;
        const char *name = pess_names_get(data->state_names, i % data->states);
        int length = name != NULL ? snprintf(text, sizeof text, "%.80s", name)
                                  : snprintf(text, sizeof text, "%lld", (long long)(i % data->states));
        /* names that are cut may be alike: the number tells them apart */
        if (length > 79) length = snprintf(text, sizeof text, "number %lld", (long long)(i % data->states));
        length += snprintf(text + length, sizeof text - (size_t)length, " at step %lld", (long long)(i / data->states));
        PESS_TRY(pess__names_add(*out, text, (size_t)length, &id, error));
    }
    return PESS_OK;
}

static pess_status allocate_columns(const pess_dataset *data, pess_dataset *wide, pess_error *error) {
    const int64_t rows = data->rows;
    const char *what = "the log, step by step";
    PESS_TRY(pess__allocate(&wide->state, rows, sizeof *wide->state, what, error));
    PESS_TRY(pess__allocate(&wide->action, rows, sizeof *wide->action, what, error));
    PESS_TRY(pess__allocate(&wide->next_state, rows, sizeof *wide->next_state, what, error));
    PESS_TRY(pess__allocate(&wide->reward, rows, sizeof *wide->reward, what, error));
    PESS_TRY(pess__allocate(&wide->end, rows, sizeof *wide->end, what, error));
    PESS_TRY(pess__allocate(&wide->episode, rows, sizeof *wide->episode, what, error));
    PESS_TRY(pess__allocate(&wide->step, rows, sizeof *wide->step, what, error));
    if (data->probability == NULL) return PESS_OK;
    return pess__allocate(&wide->probability, rows, sizeof *wide->probability, what, error);
}

/* The rows before the horizon, in the order of the log. */
static void fill_columns(const pess_dataset *data, const int64_t *step_of, int64_t horizon, pess_dataset *wide) {
    const uint32_t states = (uint32_t)data->states, over = (uint32_t)(horizon * data->states);
    for (int64_t i = 0; i < data->rows; i++) {
        const int64_t t = step_of[i], to = wide->rows;
        if (t >= horizon) continue;
        const bool last = t + 1 == horizon;
        wide->state[to] = (uint32_t)t * states + data->state[i];
        wide->action[to] = data->action[i];
        wide->next_state[to] = last ? over : (uint32_t)(t + 1) * states + data->next_state[i];
        wide->reward[to] = data->reward[i];
        wide->end[to] = last ? PESS_END_TERMINAL : data->end[i];
        wide->episode[to] = data->episode[i];
        wide->step[to] = t;
        if (data->probability != NULL) wide->probability[to] = data->probability[i];
        wide->rows++;
    }
}

static pess_status widen_log(const pess_dataset *data, int64_t horizon, pess_dataset *wide, pess_error *error) {
    int64_t *step_of = NULL;
    PESS_TRY(pess__allocate(&step_of, data->rows, sizeof *step_of, "the steps of the log", error));
    pess_status status = find_steps(data, step_of, error);
    if (status == PESS_OK) status = allocate_columns(data, wide, error);
    if (status == PESS_OK) fill_columns(data, step_of, horizon, wide);
    free(step_of);
    if (status == PESS_OK) status = name_states(data, horizon, &wide->state_names, error);
    if (status == PESS_OK) status = pess__names_clone(data->action_names, &wide->action_names, error);
    if (status == PESS_OK) status = pess__names_clone(data->episode_names, &wide->episode_names, error);
    return status;
}

/* Where the log goes on, or may: not at a state that it shows after ends only, at any step. */
static pess_status find_acting(const pess_dataset *data, uint8_t **acts, pess_error *error) {
    enum { NEVER_SEEN = 2 };
    PESS_TRY(pess__allocate(acts, data->states, sizeof **acts, "the states of the log", error));
    memset(*acts, NEVER_SEEN, (size_t)data->states);
    for (int64_t i = 0; i < data->rows; i++)
        if ((*acts)[data->next_state[i]] == NEVER_SEEN) (*acts)[data->next_state[i]] = 0;
    for (int64_t i = 0; i < data->rows; i++) {
        (*acts)[data->state[i]] = 1;
        if (data->end[i] != PESS_END_TERMINAL) (*acts)[data->next_state[i]] = 1;
    }
    return PESS_OK;
}

/* Rows without probabilities of the states that are wanted become uniform. */
static void fill_rows(pess_policy *policy, const uint8_t *acts, int64_t states, bool wanted) {
    for (int64_t i = 0; i < policy->steps * policy->states; i++) {
        double *row = policy->probability + i * policy->actions, sum = 0;
        for (int64_t a = 0; a < policy->actions; a++) sum += row[a];
        if (sum != 0 || (acts[i % states] != 0) != wanted) continue;
        for (int64_t a = 0; a < policy->actions; a++) row[a] = 1 / (double)policy->actions;
    }
}

/* One table for all steps, or one for each, as one for states and steps. A state that is no end at every step, as far
 * as the log shows, needs a row there; so does the further one, where the log may never get. */
static pess_status widen_policy(const pess_policy *policy, const pess_dataset *data, int64_t horizon,
                                const uint8_t *acts, pess_policy **out, pess_error *error) {
    const int64_t states = data->states, table = states * data->actions;
    if (policy->steps != horizon || policy->states != states || policy->actions != data->actions)
        PESS_TRY(pess__policy_check_table(policy, states, data->actions, "the log", error));
    PESS_TRY(pess__policy_allocate(horizon * states + 1, data->actions, out, error));
    for (int64_t t = 0; t < horizon; t++)
        memcpy((*out)->probability + t * table, policy->probability + (policy->steps > 1 ? t * table : 0),
               (size_t)table * sizeof *policy->probability);
    fill_rows(*out, acts, states, false);
    for (int64_t a = 0; a < data->actions; a++) (*out)->probability[horizon * table + a] = 1 / (double)data->actions;
    return PESS_OK;
}

static pess_status widen_policies(const pess_dataset *data, pess__stepped *wide, pess_error *error) {
    const pess_certify_options *options = &wide->options;
    uint8_t *acts = NULL;
    PESS_TRY(find_acting(data, &acts, error));
    pess_status status = PESS_OK;
    if (options->policy != NULL)
        status = widen_policy(options->policy, data, options->horizon, acts, &wide->policy, error);
    if (status == PESS_OK && options->behaviour != NULL)
        status = widen_policy(options->behaviour, data, options->horizon, acts, &wide->behaviour, error);
    free(acts);
    return status;
}

static pess_status fill(const pess_dataset *data, pess__stepped *wide, pess_error *error) {
    pess_certify_options *options = &wide->options;
    const int64_t horizon = options->horizon, states = horizon * data->states + 1;
    PESS_TRY(widen_policies(data, wide, error));
    if (options->start != NULL) {
        PESS_TRY(pess__allocate(&wide->start, states, sizeof *wide->start, "a start distribution", error));
        memcpy(wide->start, options->start, (size_t)data->states * sizeof *wide->start);
    }
    options->policy = wide->policy;
    options->behaviour = wide->behaviour;
    options->start = wide->start;
    options->counts = NULL;
    PESS_TRY(pess__allocate(&wide->data, 1, sizeof *wide->data, "the log, step by step", error));
    wide->data->states = states;
    wide->data->actions = data->actions;
    wide->data->states_declared = data->states_declared;
    wide->data->actions_declared = data->actions_declared;
    wide->data->origin = data->origin;
    return widen_log(data, horizon, wide->data, error);
}

pess_status pess__stepped_create(const pess_dataset *data, const pess_certify_options *options, pess__stepped *out,
                                 pess_error *error) {
    if (data == NULL)
        return pess__fail(error, PESS_INPUT,
                          "a horizon needs rows: at which step of its episode a row is, is not in counts; give the log "
                          "that was counted");
    if (data->rows > 0 && data->episode == NULL)
        return pess__fail(error, PESS_INPUT,
                          "a horizon needs episodes: the log has no episode column, so at which step its rows are is "
                          "not known");
    if (options->horizon > PESS_MAX_STATES / (data->states > 0 ? data->states : 1))
        return pess__fail(error, PESS_LIMIT, "%lld states at %lld steps are too many to tell apart",
                          (long long)data->states, (long long)options->horizon);
    PESS_TRY(pess__check_sizes("the log, step by step", options->horizon * data->states + 1, data->actions, error));
    *out = (pess__stepped){.options = *options};
    const pess_status status = fill(data, out, error);
    if (status != PESS_OK) pess__stepped_release(out);
    return status;
}

void pess__stepped_release(pess__stepped *stepped) {
    pess_dataset_destroy(stepped->data);
    pess_policy_destroy(stepped->policy);
    pess_policy_destroy(stepped->behaviour);
    free(stepped->start);
    *stepped = (pess__stepped){0};
}

pess_status pess__stepped_fold(const pess_dataset *data, int64_t horizon, const pess_policy *wide, pess_policy **out,
                               pess_error *error) {
    const int64_t states = data->states, actions = data->actions;
    uint8_t *acts = NULL;
    pess_status status = find_acting(data, &acts, error);
    if (status == PESS_OK) status = pess__policy_allocate_steps(horizon, states, actions, out, error);
    if (status == PESS_OK) {
        memcpy((*out)->probability, wide->probability, (size_t)(horizon * states * actions) * sizeof(double));
        fill_rows(*out, acts, states, true);
        for (int64_t i = 0; i < horizon * states; i++)
            for (int64_t a = 0; a < actions && !acts[i % states]; a++) (*out)->probability[i * actions + a] = 0;
    }
    free(acts);
    return status;
}
