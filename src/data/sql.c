#include "data/sql.h"

#include "core/memory.h"
#include "core/memory_raw.h"

#include <stdio.h>
#include <string.h>

pess_status pess__sql_quoted(const char *before, const char *text, char quote, const char *after, char **out,
                             pess_error *error) {
    char *made = NULL;
    const size_t size = strlen(before) + 2 * strlen(text) + strlen(after) + 3;
    PESS_TRY(pess__allocate(&made, (int64_t)size, 1, "a query", error));
    size_t used = (size_t)snprintf(made, size, "%s%c", before, quote);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == quote) made[used++] = quote;
        made[used++] = *c;
    }
    (void)snprintf(made + used, size - used, "%c%s", quote, after);
    *out = made;
    return PESS_OK;
}

void pess__sql_add_table(pess__sql_tables *tables, const char *name) {
    const size_t used = strlen(tables->list);
    if (tables->count == 0) (void)snprintf(tables->first, sizeof tables->first, "%s", name);
    if (used + strlen(name) + 4 < sizeof tables->list)
        (void)snprintf(tables->list + used, sizeof tables->list - used, "%s%s", tables->count > 0 ? ", " : "", name);
    tables->count++;
}

pess_status pess__sql_choose(const pess__stream *stream, const pess__sql_tables *tables, char **out,
                             pess_error *error) {
    const char *name = pess__infile_name(stream->file);
    const pess_read_options *options = &stream->options;
    if (options->sql != NULL && options->table != NULL)
        return pess__fail(error, PESS_ARGUMENT, "%s: found both a query and a table, expected one of them", name);
    if (options->sql != NULL) {
        *out = pess__raw_copy(options->sql);
        return *out != NULL ? PESS_OK : pess__fail(error, PESS_MEMORY, "not enough memory for a query");
    }
    if (options->table != NULL) return pess__sql_quoted("SELECT * FROM ", options->table, '"', "", out, error);
    if (tables->count == 1) return pess__sql_quoted("SELECT * FROM ", tables->first, '"', "", out, error);
    if (tables->count == 0)
        return pess__fail(error, PESS_INPUT, "%s: found a database without tables, expected one", name);
    const pess_status status =
        pess__fail(error, PESS_INPUT, "%s: found %lld tables (%s), expected one, or the name of the one to read", name,
                   (long long)tables->count, tables->list);
    return pess__fail_with_remedy(error, status, "table", tables->first);
}

pess_status pess__sql_needs_path(const pess__stream *stream, const char *what, pess_error *error) {
    if (pess__infile_is_plain(stream->file)) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "%s: found %s that is not a plain file, expected the path of one: save it first",
                      pess__infile_name(stream->file), what);
}

pess_status pess__sql_not_select(const char *name, const char *query, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: found '%.60s', expected a query that is one SELECT", name, query);
}
