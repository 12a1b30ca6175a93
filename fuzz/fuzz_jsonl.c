/* Any bytes as a log of the format jsonl: read or refused, never more. */
#include "fuzz_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_log("jsonl", bytes, size);
    return 0;
}
