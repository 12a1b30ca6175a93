/* A file of what all ranks have, written by rank 0: a header, the pieces in the order of the ranks, and their checksum.
 * Every function here is called by all of them. */
#ifndef PESS_SCALE_GATHERED_H
#define PESS_SCALE_GATHERED_H

#include "core/outfile.h"
#include "scale/ranks.h"

typedef struct pess__gathered {
    pess__outfile *file; /* of rank 0 */
    uint32_t crc;
} pess__gathered;

pess_status pess__gathered_open(const char *path, const void *header, size_t length, pess__gathered *out,
                                pess_error *error);
void pess__gathered_add(pess__gathered *gathered, const void *bytes, int64_t length);
pess_status pess__gathered_commit(pess__gathered *gathered, pess_error *error);

#endif
