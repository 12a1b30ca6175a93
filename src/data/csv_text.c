#include "data/csv_text.h"

#include "core/memory.h"
#include "core/text.h"
#include "data/json_line.h"
#include "data/names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FIRST_BUFFER = 1 << 16 };

/* The buffer begins small, as most files are, and grows to its full size when the first text does not fit. */
pess_status pess__csv_text_open(pess__csv_text *text, pess__infile *file, int64_t pieces, bool at_once,
                                pess_error *error) {
    *text = (pess__csv_text){.file = file, .line = 1, .pieces = pieces, .at_once = at_once};
    text->full = (size_t)pieces * PESS__PIECE_BYTES + 2 * (size_t)PESS__PIECE_LONGEST_ROW;
    text->capacity = at_once ? text->full : FIRST_BUFFER;
    pess_status status = pess__allocate(&text->buffer, (int64_t)text->capacity, 1, "text", error);
    if (status == PESS_OK) status = pess__allocate(&text->piece, pieces, sizeof *text->piece, "text", error);
    if (status != PESS_OK) pess__csv_text_close(text);
    return status;
}

pess_status pess__csv_text_rewind(pess__csv_text *text, pess_error *error) {
    text->held = text->handed = 0;
    text->at_end = false;
    text->line = 1;
    return pess__infile_rewind(text->file, error);
}

void pess__csv_text_close(pess__csv_text *text) {
    pess__infile_close(text->file);
    free(text->buffer);
    free(text->piece);
    pess_names_destroy(text->members);
    *text = (pess__csv_text){0};
}

/* Reads until the buffer is full or the file ends; with at_once, until a line has come. One byte is kept for a missing
 * last line feed. */
static pess_status fill(pess__csv_text *text, pess_error *error) {
    if (text->at_end) return PESS_OK;
    if (text->filled && text->capacity < text->full) {
        int64_t capacity = (int64_t)text->capacity;
        PESS_TRY(pess__grow(&text->buffer, &capacity, (int64_t)text->full, 1, "text", error));
        text->capacity = (size_t)capacity;
    }
    const size_t room = text->capacity - 1 - text->held;
    size_t got = 0;
    if (room == 0) return PESS_OK;
    text->filled = true;
    char *const to = text->buffer + text->held;
    if (text->at_once) {
        do {
            size_t part = 0;
            PESS_TRY(pess__infile_read_some(text->file, to + got, room - got, &part, error));
            text->at_end = part == 0;
            got += part;
        } while (!text->at_end && got < room && memchr(to, '\n', got) == NULL);
    } else {
        PESS_TRY(pess__infile_read(text->file, to, room, &got, error));
        text->at_end = got < room;
    }
    text->held += got;
    if (text->at_end && text->held > 0 && text->buffer[text->held - 1] != '\n') text->buffer[text->held++] = '\n';
    return PESS_OK;
}

static void drop(pess__csv_text *text, size_t bytes) {
    text->held -= bytes;
    memmove(text->buffer, text->buffer + bytes, text->held);
}

/* The first row end at or behind `from`; NULL: none. A line feed inside quotes ends no row; *inside says whether `from`
 * is inside them, and is kept up to date. */
static char *row_end(char *from, char *end, bool has_quotes, bool *inside) {
    if (!has_quotes) return from < end ? memchr(from, '\n', (size_t)(end - from)) : NULL;
    for (char *c = from; c < end; c++) {
        if (*c == '"') *inside = !*inside;
        if (*c == '\n' && !*inside) return c;
    }
    return NULL;
}

/* The last row end of [from, end); NULL: none. */
static char *last_row_end(char *from, char *end, bool has_quotes) {
    if (!has_quotes) return memrchr(from, '\n', (size_t)(end - from));
    char *last = NULL;
    bool inside = false;
    for (char *c = from; (c = row_end(c, end, true, &inside)) != NULL; c++) last = c;
    return last;
}

static bool odd_quotes(const char *from, const char *end) {
    unsigned count = 0;
    for (const char *c = from; c < end; c++) count ^= *c == '"';
    return count != 0;
}

static int64_t cut(pess__csv_text *text) {
    char *begin = text->buffer, *const end = text->buffer + text->held;
    const bool has_quotes = text->members == NULL && memchr(text->buffer, '"', text->held) != NULL;
    int64_t count = 0;
    while (count < text->pieces && begin < end) {
        char *target = end - begin > PESS__PIECE_BYTES ? begin + PESS__PIECE_BYTES - 1 : end - 1;
        bool inside = has_quotes && odd_quotes(begin, target);
        char *stop = row_end(target, end, has_quotes, &inside);
        if (stop == NULL) stop = text->at_end ? end - 1 : last_row_end(begin, end, has_quotes);
        if (stop == NULL) break;
        text->piece[count++] = (pess__csv_piece){begin, stop + 1};
        begin = stop + 1;
    }
    text->handed = (size_t)(begin - text->buffer);
    return count;
}

/* The separator that occurs most often outside quotes in the first line; a comma where none does. */
static char look_for_separator(const char *at, const char *end) {
    static const char candidates[] = {',', ';', '\t', '|'};
    int64_t count[sizeof candidates] = {0};
    bool inside = false;
    while (at < end && *at == '\n') at++;
    for (; at < end && (*at != '\n' || inside); at++) {
        inside ^= *at == '"';
        for (size_t i = 0; i < sizeof candidates && !inside; i++) count[i] += *at == candidates[i];
    }
    size_t best = 0;
    for (size_t i = 1; i < sizeof candidates; i++)
        if (count[i] > count[best]) best = i;
    return candidates[best];
}

/* "sep=;" in a line of its own, which spreadsheets write and read: it names the separator, and the header follows. */
static pess_status separator_line(pess__csv_text *text, pess__csv_cursor *cursor, pess_error *error) {
    static const char says[] = "sep=";
    const size_t length = sizeof says - 1, at = (size_t)(cursor->at - text->buffer);
    const char *line = cursor->at;
    if (cursor->end - line < (ptrdiff_t)length + 2 || strncasecmp(line, says, length) != 0) return PESS_OK;
    const char separator = line[length];
    const size_t behind = line[length + 1] == '\r' ? length + 2 : length + 1;
    if (separator == '\0' || strchr(",;\t|", separator) == NULL || line + behind >= cursor->end || line[behind] != '\n')
        return PESS_OK;
    if (text->separator == '\0') text->separator = separator;
    bool inside = false;
    if (row_end(text->buffer + at + behind + 1, text->buffer + text->held, true, &inside) == NULL)
        PESS_TRY(fill(text, error));
    *cursor = (pess__csv_cursor){text->buffer + at + behind + 1, text->buffer + text->held, 2, text->separator};
    return PESS_OK;
}

/* Files that people take for CSV, by their first bytes. */
static pess_status check_head(const pess__csv_text *text, pess_error *error) {
    static const struct {
        const char *bytes;
        size_t length;
        const char *what, *remedy;
    } others[] = {{"\xFF\xFE", 2, "text in UTF-16", "utf8"},
                  {"\xFE\xFF", 2, "text in UTF-16", "utf8"},
                  {"\xD0\xCF\x11\xE0", 4, "an Excel workbook", "export"}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (text->held < others[i].length || memcmp(text->buffer, others[i].bytes, others[i].length) != 0) continue;
        const pess_status status = pess__fail(error, PESS_INPUT, "%s:1:1: found %s, expected CSV text in UTF-8",
                                              pess__infile_name(text->file), others[i].what);
        return pess__fail_with_remedy(error, status, others[i].remedy, "csv");
    }
    return PESS_OK;
}

pess_status pess__csv_text_header(pess__csv_text *text, pess__csv_field *fields, int64_t *count, pess_error *error) {
    const char *name = pess__infile_name(text->file);
    PESS_TRY(fill(text, error));
    bool inside = false;
    if (row_end(text->buffer, text->buffer + text->held, true, &inside) == NULL) PESS_TRY(fill(text, error));
    PESS_TRY(check_head(text, error));
    pess__csv_cursor cursor = {text->buffer, text->buffer + text->held, 1, text->separator};
    if (text->held >= 3 && memcmp(text->buffer, "\xEF\xBB\xBF", 3) == 0) cursor.at += 3;
    PESS_TRY(separator_line(text, &cursor, error));
    if (text->separator == '\0') cursor.separator = text->separator = look_for_separator(cursor.at, cursor.end);
    pess__csv_problem problem = {0};
    const pess__csv_result result = pess__csv_next(&cursor, fields, PESS__TEXT_COLUMNS, count, &problem);
    if (result == PESS__CSV_BAD) return pess__csv_report(name, &problem, error);
    if (result == PESS__CSV_END)
        return pess__fail(error, PESS_INPUT, "%s:1:1: found an empty file, expected a line with column names", name);
    if (*count > PESS__TEXT_COLUMNS)
        return pess__fail(error, PESS_INPUT, "%s:1:1: found a header of %lld columns or more, expected at most %d",
                          name, (long long)*count, PESS__TEXT_COLUMNS);
    if (cursor.at == cursor.end && !text->at_end)
        return pess__fail(error, PESS_INPUT, "%s:1:1: found no header that ends within %lld bytes", name,
                          (long long)text->held);
    text->line = cursor.line;
    text->handed = (size_t)(cursor.at - text->buffer);
    return PESS_OK;
}

/* The first line that is not blank, and where it begins; the text is filled as far as that takes. */
static pess_status first_object(pess__csv_text *text, pess__json_line *line, pess_error *error) {
    size_t begin = 0;
    *line = (pess__json_line){.file = pess__infile_name(text->file), .number = 1};
    for (;;) {
        const char *from = text->buffer + begin, *stop = memchr(from, '\n', text->held - begin);
        if (stop == NULL) {
            const size_t before = text->held;
            PESS_TRY(fill(text, error));
            if (text->held > before) continue;
            return pess__fail(error, PESS_INPUT,
                              "%s:%lld:1: found no line that ends within %d bytes, expected one object per line",
                              line->file, (long long)line->number, PESS__PIECE_LONGEST_ROW);
        }
        line->text = from;
        line->length = (size_t)(stop - from);
        pess__json_line_skip_mark(line);
        if (!pess__json_line_is_blank(line)) break;
        begin += (size_t)(stop + 1 - from);
        line->number++;
    }
    text->handed = (size_t)(line->text - text->buffer);
    text->line = line->number;
    return PESS_OK;
}

pess_status pess__csv_text_members(pess__csv_text *text, pess__csv_field *fields, int64_t *count, pess_error *error) {
    pess__json_line line;
    pess__json *json = NULL;
    PESS_TRY(first_object(text, &line, error));
    PESS_TRY(pess__names_create(&text->members, error));
    const pess_status status = pess__json_line_names(&line, &json, text->members, error);
    pess__json_destroy(json);
    PESS_TRY(status);
    *count = pess_names_count(text->members);
    if (*count > PESS__TEXT_COLUMNS)
        return pess__fail(error, PESS_INPUT, "%s:%lld:1: found %lld members, expected at most %d", line.file,
                          (long long)line.number, (long long)*count, PESS__TEXT_COLUMNS);
    for (int64_t i = 0; i < *count; i++) {
        char *name = (char *)(uintptr_t)pess_names_get(text->members, i);
        fields[i] = (pess__csv_field){name, strlen(name), line.number, 1};
    }
    return PESS_OK;
}

/* Whether a field of numbers is written with a comma (1), with a point (0), or does not tell (-1). */
static int decimal_of(const pess__csv_field *field) {
    double number = 0;
    char text[32];
    const char *comma = field->length < sizeof text ? memchr(field->text, ',', field->length) : NULL;
    if (comma == NULL) return memchr(field->text, '.', field->length) != NULL ? 0 : -1;
    memcpy(text, field->text, field->length);
    text[comma - field->text] = '.';
    return pess__parse_double(text, text + field->length, &number) ? 1 : -1;
}

pess_status pess__csv_text_decimal(const pess__csv_text *text, int64_t columns,
                                   bool (*is_number)(const void *user, int64_t column), const void *user, bool *comma,
                                   pess_error *error) {
    enum { SAMPLE = 1 << 16 };
    const size_t held = text->held - text->handed, size = held < SAMPLE ? held : SAMPLE;
    char *copy = NULL;
    pess__csv_field *fields = NULL;
    pess__csv_problem problem = {0};
    int told = -1;
    pess_status status = pess__allocate(&copy, (int64_t)size, 1, "a look at the log", error);
    if (status == PESS_OK) status = pess__allocate(&fields, columns, sizeof *fields, "a look at the log", error);
    if (status == PESS_OK) {
        memcpy(copy, text->buffer + text->handed, size);
        pess__csv_cursor cursor = {copy, copy + size, 1, text->separator};
        int64_t count = 0;
        while (told < 0 && pess__csv_next(&cursor, fields, columns, &count, &problem) == PESS__CSV_ROW)
            for (int64_t i = 0; i < columns && told < 0 && count == columns; i++)
                if (is_number(user, i)) told = decimal_of(&fields[i]);
    }
    *comma = told == 1;
    free(copy);
    free(fields);
    return status;
}

pess_status pess__csv_text_next(pess__csv_text *text, int64_t *count, pess_error *error) {
    drop(text, text->handed);
    text->handed = 0;
    if (!text->at_once) PESS_TRY(fill(text, error));
    *count = cut(text);
    while (*count == 0 && !(text->at_end && text->held == 0)) {
        const size_t before = text->held;
        PESS_TRY(fill(text, error));
        *count = cut(text);
        if (*count == 0 && text->held == before && before > 0)
            return pess__fail(error, PESS_INPUT,
                              "%s:%lld:1: found a row of more than %d bytes, expected a shorter one; is a quote never "
                              "closed?",
                              pess__infile_name(text->file), (long long)text->line, PESS__PIECE_LONGEST_ROW);
    }
    return PESS_OK;
}
