#include "data/action_space.h"

#include "core/memory.h"
#include "data/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 256 };
static const char what[] = "the vectors of actions";

void pess__action_space_free(pess__action_space *space) {
    free(space->values);
    pess_names_destroy(space->names);
    *space = (pess__action_space){0};
}

pess_status pess__action_space_copy(const pess__action_space *from, int64_t actions, pess__action_space *to,
                                    pess_error *error) {
    pess__action_space copy = {.width = from->width};
    const int64_t numbers = actions * from->width;
    if (from->values != NULL) {
        PESS_TRY(pess__allocate(&copy.values, numbers, sizeof *copy.values, what, error));
        memcpy(copy.values, from->values, (size_t)numbers * sizeof *copy.values);
    }
    const pess_status status = pess__names_clone(from->names, &copy.names, error);
    if (status != PESS_OK) {
        pess__action_space_free(&copy);
        return status;
    }
    pess__action_space_free(to);
    *to = copy;
    return PESS_OK;
}

/* ---- files */

uint32_t pess__action_space_parts(const pess__action_space *space) {
    return (space->values != NULL ? PESS__ACTION_VECTORS : 0) | (space->names != NULL ? PESS__ACTION_NAMES : 0);
}

void pess__action_space_write(const pess__action_space *space, int64_t actions, pess__sink *sink) {
    if (space->values != NULL) {
        pess__sink_u32(sink, (uint32_t)space->width);
        pess__sink_write(sink, space->values, (size_t)(actions * space->width) * sizeof *space->values);
    }
    for (int64_t a = 0; space->names != NULL && a < actions; a++)
        pess__sink_text(sink, pess_names_get(space->names, a));
}

static pess_status read_vectors(pess__cursor *cursor, int64_t actions, pess__action_space *out, pess_error *error) {
    const uint32_t width = pess__cursor_u32(cursor);
    const int64_t count = actions * (int64_t)width;
    if (width < 1 || count > (int64_t)(cursor->left / sizeof *out->values)) /* before memory is taken for them */
        return pess__fail(error, PESS_INPUT, "%s: actions of %u numbers, for which the file is too short", cursor->name,
                          width);
    PESS_TRY(pess__allocate(&out->values, count, sizeof *out->values, what, error));
    pess__cursor_read(cursor, out->values, (size_t)count * sizeof *out->values);
    out->width = width;
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(out->values[i]))
            return pess__fail(error, PESS_INPUT, "%s: the vector of action %lld has %g; finite numbers are expected",
                              cursor->name, (long long)(i / width), (double)out->values[i]);
    return PESS_OK;
}

static pess_status read_name(pess__cursor *cursor, int64_t action, pess_names *names, pess_error *error) {
    char name[LONGEST];
    int64_t id = -1;
    if (!pess__cursor_text(cursor, name, sizeof name) || name[0] == '\0' || !pess__names_valid(name, strlen(name)))
        return pess__fail(error, PESS_INPUT, "%s: the name of action %lld is too long, cut off or not UTF-8",
                          cursor->name, (long long)action);
    PESS_TRY(pess__names_add(names, name, strlen(name), &id, error));
    if (id == action) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: actions %lld and %lld have the same name", cursor->name, (long long)id,
                      (long long)action);
}

pess_status pess__action_space_read(pess__cursor *cursor, uint32_t parts, int64_t actions, pess__action_space *out,
                                    pess_error *error) {
    if ((parts & PESS__ACTION_VECTORS) != 0) PESS_TRY(read_vectors(cursor, actions, out, error));
    if ((parts & PESS__ACTION_NAMES) == 0) return PESS_OK;
    PESS_TRY(pess__names_create(&out->names, error));
    for (int64_t a = 0; a < actions; a++) PESS_TRY(read_name(cursor, a, out->names, error));
    return PESS_OK;
}
