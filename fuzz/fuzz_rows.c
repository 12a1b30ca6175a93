/* Rows to act on and measurements: any bytes are rows or a refusal. The first byte says what is wanted of them (a
 * state, two measurements, all columns of a log) and how they are written; the rest is a text or lines of JSON. */
#include "cells/row_reader.h"
#include "core/infile.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char *const features[] = {"pulse", "x"};

static bool is_probability(double p) { return p >= 0 && p <= 1; }

/* What a row has is what its column may hold, or it is known to be missing. */
static void check_row(const pess__row_reader *r, const pess__row_block *b, int64_t i) {
    for (int64_t f = 0; f < r->features; f++)
        if (isinf(b->values[i * r->features + f])) abort();
    for (int c = 0; c < PESS__COLUMN_NAMED; c++)
        if (r->has[c] && (b->name[c][i] < -1 || b->name[c][i] >= pess_names_count(b->names[c]))) abort();
    if (r->has[PESS__COLUMN_REWARD] && !isfinite(b->reward[i]) && !b->dropped[i]) abort();
    if (r->has[PESS__COLUMN_PROBABILITY] && !is_probability(b->probability[i]) && !b->dropped[i]) abort();
    if (b->end[i] > PESS_END_CUTOFF) abort();
}

static pess_status read_all(pess__row_reader *r, pess_error *error) {
    for (int64_t count = 1; count > 0;) {
        PESS_TRY(pess__row_reader_next(r, &count, error));
        for (int64_t k = 0; k < count; k++)
            for (int64_t i = 0; i < r->blocks[k].rows; i++) check_row(r, &r->blocks[k], i);
    }
    return PESS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const missing[] = {NULL, "drop", "drop,reward=0", "action=none"};
    if (size < 1) return 0;
    const uint8_t way = bytes[0];
    const pess_read_options options = {.size = sizeof options,
                                       .threads = 1,
                                       .missing = missing[way >> 3 & 3],
                                       .encoding = (way & 32) != 0 ? PESS_ENCODING_LATIN1 : PESS_ENCODING_UTF8,
                                       .column = (way & 64) != 0 ? "state=pulse,x\nreward=r" : NULL};
    pess__rows_wanted wanted = {.names = features, .features = (way & 2) != 0 ? 2 : 0, .read = &options};
    wanted.json_lines = (way & 1) != 0;
    wanted.columns[PESS__COLUMN_STATE] = wanted.features == 0;
    for (int c = 0; c < PESS__COLUMN_COUNT && (way & 4) != 0; c++) wanted.columns[c] = true;
    pess__infile *file = NULL;
    pess__row_reader reader;
    pess_error error = {0};
    if (pess__infile_open_memory("input", bytes + 1, size - 1, &file, NULL) != PESS_OK) return 0;
    pess_status status = pess__row_reader_open(&reader, file, &wanted, 1, false, &error);
    if (status == PESS_OK) {
        status = read_all(&reader, &error);
        pess__row_reader_close(&reader);
    }
    if (status != PESS_OK && (error.status != status || error.message[0] == '\0')) abort();
    return 0;
}
