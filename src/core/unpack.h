/* Compressed bytes, piece by piece: gzip (zlib) and zstd (libzstd, loaded when a file needs it). Several members one
 * after the other, as `cat a.gz b.gz` makes them, are one text. */
#ifndef PESS_CORE_UNPACK_H
#define PESS_CORE_UNPACK_H

#include "core/status.h"

typedef enum pess__packing { PESS__PACKING_NONE, PESS__PACKING_GZIP, PESS__PACKING_ZSTD } pess__packing;

enum { PESS__PACKING_HEAD = 4 };

/* Told by the first PESS__PACKING_HEAD bytes, or fewer where there are no more. */
pess__packing pess__packing_of(const uint8_t *head, size_t length);
const char *pess__packing_name(pess__packing packing); /* "gzip" */

typedef struct pess__unpacker pess__unpacker;

/* PESS_IO where a library is needed and not there. */
pess_status pess__unpacker_create(pess__packing packing, const char *name, pess__unpacker **out, pess_error *error);
void pess__unpacker_destroy(pess__unpacker *unpacker); /* NULL is fine */
/* Begins anew with the first byte of a file. */
pess_status pess__unpacker_reset(pess__unpacker *unpacker, pess_error *error);
bool pess__unpacker_in_member(const pess__unpacker *unpacker); /* the end may not come here */

typedef struct pess__unpack_step {
    const uint8_t *in;
    size_t in_size; /* left of it */
    uint8_t *out;
    size_t out_size; /* left of it */
} pess__unpack_step;

/* As far as input or room go; the step moves on. NULL, or what is wrong with the bytes before step->in;
 * PESS__UNPACK_NO_MEMORY where nothing is. */
const char *pess__unpack(pess__unpacker *unpacker, pess__unpack_step *step);

extern const char PESS__UNPACK_NO_MEMORY[];

#endif
