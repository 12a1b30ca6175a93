/* A look at a dataset of observations: returns and lengths of its episodes, what was done how often, and the range of
 * each feature. */
#include "core/memory.h"
#include "data/observations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "a look at a dataset";

/* ---- episodes */

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The middle of a sorted list; of an even number the mean of the two. */
static double median(const double *sorted, int64_t count) {
    return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static pess_status inspect_episodes(const pess_observations *data, pess_observations_inspection *out,
                                    pess_error *error) {
    double *returns = NULL, *lengths = NULL;
    int64_t count = 0;
    pess_status status = pess__allocate(&returns, data->transitions, sizeof *returns, what, error);
    if (status == PESS_OK) status = pess__allocate(&lengths, data->transitions, sizeof *lengths, what, error);
    if (status == PESS_OK)
        for (pess__episode_walk w = pess__walk_episodes(data); pess__next_episode(data, &w); count++)
            returns[count] = w.total, lengths[count] = (double)w.length;
    out->return_least = out->return_median = out->return_most = NAN;
    if (status == PESS_OK && count > 0) {
        qsort(returns, (size_t)count, sizeof *returns, compare_doubles);
        qsort(lengths, (size_t)count, sizeof *lengths, compare_doubles);
        out->return_least = returns[0], out->return_most = returns[count - 1];
        out->return_median = median(returns, count);
        out->length_least = (int64_t)lengths[0], out->length_most = (int64_t)lengths[count - 1];
        out->length_median = (int64_t)median(lengths, count);
    }
    free(returns);
    free(lengths);
    return status;
}

/* ---- transitions */

static void inspect_rewards(const pess_observations *data, pess_observations_inspection *out) {
    out->reward_least = INFINITY, out->reward_most = -INFINITY;
    for (int64_t i = 0; i < data->transitions; i++) {
        const double reward = (double)data->reward[i];
        out->reward_least = fmin(out->reward_least, reward);
        out->reward_most = fmax(out->reward_most, reward);
        out->reward_mean += reward / (double)data->transitions;
        out->actions[data->action[i]]++;
    }
    for (int64_t a = 0; a < data->actions; a++) out->unlogged_actions += out->actions[a] == 0;
}

/* All that a transition says. */
typedef struct transition {
    int32_t state, next;
    float reward;
    uint8_t action, end;
} transition;

static transition at(const pess_observations *data, int64_t i) {
    return (transition){data->state[i], data->next[i], data->reward[i], data->action[i], data->end[i]};
}

static int compare_transitions(const void *a, const void *b) {
    const transition *x = a, *y = b;
    if (x->state != y->state) return x->state < y->state ? -1 : 1;
    if (x->next != y->next) return x->next < y->next ? -1 : 1;
    if (x->action != y->action) return x->action < y->action ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return (x->reward > y->reward) - (x->reward < y->reward);
}

static pess_status count_duplicates(const pess_observations *data, int64_t *out, pess_error *error) {
    transition *sorted = NULL;
    PESS_TRY(pess__allocate(&sorted, data->transitions, sizeof *sorted, what, error));
    for (int64_t i = 0; i < data->transitions; i++) sorted[i] = at(data, i);
    qsort(sorted, (size_t)data->transitions, sizeof *sorted, compare_transitions);
    for (int64_t i = 1; i < data->transitions; i++) *out += compare_transitions(&sorted[i - 1], &sorted[i]) == 0;
    free(sorted);
    return PESS_OK;
}

/* ---- features */

static double feature_at(const pess_observations *data, int64_t row, int64_t k) {
    const uint8_t *observation = data->observations + data->state[row] * data->bytes;
    if (data->shape.kind == PESS_OBSERVATION_BYTES) return observation[k];
    float value;
    memcpy(&value, observation + k * (int64_t)sizeof value, sizeof value);
    return (double)value;
}

static double vector_at(const pess_observations *data, int64_t row, int64_t k) {
    return (double)data->vector[row * data->space.width + k];
}

/* Of `count` numbers a transition: least, most, mean and deviation. */
static void summarise(const pess_observations *data, int64_t count,
                      double number_at(const pess_observations *data, int64_t row, int64_t k),
                      pess_feature_summary *out) {
    const double n = (double)data->transitions;
    for (int64_t k = 0; k < count; k++) out[k] = (pess_feature_summary){.least = INFINITY, .most = -INFINITY};
    for (int64_t i = 0; i < data->transitions; i++)
        for (int64_t k = 0; k < count; k++) {
            const double v = number_at(data, i, k);
            out[k].least = fmin(out[k].least, v);
            out[k].most = fmax(out[k].most, v);
            out[k].mean += v / n;
        }
    for (int64_t i = 0; i < data->transitions; i++)
        for (int64_t k = 0; k < count; k++) {
            const double d = number_at(data, i, k) - out[k].mean;
            out[k].deviation += d * d / n;
        }
    for (int64_t k = 0; k < count; k++) out[k].deviation = sqrt(out[k].deviation);
}

static void inspect_features(const pess_observations *data, pess_observations_inspection *out) {
    summarise(data, out->feature_count, feature_at, out->feature);
    summarise(data, out->vector_count, vector_at, out->vector);
    for (int64_t k = 0; k < out->feature_count; k++)
        out->constant_features += !(out->feature[k].most > out->feature[k].least);
}

/* ---- the whole */

pess_status pess_observations_inspect(const pess_observations *data, pess_observations_inspection **out,
                                      pess_error *error) {
    if (data->transitions < 1) return pess__fail(error, PESS_ARGUMENT, "there are no transitions to look at");
    pess_observations_inspection *in = NULL;
    PESS_TRY(pess__allocate(&in, 1, sizeof *in, what, error));
    in->action_count = data->actions;
    in->feature_count = data->shape.kind == PESS_OBSERVATION_BITS ? 0 : data->shape.length;
    in->vector_count = data->vector != NULL ? data->space.width : 0;
    pess_status status = pess__allocate(&in->actions, in->action_count, sizeof *in->actions, what, error);
    if (status == PESS_OK) status = pess__allocate(&in->feature, in->feature_count, sizeof *in->feature, what, error);
    if (status == PESS_OK) status = pess__allocate(&in->vector, in->vector_count, sizeof *in->vector, what, error);
    if (status == PESS_OK) status = inspect_episodes(data, in, error);
    if (status == PESS_OK) status = count_duplicates(data, &in->duplicates, error);
    if (status != PESS_OK) {
        pess_observations_inspection_destroy(in);
        return status;
    }
    inspect_rewards(data, in);
    inspect_features(data, in);
    *out = in;
    return PESS_OK;
}

void pess_observations_inspection_destroy(pess_observations_inspection *in) {
    if (in == NULL) return;
    free(in->actions);
    free(in->feature);
    free(in->vector);
    free(in);
}
