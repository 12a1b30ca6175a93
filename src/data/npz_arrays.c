#include "data/npz_arrays.h"

#include "core/memory.h"
#include "core/outfile.h"
#include "data/columns.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading */

bool pess__npz_expands(const pess__zip *zip, int64_t bytes) {
    enum { EXPANSION = 1000, FLOOR = 64 << 20 };
    return bytes / EXPANSION > zip->file_size + FLOOR / EXPANSION;
}

const pess__zip_entry *pess__npz_find(const pess__zip *zip, const char *name) {
    const size_t length = strlen(name);
    for (int64_t i = 0; i < zip->count; i++)
        if (strncmp(zip->entries[i].name, name, length) == 0 && strcmp(zip->entries[i].name + length, ".npy") == 0)
            return &zip->entries[i];
    return NULL;
}

static pess_status bad(const pess__zip *zip, const char *name, const char *what, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: array '%.60s': %s", pess__infile_name(zip->file), name, what);
}

static pess_status read_header(const pess__zip *zip, const char *name, pess__npz_array *a, pess_error *error) {
    uint8_t start[12];
    char text[PESS__NPY_LONGEST_HEADER];
    PESS_TRY(pess__zip_member_read(&a->member, start, 10, error));
    if (memcmp(start, "\x93NUMPY", 6) != 0) return bad(zip, name, "found no NumPy array in it", error);
    if (start[6] < 1 || start[6] > 3)
        return bad(zip, name, "found an unknown version of the .npy format, expected 1 to 3", error);
    if (start[6] > 1) PESS_TRY(pess__zip_member_read(&a->member, start + 10, 2, error));
    const uint32_t length = start[6] > 1 ? pess__get32(start + 8) : pess__get16(start + 8);
    if (length > sizeof text)
        return bad(zip, name, "found a header of more than 10000 bytes, expected a shorter one", error);
    const char *problem = NULL;
    PESS_TRY(pess__zip_member_read(&a->member, text, length, error));
    if (!pess__npy_parse_header(text, length, &a->header, &problem)) return bad(zip, name, problem, error);
    const pess__npy_header *h = &a->header;
    const int64_t left = a->member.entry->size - a->member.unpacked;
    a->count = 1;
    for (int i = 0; i < h->dimensions; i++)
        if (h->shape[i] == 0) a->count = 0;
    for (int i = 0; i < h->dimensions; i++) {
        if (h->shape[i] > 0 && a->count > left / h->shape[i])
            return bad(zip, name, "found a number of bytes that does not fit its shape and type", error);
        a->count *= h->shape[i];
    }
    if (a->count > left / h->type.size || a->count * h->type.size != left)
        return bad(zip, name, "found a number of bytes that does not fit its shape and type", error);
    return PESS_OK;
}

/* Elements in the order of the file, where the first index runs fastest, to the places that they have in C's order. */
static void turn(const pess__npy_header *h, const uint8_t *from, int64_t count, uint8_t *to) {
    int64_t index[PESS__NPY_DIMENSIONS] = {0}, step[PESS__NPY_DIMENSIONS], place = 0;
    step[h->dimensions - 1] = 1;
    for (int d = h->dimensions - 1; d > 0; d--) step[d - 1] = step[d] * h->shape[d];
    for (int64_t i = 0; i < count; i++) {
        memcpy(to + place * h->type.size, from + i * h->type.size, (size_t)h->type.size);
        for (int d = 0; d < h->dimensions; d++) {
            place += step[d];
            if (++index[d] < h->shape[d]) break;
            place -= h->shape[d] * step[d];
            index[d] = 0;
        }
    }
}

static pess_status turn_array(pess__npz_array *a, pess_error *error) {
    const int64_t bytes = a->count * a->header.type.size;
    uint8_t *file_order = NULL;
    pess_status status = pess__allocate(&file_order, bytes, 1, "an array in Fortran's order", error);
    if (status == PESS_OK) status = pess__allocate(&a->turned, bytes, 1, "an array in C's order", error);
    if (status == PESS_OK) status = pess__zip_member_read(&a->member, file_order, (size_t)bytes, error);
    if (status == PESS_OK) turn(&a->header, file_order, a->count, a->turned);
    free(file_order);
    return status;
}

void pess__npz_array_close(pess__npz_array *array) {
    pess__zip_member_close(&array->member);
    free(array->turned);
    array->turned = NULL;
}

pess_status pess__npz_array_open(const pess__zip *zip, const pess__zip_entry *entry, const char *name,
                                 pess__npz_array *out, pess_error *error) {
    *out = (pess__npz_array){0};
    if (pess__npz_expands(zip, entry->size))
        return bad(zip, name, "it unpacks to more than a thousand times the file; not read", error);
    pess_status status = pess__zip_member_open(zip, entry, &out->member, error);
    if (status == PESS_OK) status = read_header(zip, name, out, error);
    const pess__npy_header *h = &out->header; /* [N, 1] is the same in both orders */
    if (status == PESS_OK && h->columns_first && h->dimensions > 1 && out->count > h->shape[0])
        status = turn_array(out, error);
    if (status != PESS_OK) pess__npz_array_close(out);
    return status;
}

pess_status pess__npz_array_read(pess__npz_array *a, uint8_t *out, int64_t bytes, pess_error *error) {
    if (a->turned == NULL) return pess__zip_member_read(&a->member, out, (size_t)bytes, error);
    assert(bytes <= a->count * a->header.type.size - a->taken);
    memcpy(out, a->turned + a->taken, (size_t)bytes);
    a->taken += bytes;
    return PESS_OK;
}

pess_status pess__npz_array_doubles(pess__npz_array *a, const char *name, double **out, pess_error *error) {
    enum { SLICE = 4096 };
    uint8_t bytes[SLICE * 8];
    const pess__npy_type *type = &a->header.type;
    if (type->kind == 'S' || type->kind == 'U') return bad(a->member.zip, name, "found text, expected numbers", error);
    double *numbers = NULL;
    PESS_TRY(pess__allocate(&numbers, a->count, sizeof *numbers, "an array", error));
    for (int64_t first = 0; first < a->count; first += SLICE) {
        const int64_t count = a->count - first < SLICE ? a->count - first : SLICE;
        const pess_status status = pess__npz_array_read(a, bytes, count * type->size, error);
        if (status != PESS_OK) {
            free(numbers);
            return status;
        }
        pess__npy_double(type, bytes, count, numbers + first);
    }
    *out = numbers;
    return PESS_OK;
}

/* ---- writing */

enum { HEADER = 128, SLICE_BYTES = 1 << 18 };

typedef struct member {
    const pess__npz_column *column;
    uint32_t crc;
    uint64_t local; /* offset of its local header */
} member;

/* The .npy header: padded with blanks to HEADER bytes. */
static void render_header(const pess__npz_column *c, uint8_t out[HEADER]) {
    static const uint8_t magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    char text[HEADER], shape[80] = "";
    for (int i = 0; i < c->dimensions; i++) {
        const size_t used = strlen(shape);
        (void)snprintf(shape + used, sizeof shape - used,
                       i == 0   ? "%lld,"
                       : i == 1 ? " %lld"
                                : ", %lld",
                       (long long)c->shape[i]);
    }
    memset(out, ' ', HEADER);
    memcpy(out, magic, sizeof magic);
    pess__put(out + 8, HEADER - 10, 2);
    const int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", c->type, shape);
    memcpy(out + 10, text, (size_t)length < HEADER - 11 ? (size_t)length : HEADER - 11);
    out[HEADER - 1] = '\n';
}

/* The member's bytes: into the file, or only through the checksum. */
static uint32_t emit(const pess__npz_column *c, uint8_t *slice, pess__outfile *file) {
    uint8_t header[HEADER];
    const int64_t at_once = c->width < SLICE_BYTES ? SLICE_BYTES / c->width : 1;
    render_header(c, header);
    uint32_t crc = (uint32_t)crc32(0, header, HEADER);
    if (file != NULL) pess__outfile_write(file, header, HEADER);
    for (int64_t first = 0; first < c->shape[0]; first += at_once) {
        const int64_t rows = c->shape[0] - first < at_once ? c->shape[0] - first : at_once;
        const size_t bytes = (size_t)(rows * c->width);
        c->render(c->user, first, rows, slice);
        if (file != NULL)
            pess__outfile_write(file, slice, bytes);
        else
            crc = (uint32_t)crc32_z(crc, slice, bytes);
    }
    return crc;
}

static uint64_t size_of(const pess__npz_column *c) { return HEADER + (uint64_t)(c->shape[0] * c->width); }

/* The fields that the local header and the directory share, from `at` on: version needed to the length of the name. */
static void put_common(uint8_t *at, const member *m) {
    pess__put(at, 20, 2);       /* version 2.0 */
    pess__put(at + 8, 0x21, 2); /* 1980-01-01: the same arrays give the same bytes */
    pess__put(at + 10, m->crc, 4);
    pess__put(at + 14, size_of(m->column), 4);
    pess__put(at + 18, size_of(m->column), 4);
    pess__put(at + 22, strlen(m->column->name) + 4, 2);
}

static void write_zip(member *members, int count, uint8_t *slice, pess__outfile *file) {
    uint64_t at = 0, directory = 0;
    for (int i = 0; i < count; i++) {
        member *m = &members[i];
        uint8_t local[30] = "PK\3\4";
        m->local = at;
        m->crc = emit(m->column, slice, NULL);
        put_common(local + 4, m);
        pess__outfile_write(file, local, sizeof local);
        pess__outfile_print(file, "%s.npy", m->column->name);
        (void)emit(m->column, slice, file);
        at += sizeof local + strlen(m->column->name) + 4 + size_of(m->column);
    }
    for (int i = 0; i < count; i++) {
        uint8_t entry[46] = "PK\1\2";
        pess__put(entry + 4, 20 | 3 << 8, 2); /* made by version 2.0, Unix */
        put_common(entry + 6, &members[i]);
        pess__put(entry + 38, (uint64_t)0600 << 16, 4);
        pess__put(entry + 42, members[i].local, 4);
        pess__outfile_write(file, entry, sizeof entry);
        pess__outfile_print(file, "%s.npy", members[i].column->name);
        directory += sizeof entry + strlen(members[i].column->name) + 4;
    }
    uint8_t end[22] = "PK\5\6";
    pess__put(end + 8, (uint64_t)count, 2);
    pess__put(end + 10, (uint64_t)count, 2);
    pess__put(end + 12, directory, 4);
    pess__put(end + 16, at, 4);
    pess__outfile_write(file, end, sizeof end);
}

pess_status pess__npz_write_arrays(const char *path, const pess__npz_column *columns, int count, const char *instead,
                                   pess_error *error) {
    int64_t widest = SLICE_BYTES;
    double total = 0;
    for (int i = 0; i < count; i++) {
        widest = columns[i].width > widest ? columns[i].width : widest;
        total += (double)size_of(&columns[i]) + HEADER;
    }
    if (total > 4e9)
        return pess__fail(error, PESS_LIMIT, "%s: the arrays take %.3g GB; beyond 4 GB write %s", path, total / 1e9,
                          instead);
    uint8_t *slice = NULL;
    member *members = NULL;
    pess__outfile *file = NULL;
    pess_status status = pess__allocate(&slice, widest, 1, "a slice of an array", error);
    if (status == PESS_OK) status = pess__allocate(&members, count, sizeof *members, "the arrays of a file", error);
    if (status == PESS_OK) status = pess__outfile_open(path, &file, error);
    if (status == PESS_OK) {
        for (int i = 0; i < count; i++) members[i].column = &columns[i];
        write_zip(members, count, slice, file);
        status = pess__outfile_commit(file, error);
    }
    free(members);
    free(slice);
    return status;
}
