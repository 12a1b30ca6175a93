/* JSON lines: one object per line, whose members are the columns; objects within it become columns `outer.inner`. */
#include "core/memory.h"
#include "core/text.h"
#include "data/format.h"
#include "data/frame_build.h"
#include "data/frame_log.h"
#include "data/json_line.h"
#include "data/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BUFFER = 1 << 18, LONGEST_LINE = 1 << 24 };

typedef struct json_lines {
    pess__frames frames;
    pess__infile *file;
    pess__frame_builder *builder;
    pess__json *json;
    char *buffer;
    int64_t capacity;
    pess__json_line line; /* the one that is being read */
    bool over;
} json_lines;

static bool matches(const uint8_t *head, size_t length) {
    size_t i = length >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (i < length && (head[i] == ' ' || head[i] == '\t' || head[i] == '\r' || head[i] == '\n')) i++;
    return i < length && (head[i] == '{' || head[i] == '[');
}

static pess_status add_value(json_lines *r, int64_t column, const pess__json_value *value, const char *name,
                             pess_error *error) {
    int64_t integer = 0;
    switch (value->kind) {
        case PESS__JSON_BOOL: return pess__frame_builder_truth(r->builder, column, value->truth, error);
        case PESS__JSON_NUMBER:
            if (pess__parse_int64(value->text, value->text + value->length, &integer))
                return pess__frame_builder_integer(r->builder, column, integer, error);
            return pess__frame_builder_number(r->builder, column, pess__json_value_number(value), error);
        case PESS__JSON_TEXT:
            if (!pess__names_valid(value->text, value->length))
                return pess__json_line_fail(&r->line, name, "found bytes that are not UTF-8, expected text in UTF-8",
                                            error);
            return pess__frame_builder_text(r->builder, column, value->text, value->length, error);
        case PESS__JSON_ARRAY: pess__frame_builder_other(r->builder, column, "a list"); return PESS_OK;
        case PESS__JSON_NULL:
        case PESS__JSON_OBJECT: break;
    }
    return PESS_OK;
}

static pess_status add_member(void *user, const char *name, size_t length, const pess__json_value *member,
                              pess_error *error) {
    json_lines *r = user;
    int64_t column = -1;
    PESS_TRY(pess__frame_builder_column(r->builder, name, length, &column, error));
    if (column < 0)
        return pess__json_line_fail(&r->line, name, "found more than 4096 different names, expected columns", error);
    if (pess__frame_builder_has(r->builder, column))
        return pess__json_line_fail(&r->line, name, "found it twice in one line, expected it once", error);
    return add_value(r, column, member, name, error);
}

static pess_status add_line(json_lines *r, pess_error *error) {
    const pess__json_value *object = NULL;
    pess__json_line_skip_mark(&r->line);
    if (pess__json_line_is_blank(&r->line)) return PESS_OK;
    PESS_TRY(pess__json_line_parse(&r->line, &r->json, &object, error));
    PESS_TRY(pess__json_line_visit(&r->line, object, add_member, r, error));
    pess__frame_builder_end_row(r->builder);
    return PESS_OK;
}

/* Whole lines of what is in the buffer; *used is how much that is. */
static pess_status add_lines(json_lines *r, size_t held, bool at_end, size_t *used, pess_error *error) {
    const char *at = r->buffer, *const end = r->buffer + held;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL && !at_end) break;
        if (stop == NULL) stop = end;
        r->line.text = at;
        r->line.length = (size_t)(stop - at);
        PESS_TRY(add_line(r, error));
        r->line.number++;
        at = stop + 1;
    }
    *used = at < end ? (size_t)(at - r->buffer) : held;
    return PESS_OK;
}

static pess_status read_all(json_lines *r, pess_error *error) {
    size_t held = 0, got = 1;
    PESS_TRY(pess__grow(&r->buffer, &r->capacity, FIRST_BUFFER, 1, "text of the log", error));
    for (r->line.number = 1; got > 0;) {
        if (held + 1 == (size_t)r->capacity) {
            if (r->capacity > LONGEST_LINE)
                return pess__fail(error, PESS_INPUT,
                                  "%s:%lld:1: found a line of more than %d bytes, expected a shorter one",
                                  r->frames.name, (long long)r->line.number, LONGEST_LINE);
            PESS_TRY(pess__grow(&r->buffer, &r->capacity, 2 * r->capacity, 1, "text of the log", error));
        }
        const size_t room = (size_t)r->capacity - 1 - held; /* one byte is kept for the zero behind the last line */
        PESS_TRY(pess__infile_read(r->file, r->buffer + held, room, &got, error));
        held += got;
        r->buffer[held] = '\0';
        size_t used = 0;
        PESS_TRY(add_lines(r, held, got < room, &used, error));
        held -= used;
        memmove(r->buffer, r->buffer + used, held);
        if (got < room) break;
    }
    return PESS_OK;
}

static pess_status next_frame(pess__frames *frames, pess__frame *frame, pess_error *error) {
    json_lines *r = (json_lines *)frames;
    if (r->over) {
        frame->rows = 0;
        return PESS_OK;
    }
    r->over = true;
    PESS_TRY(pess__frame_builder_create(&r->builder, error));
    PESS_TRY(read_all(r, error));
    PESS_TRY(pess__frame_builder_finish(r->builder, frame, error));
    frame->first = 1;
    if (frame->rows > 0) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s:1:1: found no rows, expected one object per line: {\"state\": …}",
                      frames->name);
}

static void close_lines(pess__frames *frames) {
    json_lines *r = (json_lines *)frames;
    pess__frame_builder_destroy(r->builder);
    pess__json_destroy(r->json);
    free(r->buffer);
    free(r);
}

static pess_status open_jsonl(pess__stream *stream, pess__frames **out, pess_error *error) {
    json_lines *r = NULL;
    PESS_TRY(pess__allocate(&r, 1, sizeof *r, "a log reader", error));
    r->file = stream->file;
    r->line.file = pess__infile_name(stream->file);
    r->frames =
        (pess__frames){.name = pess__infile_name(stream->file), .row = "row", .next = next_frame, .close = close_lines};
    *out = &r->frames;
    return PESS_OK;
}

const pess__format pess__format_jsonl = {
    .info = {.name = "jsonl",
             .extensions = ".jsonl .ndjson",
             .summary = "JSON lines: one object per line with members of the same names",
             .reads = true},
    .matches = matches,
    .frames = open_jsonl,
    .next = pess__frame_log_next,
    .close = pess__frame_log_close};
