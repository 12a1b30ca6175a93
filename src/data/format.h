/* Formats of logs: one row of a table (format.c) and one file each. */
#ifndef PESS_DATA_FORMAT_H
#define PESS_DATA_FORMAT_H

#include "data/dataset.h"
#include "data/stream.h"

typedef struct pess__format {
    /* Whether a file that begins with these bytes (at most 8; gzip not undone) is of this format. */
    bool (*matches)(const uint8_t *head, size_t length);
    /* Sets stream->reader and the has_ flags; reads no rows. On failure close is still called. */
    pess_status (*open)(pess__stream *stream, pess_error *error);
    pess_status (*next)(pess__stream *stream, pess__batch *batch, pess_error *error);
    void (*close)(pess__stream *stream);
    pess_status (*write)(const pess_dataset *data, const char *path, pess_error *error);
} pess__format;

extern const pess__format pess__format_csv, pess__format_npz, pess__format_native;

/* By name; by the first bytes; by the end of the file name. NULL: none. */
const pess__format *pess__format_find(const char *name);
const pess__format *pess__format_of_head(const uint8_t *head, size_t length);
const pess__format *pess__format_of_path(const char *path);

#endif
