/* Just enough of zip to read and write NumPy's .npz: members stored or deflated, ZIP64, CRC-32 checked. */
#ifndef PESS_DATA_ZIP_H
#define PESS_DATA_ZIP_H

#include "core/infile.h"

#include <zlib.h>

typedef struct pess__zip_entry {
    char name[64]; /* longer ones are cut: no member that is looked for has such a name */
    uint32_t method, flags, crc;
    int64_t packed, size, local; /* bytes in the file, bytes unpacked, offset of the local header */
} pess__zip_entry;

typedef struct pess__zip {
    pess__infile *file;           /* borrowed */
    int64_t file_size, directory; /* offset of the central directory */
    int64_t count;
    pess__zip_entry *entries; /* [count] */
} pess__zip;

pess_status pess__zip_open(pess__infile *file, pess__zip *zip, pess_error *error);
void pess__zip_free(pess__zip *zip);

/* A member as it is unpacked, front to back. */
typedef struct pess__zip_member {
    const pess__zip *zip;
    const pess__zip_entry *entry;
    int64_t at, left; /* next packed byte in the file, packed bytes left */
    int64_t unpacked; /* bytes handed out */
    uint32_t crc;
    z_stream stream;
    bool inflating;
    uint8_t *packed; /* input buffer */
} pess__zip_member;

pess_status pess__zip_member_open(const pess__zip *zip, const pess__zip_entry *entry, pess__zip_member *member,
                                  pess_error *error);
/* Exactly `size` bytes; the last byte of the member comes only if its checksum is right. */
pess_status pess__zip_member_read(pess__zip_member *member, void *buffer, size_t size, pess_error *error);
void pess__zip_member_close(pess__zip_member *member);

#endif
