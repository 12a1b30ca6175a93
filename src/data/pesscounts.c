#include "data/pesscounts.h"

#include "core/memory.h"
#include "data/format.h"
#include "data/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

const uint8_t pess__pesscounts_magic[8] = {0x89, 'P', 'C', 'N', 'T', 0x0D, 0x0A, 0x1A};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are read and written as they lie in memory");

enum { RECORDS = 1 << 14 /* at a time */, SQUARES = 2 /* the kind of record */ };

typedef struct counts_reader {
    pess__pesscounts_header header;
    int64_t offset; /* of what is read next */
    uint32_t crc;   /* of what was read behind the header */
    int64_t done;   /* records */
    int64_t transitions;
    pess__pesscounts_record last;
    pess__pesscounts_record *record; /* [RECORDS] */
    pess__block block;
} counts_reader;

static bool matches(const uint8_t *head, size_t length) {
    return length >= sizeof pess__pesscounts_magic &&
           memcmp(head, pess__pesscounts_magic, sizeof pess__pesscounts_magic) == 0;
}

static pess_status damaged(const pess__stream *stream, const char *what, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: %s: the file is damaged or truncated; count the log again",
                      pess__infile_name(stream->file), what);
}

/* The next bytes of the file, which the checksum covers. */
static pess_status take(pess__stream *stream, counts_reader *r, void *to, int64_t bytes, pess_error *error) {
    PESS_TRY(pess__infile_at(stream->file, r->offset, to, (size_t)bytes, error));
    r->crc = (uint32_t)crc32_z(r->crc, to, (size_t)bytes);
    r->offset += bytes;
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ header */

static bool sizes_fit(const pess__pesscounts_header *h, int64_t size) {
    int64_t left = size - (int64_t)sizeof *h - (int64_t)sizeof h->crc;
    for (int k = 0; k < PESS__NUMBERINGS; k++) {
        if (h->name_bytes[k] < 0 || h->name_bytes[k] > left) return false;
        left -= h->name_bytes[k];
    }
    if (h->states < 1 || h->states > PESS_MAX_STATES || h->actions < 1 || h->actions > PESS_MAX_ACTIONS) return false;
    if (h->flags & PESS__COUNTS_STARTS) left -= h->states * (int64_t)sizeof(int64_t);
    const int64_t start = sizeof(pess__pesscounts_start), record = sizeof(pess__pesscounts_record);
    if (left < 0 || h->episodes < 0 || h->episodes > left / start) return false;
    left -= h->episodes * start;
    return h->records >= 1 && left % record == 0 && h->records == left / record;
}

static bool contents_fit(const pess__pesscounts_header *h) {
    for (int k = 0; k < PESS__NUMBERINGS; k++)
        if ((h->name_bytes[k] > 0) != ((h->flags & (uint32_t)(PESS__COUNTS_NAMED << k)) != 0)) return false;
    if ((h->flags & PESS__COUNTS_EPISODES) == 0 && (h->episodes > 0 || h->name_bytes[PESS__EPISODES] > 0)) return false;
    if (h->flags & PESS__COUNTS_EPISODES && h->flags & PESS__COUNTS_STARTS) return false;
    if (!isfinite(h->reward_min) || !isfinite(h->reward_max) || h->reward_min > h->reward_max) return false;
    return h->flags < PESS__COUNTS_FLAGS && h->cutoffs >= 0 && h->cutoffs <= h->transitions &&
           h->transitions <= PESS__MAX_TRANSITIONS;
}

static pess_status read_header(pess__stream *stream, counts_reader *r, pess_error *error) {
    pess__pesscounts_header *h = &r->header;
    const char *name = pess__infile_name(stream->file);
    int64_t size = 0;
    PESS_TRY(pess__infile_at(stream->file, 0, h, sizeof *h, error));
    if (!matches(h->magic, sizeof h->magic)) return pess__fail(error, PESS_INPUT, "%s: is not a file of counts", name);
    PESS_TRY(pess__infile_size(stream->file, &size, error));
    if (h->version != PESS__PESSCOUNTS_VERSION)
        return pess__fail(error, PESS_INPUT, "%s: found version %u of the format, expected %d", name, h->version,
                          PESS__PESSCOUNTS_VERSION);
    const uint32_t crc = h->crc;
    h->crc = 0;
    if (crc32_z(0, (const uint8_t *)h, sizeof *h) != crc)
        return damaged(stream, "the header's checksum is wrong", error);
    if (h->size != size)
        return pess__fail(error, PESS_INPUT, "%s: found %lld bytes, expected %lld: the file is damaged or truncated",
                          name, (long long)size, (long long)h->size);
    if (!sizes_fit(h, size) || !contents_fit(h)) return damaged(stream, "the header contradicts itself", error);
    r->offset = sizeof *h;
    return PESS_OK;
}

static void set_sizes(pess__stream *stream, const pess__pesscounts_header *h) {
    if (!stream->states_declared) {
        stream->states = h->states;
        stream->states_declared = (h->flags & PESS__COUNTS_STATES_DECLARED) != 0;
    }
    if (!stream->actions_declared) {
        stream->actions = h->actions;
        stream->actions_declared = (h->flags & PESS__COUNTS_ACTIONS_DECLARED) != 0;
    }
    stream->has_episode = (h->flags & PESS__COUNTS_EPISODES) != 0;
}

/* ------------------------------------------------------------------------------------------------ names, starts */

/* In ascending order, so that the same names have the same numbers in every file that has them all. */
static pess_status parse_names(pess__stream *stream, const char *text, int64_t bytes, pess_names *names,
                               pess_error *error) {
    const char *before = "";
    for (int64_t at = 0; at < bytes;) {
        const char *name = text + at, *end = memchr(name, '\0', (size_t)(bytes - at));
        if (end == NULL || !pess__names_valid(name, (size_t)(end - name)))
            return damaged(stream, "a name is not UTF-8", error);
        if (strcmp(before, name) >= 0) return damaged(stream, "names are not in ascending order", error);
        int64_t id = 0;
        PESS_TRY(pess__names_add(names, name, (size_t)(end - name), &id, error));
        before = name;
        at = end + 1 - text;
    }
    return PESS_OK;
}

static pess_status read_names(pess__stream *stream, counts_reader *r, int numbering, pess_names **out,
                              pess_error *error) {
    const int64_t bytes = r->header.name_bytes[numbering];
    if (bytes == 0) return PESS_OK;
    char *text = NULL;
    PESS_TRY(pess__allocate(&text, bytes, 1, "names", error));
    pess_status status = take(stream, r, text, bytes, error);
    if (status == PESS_OK) status = pess__names_create(out, error);
    if (status == PESS_OK) status = parse_names(stream, text, bytes, *out, error);
    free(text);
    return status;
}

static pess_status read_episodes(pess__stream *stream, counts_reader *r, pess__counted *counted, pess_error *error) {
    const int64_t count = r->header.episodes;
    PESS_TRY(pess__allocate(&counted->episode, count, sizeof *counted->episode, "episode starts", error));
    PESS_TRY(pess__allocate(&counted->step, count, sizeof *counted->step, "episode starts", error));
    PESS_TRY(pess__allocate(&counted->first_state, count, sizeof *counted->first_state, "episode starts", error));
    counted->episodes = count;
    const int64_t named = pess_names_count(stream->episode_names);
    for (int64_t i = 0; i < count; i++) {
        pess__pesscounts_start start;
        PESS_TRY(take(stream, r, &start, sizeof start, error));
        if (start.state >= r->header.states || start.zero != 0 || (i > 0 && start.episode <= counted->episode[i - 1]) ||
            (named > 0 && (start.episode < 0 || start.episode >= named)))
            return damaged(stream, "the start of an episode is impossible", error);
        counted->episode[i] = start.episode;
        counted->step[i] = start.step;
        counted->first_state[i] = start.state;
    }
    return PESS_OK;
}

static pess_status read_starts(pess__stream *stream, counts_reader *r, pess__counted *counted, pess_error *error) {
    const int64_t states = r->header.states;
    counted->starts_known = true;
    PESS_TRY(pess__allocate(&counted->starts, states > stream->states ? states : stream->states,
                            sizeof *counted->starts, "episode starts", error));
    PESS_TRY(take(stream, r, counted->starts, states * (int64_t)sizeof *counted->starts, error));
    for (int64_t s = 0; s < states; s++)
        if (counted->starts[s] < 0 || counted->starts[s] > r->header.transitions ||
            (counted->starts[s] > 0 && s >= stream->states))
            return damaged(stream, "the number of starts is impossible", error);
    return PESS_OK;
}

static pess_status read_front(pess__stream *stream, counts_reader *r, pess_error *error) {
    pess_names **const names[] = {&stream->state_names, &stream->action_names, &stream->episode_names};
    const pess__pesscounts_header *h = &r->header;
    for (int k = 0; k < PESS__NUMBERINGS; k++) PESS_TRY(read_names(stream, r, k, names[k], error));
    if (pess_names_count(stream->state_names) > h->states || pess_names_count(stream->action_names) > h->actions)
        return damaged(stream, "there are more names than states or actions", error);
    pess__counted *counted = NULL;
    PESS_TRY(pess__allocate(&counted, 1, sizeof *counted, "a counted log", error));
    stream->counted = counted;
    counted->squares = (h->flags & PESS__COUNTS_SQUARES) != 0;
    counted->range = (h->flags & PESS__COUNTS_RANGE) != 0;
    counted->reward_min = counted->range ? h->reward_min : INFINITY;
    counted->reward_max = counted->range ? h->reward_max : -INFINITY;
    counted->cutoffs = h->cutoffs;
    if (h->flags & PESS__COUNTS_STARTS) PESS_TRY(read_starts(stream, r, counted, error));
    return h->flags & PESS__COUNTS_EPISODES ? read_episodes(stream, r, counted, error) : PESS_OK;
}

static pess_status open_pesscounts(pess__stream *stream, pess_error *error) {
    counts_reader *r = NULL;
    PESS_TRY(pess__allocate(&r, 1, sizeof *r, "a reader of counts", error));
    stream->reader = r;
    PESS_TRY(read_header(stream, r, error));
    set_sizes(stream, &r->header);
    PESS_TRY(read_front(stream, r, error));
    PESS_TRY(pess__allocate(&r->record, RECORDS, sizeof *r->record, "records", error));
    PESS_TRY(pess__block_create(&r->block, RECORDS, false, false, false, error));
    PESS_TRY(pess__block_add_counts(&r->block, RECORDS, false, false, error));
    return pess__allocate(&r->block.rest, RECORDS, sizeof *r->block.rest, "records", error);
}

static void close_pesscounts(pess__stream *stream) {
    counts_reader *r = stream->reader;
    if (r == NULL) return;
    pess__block_free(&r->block);
    free(r->record);
    free(r);
}

/* ------------------------------------------------------------------------------------------------ records */

static int compare_keys(const pess__pesscounts_record *a, const pess__pesscounts_record *b) {
    if (a->state != b->state) return a->state < b->state ? -1 : 1;
    if (a->action != b->action) return a->action < b->action ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return (a->next_state > b->next_state) - (a->next_state < b->next_state);
}

/* What is wrong with a record; NULL: nothing. */
static const char *find_fault(const pess__stream *stream, const counts_reader *r, const pess__pesscounts_record *now) {
    const bool first = r->done == 0;
    const int order = first ? -1 : compare_keys(&r->last, now);
    const bool squares = now->kind == SQUARES;
    if (now->state >= stream->states || now->next_state >= stream->states || now->action >= stream->actions)
        return "a state or action is beyond the number there are";
    if ((stream->state_names != NULL && (now->state >= pess_names_count(stream->state_names) ||
                                         now->next_state >= pess_names_count(stream->state_names))) ||
        (stream->action_names != NULL && now->action >= pess_names_count(stream->action_names)))
        return "a state or action has no name";
    if (now->kind > SQUARES) return "a record is of no known kind";
    if (!isfinite(now->value) || !isfinite(now->rest)) return "a sum of rewards is not finite";
    if (order > 0) return "records are not in ascending order";
    if (squares ? now->n != 0 || now->next_state != 0 : now->n < 0 || (now->n == 0) != (order == 0))
        return "a record counts an impossible number of transitions";
    if (now->n > r->header.transitions - r->transitions) return "there are more transitions than the header says";
    return NULL;
}

static void add_to_block(pess__block *block, const pess__pesscounts_record *record) {
    static const uint8_t end_of[] = {PESS_END_NONE, PESS_END_TERMINAL, PESS__END_SQUARES};
    const int64_t i = block->rows++;
    block->state[i] = record->state;
    block->action[i] = record->action;
    block->next_state[i] = record->next_state;
    block->end[i] = end_of[record->kind];
    block->count[i] = record->n;
    block->reward[i] = record->value;
    block->rest[i] = record->rest;
}

static pess_status check_end(pess__stream *stream, counts_reader *r, pess_error *error) {
    uint32_t crc = 0;
    PESS_TRY(pess__infile_at(stream->file, r->offset, &crc, sizeof crc, error));
    if (crc != r->crc) return damaged(stream, "the checksum is wrong", error);
    if (r->transitions != r->header.transitions)
        return damaged(stream, "there are fewer transitions than the header says", error);
    return PESS_OK;
}

static pess_status next_pesscounts(pess__stream *stream, pess__portion *portion, pess_error *error) {
    counts_reader *r = stream->reader;
    const int64_t left = r->header.records - r->done, now = left < RECORDS ? left : RECORDS;
    if (now == 0) return PESS_OK;
    PESS_TRY(take(stream, r, r->record, now * (int64_t)sizeof *r->record, error));
    r->block.rows = 0;
    for (int64_t i = 0; i < now; i++) {
        const char *fault = find_fault(stream, r, &r->record[i]);
        if (fault != NULL)
            return pess__fail(error, PESS_INPUT, "%s: record %lld: %s: the file is damaged; count the log again",
                              pess__infile_name(stream->file), (long long)r->done, fault);
        add_to_block(&r->block, &r->record[i]);
        r->transitions += r->record[i].n;
        r->last = r->record[i];
        r->done++;
    }
    r->block.max_state = (uint32_t)stream->states - 1;
    r->block.max_action = (uint32_t)stream->actions - 1;
    portion->blocks = &r->block;
    portion->count = 1;
    return r->done == r->header.records ? check_end(stream, r, error) : PESS_OK;
}

static pess_status refuse_rows(const pess_dataset *data, const char *path, pess_error *error) {
    (void)data;
    return pess__fail(error, PESS_ARGUMENT, "%s: rows cannot be written as counts; count the log that they are of",
                      path);
}

const pess__format pess__format_pesscounts = {
    .info = {.name = "pesscounts",
             .extensions = ".pesscounts",
             .summary = "a log that was counted: exact sums, to be merged with others and solved without its rows",
             .reads = true,
             .writes = false},
    .matches = matches,
    .open = open_pesscounts,
    .next = next_pesscounts,
    .close = close_pesscounts,
    .write = refuse_rows};
