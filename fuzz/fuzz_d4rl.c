/* The reader of NumPy datasets by D4RL's names: any bytes give data or a message, and data can be looked at. */
#include "data/observations.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    pess__infile *file = NULL;
    pess_observations *data = NULL;
    pess_observations_inspection *in = NULL;
    if (size > 1 << 20 || pess__infile_open_memory("input", bytes, size, &file, NULL) != PESS_OK) return 0;
    if (pess__observations_read_npz(file, NULL, &data, NULL) == PESS_OK) {
        for (int64_t s = 0; s < data->states; s++)
            if (pess__observations_find(data, data->observations + s * data->bytes) != s) abort();
        if (data->transitions < 1 || data->end[data->transitions - 1] == PESS_END_NONE) abort();
        if (pess_observations_inspect(data, &in, NULL) == PESS_OK) pess_observations_inspection_destroy(in);
        pess_observations_destroy(data);
    }
    pess__infile_close(file);
    return 0;
}
