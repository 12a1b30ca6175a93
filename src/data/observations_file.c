/* magic "PESSDATA"
 * u32 version (1), bits of an observation, actions A, states S, transitions N
 * u32 length and characters of the game's name; the same of the notes
 * u8  observations [S][bytes]
 * i32 state [N], i32 next [N], f32 reward [N], u8 action [N]
 * u8  end [N]: 0 none, 1 terminal, 2 cut off, 3 cut off because collecting stopped
 * u32 CRC-32 of all before it */
#include "data/observations.h"

#include "core/bytes.h"
#include "core/filekind.h"
#include "data/hdf5.h"

#include <string.h>

enum { VERSION = 1, STOPPED = 3, ROW = 14 /* bytes of a transition */ };
#define SIZE_LIMIT ((int64_t)1 << 40)

/* ---- writing */

static void write_ends(const pess_observations *data, pess__sink *sink) {
    static const uint8_t stopped = STOPPED;
    int64_t from = 0;
    for (int64_t k = 0; k < data->stop_count; k++) {
        pess__sink_write(sink, data->end + from, (size_t)(data->stopped[k] - from));
        pess__sink_write(sink, &stopped, 1);
        from = data->stopped[k] + 1;
    }
    pess__sink_write(sink, data->end + from, (size_t)(data->transitions - from));
}

pess_status pess_observations_write(const pess_observations *data, const char *path, pess_error *error) {
    if (data->transitions == 0) return pess__fail(error, PESS_ARGUMENT, "%s: there are no transitions to write", path);
    pess__sink sink;
    PESS_TRY(pess__sink_open(&sink, path, pess__file_row_of(PESS_FILE_OBSERVATIONS)->magic, error));
    const size_t count = (size_t)data->transitions;
    const uint32_t head[] = {VERSION, (uint32_t)data->bits, (uint32_t)data->actions, (uint32_t)data->states,
                             (uint32_t)data->transitions};
    pess__sink_write(&sink, head, sizeof head);
    pess__sink_text(&sink, data->game);
    pess__sink_text(&sink, data->notes);
    pess__sink_write(&sink, data->observations, (size_t)(data->states * data->bytes));
    pess__sink_write(&sink, data->state, count * sizeof *data->state);
    pess__sink_write(&sink, data->next, count * sizeof *data->next);
    pess__sink_write(&sink, data->reward, count * sizeof *data->reward);
    pess__sink_write(&sink, data->action, count);
    write_ends(data, &sink);
    return pess__sink_commit(&sink, error);
}

/* ---- reading */

typedef struct header {
    uint32_t version, bits, actions, states, transitions;
} header;

static pess_status check_number(const char *name, const char *field, int64_t found, int64_t least, int64_t most,
                                pess_error *error) {
    if (found >= least && found <= most) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: %s: found %lld, expected %lld to %lld", name, field, (long long)found,
                      (long long)least, (long long)most);
}

static pess_status read_header(pess__cursor *cursor, header *h, pess_observations **out, pess_error *error) {
    pess__cursor_read(cursor, h, sizeof *h);
    if (h->version != VERSION)
        return pess__fail(error, PESS_INPUT, "%s: version %u of the format; this program reads version %d",
                          cursor->name, h->version, VERSION);
    char game[sizeof(*out)->game], notes[PESS__DATA_NOTES_SIZE];
    if (!pess__cursor_text(cursor, game, sizeof game) || !pess__cursor_text(cursor, notes, sizeof notes))
        return pess__fail(error, PESS_INPUT, "%s: the game's name or the notes are too long or cut off", cursor->name);
    PESS_TRY(check_number(cursor->name, "bits of an observation", h->bits, 1, PESS__DATA_MAX_BITS, error));
    PESS_TRY(check_number(cursor->name, "actions", h->actions, 1, PESS__DATA_MAX_ACTIONS, error));
    PESS_TRY(check_number(cursor->name, "states", h->states, 1, PESS__DATA_MAX, error));
    PESS_TRY(check_number(cursor->name, "transitions", h->transitions, 1, PESS__DATA_MAX, error));
    const int64_t needed = (int64_t)h->states * ((h->bits + 7) / 8) + (int64_t)h->transitions * ROW;
    if (cursor->left != (size_t)needed) /* before memory is taken for them */
        return pess__fail(error, PESS_INPUT,
                          "%s: %zu bytes after the header; %u observations and %u transitions need %lld", cursor->name,
                          cursor->left, h->states, h->transitions, (long long)needed);
    pess_error why;
    const pess_observation_shape shape = pess_observation_bits(h->bits);
    const pess_status status = pess_observations_create(game, notes, &shape, h->actions, out, &why);
    return status == PESS_OK ? PESS_OK : pess__fail(error, status, "%s: %s", cursor->name, why.message);
}

static pess_status read_observations(pess__cursor *cursor, const header *h, pess_observations *data,
                                     pess_error *error) {
    for (int64_t s = 0; s < h->states; s++) {
        int32_t number;
        pess_error why;
        const pess_status status = pess__observations_number(data, cursor->at, &number, &why);
        if (status != PESS_OK)
            return pess__fail(error, status, "%s: observation %lld: %s", cursor->name, (long long)s, why.message);
        if (number != s)
            return pess__fail(error, PESS_INPUT,
                              "%s: observation %lld is the same as observation %ld; each is expected once",
                              cursor->name, (long long)s, (long)number);
        cursor->at += data->bytes;
        cursor->left -= (size_t)data->bytes;
    }
    return PESS_OK;
}

/* Column c, element i of the transitions, which begin at `at`. */
static int32_t integer_at(const uint8_t *at, int64_t count, int column, int64_t i) {
    int32_t value;
    memcpy(&value, at + (column * count + i) * 4, sizeof value);
    return value;
}

static pess_status read_transitions(pess__cursor *cursor, const header *h, pess_observations *data, pess_error *error) {
    const int64_t count = h->transitions;
    const uint8_t *at = cursor->at, *actions = at + 12 * count, *ends = at + 13 * count;
    PESS_TRY(pess__observations_reserve(data, count, error));
    for (int64_t i = 0; i < count; i++) {
        const int32_t state = integer_at(at, count, 0, i), next = integer_at(at, count, 1, i);
        float reward;
        memcpy(&reward, at + (2 * count + i) * 4, sizeof reward);
        if (state < 0 || state >= data->states || next < 0 || next >= data->states)
            return pess__fail(error, PESS_INPUT, "%s: transition %lld goes from state %ld to %ld; 0 to %lld are there",
                              cursor->name, (long long)i, (long)state, (long)next, (long long)data->states - 1);
        if (ends[i] > STOPPED)
            return pess__fail(error, PESS_INPUT, "%s: transition %lld has end %d; 0 to %d are expected", cursor->name,
                              (long long)i, ends[i], STOPPED);
        pess_error why;
        const pess_end end = ends[i] == STOPPED ? PESS_END_NONE : (pess_end)ends[i];
        const pess_status status = pess__observations_set(data, i, state, actions[i], (double)reward, next, end, &why);
        if (status != PESS_OK) return pess__fail(error, status, "%s: %s", cursor->name, why.message);
        if (ends[i] == STOPPED) PESS_TRY(pess__observations_stop(data, i, error));
    }
    data->transitions = count;
    return PESS_OK;
}

/* Closes the cursor. */
static pess_status read_data(pess__cursor *cursor, pess_observations **out, pess_error *error) {
    header h;
    pess_observations *data = NULL;
    pess_status status = read_header(cursor, &h, &data, error);
    if (status == PESS_OK) status = read_observations(cursor, &h, data, error);
    if (status == PESS_OK) status = read_transitions(cursor, &h, data, error);
    pess__cursor_close(cursor);
    if (status == PESS_OK)
        *out = data;
    else
        pess_observations_destroy(data);
    return status;
}

/* *read says whether it was one. */
static pess_status read_hdf5(const char *path, bool *read, pess_observations **out, pess_error *error) {
    pess__infile *file = NULL;
    uint8_t head[8];
    size_t got = 0;
    PESS_TRY(pess__infile_open(path, &file, error));
    pess_status status = pess__infile_head(file, head, sizeof head, &got, error);
    *read = status == PESS_OK && got == sizeof head && memcmp(head, PESS__HDF5_MAGIC, sizeof head) == 0;
    if (*read) status = pess__hdf5_read_observations(file, out, error);
    pess__infile_close(file);
    return status;
}

pess_status pess_observations_read(const char *path, pess_observations **out, pess_error *error) {
    bool read = false;
    const pess_status status = strcmp(path, "-") == 0 ? PESS_OK : read_hdf5(path, &read, out, error);
    if (read || status != PESS_OK) return status;
    const pess__file_row *row = pess__file_row_of(PESS_FILE_OBSERVATIONS);
    pess__cursor cursor;
    PESS_TRY(pess__cursor_open(&cursor, path, row->magic, row->what, SIZE_LIMIT, error));
    return read_data(&cursor, out, error);
}

pess_status pess__observations_read_memory(const char *name, const void *bytes, size_t size, pess_observations **out,
                                           pess_error *error) {
    const pess__file_row *row = pess__file_row_of(PESS_FILE_OBSERVATIONS);
    pess__cursor cursor;
    PESS_TRY(pess__cursor_open_memory(&cursor, name, bytes, size, row->magic, row->what, error));
    return read_data(&cursor, out, error);
}
