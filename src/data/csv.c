/* CSV logs: columns by name in any order, RFC 4180 quoting, gzip. The text is read in portions, cut into chunks at row
 * ends, and the chunks are parsed in parallel; names are numbered afterwards in file order, so that nothing depends on
 * the number of threads. */
#include "core/memory.h"
#include "core/outfile.h"
#include "data/csv_chunk.h"
#include "data/format.h"
#include "data/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 4096, CHUNKS_PER_THREAD = 16, FIRST_BUFFER = 1 << 16 };

typedef struct csv_reader {
    pess__csv_layout layout;
    char *buffer;
    size_t capacity, full; /* of the buffer; what it may grow to */
    size_t held;           /* bytes at the front of buffer that are not parsed yet */
    bool filled;           /* the buffer was filled once */
    bool at_end;           /* the file has no more bytes */
    int64_t line;          /* of the first byte held */
    int64_t chunks, created;
    pess__csv_chunk *chunk; /* [chunks] */
    pess__block *blocks;    /* [chunks] what the last portion showed; the memory is the chunks' */
    int64_t *remap;         /* scratch: chunk's own name id -> id in the whole log */
    int64_t remap_capacity;
} csv_reader;

static bool matches(const uint8_t *head, size_t length) {
    (void)head;
    (void)length;
    return true;
}

/* ------------------------------------------------------------------------------------------------ header */

/* The buffer begins small, as most files are, and grows to its full size when the first text does not fit. */
static pess_status fill(pess__stream *stream, csv_reader *r, pess_error *error) {
    size_t got = 0;
    if (r->filled && r->capacity < r->full) {
        int64_t capacity = (int64_t)r->capacity;
        PESS_TRY(pess__grow(&r->buffer, &capacity, (int64_t)r->full, 1, "text of the log", error));
        r->capacity = (size_t)capacity;
    }
    const size_t room = r->capacity - 1 - r->held; /* one byte is kept for a missing last line feed */
    if (r->at_end || room == 0) return PESS_OK;
    r->filled = true;
    PESS_TRY(pess__infile_read(stream->file, r->buffer + r->held, room, &got, error));
    r->held += got;
    r->at_end = got < room;
    if (r->at_end && r->held > 0 && r->buffer[r->held - 1] != '\n') r->buffer[r->held++] = '\n';
    return PESS_OK;
}

static void consume(csv_reader *r, size_t bytes) {
    r->held -= bytes;
    memmove(r->buffer, r->buffer + bytes, r->held);
}

/* The first row end at or behind `from`; NULL: none. A line feed inside quotes ends no row; *inside says whether `from`
 * is inside them, and is kept up to date. */
static char *row_end(char *from, char *end, bool has_quotes, bool *inside) {
    if (!has_quotes) return from < end ? memchr(from, '\n', (size_t)(end - from)) : NULL;
    for (char *c = from; c < end; c++) {
        if (*c == '"') *inside = !*inside;
        if (*c == '\n' && !*inside) return c;
    }
    return NULL;
}

static bool is_called(const pess__csv_field *field, pess__role role) {
    return strlen(pess__role_name[role]) == field->length &&
           memcmp(pess__role_name[role], field->text, field->length) == 0;
}

/* A counted log has `count` and `reward_sum` instead of `reward`. */
static bool is_counted(const pess__csv_field *fields, int64_t columns) {
    bool has[PESS__ROLES] = {false};
    for (int64_t i = 0; i < columns; i++)
        for (int role = PESS__ROLE_STATE; role < PESS__ROLES; role++)
            has[role] |= is_called(&fields[i], (pess__role)role);
    return has[PESS__ROLE_COUNT] && has[PESS__ROLE_REWARD_SUM] && !has[PESS__ROLE_REWARD];
}

/* Columns of rows mean nothing in a counted log, and the other way round. */
static pess__role role_of(const pess__csv_field *field, bool counted) {
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES; role++) {
        const bool both = role != PESS__ROLE_REWARD && role <= PESS__ROLE_TRUNCATED;
        if ((both || counted == (role >= PESS__LOG_ROLES)) && is_called(field, (pess__role)role))
            return (pess__role)role;
    }
    return PESS__ROLE_IGNORED;
}

/* The header as it was found, for messages. */
static const char *list_columns(const pess__csv_field *fields, int64_t count, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < count && i < 12 && used + PESS__SHOWN_SIZE + 8 < size; i++) {
        char shown[PESS__SHOWN_SIZE];
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 pess__shown(fields[i].text, fields[i].length, shown));
    }
    return text;
}

static pess_status set_roles(pess__stream *stream, csv_reader *r, const pess__csv_field *fields, int64_t count,
                             pess_error *error) {
    const char *name = pess__infile_name(stream->file);
    pess__csv_layout *layout = &r->layout;
    PESS_TRY(pess__allocate(&layout->role, count, 1, "a header", error));
    layout->columns = count;
    layout->counted = is_counted(fields, count);
    for (int64_t i = 0; i < count; i++) {
        const pess__role role = role_of(&fields[i], layout->counted);
        layout->role[i] = (uint8_t)role;
        if (role != PESS__ROLE_IGNORED && layout->has[role])
            return pess__fail(error, PESS_INPUT, "%s:%lld:%lld: found the column '%.*s' twice, expected it once", name,
                              (long long)fields[i].line, (long long)fields[i].column, (int)fields[i].length,
                              fields[i].text);
        layout->has[role] = true;
    }
    if (layout->has[PESS__ROLE_REWARD_MIN] != layout->has[PESS__ROLE_REWARD_MAX]) /* one alone says nothing */
        for (int64_t i = 0; i < count; i++)
            if (layout->role[i] >= PESS__ROLE_REWARD_MIN) layout->role[i] = PESS__ROLE_IGNORED;
    static const uint8_t core[] = {PESS__ROLE_STATE, PESS__ROLE_ACTION, PESS__ROLE_REWARD, PESS__ROLE_NEXT_STATE};
    layout->core = -1;
    for (int64_t i = 0; i + 4 <= count; i++)
        if (memcmp(layout->role + i, core, sizeof core) == 0) layout->core = i;
    for (int role = PESS__ROLE_STATE; role <= PESS__ROLE_NEXT_STATE; role++) {
        char text[400];
        if (!layout->has[role] && !(layout->counted && role == PESS__ROLE_REWARD))
            return pess__fail(error, PESS_INPUT,
                              "%s:%lld:1: found no column '%s' among %s; expected a first line that names the columns "
                              "state,action,reward,next_state",
                              name, (long long)fields[0].line, pess__role_name[role],
                              list_columns(fields, count, text, sizeof text));
    }
    return PESS_OK;
}

/* Reads the header line; the roles are set the first time only. */
static pess_status read_header(pess__stream *stream, csv_reader *r, pess_error *error) {
    PESS_TRY(fill(stream, r, error));
    bool inside = false;
    if (row_end(r->buffer, r->buffer + r->held, true, &inside) == NULL) PESS_TRY(fill(stream, r, error));
    pess__csv_cursor cursor = {r->buffer, r->buffer + r->held, 1};
    if (r->held >= 3 && memcmp(r->buffer, "\xEF\xBB\xBF", 3) == 0) cursor.at += 3;
    pess__csv_problem problem = {0};
    pess__csv_field *fields = NULL;
    int64_t count = 0;
    PESS_TRY(pess__allocate(&fields, MAX_COLUMNS, sizeof *fields, "a header", error));
    const pess__csv_result result = pess__csv_next(&cursor, fields, MAX_COLUMNS, &count, &problem);
    pess_status status = PESS_OK;
    const char *name = pess__infile_name(stream->file);
    if (result == PESS__CSV_BAD)
        status = pess__csv_report(name, &problem, error);
    else if (result == PESS__CSV_END)
        status = pess__fail(error, PESS_INPUT,
                            "%s:1:1: found an empty file, expected a first line that names the columns "
                            "state,action,reward,next_state",
                            name);
    else if (count > MAX_COLUMNS || (cursor.at == cursor.end && !r->at_end))
        status = pess__fail(error, PESS_INPUT, "%s:1:1: found a header of %lld columns or more, expected at most %d",
                            name, (long long)count, MAX_COLUMNS);
    else if (r->layout.role == NULL)
        status = set_roles(stream, r, fields, count, error);
    free(fields);
    if (status != PESS_OK) return status;
    r->line = cursor.line;
    consume(r, (size_t)(cursor.at - r->buffer));
    return PESS_OK;
}

static pess_status open_csv(pess__stream *stream, pess_error *error) {
    csv_reader *r = NULL;
    PESS_TRY(pess__allocate(&r, 1, sizeof *r, "a CSV reader", error));
    stream->reader = r;
    r->chunks = (int64_t)CHUNKS_PER_THREAD * stream->threads;
    r->capacity = FIRST_BUFFER;
    r->full = (size_t)r->chunks * PESS__CSV_CHUNK + 2 * (size_t)PESS__CSV_LONGEST_ROW;
    PESS_TRY(pess__allocate(&r->buffer, (int64_t)r->capacity, 1, "text of the log", error));
    PESS_TRY(pess__allocate(&r->chunk, r->chunks, sizeof *r->chunk, "pieces of the log", error));
    PESS_TRY(pess__allocate(&r->blocks, r->chunks, sizeof *r->blocks, "pieces of the log", error));
    r->layout.declared[PESS__STATES] = stream->states_declared;
    r->layout.declared[PESS__ACTIONS] = stream->actions_declared;
    r->layout.limit[PESS__STATES] = stream->states_declared ? stream->states : PESS_MAX_STATES;
    r->layout.limit[PESS__ACTIONS] = stream->actions_declared ? stream->actions : PESS_MAX_ACTIONS;
    PESS_TRY(read_header(stream, r, error));
    stream->has_episode = r->layout.has[PESS__ROLE_EPISODE];
    stream->has_step = r->layout.has[PESS__ROLE_STEP];
    stream->has_probability = r->layout.has[PESS__ROLE_PROBABILITY];
    if (!r->layout.counted) return PESS_OK;
    PESS_TRY(pess__allocate(&stream->counted, 1, sizeof *stream->counted, "a counted log", error));
    stream->counted->squares = r->layout.has[PESS__ROLE_REWARD_SQUARE_SUM];
    stream->counted->range = r->layout.has[PESS__ROLE_REWARD_MIN] && r->layout.has[PESS__ROLE_REWARD_MAX];
    stream->counted->reward_min = INFINITY;
    stream->counted->reward_max = -INFINITY;
    return PESS_OK;
}

static void close_csv(pess__stream *stream) {
    csv_reader *r = stream->reader;
    if (r == NULL) return;
    for (int64_t i = 0; r->chunk != NULL && i < r->chunks; i++) pess__csv_chunk_free(&r->chunk[i]);
    free(r->layout.role);
    free(r->chunk);
    free(r->blocks);
    free(r->buffer);
    free(r->remap);
    free(r);
}

/* ------------------------------------------------------------------------------------------------ rows */

static bool odd_quotes(const char *from, const char *end) {
    unsigned count = 0;
    for (const char *c = from; c < end; c++) count ^= *c == '"';
    return count != 0;
}

/* Cuts what is held into chunks of whole rows; returns how many, and the bytes they take. */
static int64_t cut(csv_reader *r, size_t *bytes) {
    char *begin = r->buffer, *const end = r->buffer + r->held;
    const bool has_quotes = memchr(r->buffer, '"', r->held) != NULL;
    int64_t count = 0;
    while (count < r->chunks && begin < end) {
        char *target = end - begin > PESS__CSV_CHUNK ? begin + PESS__CSV_CHUNK - 1 : end - 1;
        bool inside = has_quotes && odd_quotes(begin, target);
        char *stop = row_end(target, end, has_quotes, &inside);
        if (stop == NULL && !r->at_end) { /* the last row is cut off: everything before it */
            char *last = has_quotes ? NULL : memrchr(begin, '\n', (size_t)(end - begin));
            inside = false;
            for (char *c = begin; has_quotes && (c = row_end(c, end, has_quotes, &inside)) != NULL; c++) last = c;
            stop = last;
        }
        if (stop == NULL && r->at_end) stop = end - 1; /* an open quote: the parser says so */
        if (stop == NULL) break;
        r->chunk[count].begin = begin;
        r->chunk[count].end = begin = stop + 1;
        count++;
    }
    *bytes = (size_t)(begin - r->buffer);
    return count;
}

static pess_status restart(pess__stream *stream, csv_reader *r, int numbering, pess_error *error) {
    r->layout.named[numbering] = true;
    pess_names **names[] = {&stream->state_names, &stream->action_names, &stream->episode_names};
    for (int f = 0; f < PESS__NUMBERINGS; f++) {
        pess_names_destroy(*names[f]);
        *names[f] = NULL;
        if (r->layout.named[f]) PESS_TRY(pess__names_create(names[f], error));
    }
    PESS_TRY(pess__infile_rewind(stream->file, error));
    for (int64_t i = 0; i < r->chunks; i++) pess__csv_chunk_free(&r->chunk[i]);
    r->created = 0;
    r->held = 0;
    r->at_end = false;
    return read_header(stream, r, error);
}

/* Gives the chunk's names their ids in the whole log. */
static pess_status number_names(pess__stream *stream, csv_reader *r, pess__csv_chunk *chunk, int numbering,
                                pess_names *names, pess_error *error) {
    const int64_t count = pess_names_count(chunk->names[numbering]);
    PESS_TRY(pess__grow(&r->remap, &r->remap_capacity, count + 1, sizeof *r->remap, "names", error));
    for (int64_t i = 0; i < count; i++) {
        const char *name = pess_names_get(chunk->names[numbering], i);
        PESS_TRY(pess__names_add(names, name, strlen(name), &r->remap[i], error));
        if (numbering == PESS__EPISODES || r->remap[i] < r->layout.limit[numbering]) continue;
        char shown[PESS__SHOWN_SIZE];
        pess__csv_problem problem = {0};
        pess__csv_set_problem(&problem, r->line + chunk->first[numbering][i].line, chunk->first[numbering][i].column,
                              "found the %s %s, which is number %lld; expected at most %lld different ones%s",
                              numbering == PESS__STATES ? "state" : "action", pess__shown(name, strlen(name), shown),
                              (long long)r->remap[i] + 1, (long long)r->layout.limit[numbering],
                              r->layout.declared[numbering] ? ", as declared" : "");
        return pess__csv_report(pess__infile_name(stream->file), &problem, error);
    }
    pess__block *block = &chunk->block;
    const uint32_t max_id = (uint32_t)(pess_names_count(names) > 0 ? pess_names_count(names) - 1 : 0);
    for (int64_t i = 0; i < block->rows; i++) {
        if (numbering == PESS__STATES) {
            block->state[i] = (uint32_t)r->remap[block->state[i]];
            block->next_state[i] = (uint32_t)r->remap[block->next_state[i]];
        } else if (numbering == PESS__ACTIONS) {
            block->action[i] = (uint32_t)r->remap[block->action[i]];
        } else {
            block->episode[i] = r->remap[block->episode[i]];
        }
    }
    if (numbering == PESS__STATES) block->max_state = max_id;
    if (numbering == PESS__ACTIONS) block->max_action = max_id;
    return PESS_OK;
}

/* In file order: problems, names, line numbers. *numbering is set where the log has to be read again. */
static pess_status settle(pess__stream *stream, csv_reader *r, int64_t count, int *numbering, pess_error *error) {
    pess_names *const names[] = {stream->state_names, stream->action_names, stream->episode_names};
    for (int64_t i = 0; i < count; i++) {
        pess__csv_chunk *chunk = &r->chunk[i];
        for (int f = 0; f < PESS__NUMBERINGS; f++)
            if (r->layout.named[f]) PESS_TRY(number_names(stream, r, chunk, f, names[f], error));
        if (chunk->problem.status != PESS_OK) {
            chunk->problem.line += r->line;
            return pess__csv_report(pess__infile_name(stream->file), &chunk->problem, error);
        }
        if ((*numbering = chunk->switch_numbering) >= 0) return PESS_OK;
        r->line += chunk->lines;
        r->blocks[i] = chunk->block;
    }
    return PESS_OK;
}

/* Memory for as many chunks as are in use. A file that ends here has no larger ones to come. cut() has already set the
 * places. */
static pess_status create_chunks(csv_reader *r, int64_t count, pess_error *error) {
    const int64_t bytes = r->at_end && r->held < PESS__CSV_CHUNK ? (int64_t)r->held : PESS__CSV_CHUNK;
    for (; r->created < count; r->created++)
        PESS_TRY(pess__csv_chunk_create(&r->chunk[r->created], &r->layout, bytes, error));
    return PESS_OK;
}

static pess_status next_csv(pess__stream *stream, pess__portion *portion, pess_error *error) {
    csv_reader *r = stream->reader;
    for (;;) {
        size_t bytes = 0;
        PESS_TRY(fill(stream, r, error));
        const int64_t count = cut(r, &bytes);
        if (count == 0 && r->held > 0 && r->capacity < r->full) continue; /* the rest of a row: more room first */
        if (count == 0 && r->held > 0)
            return pess__fail(error, PESS_INPUT,
                              "%s:%lld:1: found a row of more than %d bytes, expected a shorter one; is a quote never "
                              "closed?",
                              pess__infile_name(stream->file), (long long)r->line, PESS__CSV_LONGEST_ROW);
        PESS_TRY(create_chunks(r, count, error));
#pragma omp parallel for schedule(dynamic, 1) num_threads(stream->threads) if (count > 1)
        for (int64_t i = 0; i < count; i++) pess__csv_chunk_parse(&r->chunk[i], &r->layout);
        int numbering = -1;
        PESS_TRY(settle(stream, r, count, &numbering, error));
        if (numbering >= 0) {
            PESS_TRY(restart(stream, r, numbering, error));
            portion->restarted = true;
            continue;
        }
        consume(r, bytes);
        portion->blocks = r->blocks;
        portion->count = count;
        return PESS_OK;
    }
}

/* ------------------------------------------------------------------------------------------------ writing */

static void write_id(pess__outfile *file, const pess_names *names, int64_t id) {
    const char *name = pess_names_get(names, id);
    if (name != NULL)
        pess__outfile_field(file, name);
    else
        pess__outfile_print(file, "%lld", (long long)id);
}

static pess_status write_csv(const pess_dataset *data, const char *path, pess_error *error) {
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    bool terminal = false, truncated = false;
    for (int64_t i = 0; i < data->rows; i++) {
        terminal |= data->end[i] == PESS_END_TERMINAL;
        truncated |= data->end[i] == PESS_END_CUTOFF;
    }
    pess__outfile_print(file, "%s%sstate,action,reward,next_state%s%s%s\n", data->episode != NULL ? "episode," : "",
                        data->step != NULL ? "step," : "", terminal ? ",terminal" : "", truncated ? ",truncated" : "",
                        data->probability != NULL ? ",probability" : "");
    for (int64_t i = 0; i < data->rows; i++) {
        if (data->episode != NULL) {
            write_id(file, data->episode_names, data->episode[i]);
            pess__outfile_write(file, ",", 1);
        }
        if (data->step != NULL) pess__outfile_print(file, "%lld,", (long long)data->step[i]);
        write_id(file, data->state_names, data->state[i]);
        pess__outfile_write(file, ",", 1);
        write_id(file, data->action_names, data->action[i]);
        pess__outfile_write(file, ",", 1);
        pess__outfile_double(file, data->reward[i]);
        pess__outfile_write(file, ",", 1);
        write_id(file, data->state_names, data->next_state[i]);
        if (terminal) pess__outfile_write(file, data->end[i] == PESS_END_TERMINAL ? ",1" : ",0", 2);
        if (truncated) pess__outfile_write(file, data->end[i] == PESS_END_CUTOFF ? ",1" : ",0", 2);
        if (data->probability != NULL) {
            pess__outfile_write(file, ",", 1);
            pess__outfile_double(file, data->probability[i]);
        }
        pess__outfile_write(file, "\n", 1);
    }
    return pess__outfile_commit(file, error);
}

const pess__format pess__format_csv = {
    .info = {.name = "csv",
             .extensions = ".csv .csv.gz",
             .summary = "text with a header line: state,action,reward,next_state and optional columns",
             .reads = true,
             .writes = true},
    .matches = matches,
    .open = open_csv,
    .next = next_csv,
    .close = close_csv,
    .write = write_csv};
