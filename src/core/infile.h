/* Input: a file, standard input ("-") or a piece of memory. Sequential reading undoes gzip and zstd, told by their
 * first bytes; random access sees the bytes as they are. A pipe is kept in an unlinked temporary file (in $TMPDIR or
 * /var/tmp) as far as it was read, so that it can be read again. */
#ifndef PESS_CORE_INFILE_H
#define PESS_CORE_INFILE_H

#include "core/status.h"

typedef struct pess__infile pess__infile;

pess_status pess__infile_open(const char *path, pess__infile **out, pess_error *error);
/* `name` stands for the path in messages; the bytes are borrowed until close. */
pess_status pess__infile_open_memory(const char *name, const void *bytes, size_t length, pess__infile **out,
                                     pess_error *error);
/* Bytes that are made as they are read; like a pipe, they are kept so that they can be read again. */
typedef struct pess__infile_maker {
    pess_status (*read)(void *user, void *buffer, size_t size, size_t *got, pess_error *error); /* got 0: the end */
    void (*close)(void *user);
    void *user;
} pess__infile_maker;

/* Takes over the maker, also where it fails. */
pess_status pess__infile_open_maker(const char *name, const pess__infile_maker *maker, pess__infile **out,
                                    pess_error *error);
void pess__infile_close(pess__infile *file); /* NULL is fine */

const char *pess__infile_name(const pess__infile *file); /* "standard input" for "-" */
bool pess__infile_is_packed(const pess__infile *file);   /* with gzip or zstd */
/* A file with a path, not compressed: others can open it by its name. */
bool pess__infile_is_plain(const pess__infile *file);
bool pess__infile_is_pipe(const pess__infile *file); /* or a terminal: its bytes come when they come */
/* The first bytes as they are (not decompressed); *got < size only where the file is shorter. */
pess_status pess__infile_head(pess__infile *file, void *buffer, size_t size, size_t *got, pess_error *error);
/* The next `size` bytes, decompressed; *got < size only at the end. Damaged or truncated compressed data are
 * PESS_INPUT.
 */
pess_status pess__infile_read(pess__infile *file, void *buffer, size_t size, size_t *got, pess_error *error);
/* The same without waiting for more than a pipe has; *got is 0 only at the end. */
pess_status pess__infile_read_some(pess__infile *file, void *buffer, size_t size, size_t *got, pess_error *error);
/* From here on nothing of a pipe is kept: it is read once, for as long as it lasts. */
void pess__infile_read_once(pess__infile *file);
/* Sequential reading starts again at the first byte. */
pess_status pess__infile_rewind(pess__infile *file, pess_error *error);
/* Bytes of the file as stored; reads a pipe to its end. */
pess_status pess__infile_size(pess__infile *file, int64_t *size, pess_error *error);
/* The same, but a pipe is left where it has more than `most`; *size is then beyond it. */
pess_status pess__infile_size_within(pess__infile *file, int64_t most, int64_t *size, pess_error *error);
/* Exactly `size` bytes at `offset`; PESS_INPUT where the file is shorter. Safe from several threads after _size. */
pess_status pess__infile_at(pess__infile *file, int64_t offset, void *buffer, size_t size, pess_error *error);
/* All bytes as stored, in memory until close; NULL where there are none. */
pess_status pess__infile_map(pess__infile *file, const uint8_t **bytes, int64_t *size, pess_error *error);
/* How far sequential reading is, in bytes as stored, and of how many (0: not known). For progress reports. */
void pess__infile_position(const pess__infile *file, int64_t *done, int64_t *total);

#endif
