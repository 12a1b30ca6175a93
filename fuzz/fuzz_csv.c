/* Any bytes as a log of the format csv: read or refused, never more. */
#include "csv_mutator.h"
#include "fuzz_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_log("csv", bytes, size);
    return 0;
}
