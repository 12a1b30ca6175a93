#include "data/npz_write.h"

#include "core/memory.h"
#include "core/outfile.h"
#include "data/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SLICE = 4096, HEADER = 128, MOST_ARRAYS = 9 };

typedef enum what { NUMBERS, NAMES, TERMINAL, TRUNCATED } what;

typedef struct column {
    const char *name, *type; /* type NULL: text, its width is found */
    what what;
    const void *from; /* uint32, int64 or double by `element` */
    size_t element;
    const pess_names *names;
    int64_t width;       /* bytes of an element in the file */
    uint32_t crc, local; /* of the member; offset of its local header */
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

/* Rows [first, first+rows) as they are in the file. */
static void render(const pess_dataset *data, const column *c, int64_t first, int64_t rows, uint8_t *out) {
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

/* The .npy header: padded with blanks to HEADER bytes. */
static void render_header(const pess_dataset *data, const column *c, uint8_t out[HEADER]) {
    static const uint8_t magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    char type[24];
    if (c->what == NAMES)
        (void)snprintf(type, sizeof type, "<U%lld", (long long)(c->width / 4));
    else
        (void)snprintf(type, sizeof type, "%s", c->type);
    memset(out, ' ', HEADER);
    memcpy(out, magic, sizeof magic);
    pess__put(out + 8, HEADER - 10, 2);
    char text[HEADER];
    const int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%lld,), }", type,
                                (long long)data->rows);
    memcpy(out + 10, text, (size_t)length);
    out[HEADER - 1] = '\n';
}

/* The member's bytes: into the file, or only through the checksum. */
static uint32_t emit(const pess_dataset *data, const column *c, uint8_t *slice, pess__outfile *file) {
    uint8_t header[HEADER];
    render_header(data, c, header);
    uint32_t crc = (uint32_t)crc32(0, header, HEADER);
    if (file != NULL) pess__outfile_write(file, header, HEADER);
    for (int64_t first = 0; first < data->rows; first += SLICE) {
        const int64_t rows = data->rows - first < SLICE ? data->rows - first : SLICE;
        const size_t bytes = (size_t)(rows * c->width);
        render(data, c, first, rows, slice);
        if (file != NULL)
            pess__outfile_write(file, slice, bytes);
        else
            crc = (uint32_t)crc32_z(crc, slice, bytes);
    }
    return crc;
}

/* The fields that the local header and the directory share, from `at` on: version needed to the length of the name. */
static void put_common(uint8_t *at, const column *c, int64_t rows) {
    const uint64_t size = HEADER + (uint64_t)(rows * c->width);
    pess__put(at, 20, 2);       /* version 2.0 */
    pess__put(at + 8, 0x21, 2); /* 1980-01-01: the same log gives the same bytes */
    pess__put(at + 10, c->crc, 4);
    pess__put(at + 14, size, 4);
    pess__put(at + 18, size, 4);
    pess__put(at + 22, strlen(c->name) + 4, 2);
}

static void write_zip(const pess_dataset *data, column *columns, int count, uint8_t *slice, pess__outfile *file) {
    uint64_t at = 0, directory = 0;
    for (int i = 0; i < count; i++) {
        column *c = &columns[i];
        uint8_t local[30] = "PK\3\4";
        c->local = (uint32_t)at;
        c->crc = emit(data, c, slice, NULL);
        put_common(local + 4, c, data->rows);
        pess__outfile_write(file, local, sizeof local);
        pess__outfile_print(file, "%s.npy", c->name);
        (void)emit(data, c, slice, file);
        at += sizeof local + strlen(c->name) + 4 + HEADER + (uint64_t)(data->rows * c->width);
    }
    for (int i = 0; i < count; i++) {
        uint8_t entry[46] = "PK\1\2";
        pess__put(entry + 4, 20 | 3 << 8, 2); /* made by version 2.0, Unix */
        put_common(entry + 6, &columns[i], data->rows);
        pess__put(entry + 38, (uint64_t)0600 << 16, 4);
        pess__put(entry + 42, columns[i].local, 4);
        pess__outfile_write(file, entry, sizeof entry);
        pess__outfile_print(file, "%s.npy", columns[i].name);
        directory += sizeof entry + strlen(columns[i].name) + 4;
    }
    uint8_t end[22] = "PK\5\6";
    pess__put(end + 8, (uint64_t)count, 2);
    pess__put(end + 10, (uint64_t)count, 2);
    pess__put(end + 12, directory, 4);
    pess__put(end + 16, at, 4);
    pess__outfile_write(file, end, sizeof end);
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
    const int count = list_columns(data, columns);
    int64_t widest = 8;
    double total = 0;
    for (int i = 0; i < count; i++) {
        widest = columns[i].width > widest ? columns[i].width : widest;
        total += (double)columns[i].width * (double)data->rows + 2 * HEADER;
    }
    if (total > 4e9)
        return pess__fail(error, PESS_LIMIT, "%s: the arrays take %.3g GB; beyond 4 GB write .pesslog or .csv.gz", path,
                          total / 1e9);
    uint8_t *slice = NULL;
    pess__outfile *file = NULL;
    PESS_TRY(pess__allocate(&slice, widest * SLICE, 1, "a slice of an array", error));
    pess_status status = pess__outfile_open(path, &file, error);
    if (status == PESS_OK) {
        write_zip(data, columns, count, slice, file);
        status = pess__outfile_commit(file, error);
    }
    free(slice);
    return status;
}
