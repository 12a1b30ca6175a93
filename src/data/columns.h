/* Binary logs keep each column in one piece: blocks are cut out of all columns at the same rows. */
#ifndef PESS_DATA_COLUMNS_H
#define PESS_DATA_COLUMNS_H

#include "data/stream.h"

typedef struct pess__cutter {
    int64_t rows, at;   /* of the log; of the next block */
    int64_t block_rows; /* at most PESS__BLOCK_ROWS */
    int64_t count;
    pess__block *blocks; /* [count] */
} pess__cutter;

/* Fills the block with its block->rows rows from row `first` on, except the maxima. */
typedef pess_status pess__fill(pess__stream *stream, pess__block *block, int64_t first, pess_error *error);

pess_status pess__cutter_create(pess__cutter *cutter, pess__stream *stream, int64_t rows, int64_t block_rows,
                                pess_error *error);
void pess__cutter_free(pess__cutter *cutter);
/* The next portion; count 0 at the end. Checks rewards, ends, probabilities and ids. */
pess_status pess__cutter_next(pess__cutter *cutter, pess__stream *stream, pess__fill *fill, pess__portion *portion,
                              pess_error *error);

static inline uint32_t pess__get16(const uint8_t *at) { return (uint32_t)at[0] | (uint32_t)at[1] << 8; }
static inline uint32_t pess__get32(const uint8_t *at) { return pess__get16(at) | pess__get16(at + 2) << 16; }
static inline uint64_t pess__get64(const uint8_t *at) { return pess__get32(at) | (uint64_t)pess__get32(at + 4) << 32; }
static inline void pess__put(uint8_t *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> (8 * i));
}

#endif
