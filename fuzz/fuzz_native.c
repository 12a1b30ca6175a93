/* Any bytes as a log of the format pesslog: read or refused, never more. Checksums stop nearly all random input, so a
 * copy with right ones is tried as well. */
#include "data/columns.h"
#include "fuzz_log.h"

#include <string.h>
#include <zlib.h>

static void repair(uint8_t *bytes, size_t size) {
    const uint32_t sections = pess__get32(bytes + 40);
    if (sections > 16 || 64 + 32 * (size_t)sections > size) return;
    for (uint32_t i = 0; i < sections; i++) {
        uint8_t *entry = bytes + 64 + 32 * (size_t)i;
        const uint64_t offset = pess__get64(entry + 8), length = pess__get64(entry + 16);
        if (offset <= size && length <= size - offset)
            pess__put(entry + 4, crc32_z(0, bytes + offset, (size_t)length), 4);
    }
    pess__put(bytes + 48, size, 8);
    pess__put(bytes + 60, 0, 4);
    pess__put(bytes + 60, crc32_z(0, bytes, 64 + 32 * (size_t)sections), 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_log("pesslog", bytes, size);
    uint8_t *copy = size >= 64 ? malloc(size) : NULL;
    if (copy == NULL) return 0;
    memcpy(copy, bytes, size);
    repair(copy, size);
    fuzz_log("pesslog", copy, size);
    free(copy);
    return 0;
}
