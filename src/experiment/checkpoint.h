/* Finished trials on disk while an experiment runs: a header with the settings, then a record per trial that carries
 * its own checksum. A record torn by a crash is dropped when the file is read; what follows it is recomputed. */
#ifndef PESS_EXPERIMENT_CHECKPOINT_H
#define PESS_EXPERIMENT_CHECKPOINT_H

#include "core/status.h"

typedef struct pess__checkpoint pess__checkpoint;

/* Opens or begins the file. With resume, the trials that it holds are copied to values [trials*width] and marked in
 * finished [trials]; settings other than `signature` are PESS_INPUT, but for its first word, the version. Without it,
 * the file must not hold any. */
pess_status pess__checkpoint_open(const char *path, bool resume, const char *signature, int64_t trials, int64_t width,
                                  double *values, bool *finished, pess__checkpoint **out, pess_error *error);
/* The trials of a file that is left as it is. */
pess_status pess__checkpoint_read(const char *path, const char *signature, int64_t trials, int64_t width,
                                  double *values, bool *finished, pess_error *error);
pess_status pess__checkpoint_add(pess__checkpoint *checkpoint, int64_t first, int64_t count, const double *values,
                                 pess_error *error);
pess_status pess__checkpoint_close(pess__checkpoint *checkpoint, pess_error *error); /* NULL is fine */

#endif
