/* What the fuzzers of log formats have in common. */
#ifndef PESS_FUZZ_LOG_H
#define PESS_FUZZ_LOG_H

#include "data/dataset.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Reads the stream, and where it is a log looks at it. A log that was read keeps what the header promises. */
static inline void fuzz_stream(pess__stream *stream) {
    pess_dataset *data = NULL;
    pess_error error = {0};
    if (pess__dataset_collect(stream, &data, &error) != PESS_OK) {
        if (error.status == PESS_OK || error.message[0] == '\0') abort();
        return;
    }
    for (int64_t i = 0; i < data->rows; i++)
        if (data->state[i] >= data->states || data->next_state[i] >= data->states || data->action[i] >= data->actions)
            abort();
    pess_inspection *inspection = NULL;
    if (data->states < 1 << 20 && pess_dataset_inspect(data, &inspection, &error) == PESS_OK)
        pess_inspection_destroy(inspection);
    pess_dataset_destroy(data);
}

static inline void fuzz_log(const char *format, const uint8_t *bytes, size_t size) {
    const pess_read_options options = {.size = sizeof options, .format = format, .threads = 1};
    pess__stream *stream = NULL;
    pess_error error = {0};
    if (pess__stream_open_memory("input", bytes, size, &options, &stream, &error) == PESS_OK)
        fuzz_stream(stream);
    else if (error.status == PESS_OK || error.message[0] == '\0')
        abort();
}

#endif
