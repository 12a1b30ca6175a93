/* The text of a CSV file or of JSON lines, batch by batch, each cut into pieces of whole rows that threads can parse
 * side by side. */
#ifndef PESS_DATA_CSV_TEXT_H
#define PESS_DATA_CSV_TEXT_H

#include "core/infile.h"
#include "data/csv_row.h"

enum { PESS__PIECE_BYTES = 1 << 18, PESS__PIECE_LONGEST_ROW = 1 << 20, PESS__TEXT_COLUMNS = 4096 };

typedef struct pess__csv_piece {
    char *begin, *end; /* whole rows; the last byte is a line feed */
} pess__csv_piece;

typedef struct pess__csv_text {
    pess__infile *file;
    char *buffer;
    size_t capacity, full; /* of the buffer; what it may grow to */
    size_t held;           /* bytes that are not handed out for good */
    size_t handed;         /* of the last batch */
    bool filled;           /* the buffer was filled once */
    bool at_end, at_once;  /* at_once: what a pipe has is handed out without waiting for more */
    char separator;        /* 0: the header will tell */
    pess_names *members;   /* of JSON lines: the columns. NULL: CSV */
    int64_t line;          /* of the first byte held; the reader adds the lines of the pieces it has parsed */
    int64_t pieces;        /* at most, of a batch */
    pess__csv_piece *piece;
} pess__csv_text;

/* `pieces`: how many at most. Takes over the file. */
pess_status pess__csv_text_open(pess__csv_text *text, pess__infile *file, int64_t pieces, bool at_once,
                                pess_error *error);
void pess__csv_text_close(pess__csv_text *text);
/* To the first byte again: the header comes next. */
pess_status pess__csv_text_rewind(pess__csv_text *text, pess_error *error);
/* The fields of the header line, in the buffer until the first batch; at most PESS__TEXT_COLUMNS. Finds the separator
 * where it is not set. */
pess_status pess__csv_text_header(pess__csv_text *text, pess__csv_field *fields, int64_t *count, pess_error *error);
/* The same of JSON lines: the names of the members of the first object are the columns. */
pess_status pess__csv_text_members(pess__csv_text *text, pess__csv_field *fields, int64_t *count, pess_error *error);
/* Behind the header: whether numbers are written with decimal commas. The first number in the columns of `is_number`
 * that tells decides; where none does within the first rows, they are not. */
pess_status pess__csv_text_decimal(const pess__csv_text *text, int64_t columns,
                                   bool (*is_number)(const void *user, int64_t column), const void *user, bool *comma,
                                   pess_error *error);
/* The next batch; 0 pieces at the end. The pieces before are gone. */
pess_status pess__csv_text_next(pess__csv_text *text, int64_t *count, pess_error *error);

#endif
