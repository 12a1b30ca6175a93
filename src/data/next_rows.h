/* Logs whose rows are completed by others: the next state of a row is the state of the next row of its episode, and the
 * last row of an episode ends as declared. The log is held in memory as a whole for that. */
#ifndef PESS_DATA_NEXT_ROWS_H
#define PESS_DATA_NEXT_ROWS_H

#include "data/dataset.h"

/* Rows whose next states are those of the rows after them. */
typedef struct pess__linked_rows {
    int64_t rows;
    const int64_t *episode; /* [rows] or NULL: an episode goes on until a row that ends */
    const uint32_t *state;  /* [rows] */
    pess_last_row last_row; /* how the last row of an episode ends where `end` does not say it */
    uint8_t *end; /* [rows] pess_end, or PESS__END_GAP…: no transition begins here. Ends are set as declared */
    uint32_t *next_state;  /* [rows] is set where a row stays */
    bool *left_out;        /* [rows] is set */
    int64_t last_rows;     /* how many were left out because their next state is in no row */
    int64_t declared_ends; /* how many end as last_row says */
} pess__linked_rows;

/* s′ of a row is the state of the next row of its episode; a terminal row leads nowhere, so its own state stands there.
 * Where the next state is in no row, the row is left out and the one before it is cut off. `order`: rows by episode and
 * step. */
void pess__link_rows(pess__linked_rows *rows, const int64_t *order);

typedef struct pess__all_rows pess__all_rows;

/* `next`: where the rows come from as they stand in the file. */
pess_status pess__all_rows_next(pess__stream *stream,
                                pess_status (*next)(pess__stream *stream, pess__portion *portion, pess_error *error),
                                pess__portion *portion, pess_error *error);
void pess__all_rows_free(pess__all_rows *all); /* NULL is fine */

#endif
