/* Rows of a CSV file or of JSON lines with measurements, batch by batch: the named features as numbers, and the columns
 * of a log that were asked for. Pieces of the text are parsed side by side; what they say is told in the order of the
 * file. */
#ifndef PESS_CELLS_ROW_READER_H
#define PESS_CELLS_ROW_READER_H

#include "data/csv_text.h"
#include "data/json_line.h"
#include "data/reading.h"

/* Columns of a log besides the features. Those with names are numbered in order of appearance within a block. */
typedef enum pess__log_column {
    PESS__COLUMN_EPISODE,
    PESS__COLUMN_ACTION,
    PESS__COLUMN_STATE,
    PESS__COLUMN_NAMED, /* those before have names */
    PESS__COLUMN_REWARD = PESS__COLUMN_NAMED,
    PESS__COLUMN_STEP,
    PESS__COLUMN_TERMINAL,
    PESS__COLUMN_TRUNCATED,
    PESS__COLUMN_PROBABILITY,
    PESS__COLUMN_COUNT
} pess__log_column;

typedef struct pess__row_block {
    int64_t rows, lines;
    double *values;                        /* [rows*features]; NAN: missing */
    int64_t *name[PESS__COLUMN_NAMED];     /* [rows] ids of the names below, -1: missing; NULL: no such column */
    pess_names *names[PESS__COLUMN_NAMED]; /* of this block */
    double *reward, *probability;          /* [rows] or NULL */
    int64_t *step;                         /* [rows] or NULL */
    uint8_t *end;                          /* [rows] pess_end */
    bool *dropped;                         /* [rows] no transition begins here: a value is missing that it needs */
    int64_t met, left_out,
        stood_in; /* rows of the text; dropped or not kept at all; values with another in their place */
    pess__missing_rows missing[PESS__ROLES];
    pess__csv_problem problem; /* the first one; lines count from 0 at the block's first */
    pess__json_line bad_line;  /* of JSON, where that is the problem */
    pess__csv_field *fields;   /* [columns] */
    pess__json *json;          /* the line that was read last */
    int64_t capacity;
    char *text; /* scratch: a name of several columns, or one that is not in UTF-8 */
    int64_t text_capacity;
} pess__row_block;

typedef struct pess__row_reader {
    pess__csv_text text;
    const char *const *names; /* [features], borrowed */
    int64_t features, columns;
    int32_t *feature; /* [columns] which feature it is, or -1 */
    int8_t *column;   /* [columns] pess__log_column, or -1 */
    bool has[PESS__COLUMN_COUNT];
    pess_reading *reading;
    bool decimal_comma;
    pess_step_unit step;
    int threads;
    pess__row_block *blocks; /* [text.pieces] */
} pess__row_reader;

/* What to read: the named features, and of the log's columns those that are wanted, where they are there. */
typedef struct pess__rows_wanted {
    const char *const *names; /* [features] */
    int64_t features;
    bool columns[PESS__COLUMN_COUNT];
    const pess_read_options *read; /* how the text is read; NULL: as it looks */
    bool json_lines;               /* it is those, and the first line has all that is wanted: features, a state */
} pess__rows_wanted;

/* at_once: rows are handed out as a pipe brings them, and not kept. Takes over the file. */
pess_status pess__row_reader_open(pess__row_reader *reader, pess__infile *file, const pess__rows_wanted *wanted,
                                  int threads, bool at_once, pess_error *error);
void pess__row_reader_close(pess__row_reader *reader);
/* The next blocks, in the order of the file; 0 at the end. The blocks before are gone. */
pess_status pess__row_reader_next(pess__row_reader *reader, int64_t *count, pess_error *error);

/* row_header.c: reads the header and settles what the columns are; the role of each column of a log. */
pess_status pess__row_header(pess__row_reader *reader, const pess__rows_wanted *wanted, pess_error *error);
extern const pess__role pess__role_of_column[PESS__COLUMN_COUNT];

/* name_list.c: a list of names, "age,lactate", one by one: names [count] and the text they point to. */
typedef struct pess__name_list {
    char *text;
    const char **names;
    int64_t count;
} pess__name_list;

/* PESS_ARGUMENT for an empty list, an empty name or one that is there twice. */
pess_status pess__name_list_create(const char *text, pess__name_list *out, pess_error *error);
void pess__name_list_free(pess__name_list *list);

#endif
