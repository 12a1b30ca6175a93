#include "scale/gathered.h"

#include <zlib.h>

pess_status pess__gathered_open(const char *path, const void *header, size_t length, pess__gathered *out,
                                pess_error *error) {
    const bool first = pess__ranks_all.rank == 0;
    *out = (pess__gathered){0};
    PESS__TRY_TOGETHER(first ? pess__outfile_open(path, &out->file, error) : PESS_OK, error);
    if (first) pess__outfile_write(out->file, header, length);
    return PESS_OK;
}

static void write_piece(void *user, const void *bytes, size_t length) {
    pess__gathered *gathered = user;
    pess__outfile_write(gathered->file, bytes, length);
    gathered->crc = (uint32_t)crc32_z(gathered->crc, bytes, length);
}

void pess__gathered_add(pess__gathered *gathered, const void *bytes, int64_t length) {
    pess__gather_in_pieces(bytes, length, write_piece, gathered);
}

pess_status pess__gathered_commit(pess__gathered *gathered, pess_error *error) {
    const bool first = pess__ranks_all.rank == 0;
    if (first) pess__outfile_write(gathered->file, &gathered->crc, sizeof gathered->crc);
    return pess__agree(first ? pess__outfile_commit(gathered->file, error) : PESS_OK, error);
}
