/* Small CSV files (policies, start distributions, MDPs): the whole file in memory, columns by name, row after row, and
 * getters whose errors say where, what was found and what was expected. gzip is undone; "-" is standard input. */
#ifndef PESS_DATA_TABLE_H
#define PESS_DATA_TABLE_H

#include "data/csv_row.h"

typedef struct pess__table pess__table;

/* Reads the header. A column that occurs twice is PESS_INPUT; unknown columns are no matter. */
pess_status pess__table_open(const char *path, pess__table **out, pess_error *error);
pess_status pess__table_open_memory(const char *name, const void *bytes, size_t length, pess__table **out,
                                    pess_error *error);
void pess__table_close(pess__table *table); /* NULL is fine */

int64_t pess__table_columns(const pess__table *table);                  /* how many the header has */
int64_t pess__table_column(const pess__table *table, const char *name); /* -1: not there */
/* The same for a column that must be there. */
pess_status pess__table_require(const pess__table *table, const char *name, int64_t *column, pess_error *error);

/* Goes to the next row; *row is false behind the last one. A row with too few or too many fields is PESS_INPUT. */
pess_status pess__table_next(pess__table *table, bool *row, pess_error *error);
int64_t pess__table_line(const pess__table *table); /* of the present row */
pess__csv_field pess__table_field(const pess__table *table, int64_t column);

/* An integer in [lo, hi]; `what` names the expected thing in messages, e.g. "a state". */
pess_status pess__table_int64(const pess__table *table, int64_t column, int64_t lo, int64_t hi, const char *what,
                              int64_t *out, pess_error *error);
/* A finite number in [lo, hi]; infinite ends are open. */
pess_status pess__table_double(const pess__table *table, int64_t column, double lo, double hi, const char *what,
                               double *out, pess_error *error);
/* The id of a state or action: by name where there are names, else an integer in [0, count). */
pess_status pess__table_id(const pess__table *table, int64_t column, const pess_names *names, int64_t count,
                           const char *what, int64_t *out, pess_error *error);
/* PESS_INPUT "path:line:column: column 'c': found 'x', " and then what the format says, e.g. "expected ...". */
pess_status pess__table_fail(const pess__table *table, int64_t column, pess_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
