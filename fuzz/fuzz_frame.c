/* Any bytes as the values of a table, built value by value, and the table as a log: columns widen in every order, some
 * values are missing, and what comes out is a log or a refusal. */
#include "data/frame_build.h"
#include "data/frame_log.h"
#include "fuzz_log.h"

#include <string.h>

typedef struct bytes_source {
    pess__frames frames;
    pess__frame_builder *builder;
    const uint8_t *at, *end;
    bool over;
} bytes_source;

static uint8_t take(bytes_source *s) { return s->at < s->end ? *s->at++ : 0; }

/* One value: its kind and a byte or two. */
static void add_value(bytes_source *s, int64_t column) {
    const uint8_t kind = take(s), value = take(s);
    const char text[3] = {(char)('a' + value % 26), (char)('0' + value % 10), '\0'};
    switch (kind % 8) {
        case 0: break; /* missing */
        case 1: (void)pess__frame_builder_truth(s->builder, column, value % 2 == 1, NULL); break;
        case 2:
        case 3: (void)pess__frame_builder_integer(s->builder, column, value - 2, NULL); break;
        case 4: (void)pess__frame_builder_number(s->builder, column, value / 4.0, NULL); break;
        case 5:
        case 6: (void)pess__frame_builder_text(s->builder, column, text + value % 2, 2 - value % 2u, NULL); break;
        default:
            if (value == 255) pess__frame_builder_other(s->builder, column, "a list");
            break;
    }
}

static pess_status next_frame(pess__frames *frames, pess__frame *frame, pess_error *error) {
    bytes_source *s = (bytes_source *)frames;
    static const char *const names[] = {"state",     "action",  "reward", "next_state",  "terminal",
                                        "truncated", "episode", "step",   "probability", "count"};
    if (s->over) {
        frame->rows = 0;
        return PESS_OK;
    }
    s->over = true;
    const int columns = 4 + take(s) % 7;
    for (int i = 0; i < columns; i++) {
        int64_t column = -1;
        PESS_TRY(pess__frame_builder_column(s->builder, names[i], strlen(names[i]), &column, error));
    }
    while (s->at < s->end) {
        for (int i = 0; i < columns; i++) add_value(s, i);
        pess__frame_builder_end_row(s->builder);
    }
    return pess__frame_builder_finish(s->builder, frame, error);
}

static void close_source(pess__frames *frames) { pess__frame_builder_destroy(((bytes_source *)frames)->builder); }

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const pess_read_options options = {.size = sizeof options, .threads = 1};
    bytes_source source = {.frames = {.name = "input", .row = "row", .next = next_frame, .close = close_source},
                           .at = bytes,
                           .end = bytes + size};
    pess__stream *stream = NULL;
    pess_error error = {0};
    if (pess__frame_builder_create(&source.builder, NULL) != PESS_OK) return 0;
    const pess_status status = pess__stream_open_frames(&source.frames, &options, &stream, &error);
    if (status == PESS_OK) fuzz_stream(stream);
    if (status != PESS_OK && error.message[0] == '\0') abort();
    return 0;
}
