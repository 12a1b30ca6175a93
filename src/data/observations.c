#include "data/observations.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "a dataset";

/* ---- creating */

/* Texts are printed on terminals and as JSON: characters of ASCII, and line ends in notes. */
static pess_status check_text(const char *field, const char *text, size_t size, char also, pess_error *error) {
    if (strlen(text) >= size)
        return pess__fail(error, PESS_LIMIT, "the %s of a dataset: %zu characters; at most %zu are possible", field,
                          strlen(text), size - 1);
    for (const char *c = text; *c != '\0'; c++)
        if ((*c < ' ' || *c > '~') && *c != also)
            return pess__fail(error, PESS_INPUT, "the %s of a dataset: byte %02x; printable ASCII is expected", field,
                              (unsigned)(unsigned char)*c);
    return PESS_OK;
}

/* By pess_observation_kind: name, and the longest observation. */
static const struct {
    const char *name;
    int64_t longest;
} kinds[] = {{"bits", 1 << 16}, {"bytes", PESS__DATA_MAX_LENGTH}, {"floats", 1 << 16}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

pess_observation_shape pess_observation_bits(int64_t length) {
    return (pess_observation_shape){.kind = PESS_OBSERVATION_BITS, .length = length};
}

pess_observation_shape pess_observation_floats(int64_t length) {
    return (pess_observation_shape){.kind = PESS_OBSERVATION_FLOATS, .length = length};
}

pess_observation_shape pess_observation_picture(int rows, int cols, int channels) {
    return (pess_observation_shape){PESS_OBSERVATION_BYTES, (int64_t)rows * cols * channels, rows, cols, channels};
}

const char *pess_observation_kind_name(pess_observation_kind kind) {
    return (unsigned)kind < KINDS ? kinds[kind].name : "unknown";
}

int64_t pess_observation_bytes(const pess_observation_shape *shape) {
    switch (shape->kind) {
        case PESS_OBSERVATION_BYTES: return shape->length;
        case PESS_OBSERVATION_FLOATS: return shape->length * (int64_t)sizeof(float);
        case PESS_OBSERVATION_BITS: break;
    }
    return (shape->length + 7) / 8;
}

static pess_status check_shape(const pess_observation_shape *shape, pess_error *error) {
    if ((unsigned)shape->kind >= KINDS)
        return pess__fail(error, PESS_ARGUMENT, "observations of kind %d; 0 (bits), 1 (bytes) and 2 (floats) are known",
                          (int)shape->kind);
    if (shape->length < 1 || shape->length > kinds[shape->kind].longest)
        return pess__fail(error, PESS_LIMIT, "observations of %lld %s; 1 to %lld are possible",
                          (long long)shape->length, kinds[shape->kind].name, (long long)kinds[shape->kind].longest);
    const bool board = shape->rows != 0 || shape->cols != 0 || shape->channels != 0;
    if (board &&
        (shape->rows < 1 || shape->cols < 1 || shape->channels < 1 ||
         (int64_t)shape->rows * shape->cols != shape->length / shape->channels || shape->length % shape->channels != 0))
        return pess__fail(error, PESS_ARGUMENT, "a board of %d × %d × %d does not have the %lld %s of an observation",
                          shape->rows, shape->cols, shape->channels, (long long)shape->length, kinds[shape->kind].name);
    return PESS_OK;
}

pess_status pess_observations_create(const char *game, const char *notes, const pess_observation_shape *shape,
                                     int64_t actions, pess_observations **out, pess_error *error) {
    pess_observations *data;
    if (game == NULL) game = "";
    if (notes == NULL) notes = "";
    PESS_TRY(check_text("game", game, sizeof data->game, ' ', error));
    PESS_TRY(check_text("notes", notes, sizeof data->notes, '\n', error));
    PESS_TRY(check_shape(shape, error));
    if (actions < 1 || actions > PESS__DATA_MAX_ACTIONS)
        return pess__fail(error, PESS_LIMIT, "%lld actions; 1 to %d are possible", (long long)actions,
                          PESS__DATA_MAX_ACTIONS);
    PESS_TRY(pess__allocate(&data, 1, sizeof *data, what, error));
    memcpy(data->game, game, strlen(game));
    memcpy(data->notes, notes, strlen(notes));
    data->shape = *shape;
    data->bytes = pess_observation_bytes(shape);
    data->actions = actions;
    data->tried_bytes = (actions + 7) / 8;
    data->hash_mask = UINT64_MAX;
    *out = data;
    return PESS_OK;
}

void pess_observations_destroy(pess_observations *data) {
    if (data == NULL) return;
    void *const owned[] = {data->observations, data->tried, data->index,   data->state,       data->next,  data->action,
                           data->reward,       data->end,   data->stopped, data->probability, data->vector};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
    pess__action_space_free(&data->space);
    free(data);
}

/* ---- the index: open addressing with linear probing, at most half full. It holds numbers only, and observations are
 * compared in full, so equal hashes cost time and nothing else. */

/* h ← fold((h ⊕ word)·K), fold(x) = upper ⊕ lower half of the 128 bits, over the words of eight bytes. */
static uint64_t hash(const uint8_t *bytes, int64_t length) {
    __extension__ typedef unsigned __int128 wide;
    uint64_t h = 0x9e3779b97f4a7c15U;
    for (int64_t i = 0; i < length; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, length - i < 8 ? (size_t)(length - i) : 8);
        const wide product = (wide)(h ^ word) * 0xd1342543de82ef95U;
        h = (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    return h;
}

/* The slot that holds the observation, or the empty one where it belongs. */
static int64_t find_slot(const pess_observations *data, const uint8_t *observation) {
    const uint64_t last = (uint64_t)data->slots - 1;
    uint64_t slot = hash(observation, data->bytes) & data->hash_mask & last;
    for (;; slot = (slot + 1) & last) {
        const int32_t number = data->index[slot];
        if (number < 0 || memcmp(data->observations + number * data->bytes, observation, (size_t)data->bytes) == 0)
            return (int64_t)slot;
    }
}

int64_t pess__observations_find(const pess_observations *data, const uint8_t *observation) {
    return data->slots == 0 ? -1 : data->index[find_slot(data, observation)];
}

static pess_status grow_index(pess_observations *data, pess_error *error) {
    if (data->slots > 2 * data->states) return PESS_OK;
    const int64_t slots = data->slots > 0 ? 2 * data->slots : 256;
    int32_t *index;
    PESS_TRY(pess__allocate(&index, slots, sizeof *index, what, error));
    memset(index, 0xff, (size_t)slots * sizeof *index); /* -1 */
    free(data->index);
    data->index = index;
    data->slots = slots;
    for (int64_t i = 0; i < data->states; i++)
        data->index[find_slot(data, data->observations + i * data->bytes)] = (int32_t)i;
    return PESS_OK;
}

/* ---- building */

static pess_status grow_states(pess_observations *data, pess_error *error) {
    if (data->states >= PESS__DATA_MAX)
        return pess__fail(error, PESS_LIMIT, "more than %lld different observations", (long long)PESS__DATA_MAX);
    int64_t observations = data->state_room, tried = data->state_room;
    PESS_TRY(pess__grow(&data->observations, &observations, data->states + 1, (size_t)data->bytes, what, error));
    PESS_TRY(pess__grow(&data->tried, &tried, data->states + 1, (size_t)data->tried_bytes, what, error));
    data->state_room = observations;
    return PESS_OK;
}

static pess_status check_padding(const pess_observations *data, const char *name, const uint8_t *observation,
                                 pess_error *error) {
    const uint32_t used = (uint32_t)(data->shape.length - 8 * (data->bytes - 1)); /* bits of the last byte */
    if (observation[data->bytes - 1] >> used == 0) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: an observation of %lld bits has bits beyond them", name,
                      (long long)data->shape.length);
}

bool pess__floats_hold(const void *observation, int64_t length, int64_t *at, float *found) {
    for (*at = 0; *at < length; ++*at) {
        memcpy(found, (const char *)observation + *at * (int64_t)sizeof *found, sizeof *found);
        if (!isfinite(*found)) return false;
    }
    return true;
}

static pess_status check_floats(const pess_observations *data, const char *name, const uint8_t *observation,
                                pess_error *error) {
    int64_t at;
    float found;
    if (pess__floats_hold(observation, data->shape.length, &at, &found)) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s, feature %lld: found %g, expected a finite number below 3.4e38 in size",
                      name, (long long)at, (double)found);
}

pess_status pess__observations_check(const pess_observations *data, const char *name, const void *observation,
                                     pess_error *error) {
    switch (data->shape.kind) {
        case PESS_OBSERVATION_BITS: return check_padding(data, name, observation, error);
        case PESS_OBSERVATION_FLOATS: return check_floats(data, name, observation, error);
        case PESS_OBSERVATION_BYTES: break;
    }
    return PESS_OK;
}

pess_status pess__observations_number(pess_observations *data, const uint8_t *observation, int32_t *number,
                                      pess_error *error) {
    PESS_TRY(grow_index(data, error));
    const int64_t slot = find_slot(data, observation);
    if (data->index[slot] < 0) {
        PESS_TRY(grow_states(data, error));
        memcpy(data->observations + data->states * data->bytes, observation, (size_t)data->bytes);
        memset(data->tried + data->states * data->tried_bytes, 0, (size_t)data->tried_bytes);
        data->index[slot] = (int32_t)data->states++;
    }
    *number = data->index[slot];
    return PESS_OK;
}

pess_status pess__observations_reserve(pess_observations *data, int64_t transitions, pess_error *error) {
    if (transitions > PESS__DATA_MAX)
        return pess__fail(error, PESS_LIMIT, "%lld transitions; at most %lld are possible", (long long)transitions,
                          (long long)PESS__DATA_MAX);
    struct {
        void *array;
        size_t element;
    } columns[] = {{&data->state, sizeof *data->state},
                   {&data->next, sizeof *data->next},
                   {&data->reward, sizeof *data->reward},
                   {&data->action, 1},
                   {&data->end, 1}};
    int64_t room = data->transition_room;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        room = data->transition_room;
        PESS_TRY(pess__grow(columns[i].array, &room, transitions, columns[i].element, what, error));
    }
    if (data->probability != NULL) {
        room = data->transition_room;
        PESS_TRY(pess__grow(&data->probability, &room, transitions, sizeof *data->probability, what, error));
    }
    if (data->vector != NULL) {
        room = data->transition_room;
        const size_t vector = (size_t)data->space.width * sizeof *data->vector;
        PESS_TRY(pess__grow(&data->vector, &room, transitions, vector, what, error));
    }
    data->transition_room = room;
    return PESS_OK;
}

/* What a transition says beside its observations. */
static pess_status check_transition(const pess_observations *data, int64_t i, int64_t action, double reward,
                                    pess_end end, pess_error *error) {
    if (action < 0 || action >= data->actions)
        return pess__fail(error, PESS_INPUT, "transition %lld: action %lld; 0 to %lld are possible", (long long)i,
                          (long long)action, (long long)data->actions - 1);
    if (!isfinite((float)reward))
        return pess__fail(error, PESS_INPUT, "transition %lld: reward %g; a finite number is expected", (long long)i,
                          reward);
    if (end != PESS_END_NONE && end != PESS_END_TERMINAL && end != PESS_END_CUTOFF)
        return pess__fail(error, PESS_INPUT,
                          "transition %lld: end %d; 0 (none), 1 (terminal) or 2 (cut off) is expected", (long long)i,
                          (int)end);
    return PESS_OK;
}

pess_status pess__observations_set(pess_observations *data, int64_t i, int32_t state, int32_t action, double reward,
                                   int32_t next, pess_end end, pess_error *error) {
    PESS_TRY(check_transition(data, i, action, reward, end, error));
    data->state[i] = state;
    data->action[i] = (uint8_t)action;
    data->reward[i] = (float)reward;
    data->next[i] = next;
    data->end[i] = (uint8_t)end;
    uint8_t *tried = data->tried + state * data->tried_bytes + action / 8;
    const uint8_t bit = (uint8_t)(1U << (action % 8));
    data->pairs += (*tried & bit) == 0;
    *tried |= bit;
    return PESS_OK;
}

pess_status pess__observations_set_probability(pess_observations *data, int64_t i, double probability,
                                               pess_error *error) {
    if (!(probability > 0 && probability <= 1))
        return pess__fail(error, PESS_INPUT, "transition %lld: probability %g; above 0 and at most 1 is expected",
                          (long long)i, probability);
    if (data->probability == NULL)
        PESS_TRY(pess__allocate(&data->probability, data->transition_room, sizeof *data->probability, what, error));
    data->probability[i] = (float)probability;
    return PESS_OK;
}

/* Everything of row k of `rows`, which is to become transition i, before anything is changed. */
static pess_status check_row(const pess_observations *data, const pess_observations_rows *rows, int64_t k, int64_t i,
                             pess_error *error) {
    char name[64];
    const int64_t action = rows->vector != NULL ? 0 : rows->action[k];
    PESS_TRY(check_transition(data, i, action, rows->reward[k], (pess_end)rows->end[k], error));
    for (int64_t j = 0; rows->vector != NULL && j < rows->width; j++)
        if (!isfinite(rows->vector[k * rows->width + j]))
            return pess__fail(error, PESS_INPUT,
                              "transition %lld: number %lld of its action is %g; a finite one is expected",
                              (long long)i, (long long)j, (double)rows->vector[k * rows->width + j]);
    (void)snprintf(name, sizeof name, "transition %lld", (long long)i);
    PESS_TRY(pess__observations_check(data, name, (const uint8_t *)rows->state + k * data->bytes, error));
    (void)snprintf(name, sizeof name, "transition %lld, next observation", (long long)i);
    PESS_TRY(pess__observations_check(data, name, (const uint8_t *)rows->next + k * data->bytes, error));
    if (rows->probability != NULL && !(rows->probability[k] > 0 && rows->probability[k] <= 1))
        return pess__fail(error, PESS_INPUT, "transition %lld: probability %g; above 0 and at most 1 is expected",
                          (long long)i, rows->probability[k]);
    return PESS_OK;
}

/* A checked row, for which there is room. */
static pess_status add_row(pess_observations *data, const pess_observations_rows *rows, int64_t k, pess_error *error) {
    const int64_t i = data->transitions;
    const int32_t action = rows->vector != NULL ? 0 : (int32_t)rows->action[k];
    int32_t from, to;
    PESS_TRY(pess__observations_number(data, (const uint8_t *)rows->state + k * data->bytes, &from, error));
    PESS_TRY(pess__observations_number(data, (const uint8_t *)rows->next + k * data->bytes, &to, error));
    PESS_TRY(pess__observations_set(data, i, from, action, rows->reward[k], to, (pess_end)rows->end[k], error));
    if (rows->vector != NULL)
        PESS_TRY(pess__observations_set_vector(data, i, rows->vector + k * rows->width, rows->width, error));
    if (rows->probability != NULL) PESS_TRY(pess__observations_set_probability(data, i, rows->probability[k], error));
    data->transitions++;
    return PESS_OK;
}

pess_status pess_observations_append(pess_observations *data, const pess_observations_rows *rows, pess_error *error) {
    const int64_t before = data->transitions;
    if (rows->count < 0)
        return pess__fail(error, PESS_ARGUMENT, "%lld transitions to append; 0 or more are possible",
                          (long long)rows->count);
    if (before > 0 && rows->count > 0 && (data->probability != NULL) != (rows->probability != NULL))
        return pess__fail(error, PESS_ARGUMENT, "transition %lld: probabilities are of all transitions or of none",
                          (long long)before);
    if (before > 0 && rows->count > 0 && (data->vector != NULL) != (rows->vector != NULL))
        return pess__fail(error, PESS_ARGUMENT, "transition %lld: actions are vectors in all transitions or in none",
                          (long long)before);
    const bool first = before == 0 && data->vector == NULL;
    if (rows->vector != NULL && (rows->width < 1 || (!first && rows->width != data->space.width)))
        return pess__fail(error, PESS_ARGUMENT, "transition %lld: an action of %lld numbers; %lld are expected",
                          (long long)before, (long long)rows->width, (long long)(first ? 1 : data->space.width));
    for (int64_t k = 0; k < rows->count; k++) PESS_TRY(check_row(data, rows, k, before + k, error));
    PESS_TRY(pess__observations_reserve(data, before + rows->count, error));
    for (int64_t k = 0; k < rows->count; k++) PESS_TRY(add_row(data, rows, k, error));
    return PESS_OK;
}

pess_status pess_observations_add(pess_observations *data, const void *state, int64_t action, double reward,
                                  const void *next, pess_end end, pess_error *error) {
    const uint8_t ends = (uint8_t)end;
    if ((int)end < 0 || (int)end > UINT8_MAX)
        return check_transition(data, data->transitions, action, reward, end, error);
    const pess_observations_rows row = {
        .count = 1, .state = state, .next = next, .action = &action, .reward = &reward, .end = &ends};
    return pess_observations_append(data, &row, error);
}

pess_status pess_observations_stop(pess_observations *data, pess_error *error) {
    const int64_t last = data->transitions - 1;
    return last < 0 || data->end[last] != PESS_END_NONE ? PESS_OK : pess__observations_stop(data, last, error);
}

pess_status pess__observations_stop(pess_observations *data, int64_t i, pess_error *error) {
    PESS_TRY(pess__grow(&data->stopped, &data->stop_room, data->stop_count + 1, sizeof *data->stopped, what, error));
    data->stopped[data->stop_count++] = i;
    data->end[i] = PESS_END_CUTOFF;
    return PESS_OK;
}

/* ---- numbers in the order of the log */

/* renumbered[old] = new. Returns how many there are. */
static int32_t number_by_appearance(const pess_observations *data, int32_t *renumbered) {
    int32_t count = 0;
    for (int64_t s = 0; s < data->states; s++) renumbered[s] = -1;
    for (int64_t i = 0; i < data->transitions; i++) {
        int32_t *const shown[] = {&renumbered[data->state[i]], &renumbered[data->next[i]]};
        for (int k = 0; k < 2; k++)
            if (*shown[k] < 0) *shown[k] = count++;
    }
    return count;
}

static pess_status rearrange(pess_observations *data, const int32_t *renumbered, int32_t count, pess_error *error) {
    uint8_t *observations, *tried;
    PESS_TRY(pess__allocate(&observations, count, (size_t)data->bytes, what, error));
    const pess_status status = pess__allocate(&tried, count, (size_t)data->tried_bytes, what, error);
    if (status != PESS_OK) {
        free(observations);
        return status;
    }
    for (int64_t s = 0; s < data->states; s++) {
        const int64_t to = renumbered[s];
        if (to < 0) continue;
        memcpy(observations + to * data->bytes, data->observations + s * data->bytes, (size_t)data->bytes);
        memcpy(tried + to * data->tried_bytes, data->tried + s * data->tried_bytes, (size_t)data->tried_bytes);
    }
    free(data->observations);
    free(data->tried);
    data->observations = observations;
    data->tried = tried;
    return PESS_OK;
}

pess_status pess__observations_order(pess_observations *data, pess_error *error) {
    int32_t *renumbered;
    PESS_TRY(pess__allocate(&renumbered, data->states, sizeof *renumbered, what, error));
    const int32_t count = number_by_appearance(data, renumbered);
    const pess_status status = rearrange(data, renumbered, count, error);
    if (status == PESS_OK) {
        for (int64_t i = 0; i < data->transitions; i++) {
            data->state[i] = renumbered[data->state[i]];
            data->next[i] = renumbered[data->next[i]];
        }
        data->states = data->state_room = count;
        memset(data->index, 0xff, (size_t)data->slots * sizeof *data->index);
        for (int64_t s = 0; s < data->states; s++)
            data->index[find_slot(data, data->observations + s * data->bytes)] = (int32_t)s;
    }
    free(renumbered);
    return status;
}
