/* magic "PESSDATA"
 * u32 version (1: bits alone, 2)
 * of version 2: u32 kind (0 bits, 1 bytes, 2 floats), rows, cols, channels (0 where there is no board),
 *     columns (sum of 1: probabilities, 2: vectors of the actions, 4: names of the actions)
 * u32 length of an observation, actions A, states S, transitions N
 * u32 length and characters of the game's name; the same of the notes
 * where the columns say so: u32 width W and f32 vectors [A][W]; length and characters of A names
 * u8  observations [S][bytes]
 * i32 state [N], i32 next [N], f32 reward [N], u8 action [N]
 * u8  end [N]: 0 none, 1 terminal, 2 cut off, 3 cut off because collecting stopped
 * f32 probability of the action [N], where the columns say so
 * u32 CRC-32 of all before it */
#include "data/observations.h"

#include "core/bytes.h"
#include "core/filekind.h"
#include "core/infile.h"
#include "data/hdf5.h"

#include <stdio.h>
#include <string.h>

enum { BITS_VERSION = 1, VERSION = 2, STOPPED = 3, ROW = 14 /* bytes of a transition */ };
enum { PROBABILITIES = 1, COLUMNS = PROBABILITIES | PESS__ACTION_VECTORS | PESS__ACTION_NAMES };
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

static uint32_t columns_of(const pess_observations *data) {
    return (data->probability != NULL ? PROBABILITIES : 0) | pess__action_space_parts(&data->space);
}

/* Bits without further columns are written as they always were. */
static void write_head(const pess_observations *data, pess__sink *sink) {
    const pess_observation_shape *shape = &data->shape;
    const uint32_t sizes[] = {(uint32_t)shape->length, (uint32_t)data->actions, (uint32_t)data->states,
                              (uint32_t)data->transitions};
    if (shape->kind == PESS_OBSERVATION_BITS && columns_of(data) == 0) {
        pess__sink_u32(sink, BITS_VERSION);
    } else {
        const uint32_t head[] = {VERSION,
                                 (uint32_t)shape->kind,
                                 (uint32_t)shape->rows,
                                 (uint32_t)shape->cols,
                                 (uint32_t)shape->channels,
                                 columns_of(data)};
        pess__sink_write(sink, head, sizeof head);
    }
    pess__sink_write(sink, sizes, sizeof sizes);
}

static bool ends_with(const char *text, const char *ending) {
    const size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

/* Whether a name promises something else. */
static bool has_other_ending(const char *path) {
    const char *slash = strrchr(path, '/'), *ending = strrchr(slash != NULL ? slash : path, '.');
    return ending != NULL && strcmp(ending, ".pessdata") != 0;
}

pess_status pess_observations_write(const pess_observations *data, const char *path, pess_error *error) {
    if (data->transitions == 0) return pess__fail(error, PESS_ARGUMENT, "%s: there are no transitions to write", path);
    if (ends_with(path, ".npz")) return pess__observations_write_npz(data, path, error);
    if (ends_with(path, ".hdf5") || ends_with(path, ".h5")) return pess__observations_write_hdf5(data, path, error);
    if (has_other_ending(path))
        return pess__fail(error, PESS_ARGUMENT, "%s: a name that ends in .pessdata, .npz, .hdf5 or .h5 is expected",
                          path);
    if (data->vector != NULL)
        return pess__fail(
            error, PESS_ARGUMENT,
            "%s: .pessdata has no place for actions that are vectors; number them by a grid or by k-means, "
            "or write .npz",
            path);
    pess__sink sink;
    PESS_TRY(pess__sink_open(&sink, path, pess__file_row_of(PESS_FILE_OBSERVATIONS)->magic, error));
    const size_t count = (size_t)data->transitions;
    write_head(data, &sink);
    pess__sink_text(&sink, data->game);
    pess__sink_text(&sink, data->notes);
    pess__action_space_write(&data->space, data->actions, &sink);
    pess__sink_write(&sink, data->observations, (size_t)(data->states * data->bytes));
    pess__sink_write(&sink, data->state, count * sizeof *data->state);
    pess__sink_write(&sink, data->next, count * sizeof *data->next);
    pess__sink_write(&sink, data->reward, count * sizeof *data->reward);
    pess__sink_write(&sink, data->action, count);
    write_ends(data, &sink);
    if (data->probability != NULL) pess__sink_write(&sink, data->probability, count * sizeof *data->probability);
    return pess__sink_commit(&sink, error);
}

/* ---- reading */

typedef struct header {
    uint32_t kind, rows, cols, channels, columns; /* all 0 in version 1 */
    uint32_t length, actions, states, transitions;
} header;

static pess_status check_number(const char *name, const char *field, int64_t found, int64_t least, int64_t most,
                                pess_error *error) {
    if (found >= least && found <= most) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: %s: found %lld, expected %lld to %lld", name, field, (long long)found,
                      (long long)least, (long long)most);
}

static pess_status read_version(pess__cursor *cursor, header *h, pess_error *error) {
    const uint32_t version = pess__cursor_u32(cursor);
    *h = (header){0};
    if (version == VERSION)
        pess__cursor_read(cursor, h, offsetof(header, length));
    else if (version != BITS_VERSION)
        return pess__fail(error, PESS_INPUT, "%s: version %u of the format; this program reads versions %d and %d",
                          cursor->name, version, BITS_VERSION, VERSION);
    pess__cursor_read(cursor, &h->length, sizeof *h - offsetof(header, length));
    PESS_TRY(check_number(cursor->name, "kind of observations", h->kind, 0, PESS_OBSERVATION_FLOATS, error));
    PESS_TRY(check_number(cursor->name, "columns", h->columns, 0, COLUMNS, error));
    PESS_TRY(check_number(cursor->name, "length of an observation", h->length, 1, PESS__DATA_MAX_LENGTH, error));
    PESS_TRY(check_number(cursor->name, "rows", h->rows, 0, PESS__DATA_MAX_LENGTH, error));
    PESS_TRY(check_number(cursor->name, "cols", h->cols, 0, PESS__DATA_MAX_LENGTH, error));
    PESS_TRY(check_number(cursor->name, "channels", h->channels, 0, PESS__DATA_MAX_LENGTH, error));
    PESS_TRY(check_number(cursor->name, "actions", h->actions, 1, PESS__DATA_MAX_ACTIONS, error));
    PESS_TRY(check_number(cursor->name, "states", h->states, 1, PESS__DATA_MAX, error));
    return check_number(cursor->name, "transitions", h->transitions, 1, PESS__DATA_MAX, error);
}

/* What follows the header, before memory is taken for it. */
static pess_status check_size(const pess__cursor *cursor, const header *h, const pess_observations *data,
                              pess_error *error) {
    const int64_t row = ROW + ((h->columns & PROBABILITIES) != 0 ? (int64_t)sizeof(float) : 0);
    const int64_t needed = (int64_t)h->states * data->bytes + (int64_t)h->transitions * row;
    if (cursor->left == (size_t)needed) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: %zu bytes after the header; %u observations and %u transitions need %lld",
                      cursor->name, cursor->left, h->states, h->transitions, (long long)needed);
}

static pess_status read_header(pess__cursor *cursor, header *h, pess_observations **out, pess_error *error) {
    PESS_TRY(read_version(cursor, h, error));
    char game[sizeof(*out)->game], notes[PESS__DATA_NOTES_SIZE];
    if (!pess__cursor_text(cursor, game, sizeof game) || !pess__cursor_text(cursor, notes, sizeof notes))
        return pess__fail(error, PESS_INPUT, "%s: the game's name or the notes are too long or cut off", cursor->name);
    const pess_observation_shape shape = {(pess_observation_kind)h->kind, h->length, (int)h->rows, (int)h->cols,
                                          (int)h->channels};
    pess_error why;
    const pess_status status = pess_observations_create(game, notes, &shape, h->actions, out, &why);
    if (status != PESS_OK)
        return pess__fail(error, status == PESS_MEMORY ? PESS_MEMORY : PESS_INPUT, "%s: %s", cursor->name, why.message);
    PESS_TRY(pess__action_space_read(cursor, h->columns, h->actions, &(*out)->space, error));
    return check_size(cursor, h, *out, error);
}

static pess_status read_observations(pess__cursor *cursor, const header *h, pess_observations *data,
                                     pess_error *error) {
    for (int64_t s = 0; s < h->states; s++) {
        int32_t number;
        char name[512];
        (void)snprintf(name, sizeof name, "%s: observation %lld", cursor->name, (long long)s);
        PESS_TRY(pess__observations_check(data, name, cursor->at, error));
        PESS_TRY(pess__observations_number(data, cursor->at, &number, error));
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

static pess_status read_probabilities(const pess__cursor *cursor, const uint8_t *at, pess_observations *data,
                                      pess_error *error) {
    for (int64_t i = 0; i < data->transitions; i++) {
        float probability;
        pess_error why;
        memcpy(&probability, at + i * (int64_t)sizeof probability, sizeof probability);
        const pess_status status = pess__observations_set_probability(data, i, (double)probability, &why);
        if (status != PESS_OK) return pess__fail(error, status, "%s: %s", cursor->name, why.message);
    }
    return PESS_OK;
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
    if ((h->columns & PROBABILITIES) != 0) return read_probabilities(cursor, ends + count, data, error);
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

static pess_status read_pessdata(const char *path, pess_observations **out, pess_error *error) {
    const pess__file_row *row = pess__file_row_of(PESS_FILE_OBSERVATIONS);
    pess__cursor cursor;
    PESS_TRY(pess__cursor_open(&cursor, path, row->magic, row->what, SIZE_LIMIT, error));
    return read_data(&cursor, out, error);
}

pess_status pess_observations_import(const char *path, const pess_observations_options *options,
                                     pess_observations **out, pess_error *error) {
    pess__infile *file = NULL;
    char head[8] = "";
    size_t got = 0;
    PESS_TRY(pess__infile_open(path, &file, error));
    pess_status status = pess__infile_head(file, head, sizeof head, &got, error);
    const bool zip = memcmp(head, "PK\3\4", 4) == 0, hdf5 = memcmp(head, PESS__HDF5_MAGIC, 8) == 0;
    const bool ours = memcmp(head, pess__file_row_of(PESS_FILE_OBSERVATIONS)->magic, sizeof head) == 0;
    if (status == PESS_OK && !zip && !hdf5 && !ours)
        status =
            pess__fail(error, PESS_INPUT, "%s: found neither NumPy arrays (.npz), HDF5 nor a .pessdata file", path);
    if (status == PESS_OK && zip) status = pess__observations_read_npz(file, options, out, error);
    if (status == PESS_OK && hdf5) status = pess__observations_read_hdf5(file, options, out, error);
    pess__infile_close(file);
    return status != PESS_OK || zip || hdf5 ? status : read_pessdata(path, out, error);
}

pess_status pess_observations_read(const char *path, pess_observations **out, pess_error *error) {
    return pess_observations_import(path, NULL, out, error);
}

pess_status pess__observations_read_memory(const char *name, const void *bytes, size_t size, pess_observations **out,
                                           pess_error *error) {
    const pess__file_row *row = pess__file_row_of(PESS_FILE_OBSERVATIONS);
    pess__cursor cursor;
    PESS_TRY(pess__cursor_open_memory(&cursor, name, bytes, size, row->magic, row->what, error));
    return read_data(&cursor, out, error);
}
