/* Files of NumPy arrays, each of one number. */
#ifndef PESS_TESTS_ARRAYS_FILE_H
#define PESS_TESTS_ARRAYS_FILE_H

#include "scratch.h"

#include "data/npz_arrays.h"

/* An array of one number, repeated. */
typedef struct array {
    const char *name;
    int dimensions;
    int64_t shape[5];
    double value;
    const char *type; /* NULL: doubles */
} array;

static inline void render(const void *user, int64_t first, int64_t rows, uint8_t *out) {
    const array *a = user;
    int64_t width = 1;
    (void)first;
    for (int i = 1; i < a->dimensions; i++) width *= a->shape[i];
    for (int64_t i = 0; i < rows * width; i++) memcpy(out + 8 * i, &a->value, 8);
}

/* The file at scratch_path(0, ".npz"). */
static inline const char *arrays_file(const array *arrays, int count) {
    pess__npz_column columns[70] = {0};
    pess_error error = {0};
    const char *path = scratch_path(0, ".npz");
    for (int i = 0; i < count; i++) {
        columns[i] = (pess__npz_column){.name = arrays[i].name,
                                        .dimensions = arrays[i].dimensions,
                                        .width = 8,
                                        .render = render,
                                        .user = &arrays[i]};
        (void)snprintf(columns[i].type, sizeof columns[i].type, "%s", arrays[i].type != NULL ? arrays[i].type : "<f8");
        memcpy(columns[i].shape, arrays[i].shape, sizeof arrays[i].shape);
        for (int k = 1; k < arrays[i].dimensions; k++) columns[i].width *= arrays[i].shape[k];
    }
    assert_ok(pess__npz_write_arrays(path, columns, count, "nothing", &error), &error);
    return path;
}

#endif
