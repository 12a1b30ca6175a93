#include "data/stream.h"

#include "core/filekind.h"
#include "core/limits.h"
#include "core/memory.h"
#include "core/settings.h"
#include "core/threads.h"
#include "core/unpack.h"
#include "data/format.h"
#include "data/frame_log.h"
#include "data/names.h"
#include "data/next_rows.h"
#include "data/reading.h"
#include "data/sparse.h"
#include "data/sql.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const pess__role_name[PESS__ROLES] = {
    "",     "state",       "action", "reward",     "next_state",        "terminal",   "truncated", "episode",
    "step", "probability", "count",  "reward_sum", "reward_square_sum", "reward_min", "reward_max"};

pess_status pess__block_create(pess__block *block, int64_t capacity, bool episode, bool step, bool probability,
                               pess_error *error) {
    static const char what[] = "a block of the log";
    *block = (pess__block){0};
    PESS_TRY(pess__allocate(&block->state, capacity, sizeof *block->state, what, error));
    PESS_TRY(pess__allocate(&block->action, capacity, sizeof *block->action, what, error));
    PESS_TRY(pess__allocate(&block->next_state, capacity, sizeof *block->next_state, what, error));
    PESS_TRY(pess__allocate(&block->reward, capacity, sizeof *block->reward, what, error));
    PESS_TRY(pess__allocate(&block->end, capacity, sizeof *block->end, what, error));
    if (episode) PESS_TRY(pess__allocate(&block->episode, capacity, sizeof *block->episode, what, error));
    if (step) PESS_TRY(pess__allocate(&block->step, capacity, sizeof *block->step, what, error));
    if (probability) PESS_TRY(pess__allocate(&block->probability, capacity, sizeof *block->probability, what, error));
    return PESS_OK;
}

pess_status pess__block_add_counts(pess__block *block, int64_t capacity, bool square, bool range, pess_error *error) {
    static const char what[] = "a block of a counted log";
    PESS_TRY(pess__allocate(&block->count, capacity, sizeof *block->count, what, error));
    if (square) PESS_TRY(pess__allocate(&block->square, capacity, sizeof *block->square, what, error));
    if (range) PESS_TRY(pess__allocate(&block->low, capacity, sizeof *block->low, what, error));
    if (range) PESS_TRY(pess__allocate(&block->high, capacity, sizeof *block->high, what, error));
    return PESS_OK;
}

void pess__block_free(pess__block *block) {
    free(block->count);
    free(block->rest);
    free(block->square);
    free(block->low);
    free(block->high);
    free(block->state);
    free(block->action);
    free(block->next_state);
    free(block->reward);
    free(block->end);
    free(block->episode);
    free(block->step);
    free(block->probability);
    *block = (pess__block){0};
}

/* ---- options */

#define FIELD(name) PESS__FIELD(pess_read_options, name)

static const pess_setting settings[] = {
    {"states", 0, PESS_SETTING_COUNT, FIELD(states), NULL, PESS__FROM_TO(1, PESS_MAX_STATES), .argument = "N",
     .sentence = "number of states", .where_unset = "as many as the log shows"},
    {"actions", 0, PESS_SETTING_COUNT, FIELD(actions), NULL, PESS__FROM_TO(1, PESS_MAX_ACTIONS), .argument = "N",
     .sentence = "number of actions", .where_unset = "as many as the log shows"},
    {"format", 0, PESS_SETTING_TEXT, FIELD(format), NULL, .argument = "FORMAT", .sentence = "format of the log",
     .where_unset = "told by its first bytes"},
    PESS__THREADS_SETTING(pess_read_options),
    {"column", 0, PESS_SETTING_TEXT, FIELD(column), NULL, .argument = "ROLE=NAME[,NAME…]", .repeats = true,
     .sentence = "which column plays a role: state, action, reward, next_state, terminal, truncated, episode, step, "
                 "probability. Several columns together make one state, action or episode",
     .where_unset = "the column of that name, or of another common name for it: done, obs, next_obs, STATE"},
    {"missing", 0, PESS_SETTING_TEXT, FIELD(missing), NULL, .argument = "refuse|drop|VALUE",
     .sentence = "what to do about missing values (empty, NA, NaN, null): refuse the log, drop the row, or put VALUE "
                 "in; for all roles, or for some as in drop,reward=0",
     .where_unset = "refuse"},
    {"last-row", 0, PESS_SETTING_CHOICE, FIELD(last_row), "marked", .choices = PESS__LAST_ROW_CHOICES,
     .sentence = PESS__LAST_ROW_SENTENCE},
    {"separator", 0, PESS_SETTING_CHOICE, FIELD(separator), "auto", .choices = "auto|comma|semicolon|tab|pipe",
     .sentence = "what separates the fields of a text file; auto: judged by its first line"},
    {"decimal", 0, PESS_SETTING_CHOICE, FIELD(decimal), "auto", .choices = "auto|point|comma",
     .sentence = "the decimal mark of numbers in a text file; auto: judged by the first rewards"},
    {"encoding", 0, PESS_SETTING_CHOICE, FIELD(encoding), "utf8", .choices = "utf8|latin1",
     .sentence = "encoding of a text file"},
    {"decimal-ids", 0, PESS_SETTING_CHOICE, FIELD(decimal_ids), "refuse", .choices = "refuse|names",
     .sentence =
         "states and actions that are numbers with decimals (0.5): refuse them as measurements, or take them as "
         "names, as for doses"},
    {"reading", 0, PESS_SETTING_TEXT, FIELD(reading), NULL, .argument = "FILE",
     .sentence = "how to read the log: a file that an inspection of it wrote; options given beside it take precedence",
     .where_unset = "as the other options say"},
    {"table", 0, PESS_SETTING_TEXT, FIELD(table), NULL, .argument = "NAME",
     .sentence = "which table of a database to read (SQLite, DuckDB)", .where_unset = "the only one"},
    {"sql", 0, PESS_SETTING_TEXT, FIELD(sql), NULL, .argument = "QUERY",
     .sentence = "read the result of this query: SQLite answers it for its own databases, DuckDB for everything else; "
                 "DuckDB knows the file as log and reads any other file that the query names"},
};

static const pess_setting_table table = PESS__SETTING_TABLE("read", pess_read_options, settings);
PESS__SETTINGS_OF(read, table)

pess_status pess__read_settle(const pess_read_options *options, pess_read_options *settled, pess_error *error) {
    PESS_TRY(pess__settle(&table, options, settled, error));
    if (settled->format != NULL && pess__format_find(settled->format) == NULL) {
        char known[200];
        pess__format_names(known, sizeof known);
        return pess__fail(error, PESS_ARGUMENT, "there is no format '%.40s'; there are %s", settled->format, known);
    }
    return pess__check_sizes("the declared sizes", settled->states, settled->actions, error);
}

/* ---- the stream */

/* DuckDB answers queries that are not about an SQLite database, and reads what is no single file. */
static bool is_for_duckdb(const char *path, const pess_read_options *options) {
    if (options->format != NULL) return strcmp(options->format, "duckdb") == 0;
    return strcmp(path, PESS_NO_FILE) == 0 || strstr(path, "://") != NULL ||
           (strpbrk(path, "*?") != NULL && access(path, F_OK) != 0);
}

/* The file, or what stands for one where DuckDB is to find it; that is then set as the format. */
static pess_status open_file(const char *path, pess_read_options *options, pess__infile **out, pess_error *error) {
    if (!is_for_duckdb(path, options)) return pess__infile_open(path, out, error);
    options->format = "duckdb";
    return pess__infile_open_memory(strcmp(path, PESS_NO_FILE) == 0 ? PESS__SQL_ALONE : path, NULL, 0, out, error);
}

static const pess__format *choose_format(const pess_read_options *options, const uint8_t *head, size_t length) {
    if (options->format != NULL) return pess__format_find(options->format);
    const pess__format *format = pess__format_of_head(head, length);
    return options->sql != NULL && strcmp(format->info.name, "sqlite") != 0 ? pess__format_find("duckdb") : format;
}

/* What a compressed file holds is what counts. */
static pess_status read_head(pess__infile *file, uint8_t head[PESS__HEAD_SIZE], size_t *got, pess_error *error) {
    if (!pess__infile_is_packed(file)) return pess__infile_head(file, head, PESS__HEAD_SIZE, got, error);
    PESS_TRY(pess__infile_read(file, head, PESS__HEAD_SIZE, got, error));
    return pess__infile_rewind(file, error);
}

/* Takes over the file. */
static pess_status create_stream(pess__infile *file, const pess_read_options *options, pess__stream **out,
                                 pess_error *error) {
    pess__stream *stream = NULL;
    pess_status status = pess__allocate(&stream, 1, sizeof *stream, "a log", error);
    if (status != PESS_OK) {
        pess__infile_close(file);
        return status;
    }
    stream->file = file;
    stream->options = *options;
    stream->threads = pess__threads(options->threads);
    stream->states = options->states;
    stream->actions = options->actions;
    stream->states_declared = options->states > 0;
    stream->actions_declared = options->actions > 0;
    stream->reported = pess__clock();
    status = pess__reading_create(options, &stream->reading, error);
    if (status != PESS_OK) {
        pess__stream_close(stream);
        return status;
    }
    *out = stream;
    return PESS_OK;
}

/* Sets stream->format. */
static pess_status find_format(pess__stream *stream, pess_error *error) {
    const char *name = pess__infile_name(stream->file);
    uint8_t head[PESS__HEAD_SIZE];
    size_t got = 0;
    PESS_TRY(read_head(stream->file, head, &got, error));
    const pess_file_kind kind = pess__file_kind_of_head(head, got);
    if (kind != PESS_FILE_OTHER)
        return pess__fail(error, PESS_INPUT, "%s: found %s, expected a log of states", name,
                          pess__file_row_of(kind)->what);
    const pess__format *format = choose_format(&stream->options, head, got);
    if (stream->options.table != NULL && !format->databases)
        return pess__fail(error, PESS_ARGUMENT, "%s: a table is named, but this is %s, no database", name,
                          format->info.name);
    stream->format = format;
    return PESS_OK;
}

static pess_status open_format(pess__stream *stream, pess_error *error) {
    pess__frames *frames = NULL;
    if (stream->format->frames == NULL) return stream->format->open(stream, error);
    PESS_TRY(stream->format->frames(stream, &frames, error));
    return pess__frame_log_open(stream, frames, error);
}

static pess_status open_log(pess__stream *stream, pess_error *error) {
    PESS_TRY(find_format(stream, error));
    PESS_TRY(open_format(stream, error));
    if (stream->reading->info.columns > 0) return PESS_OK;
    return pess__reading_check_unused(stream->reading, pess__infile_name(stream->file), error);
}

/* Takes over the file. */
static pess_status open_stream(pess__infile *file, const pess_read_options *options, pess__stream **out,
                               pess_error *error) {
    pess__stream *stream = NULL;
    PESS_TRY(create_stream(file, options, &stream, error));
    const pess_status status = open_log(stream, error);
    if (status == PESS_OK)
        *out = stream;
    else
        pess__stream_close(stream);
    return status;
}

/* Of a pipe no more is waited for than was read when it was opened. */
static pess_status find_table(pess__stream *stream, pess_error *error) {
    uint8_t head[PESS__PACKING_HEAD];
    size_t got = 0;
    if (!pess__infile_is_pipe(stream->file)) return find_format(stream, error);
    PESS_TRY(pess__infile_head(stream->file, head, sizeof head, &got, error));
    stream->format = pess__format_of_head(head, got);
    return PESS_OK;
}

/* Files of rows whose columns have no names to go by, or of no rows at all. */
static pess_status check_table(const pess__stream *stream, pess_error *error) {
    static const struct {
        const char *format, *words;
    } others[] = {{"npz", "found a zip file, as NumPy arrays and Excel workbooks are; expected a table"},
                  {"pesslog", "found a log of states, expected a table with named columns"}};
    const char *name = pess__infile_name(stream->file), *format = stream->format->info.name;
    if (strcmp(format, "pesscounts") == 0)
        return pess__fail(error, PESS_INPUT,
                          "%s: found a counted log, expected one row for each transition, with named columns: give the "
                          "log that was counted",
                          name);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(format, others[i].format) != 0) continue;
        const pess_status status =
            pess__fail(error, PESS_INPUT, "%s: %s: CSV text, JSON lines, SQLite, Parquet", name, others[i].words);
        return pess__fail_with_remedy(error, status, "convert", "csv");
    }
    return PESS_OK;
}

pess_status pess__stream_open_table(const char *path, const pess_read_options *options, pess__stream **out,
                                    pess__frames **frames, pess_error *error) {
    pess_read_options settled;
    pess__infile *file = NULL;
    pess__stream *stream = NULL;
    PESS_TRY(pess__read_settle(options, &settled, error));
    PESS_TRY(open_file(path, &settled, &file, error));
    PESS_TRY(create_stream(file, &settled, &stream, error));
    pess_status status = find_table(stream, error);
    if (status == PESS_OK) status = check_table(stream, error);
    if (status == PESS_OK && stream->format->frames != NULL) status = stream->format->frames(stream, frames, error);
    if (status == PESS_OK)
        *out = stream;
    else
        pess__stream_close(stream);
    return status;
}

/* Frames that come from no file. */
static const pess__format frames_format = {
    .info = {.name = "frames"}, .next = pess__frame_log_next, .close = pess__frame_log_close};

pess_status pess__stream_open_frames(pess__frames *frames, const pess_read_options *options, pess__stream **out,
                                     pess_error *error) {
    pess_read_options settled;
    pess__infile *file = NULL;
    pess__stream *stream = NULL;
    pess_status status = pess__read_settle(options, &settled, error);
    if (status == PESS_OK) status = pess__infile_open_memory(frames->name, NULL, 0, &file, error);
    if (status == PESS_OK) status = create_stream(file, &settled, &stream, error);
    if (status != PESS_OK) {
        pess__frames_close(frames);
        return status;
    }
    stream->format = &frames_format;
    status = pess__frame_log_open(stream, frames, error);
    if (status == PESS_OK)
        *out = stream;
    else
        pess__stream_close(stream);
    return status;
}

pess_status pess__stream_open(const char *path, const pess_read_options *options, pess__stream **out,
                              pess_error *error) {
    pess_read_options settled;
    PESS_TRY(pess__read_settle(options, &settled, error));
    if (path == NULL) return pess__fail(error, PESS_ARGUMENT, "no path is given");
    pess__infile *file = NULL;
    PESS_TRY(open_file(path, &settled, &file, error));
    return open_stream(file, &settled, out, error);
}

pess_status pess__stream_open_memory(const char *name, const void *bytes, size_t length,
                                     const pess_read_options *options, pess__stream **out, pess_error *error) {
    pess_read_options settled;
    PESS_TRY(pess__read_settle(options, &settled, error));
    pess__infile *file = NULL;
    PESS_TRY(pess__infile_open_memory(name, bytes, length, &file, error));
    return open_stream(file, &settled, out, error);
}

static pess_status report(pess__stream *stream, pess_error *error) {
    const pess_progress *progress = &stream->options.progress;
    const double now = progress->report != NULL ? pess__clock() : 0;
    if (progress->report == NULL || now - stream->reported < 0.1) return PESS_OK;
    stream->reported = now;
    int64_t done = 0, total = 0;
    pess__infile_position(stream->file, &done, &total);
    const bool go_on =
        stream->total_rows > 0
            ? progress->report(progress->user, "reading", (double)stream->rows, (double)stream->total_rows, "rows")
            : progress->report(progress->user, "reading", 1e-6 * (double)done, 1e-6 * (double)total, "MB");
    if (go_on) return PESS_OK;
    return pess__fail(error, PESS_INTERRUPTED, "%s: reading was interrupted", pess__infile_name(stream->file));
}

static void free_counted(pess__counted *counted) {
    if (counted == NULL) return;
    free(counted->starts);
    free(counted->episode);
    free(counted->step);
    free(counted->first_state);
    free(counted);
}

/* What the format made of the file. */
static void close_format(pess__stream *stream) {
    free_counted(stream->counted);
    if (stream->format != NULL) stream->format->close(stream);
    pess_names_destroy(stream->state_names);
    pess_names_destroy(stream->action_names);
    pess_names_destroy(stream->episode_names);
    pess__reading_destroy(stream->reading);
    stream->counted = NULL;
    stream->reader = NULL;
    stream->state_names = stream->action_names = stream->episode_names = NULL;
    stream->reading = NULL;
}

/* From the first byte, with states that are numbered as they appear. */
static pess_status read_again(pess__stream *stream, pess_error *error) {
    close_format(stream);
    PESS_TRY(pess__names_create(&stream->occurring, error));
    PESS_TRY(pess__reading_create(&stream->options, &stream->reading, error));
    PESS_TRY(pess__infile_rewind(stream->file, error));
    return open_format(stream, error);
}

static pess_status restart(pess__stream *stream, pess_error *error) {
    stream->rows = 0;
    if (!stream->actions_declared) stream->actions = 0;
    if (!stream->states_declared && stream->occurring == NULL) stream->states = 0;
    if (stream->occurring == NULL) return PESS_OK;
    pess_names_destroy(stream->occurring);
    stream->occurring = NULL;
    return pess__names_create(&stream->occurring, error);
}

/* The rows as they stand in the file, but for states of which only a few occur. */
static pess_status next_portion(pess__stream *stream, pess__portion *portion, pess_error *error) {
    PESS_TRY(stream->format->next(stream, portion, error));
    if (portion->count == 0 && stream->format != &frames_format && pess__is_sparse(stream)) {
        PESS_TRY(read_again(stream, error));
        PESS_TRY(stream->format->next(stream, portion, error));
        portion->restarted = true;
    }
    if (portion->restarted) PESS_TRY(restart(stream, error));
    PESS_TRY(pess__number_states(stream, portion, error));
    for (int64_t i = 0; i < portion->count; i++) {
        const pess__block *block = &portion->blocks[i];
        stream->rows += block->rows;
        if (block->rows > 0 && block->max_state >= stream->states) stream->states = (int64_t)block->max_state + 1;
        if (block->rows > 0 && block->max_action >= stream->actions) stream->actions = (int64_t)block->max_action + 1;
    }
    if (portion->count > 0) return report(stream, error);
    PESS_TRY(pess__settle_states(stream, error));
    PESS_TRY(pess__reading_check_missing(stream->reading, pess__infile_name(stream->file), stream->reading->info.rows,
                                         error));
    if (stream->rows == 0)
        return pess__fail(error, PESS_INPUT, "%s: found no transitions, expected at least one",
                          pess__infile_name(stream->file));
    return pess__check_sizes(pess__infile_name(stream->file), stream->states, stream->actions, error);
}

pess_status pess__stream_next(pess__stream *stream, pess__portion *portion, pess_error *error) {
    *portion = (pess__portion){0};
    if (!pess__reading_needs_all_rows(stream->reading)) return next_portion(stream, portion, error);
    return pess__all_rows_next(stream, next_portion, portion, error);
}

void pess__stream_close(pess__stream *stream) {
    if (stream == NULL) return;
    pess__all_rows_free(stream->all_rows);
    close_format(stream);
    pess_names_destroy(stream->occurring);
    pess__infile_close(stream->file);
    free(stream);
}
