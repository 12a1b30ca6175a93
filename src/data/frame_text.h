/* Tables as CSV text, for those who read columns that are in no log: measurements, and rows to act on. */
#ifndef PESS_DATA_FRAME_TEXT_H
#define PESS_DATA_FRAME_TEXT_H

#include "core/infile.h"

/* A text file as it is; of a source that delivers frames, text that is made of them as it is read: a header, then a
 * line for each row, nulls as nothing. Of `read` the format, the table and the query count; NULL: none. Where
 * `json_lines` is given, JSON lines are handed out as they are too, and it says so. */
pess_status pess__open_table_text(const char *path, const pess_read_options *read, pess__infile **out, bool *json_lines,
                                  pess_error *error);

#endif
