/* The library's binary files begin with eight bytes of their own. One row per kind: by it files are written, told apart
 * and named in messages. */
#ifndef PESS_CORE_FILEKIND_H
#define PESS_CORE_FILEKIND_H

#include "core/status.h"

enum { PESS__MAGIC = 8 };

typedef struct pess__file_row {
    char magic[PESS__MAGIC]; /* no terminator */
    const char *ending;      /* of file names: ".pessnet" */
    const char *what;        /* "a network file" */
} pess__file_row;

const pess__file_row *pess__file_row_of(pess_file_kind kind);
/* The kind of a file that begins with these bytes. */
pess_file_kind pess__file_kind_of_head(const void *head, size_t length);

#endif
