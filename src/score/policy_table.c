/* What a policy, of whatever kind, says of every state of the data: asked once, by its own rule. */
#include "score/score.h"

#include "core/memory.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "the table of a policy";

/* ---- does it fit? */

/* A table over states reads one-hot observations. */
static pess_status check_table(const pess_policy *policy, const char *name, const pess_observations *data,
                               const char *data_name, pess_error *error) {
    if (policy->steps > 1)
        return pess__fail(error, PESS_INPUT, "%s: has a table for each of %lld steps; expected one for all", name,
                          (long long)policy->steps);
    if (data->shape.kind != PESS_OBSERVATION_BITS || data->shape.length != policy->states)
        return pess__fail(error, PESS_INPUT,
                          "%s: a table over %lld states; the observations of %s are %lld %s, expected one bit for each "
                          "state",
                          name, (long long)policy->states, data_name, (long long)data->shape.length,
                          pess_observation_kind_name(data->shape.kind));
    for (int64_t s = 0; s < data->states; s++) {
        int bits = 0;
        for (int64_t k = 0; k < data->bytes; k++) bits += __builtin_popcount(data->observations[s * data->bytes + k]);
        if (bits != 1)
            return pess__fail(error, PESS_INPUT, "%s: observation %lld has %d set bits; a table needs one", data_name,
                              (long long)s, bits);
    }
    return PESS_OK;
}

static pess_status check_networks(const pess_policy *policy, const char *name, const pess_observations *data,
                                  const char *data_name, bool argmax, pess_error *error) {
    pess_policy_info info;
    char game[sizeof data->game];
    pess_policy_get_info(policy, &info);
    if (info.shape.kind != data->shape.kind || info.shape.length != data->shape.length)
        return pess__fail(error, PESS_INPUT, "%s: reads %lld %s; the observations of %s are %lld %s", name,
                          (long long)info.shape.length, pess_observation_kind_name(info.shape.kind), data_name,
                          (long long)data->shape.length, pess_observation_kind_name(data->shape.kind));
    if (pess_policy_note(policy, "game", game, sizeof game) && pess_env_find(game) != NULL &&
        pess_env_find(data->game) != NULL && strcmp(game, data->game) != 0)
        return pess__fail(error, PESS_INPUT, "%s: a policy for %s; %s is data of %s", name, game, data_name,
                          data->game);
    return argmax ? PESS_OK : pess__policy_check_whole(policy, name, error);
}

/* The columns of a table that the policy was trained on and those of the data are the same, in the same order. */
static pess_status check_features(const pess_policy *policy, const char *name, const pess_observations *data,
                                  const char *data_name, pess_error *error) {
    char own[PESS__DATA_NOTES_SIZE], given[PESS__DATA_NOTES_SIZE];
    if (!pess_policy_note(policy, "features", own, sizeof own) ||
        !pess_observations_note(data, "features", given, sizeof given) || strcmp(own, given) == 0)
        return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: sees the features %.300s; %s has %.300s", name, own, data_name, given);
}

/* Data number the names of actions as they come; the policy may have met them in another order. */
static pess_status check_names(const pess_policy *policy, const char *name, const pess_observations *data,
                               const char *data_name, pess_error *error) {
    pess_policy_info info;
    pess_policy_get_info(policy, &info);
    for (int64_t a = 0; info.action_names != NULL && data->space.names != NULL && a < info.actions; a++) {
        const char *action = pess_names_get(info.action_names, a);
        if (pess_names_find(data->space.names, action) < 0)
            return pess__fail(error, PESS_INPUT, "%s: takes the action '%.100s'; %s has no action of this name", name,
                              action, data_name);
    }
    return PESS_OK;
}

/* Where actions stand for vectors, the data number them as the policy does. */
static pess_status check_vectors(const pess_policy *policy, const char *name, const pess_observations *data,
                                 const char *data_name, pess_error *error) {
    pess_policy_info info;
    pess_policy_get_info(policy, &info);
    const int64_t width = data->space.values != NULL ? data->space.width : 0;
    const size_t bytes = (size_t)(data->actions * width) * sizeof(float);
    if (info.action_width == width && (width == 0 || memcmp(info.action_values, data->space.values, bytes) == 0))
        return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "%s: its actions stand for other vectors than those of %s; number these by its own vectors", name,
                      data_name);
}

pess_status pess__score_check(const pess_policy *policy, const char *name, const pess_observations *data,
                              const char *data_name, bool argmax, pess_error *error) {
    PESS_TRY(policy->states > 0 ? check_table(policy, name, data, data_name, error)
                                : check_networks(policy, name, data, data_name, argmax, error));
    PESS_TRY(pess__observations_check_numbered(data, error));
    PESS_TRY(check_features(policy, name, data, data_name, error));
    PESS_TRY(check_names(policy, name, data, data_name, error));
    if (policy->actions == data->actions) return check_vectors(policy, name, data, data_name, error);
    return pess__fail(error, PESS_INPUT, "%s: has %lld actions; %s has %lld", name, (long long)policy->actions,
                      data_name, (long long)data->actions);
}

/* ---- asking */

enum { PART = 48 };

static int64_t set_bit(const uint8_t *bits) {
    int64_t at = 0;
    while (bits[at] == 0) at++;
    return 8 * at + __builtin_ctz(bits[at]);
}

static void ask_part(const pess_policy *policy, void *worker, const pess_observations *data, bool argmax, int64_t first,
                     pess__policy_table *out) {
    const int64_t actions = data->actions, left = data->states - first, count = left < PART ? left : PART;
    double probabilities[PART * PESS__DATA_MAX_ACTIONS];
    int64_t numbers[PART];
    const uint8_t *bits = data->observations + first * data->bytes;
    for (int64_t i = 0; i < count; i++) {
        out->value[first + i] = NAN;
        numbers[i] = policy->states > 0 ? set_bit(bits + i * data->bytes) : 0;
    }
    const pess__seen seen = {.bits = bits, .stride = data->bytes, .states = policy->states > 0 ? numbers : NULL};
    policy->kind->apply(policy, worker, &seen, count, probabilities, policy->states > 0 ? NULL : out->value + first);
    for (int64_t i = 0; i < count; i++) {
        const double *own = probabilities + i * actions;
        float *to = out->probability + (first + i) * actions;
        const int32_t best = pess__policy_most_probable(own, actions);
        for (int64_t a = 0; a < actions; a++) to[a] = (float)(argmax || !policy->samples ? a == best : own[a]);
    }
}

static pess_status ask(const pess_policy *policy, const pess_observations *data, bool argmax, int threads,
                       pess__policy_table *out, pess_error *error) {
    const bool table = policy->states > 0; /* needs no worker, draws by its probabilities */
    pess_status status = PESS_OK;
#pragma omp parallel num_threads(pess__threads(threads))
    {
        void *worker = NULL;
        pess_error why = {0};
        const pess_status own = table ? PESS_OK : policy->kind->open(policy, PART, &worker, &why);
#pragma omp for schedule(static)
        for (int64_t first = 0; first < data->states; first += PART)
            if (own == PESS_OK) ask_part(policy, worker, data, argmax, first, out);
        pess__keep_failure(own, &why, &status, error);
        if (worker != NULL) policy->kind->close(worker);
    }
    return status;
}

/* Its own values of actions; not where it expects nothing, as imitation does. */
static pess_status ask_outputs(const pess_policy *policy, const pess_observations *data, pess__policy_table *out,
                               pess_error *error) {
    enum { CHUNK = 8192 };
    if (policy->states > 0 || data->states < 1 || !isfinite(out->value[0])) return PESS_OK;
    PESS_TRY(pess__allocate(&out->outputs, data->states * data->actions, sizeof *out->outputs, what, error));
    for (int64_t first = 0; first < data->states; first += CHUNK)
        PESS_TRY(pess_policy_outputs(policy, data->observations + first * data->bytes, data->bytes,
                                     data->states - first < CHUNK ? data->states - first : CHUNK,
                                     out->outputs + first * data->actions, error));
    return PESS_OK;
}

/* Columns in the order of the policy's actions go to where the data have the actions of these names. */
static void number_as_data(const pess_names *names, const pess_observations *data, float *columns) {
    float row[PESS__DATA_MAX_ACTIONS];
    for (int64_t s = 0; s < data->states; s++, columns += data->actions) {
        memcpy(row, columns, (size_t)data->actions * sizeof *row);
        for (int64_t a = 0; a < data->actions; a++)
            columns[pess_names_find(data->space.names, pess_names_get(names, a))] = row[a];
    }
}

pess_status pess__policy_table_create(const pess_policy *policy, const pess_observations *data, bool argmax,
                                      int threads, pess__policy_table *out, pess_error *error) {
    PESS_TRY(pess__allocate(&out->probability, data->states * data->actions, sizeof *out->probability, what, error));
    PESS_TRY(pess__allocate(&out->value, data->states, sizeof *out->value, what, error));
    PESS_TRY(ask(policy, data, argmax, threads, out, error));
    PESS_TRY(ask_outputs(policy, data, out, error));
    pess_policy_info info;
    pess_policy_get_info(policy, &info);
    if (info.action_names == NULL || data->space.names == NULL) return PESS_OK;
    number_as_data(info.action_names, data, out->probability);
    if (out->outputs != NULL) number_as_data(info.action_names, data, out->outputs);
    return PESS_OK;
}

void pess__policy_table_destroy(pess__policy_table *table) {
    free(table->probability);
    free(table->value);
    free(table->outputs);
    *table = (pess__policy_table){0};
}

/* ---- the policy's own values, taken at their word */

void pess__score_own_values(const pess__policy_table *table, const pess_observations *data,
                            const pess__score_episodes *episodes, double gamma, pess_score *out) {
    const int64_t rows = episodes->begin[episodes->count], actions = data->actions;
    double first = 0, squares = 0, unlogged = 0;
    for (int64_t k = 0; k < episodes->count; k++) first += table->value[data->state[episodes->begin[k]]];
    for (int64_t i = 0; i < rows; i++) {
        const int64_t s = data->state[i];
        for (int64_t a = 0; a < actions; a++)
            if ((data->tried[s * data->tried_bytes + a / 8] >> (a % 8) & 1) == 0)
                unlogged += (double)table->probability[s * actions + a];
        if (table->outputs == NULL) continue;
        const double after = data->end[i] == PESS_END_TERMINAL ? 0 : table->value[data->next[i]];
        const double away =
            (double)data->reward[i] + gamma * after - (double)table->outputs[s * actions + data->action[i]];
        squares += away * away;
    }
    out->predicted = first / (double)episodes->count;
    out->td_error = table->outputs != NULL ? squares / (double)rows : NAN;
    out->unlogged = unlogged / (double)rows;
}
