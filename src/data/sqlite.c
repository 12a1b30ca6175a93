/* SQLite databases: a table or a query of one, read by SQLite's own library, which is loaded when one is read. The
 * database is opened for reading only. */
#include "core/library.h"
#include "core/memory.h"
#include "data/format.h"
#include "data/frame_build.h"
#include "data/frame_log.h"
#include "data/names.h"
#include "data/sql.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The interface of SQLite 3, which promises not to change. */
enum { SQLITE_OK = 0, SQLITE_BUSY = 5, SQLITE_LOCKED = 6, SQLITE_NOMEM = 7, SQLITE_IOERR = 10 };
enum { SQLITE_ROW = 100, SQLITE_DONE = 101 };
enum { SQLITE_INTEGER = 1, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB, SQLITE_NULL };
enum { SQLITE_OPEN_READONLY = 1, SQLITE_LIMIT_LENGTH = 0, WAIT_FOR_LOCK = 2000 /* ms */ };
enum { LONGEST_VALUE = 1 << 24 }; /* bytes; also of what a view or a generated column computes */

#define SQLITE_CALLS(X)                                                                                                \
    X(int, open_v2, (const char *, void **, int, const char *))                                                        \
    X(int, close, (void *))                                                                                            \
    X(const char *, errmsg, (void *))                                                                                  \
    X(int, busy_timeout, (void *, int))                                                                                \
    X(int, limit, (void *, int, int))                                                                                  \
    X(int, prepare_v2, (void *, const char *, int, void **, const char **))                                            \
    X(int, step, (void *))                                                                                             \
    X(int, finalize, (void *))                                                                                         \
    X(int, stmt_readonly, (void *))                                                                                    \
    X(int, column_count, (void *))                                                                                     \
    X(const char *, column_name, (void *, int))                                                                        \
    X(int, column_type, (void *, int))                                                                                 \
    X(long long, column_int64, (void *, int))                                                                          \
    X(double, column_double, (void *, int))                                                                            \
    X(const unsigned char *, column_text, (void *, int))                                                               \
    X(int, column_bytes, (void *, int))

static struct sqlite_calls { SQLITE_CALLS(PESS__LIBRARY_POINTER) } sqlite;

#define SQLITE_NAME(result, name, arguments) {"sqlite3_" #name, offsetof(struct sqlite_calls, name)},
static const pess__library_call sqlite_names[] = {SQLITE_CALLS(SQLITE_NAME)};
#undef SQLITE_NAME

static pess__library sqlite_library = {.what = "SQLite databases need the library SQLite",
                                       .how =
                                           "It comes with the Debian package libsqlite3-0; or export the table as CSV: "
                                           "sqlite3 -header -csv FILE 'SELECT * FROM TABLE'",
                                       .files = (const char *const[]){"libsqlite3.so.0", NULL},
                                       .names = sqlite_names,
                                       .count = sizeof sqlite_names / sizeof sqlite_names[0],
                                       .calls = &sqlite};

typedef struct sqlite_source {
    pess__frames frames;
    void *database, *statement;
    int64_t *column; /* [columns of the query] their places in the frame */
    int columns;
    pess__frame_builder *builder;
    bool over;
} sqlite_source;

static bool matches(const uint8_t *head, size_t length) {
    return length >= 16 && memcmp(head, "SQLite format 3", 16) == 0;
}

static pess_status failed(sqlite_source *r, int code, pess_error *error) {
    if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED)
        return pess__fail(error, PESS_IO,
                          "%s: another program has locked the database and did not release it within %d s; try again "
                          "when it is done, or read a copy: sqlite3 FILE '.backup COPY'",
                          r->frames.name, WAIT_FOR_LOCK / 1000);
    const int kind = code & 0xff;
    const pess_status status = kind == SQLITE_NOMEM ? PESS_MEMORY : kind == SQLITE_IOERR ? PESS_IO : PESS_INPUT;
    return pess__fail(error, status, "%s: SQLite says: %s", r->frames.name, sqlite.errmsg(r->database));
}

/* ------------------------------------------------------------------------------------------------ the query */

static pess_status list_tables(sqlite_source *r, pess__sql_tables *tables, pess_error *error) {
    static const char query[] = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE "
                                "'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    void *statement = NULL;
    int code = sqlite.prepare_v2(r->database, query, -1, &statement, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite.step(statement);
        if (code == SQLITE_ROW) pess__sql_add_table(tables, (const char *)sqlite.column_text(statement, 0));
    }
    (void)sqlite.finalize(statement);
    return code == SQLITE_DONE ? PESS_OK : failed(r, code, error);
}

/* One statement, which gives rows and changes nothing. */
static pess_status prepare(sqlite_source *r, const char *query, pess_error *error) {
    const char *rest = NULL;
    const int code = sqlite.prepare_v2(r->database, query, -1, &r->statement, &rest);
    if (code != SQLITE_OK) return failed(r, code, error);
    if (r->statement == NULL || rest[strspn(rest, " \t\r\n;")] != '\0' || sqlite.stmt_readonly(r->statement) == 0 ||
        sqlite.column_count(r->statement) == 0)
        return pess__sql_not_select(r->frames.name, query, error);
    return PESS_OK;
}

static pess_status add_columns(sqlite_source *r, pess_error *error) {
    r->columns = sqlite.column_count(r->statement);
    PESS_TRY(pess__frame_builder_create(&r->builder, error));
    PESS_TRY(pess__allocate(&r->column, r->columns, sizeof *r->column, "columns", error));
    for (int i = 0; i < r->columns; i++) {
        const char *name = sqlite.column_name(r->statement, i);
        if (name == NULL) return pess__fail(error, PESS_MEMORY, "not enough memory for columns");
        PESS_TRY(pess__frame_builder_column(r->builder, name, strlen(name), &r->column[i], error));
        if (r->column[i] != i)
            return pess__fail(error, PESS_INPUT, "%s: found the column '%.60s' twice, expected it once", r->frames.name,
                              name);
    }
    return PESS_OK;
}

static pess_status open_query(const pess__stream *stream, sqlite_source *r, pess_error *error) {
    pess__sql_tables tables = {0};
    char *query = NULL;
    PESS_TRY(pess__library_load(&sqlite_library, error));
    const int code = sqlite.open_v2(r->frames.name, &r->database, SQLITE_OPEN_READONLY, NULL);
    if (code != SQLITE_OK) return failed(r, code, error);
    (void)sqlite.busy_timeout(r->database, WAIT_FOR_LOCK);
    (void)sqlite.limit(r->database, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    PESS_TRY(list_tables(r, &tables, error));
    PESS_TRY(pess__sql_choose(stream, &tables, &query, error));
    const pess_status status = prepare(r, query, error);
    free(query);
    return status != PESS_OK ? status : add_columns(r, error);
}

/* ------------------------------------------------------------------------------------------------ rows */

static pess_status add_text(sqlite_source *r, int i, pess_error *error) {
    const char *text = (const char *)sqlite.column_text(r->statement, i);
    if (text == NULL) return pess__fail(error, PESS_MEMORY, "not enough memory for a text");
    const size_t length = (size_t)sqlite.column_bytes(r->statement, i);
    if (!pess__names_valid(text, length))
        return pess__fail(error, PESS_INPUT,
                          "%s: row %lld, column '%.60s': found bytes that are not text, expected UTF-8", r->frames.name,
                          (long long)pess__frame_builder_rows(r->builder) + 1, sqlite.column_name(r->statement, i));
    return pess__frame_builder_text(r->builder, i, text, length, error);
}

static pess_status add_row(sqlite_source *r, pess_error *error) {
    for (int i = 0; i < r->columns; i++) switch (sqlite.column_type(r->statement, i)) {
            case SQLITE_INTEGER:
                PESS_TRY(pess__frame_builder_integer(r->builder, i, sqlite.column_int64(r->statement, i), error));
                break;
            case SQLITE_FLOAT:
                PESS_TRY(pess__frame_builder_number(r->builder, i, sqlite.column_double(r->statement, i), error));
                break;
            case SQLITE_TEXT: PESS_TRY(add_text(r, i, error)); break;
            case SQLITE_BLOB: pess__frame_builder_other(r->builder, i, "bytes (a BLOB)"); break;
            default: break;
        }
    pess__frame_builder_end_row(r->builder);
    return PESS_OK;
}

static pess_status next_frame(pess__frames *frames, pess__frame *frame, pess_error *error) {
    sqlite_source *r = (sqlite_source *)frames;
    if (r->over) {
        frame->rows = 0;
        return PESS_OK;
    }
    r->over = true;
    int code = SQLITE_ROW;
    while ((code = sqlite.step(r->statement)) == SQLITE_ROW) PESS_TRY(add_row(r, error));
    if (code != SQLITE_DONE) return failed(r, code, error);
    PESS_TRY(pess__frame_builder_finish(r->builder, frame, error));
    frame->first = 1;
    return PESS_OK;
}

static void close_source(pess__frames *frames) {
    sqlite_source *r = (sqlite_source *)frames;
    if (r->statement != NULL) (void)sqlite.finalize(r->statement);
    if (r->database != NULL) (void)sqlite.close(r->database);
    pess__frame_builder_destroy(r->builder);
    free(r->column);
    free(r);
}

static pess_status open_sqlite(pess__stream *stream, pess__frames **out, pess_error *error) {
    sqlite_source *r = NULL;
    PESS_TRY(pess__sql_needs_path(stream, "an SQLite database", error));
    PESS_TRY(pess__allocate(&r, 1, sizeof *r, "a log reader", error));
    r->frames = (pess__frames){
        .name = pess__infile_name(stream->file), .row = "row", .next = next_frame, .close = close_source};
    const pess_status status = open_query(stream, r, error);
    if (status == PESS_OK)
        *out = &r->frames;
    else
        close_source(&r->frames);
    return status;
}

const pess__format pess__format_sqlite = {.info = {.name = "sqlite",
                                                   .extensions = ".db .sqlite .sqlite3",
                                                   .summary = "a table or a query of an SQLite database",
                                                   .reads = true},
                                          .databases = true,
                                          .matches = matches,
                                          .frames = open_sqlite,
                                          .next = pess__frame_log_next,
                                          .close = pess__frame_log_close};
