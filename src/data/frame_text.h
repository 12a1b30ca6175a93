/* Tables as CSV text, for those who read columns that are in no log: measurements, and rows to act on. */
#ifndef PESS_DATA_FRAME_TEXT_H
#define PESS_DATA_FRAME_TEXT_H

#include "core/infile.h"

/* A text file as it is; of a source that delivers frames, text that is made of them as it is read: a header, then a
 * line for each row, nulls as nothing. */
pess_status pess__open_table_text(const char *path, pess__infile **out, pess_error *error);

#endif
