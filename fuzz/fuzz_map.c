/* The reader of map files: any bytes give a map or a message, and a map can be applied. The checksum is put right
 * first, so that what lies behind it is reached. */
#include "cells/map.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 1 << 20) return 0;
    uint8_t *bytes = malloc(size + 12);
    if (bytes == NULL) return 0;
    memcpy(bytes, "PESSMAP\n", 8);
    if (size > 0) memcpy(bytes + 8, data, size);
    const uint32_t crc = (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, size + 8);
    memcpy(bytes + 8 + size, &crc, sizeof crc);
    pess_map *map = NULL;
    pess_error error;
    if (pess__map_read_memory("input", bytes, size + 12, &map, &error) == PESS_OK) {
        double row[PESS_MAX_FEATURES] = {0};
        char text[100];
        pess_place place;
        (void)pess_map_place(map, row, &place, &error);
        pess_map_describe(map, map->cells - 1, text, sizeof text);
        pess_map_destroy(map);
    }
    free(bytes);
    return 0;
}
