/* HDF5 files as the parent sees them: messages of the child (hdf5.h) become frames of a log, or a dataset of
 * observations. Every size in a message is checked before it is used. */
#include "data/hdf5.h"

#include "core/memory.h"
#include "core/sandbox.h"
#include "core/settings.h"
#include "data/format.h"
#include "data/frame_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8 };

/* The conversation with the child. */
typedef struct talk {
    const char *name; /* of the file */
    pess__hdf5_file file;
    pess__sandbox sandbox;
    pess__hdf5_begin begin;
    size_t row_size;
    char *messages; /* [pess__hdf5_most_rows * row_size] the last ones */
    int64_t rows;   /* in it */
    bool over;
} talk;

size_t pess__hdf5_row_size(const pess__hdf5_begin *begin) {
    return sizeof(pess__hdf5_row) + (begin->shape.length > 0 ? 2 * (size_t)pess_observation_bytes(&begin->shape) : 0) +
           (size_t)begin->width * sizeof(float);
}

uint32_t pess__hdf5_most_rows(const pess__hdf5_begin *begin) {
    const size_t rows = PESS__HDF5_MOST_BYTES / pess__hdf5_row_size(begin);
    return rows < 1 ? 1 : rows < PESS__HDF5_MOST_ROWS ? (uint32_t)rows : PESS__HDF5_MOST_ROWS;
}

static bool is_sane(const pess__hdf5_begin *begin) {
    const pess_observation_shape *s = &begin->shape;
    const int64_t pixels = (int64_t)s->rows * s->cols;
    return s->kind <= PESS_OBSERVATION_FLOATS && s->length >= 0 && s->length <= PESS__HDF5_MOST_BYTES && s->rows >= 0 &&
           s->cols >= 0 && s->channels >= 0 && (pixels == 0 || s->length / pixels == s->channels) &&
           begin->actions >= 0 && begin->actions <= PESS_MAX_ACTIONS && begin->width >= 0 &&
           begin->width <= PESS__HDF5_MOST_BYTES && pess__hdf5_row_size(begin) <= PESS__HDF5_MOST_BYTES;
}

static void end_talk(talk *t) {
    char how[120];
    pess__sandbox_end(&t->sandbox, how, sizeof how);
    free(t->messages);
}

/* The child stopped before its end message: it crashed, or it wrote what it should not. */
static pess_status broken(talk *t, pess_error *error) {
    char how[120];
    pess__sandbox_end(&t->sandbox, how, sizeof how);
    return pess__fail(error, PESS_INPUT,
                      "%s: the reader of HDF5 files, a process of its own, %s; the file is damaged or "
                      "hostile and was not read",
                      t->name, how[0] != '\0' ? how : "ended too early");
}

static pess_status say_error(talk *t, uint32_t length, pess_error *error) {
    char text[PESS__HDF5_LONGEST_ERROR + 1] = "";
    if (length > PESS__HDF5_LONGEST_ERROR || !pess__sandbox_read(&t->sandbox, text, length)) return broken(t, error);
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e) *c = '?';
    return pess__fail(error, PESS_INPUT, "%s: %s", t->name, text);
}

static pess_status start_talk(talk *t, pess__infile *file, pess_error *error) {
    t->name = pess__infile_name(file);
    t->sandbox.child = -1;
    PESS_TRY(pess__hdf5_load(error));
    PESS_TRY(pess__infile_map(file, &t->file.bytes, &t->file.size, error));
    const pess__sandbox_limits limits = {
        .memory = INT64_C(6) << 30,
        .seconds = 20 + (int)(t->file.size / 10000000 < 3600 ? t->file.size / 10000000 : 3600)};
    PESS_TRY(pess__sandbox_start(&t->sandbox, pess__hdf5_child, &t->file, &limits, error));
    pess__hdf5_header header;
    if (!pess__sandbox_read(&t->sandbox, &header, sizeof header)) return broken(t, error);
    if (header.message == PESS__HDF5_ERROR) return say_error(t, header.count, error);
    if (header.message == PESS__HDF5_END)
        return pess__fail(error, PESS_INPUT, "%s: found no episodes, expected at least one", t->name);
    if (header.message != PESS__HDF5_BEGIN || !pess__sandbox_read(&t->sandbox, &t->begin, sizeof t->begin) ||
        !is_sane(&t->begin))
        return broken(t, error);
    t->begin.origin[sizeof t->begin.origin - 1] = '\0';
    t->row_size = pess__hdf5_row_size(&t->begin);
    return pess__allocate(&t->messages, pess__hdf5_most_rows(&t->begin), t->row_size, "rows", error);
}

/* The next rows; 0 at the end. */
static pess_status next_rows(talk *t, pess_error *error) {
    pess__hdf5_header header = {PESS__HDF5_END, 0};
    t->rows = 0;
    if (t->over) return PESS_OK;
    if (!pess__sandbox_read(&t->sandbox, &header, sizeof header)) return broken(t, error);
    if (header.message == PESS__HDF5_ERROR) return say_error(t, header.count, error);
    t->over = header.message == PESS__HDF5_END;
    if (t->over) return PESS_OK;
    if (header.message != PESS__HDF5_ROWS || header.count == 0 || header.count > pess__hdf5_most_rows(&t->begin) ||
        !pess__sandbox_read(&t->sandbox, t->messages, header.count * t->row_size))
        return broken(t, error);
    t->rows = header.count;
    return PESS_OK;
}

static pess__hdf5_row row_at(const talk *t, int64_t i) {
    pess__hdf5_row row;
    memcpy(&row, t->messages + (size_t)i * t->row_size, sizeof row);
    return row;
}

/* ------------------------------------------------------------------------------------------------ a log */

typedef struct hdf5_source {
    pess__frames frames;
    talk talk;
    int64_t rows; /* handed out */
    int64_t whole[5][PESS__HDF5_MOST_ROWS];
    double reward[PESS__HDF5_MOST_ROWS];
    uint8_t flag[2][PESS__HDF5_MOST_ROWS];
    pess__frame_column column[COLUMNS];
} hdf5_source;

static pess_status next_frame(pess__frames *frames, pess__frame *frame, pess_error *error) {
    hdf5_source *r = (hdf5_source *)frames;
    PESS_TRY(next_rows(&r->talk, error));
    for (int64_t i = 0; i < r->talk.rows; i++) {
        const pess__hdf5_row row = row_at(&r->talk, i);
        const int64_t whole[] = {row.episode, row.step, row.state, row.action, row.next_state};
        for (int k = 0; k < 5; k++) r->whole[k][i] = whole[k];
        r->reward[i] = row.reward;
        r->flag[0][i] = row.end == PESS_END_TERMINAL;
        r->flag[1][i] = row.end == PESS_END_CUTOFF;
    }
    *frame = (pess__frame){.rows = r->talk.rows, .first = r->rows + 1, .columns = COLUMNS, .column = r->column};
    r->rows += r->talk.rows;
    return PESS_OK;
}

static void close_source(pess__frames *frames) {
    hdf5_source *r = (hdf5_source *)frames;
    end_talk(&r->talk);
    free(r);
}

static void describe(hdf5_source *r) {
    static const char *const names[] = {"episode", "step", "state", "action", "next_state", "terminal", "truncated"};
    for (int i = 0; i < 5; i++)
        r->column[i] = (pess__frame_column){.name = names[i], .kind = PESS__FRAME_INTEGER, .values = r->whole[i]};
    for (int i = 0; i < 2; i++)
        r->column[5 + i] = (pess__frame_column){.name = names[5 + i], .kind = PESS__FRAME_TRUTH, .values = r->flag[i]};
    r->column[7] = (pess__frame_column){.name = "reward", .kind = PESS__FRAME_NUMBER, .values = r->reward};
}

static bool matches(const uint8_t *head, size_t length) {
    return length >= 8 && memcmp(head, PESS__HDF5_MAGIC, 8) == 0;
}

static pess_status open_hdf5(pess__stream *stream, pess__frames **out, pess_error *error) {
    hdf5_source *r = NULL;
    PESS_TRY(pess__allocate(&r, 1, sizeof *r, "a log reader", error));
    r->frames = (pess__frames){
        .name = pess__infile_name(stream->file), .row = "row", .next = next_frame, .close = close_source};
    describe(r);
    pess_status status = start_talk(&r->talk, stream->file, error);
    if (status == PESS_OK && r->talk.begin.shape.length > 0)
        status = pess__fail(
            error, PESS_INPUT,
            "%s: found observations of %lld %s, expected single states: it is a dataset of observations, "
            "which networks learn from",
            r->talk.name, (long long)r->talk.begin.shape.length, pess_observation_kind_name(r->talk.begin.shape.kind));
    if (status == PESS_OK && r->talk.begin.width > 0)
        status = pess__fail(
            error, PESS_INPUT,
            "%s: found actions that are vectors or have decimals (numbers in each: %lld), expected whole numbers",
            r->talk.name, (long long)r->talk.begin.width);
    if (status == PESS_OK)
        *out = &r->frames;
    else
        close_source(&r->frames);
    return status;
}

const pess__format pess__format_hdf5 = {.info = {.name = "hdf5",
                                                 .extensions = ".h5 .hdf5",
                                                 .summary = "datasets of Minari, D4RL and d3rlpy",
                                                 .reads = true},
                                        .matches = matches,
                                        .frames = open_hdf5,
                                        .next = pess__frame_log_next,
                                        .close = pess__frame_log_close};

/* ------------------------------------------------------------------------------------------------ observations */

/* What is wrong with a row is wrong with the file. */
static pess_status append(const talk *t, const pess_observations_rows *row, pess_observations *data,
                          pess_error *error) {
    pess_error why = {0};
    const pess_status status = pess_observations_append(data, row, &why);
    if (status == PESS_INPUT) return pess__fail(error, PESS_INPUT, "%s: %.700s", t->name, why.message);
    if (status != PESS_OK && error != NULL) *error = why;
    return status;
}

/* vector: room for an action that is one. */
static pess_status add_rows(talk *t, float *vector, pess_observations *data, pess_error *error) {
    const int64_t bytes = pess_observation_bytes(&t->begin.shape), width = t->begin.width;
    do {
        PESS_TRY(next_rows(t, error));
        for (int64_t i = 0; i < t->rows; i++) {
            const pess__hdf5_row row = row_at(t, i);
            const char *state = t->messages + (size_t)i * t->row_size + sizeof row;
            const uint8_t end = (uint8_t)row.end;
            if (row.end < PESS_END_NONE || row.end > PESS_END_CUTOFF) return broken(t, error);
            if (width > 0) memcpy(vector, state + 2 * bytes, (size_t)width * sizeof *vector);
            const pess_observations_rows one = {.count = 1,
                                                .state = state,
                                                .next = state + bytes,
                                                .action = &row.action,
                                                .reward = &row.reward,
                                                .end = &end,
                                                .vector = width > 0 ? vector : NULL,
                                                .width = width};
            PESS_TRY(append(t, &one, data, error));
        }
    } while (t->rows > 0);
    return pess_observations_stop(data, error);
}

pess_status pess__observations_read_hdf5(pess__infile *file, const pess_observations_options *options,
                                         pess_observations **out, pess_error *error) {
    talk t = {0};
    pess_observations *data = NULL;
    pess_observations_options settled;
    PESS_TRY(pess__settle(pess_observations_settings(), options, &settled, error));
    pess_status status = start_talk(&t, file, error);
    if (status == PESS_OK && t.begin.shape.length == 0)
        status = pess__fail(error, PESS_INPUT, "%s: found single states, expected observations: it is a log", t.name);
    char notes[64];
    (void)snprintf(notes, sizeof notes, "origin=%s\n", t.begin.origin);
    const char *game = settled.game != NULL ? settled.game : t.begin.origin;
    const int64_t actions = settled.actions > 0 ? settled.actions : t.begin.width > 0 ? 1 : t.begin.actions;
    if (status == PESS_OK && settled.actions > 0 && t.begin.width > 0)
        status = pess__fail(error, PESS_ARGUMENT,
                            "actions: found %lld declared, but those of %s have %lld numbers each: a grid or k-means "
                            "numbers them",
                            (long long)settled.actions, t.name, (long long)t.begin.width);
    if (status == PESS_OK) status = pess_observations_create(game, notes, &t.begin.shape, actions, &data, error);
    float *vector = NULL;
    if (status == PESS_OK) status = pess__allocate(&vector, t.begin.width, sizeof *vector, "an action", error);
    if (status == PESS_OK) status = add_rows(&t, vector, data, error);
    free(vector);
    end_talk(&t);
    if (status == PESS_OK)
        *out = data;
    else
        pess_observations_destroy(data);
    return status;
}

bool pess__hdf5_has_observations(pess__infile *file) {
    talk t = {0};
    const bool has = start_talk(&t, file, NULL) == PESS_OK && t.begin.shape.length > 0;
    end_talk(&t);
    return has;
}
