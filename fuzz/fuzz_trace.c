/* Any bytes as a trace of a game: refused with a message, or replayed. */
#include "pess.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const int file = memfd_create("trace", 0); /* the reader wants a path */
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    pess_error error = {0};
    pess_trace_report report;
    const pess_status status = pess_trace_replay(path, &report, &error);
    if (status != PESS_OK && (error.message[0] == '\0' || error.status != status)) abort();
    (void)close(file);
    return 0;
}
