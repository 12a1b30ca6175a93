/* The reader of datasets of games: any bytes give data or a message, and data can be looked through and found again.
 * The checksum is put right first, so that what lies behind it is reached. */
#include "data/observations.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void look_through(const pess_observations *data) {
    pess_observations_info info;
    pess_observations_get_info(data, &info);
    if (info.pairs < 1 || info.pairs > info.transitions || info.episodes > info.terminals + info.cutoffs) abort();
    for (int64_t s = 0; s < data->states; s++)
        if (pess__observations_find(data, data->observations + s * data->bytes) != s) abort();
    const uint8_t *state, *next;
    for (int64_t i = 0; pess_observations_get(data, i, &state, NULL, NULL, &next, NULL); i++)
        if (pess__observations_find(data, state) < 0 || pess__observations_find(data, next) < 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 1 << 20) return 0;
    uint8_t *bytes = malloc(size + 12);
    if (bytes == NULL) return 0;
    memcpy(bytes, "PESSDATA", 8);
    if (size > 0) memcpy(bytes + 8, data, size);
    const uint32_t crc = (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, size + 8);
    memcpy(bytes + 8 + size, &crc, sizeof crc);
    pess_observations *read = NULL;
    pess_error error;
    if (pess__observations_read_memory("input", bytes, size + 12, &read, &error) == PESS_OK) {
        look_through(read);
        pess_observations_destroy(read);
    }
    if (pess__observations_read_memory("input", data, size, &read, &error) == PESS_OK) pess_observations_destroy(read);
    free(bytes);
    return 0;
}
