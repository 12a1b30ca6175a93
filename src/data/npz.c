/* NumPy logs (.npz): one array per column, under the names of the CSV columns. Numbers of any type; states, actions and
 * episodes may be text (S or U), which makes them names. */
#include "core/memory.h"
#include "data/columns.h"
#include "data/format.h"
#include "data/names.h"
#include "data/npz_arrays.h"
#include "data/npz_write.h"
#include "data/reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRATCH = 4 << 20 };

typedef struct npz_reader {
    pess__zip zip;
    int64_t *entry; /* [arrays] their places in the zip file */
    int64_t total;  /* bytes, unpacked */
    bool present[PESS__LOG_ROLES];
    pess__npz_array array[PESS__LOG_ROLES];
    pess__cutter cutter;
    uint8_t *bytes, *bytes2; /* a slice of an array, as it is in the file; two, as states and next states go together */
    int64_t *numbers;        /* [block_rows] */
    char *text;              /* one name */
} npz_reader;

static bool matches(const uint8_t *head, size_t length) {
    return length >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

static bool is_text(const pess__npz_array *a) { return a->header.type.kind == 'S' || a->header.type.kind == 'U'; }

/* The array that plays the role. */
static const char *name_of(const pess__stream *stream, int role) {
    return stream->reading->used[stream->reading->column_of[role][0]].name;
}

static pess_status bad_array(const pess__stream *stream, int role, const char *what, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: array '%.60s': %s", pess__infile_name(stream->file),
                      name_of(stream, role), what);
}

/* ------------------------------------------------------------------------------------------------ opening */

/* Zip files that people take for a log. */
static pess_status check_office(const pess__stream *stream, const pess__zip *zip, pess_error *error) {
    for (int64_t i = 0; i < zip->count; i++) {
        if (strcmp(zip->entries[i].name, "[Content_Types].xml") != 0) continue;
        const pess_status status =
            pess__fail(error, PESS_INPUT,
                       "%s: found an Excel workbook, or another file of an office program; expected "
                       "a log: CSV text or NumPy arrays",
                       pess__infile_name(stream->file));
        return pess__fail_with_remedy(error, status, "export", "csv");
    }
    return PESS_OK;
}

static bool is_array(const char *member) {
    const size_t length = strlen(member);
    return length > 4 && strcmp(member + length - 4, ".npy") == 0;
}

/* Roles by the names of the arrays; entry [arrays] says where each is. */
static pess_status set_roles(pess__stream *stream, const npz_reader *r, int64_t *entry, pess_error *error) {
    pess__csv_field *names = NULL;
    int64_t count = 0;
    PESS_TRY(check_office(stream, &r->zip, error));
    PESS_TRY(pess__allocate(&names, r->zip.count, sizeof *names, "the arrays", error));
    for (int64_t i = 0; i < r->zip.count; i++) {
        if (!is_array(r->zip.entries[i].name)) continue;
        names[count].text = r->zip.entries[i].name;
        names[count].length = strlen(r->zip.entries[i].name) - 4;
        entry[count++] = i;
    }
    if (count == 0) {
        const pess_status status =
            pess__fail(error, PESS_INPUT,
                       "%s: found a zip file with %s%.60s%s, expected one with NumPy arrays (.npy); unpack it first",
                       pess__infile_name(stream->file), r->zip.count > 0 ? "'" : "nothing in it",
                       r->zip.count > 0 ? r->zip.entries[0].name : "", r->zip.count > 0 ? "'" : "");
        free(names);
        return status;
    }
    stream->reading->any_roles = true; /* damage to the arrays that are there is told first */
    const pess_status status =
        pess__reading_assign(stream->reading, pess__infile_name(stream->file), names, count, error);
    free(names);
    if (status != PESS_OK) return status;
    for (int role = PESS__ROLE_STATE; role < PESS__LOG_ROLES; role++)
        if (stream->reading->parts[role] > 1)
            return bad_array(stream, role, "found it declared beside others, expected one array for a role", error);
    return PESS_OK;
}

static pess_status check_kind(const pess__stream *stream, const npz_reader *r, int role, pess_error *error) {
    const bool may_be_text = role == PESS__ROLE_STATE || role == PESS__ROLE_ACTION || role == PESS__ROLE_NEXT_STATE ||
                             role == PESS__ROLE_EPISODE;
    if (is_text(&r->array[role]) && !may_be_text) return bad_array(stream, role, "found text, expected numbers", error);
    return PESS_OK;
}

static pess_status open_array(pess__stream *stream, npz_reader *r, int role, int64_t entry, int64_t *rows,
                              pess_error *error) {
    pess__npz_array *a = &r->array[role];
    const char *problem = NULL;
    r->present[role] = true;
    PESS_TRY(pess__npz_array_open(&r->zip, &r->zip.entries[entry], name_of(stream, role), a, error));
    r->total += r->zip.entries[entry].size;
    if (pess__npz_expands(&r->zip, r->total))
        return bad_array(stream, role, "with it the arrays unpack to more than a thousand times the file; not read",
                         error);
    if (!pess__npy_rows(&a->header, rows, &problem)) return bad_array(stream, role, problem, error);
    return check_kind(stream, r, role, error);
}

static pess_status open_arrays(pess__stream *stream, npz_reader *r, const int64_t *entry, int64_t *rows,
                               pess_error *error) {
    const pess_reading *reading = stream->reading;
    int first = PESS__ROLE_IGNORED;
    for (int role = PESS__ROLE_STATE; role < PESS__LOG_ROLES; role++) {
        int64_t here = 0;
        if (reading->parts[role] == 0) continue;
        PESS_TRY(open_array(stream, r, role, entry[reading->column_of[role][0]], &here, error));
        if (first != PESS__ROLE_IGNORED && here != *rows)
            return pess__fail(error, PESS_INPUT, "%s: array '%.60s': found %lld rows, expected %lld as in '%.60s'",
                              pess__infile_name(stream->file), name_of(stream, role), (long long)here, (long long)*rows,
                              name_of(stream, first));
        *rows = here;
        first = first != PESS__ROLE_IGNORED ? first : role;
    }
    const pess__npz_array *next = &r->array[PESS__ROLE_NEXT_STATE];
    if (r->present[PESS__ROLE_NEXT_STATE] && is_text(&r->array[PESS__ROLE_STATE]) != is_text(next))
        return bad_array(stream, PESS__ROLE_NEXT_STATE,
                         "found text in one of state and next_state, expected it in both", error);
    return PESS_OK;
}

static pess_status open_npz(pess__stream *stream, pess_error *error) {
    npz_reader *r = NULL;
    int64_t rows = 0, largest = 8;
    PESS_TRY(pess__allocate(&r, 1, sizeof *r, "a log reader", error));
    stream->reader = r;
    PESS_TRY(pess__zip_open(stream->file, &r->zip, error));
    PESS_TRY(pess__allocate(&r->entry, r->zip.count, sizeof *r->entry, "the arrays", error));
    PESS_TRY(set_roles(stream, r, r->entry, error));
    PESS_TRY(open_arrays(stream, r, r->entry, &rows, error));
    PESS_TRY(pess__reading_require(stream->reading, pess__infile_name(stream->file), error));
    stream->reading->info.rows = rows;
    stream->has_episode = r->present[PESS__ROLE_EPISODE];
    stream->has_step = r->present[PESS__ROLE_STEP];
    stream->has_probability = r->present[PESS__ROLE_PROBABILITY];
    for (int role = PESS__ROLE_STATE; role < PESS__LOG_ROLES; role++)
        if (r->present[role] && r->array[role].header.type.size > largest) largest = r->array[role].header.type.size;
    if (is_text(&r->array[PESS__ROLE_STATE])) PESS_TRY(pess__names_create(&stream->state_names, error));
    if (is_text(&r->array[PESS__ROLE_ACTION])) PESS_TRY(pess__names_create(&stream->action_names, error));
    if (stream->has_episode && is_text(&r->array[PESS__ROLE_EPISODE]))
        PESS_TRY(pess__names_create(&stream->episode_names, error));
    PESS_TRY(pess__cutter_create(&r->cutter, stream, rows, SCRATCH / largest, error));
    const int64_t n = r->cutter.block_rows;
    PESS_TRY(pess__allocate(&r->bytes, n * largest, 1, "a slice of an array", error));
    PESS_TRY(pess__allocate(&r->bytes2, n * largest, 1, "a slice of an array", error));
    PESS_TRY(pess__allocate(&r->numbers, n, sizeof *r->numbers, "a slice of an array", error));
    return pess__allocate(&r->text, largest, 1, "a name", error);
}

static void close_npz(pess__stream *stream) {
    npz_reader *r = stream->reader;
    if (r == NULL) return;
    for (int role = 0; role < PESS__LOG_ROLES; role++) pess__zip_member_close(&r->array[role].member);
    pess__zip_free(&r->zip);
    pess__cutter_free(&r->cutter);
    free(r->entry);
    free(r->bytes);
    free(r->bytes2);
    free(r->numbers);
    free(r->text);
    free(r);
}

/* ------------------------------------------------------------------------------------------------ rows */

static pess_status read_slice(pess__npz_array *a, uint8_t *bytes, int64_t rows, pess_error *error) {
    return pess__npz_array_read(a, bytes, rows * a->header.type.size, error);
}

static pess_status bad_number(const pess__stream *stream, int role, int64_t row, const char *found, int64_t value,
                              int64_t limit, pess_error *error) {
    char text[32] = "";
    if (found == NULL) (void)snprintf(text, sizeof text, "%lld", (long long)value);
    if (limit < 0)
        return pess__fail(error, PESS_INPUT, "%s: array '%s', row %lld: found %s, expected an integer",
                          pess__infile_name(stream->file), name_of(stream, role), (long long)row,
                          found != NULL ? found : text);
    return pess__fail(error, PESS_INPUT, "%s: array '%s', row %lld: found %s, expected an integer from 0 to %lld",
                      pess__infile_name(stream->file), name_of(stream, role), (long long)row,
                      found != NULL ? found : text, (long long)limit - 1);
}

/* Integers of a column that is not text, into `out`. limit < 0: any. */
static pess_status read_integers(pess__stream *stream, npz_reader *r, int role, int64_t rows, int64_t first,
                                 int64_t limit, int64_t *out, pess_error *error) {
    pess__npz_array *a = &r->array[role];
    int64_t bad = 0;
    PESS_TRY(read_slice(a, r->bytes, rows, error));
    if (!pess__npy_int64(&a->header.type, r->bytes, rows, out, &bad))
        return bad_number(stream, role, first + bad, "a number that is not an integer", 0, limit, error);
    for (int64_t i = 0; limit >= 0 && i < rows; i++)
        if (out[i] < 0 || out[i] >= limit) return bad_number(stream, role, first + i, NULL, out[i], limit, error);
    return PESS_OK;
}

static pess_status read_ids(pess__stream *stream, npz_reader *r, int role, int64_t rows, int64_t first, uint32_t *out,
                            pess_error *error) {
    const bool action = role == PESS__ROLE_ACTION;
    const int64_t limit = action ? (stream->actions_declared ? stream->actions : PESS_MAX_ACTIONS)
                                 : (stream->states_declared ? stream->states : PESS_MAX_STATES);
    PESS_TRY(read_integers(stream, r, role, rows, first, limit, r->numbers, error));
    for (int64_t i = 0; i < rows; i++) out[i] = (uint32_t)r->numbers[i];
    return PESS_OK;
}

static pess_status name_id(pess__stream *stream, npz_reader *r, int role, const uint8_t *element, int64_t row,
                           pess_names *names, int64_t *id, pess_error *error) {
    const int64_t length = pess__npy_text(&r->array[role].header.type, element, r->text);
    if (length < 0)
        return pess__fail(error, PESS_INPUT, "%s: array '%s', row %lld: found no text, expected a name in UTF-8",
                          pess__infile_name(stream->file), name_of(stream, role), (long long)row);
    return pess__names_add(names, r->text, (size_t)length, id, error);
}

/* States by name: numbered in order of appearance, the state before the next state. */
static pess_status read_state_names(pess__stream *stream, npz_reader *r, pess__block *block, int64_t first,
                                    pess_error *error) {
    pess__npz_array *state = &r->array[PESS__ROLE_STATE], *next = &r->array[PESS__ROLE_NEXT_STATE];
    PESS_TRY(read_slice(state, r->bytes, block->rows, error));
    if (r->present[PESS__ROLE_NEXT_STATE]) PESS_TRY(read_slice(next, r->bytes2, block->rows, error));
    for (int64_t i = 0; i < block->rows; i++) {
        int64_t id = 0;
        PESS_TRY(name_id(stream, r, PESS__ROLE_STATE, r->bytes + i * state->header.type.size, first + i,
                         stream->state_names, &id, error));
        block->state[i] = (uint32_t)id;
        if (!r->present[PESS__ROLE_NEXT_STATE]) continue;
        PESS_TRY(name_id(stream, r, PESS__ROLE_NEXT_STATE, r->bytes2 + i * next->header.type.size, first + i,
                         stream->state_names, &id, error));
        block->next_state[i] = (uint32_t)id;
    }
    return PESS_OK;
}

static pess_status read_names(pess__stream *stream, npz_reader *r, int role, int64_t rows, int64_t first,
                              pess_names *names, int64_t *out, pess_error *error) {
    pess__npz_array *a = &r->array[role];
    PESS_TRY(read_slice(a, r->bytes, rows, error));
    for (int64_t i = 0; i < rows; i++)
        PESS_TRY(name_id(stream, r, role, r->bytes + i * a->header.type.size, first + i, names, &out[i], error));
    return PESS_OK;
}

static pess_status read_flags(pess__stream *stream, npz_reader *r, int role, pess__block *block, int64_t first,
                              uint8_t end, pess_error *error) {
    if (!r->present[role]) return PESS_OK;
    PESS_TRY(read_integers(stream, r, role, block->rows, first, 2, r->numbers, error));
    for (int64_t i = 0; i < block->rows; i++)
        if (r->numbers[i] != 0 && !(stream->reading->cutoff_wins && block->end[i] == PESS_END_CUTOFF))
            block->end[i] = end;
    return PESS_OK;
}

static pess_status fill_ids(pess__stream *stream, npz_reader *r, pess__block *block, int64_t first, pess_error *error) {
    const int64_t rows = block->rows;
    if (stream->state_names != NULL) {
        PESS_TRY(read_state_names(stream, r, block, first, error));
    } else {
        PESS_TRY(read_ids(stream, r, PESS__ROLE_STATE, rows, first, block->state, error));
        if (r->present[PESS__ROLE_NEXT_STATE])
            PESS_TRY(read_ids(stream, r, PESS__ROLE_NEXT_STATE, rows, first, block->next_state, error));
    }
    if (stream->action_names == NULL) return read_ids(stream, r, PESS__ROLE_ACTION, rows, first, block->action, error);
    PESS_TRY(read_names(stream, r, PESS__ROLE_ACTION, rows, first, stream->action_names, r->numbers, error));
    for (int64_t i = 0; i < rows; i++) block->action[i] = (uint32_t)r->numbers[i];
    return PESS_OK;
}

static pess_status fill(pess__stream *stream, pess__block *block, int64_t first, pess_error *error) {
    npz_reader *r = stream->reader;
    const int64_t rows = block->rows;
    PESS_TRY(fill_ids(stream, r, block, first, error));
    PESS_TRY(read_slice(&r->array[PESS__ROLE_REWARD], r->bytes, rows, error));
    pess__npy_double(&r->array[PESS__ROLE_REWARD].header.type, r->bytes, rows, block->reward);
    memset(block->end, PESS_END_NONE, (size_t)rows);
    PESS_TRY(read_flags(stream, r, PESS__ROLE_TRUNCATED, block, first, PESS_END_CUTOFF, error));
    PESS_TRY(read_flags(stream, r, PESS__ROLE_TERMINAL, block, first, PESS_END_TERMINAL, error));
    if (stream->episode_names != NULL)
        PESS_TRY(read_names(stream, r, PESS__ROLE_EPISODE, rows, first, stream->episode_names, block->episode, error));
    else if (stream->has_episode)
        PESS_TRY(read_integers(stream, r, PESS__ROLE_EPISODE, rows, first, -1, block->episode, error));
    if (stream->has_step) PESS_TRY(read_integers(stream, r, PESS__ROLE_STEP, rows, first, -1, block->step, error));
    if (!stream->has_probability) return PESS_OK;
    PESS_TRY(read_slice(&r->array[PESS__ROLE_PROBABILITY], r->bytes, rows, error));
    pess__npy_double(&r->array[PESS__ROLE_PROBABILITY].header.type, r->bytes, rows, block->probability);
    return PESS_OK;
}

static pess_status next_npz(pess__stream *stream, pess__portion *portion, pess_error *error) {
    npz_reader *r = stream->reader;
    return pess__cutter_next(&r->cutter, stream, fill, portion, error);
}

const pess__format pess__format_npz = {.info = {.name = "npz",
                                                .extensions = ".npz",
                                                .summary = "NumPy arrays of the same names in a zip file",
                                                .reads = true,
                                                .writes = true},
                                       .matches = matches,
                                       .open = open_npz,
                                       .next = next_npz,
                                       .close = close_npz,
                                       .write = pess__npz_write};
