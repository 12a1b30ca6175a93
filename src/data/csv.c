/* CSV logs: columns by name in any order, RFC 4180 quoting, any usual separator, gzip. The text is read in portions,
 * cut into chunks at row ends, and the chunks are parsed in parallel; names are numbered afterwards in file order, so
 * that nothing depends on the number of threads. */
#include "core/memory.h"
#include "core/outfile.h"
#include "data/csv_chunk.h"
#include "data/format.h"
#include "data/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS_PER_THREAD = 16 };

typedef struct csv_reader {
    pess__csv_layout layout;
    pess__csv_text text;
    int64_t created;
    pess__csv_chunk *chunk; /* [text.pieces] */
    pess__block *blocks;    /* [text.pieces] what the last portion showed; the memory is the chunks' */
    int64_t *remap;         /* scratch: chunk's own name id -> id in the whole log */
    int64_t remap_capacity;
} csv_reader;

static bool matches(const uint8_t *head, size_t length) {
    (void)head;
    (void)length;
    return true;
}

/* ------------------------------------------------------------------------------------------------ header */

/* Values that stand in for missing ones and look like missing ones themselves are told apart by the row in full. */
static bool plain_enough(const pess_reading *reading) {
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES; role++)
        if (reading->missing[role].value != NULL &&
            pess__is_missing(reading->missing[role].value, strlen(reading->missing[role].value)))
            return false;
    return true;
}

static bool is_number(const void *roles, int64_t column) {
    const uint8_t role = ((const uint8_t *)roles)[column];
    return role == PESS__ROLE_REWARD || role == PESS__ROLE_REWARD_SUM || role == PESS__ROLE_PROBABILITY;
}

static pess_status set_layout(pess__stream *stream, csv_reader *r, const pess__csv_field *fields, int64_t count,
                              pess_error *error) {
    pess__csv_layout *layout = &r->layout;
    pess_reading *reading = stream->reading;
    layout->reading = reading;
    layout->columns = count;
    layout->separator = reading->info.separator = r->text.separator;
    PESS_TRY(pess__allocate(&layout->role, count, 1, "a header", error));
    PESS_TRY(pess__reading_assign(reading, pess__infile_name(stream->file), fields, count, error));
    for (int64_t i = 0; i < count; i++) layout->role[i] = reading->used[i].role;
    static const uint8_t core[] = {PESS__ROLE_STATE, PESS__ROLE_ACTION, PESS__ROLE_REWARD, PESS__ROLE_NEXT_STATE};
    layout->core = -1;
    for (int64_t i = 0; i + 4 <= count; i++)
        if (memcmp(layout->role + i, core, sizeof core) == 0) layout->core = i;
    layout->plain = plain_enough(reading);
    layout->named[PESS__STATES] = reading->parts[PESS__ROLE_STATE] > 1;
    layout->named[PESS__ACTIONS] = reading->parts[PESS__ROLE_ACTION] > 1;
    layout->named[PESS__EPISODES] = reading->parts[PESS__ROLE_EPISODE] > 1;
    for (int i = 0; i < PESS__NUMBERINGS; i++) layout->joined |= layout->named[i];
    layout->decimal_comma = reading->options.decimal == PESS_DECIMAL_COMMA;
    if (reading->options.decimal == PESS_DECIMAL_AUTO && layout->separator != ',')
        PESS_TRY(pess__csv_text_decimal(&r->text, count, is_number, layout->role, &layout->decimal_comma, error));
    reading->info.decimal_comma = layout->decimal_comma;
    return PESS_OK;
}

/* Reads the header line; the layout is set the first time only. */
static pess_status read_header(pess__stream *stream, csv_reader *r, pess_error *error) {
    pess__csv_field *fields = NULL;
    int64_t count = 0;
    PESS_TRY(pess__allocate(&fields, PESS__TEXT_COLUMNS, sizeof *fields, "a header", error));
    pess_status status = pess__csv_text_header(&r->text, fields, &count, error);
    if (status == PESS_OK && r->layout.role == NULL) status = set_layout(stream, r, fields, count, error);
    free(fields);
    return status;
}

static pess_status create_names(pess__stream *stream, const csv_reader *r, pess_error *error) {
    pess_names **names[] = {&stream->state_names, &stream->action_names, &stream->episode_names};
    for (int f = 0; f < PESS__NUMBERINGS; f++) {
        pess_names_destroy(*names[f]);
        *names[f] = NULL;
        if (r->layout.named[f]) PESS_TRY(pess__names_create(names[f], error));
    }
    return PESS_OK;
}

static pess_status open_counted(pess__stream *stream, pess_error *error) {
    const int *parts = stream->reading->parts;
    PESS_TRY(pess__allocate(&stream->counted, 1, sizeof *stream->counted, "a counted log", error));
    stream->counted->squares = parts[PESS__ROLE_REWARD_SQUARE_SUM] > 0;
    stream->counted->range = parts[PESS__ROLE_REWARD_MIN] > 0;
    stream->counted->reward_min = INFINITY;
    stream->counted->reward_max = -INFINITY;
    return PESS_OK;
}

static pess_status open_csv(pess__stream *stream, pess_error *error) {
    static const char separators[] = {'\0', ',', ';', '\t', '|'};
    csv_reader *r = NULL;
    PESS_TRY(pess__allocate(&r, 1, sizeof *r, "a CSV reader", error));
    stream->reader = r;
    const int64_t pieces = (int64_t)CHUNKS_PER_THREAD * stream->threads;
    const pess_status opened = pess__csv_text_open(&r->text, stream->file, pieces, false, error);
    if (opened != PESS_OK) stream->file = NULL; /* closed with the text */
    PESS_TRY(opened);
    r->text.separator = separators[stream->reading->options.separator];
    PESS_TRY(pess__allocate(&r->chunk, pieces, sizeof *r->chunk, "pieces of the log", error));
    PESS_TRY(pess__allocate(&r->blocks, pieces, sizeof *r->blocks, "pieces of the log", error));
    r->layout.declared[PESS__STATES] = stream->states_declared;
    r->layout.declared[PESS__ACTIONS] = stream->actions_declared;
    r->layout.limit[PESS__STATES] = stream->states_declared ? stream->states : PESS_MAX_STATES;
    r->layout.limit[PESS__ACTIONS] = stream->actions_declared ? stream->actions : PESS_MAX_ACTIONS;
    PESS_TRY(read_header(stream, r, error));
    const int *parts = stream->reading->parts;
    stream->has_episode = parts[PESS__ROLE_EPISODE] > 0;
    stream->has_step = parts[PESS__ROLE_STEP] > 0;
    stream->has_probability = parts[PESS__ROLE_PROBABILITY] > 0;
    PESS_TRY(create_names(stream, r, error));
    return stream->reading->counted ? open_counted(stream, error) : PESS_OK;
}

static void close_csv(pess__stream *stream) {
    csv_reader *r = stream->reader;
    if (r == NULL) return;
    for (int64_t i = 0; r->chunk != NULL && i < r->text.pieces; i++) pess__csv_chunk_free(&r->chunk[i]);
    r->text.file = NULL; /* the stream's */
    pess__csv_text_close(&r->text);
    free(r->layout.role);
    free(r->chunk);
    free(r->blocks);
    free(r->remap);
    free(r);
}

/* ------------------------------------------------------------------------------------------------ rows */

/* What was found so far counts no more. */
static void forget_rows(pess_reading *reading) {
    pess_reading_info *info = &reading->info;
    info->rows = info->missing_rows = info->missing_values = info->ends_without_next = 0;
    memset(reading->missing_rows, 0, sizeof reading->missing_rows);
}

/* From the first row again, with what a chunk found out. */
static pess_status restart(pess__stream *stream, csv_reader *r, int again, pess_error *error) {
    if (again < PESS__NUMBERINGS)
        r->layout.named[again] = true;
    else
        r->layout.step = again == PESS__AGAIN_STEP_TIMES ? PESS_STEP_MICROSECONDS : PESS_STEP_MILLIONTHS;
    stream->reading->info.step = r->layout.step;
    forget_rows(stream->reading);
    PESS_TRY(create_names(stream, r, error));
    for (int64_t i = 0; i < r->text.pieces; i++) pess__csv_chunk_free(&r->chunk[i]);
    r->created = 0;
    PESS_TRY(pess__csv_text_rewind(&r->text, error));
    return read_header(stream, r, error);
}

/* Gives the chunk's names their ids in the whole log. */
static pess_status number_names(pess__stream *stream, csv_reader *r, pess__csv_chunk *chunk, int numbering,
                                pess_names *names, pess_error *error) {
    const int64_t count = pess_names_count(chunk->names[numbering]);
    PESS_TRY(pess__grow(&r->remap, &r->remap_capacity, count + 1, sizeof *r->remap, "names", error));
    r->remap[count] = 0; /* rows without a state have id 0, also where there is no name */
    for (int64_t i = 0; i < count; i++) {
        const char *name = pess_names_get(chunk->names[numbering], i);
        PESS_TRY(pess__names_add(names, name, strlen(name), &r->remap[i], error));
        if (numbering == PESS__EPISODES || r->remap[i] < r->layout.limit[numbering]) continue;
        char shown[PESS__SHOWN_SIZE];
        pess__csv_problem problem = {0};
        pess__csv_set_problem(&problem, r->text.line + chunk->first[numbering][i].line,
                              chunk->first[numbering][i].column,
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

/* What the reading says about the rows, in the order of the file. */
static void add_up(pess_reading *reading, const csv_reader *r, const pess__csv_chunk *chunk) {
    pess_reading_info *info = &reading->info;
    info->rows += chunk->rows;
    info->missing_rows += chunk->dropped;
    info->missing_values += chunk->stood_in;
    info->ends_without_next += chunk->ends_without_next;
    info->decimal_ids |= chunk->decimal_ids;
    info->number_names |= chunk->number_names;
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES; role++) {
        pess__missing_rows *to = &reading->missing_rows[role];
        const pess__missing_rows *from = &chunk->missing[role];
        if (to->rows == 0 && from->rows > 0) {
            to->line = r->text.line + from->line;
            to->column = from->column;
        }
        to->rows += from->rows;
    }
}

/* In file order: problems, names, line numbers. *again is set where the log has to be read again. */
static pess_status settle(pess__stream *stream, csv_reader *r, int64_t count, int *again, pess_error *error) {
    pess_names *const names[] = {stream->state_names, stream->action_names, stream->episode_names};
    for (int64_t i = 0; i < count; i++) {
        pess__csv_chunk *chunk = &r->chunk[i];
        for (int f = 0; f < PESS__NUMBERINGS; f++)
            if (r->layout.named[f]) PESS_TRY(number_names(stream, r, chunk, f, names[f], error));
        if (chunk->problem.status != PESS_OK) {
            chunk->problem.line += r->text.line;
            return pess__csv_report(pess__infile_name(stream->file), &chunk->problem, error);
        }
        add_up(stream->reading, r, chunk);
        if ((*again = chunk->again) >= 0) return PESS_OK;
        r->text.line += chunk->lines;
        r->blocks[i] = chunk->block;
    }
    return PESS_OK;
}

/* Memory for as many chunks as are in use. A file that ends here has no larger ones to come. */
static pess_status create_chunks(csv_reader *r, int64_t count, pess_error *error) {
    const int64_t bytes =
        r->text.at_end && r->text.held < PESS__PIECE_BYTES ? (int64_t)r->text.held : PESS__PIECE_BYTES;
    for (; r->created < count; r->created++)
        PESS_TRY(pess__csv_chunk_create(&r->chunk[r->created], &r->layout, bytes, error));
    for (int64_t i = 0; i < count; i++) {
        r->chunk[i].begin = r->text.piece[i].begin;
        r->chunk[i].end = r->text.piece[i].end;
    }
    return PESS_OK;
}

static pess_status next_csv(pess__stream *stream, pess__portion *portion, pess_error *error) {
    csv_reader *r = stream->reader;
    for (;;) {
        int64_t count = 0;
        int again = -1;
        PESS_TRY(pess__csv_text_next(&r->text, &count, error));
        PESS_TRY(create_chunks(r, count, error));
#pragma omp parallel for schedule(dynamic, 1) num_threads(stream->threads) if (count > 1)
        for (int64_t i = 0; i < count; i++) pess__csv_chunk_parse(&r->chunk[i], &r->layout);
        PESS_TRY(settle(stream, r, count, &again, error));
        portion->blocks = r->blocks;
        portion->count = count;
        if (again < 0) return PESS_OK;
        PESS_TRY(restart(stream, r, again, error));
        portion->restarted = true;
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
