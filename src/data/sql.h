/* What databases as sources of logs have in common: texts of queries, and which of several tables is meant. */
#ifndef PESS_DATA_SQL_H
#define PESS_DATA_SQL_H

#include "core/status.h"
#include "data/stream.h"

/* How messages call a log that no file but a query names. */
#define PESS__SQL_ALONE "the query"

/* before, then `text` between quotes (doubled within it), then after; to be freed. */
pess_status pess__sql_quoted(const char *before, const char *text, char quote, const char *after, char **out,
                             pess_error *error);

/* The tables of a database, with commas between them, for messages; and how many there are. */
typedef struct pess__sql_tables {
    int64_t count;
    char first[256];
    char list[400];
} pess__sql_tables;

void pess__sql_add_table(pess__sql_tables *tables, const char *name);
/* The query that is meant: options.sql as it is; options.table; or the only table that there is. To be freed. */
pess_status pess__sql_choose(const pess__stream *stream, const pess__sql_tables *tables, char **out, pess_error *error);

/* Databases open files by their path. PESS_INPUT where the log is a pipe, compressed or in memory. `what`: "an SQLite
 * database". */
pess_status pess__sql_needs_path(const pess__stream *stream, const char *what, pess_error *error);

/* PESS_INPUT: a query that is no SELECT, or several. */
pess_status pess__sql_not_select(const char *name, const char *query, pess_error *error);

#endif
