#include "data/table.h"

#include "core/infile.h"
#include "core/memory.h"
#include "core/memory_raw.h"
#include "core/text.h"
#include "data/names.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 4096, FIRST_PART = 1 << 12, LARGEST_PART = 1 << 20, LONGEST_LINE = 1 << 24 };

struct pess__table {
    char *path;
    char *bytes;
    pess__csv_cursor cursor;
    pess__csv_field *header, *row; /* [columns] */
    int64_t columns;
};

/* Counts the lines that end within bytes[from .. to); *begin is where the last one of them ended. */
static pess_status check_lines(const pess__table *table, int64_t from, int64_t to, int64_t *lines, int64_t *begin,
                               pess_error *error) {
    const char *at = table->bytes + from, *end = table->bytes + to;
    for (const char *stop; (stop = memchr(at, '\n', (size_t)(end - at))) != NULL; at = stop + 1) {
        *begin = stop + 1 - table->bytes;
        ++*lines;
    }
    if (to - *begin <= LONGEST_LINE) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s:%lld:1: found a line of more than %d bytes, expected a shorter one",
                      table->path, (long long)*lines + 1, LONGEST_LINE);
}

/* A device or a pipe may have no end. So a NUL byte is refused where it stands (data/csv_row.h), with nothing read
 * beyond it, and so is a line without an end. */
static pess_status load(pess__infile *file, pess__table *table, pess_error *error) {
    int64_t size = 0, capacity = 0, part = FIRST_PART, lines = 0, begin = 0; /* most tables are small */
    bool text = true;
    pess__infile_read_once(file);
    for (size_t got = 1; got > 0 && text; size += (int64_t)got) {
        PESS_TRY(pess__grow(&table->bytes, &capacity, size + part, 1, "a table", error));
        PESS_TRY(pess__infile_read(file, table->bytes + size, (size_t)part, &got, error));
        text = memchr(table->bytes + size, 0, got) == NULL;
        PESS_TRY(check_lines(table, size, size + (int64_t)got, &lines, &begin, error));
        if (part < LARGEST_PART) part *= 2;
    }
    table->cursor = (pess__csv_cursor){table->bytes, table->bytes + size, 1, ','};
    if (size >= 3 && memcmp(table->bytes, "\xEF\xBB\xBF", 3) == 0) table->cursor.at += 3;
    return PESS_OK;
}

static pess_status read_header(pess__table *table, pess_error *error) {
    pess__csv_problem problem = {0};
    const int64_t bytes = table->cursor.end - table->cursor.at, room = bytes < MAX_COLUMNS ? bytes + 1 : MAX_COLUMNS;
    PESS_TRY(pess__allocate(&table->header, room, sizeof *table->header, "a header", error));
    const pess__csv_result result = pess__csv_next(&table->cursor, table->header, room, &table->columns, &problem);
    if (result == PESS__CSV_BAD) return pess__csv_report(table->path, &problem, error);
    if (result == PESS__CSV_END)
        return pess__fail(error, PESS_INPUT, "%s:1:1: found an empty file, expected a line with column names",
                          table->path);
    if (table->columns > MAX_COLUMNS)
        return pess__fail(error, PESS_INPUT, "%s:1:1: found %lld columns, expected at most %d", table->path,
                          (long long)table->columns, MAX_COLUMNS);
    for (int64_t i = 0; i < table->columns; i++)
        for (int64_t j = 0; j < i; j++) {
            const pess__csv_field *a = &table->header[i], *b = &table->header[j];
            if (a->length == 0 || a->length != b->length || memcmp(a->text, b->text, a->length) != 0) continue;
            char shown[PESS__SHOWN_SIZE];
            return pess__fail(error, PESS_INPUT, "%s:%lld:%lld: found the column %s twice, expected it once",
                              table->path, (long long)a->line, (long long)a->column,
                              pess__shown(a->text, a->length, shown));
        }
    return pess__allocate(&table->row, table->columns, sizeof *table->row, "a row", error);
}

static pess_status open_table(pess__infile *file, pess__table **out, pess_error *error) {
    pess__table *table = NULL;
    pess_status status = pess__allocate(&table, 1, sizeof *table, "a table", error);
    if (status == PESS_OK) {
        table->path = pess__raw_copy(pess__infile_name(file));
        if (table->path == NULL) status = pess__fail(error, PESS_MEMORY, "not enough memory for a table");
        if (status == PESS_OK) status = load(file, table, error);
        if (status == PESS_OK) status = read_header(table, error);
        if (status != PESS_OK) pess__table_close(table);
    }
    pess__infile_close(file);
    if (status == PESS_OK) *out = table;
    return status;
}

pess_status pess__table_open(const char *path, pess__table **out, pess_error *error) {
    pess__infile *file = NULL;
    PESS_TRY(pess__infile_open(path, &file, error));
    return open_table(file, out, error);
}

pess_status pess__table_open_memory(const char *name, const void *bytes, size_t length, pess__table **out,
                                    pess_error *error) {
    pess__infile *file = NULL;
    PESS_TRY(pess__infile_open_memory(name, bytes, length, &file, error));
    return open_table(file, out, error);
}

void pess__table_close(pess__table *table) {
    if (table == NULL) return;
    free(table->path);
    free(table->bytes);
    free(table->header);
    free(table->row);
    free(table);
}

int64_t pess__table_columns(const pess__table *table) { return table->columns; }

int64_t pess__table_column(const pess__table *table, const char *name) {
    const size_t length = strlen(name);
    for (int64_t i = 0; i < table->columns; i++)
        if (table->header[i].length == length && memcmp(table->header[i].text, name, length) == 0) return i;
    return -1;
}

pess_status pess__table_require(const pess__table *table, const char *name, int64_t *column, pess_error *error) {
    *column = pess__table_column(table, name);
    if (*column >= 0) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s:%lld:1: found no column '%s' in the header, expected one", table->path,
                      (long long)table->header[0].line, name);
}

pess_status pess__table_next(pess__table *table, bool *row, pess_error *error) {
    pess__csv_problem problem = {0};
    int64_t count = 0;
    const pess__csv_result result = pess__csv_next(&table->cursor, table->row, table->columns, &count, &problem);
    if (result == PESS__CSV_BAD) return pess__csv_report(table->path, &problem, error);
    *row = result == PESS__CSV_ROW;
    if (!*row || count == table->columns) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s:%lld:1: found %lld fields, expected %lld as in the header", table->path,
                      (long long)table->row[0].line, (long long)count, (long long)table->columns);
}

int64_t pess__table_line(const pess__table *table) { return table->row[0].line; }

pess__csv_field pess__table_field(const pess__table *table, int64_t column) { return table->row[column]; }

pess_status pess__table_fail(const pess__table *table, int64_t column, pess_error *error, const char *format, ...) {
    char rest[400], name[PESS__SHOWN_SIZE], found[PESS__SHOWN_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(rest, sizeof rest, format, arguments);
    va_end(arguments);
    const pess__csv_field *at = &table->row[column], *head = &table->header[column];
    return pess__fail(error, PESS_INPUT, "%s:%lld:%lld: column %s: found %s, %s", table->path, (long long)at->line,
                      (long long)at->column, pess__shown(head->text, head->length, name),
                      pess__shown(at->text, at->length, found), rest);
}

pess_status pess__table_int64(const pess__table *table, int64_t column, int64_t lo, int64_t hi, const char *what,
                              int64_t *out, pess_error *error) {
    const pess__csv_field *at = &table->row[column];
    int64_t value = 0;
    if (!pess__parse_int64(at->text, at->text + at->length, &value) || value < lo || value > hi)
        return pess__table_fail(table, column, error, "expected %s: an integer from %lld to %lld", what, (long long)lo,
                                (long long)hi);
    *out = value;
    return PESS_OK;
}

pess_status pess__table_double(const pess__table *table, int64_t column, double lo, double hi, const char *what,
                               double *out, pess_error *error) {
    const pess__csv_field *at = &table->row[column];
    double value = 0;
    if (!pess__parse_double(at->text, at->text + at->length, &value) || !isfinite(value) || value < lo || value > hi) {
        if (isinf(lo) && isinf(hi))
            return pess__table_fail(table, column, error, "expected %s: a finite decimal number", what);
        return pess__table_fail(table, column, error, "expected %s: a number from %g to %g", what, lo, hi);
    }
    *out = value;
    return PESS_OK;
}

pess_status pess__table_id(const pess__table *table, int64_t column, const pess_names *names, int64_t count,
                           const char *what, int64_t *out, pess_error *error) {
    if (!pess_names_given(names)) return pess__table_int64(table, column, 0, count - 1, what, out, error);
    const pess__csv_field *at = &table->row[column];
    const int64_t id = pess__names_find(names, at->text, at->length);
    const char *example = pess_names_get(names, 0);
    if (id < 0 || id >= count)
        return pess__table_fail(table, column, error, "expected %s: one of the %lld known names, such as '%.40s'", what,
                                (long long)pess_names_count(names), example != NULL ? example : "");
    *out = id;
    return PESS_OK;
}
