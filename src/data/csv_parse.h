/* What the two ways to read a row share: csv_chunk.c reads plain rows fast, csv_field.c any row. */
#ifndef PESS_DATA_CSV_PARSE_H
#define PESS_DATA_CSV_PARSE_H

#include "data/csv_chunk.h"

typedef struct pess__parse {
    pess__csv_chunk *chunk;
    const pess__csv_layout *layout;
    int64_t core;                    /* layout->core where ids are integers, else -1 */
    bool drop, no_state, no_episode; /* of the present row: values are missing */
} pess__parse;

typedef enum pess__row_read { PESS__ROW_READ, PESS__ROW_DROPPED, PESS__ROW_NONE } pess__row_read;

/* The next row as row i of the block. PESS__ROW_NONE: the chunk is over, one way or the other. */
pess__row_read pess__read_any_row(pess__parse *p, pess__csv_cursor *cursor, int64_t i);

#endif
