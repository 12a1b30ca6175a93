/* Logs in which rows are told by others: the next state of a row is the state of the next row of its episode, and the
 * last row of an episode ends as declared. The log is held in memory as a whole for that. */
#ifndef PESS_DATA_NEXT_ROWS_H
#define PESS_DATA_NEXT_ROWS_H

#include "data/dataset.h"

typedef struct pess__all_rows pess__all_rows;

/* `next`: where the rows come from as they stand in the file. */
pess_status pess__all_rows_next(pess__stream *stream,
                                pess_status (*next)(pess__stream *stream, pess__portion *portion, pess_error *error),
                                pess__portion *portion, pess_error *error);
void pess__all_rows_free(pess__all_rows *all); /* NULL is fine */

#endif
