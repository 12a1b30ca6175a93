/* Whatever DuckDB reads (Parquet, its own databases, files of other kinds, addresses, Postgres), through the C
 * interface of its shared library, which is loaded when a log needs it. Results are streamed; columns of the types that
 * we know are taken as they lie in DuckDB's memory, and others are cast by DuckDB to one of these. */
#include "core/library.h"
#include "core/memory.h"
#include "data/format.h"
#include "data/frame_log.h"
#include "data/names.h"
#include "data/sql.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- DuckDB's interface, as its documentation describes it (stable since 1.0) */

typedef struct duckdb_result {
    uint64_t deprecated[3];
    void *deprecated_columns;
    char *deprecated_message;
    void *internal;
} duckdb_result;

/* A text of at most twelve bytes lies within. */
typedef struct duckdb_text {
    uint32_t length;
    char first[4];
    union {
        char more[8];
        const char *all;
    } rest;
} duckdb_text;

enum { DUCKDB_OK = 0, DUCKDB_SELECT = 1 };
enum {
    TYPE_BOOLEAN = 1,
    TYPE_TINYINT = 2,
    TYPE_BIGINT = 5,
    TYPE_UBIGINT = 9,
    TYPE_FLOAT = 10,
    TYPE_DOUBLE = 11,
    TYPE_TIMESTAMP = 12,
    TYPE_DATE = 13,
    TYPE_HUGEINT = 16,
    TYPE_VARCHAR = 17,
    TYPE_BLOB = 18,
    TYPE_DECIMAL = 19,
    TYPE_TIMESTAMP_S = 20,
    TYPE_TIMESTAMP_NS = 22,
    TYPE_ENUM = 23,
    TYPE_LIST = 24,
    TYPE_STRUCT = 25,
    TYPE_MAP = 26,
    TYPE_UNION = 28,
    TYPE_TIMESTAMP_TZ = 31,
    TYPE_UHUGEINT = 32,
    TYPE_ARRAY = 33
};

#define DUCKDB_CALLS(X)                                                                                                \
    X(int, create_config, (void **))                                                                                   \
    X(int, set_config, (void *, const char *, const char *))                                                           \
    X(void, destroy_config, (void **))                                                                                 \
    X(int, open_ext, (const char *, void **, void *, char **))                                                         \
    X(void, close, (void **))                                                                                          \
    X(int, connect, (void *, void **))                                                                                 \
    X(void, disconnect, (void **))                                                                                     \
    X(void, free, (void *))                                                                                            \
    X(int, query, (void *, const char *, duckdb_result *))                                                             \
    X(int, prepare, (void *, const char *, void **))                                                                   \
    X(const char *, prepare_error, (void *))                                                                           \
    X(void, destroy_prepare, (void **))                                                                                \
    X(int, prepared_statement_type, (void *))                                                                          \
    X(int, pending_prepared_streaming, (void *, void **))                                                              \
    X(const char *, pending_error, (void *))                                                                           \
    X(int, execute_pending, (void *, duckdb_result *))                                                                 \
    X(void, destroy_pending, (void **))                                                                                \
    X(const char *, result_error, (duckdb_result *))                                                                   \
    X(void, destroy_result, (duckdb_result *))                                                                         \
    X(uint64_t, column_count, (duckdb_result *))                                                                       \
    X(const char *, column_name, (duckdb_result *, uint64_t))                                                          \
    X(int, column_type, (duckdb_result *, uint64_t))                                                                   \
    X(void *, fetch_chunk, (duckdb_result))                                                                            \
    X(void, destroy_data_chunk, (void **))                                                                             \
    X(uint64_t, data_chunk_get_size, (void *))                                                                         \
    X(void *, data_chunk_get_vector, (void *, uint64_t))                                                               \
    X(void *, vector_get_data, (void *))                                                                               \
    X(uint64_t *, vector_get_validity, (void *))

static struct duckdb_calls { DUCKDB_CALLS(PESS__LIBRARY_POINTER) } duckdb;

#define DUCKDB_NAME(result, name, arguments) {"duckdb_" #name, offsetof(struct duckdb_calls, name)},
static const pess__library_call duckdb_names[] = {DUCKDB_CALLS(DUCKDB_NAME)};
#undef DUCKDB_NAME

static pess__library duckdb_library = {
    .what = "Parquet files, queries and addresses need the library DuckDB",
    .how = "Get libduckdb.so (1.0 or later) from duckdb.org or with 'npm install @duckdb/node-bindings-linux-x64' and "
           "set PESS_DUCKDB to its path; or export the log as CSV",
    .variable = "PESS_DUCKDB",
    .files = (const char *const[]){"libduckdb.so", "$ORIGIN/libduckdb.so", "$ORIGIN/../lib/libduckdb.so", NULL},
    .names = duckdb_names,
    .count = sizeof duckdb_names / sizeof duckdb_names[0],
    .calls = &duckdb};

typedef struct duckdb_source {
    pess__frames frames;
    void *database, *connection, *chunk;
    duckdb_result result;
    int64_t columns, rows, capacity; /* rows: handed out so far; capacity: of codes */
    pess__frame_column *column;      /* [columns] */
    pess_names **texts;              /* [columns] of texts; NULL: others */
    int64_t **codes;                 /* [columns][capacity] */
} duckdb_source;

static bool matches(const uint8_t *head, size_t length) {
    return (length >= 4 && memcmp(head, "PAR1", 4) == 0) || (length >= 6 && memcmp(head, "ARROW1", 6) == 0) ||
           (length >= 12 && memcmp(head + 8, "DUCK", 4) == 0);
}

static bool is_database(const uint8_t *head, size_t length) { return length >= 12 && memcmp(head + 8, "DUCK", 4) == 0; }

/* What DuckDB says, in one line. */
static pess_status failed(const duckdb_source *r, const char *message, pess_error *error) {
    char text[600];
    size_t used = 0;
    for (const char *c = message != NULL ? message : "no reason"; *c != '\0' && used + 1 < sizeof text; c++) {
        const bool blank = (unsigned char)*c <= ' ';
        if (!blank || (used > 0 && text[used - 1] != ' ')) text[used++] = blank ? ' ' : *c;
    }
    text[used] = '\0';
    return pess__fail(error, PESS_INPUT, "%s: DuckDB says: %s", r->frames.name, text);
}

/* ------------------------------------------------------------------------------------------------ the query */

static pess_status run(duckdb_source *r, const char *query, duckdb_result *result, pess_error *error) {
    void *statement = NULL, *pending = NULL;
    pess_status status = PESS_OK;
    if (duckdb.prepare(r->connection, query, &statement) != DUCKDB_OK)
        status = failed(r, duckdb.prepare_error(statement), error);
    else if (duckdb.prepared_statement_type(statement) != DUCKDB_SELECT)
        status = pess__sql_not_select(r->frames.name, query, error);
    else if (duckdb.pending_prepared_streaming(statement, &pending) != DUCKDB_OK)
        status = failed(r, duckdb.pending_error(pending), error);
    else if (duckdb.execute_pending(pending, result) != DUCKDB_OK)
        status = failed(r, duckdb.result_error(result), error);
    if (pending != NULL) duckdb.destroy_pending(&pending);
    if (statement != NULL) duckdb.destroy_prepare(&statement);
    return status;
}

/* The type that values are to be cast to; NULL: none, they are known or of no single value. */
static const char *cast_of(int type) {
    if (type >= TYPE_TINYINT && type <= TYPE_UBIGINT && type != TYPE_BIGINT) return "BIGINT";
    if (type == TYPE_FLOAT || type == TYPE_DECIMAL || type == TYPE_HUGEINT || type == TYPE_UHUGEINT) return "DOUBLE";
    if (type == TYPE_DATE || (type >= TYPE_TIMESTAMP_S && type <= TYPE_TIMESTAMP_NS)) return "TIMESTAMP";
    const bool several =
        type == TYPE_BLOB || (type >= TYPE_LIST && type <= TYPE_MAP) || type == TYPE_UNION || type == TYPE_ARRAY;
    const bool known = type == TYPE_BOOLEAN || type == TYPE_BIGINT || type == TYPE_DOUBLE || type == TYPE_TIMESTAMP ||
                       type == TYPE_TIMESTAMP_TZ || type == TYPE_VARCHAR;
    return several || known ? NULL : "VARCHAR";
}

/* The query around the query, with a cast for each column that needs one; *out is NULL where none does. */
static pess_status write_casts(duckdb_source *r, const char *query, char **out, pess_error *error) {
    char *text = NULL;
    int64_t capacity = 0, used = 0;
    size_t query_length = strlen(query);
    while (query_length > 0 && strchr("; \t\r\n", query[query_length - 1]) != NULL) query_length--;
    for (uint64_t i = 0; i < duckdb.column_count(&r->result); i++) {
        const char *cast = cast_of(duckdb.column_type(&r->result, i));
        char *name = NULL;
        if (cast == NULL) continue;
        pess_status status = pess__sql_quoted("", duckdb.column_name(&r->result, i), '"', "", &name, error);
        const int64_t room = status == PESS_OK ? 2 * (int64_t)strlen(name) + 100 : 0;
        if (status == PESS_OK)
            status = pess__grow(&text, &capacity, used + room + (int64_t)query_length, 1, "a query", error);
        if (status != PESS_OK) {
            free(name);
            free(text);
            return status;
        }
        used += snprintf(text + used, (size_t)room, "%s(%s)::%s AS %s", used == 0 ? "SELECT * REPLACE (" : ", ", name,
                         cast, name);
        free(name);
    }
    if (text != NULL)
        (void)snprintf(text + used, (size_t)(capacity - used), ") FROM (\n%.*s\n)", (int)query_length, query);
    *out = text;
    return PESS_OK;
}

static pess_status check_names(duckdb_source *r, pess_error *error) {
    for (uint64_t i = 0; i < duckdb.column_count(&r->result); i++)
        for (uint64_t j = 0; j < i; j++)
            if (strcmp(duckdb.column_name(&r->result, i), duckdb.column_name(&r->result, j)) == 0)
                return pess__fail(error, PESS_INPUT, "%s: found the column '%.60s' twice, expected it once",
                                  r->frames.name, duckdb.column_name(&r->result, i));
    return PESS_OK;
}

static pess_status run_with_casts(duckdb_source *r, const char *query, pess_error *error) {
    char *casts = NULL;
    PESS_TRY(run(r, query, &r->result, error));
    PESS_TRY(check_names(r, error));
    PESS_TRY(write_casts(r, query, &casts, error));
    if (casts == NULL) return PESS_OK;
    duckdb.destroy_result(&r->result);
    r->result = (duckdb_result){0};
    const pess_status status = run(r, casts, &r->result, error);
    free(casts);
    return status;
}

/* ------------------------------------------------------------------------------------------------ opening */

static pess_status open_database(const pess__stream *stream, duckdb_source *r, const char *path, pess_error *error) {
    void *config = NULL;
    char *message = NULL, threads[16];
    (void)snprintf(threads, sizeof threads, "%d", stream->threads);
    if (duckdb.create_config(&config) != DUCKDB_OK) return failed(r, "no memory for settings", error);
    (void)duckdb.set_config(config, "threads", threads);
    if (path != NULL) (void)duckdb.set_config(config, "access_mode", "READ_ONLY");
    const int code = duckdb.open_ext(path, &r->database, config, &message);
    duckdb.destroy_config(&config);
    pess_status status = PESS_OK;
    if (code != DUCKDB_OK)
        status = failed(r, message, error);
    else if (duckdb.connect(r->database, &r->connection) != DUCKDB_OK)
        status = failed(r, "no connection", error);
    if (message != NULL) duckdb.free(message);
    return status;
}

static const char *text_of(const duckdb_text *text) { return text->length <= 12 ? text->first : text->rest.all; }

static pess_status list_tables(duckdb_source *r, pess__sql_tables *tables, pess_error *error) {
    static const char query[] = "SELECT table_name FROM information_schema.tables ORDER BY table_name";
    duckdb_result result = {0};
    void *chunk = NULL;
    pess_status status = run(r, query, &result, error);
    while (status == PESS_OK && (chunk = duckdb.fetch_chunk(result)) != NULL) {
        const duckdb_text *names = duckdb.vector_get_data(duckdb.data_chunk_get_vector(chunk, 0));
        for (uint64_t i = 0; i < duckdb.data_chunk_get_size(chunk); i++) {
            char name[256];
            (void)snprintf(name, sizeof name, "%.*s", (int)names[i].length, text_of(&names[i]));
            pess__sql_add_table(tables, name);
        }
        duckdb.destroy_data_chunk(&chunk);
    }
    duckdb.destroy_result(&result);
    return status;
}

/* A query about a file knows it as `log`. */
static pess_status view_file(duckdb_source *r, pess_error *error) {
    char *view = NULL;
    duckdb_result result = {0};
    PESS_TRY(pess__sql_quoted("CREATE VIEW log AS SELECT * FROM ", r->frames.name, '\'', "", &view, error));
    pess_status status = PESS_OK;
    if (duckdb.query(r->connection, view, &result) != DUCKDB_OK)
        status = failed(r, duckdb.result_error(&result), error);
    duckdb.destroy_result(&result);
    free(view);
    return status;
}

/* Which query is meant: that of the options, a table of a database, or all of a file. */
static pess_status write_query(const pess__stream *stream, duckdb_source *r, const uint8_t *head, size_t length,
                               char **query, pess_error *error) {
    const bool no_file = strcmp(r->frames.name, PESS__SQL_ALONE) == 0;
    pess__sql_tables tables = {0};
    if (is_database(head, length)) {
        PESS_TRY(list_tables(r, &tables, error));
        return pess__sql_choose(stream, &tables, query, error);
    }
    if (stream->options.sql == NULL && no_file)
        return pess__fail(error, PESS_ARGUMENT, "found neither a file nor a query, expected one of them");
    if (stream->options.sql == NULL) {
        const bool parquet = length >= 4 && memcmp(head, "PAR1", 4) == 0;
        return pess__sql_quoted(parquet ? "SELECT * FROM read_parquet(" : "SELECT * FROM ", r->frames.name, '\'',
                                parquet ? ")" : "", query, error);
    }
    if (!no_file) PESS_TRY(view_file(r, error));
    return pess__sql_choose(stream, &tables, query, error);
}

static pess_status describe_columns(duckdb_source *r, pess_error *error) {
    r->columns = (int64_t)duckdb.column_count(&r->result);
    PESS_TRY(pess__allocate(&r->column, r->columns, sizeof *r->column, "columns", error));
    PESS_TRY(pess__allocate(&r->texts, r->columns, sizeof *r->texts, "columns", error));
    PESS_TRY(pess__allocate(&r->codes, r->columns, sizeof *r->codes, "columns", error));
    for (int64_t i = 0; i < r->columns; i++) {
        pess__frame_column *c = &r->column[i];
        c->name = duckdb.column_name(&r->result, (uint64_t)i);
        const int type = duckdb.column_type(&r->result, (uint64_t)i);
        c->type = type == TYPE_BLOB ? "bytes (a BLOB)" : type == TYPE_STRUCT ? "a structure" : "a list";
        switch (type) {
            case TYPE_BOOLEAN: c->kind = PESS__FRAME_TRUTH; break;
            case TYPE_BIGINT: c->kind = PESS__FRAME_INTEGER; break;
            case TYPE_DOUBLE: c->kind = PESS__FRAME_NUMBER; break;
            case TYPE_TIMESTAMP:
            case TYPE_TIMESTAMP_TZ: c->kind = PESS__FRAME_TIME; break;
            case TYPE_VARCHAR: c->kind = PESS__FRAME_TEXT; break;
            default: c->kind = PESS__FRAME_OTHER; break;
        }
        if (c->kind == PESS__FRAME_TEXT) PESS_TRY(pess__names_create(&r->texts[i], error));
        c->texts = r->texts[i];
    }
    return PESS_OK;
}

static pess_status open_source(const pess__stream *stream, duckdb_source *r, pess_error *error) {
    uint8_t head[PESS__HEAD_SIZE];
    size_t got = 0;
    char *query = NULL;
    PESS_TRY(pess__library_load(&duckdb_library, error));
    PESS_TRY(pess__infile_head(stream->file, head, sizeof head, &got, error));
    if (got > 0) PESS_TRY(pess__sql_needs_path(stream, "a file for DuckDB", error));
    PESS_TRY(open_database(stream, r, is_database(head, got) ? r->frames.name : NULL, error));
    PESS_TRY(write_query(stream, r, head, got, &query, error));
    const pess_status status = run_with_casts(r, query, error);
    free(query);
    return status == PESS_OK ? describe_columns(r, error) : status;
}

/* ------------------------------------------------------------------------------------------------ rows */

/* Texts as places in the list of different ones. */
static pess_status number_texts(duckdb_source *r, int64_t i, const duckdb_text *texts, int64_t rows,
                                pess_error *error) {
    pess__frame_column *c = &r->column[i];
    for (int64_t row = 0; row < rows; row++) {
        c->values = r->codes[i];
        r->codes[i][row] = 0;
        if (c->valid != NULL && (c->valid[row >> 3] >> (row & 7) & 1) == 0) continue;
        const char *text = text_of(&texts[row]);
        if (!pess__names_valid(text, texts[row].length))
            return pess__fail(error, PESS_INPUT,
                              "%s: row %lld, column '%.60s': found a zero byte in a text, expected none",
                              r->frames.name, (long long)r->rows + (long long)row + 1, c->name);
        PESS_TRY(pess__names_add(r->texts[i], text, texts[row].length, &r->codes[i][row], error));
    }
    return PESS_OK;
}

static pess_status take_chunk(duckdb_source *r, int64_t rows, pess_error *error) {
    for (int64_t i = 0; i < r->columns; i++) {
        void *vector = duckdb.data_chunk_get_vector(r->chunk, (uint64_t)i);
        pess__frame_column *c = &r->column[i];
        c->valid = (const uint8_t *)duckdb.vector_get_validity(vector);
        c->values = c->kind == PESS__FRAME_OTHER ? NULL : duckdb.vector_get_data(vector);
        if (c->kind != PESS__FRAME_TEXT) continue;
        int64_t capacity = r->capacity;
        PESS_TRY(pess__grow(&r->codes[i], &capacity, rows, sizeof **r->codes, "a column", error));
        PESS_TRY(number_texts(r, i, c->values, rows, error));
    }
    if (rows > r->capacity) r->capacity = rows;
    return PESS_OK;
}

static pess_status next_frame(pess__frames *frames, pess__frame *frame, pess_error *error) {
    duckdb_source *r = (duckdb_source *)frames;
    int64_t rows = 0;
    do {
        if (r->chunk != NULL) duckdb.destroy_data_chunk(&r->chunk);
        r->chunk = duckdb.fetch_chunk(r->result);
        rows = r->chunk != NULL ? (int64_t)duckdb.data_chunk_get_size(r->chunk) : 0;
    } while (r->chunk != NULL && rows == 0);
    const char *message = r->chunk == NULL ? duckdb.result_error(&r->result) : NULL;
    if (message != NULL && message[0] != '\0') return failed(r, message, error);
    *frame = (pess__frame){.rows = rows, .first = r->rows + 1, .columns = r->columns, .column = r->column};
    if (rows > 0) PESS_TRY(take_chunk(r, rows, error));
    r->rows += rows;
    return PESS_OK;
}

static void close_source(pess__frames *frames) {
    duckdb_source *r = (duckdb_source *)frames;
    for (int64_t i = 0; i < r->columns; i++) {
        if (r->texts != NULL) pess_names_destroy(r->texts[i]);
        if (r->codes != NULL) free(r->codes[i]);
    }
    if (r->chunk != NULL) duckdb.destroy_data_chunk(&r->chunk);
    if (duckdb_library.loaded) duckdb.destroy_result(&r->result);
    if (r->connection != NULL) duckdb.disconnect(&r->connection);
    if (r->database != NULL) duckdb.close(&r->database);
    free(r->column);
    free(r->texts);
    free(r->codes);
    free(r);
}

static pess_status open_duckdb(pess__stream *stream, pess__frames **out, pess_error *error) {
    duckdb_source *r = NULL;
    PESS_TRY(pess__allocate(&r, 1, sizeof *r, "a log reader", error));
    r->frames = (pess__frames){
        .name = pess__infile_name(stream->file), .row = "row", .next = next_frame, .close = close_source};
    const pess_status status = open_source(stream, r, error);
    if (status == PESS_OK)
        *out = &r->frames;
    else
        close_source(&r->frames);
    return status;
}

const pess__format pess__format_duckdb = {
    .info = {.name = "duckdb",
             .extensions = ".parquet .duckdb",
             .summary = "what the library DuckDB reads, where it is on the machine: Parquet, databases, queries",
             .reads = true},
    .databases = true,
    .matches = matches,
    .frames = open_duckdb,
    .next = pess__frame_log_next,
    .close = pess__frame_log_close};
