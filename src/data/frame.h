/* A table as it comes from a source that is not CSV text: JSON lines, a database, Parquet, HDF5, Arrow. A source hands
 * out frames one after the other, pieces of the table with the same columns. Which column plays which role in a log is
 * decided elsewhere (frame_log.c). */
#ifndef PESS_DATA_FRAME_H
#define PESS_DATA_FRAME_H

#include "core/status.h"

/* What the values of a column are. The same in all frames of a source. */
typedef enum pess__frame_kind {
    PESS__FRAME_INTEGER, /* int64_t */
    PESS__FRAME_NUMBER,  /* double */
    PESS__FRAME_TRUTH,   /* uint8_t, 0 or 1 */
    PESS__FRAME_TIME,    /* int64_t, microseconds since 1970-01-01T00:00Z */
    PESS__FRAME_TEXT,    /* int64_t, a place in `texts` */
    PESS__FRAME_OTHER,   /* lists, structures, bytes: no values are handed out; `type` names it */
    PESS__FRAME_KINDS
} pess__frame_kind;

typedef struct pess__frame_column {
    const char *name;
    pess__frame_kind kind;
    const char *type;        /* what the source calls it, for messages; NULL: the kind's own name */
    const void *values;      /* [rows] as the kind says; NULL in a column of nothing but nulls and of kind OTHER.
                                Where a value is null there is some number, within `texts` for TEXT */
    const uint8_t *valid;    /* bits, the least significant first: 1 where there is a value. NULL: no nulls */
    const pess_names *texts; /* TEXT: the different texts; it grows from frame to frame and keeps its order */
} pess__frame_column;

typedef struct pess__frame {
    int64_t rows;
    int64_t first; /* number of the first row in the whole source, from `first_row` of the source on */
    int64_t columns;
    const pess__frame_column *column; /* [columns] */
} pess__frame;

/* A source: the first member of what each kind of source keeps. */
typedef struct pess__frames {
    const char *name; /* of the file or query; begins every message */
    const char *row;  /* what a row is called in messages: "row", "line" */
    /* The next frame; 0 rows at the end, with the columns still described. What was handed out before is gone, but for
     * names, kinds and texts. */
    pess_status (*next)(struct pess__frames *frames, pess__frame *frame, pess_error *error);
    void (*close)(struct pess__frames *frames);
} pess__frames;

void pess__frames_close(pess__frames *frames); /* NULL is fine */

static inline bool pess__frame_is_null(const pess__frame_column *column, int64_t row) {
    return column->values == NULL || (column->valid != NULL && (column->valid[row >> 3] >> (row & 7) & 1) == 0);
}

/* The kind in words, as it follows "found": "whole numbers". */
const char *pess__frame_kind_words(pess__frame_kind kind);

/* One value as text: what a name made of it is. Numbers that are whole are written without a point; a null is "". */
enum { PESS__FRAME_VALUE_SIZE = 48 };
/* The text lies in `buffer`, or in the column's texts. */
const char *pess__frame_value(const pess__frame_column *column, int64_t row, char buffer[PESS__FRAME_VALUE_SIZE]);

#endif
