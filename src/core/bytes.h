/* Binary files with a checksum: numbers in little-endian order, CRC-32 (that of zip and zlib) of everything before it
 * in the last four bytes. */
#ifndef PESS_CORE_BYTES_H
#define PESS_CORE_BYTES_H

#include "core/outfile.h"
#include "core/status.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are copied from memory as they are");

typedef struct pess__sink {
    pess__outfile *file;
    uint32_t crc;
} pess__sink;

pess_status pess__sink_open(pess__sink *sink, const char *path, const char magic[8], pess_error *error);
void pess__sink_write(pess__sink *sink, const void *bytes, size_t length);
void pess__sink_u32(pess__sink *sink, uint32_t value);
void pess__sink_i64(pess__sink *sink, int64_t value);
void pess__sink_double(pess__sink *sink, double value);
void pess__sink_text(pess__sink *sink, const char *text); /* length and characters */
/* Adds the checksum and makes the file appear. */
pess_status pess__sink_commit(pess__sink *sink, pess_error *error);

void pess__sink_abandon(pess__sink *sink); /* no file */

/* A file read whole, its magic and checksum verified. Reading beyond its end gives zeros and sets `beyond`. */
typedef struct pess__cursor {
    const char *name;
    const uint8_t *at;
    size_t left;
    bool beyond;
    uint32_t crc;
    uint8_t *memory;
} pess__cursor;

/* Does the file begin with the magic? `kind` names what was expected: "a network file". */
pess_status pess__check_magic(const char *name, const void *head, size_t length, const char magic[8], const char *kind,
                              pess_error *error);
/* Are the last four bytes the checksum of those before them? *crc is that checksum; NULL: not asked for. */
pess_status pess__check_crc(const char *name, const uint8_t *bytes, size_t size, uint32_t *crc, pess_error *error);
/* `kind` names what was expected: "a network file". Larger files than `limit` are refused. path is borrowed. */
pess_status pess__cursor_open(pess__cursor *cursor, const char *path, const char magic[8], const char *kind,
                              int64_t limit, pess_error *error);
/* The same of bytes in memory, which are copied. */
pess_status pess__cursor_open_memory(pess__cursor *cursor, const char *name, const void *bytes, size_t size,
                                     const char magic[8], const char *kind, pess_error *error);
void pess__cursor_close(pess__cursor *cursor);
void pess__cursor_read(pess__cursor *cursor, void *to, size_t length);
uint32_t pess__cursor_u32(pess__cursor *cursor);
int64_t pess__cursor_i64(pess__cursor *cursor);
double pess__cursor_double(pess__cursor *cursor);
/* Copies a text that pess__sink_text wrote; false where it is longer than size - 1. */
bool pess__cursor_text(pess__cursor *cursor, char *to, size_t size);

#endif
