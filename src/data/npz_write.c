#include "data/npz_write.h"

#include "data/columns.h"
#include "data/npz_arrays.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ARRAYS = 9 };

typedef enum what { NUMBERS, NAMES, TERMINAL, TRUNCATED } what;

typedef struct column {
    const char *name, *type; /* type NULL: text, its width is found */
    what what;
    const void *from; /* uint32, int64 or double by `element` */
    size_t element;
    const pess_names *names;
    int64_t width; /* bytes of an element in the file */
} column;

/* Code points of a UTF-8 text, into out where it is not NULL. */
static int64_t code_points(const char *text, uint8_t *out) {
    int64_t count = 0;
    for (const uint8_t *c = (const uint8_t *)text; *c != 0; count++) {
        const int more = *c < 0x80 ? 0 : *c < 0xE0 ? 1 : *c < 0xF0 ? 2 : 3;
        uint32_t value = more == 0 ? *c : *c & (0x3Fu >> more);
        for (c++; (*c & 0xC0) == 0x80; c++) value = value << 6 | (*c & 0x3Fu);
        if (out != NULL) pess__put(out + 4 * count, value, 4);
    }
    return count;
}

static int64_t id_at(const column *c, int64_t row) {
    return c->element == 4 ? (int64_t)((const uint32_t *)c->from)[row] : ((const int64_t *)c->from)[row];
}

typedef struct source {
    const pess_dataset *data;
    column column;
} source;

/* Rows [first, first+rows) as they are in the file. */
static void render(const void *user, int64_t first, int64_t rows, uint8_t *out) {
    const pess_dataset *data = ((const source *)user)->data;
    const column *c = &((const source *)user)->column;
    switch (c->what) {
        case NUMBERS:
            memcpy(out, (const uint8_t *)c->from + (size_t)first * c->element, (size_t)rows * c->element);
            break;
        case NAMES:
            memset(out, 0, (size_t)(rows * c->width));
            for (int64_t i = 0; i < rows; i++)
                (void)code_points(pess_names_get(c->names, id_at(c, first + i)), out + i * c->width);
            break;
        case TERMINAL:
            for (int64_t i = 0; i < rows; i++) out[i] = data->end[first + i] == PESS_END_TERMINAL;
            break;
        case TRUNCATED:
            for (int64_t i = 0; i < rows; i++) out[i] = data->end[first + i] == PESS_END_CUTOFF;
            break;
    }
}

static bool any_end(const pess_dataset *data, uint8_t end) {
    for (int64_t i = 0; i < data->rows; i++)
        if (data->end[i] == end) return true;
    return false;
}

static column ids(const char *name, const void *from, size_t element, const pess_names *names) {
    column c = {.name = name,
                .type = element == 4 ? "<i4" : "<i8",
                .from = from,
                .element = element,
                .names = names,
                .width = (int64_t)element};
    if (names == NULL) return c;
    c.what = NAMES;
    c.width = 4;
    for (int64_t i = 0; i < pess_names_count(names); i++) {
        const int64_t width = 4 * code_points(pess_names_get(names, i), NULL);
        c.width = width > c.width ? width : c.width;
    }
    return c;
}

static int list_columns(const pess_dataset *data, column columns[MOST_ARRAYS]) {
    int n = 0;
    if (data->episode != NULL) columns[n++] = ids("episode", data->episode, 8, data->episode_names);
    if (data->step != NULL) columns[n++] = ids("step", data->step, 8, NULL);
    columns[n++] = ids("state", data->state, 4, data->state_names);
    columns[n++] = ids("action", data->action, 4, data->action_names);
    columns[n++] = (column){.name = "reward", .type = "<f8", .from = data->reward, .element = 8, .width = 8};
    columns[n++] = ids("next_state", data->next_state, 4, data->state_names);
    if (any_end(data, PESS_END_TERMINAL))
        columns[n++] = (column){.name = "terminal", .type = "|b1", .what = TERMINAL, .width = 1};
    if (any_end(data, PESS_END_CUTOFF))
        columns[n++] = (column){.name = "truncated", .type = "|b1", .what = TRUNCATED, .width = 1};
    if (data->probability != NULL)
        columns[n++] =
            (column){.name = "probability", .type = "<f8", .from = data->probability, .element = 8, .width = 8};
    return n;
}

pess_status pess__npz_write(const pess_dataset *data, const char *path, pess_error *error) {
    column columns[MOST_ARRAYS];
    source sources[MOST_ARRAYS];
    pess__npz_column arrays[MOST_ARRAYS];
    const int count = list_columns(data, columns);
    for (int i = 0; i < count; i++) {
        sources[i] = (source){data, columns[i]};
        arrays[i] = (pess__npz_column){.name = columns[i].name,
                                       .dimensions = 1,
                                       .shape = {data->rows},
                                       .width = columns[i].width,
                                       .render = render,
                                       .user = &sources[i]};
        if (columns[i].what == NAMES)
            (void)snprintf(arrays[i].type, sizeof arrays[i].type, "<U%lld", (long long)(columns[i].width / 4));
        else
            (void)snprintf(arrays[i].type, sizeof arrays[i].type, "%s", columns[i].type);
    }
    return pess__npz_write_arrays(path, arrays, count, ".pesslog or .csv.gz", error);
}
