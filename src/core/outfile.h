/* Files that appear whole or not at all: written beside the target under a temporary name, flushed to the disk, then
 * renamed onto it. "-" writes to standard output; on a terminal, control characters are shown instead of sent. A name
 * that ends in .gz is compressed. A file that is replaced keeps its mode; one that may not be written is not replaced;
 * a symbolic link is followed. */
#ifndef PESS_CORE_OUTFILE_H
#define PESS_CORE_OUTFILE_H

#include "core/status.h"

typedef struct pess__outfile pess__outfile;

pess_status pess__outfile_open(const char *path, pess__outfile **out, pess_error *error);
/* Writing never fails in itself: the first error is kept and commit reports it. */
void pess__outfile_write(pess__outfile *file, const void *bytes, size_t length);
void pess__outfile_print(pess__outfile *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pess__outfile_double(pess__outfile *file, double value); /* shortest form that reads back the same */
void pess__outfile_integer(pess__outfile *file, int64_t value);
/* A CSV field, quoted where it must be. */
void pess__outfile_field(pess__outfile *file, const char *text);
/* What was written so far goes to whoever reads along. */
pess_status pess__outfile_flush(pess__outfile *file, pess_error *error);
/* Makes the file appear; on failure nothing is left behind. The handle is gone either way. */
pess_status pess__outfile_commit(pess__outfile *file, pess_error *error);
void pess__outfile_abandon(pess__outfile *file); /* NULL is fine */

#endif
