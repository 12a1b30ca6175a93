/* The CSV tokenizer: RFC 4180 rows of fields, with any separator, each with the line and column where it stands.
 * Stricter where a guess could hide damage (stray quotes, bare carriage returns, NUL bytes) and kinder in one point:
 * blanks around an unquoted field do not count. */
#ifndef PESS_DATA_CSV_ROW_H
#define PESS_DATA_CSV_ROW_H

#include "core/status.h"

typedef struct pess__csv_field {
    char *text; /* not terminated; quotes are undone in place */
    size_t length;
    int64_t line, column; /* from 1; column in bytes */
} pess__csv_field;

typedef struct pess__csv_cursor {
    char *at, *end; /* `at` stands at the beginning of a row */
    int64_t line;
    char separator; /* of fields: comma, semicolon, tab or pipe */
} pess__csv_cursor;

/* What is wrong and where; becomes "path:line:column: text". */
typedef struct pess__csv_problem {
    pess_status status; /* PESS_OK: none */
    int64_t line, column;
    char text[480];
    const char *remedy; /* of pess_error, or NULL */
    char value[64];
} pess__csv_problem;

typedef enum pess__csv_result { PESS__CSV_ROW, PESS__CSV_END, PESS__CSV_BAD } pess__csv_result;

/* The next row that is not blank. *count may exceed capacity: only the first `capacity` fields are stored. Changes the
 * bytes of the row it has read. */
pess__csv_result pess__csv_next(pess__csv_cursor *cursor, pess__csv_field *fields, int64_t capacity, int64_t *count,
                                pess__csv_problem *problem);

/* Fills problem. */
void pess__csv_set_problem(pess__csv_problem *problem, int64_t line, int64_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* What would help against the problem. */
void pess__csv_set_remedy(pess__csv_problem *problem, const char *remedy, const char *value);
/* The problem as an error of the file `name`. */
pess_status pess__csv_report(const char *name, const pess__csv_problem *problem, pess_error *error);

#define PESS__SHOWN_SIZE 48
/* A found token for messages: 'text', shortened, harmless to a terminal; "nothing" where it is empty. */
const char *pess__shown(const char *text, size_t length, char buffer[PESS__SHOWN_SIZE]);

#endif
