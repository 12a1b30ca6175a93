#include "data/frame_log.h"

#include "core/memory.h"
#include "core/text.h"
#include "data/frame_cell.h"
#include "data/names.h"
#include "data/reading.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks are filled row range by row range from whatever sizes the frames have. */

typedef struct frame_log {
    pess__frames *frames;
    pess_reading *reading; /* the stream's */
    pess__frame frame;
    int64_t at;                /* rows of the frame that are in blocks already */
    int64_t role[PESS__ROLES]; /* the column of each role, -1: none */
    bool named[PESS__NUMBERINGS];
    int64_t *number[PESS__ROLES]; /* [texts seen] a text of the role's column as an id of its numbering, -1: none yet */
    int64_t numbered[PESS__ROLES], number_capacity[PESS__ROLES];
    int64_t count;
    pess__block *blocks; /* [count] */
    bool over;
    pess_names *value[PESS__ROLES];           /* what stands in for missing values, or NULL */
    pess__frame_column stand_in[PESS__ROLES]; /* the same as a column of one row */
    char *text;                               /* scratch: a value of several columns */
    int64_t text_capacity;
} frame_log;

static const int64_t first_text = 0;

/* ------------------------------------------------------------------------------------------------ roles */

static pess_status set_roles(frame_log *log, pess_error *error) {
    const pess__frame *frame = &log->frame;
    pess__csv_field *names = NULL;
    PESS_TRY(pess__allocate(&names, frame->columns, sizeof *names, "the columns", error));
    for (int64_t i = 0; i < frame->columns; i++) {
        names[i].text = (char *)(uintptr_t)frame->column[i].name;
        names[i].length = strlen(frame->column[i].name);
    }
    const pess_status status = pess__reading_assign(log->reading, log->frames->name, names, frame->columns, error);
    free(names);
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES && status == PESS_OK; role++)
        log->role[role] = log->reading->parts[role] > 0 ? log->reading->column_of[role][0] : -1;
    return status;
}

static pess_status set_stand_ins(frame_log *log, pess_error *error) {
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES; role++) {
        const pess__missing_rule *rule = &log->reading->missing[role];
        int64_t id = 0;
        if (log->role[role] < 0 || rule->kind != PESS__MISSING_VALUE) continue;
        PESS_TRY(pess__names_create(&log->value[role], error));
        PESS_TRY(pess__names_add(log->value[role], rule->value, strlen(rule->value), &id, error));
        log->stand_in[role] = (pess__frame_column){.name = log->frame.column[log->role[role]].name,
                                                   .kind = PESS__FRAME_TEXT,
                                                   .values = &first_text,
                                                   .texts = log->value[role]};
    }
    return PESS_OK;
}

/* An integer that no id can be, among the first rows. */
static bool has_no_id(const frame_log *log, pess__role role) {
    const pess__frame_column *column = &log->frame.column[log->role[role]];
    const int64_t limit = role == PESS__ROLE_ACTION ? PESS_MAX_ACTIONS : PESS_MAX_STATES;
    const int64_t *values = column->values;
    if (column->kind != PESS__FRAME_INTEGER || role == PESS__ROLE_EPISODE) return false;
    for (int64_t i = 0; i < log->frame.rows; i++)
        if (!pess__frame_is_null(column, i) && (values[i] < 0 || values[i] >= limit)) return true;
    return false;
}

/* Whether ids of a role are names: whole numbers are ids as they are. */
static bool is_named(const frame_log *log, pess__role role, bool declared) {
    if (log->role[role] < 0) return false;
    const pess__frame_kind kind = log->frame.column[log->role[role]].kind;
    if (log->reading->parts[role] > 1 || kind == PESS__FRAME_TEXT) return true;
    if (kind == PESS__FRAME_NUMBER && role != PESS__ROLE_EPISODE &&
        log->reading->options.decimal_ids == PESS_DECIMAL_IDS_NAMES)
        return true;
    const bool numbers = !declared && has_no_id(log, role);
    log->reading->info.number_names |= numbers;
    return numbers;
}

static pess_status create_names(pess__stream *stream, frame_log *log, pess_error *error) {
    pess_names **names[] = {&stream->state_names, &stream->action_names, &stream->episode_names};
    log->named[PESS__STATES] = is_named(log, PESS__ROLE_STATE, stream->states_declared) ||
                               is_named(log, PESS__ROLE_NEXT_STATE, stream->states_declared);
    log->named[PESS__ACTIONS] = is_named(log, PESS__ROLE_ACTION, stream->actions_declared);
    log->named[PESS__EPISODES] = is_named(log, PESS__ROLE_EPISODE, false);
    for (int i = 0; i < PESS__NUMBERINGS; i++)
        if (log->named[i]) PESS_TRY(pess__names_create(names[i], error));
    return PESS_OK;
}

static pess_status create_blocks(pess__stream *stream, frame_log *log, bool counted, pess_error *error) {
    const bool squares = log->role[PESS__ROLE_REWARD_SQUARE_SUM] >= 0, range = log->role[PESS__ROLE_REWARD_MIN] >= 0;
    log->count = 2 * (int64_t)stream->threads;
    PESS_TRY(pess__allocate(&log->blocks, log->count, sizeof *log->blocks, "blocks of the log", error));
    for (int64_t i = 0; i < log->count; i++) {
        PESS_TRY(pess__block_create(&log->blocks[i], PESS__BLOCK_ROWS, stream->has_episode, stream->has_step,
                                    stream->has_probability, error));
        if (counted) PESS_TRY(pess__block_add_counts(&log->blocks[i], PESS__BLOCK_ROWS, squares, range, error));
    }
    if (!counted) return PESS_OK;
    PESS_TRY(pess__allocate(&stream->counted, 1, sizeof *stream->counted, "a counted log", error));
    stream->counted->squares = squares;
    stream->counted->range = range;
    stream->counted->reward_min = INFINITY;
    stream->counted->reward_max = -INFINITY;
    return PESS_OK;
}

pess_status pess__frame_log_open(pess__stream *stream, pess__frames *frames, pess_error *error) {
    frame_log *log = NULL;
    const pess_status status = pess__allocate(&log, 1, sizeof *log, "a log reader", error);
    if (status != PESS_OK) {
        pess__frames_close(frames);
        return status;
    }
    log->frames = frames;
    log->reading = stream->reading;
    stream->reader = log;
    PESS_TRY(frames->next(frames, &log->frame, error));
    PESS_TRY(set_roles(log, error));
    PESS_TRY(set_stand_ins(log, error));
    stream->has_episode = log->role[PESS__ROLE_EPISODE] >= 0;
    stream->has_step = log->role[PESS__ROLE_STEP] >= 0;
    stream->has_probability = log->role[PESS__ROLE_PROBABILITY] >= 0;
    PESS_TRY(create_names(stream, log, error));
    return create_blocks(stream, log, log->reading->counted, error);
}

void pess__frame_log_close(pess__stream *stream) {
    frame_log *log = stream->reader;
    if (log == NULL) return;
    for (int64_t i = 0; log->blocks != NULL && i < log->count; i++) pess__block_free(&log->blocks[i]);
    for (int role = 0; role < PESS__ROLES; role++) free(log->number[role]);
    for (int role = 0; role < PESS__ROLES; role++) pess_names_destroy(log->value[role]);
    free(log->blocks);
    free(log->text);
    pess__frames_close(log->frames);
    free(log);
}

/* ------------------------------------------------------------------------------------------------ values */

/* The value, or the one that stands in for it. */
static pess__frame_cell cell_of(const frame_log *log, int role, int64_t row) {
    const pess__frame_cell c = {log->frames, &log->frame, &log->frame.column[log->role[role]], row};
    return log->value[role] != NULL && pess__frame_cell_missing(&c)
               ? (pess__frame_cell){log->frames, &log->frame, &log->stand_in[role], 0}
               : c;
}

/* A value of several columns has the name that its parts make. */
static pess_status joined_id(frame_log *log, int role, int64_t row, pess_names *names, int64_t *id, pess_error *error) {
    size_t used = 0;
    for (int i = 0; i < log->reading->parts[role]; i++) {
        pess__frame_cell c = {log->frames, &log->frame, &log->frame.column[log->reading->column_of[role][i]], row};
        if (pess__frame_cell_missing(&c) && log->value[role] != NULL)
            c = (pess__frame_cell){log->frames, &log->frame, &log->stand_in[role], 0};
        char buffer[PESS__FRAME_VALUE_SIZE];
        const char *text = pess__frame_value(c.column, c.row, buffer);
        if (strchr(text, PESS__JOINT) != NULL)
            return pess__frame_cell_wrong(&c, "no '|' in a value that stands beside others: it is what joins them",
                                          error);
        const size_t length = strlen(text);
        PESS_TRY(pess__grow(&log->text, &log->text_capacity, (int64_t)(used + length + 1), 1, "names", error));
        if (i > 0) log->text[used++] = PESS__JOINT;
        memcpy(log->text + used, text, length);
        used += length;
    }
    return pess__names_add(names, log->text, used, id, error);
}

/* The id that a value has by name: texts are looked up once, in the order in which rows show them. */
static pess_status name_id(frame_log *log, int role, int64_t row, pess_names *names, int64_t *id, pess_error *error) {
    if (log->reading->parts[role] > 1) return joined_id(log, role, row, names, id, error);
    const pess__frame_cell c = cell_of(log, role, row);
    char buffer[PESS__FRAME_VALUE_SIZE];
    const char *text = pess__frame_value(c.column, c.row, buffer);
    if (c.column->kind != PESS__FRAME_TEXT || c.column == &log->stand_in[role])
        return pess__names_add(names, text, strlen(text), id, error);
    const int64_t code = ((const int64_t *)c.column->values)[row], known = pess_names_count(c.column->texts);
    if (known > log->numbered[role]) {
        PESS_TRY(
            pess__grow(&log->number[role], &log->number_capacity[role], known, sizeof **log->number, "names", error));
        for (; log->numbered[role] < known; log->numbered[role]++) log->number[role][log->numbered[role]] = -1;
    }
    if (log->number[role][code] < 0)
        PESS_TRY(pess__names_add(names, text, strlen(text), &log->number[role][code], error));
    *id = log->number[role][code];
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ blocks */

static pess_status read_id(pess__stream *stream, frame_log *log, int role, int64_t row, uint32_t *out, uint32_t *most,
                           pess_error *error) {
    const bool action = role == PESS__ROLE_ACTION, named = log->named[action ? PESS__ACTIONS : PESS__STATES];
    const bool declared = action ? stream->actions_declared : stream->states_declared;
    const int64_t limit =
        declared ? (action ? stream->actions : stream->states) : (action ? PESS_MAX_ACTIONS : PESS_MAX_STATES);
    const pess__frame_cell c = cell_of(log, role, row);
    int64_t id = 0;
    char expected[160];
    const bool empty = c.column->kind == PESS__FRAME_TEXT && pess__frame_cell_text(&c)[0] == '\0';
    if (empty || c.column->kind == PESS__FRAME_OTHER ||
        (!named && (!pess__frame_cell_whole(&c, &id) || id < 0 || id >= limit))) {
        (void)snprintf(expected, sizeof expected, "%s: a whole number from 0 to %lld%s",
                       action ? "an action" : "a state", (long long)limit - 1,
                       declared ? ", as declared" : " or a name");
        double measured = 0;
        const pess_status status = pess__frame_cell_wrong(&c, expected, error);
        if (!pess__frame_cell_number(&c, &measured) || measured == floor(measured)) return status;
        return action ? pess__fail_with_remedy(error, status, "decimal-ids", "names")
                      : pess__fail_with_remedy(error, status, "measurements", "");
    }
    if (named) PESS_TRY(name_id(log, role, row, action ? stream->action_names : stream->state_names, &id, error));
    if (id >= limit) {
        (void)snprintf(expected, sizeof expected, "at most %lld different ones%s", (long long)limit,
                       declared ? ", as declared" : "");
        return pess__frame_cell_wrong(&c, expected, error);
    }
    *out = (uint32_t)id;
    *most = *out > *most ? *out : *most;
    return PESS_OK;
}

static pess_status read_number(frame_log *log, int role, int64_t row, double *out, pess_error *error) {
    const pess__frame_cell c = cell_of(log, role, row);
    if (pess__frame_cell_number(&c, out)) return PESS_OK;
    return pess__frame_cell_wrong(&c, "a finite number", error);
}

static pess_status read_end(frame_log *log, int64_t row, uint8_t *end, pess_error *error) {
    static const struct {
        pess__role role;
        uint8_t end;
    } ends[] = {{PESS__ROLE_TRUNCATED, PESS_END_CUTOFF}, {PESS__ROLE_TERMINAL, PESS_END_TERMINAL}};
    *end = PESS_END_NONE;
    for (int i = 0; i < 2; i++) {
        bool set = false;
        if (log->role[ends[i].role] < 0) continue;
        const pess__frame_cell c = cell_of(log, (int)ends[i].role, row);
        if (!pess__frame_cell_flag(&c, &set)) return pess__frame_cell_wrong(&c, "0, 1, true, false or nothing", error);
        if (set && !(log->reading->cutoff_wins && *end == PESS_END_CUTOFF)) *end = ends[i].end;
    }
    return PESS_OK;
}

static pess_status read_episode(pess__stream *stream, frame_log *log, int64_t row, int64_t *out, pess_error *error) {
    const pess__frame_cell c = cell_of(log, PESS__ROLE_EPISODE, row);
    if (log->named[PESS__EPISODES]) return name_id(log, PESS__ROLE_EPISODE, row, stream->episode_names, out, error);
    return pess__frame_cell_whole(&c, out) ? PESS_OK : pess__frame_cell_wrong(&c, "a whole number or a name", error);
}

/* Whole numbers, times, or text that is one. */
static pess_status read_step(frame_log *log, int64_t row, int64_t *out, pess_error *error) {
    const pess__frame_cell c = cell_of(log, PESS__ROLE_STEP, row);
    const bool time = c.column->kind == PESS__FRAME_TIME ||
                      (c.column->kind == PESS__FRAME_TEXT &&
                       pess__parse_time(pess__frame_cell_text(&c), strlen(pess__frame_cell_text(&c)), out));
    if (time) log->reading->info.step = PESS_STEP_MICROSECONDS;
    if ((time && c.column->kind == PESS__FRAME_TEXT) || pess__frame_cell_whole(&c, out)) return PESS_OK;
    return pess__frame_cell_wrong(&c, "a whole number or a time", error);
}

/* The columns that a log may do without. */
static pess_status read_optional(pess__stream *stream, frame_log *log, int64_t row, pess__block *block, int64_t i,
                                 pess_error *error) {
    if (stream->has_episode) PESS_TRY(read_episode(stream, log, row, &block->episode[i], error));
    if (stream->has_step) PESS_TRY(read_step(log, row, &block->step[i], error));
    if (stream->has_probability) {
        const pess__frame_cell c = cell_of(log, PESS__ROLE_PROBABILITY, row);
        if (!pess__frame_cell_number(&c, &block->probability[i]) || block->probability[i] < 0 ||
            block->probability[i] > 1)
            return pess__frame_cell_wrong(&c, "a probability from 0 to 1", error);
    }
    return PESS_OK;
}

static pess_status read_counts(frame_log *log, int64_t row, pess__block *block, int64_t i, pess_error *error) {
    const pess__frame_cell count = cell_of(log, PESS__ROLE_COUNT, row);
    if (!pess__frame_cell_whole(&count, &block->count[i]) || block->count[i] < 1 ||
        block->count[i] > PESS__MAX_TRANSITIONS)
        return pess__frame_cell_wrong(&count, "a count: a whole number from 1", error);
    if (block->square != NULL) {
        PESS_TRY(read_number(log, PESS__ROLE_REWARD_SQUARE_SUM, row, &block->square[i], error));
        const pess__frame_cell square = cell_of(log, PESS__ROLE_REWARD_SQUARE_SUM, row);
        if (block->square[i] < 0)
            return pess__frame_cell_wrong(&square, "a sum of squares: a number that is not negative", error);
    }
    if (block->low == NULL) return PESS_OK;
    PESS_TRY(read_number(log, PESS__ROLE_REWARD_MIN, row, &block->low[i], error));
    return read_number(log, PESS__ROLE_REWARD_MAX, row, &block->high[i], error);
}

/* ------------------------------------------------------------------------------------------------ missing values */

static bool role_is_missing(const frame_log *log, int role, int64_t row) {
    for (int i = 0; i < log->reading->parts[role]; i++) {
        const pess__frame_cell c = {log->frames, &log->frame, &log->frame.column[log->reading->column_of[role][i]],
                                    row};
        if (pess__frame_cell_missing(&c)) return true;
    }
    return false;
}

/* Notes the roles without a value; false: one of them has none in its place. A terminal row may do without a next
 * state, and flags without a value are not set. */
static bool is_whole(frame_log *log, int64_t row, pess_end end) {
    bool all = true;
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES; role++) {
        pess__missing_rows *missing = &log->reading->missing_rows[role];
        if (role == PESS__ROLE_TERMINAL || role == PESS__ROLE_TRUNCATED || !role_is_missing(log, role, row)) continue;
        if (log->value[role] != NULL) {
            log->reading->info.missing_values++;
            continue;
        }
        if (role == PESS__ROLE_NEXT_STATE && end == PESS_END_TERMINAL) continue;
        if (missing->rows++ == 0) missing->line = log->frame.first + row;
        all = false;
    }
    return all;
}

/* A row that is dropped leaves a gap where next states are told by the rows that follow. */
static pess_status drop_row(pess__stream *stream, frame_log *log, int64_t row, pess__block *block, pess_error *error) {
    const int64_t i = block->rows;
    log->reading->info.missing_rows++;
    if (!log->reading->info.next_state_derived || role_is_missing(log, PESS__ROLE_EPISODE, row) ||
        role_is_missing(log, PESS__ROLE_STEP, row))
        return PESS_OK;
    const bool no_state = role_is_missing(log, PESS__ROLE_STATE, row);
    block->state[i] = block->action[i] = 0;
    block->reward[i] = 0;
    block->end[i] = no_state ? PESS__END_GAP : PESS__END_GAP_STATE;
    if (!no_state) PESS_TRY(read_id(stream, log, PESS__ROLE_STATE, row, &block->state[i], &block->max_state, error));
    if (stream->has_episode) PESS_TRY(read_episode(stream, log, row, &block->episode[i], error));
    if (stream->has_step) PESS_TRY(read_step(log, row, &block->step[i], error));
    block->rows++;
    return PESS_OK;
}

static pess_status read_row(pess__stream *stream, frame_log *log, int64_t row, pess__block *block, pess_error *error) {
    const int64_t i = block->rows;
    log->reading->info.rows++;
    PESS_TRY(read_end(log, row, &block->end[i], error));
    if (!is_whole(log, row, (pess_end)block->end[i])) return drop_row(stream, log, row, block, error);
    PESS_TRY(read_id(stream, log, PESS__ROLE_STATE, row, &block->state[i], &block->max_state, error));
    PESS_TRY(read_id(stream, log, PESS__ROLE_ACTION, row, &block->action[i], &block->max_action, error));
    const bool no_next = log->value[PESS__ROLE_NEXT_STATE] == NULL && role_is_missing(log, PESS__ROLE_NEXT_STATE, row);
    log->reading->info.ends_without_next += no_next;
    if (no_next)
        block->next_state[i] = block->state[i];
    else if (log->role[PESS__ROLE_NEXT_STATE] >= 0)
        PESS_TRY(read_id(stream, log, PESS__ROLE_NEXT_STATE, row, &block->next_state[i], &block->max_state, error));
    PESS_TRY(read_number(log, block->count != NULL ? PESS__ROLE_REWARD_SUM : PESS__ROLE_REWARD, row, &block->reward[i],
                         error));
    if (block->count != NULL) PESS_TRY(read_counts(log, row, block, i, error));
    PESS_TRY(read_optional(stream, log, row, block, i, error));
    block->rows++;
    return PESS_OK;
}

pess_status pess__frame_log_next(pess__stream *stream, pess__portion *portion, pess_error *error) {
    frame_log *log = stream->reader;
    portion->blocks = log->blocks;
    for (portion->count = 0; portion->count < log->count && !log->over; portion->count++) {
        pess__block *block = &log->blocks[portion->count];
        block->rows = 0;
        block->max_state = block->max_action = 0;
        while (block->rows < PESS__BLOCK_ROWS && !log->over) {
            for (; log->at < log->frame.rows && block->rows < PESS__BLOCK_ROWS; log->at++)
                PESS_TRY(read_row(stream, log, log->at, block, error));
            if (log->at < log->frame.rows) break;
            log->at = 0;
            PESS_TRY(log->frames->next(log->frames, &log->frame, error));
            log->over = log->frame.rows == 0;
        }
        if (block->rows == 0) break;
    }
    return PESS_OK;
}
