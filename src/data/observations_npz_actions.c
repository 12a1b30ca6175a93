/* What a NumPy dataset says of its actions beside their numbers: vectors that they stand for, and names. */
#include "data/observations_npz.h"

#include "core/memory.h"
#include "data/names.h"

#include <math.h>
#include <stdlib.h>

typedef struct source {
    const pess__zip *zip;
    const char *file;
    pess_observations *data;
} source;

/* Opens an array of the actions; *there false: there is none. */
static pess_status open_of_actions(const source *r, const char *name, pess__npz_array *a, bool *there,
                                   pess_error *error) {
    const pess__zip_entry *entry = pess__npz_find(r->zip, name);
    *a = (pess__npz_array){0};
    *there = entry != NULL;
    if (entry == NULL) return PESS_OK;
    PESS_TRY(pess__npz_array_open(r->zip, entry, name, a, error));
    if (a->header.dimensions >= 1 && a->header.shape[0] == r->data->actions) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: array '%s': found another shape, expected a row for each of %lld actions",
                      r->file, name, (long long)r->data->actions);
}

static pess_status read_action_values(const source *r, pess_error *error) {
    pess__npz_array a;
    bool there = false;
    double *numbers = NULL;
    pess_status status = open_of_actions(r, "action_values", &a, &there, error);
    if (status == PESS_OK && there) status = pess__npz_array_doubles(&a, "action_values", &numbers, error);
    pess__npz_array_close(&a);
    pess__action_space *space = &r->data->space;
    if (status == PESS_OK && there)
        status = pess__allocate(&space->values, a.count, sizeof *space->values, "actions", error);
    if (status == PESS_OK && there) space->width = a.count / r->data->actions;
    for (int64_t i = 0; status == PESS_OK && there && i < a.count; i++)
        if (!isfinite(space->values[i] = (float)numbers[i]))
            status = pess__fail(error, PESS_INPUT, "%s: array 'action_values': found %g, expected finite numbers",
                                r->file, numbers[i]);
    free(numbers);
    return status;
}

static pess_status add_names(const source *r, pess__npz_array *a, pess_names *names, pess_error *error) {
    const pess__npy_type *type = &a->header.type;
    uint8_t element[256];
    char text[sizeof element + 1];
    if (type->kind != 'S' || type->size > (int64_t)sizeof element || a->count != r->data->actions)
        return pess__fail(error, PESS_INPUT, "%s: array 'action_names': found no texts, expected one for each action",
                          r->file);
    for (int64_t i = 0, id; i < a->count; i++) {
        PESS_TRY(pess__npz_array_read(a, element, type->size, error));
        const int64_t length = pess__npy_text(type, element, text);
        if (length < 1 || !pess__names_valid(text, (size_t)length))
            return pess__fail(error, PESS_INPUT, "%s: array 'action_names', row %lld: found no name in UTF-8", r->file,
                              (long long)i);
        PESS_TRY(pess__names_add(names, text, (size_t)length, &id, error));
        if (id != i)
            return pess__fail(error, PESS_INPUT, "%s: array 'action_names', row %lld: found '%.*s' a second time",
                              r->file, (long long)i, (int)(length < 40 ? length : 40), text);
    }
    return PESS_OK;
}

static pess_status read_action_names(const source *r, pess_error *error) {
    pess__npz_array a;
    bool there = false;
    pess_status status = open_of_actions(r, "action_names", &a, &there, error);
    if (status == PESS_OK && there) status = pess__names_create(&r->data->space.names, error);
    if (status == PESS_OK && there) status = add_names(r, &a, r->data->space.names, error);
    pess__npz_array_close(&a);
    return status;
}

pess_status pess__observations_npz_actions(const pess__zip *zip, const char *file, pess_observations *data,
                                           pess_error *error) {
    const source r = {zip, file, data};
    PESS_TRY(read_action_values(&r, error));
    return read_action_names(&r, error);
}
