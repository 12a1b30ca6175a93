/* Actions of a dataset that are vectors: as they were logged, and numbered. */
#include "core/memory.h"
#include "data/observations.h"

#include <stdlib.h>
#include <string.h>

static const char what[] = "the actions of a dataset";

void pess_observations_actions(const pess_observations *data, pess_action_space *out) {
    *out = (pess_action_space){
        .width = data->space.width, .values = data->space.values, .logged = data->vector, .names = data->space.names};
}

pess_status pess__observations_set_vector(pess_observations *data, int64_t i, const float *vector, int64_t width,
                                          pess_error *error) {
    if (data->vector == NULL) {
        PESS_TRY(pess__allocate(&data->vector, data->transition_room * width, sizeof *data->vector, what, error));
        data->space.width = width;
    }
    memcpy(data->vector + i * width, vector, (size_t)width * sizeof *vector);
    return PESS_OK;
}

pess_status pess__observations_check_numbered(const pess_observations *data, pess_error *error) {
    if (data->vector == NULL) return PESS_OK;
    return pess__fail_with_remedy(
        error,
        pess__fail(
            error, PESS_ARGUMENT,
            "the actions are vectors of %lld number%s, and learners choose among numbered ones: a grid or k-means "
            "numbers them",
            (long long)data->space.width, data->space.width == 1 ? "" : "s"),
        "actions-grid", "N");
}

/* Which actions were taken where, anew. */
static pess_status count_pairs(pess_observations *data, pess_error *error) {
    const int64_t bytes = (data->actions + 7) / 8;
    uint8_t *tried = NULL;
    PESS_TRY(pess__allocate(&tried, data->state_room, (size_t)bytes, what, error));
    data->pairs = 0;
    for (int64_t i = 0; i < data->transitions; i++) {
        uint8_t *at = tried + data->state[i] * bytes + data->action[i] / 8;
        const uint8_t bit = (uint8_t)(1U << (data->action[i] % 8));
        data->pairs += (*at & bit) == 0;
        *at |= bit;
    }
    free(data->tried);
    data->tried = tried;
    data->tried_bytes = bytes;
    return PESS_OK;
}

pess_status pess__observations_take_numbers(pess_observations *data, const uint32_t *number, float *values,
                                            int64_t count, pess_error *error) {
    const int64_t before = data->actions;
    data->actions = count;
    for (int64_t i = 0; i < data->transitions; i++) data->action[i] = (uint8_t)number[i];
    const pess__action_space numbered = {.width = data->space.width, .values = values};
    pess_status status = count_pairs(data, error);
    if (status == PESS_OK) status = pess__action_space_copy(&numbered, count, &data->space, error);
    if (status != PESS_OK) {
        memset(data->action, 0, (size_t)data->transitions);
        data->actions = before;
        return status;
    }
    free(data->vector);
    data->vector = NULL;
    return PESS_OK;
}
