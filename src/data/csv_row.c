#include "data/csv_row.h"

#include "data/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pess__csv_set_problem(pess__csv_problem *problem, int64_t line, int64_t column, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    problem->status = PESS_INPUT;
    problem->line = line;
    problem->column = column;
    problem->remedy = NULL;
    (void)vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
}

void pess__csv_set_remedy(pess__csv_problem *problem, const char *remedy, const char *value) {
    problem->remedy = remedy;
    (void)snprintf(problem->value, sizeof problem->value, "%s", value);
}

pess_status pess__csv_report(const char *name, const pess__csv_problem *problem, pess_error *error) {
    const pess_status status = pess__fail(error, problem->status, "%.400s:%lld:%lld: %s", name,
                                          (long long)problem->line, (long long)problem->column, problem->text);
    return problem->remedy != NULL ? pess__fail_with_remedy(error, status, problem->remedy, problem->value) : status;
}

const char *pess__shown(const char *text, size_t length, char buffer[PESS__SHOWN_SIZE]) {
    if (length == 0) return memcpy(buffer, "nothing", sizeof "nothing");
    const size_t most = PESS__SHOWN_SIZE - 8;
    const size_t part = length <= most ? length : most - 3;
    const bool readable = pess__names_valid(text, part);
    char *to = buffer;
    *to++ = '\'';
    for (size_t i = 0; i < part; i++) {
        const unsigned char c = (unsigned char)text[i];
        *to++ = c < 0x20 || c == 0x7f || (c >= 0x80 && !readable) ? '?' : (char)c;
    }
    if (part < length) to = (char *)memcpy(to, "...", 3) + 3;
    *to++ = '\'';
    *to = '\0';
    return buffer;
}

typedef struct scan {
    pess__csv_cursor *cursor;
    char *row; /* where the current line begins, for column numbers */
    pess__csv_problem *problem;
} scan;

static int64_t column_of(const scan *s, const char *at) { return at - s->row + 1; }

/* A quoted field; `at` stands behind the opening quote. Returns where to go on, NULL after a problem. */
static char *quoted_field(scan *s, char *at, pess__csv_field *field) {
    char *const end = s->cursor->end, *to = at;
    field->text = at;
    for (; at < end; at++) {
        if (*at == '"') {
            if (at + 1 == end || at[1] != '"') {
                field->length = (size_t)(to - field->text);
                return at + 1;
            }
            at++;
        } else if (*at == '\n') {
            s->cursor->line++;
            s->row = at + 1;
        } else if (*at == '\0') {
            pess__csv_set_problem(s->problem, s->cursor->line, column_of(s, at), "found a NUL byte, expected text");
            return NULL;
        }
        *to++ = *at;
    }
    pess__csv_set_problem(s->problem, field->line, field->column,
                          "found a quoted field that never ends, expected a closing quote (\")");
    return NULL;
}

static bool is_blank(const scan *s, char c) { return (c == ' ' || c == '\t') && c != s->cursor->separator; }

static char *plain_field(scan *s, char *at, pess__csv_field *field) {
    char *const end = s->cursor->end;
    const char separator = s->cursor->separator;
    field->text = at;
    while (at < end && *at != separator && *at != '\n' && *at != '\r' && *at != '"' && *at != '\0') at++;
    char *stop = at;
    while (stop > field->text && (stop[-1] == ' ' || stop[-1] == '\t')) stop--;
    field->length = (size_t)(stop - field->text);
    return at;
}

/* One field and the blanks around it; returns the place of the separator behind it. */
static char *one_field(scan *s, char *at, pess__csv_field *field) {
    char *const end = s->cursor->end;
    while (at < end && is_blank(s, *at)) at++;
    field->line = s->cursor->line;
    field->column = column_of(s, at);
    if (at == end || *at != '"') return plain_field(s, at, field);
    at = quoted_field(s, at + 1, field);
    while (at != NULL && at < end && is_blank(s, *at)) at++;
    return at;
}

/* Behind a field: 1 another follows, 0 the row is over, -1 a problem. */
static int after_field(scan *s, char **at) {
    char *const end = s->cursor->end;
    if (*at == end) return 0;
    const char c = **at;
    if (c == s->cursor->separator) {
        ++*at;
        return 1;
    }
    if (c == '\r' && *at + 1 < end && (*at)[1] == '\n') ++*at;
    if (**at == '\n') {
        ++*at;
        s->cursor->line++;
        return 0;
    }
    const int64_t column = column_of(s, *at);
    if (c == '\0')
        pess__csv_set_problem(s->problem, s->cursor->line, column, "found a NUL byte, expected text");
    else if (c == '\r' && *at + 1 == end)
        return ++*at, 0;
    else if (c == '\r')
        pess__csv_set_problem(s->problem, s->cursor->line, column,
                              "found a carriage return alone, expected lines that end in LF or CRLF");
    else
        pess__csv_set_problem(
            s->problem, s->cursor->line, column,
            "found %s, expected a separator or the end of the line; a field with quotes is quoted as a "
            "whole and its own quotes are doubled",
            c == '"' ? "a quote inside a field" : "text behind a closing quote");
    return -1;
}

pess__csv_result pess__csv_next(pess__csv_cursor *cursor, pess__csv_field *fields, int64_t capacity, int64_t *count,
                                pess__csv_problem *problem) {
    while (cursor->at < cursor->end) {
        scan s = {cursor, cursor->at, problem};
        char *at = cursor->at;
        *count = 0;
        bool blank = true;
        for (int more = 1; more > 0;) {
            pess__csv_field field = {0};
            const char *before = at;
            at = one_field(&s, at, &field);
            if (at == NULL) return PESS__CSV_BAD;
            if (field.length > 0 || (at > before && at[-1] == '"')) blank = false;
            if (*count < capacity) fields[*count] = field;
            ++*count;
            more = after_field(&s, &at);
            if (more < 0) return PESS__CSV_BAD;
        }
        cursor->at = at;
        if (!blank || *count > 1) return PESS__CSV_ROW;
    }
    return PESS__CSV_END;
}
