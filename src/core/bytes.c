#include "core/bytes.h"

#include "core/infile.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MAGIC = 8, CHECKSUM = 4 };

pess_status pess__sink_open(pess__sink *sink, const char *path, const char magic[8], pess_error *error) {
    *sink = (pess__sink){.crc = (uint32_t)crc32_z(0, NULL, 0)};
    PESS_TRY(pess__outfile_open(path, &sink->file, error));
    pess__sink_write(sink, magic, MAGIC);
    return PESS_OK;
}

void pess__sink_write(pess__sink *sink, const void *bytes, size_t length) {
    sink->crc = (uint32_t)crc32_z(sink->crc, bytes, length);
    pess__outfile_write(sink->file, bytes, length);
}

void pess__sink_u32(pess__sink *sink, uint32_t value) { pess__sink_write(sink, &value, sizeof value); }
void pess__sink_i64(pess__sink *sink, int64_t value) { pess__sink_write(sink, &value, sizeof value); }
void pess__sink_double(pess__sink *sink, double value) { pess__sink_write(sink, &value, sizeof value); }

void pess__sink_text(pess__sink *sink, const char *text) {
    const size_t length = strlen(text);
    pess__sink_u32(sink, (uint32_t)length);
    pess__sink_write(sink, text, length);
}

pess_status pess__sink_commit(pess__sink *sink, pess_error *error) {
    const uint32_t crc = sink->crc;
    pess__outfile_write(sink->file, &crc, sizeof crc);
    return pess__outfile_commit(sink->file, error);
}

void pess__sink_abandon(pess__sink *sink) { pess__outfile_abandon(sink->file); }

pess_status pess__check_magic(const char *name, const void *head, size_t length, const char magic[8], const char *kind,
                              pess_error *error) {
    if (length >= MAGIC && memcmp(head, magic, MAGIC) == 0) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: not %s (its first bytes are not '%.*s')", name, kind,
                      magic[MAGIC - 1] == '\n' ? MAGIC - 1 : MAGIC, magic);
}

pess_status pess__check_crc(const char *name, const uint8_t *bytes, size_t size, uint32_t *crc, pess_error *error) {
    if (size < MAGIC + CHECKSUM) return pess__fail(error, PESS_INPUT, "%s: truncated: %zu bytes", name, size);
    uint32_t stored = 0;
    memcpy(&stored, bytes + size - CHECKSUM, CHECKSUM);
    const uint32_t found = (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, size - CHECKSUM);
    if (crc != NULL) *crc = found;
    if (found == stored) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: damaged or truncated: checksum %08x, expected %08x", name, found, stored);
}

/* memory holds the whole file; on failure it is freed. */
static pess_status verify(pess__cursor *cursor, const char *name, uint8_t *memory, size_t size, const char magic[8],
                          const char *kind, pess_error *error) {
    uint32_t crc = 0;
    pess_status status = pess__check_magic(name, memory, size, magic, kind, error);
    if (status == PESS_OK) status = pess__check_crc(name, memory, size, &crc, error);
    if (status != PESS_OK) {
        free(memory);
        return status;
    }
    *cursor = (pess__cursor){
        .name = name, .at = memory + MAGIC, .left = size - MAGIC - CHECKSUM, .crc = crc, .memory = memory};
    return PESS_OK;
}

pess_status pess__cursor_open(pess__cursor *cursor, const char *path, const char magic[8], const char *kind,
                              int64_t limit, pess_error *error) {
    pess__infile *file;
    PESS_TRY(pess__infile_open(path, &file, error));
    int64_t size = 0;
    uint8_t *memory = NULL, head[MAGIC];
    size_t got = 0;
    pess_status status = pess__infile_head(file, head, sizeof head, &got, error);
    if (status == PESS_OK) status = pess__check_magic(path, head, got, magic, kind, error);
    if (status == PESS_OK) status = pess__infile_size_within(file, limit, &size, error);
    if (status == PESS_OK && size > limit)
        status = pess__fail(error, PESS_LIMIT, "%s: more than %lld bytes, which is the most that %s has", path,
                            (long long)limit, kind);
    if (status == PESS_OK) status = pess__allocate(&memory, size, 1, kind, error);
    if (status == PESS_OK && size > 0) status = pess__infile_at(file, 0, memory, (size_t)size, error);
    pess__infile_close(file);
    if (status != PESS_OK) {
        free(memory);
        return status;
    }
    return verify(cursor, path, memory, (size_t)size, magic, kind, error);
}

pess_status pess__cursor_open_memory(pess__cursor *cursor, const char *name, const void *bytes, size_t size,
                                     const char magic[8], const char *kind, pess_error *error) {
    uint8_t *memory;
    PESS_TRY(pess__allocate(&memory, (int64_t)size, 1, kind, error));
    if (size > 0) memcpy(memory, bytes, size);
    return verify(cursor, name, memory, size, magic, kind, error);
}

void pess__cursor_close(pess__cursor *cursor) {
    free(cursor->memory);
    *cursor = (pess__cursor){0};
}

void pess__cursor_read(pess__cursor *cursor, void *to, size_t length) {
    if (length > cursor->left) {
        cursor->beyond = true;
        cursor->left = 0;
        memset(to, 0, length);
        return;
    }
    if (length > 0) memcpy(to, cursor->at, length);
    cursor->at += length;
    cursor->left -= length;
}

uint32_t pess__cursor_u32(pess__cursor *cursor) {
    uint32_t value;
    pess__cursor_read(cursor, &value, sizeof value);
    return value;
}

int64_t pess__cursor_i64(pess__cursor *cursor) {
    int64_t value;
    pess__cursor_read(cursor, &value, sizeof value);
    return value;
}

double pess__cursor_double(pess__cursor *cursor) {
    double value;
    pess__cursor_read(cursor, &value, sizeof value);
    return value;
}

bool pess__cursor_text(pess__cursor *cursor, char *to, size_t size) {
    const uint32_t length = pess__cursor_u32(cursor);
    if (length >= size || length > cursor->left) {
        to[0] = '\0';
        return false;
    }
    pess__cursor_read(cursor, to, length);
    to[length] = '\0';
    return strlen(to) == length;
}
