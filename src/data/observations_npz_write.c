/* Datasets of observations as NumPy arrays: what observations_npz.c reads. */
#include "data/names.h"
#include "data/npz_arrays.h"
#include "data/observations.h"

#include <stdio.h>
#include <string.h>

static size_t longest(const pess_names *names) {
    size_t most = 1;
    for (int64_t i = 0; i < pess_names_count(names); i++) {
        const size_t length = strlen(pess_names_get(names, i));
        if (length > most) most = length;
    }
    return most;
}

typedef struct rows_source {
    const pess_observations *data;
    const int32_t *numbers; /* which observations */
} rows_source;

static void render_observations(const void *user, int64_t first, int64_t rows, uint8_t *out) {
    const rows_source *s = user;
    const pess_observation_shape *shape = &s->data->shape;
    const int64_t length = shape->length, cells = shape->channels > 0 ? length / shape->channels : length;
    for (int64_t i = 0; i < rows; i++) {
        const uint8_t *from = s->data->observations + s->numbers[first + i] * s->data->bytes;
        for (int64_t k = 0; k < length && shape->kind == PESS_OBSERVATION_BITS; k++)
            *out++ = from[k / 8] >> (k % 8) & 1;
        for (int64_t k = 0; k < length && shape->kind == PESS_OBSERVATION_BYTES; k++)
            *out++ = from[k % cells * shape->channels + k / cells];
        if (shape->kind != PESS_OBSERVATION_FLOATS) continue;
        memcpy(out, from, (size_t)s->data->bytes);
        out += s->data->bytes;
    }
}

static void render_ends(const pess_observations *data, pess_end end, int64_t first, int64_t rows, uint8_t *out) {
    for (int64_t i = 0; i < rows; i++) out[i] = data->end[first + i] == (uint8_t)end;
}

static void render_terminals(const void *user, int64_t first, int64_t rows, uint8_t *out) {
    render_ends(user, PESS_END_TERMINAL, first, rows, out);
}

static void render_timeouts(const void *user, int64_t first, int64_t rows, uint8_t *out) {
    render_ends(user, PESS_END_CUTOFF, first, rows, out);
}

/* Where collecting stopped, which no D4RL array tells from other cut-offs. */
static void render_stopped(const void *user, int64_t first, int64_t rows, uint8_t *out) {
    const pess_observations *data = user;
    memset(out, 0, (size_t)rows);
    for (int64_t k = 0; k < data->stop_count; k++)
        if (data->stopped[k] >= first && data->stopped[k] < first + rows) out[data->stopped[k] - first] = 1;
}

/* Plain numbers, as they lie in memory. */
static void render_floats(const void *user, int64_t first, int64_t rows, uint8_t *out) {
    memcpy(out, (const float *)user + first, (size_t)rows * sizeof(float));
}

/* Rows of several of them. */
typedef struct vectors {
    const float *values;
    int64_t width;
} vectors;

static void render_vectors(const void *user, int64_t first, int64_t rows, uint8_t *out) {
    const vectors *v = user;
    memcpy(out, v->values + first * v->width, (size_t)(rows * v->width) * sizeof *v->values);
}

static void render_bytes(const void *user, int64_t first, int64_t rows, uint8_t *out) {
    memcpy(out, (const uint8_t *)user + first, (size_t)rows);
}

static void render_whole(const void *user, int64_t first, int64_t rows, uint8_t *out) {
    (void)first, (void)rows;
    for (const char *text = user; *text != '\0'; text++) *out++ = (uint8_t)*text;
}

static void render_names(const void *user, int64_t first, int64_t rows, uint8_t *out) {
    const pess_names *names = user;
    const size_t width = longest(names);
    memset(out, 0, (size_t)rows * width);
    for (int64_t i = 0; i < rows; i++) {
        const char *name = pess_names_get(names, first + i);
        for (size_t k = 0; name[k] != '\0'; k++) out[(size_t)i * width + k] = (uint8_t)name[k];
    }
}

static void render_count(const void *user, int64_t first, int64_t rows, uint8_t *out) {
    (void)first, (void)rows;
    memcpy(out, user, sizeof(int64_t));
}

static pess__npz_column observation_column(const char *name, const rows_source *source) {
    const pess_observations *data = source->data;
    const pess_observation_shape *s = &data->shape;
    pess__npz_column c = {.name = name,
                          .type = "<f4",
                          .dimensions = 2,
                          .shape = {data->transitions, s->length},
                          .width = s->kind == PESS_OBSERVATION_FLOATS ? data->bytes : s->length,
                          .render = render_observations,
                          .user = source};
    if (s->kind == PESS_OBSERVATION_FLOATS) return c;
    (void)snprintf(c.type, sizeof c.type, s->kind == PESS_OBSERVATION_BITS ? "|b1" : "|u1");
    if (s->kind == PESS_OBSERVATION_BITS || (s->rows == 1 && s->cols == 1)) return c;
    c.dimensions = 4;
    c.shape[1] = s->channels, c.shape[2] = s->rows, c.shape[3] = s->cols;
    return c;
}

static pess__npz_column plain_column(const char *name, const char *type, int64_t rows, int64_t width,
                                     void (*render)(const void *, int64_t, int64_t, uint8_t *), const void *user) {
    pess__npz_column c = {
        .name = name, .dimensions = 1, .shape = {rows}, .width = width, .render = render, .user = user};
    (void)snprintf(c.type, sizeof c.type, "%s", type);
    return c;
}

static pess__npz_column vector_column(const char *name, int64_t rows, const vectors *v) {
    pess__npz_column c = plain_column(name, "<f4", rows, 4 * v->width, render_vectors, v);
    c.dimensions = 2;
    c.shape[1] = v->width;
    return c;
}

static pess__npz_column text_column(const char *name, int64_t rows, size_t length,
                                    void (*render)(const void *, int64_t, int64_t, uint8_t *), const void *user) {
    char type[24];
    (void)snprintf(type, sizeof type, "|S%zu", length);
    return plain_column(name, type, rows, (int64_t)length, render, user);
}

pess_status pess__observations_write_npz(const pess_observations *data, const char *path, pess_error *error) {
    const rows_source states = {data, data->state}, nexts = {data, data->next};
    const vectors logged = {data->vector, data->space.width}, values = {data->space.values, data->space.width};
    const int64_t n = data->transitions;
    pess__npz_column columns[12];
    int count = 0;
    columns[count++] = observation_column("observations", &states);
    columns[count++] = data->vector != NULL ? vector_column("actions", n, &logged)
                                            : plain_column("actions", "|u1", n, 1, render_bytes, data->action);
    columns[count++] = plain_column("rewards", "<f4", n, 4, render_floats, data->reward);
    columns[count++] = plain_column("terminals", "|b1", n, 1, render_terminals, data);
    columns[count++] = plain_column("timeouts", "|b1", n, 1, render_timeouts, data);
    if (data->stop_count > 0) columns[count++] = plain_column("stopped", "|b1", n, 1, render_stopped, data);
    columns[count++] = observation_column("next_observations", &nexts);
    if (data->vector == NULL)
        columns[count++] = plain_column("action_count", "<i8", 1, 8, render_count, &data->actions);
    if (data->probability != NULL)
        columns[count++] = plain_column("probabilities", "<f4", n, 4, render_floats, data->probability);
    if (data->space.values != NULL) columns[count++] = vector_column("action_values", data->actions, &values);
    if (data->space.names != NULL)
        columns[count++] =
            text_column("action_names", data->actions, longest(data->space.names), render_names, data->space.names);
    if (data->game[0] != '\0') columns[count++] = text_column("game", 1, strlen(data->game), render_whole, data->game);
    return pess__npz_write_arrays(path, columns, count, ".pessdata", error);
}
