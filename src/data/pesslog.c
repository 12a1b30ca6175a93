/* The library's own log files (.pesslog): little-endian, a header of 64 bytes, a table of sections, then one section
 * per column or table of names, each on a 64-byte boundary with a CRC-32. docs/formats.md has the layout byte for byte.
 */
#include "core/memory.h"
#include "core/outfile.h"
#include "data/columns.h"
#include "data/format.h"
#include "data/names.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const uint8_t magic[8] = {0x89, 'P', 'E', 'S', 'S', 0x0D, 0x0A, 0x1A};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are read and written as they lie in memory");

enum { VERSION = 1, HEADER = 64, ENTRY = 32, ALIGNMENT = 64, FLAG_STATES = 1, FLAG_ACTIONS = 2 };

typedef enum section_kind {
    STATE = 1,
    ACTION,
    NEXT_STATE,
    REWARD,
    END,
    EPISODE,
    STEP,
    PROBABILITY,
    STATE_NAMES,
    ACTION_NAMES,
    EPISODE_NAMES,
    KINDS
} section_kind;

static const char *const kind_name[KINDS] = {
    "",        "state", "action",      "next_state",  "reward",       "end",
    "episode", "step",  "probability", "state names", "action names", "episode names"};
static const uint8_t element_size[KINDS] = {0, 4, 4, 4, 8, 1, 8, 8, 8, 1, 1, 1};

typedef struct section {
    bool present;
    uint32_t crc;
    int64_t offset, bytes, items;
    uint32_t running; /* CRC of what was read so far */
} section;

typedef struct native_reader {
    section section[KINDS];
    pess__cutter cutter;
} native_reader;

static bool matches(const uint8_t *head, size_t length) {
    return length >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

static pess_status damaged(const pess__stream *stream, const char *what, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: %s: the file is damaged or truncated; write it again",
                      pess__infile_name(stream->file), what);
}

/* ------------------------------------------------------------------------------------------------ reading */

static pess_status read_sections(pess__stream *stream, native_reader *r, const uint8_t *header, int64_t size,
                                 int64_t rows, pess_error *error) {
    const uint32_t count = pess__get32(header + 40);
    int64_t behind = HEADER + (int64_t)ENTRY * count;
    uint32_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *entry = header + HEADER + (size_t)ENTRY * i;
        const uint32_t kind = pess__get32(entry);
        const uint64_t offset = pess__get64(entry + 8), bytes = pess__get64(entry + 16),
                       items = pess__get64(entry + 24);
        if (kind <= last || kind >= KINDS) return damaged(stream, "an unknown section", error);
        if (offset % ALIGNMENT != 0 || offset < (uint64_t)behind || offset > (uint64_t)size ||
            bytes > (uint64_t)size - offset || items > bytes)
            return damaged(stream, "a section lies outside of the file", error);
        if (kind < STATE_NAMES && (items != (uint64_t)rows || bytes != (uint64_t)rows * element_size[kind]))
            return damaged(stream, "a column has the wrong size", error);
        r->section[kind] = (section){true, pess__get32(entry + 4), (int64_t)offset, (int64_t)bytes, (int64_t)items, 0};
        behind = (int64_t)(offset + bytes);
        last = kind;
    }
    for (int kind = STATE; kind <= END; kind++)
        if (!r->section[kind].present) return damaged(stream, "a required column is missing", error);
    return PESS_OK;
}

static pess_status check_header(pess__stream *stream, const uint8_t *header, int64_t size, pess_error *error) {
    const char *name = pess__infile_name(stream->file);
    if (pess__get32(header + 8) != VERSION)
        return pess__fail(error, PESS_INPUT, "%s: found version %u of the format, expected %d", name,
                          pess__get32(header + 8), VERSION);
    if (pess__get32(header + 40) >= KINDS) return damaged(stream, "too many sections", error);
    if (pess__get64(header + 48) != (uint64_t)size)
        return pess__fail(error, PESS_INPUT, "%s: found %lld bytes, expected %llu: the file is damaged or truncated",
                          name, (long long)size, (unsigned long long)pess__get64(header + 48));
    return PESS_OK;
}

static pess_status read_header(pess__stream *stream, native_reader *r, int64_t *rows, pess_error *error) {
    uint8_t header[HEADER + ENTRY * KINDS];
    int64_t size = 0;
    PESS_TRY(pess__infile_at(stream->file, 0, header, HEADER, error));
    if (!matches(header, HEADER))
        return pess__fail(error, PESS_INPUT, "%s: is not a pesslog file", pess__infile_name(stream->file));
    PESS_TRY(pess__infile_size(stream->file, &size, error));
    PESS_TRY(check_header(stream, header, size, error));
    const size_t table = (size_t)ENTRY * pess__get32(header + 40);
    PESS_TRY(pess__infile_at(stream->file, HEADER, header + HEADER, table, error));
    const uint32_t crc = pess__get32(header + 60);
    pess__put(header + 60, 0, 4);
    if (crc32(0, header, (uInt)(HEADER + table)) != crc)
        return damaged(stream, "the header's checksum is wrong", error);
    const uint64_t count = pess__get64(header + 16), states = pess__get64(header + 24),
                   actions = pess__get64(header + 32);
    if (count > (uint64_t)size || states > (uint64_t)PESS_MAX_STATES || actions > (uint64_t)PESS_MAX_ACTIONS)
        return damaged(stream, "the sizes are beyond the limits", error);
    *rows = (int64_t)count;
    const uint32_t flags = pess__get32(header + 12);
    if (!stream->states_declared) {
        stream->states = (int64_t)states;
        stream->states_declared = (flags & FLAG_STATES) != 0;
    }
    if (!stream->actions_declared) {
        stream->actions = (int64_t)actions;
        stream->actions_declared = (flags & FLAG_ACTIONS) != 0;
    }
    return read_sections(stream, r, header, size, *rows, error);
}

static pess_status parse_names(pess__stream *stream, const section *at, const char *text, pess_names *names,
                               pess_error *error) {
    int64_t done = 0;
    for (int64_t i = 0; i < at->items; i++) {
        const char *end = memchr(text + done, '\0', (size_t)(at->bytes - done));
        if (end == NULL) return damaged(stream, "a table of names ends early", error);
        const size_t length = (size_t)(end - (text + done));
        int64_t id = -1;
        if (length == 0 || !pess__names_valid(text + done, length))
            return damaged(stream, "a name is not UTF-8", error);
        PESS_TRY(pess__names_add(names, text + done, length, &id, error));
        if (id != i) return damaged(stream, "a name occurs twice", error);
        done += (int64_t)length + 1;
    }
    return done == at->bytes ? PESS_OK : damaged(stream, "a table of names is too long", error);
}

static pess_status read_names(pess__stream *stream, const section *at, pess_names **out, pess_error *error) {
    if (!at->present) return PESS_OK;
    char *text = NULL;
    pess_names *names = NULL;
    PESS_TRY(pess__allocate(&text, at->bytes, 1, "names", error));
    pess_status status = pess__infile_at(stream->file, at->offset, text, (size_t)at->bytes, error);
    if (status == PESS_OK && crc32_z(0, (const uint8_t *)text, (size_t)at->bytes) != at->crc)
        status = damaged(stream, "the checksum of a table of names is wrong", error);
    if (status == PESS_OK) status = pess__names_create(&names, error);
    if (status == PESS_OK) status = parse_names(stream, at, text, names, error);
    free(text);
    if (status == PESS_OK)
        *out = names;
    else
        pess_names_destroy(names);
    return status;
}

static pess_status open_pesslog(pess__stream *stream, pess_error *error) {
    native_reader *r = NULL;
    int64_t rows = 0;
    PESS_TRY(pess__allocate(&r, 1, sizeof *r, "a log reader", error));
    stream->reader = r;
    PESS_TRY(read_header(stream, r, &rows, error));
    PESS_TRY(read_names(stream, &r->section[STATE_NAMES], &stream->state_names, error));
    PESS_TRY(read_names(stream, &r->section[ACTION_NAMES], &stream->action_names, error));
    PESS_TRY(read_names(stream, &r->section[EPISODE_NAMES], &stream->episode_names, error));
    if (pess_names_count(stream->state_names) > stream->states ||
        pess_names_count(stream->action_names) > stream->actions)
        return pess__fail(
            error, PESS_INPUT, "%s: found %lld state names and %lld action names, expected at most %lld and %lld",
            pess__infile_name(stream->file), (long long)pess_names_count(stream->state_names),
            (long long)pess_names_count(stream->action_names), (long long)stream->states, (long long)stream->actions);
    stream->has_episode = r->section[EPISODE].present;
    stream->has_step = r->section[STEP].present;
    stream->has_probability = r->section[PROBABILITY].present;
    if (!stream->has_episode && r->section[EPISODE_NAMES].present)
        return damaged(stream, "there are names of episodes but no episodes", error);
    return pess__cutter_create(&r->cutter, stream, rows, PESS__BLOCK_ROWS, error);
}

static pess_status read_slice(pess__stream *stream, section *at, int kind, void *to, int64_t first, int64_t rows,
                              pess_error *error) {
    const size_t size = element_size[kind], bytes = (size_t)rows * size;
    PESS_TRY(pess__infile_at(stream->file, at->offset + first * (int64_t)size, to, bytes, error));
    at->running = (uint32_t)crc32_z(at->running, to, bytes);
    return PESS_OK;
}

/* Where there are names, every id has one. */
static pess_status check_named(const pess__stream *stream, const pess__block *block, pess_error *error) {
    const int64_t states = stream->state_names != NULL ? pess_names_count(stream->state_names) : PESS_MAX_STATES;
    const int64_t actions = stream->action_names != NULL ? pess_names_count(stream->action_names) : PESS_MAX_ACTIONS;
    const int64_t episodes = pess_names_count(stream->episode_names);
    for (int64_t i = 0; i < block->rows; i++)
        if (block->state[i] >= states || block->next_state[i] >= states || block->action[i] >= actions ||
            (stream->episode_names != NULL && (block->episode[i] < 0 || block->episode[i] >= episodes)))
            return damaged(stream, "a state, action or episode is beyond the limits or has no name", error);
    return PESS_OK;
}

static pess_status fill(pess__stream *stream, pess__block *block, int64_t first, pess_error *error) {
    native_reader *r = stream->reader;
    void *const to[KINDS] = {NULL,       block->state,   block->action, block->next_state, block->reward,
                             block->end, block->episode, block->step,   block->probability};
    for (int kind = STATE; kind <= PROBABILITY; kind++)
        if (to[kind] != NULL)
            PESS_TRY(read_slice(stream, &r->section[kind], kind, to[kind], first, block->rows, error));
    PESS_TRY(check_named(stream, block, error));
    if (first + block->rows < r->cutter.rows) return PESS_OK;
    for (int kind = STATE; kind <= PROBABILITY; kind++)
        if (r->section[kind].present && r->section[kind].running != r->section[kind].crc)
            return pess__fail(error, PESS_INPUT, "%s: the checksum of the column '%s' is wrong: the file is damaged",
                              pess__infile_name(stream->file), kind_name[kind]);
    return PESS_OK;
}

static pess_status next_pesslog(pess__stream *stream, pess__portion *portion, pess_error *error) {
    native_reader *r = stream->reader;
    return pess__cutter_next(&r->cutter, stream, fill, portion, error);
}

static void close_pesslog(pess__stream *stream) {
    native_reader *r = stream->reader;
    if (r == NULL) return;
    pess__cutter_free(&r->cutter);
    free(r);
}

/* ------------------------------------------------------------------------------------------------ writing */

/* A column's bytes as they go to the file; names are laid out first. */
typedef struct piece {
    const void *bytes;
    int64_t size, items;
} piece;

static pess_status lay_out_names(const pess_names *names, piece *out, void **owned, pess_error *error) {
    const int64_t count = pess_names_count(names);
    int64_t size = 0;
    for (int64_t i = 0; i < count; i++) size += (int64_t)strlen(pess_names_get(names, i)) + 1;
    char *text = NULL;
    PESS_TRY(pess__allocate(&text, size, 1, "names", error));
    *owned = text;
    *out = (piece){text, size, count};
    for (int64_t i = 0; i < count; i++) {
        const char *name = pess_names_get(names, i);
        const size_t length = strlen(name) + 1;
        memcpy(text, name, length);
        text += length;
    }
    return PESS_OK;
}

static void write_pieces(const pess_dataset *data, const piece *pieces, pess__outfile *file) {
    static const uint8_t zeros[ALIGNMENT];
    uint8_t header[HEADER + ENTRY * KINDS] = {0};
    uint32_t count = 0;
    for (int kind = STATE; kind < KINDS; kind++) count += pieces[kind].bytes != NULL;
    const size_t head = HEADER + (size_t)ENTRY * count;
    int64_t offset = (int64_t)((head + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT), end = (int64_t)head;
    uint8_t *entry = header + HEADER;
    for (int kind = STATE; kind < KINDS; kind++) {
        const piece *p = &pieces[kind];
        if (p->bytes == NULL) continue;
        pess__put(entry, (uint64_t)kind, 4);
        pess__put(entry + 4, crc32_z(0, p->bytes, (size_t)p->size), 4);
        pess__put(entry + 8, (uint64_t)offset, 8);
        pess__put(entry + 16, (uint64_t)p->size, 8);
        pess__put(entry + 24, (uint64_t)p->items, 8);
        entry += ENTRY;
        end = offset + p->size;
        offset = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    memcpy(header, magic, sizeof magic);
    pess__put(header + 8, VERSION, 4);
    pess__put(header + 12, (data->states_declared ? FLAG_STATES : 0u) | (data->actions_declared ? FLAG_ACTIONS : 0u),
              4);
    pess__put(header + 16, (uint64_t)data->rows, 8);
    pess__put(header + 24, (uint64_t)data->states, 8);
    pess__put(header + 32, (uint64_t)data->actions, 8);
    pess__put(header + 40, count, 4);
    pess__put(header + 48, (uint64_t)end, 8);
    pess__put(header + 60, crc32(0, header, (uInt)head), 4);
    pess__outfile_write(file, header, head);
    int64_t at = (int64_t)head;
    for (int kind = STATE; kind < KINDS; kind++) {
        if (pieces[kind].bytes == NULL) continue;
        pess__outfile_write(file, zeros, (size_t)((ALIGNMENT - at % ALIGNMENT) % ALIGNMENT));
        pess__outfile_write(file, pieces[kind].bytes, (size_t)pieces[kind].size);
        at = (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + pieces[kind].size;
    }
}

static pess_status write_pesslog(const pess_dataset *data, const char *path, pess_error *error) {
    const int64_t n = data->rows;
    piece pieces[KINDS] = {{0},
                           {data->state, 4 * n, n},
                           {data->action, 4 * n, n},
                           {data->next_state, 4 * n, n},
                           {data->reward, 8 * n, n},
                           {data->end, n, n},
                           {data->episode, 8 * n, n},
                           {data->step, 8 * n, n},
                           {data->probability, 8 * n, n}};
    const pess_names *const names[] = {data->state_names, data->action_names, data->episode_names};
    void *owned[] = {NULL, NULL, NULL};
    pess_status status = PESS_OK;
    for (int i = 0; i < 3 && status == PESS_OK; i++)
        if (names[i] != NULL) status = lay_out_names(names[i], &pieces[STATE_NAMES + i], &owned[i], error);
    pess__outfile *file = NULL;
    if (status == PESS_OK) status = pess__outfile_open(path, &file, error);
    if (status == PESS_OK) {
        write_pieces(data, pieces, file);
        status = pess__outfile_commit(file, error);
    }
    for (int i = 0; i < 3; i++) free(owned[i]);
    return status;
}

const pess__format pess__format_pesslog = {.info = {.name = "pesslog",
                                                    .extensions = ".pesslog",
                                                    .summary = "binary columns with checksums; the fastest to read",
                                                    .reads = true,
                                                    .writes = true},
                                           .matches = matches,
                                           .open = open_pesslog,
                                           .next = next_pesslog,
                                           .close = close_pesslog,
                                           .write = write_pesslog};
