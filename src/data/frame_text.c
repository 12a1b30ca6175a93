#include "data/frame_text.h"

#include "core/memory.h"
#include "data/format.h"
#include "data/frame.h"
#include "data/frame_log.h"

#include <stdlib.h>
#include <string.h>

typedef struct frame_text {
    pess__stream *stream; /* what the frames need */
    pess__frames *frames;
    pess__frame frame;
    int64_t row; /* of the frame, the next one; -1: the header */
    char *line;  /* [capacity] */
    int64_t capacity;
    size_t length, at; /* of the line, and how much of it was read */
    bool over;
} frame_text;

static pess_status put(frame_text *t, const char *text, size_t length, pess_error *error) {
    PESS_TRY(pess__grow(&t->line, &t->capacity, (int64_t)(t->length + length), 1, "a row", error));
    memcpy(t->line + t->length, text, length);
    t->length += length;
    return PESS_OK;
}

/* A field, in quotes where it needs them. */
static pess_status put_field(frame_text *t, const char *text, pess_error *error) {
    const size_t length = strlen(text);
    const bool blank =
        length > 0 && (text[0] == ' ' || text[0] == '\t' || text[length - 1] == ' ' || text[length - 1] == '\t');
    if (!blank && strcspn(text, ",;|\t\"\r\n") == length) return put(t, text, length, error);
    PESS_TRY(put(t, "\"", 1, error));
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"') PESS_TRY(put(t, "\"", 1, error));
        PESS_TRY(put(t, c, 1, error));
    }
    return put(t, "\"", 1, error);
}

/* The next line, or none at the end. */
static pess_status write_line(frame_text *t, pess_error *error) {
    t->length = t->at = 0;
    if (t->row == t->frame.rows && !t->over) {
        PESS_TRY(t->frames->next(t->frames, &t->frame, error));
        t->row = 0;
        t->over = t->frame.rows == 0;
    }
    if (t->over) return PESS_OK;
    for (int64_t i = 0; i < t->frame.columns; i++) {
        char buffer[PESS__FRAME_VALUE_SIZE];
        const pess__frame_column *column = &t->frame.column[i];
        if (i > 0) PESS_TRY(put(t, ",", 1, error));
        PESS_TRY(put_field(t, t->row < 0 ? column->name : pess__frame_value(column, t->row, buffer), error));
    }
    t->row++;
    return put(t, "\n", 1, error);
}

static pess_status read_text(void *user, void *buffer, size_t size, size_t *got, pess_error *error) {
    frame_text *t = user;
    for (*got = 0; *got < size;) {
        if (t->at == t->length) PESS_TRY(write_line(t, error));
        if (t->length == 0) return PESS_OK;
        const size_t left = t->length - t->at, now = left < size - *got ? left : size - *got;
        memcpy((char *)buffer + *got, t->line + t->at, now);
        t->at += now;
        *got += now;
    }
    return PESS_OK;
}

static void close_text(void *user) {
    frame_text *t = user;
    pess__frames_close(t->frames);
    pess__stream_close(t->stream);
    free(t->line);
    free(t);
}

pess_status pess__open_table_text(const char *path, const pess_read_options *read, pess__infile **out, bool *json_lines,
                                  pess_error *error) {
    pess__stream *stream = NULL;
    pess__frames *frames = NULL;
    PESS_TRY(pess__stream_open_table(path, read, &stream, &frames, error));
    if (json_lines != NULL) *json_lines = strcmp(stream->format->info.name, "jsonl") == 0;
    if (frames == NULL || (json_lines != NULL && *json_lines)) {
        pess__frames_close(frames);
        *out = stream->file;
        stream->file = NULL;
        pess__stream_close(stream);
        return PESS_OK;
    }
    frame_text *t = NULL;
    pess_status status = pess__allocate(&t, 1, sizeof *t, "a table", error);
    if (status != PESS_OK) {
        pess__frames_close(frames);
        pess__stream_close(stream);
        return status;
    }
    *t = (frame_text){.stream = stream, .frames = frames, .row = -1};
    status = frames->next(frames, &t->frame, error);
    if (status == PESS_OK)
        return pess__infile_open_maker(frames->name, &(pess__infile_maker){read_text, close_text, t}, out, error);
    close_text(t);
    return status;
}
