/* Looking at a dataset of observations: single transitions, whole episodes, and what there is in all. */
#include "data/observations.h"

#include "core/text.h"

#include <math.h>
#include <string.h>

bool pess_observations_get(const pess_observations *data, int64_t i, const uint8_t **state, int32_t *action,
                           double *reward, const uint8_t **next, pess_end *end) {
    if (i < 0 || i >= data->transitions) return false;
    if (state != NULL) *state = data->observations + data->state[i] * data->bytes;
    if (action != NULL) *action = data->action[i];
    if (reward != NULL) *reward = (double)data->reward[i];
    if (next != NULL) *next = data->observations + data->next[i] * data->bytes;
    if (end != NULL) *end = (pess_end)data->end[i];
    return true;
}

void pess_observations_get_view(const pess_observations *data, pess_observations_view *out) {
    *out = (pess_observations_view){.transitions = data->transitions,
                                    .states = data->states,
                                    .bytes = data->bytes,
                                    .observations = data->observations,
                                    .state = data->state,
                                    .next_state = data->next,
                                    .action = data->action,
                                    .end = data->end,
                                    .reward = data->reward,
                                    .probability = data->probability};
}

bool pess_observations_note(const pess_observations *data, const char *key, char *value, size_t size) {
    return pess__note(data->notes, key, value, size);
}

/* Transitions that were collected: those that a model imagined stand at the end, by the notes, and are single steps. */
static int64_t collected(const pess_observations *data) {
    char value[32];
    int64_t imagined;
    if (!pess__note(data->notes, "imagined", value, sizeof value) ||
        !pess__parse_int64(value, value + strlen(value), &imagined) || imagined < 0 || imagined > data->transitions)
        return data->transitions;
    return data->transitions - imagined;
}

pess__episode_walk pess__walk_episodes(const pess_observations *data) {
    return (pess__episode_walk){.count = collected(data)};
}

static void begin_episode(pess__episode_walk *w) {
    w->total = w->discounted = 0;
    w->first = w->at;
    w->length = 0;
}

bool pess__next_episode(const pess_observations *data, pess__episode_walk *w) {
    static const double gamma = 0.99;
    double weight = 1;
    begin_episode(w);
    while (w->at < w->count) {
        const int64_t i = w->at++;
        w->total += (double)data->reward[i];
        w->discounted += weight * (double)data->reward[i];
        w->length++;
        weight *= gamma;
        if (data->end[i] == PESS_END_NONE) continue;
        if (w->stop == data->stop_count || data->stopped[w->stop] != i) return true;
        w->stop++;
        begin_episode(w);
        weight = 1;
    }
    return false;
}

static void summarise_episodes(const pess_observations *data, pess_observations_info *out) {
    double total = 0, discounted = 0, squares = 0;
    for (pess__episode_walk w = pess__walk_episodes(data); pess__next_episode(data, &w); out->episodes++) {
        total += w.total;
        discounted += w.discounted;
    }
    const double n = (double)out->episodes;
    out->mean_return = out->episodes > 0 ? total / n : NAN;
    out->gamma_return = out->episodes > 0 ? discounted / n : NAN;
    for (pess__episode_walk w = pess__walk_episodes(data); pess__next_episode(data, &w);)
        squares += (w.total - out->mean_return) * (w.total - out->mean_return);
    out->ci95 = out->episodes > 1 ? 1.959963984540054 * sqrt(squares / (n - 1) / n) : NAN;
}

void pess_observations_get_info(const pess_observations *data, pess_observations_info *out) {
    *out = (pess_observations_info){.game = data->game,
                                    .notes = data->notes,
                                    .shape = data->shape,
                                    .bytes = data->bytes,
                                    .actions = data->actions,
                                    .transitions = data->transitions,
                                    .states = data->states,
                                    .pairs = data->pairs};
    for (int64_t i = 0; i < data->transitions; i++) {
        out->terminals += data->end[i] == PESS_END_TERMINAL;
        out->cutoffs += data->end[i] == PESS_END_CUTOFF;
    }
    summarise_episodes(data, out);
}
