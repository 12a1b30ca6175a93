#include "scale/checkpoint.h"

#include "core/infile.h"
#include "core/memory.h"
#include "core/threads.h"
#include "scale/gathered.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const char magic[8] = "PESSVAL1";

/* Little-endian: this header, the value of every state, and their CRC-32. */
typedef struct header {
    char magic[8];
    int64_t states;
} header;

static struct {
    const char *path; /* NULL: nothing is kept */
    double seconds, next;
} kept;

void pess__checkpoint_set(const char *path, double seconds) {
    kept.path = path;
    kept.seconds = seconds;
    kept.next = pess__clock() + seconds;
}

/* ------------------------------------------------------------------------------------------------ writing */

/* v [states]: those of this rank, by number. */
static pess_status write_all(const pess__slab *slab, const double *v, int64_t states, pess_error *error) {
    pess__gathered file;
    header h = {.states = slab->spread.states};
    memcpy(h.magic, magic, sizeof h.magic);
    PESS_TRY(pess__gathered_open(kept.path, &h, sizeof h, &file, error));
    pess__gathered_add(&file, v, states * (int64_t)sizeof *v);
    return pess__gathered_commit(&file, error);
}

static pess_status write_by_number(const pess__slab *slab, const double *v, pess_error *error) {
    const pess__order *order = slab->order;
    double *by_number = NULL;
    if (order == NULL) return write_all(slab, v, slab->spread.own, error);
    pess_status status =
        pess__agree(pess__allocate(&by_number, order->numbers, sizeof *by_number, "a checkpoint", error), error);
    if (status == PESS_OK) status = pess__order_outward(order, v, sizeof *v, by_number, error);
    if (status == PESS_OK) status = write_all(slab, by_number, order->numbers, error);
    free(by_number);
    return status;
}

pess_status pess__checkpoint_keep(const pess__slab *slab, const double *v, pess_error *error) {
    if (kept.path == NULL) return PESS_OK;
    int due = pess__clock() >= kept.next;
    MPI_Bcast(&due, 1, MPI_INT, 0, pess__ranks_all.comm);
    if (!due) return PESS_OK;
    kept.next = pess__clock() + kept.seconds;
    return write_by_number(slab, v, error);
}

void pess__checkpoint_done(void) {
    if (kept.path != NULL && pess__ranks_all.rank == 0) (void)unlink(kept.path);
}

/* ------------------------------------------------------------------------------------------------ reading */

/* Everybody checks the whole file and keeps the own part. */
static pess_status read_all(FILE *file, const pess__slab *slab, double *v, pess_error *error) {
    header h;
    uint32_t crc = 0, found = 0;
    if (fread(&h, sizeof h, 1, file) != 1 || memcmp(h.magic, magic, sizeof magic) != 0)
        return pess__fail(error, PESS_INPUT, "%s: not a checkpoint of values", kept.path);
    if (h.states != slab->spread.states)
        return pess__fail(error, PESS_INPUT, "%s: a checkpoint of %lld states, expected %lld: it is of another log",
                          kept.path, (long long)h.states, (long long)slab->spread.states);
    double piece[4096];
    int64_t mine = 0; /* own states that were met */
    for (int64_t at = 0; at < h.states;) {
        const size_t part = h.states - at < 4096 ? (size_t)(h.states - at) : 4096;
        if (fread(piece, sizeof *piece, part, file) != part)
            return pess__fail(error, PESS_INPUT, "%s: the checkpoint is cut off", kept.path);
        crc = (uint32_t)crc32_z(crc, (const uint8_t *)piece, part * sizeof *piece);
        for (size_t i = 0; i < part; i++) {
            const int64_t place = mine < slab->spread.own ? pess__slab_by_number(slab, mine) : -1;
            if (place < 0 || pess__number_in(&slab->spread, place) != at + (int64_t)i) continue;
            v[place] = piece[i];
            mine++;
        }
        at += (int64_t)part;
    }
    if (fread(&found, sizeof found, 1, file) != 1 || found != crc)
        return pess__fail(error, PESS_INPUT, "%s: the checkpoint is damaged (its checksum differs)", kept.path);
    return PESS_OK;
}

pess_status pess__checkpoint_take(const pess__slab *slab, double *v, pess_error *error) {
    pess_status status = PESS_OK;
    if (kept.path == NULL) return PESS_OK;
    FILE *file = fopen(kept.path, "rb");
    if (file == NULL && errno != ENOENT) status = pess__fail(error, PESS_IO, "%s: %s", kept.path, strerror(errno));
    if (file != NULL) {
        status = read_all(file, slab, v, error);
        (void)fclose(file);
    }
    PESS__TRY_TOGETHER(status, error);
    pess__slab_refresh(slab, v);
    return PESS_OK;
}
