/* Any bytes as a file of counts or as a counted log: read or refused, never more. A checksum stops nearly all random
 * input, so a copy with right ones is tried as well. */
#include "core/status.h"
#include "data/pesscounts.h"
#include "model/counts.h"
#include "model/tally.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What was counted adds up, pair by pair. */
static void check(const pess_counts *counts) {
    int64_t transitions = 0;
    for (int64_t z = 0; z < counts->states * counts->actions; z++) {
        int64_t n = counts->n_terminal[z];
        for (int64_t k = counts->row[z]; k < counts->row[z + 1]; k++) n += counts->n_next[k];
        if (n != counts->n[z]) abort();
        transitions += n;
    }
    if (transitions != counts->transitions) abort();
}

static pess_status count(pess__stream *stream, pess__tally *tally, pess_error *error) {
    PESS_TRY(pess__tally_read(tally, stream, error));
    if (stream->states * stream->actions > 1 << 16) return pess__fail(error, PESS_LIMIT, "too large to try often");
    pess_counts *counts = calloc(1, sizeof *counts);
    if (counts == NULL) abort();
    counts->states = stream->states;
    counts->actions = stream->actions;
    counts->transitions = tally->rows;
    const pess_status status = pess__counts_fill(counts, tally, error);
    if (status == PESS_OK) check(counts);
    pess_counts_destroy(counts);
    return status;
}

static void try_it(const char *format, const uint8_t *bytes, size_t size) {
    const pess_read_options options = {.size = sizeof options, .format = format, .threads = 1};
    pess__stream *stream = NULL;
    pess_error error = {0};
    pess__tally tally;
    pess__tally_begin(&tally, 1);
    pess_status status = pess__stream_open_memory("input", bytes, size, &options, &stream, &error);
    if (status == PESS_OK) status = count(stream, &tally, &error);
    if (status != PESS_OK && (error.status == PESS_OK || error.message[0] == '\0')) abort();
    pess__stream_close(stream);
    pess__tally_free(&tally);
}

static void repair(uint8_t *bytes, size_t size) {
    pess__pesscounts_header header;
    memcpy(&header, bytes, sizeof header);
    header.size = (int64_t)size;
    header.crc = 0;
    header.crc = (uint32_t)crc32_z(0, (const uint8_t *)&header, sizeof header);
    memcpy(bytes, &header, sizeof header);
    const uint32_t crc = (uint32_t)crc32_z(0, bytes + sizeof header, size - sizeof header - sizeof crc);
    memcpy(bytes + size - sizeof crc, &crc, sizeof crc);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    try_it("csv", bytes, size);
    try_it("pesscounts", bytes, size);
    uint8_t *copy = size >= sizeof(pess__pesscounts_header) + sizeof(uint32_t) ? malloc(size) : NULL;
    if (copy == NULL) return 0;
    memcpy(copy, bytes, size);
    repair(copy, size);
    try_it("pesscounts", copy, size);
    free(copy);
    return 0;
}
