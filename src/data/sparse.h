/* Logs in which most of the states below the largest id do not occur. Their ids become names, as those are that are too
 * large for ids: a log costs what its rows cost, not what its largest number does. */
#ifndef PESS_DATA_SPARSE_H
#define PESS_DATA_SPARSE_H

#include "data/stream.h"

/* Whether of so many ids so few were found that a table over all, with `others` of the other kind for each, would cost
 * out of all proportion. */
bool pess__few_occur(int64_t found, int64_t ids, int64_t others);
/* Asked at the end of the log. States that the user declared are all meant. */
bool pess__is_sparse(const pess__stream *stream);
/* Numbers the states of the blocks in the order of their appearance, with names in stream->occurring; nothing where
 * that is NULL, nor the next. */
pess_status pess__number_states(pess__stream *stream, const pess__portion *portion, pess_error *error);
/* At the end of the log: the names are the stream's. */
pess_status pess__settle_states(pess__stream *stream, pess_error *error);

#endif
