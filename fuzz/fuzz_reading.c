/* A log and how to read it: the first line of the input is a reading in short, the rest the text of the log. Read or
 * refused, never more; a reading that is made explicit reads the same. */
#include "csv_mutator.h"
#include "data/dataset.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* "0000drop!state=ward,severity/reward=outcome": digits that choose, the rule for missing values, and columns with '/'
 * for line feeds. */
static size_t take_options(const uint8_t *bytes, size_t size, pess_read_options *options, char column[256],
                           char missing[64]) {
    const uint8_t *end = memchr(bytes, '\n', size);
    const size_t length = end != NULL ? (size_t)(end - bytes) : 0;
    if (end == NULL || length < 5) return end != NULL ? length + 1 : 0;
    options->last_row = (bytes[0] & 15) % 3;
    options->separator = (bytes[1] & 15) % 5;
    options->decimal = (bytes[2] & 15) % 3;
    options->encoding = (bytes[3] & 15) % 2;
    size_t at = 4, used = 0;
    for (; at < length && bytes[at] != '!' && used < 63; at++)
        if (bytes[at] != '\0') missing[used++] = (char)bytes[at];
    missing[used] = '\0';
    for (used = 0, at++; at < length && used < 255; at++)
        if (bytes[at] != '\0') column[used++] = bytes[at] == '/' ? '\n' : (char)bytes[at];
    column[used] = '\0';
    if (missing[0] != '\0') options->missing = missing;
    if (column[0] != '\0') options->column = column;
    return length + 1;
}

static pess_dataset *read_log(const uint8_t *bytes, size_t size, const pess_read_options *options) {
    pess_dataset *data = NULL;
    pess_error error = {0};
    if (pess_dataset_read_memory("input", bytes, size, options, &data, &error) == PESS_OK) return data;
    if (error.status == PESS_OK || error.message[0] == '\0') abort();
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    pess_read_options options = pess_read_options_defaults();
    char column[256] = "", missing[64] = "";
    options.threads = 1;
    options.format = "csv";
    const size_t head = size > 0 ? take_options(bytes, size, &options, column, missing) : 0;
    pess_dataset *data = read_log(bytes + head, size - head, &options);
    if (data == NULL) return 0;
    for (int64_t i = 0; i < data->rows; i++)
        if (data->state[i] >= data->states || data->next_state[i] >= data->states || data->action[i] >= data->actions ||
            data->end[i] > PESS_END_CUTOFF)
            abort();
    pess_read_options explicit_ones = pess_reading_options(pess_dataset_reading(data));
    explicit_ones.threads = 1;
    explicit_ones.format = "csv";
    pess_dataset *again = read_log(bytes + head, size - head, &explicit_ones);
    if (again == NULL || again->rows != data->rows || again->states != data->states ||
        memcmp(again->next_state, data->next_state, (size_t)data->rows * sizeof *data->next_state) != 0 ||
        memcmp(again->end, data->end, (size_t)data->rows) != 0)
        abort();
    pess_dataset_destroy(again);
    pess_dataset_destroy(data);
    return 0;
}
