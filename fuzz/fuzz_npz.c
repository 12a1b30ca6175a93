/* Any bytes as a log of the format npz: read or refused, never more. */
#include "fuzz_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_log("npz", bytes, size);
    return 0;
}
