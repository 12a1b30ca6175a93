#include "deep/tensorboard.h"

#include "core/memory.h"
#include "core/protobuf.h"
#include "deep/generations.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RECORD_SIZE = 512, NAME_SIZE = 4096 };

/* Fields of the messages Event, Summary, Summary.Value and SessionLog. */
enum { WALL_TIME = 1, STEP = 2, FILE_VERSION = 3, SUMMARY = 5, SESSION_LOG = 7 };
enum { SUMMARY_VALUE = 1, TAG = 1, SIMPLE_VALUE = 2, STATUS = 1, START = 1 };

struct pess__tensorboard {
    FILE *file;
    char path[NAME_SIZE];
    bool made, started; /* the directory is this one's; the file says from where */
    int error;          /* errno of the first failure */
};

/* ---- records */

/* Castagnoli's polynomial, reflected. */
uint32_t pess__crc32c(const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    uint32_t crc = 0xffffffffU;
    for (size_t i = 0; i < length; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (0x82f63b78U & (0U - (crc & 1)));
    }
    return ~crc;
}

static uint32_t masked(const void *bytes, size_t length) {
    const uint32_t crc = pess__crc32c(bytes, length);
    return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

/* Frames an event and frees it. 0: it does not fit, or there was no memory for it. */
static size_t frame(pess__proto *event, uint8_t *out) {
    const uint64_t length = event->used;
    const size_t whole = (size_t)length + 16;
    if (!event->failed && whole <= RECORD_SIZE) {
        const uint32_t of_length = masked(&length, sizeof length), of_event = masked(event->bytes, event->used);
        memcpy(out, &length, 8);
        memcpy(out + 8, &of_length, 4);
        memcpy(out + 12, event->bytes, event->used);
        memcpy(out + 12 + event->used, &of_event, 4);
    }
    const bool fits = !event->failed && whole <= RECORD_SIZE;
    pess__proto_free(event);
    return fits ? whole : 0;
}

static pess__proto event_at(double time, int64_t step) {
    pess__proto event = {0};
    pess__proto_double(&event, WALL_TIME, time);
    if (step != 0) pess__proto_count(&event, STEP, (uint64_t)step);
    return event;
}

size_t pess__tensorboard_version(double time, uint8_t *out) {
    pess__proto event = event_at(time, 0);
    pess__proto_text(&event, FILE_VERSION, "brain.Event:2");
    return frame(&event, out);
}

size_t pess__tensorboard_point(double time, int64_t step, const char *tag, float value, uint8_t *out) {
    pess__proto event = event_at(time, step), summary = {0}, point = {0};
    pess__proto_text(&point, TAG, tag);
    pess__proto_float(&point, SIMPLE_VALUE, value);
    pess__proto_message(&summary, SUMMARY_VALUE, &point);
    pess__proto_message(&event, SUMMARY, &summary);
    return frame(&event, out);
}

static size_t session_start(double time, int64_t step, uint8_t *out) {
    pess__proto event = event_at(time, step), session = {0};
    pess__proto_count(&session, STATUS, START);
    pess__proto_message(&event, SESSION_LOG, &session);
    return frame(&event, out);
}

/* ---- files */

static double wall_clock(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void append(pess__tensorboard *board, const uint8_t *record, size_t length) {
    if (board->error != 0) return;
    if (length == 0)
        board->error = ENOMEM;
    else if (fwrite(record, 1, length, board->file) != length)
        board->error = errno;
}

/* A name that no other run of the program has: TensorBoard looks for "tfevents" in it and goes by the order of names,
 * in which of two runs in the same second that with the larger number comes later. */
static pess_status create_file(pess__tensorboard *board, const char *directory, pess_error *error) {
    char host[64] = "host";
    (void)gethostname(host, sizeof host - 1);
    for (char *c = host; *c != '\0'; c++)
        if (*c == '/') *c = '-';
    for (int attempt = 0; attempt < 1000 && board->file == NULL; attempt++) {
        const int length = snprintf(board->path, sizeof board->path, "%s/events.out.tfevents.%010lld.%s.%07ld.%03d",
                                    directory, (long long)time(NULL), host, (long)getpid(), attempt);
        if (length < 0 || (size_t)length >= sizeof board->path)
            return pess__fail(error, PESS_ARGUMENT, "%.80s…: the name of the directory is too long", directory);
        board->file = fopen(board->path, "wbx");
        if (board->file == NULL && errno != EEXIST) break;
    }
    if (board->file != NULL) return PESS_OK;
    return pess__fail(error, errno == ENOMEM ? PESS_MEMORY : PESS_IO, "%s: %s", board->path, strerror(errno));
}

pess_status pess__tensorboard_open(const char *directory, pess__tensorboard **out, pess_error *error) {
    const bool made = access(directory, F_OK) != 0;
    PESS_TRY(pess__make_directory(directory, error));
    PESS_TRY(pess__allocate(out, 1, sizeof **out, "an event file", error));
    (*out)->made = made;
    const pess_status status = create_file(*out, directory, error);
    if (status == PESS_OK) return PESS_OK;
    pess__tensorboard_close(*out);
    *out = NULL;
    return status;
}

pess_status pess__tensorboard_start(pess__tensorboard *board, int64_t first, pess_error *error) {
    uint8_t record[RECORD_SIZE];
    if (board == NULL) return PESS_OK;
    board->started = true;
    append(board, record, pess__tensorboard_version(wall_clock(), record));
    append(board, record, session_start(wall_clock(), first, record));
    return pess__tensorboard_flush(board, error);
}

void pess__tensorboard_scalar(pess__tensorboard *board, const char *tag, int64_t step, double value) {
    uint8_t record[RECORD_SIZE];
    if (board == NULL || !isfinite(value)) return;
    append(board, record, pess__tensorboard_point(wall_clock(), step, tag, (float)value, record));
}

pess_status pess__tensorboard_flush(pess__tensorboard *board, pess_error *error) {
    if (board == NULL) return PESS_OK;
    if (board->error == 0 && fflush(board->file) != 0) board->error = errno;
    return board->error == 0 ? PESS_OK : pess__fail(error, PESS_IO, "%s: %s", board->path, strerror(board->error));
}

void pess__tensorboard_close(pess__tensorboard *board) {
    if (board == NULL) return;
    if (board->file != NULL) (void)fclose(board->file);
    if (board->file != NULL && !board->started) {
        (void)unlink(board->path);
        *strrchr(board->path, '/') = '\0';
        if (board->made) (void)rmdir(board->path);
    }
    free(board);
}
