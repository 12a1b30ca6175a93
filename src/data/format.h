/* Formats of logs: one file each, one row in the table of format.c. */
#ifndef PESS_DATA_FORMAT_H
#define PESS_DATA_FORMAT_H

#include "data/dataset.h"
#include "data/frame.h"
#include "data/stream.h"

enum { PESS__HEAD_SIZE = 16 };

typedef struct pess__format {
    pess_format_info info;
    bool databases; /* its files may hold several tables */
    /* Whether a file that begins with these bytes (decompressed; fewer where it is shorter) is of this format. */
    bool (*matches)(const uint8_t *head, size_t length);
    /* The table of a source that delivers frames, which stream.c makes a log of; NULL: `open` does it all. */
    pess_status (*frames)(pess__stream *stream, pess__frames **out, pess_error *error);
    /* Sets stream->reader and the has_ flags; reads no rows. On failure close is still called. */
    pess_status (*open)(pess__stream *stream, pess_error *error);
    pess_status (*next)(pess__stream *stream, pess__portion *portion, pess_error *error);
    void (*close)(pess__stream *stream);
    pess_status (*write)(const pess_dataset *data, const char *path, pess_error *error);
} pess__format;

/* By name; by the first bytes; by the end of the file name. NULL: none. */
const pess__format *pess__format_find(const char *name);
const pess__format *pess__format_of_head(const uint8_t *head, size_t length);
const pess__format *pess__format_of_path(const char *path);
/* All names with commas between them, and the extensions of formats that write, for messages. */
void pess__format_names(char *text, size_t size);
void pess__format_extensions(char *text, size_t size);

#endif
