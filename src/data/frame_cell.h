/* One value of a frame, as what a log makes of it: a whole number, a number, a flag, a text. */
#ifndef PESS_DATA_FRAME_CELL_H
#define PESS_DATA_FRAME_CELL_H

#include "data/frame.h"

typedef struct pess__frame_cell {
    const pess__frames *frames;
    const pess__frame *frame;
    const pess__frame_column *column;
    int64_t row; /* of the frame */
} pess__frame_cell;

const char *pess__frame_cell_text(const pess__frame_cell *c); /* of a column of texts */
bool pess__frame_cell_missing(const pess__frame_cell *c);
/* False: it is none. Columns of numbers and of texts may hold whole numbers, and those of texts numbers. */
bool pess__frame_cell_whole(const pess__frame_cell *c, int64_t *out);
bool pess__frame_cell_number(const pess__frame_cell *c, double *out);
bool pess__frame_cell_flag(const pess__frame_cell *c, bool *out);
/* PESS_INPUT: which row and column, what was found, and what was expected. */
pess_status pess__frame_cell_wrong(const pess__frame_cell *c, const char *expected, pess_error *error);

#endif
