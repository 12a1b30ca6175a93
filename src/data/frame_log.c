#include "data/frame_log.h"

#include "core/memory.h"
#include "core/text.h"
#include "data/csv_row.h"
#include "data/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Blocks are filled row range by row range from whatever sizes the frames have. */

typedef struct frame_log {
    pess__frames *frames;
    pess__frame frame;
    int64_t at;                /* rows of the frame that are in blocks already */
    int64_t role[PESS__ROLES]; /* the column of each role, -1: none */
    bool named[PESS__NUMBERINGS];
    int64_t *number[PESS__ROLES]; /* [texts seen] a text of the role's column as an id of its numbering, -1: none yet */
    int64_t numbered[PESS__ROLES], number_capacity[PESS__ROLES];
    int64_t count;
    pess__block *blocks; /* [count] */
    bool over;
} frame_log;

/* ------------------------------------------------------------------------------------------------ roles */

static int64_t column_called(const pess__frame *frame, const char *name) {
    for (int64_t i = 0; i < frame->columns; i++)
        if (strcmp(frame->column[i].name, name) == 0) return i;
    return -1;
}

/* The columns as they were found, for messages. */
static const char *list_columns(const pess__frame *frame, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < frame->columns && i < 12 && used + PESS__SHOWN_SIZE + 8 < size; i++) {
        char shown[PESS__SHOWN_SIZE];
        const char *name = frame->column[i].name;
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 pess__shown(name, strlen(name), shown));
    }
    return text;
}

/* A counted log has `count` and `reward_sum` instead of `reward`; columns of rows mean nothing there, and the other way
 * round. */
static pess_status set_roles(frame_log *log, bool *counted, pess_error *error) {
    const pess__frame *frame = &log->frame;
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES; role++)
        log->role[role] = column_called(frame, pess__role_name[role]);
    *counted =
        log->role[PESS__ROLE_COUNT] >= 0 && log->role[PESS__ROLE_REWARD_SUM] >= 0 && log->role[PESS__ROLE_REWARD] < 0;
    for (int role = PESS__ROLE_EPISODE; role < PESS__ROLES; role++)
        if (*counted == (role < PESS__LOG_ROLES)) log->role[role] = -1;
    if ((log->role[PESS__ROLE_REWARD_MIN] < 0) != (log->role[PESS__ROLE_REWARD_MAX] < 0)) /* one alone says nothing */
        log->role[PESS__ROLE_REWARD_MIN] = log->role[PESS__ROLE_REWARD_MAX] = -1;
    for (int role = PESS__ROLE_STATE; role <= PESS__ROLE_NEXT_STATE; role++) {
        char text[400];
        if (log->role[role] < 0 && !(*counted && role == PESS__ROLE_REWARD))
            return pess__fail(error, PESS_INPUT,
                              "%s: found no column '%s' among %s; expected the columns state, action, reward and "
                              "next_state",
                              log->frames->name, pess__role_name[role], list_columns(frame, text, sizeof text));
    }
    return PESS_OK;
}

/* Whether ids of a role are names: whole numbers are ids as they are. */
static bool is_named(const frame_log *log, pess__role role) {
    return log->role[role] >= 0 && log->frame.column[log->role[role]].kind == PESS__FRAME_TEXT;
}

static pess_status create_names(pess__stream *stream, frame_log *log, pess_error *error) {
    pess_names **names[] = {&stream->state_names, &stream->action_names, &stream->episode_names};
    log->named[PESS__STATES] = is_named(log, PESS__ROLE_STATE) || is_named(log, PESS__ROLE_NEXT_STATE);
    log->named[PESS__ACTIONS] = is_named(log, PESS__ROLE_ACTION);
    log->named[PESS__EPISODES] = is_named(log, PESS__ROLE_EPISODE);
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
    bool counted = false;
    const pess_status status = pess__allocate(&log, 1, sizeof *log, "a log reader", error);
    if (status != PESS_OK) {
        pess__frames_close(frames);
        return status;
    }
    log->frames = frames;
    stream->reader = log;
    PESS_TRY(frames->next(frames, &log->frame, error));
    PESS_TRY(set_roles(log, &counted, error));
    stream->has_episode = log->role[PESS__ROLE_EPISODE] >= 0;
    stream->has_step = log->role[PESS__ROLE_STEP] >= 0;
    stream->has_probability = log->role[PESS__ROLE_PROBABILITY] >= 0;
    PESS_TRY(create_names(stream, log, error));
    return create_blocks(stream, log, counted, error);
}

void pess__frame_log_close(pess__stream *stream) {
    frame_log *log = stream->reader;
    if (log == NULL) return;
    for (int64_t i = 0; log->blocks != NULL && i < log->count; i++) pess__block_free(&log->blocks[i]);
    for (int role = 0; role < PESS__ROLES; role++) free(log->number[role]);
    free(log->blocks);
    pess__frames_close(log->frames);
    free(log);
}

/* ------------------------------------------------------------------------------------------------ values */

/* One value of a role: which column, which row. */
typedef struct cell {
    const frame_log *log;
    const pess__frame_column *column;
    int64_t row; /* of the frame */
} cell;

static cell cell_of(const frame_log *log, int role, int64_t row) {
    return (cell){log, &log->frame.column[log->role[role]], row};
}

static pess_status wrong(const cell *c, const char *expected, pess_error *error) {
    char buffer[PESS__FRAME_VALUE_SIZE], shown[PESS__SHOWN_SIZE];
    const char *text = pess__frame_value(c->column, c->row, buffer);
    const bool other = c->column->kind == PESS__FRAME_OTHER;
    return pess__fail(error, PESS_INPUT, "%s: %s %lld, column '%.60s': found %s, expected %s", c->log->frames->name,
                      c->log->frames->row, (long long)(c->log->frame.first + c->row), c->column->name,
                      other && c->column->type != NULL ? c->column->type
                      : other                          ? pess__frame_kind_words(c->column->kind)
                                                       : pess__shown(text, strlen(text), shown),
                      expected);
}

static const char *text_of(const cell *c) {
    return pess_names_get(c->column->texts, ((const int64_t *)c->column->values)[c->row]);
}

static bool whole_double(double value, int64_t *out) {
    if (!(fabs(value) < 0x1p53) || value != floor(value)) return false;
    *out = (int64_t)value;
    return true;
}

/* A whole number, also where a column of numbers or texts holds one; false: none. */
static bool whole(const cell *c, int64_t *out) {
    double value = 0;
    if (pess__frame_is_null(c->column, c->row)) return false;
    switch (c->column->kind) {
        case PESS__FRAME_INTEGER:
        case PESS__FRAME_TIME: *out = ((const int64_t *)c->column->values)[c->row]; return true;
        case PESS__FRAME_TRUTH: *out = ((const uint8_t *)c->column->values)[c->row]; return true;
        case PESS__FRAME_NUMBER: return whole_double(((const double *)c->column->values)[c->row], out);
        case PESS__FRAME_TEXT: {
            const char *text = text_of(c), *const end = text + strlen(text);
            return pess__parse_int64(text, end, out) ||
                   (pess__parse_double(text, end, &value) && whole_double(value, out));
        }
        default: return false;
    }
}

static bool number(const cell *c, double *out) {
    if (pess__frame_is_null(c->column, c->row)) return false;
    if (c->column->kind == PESS__FRAME_NUMBER) {
        *out = ((const double *)c->column->values)[c->row];
        return isfinite(*out);
    }
    if (c->column->kind == PESS__FRAME_TEXT) {
        const char *text = text_of(c);
        return pess__parse_double(text, text + strlen(text), out) && isfinite(*out);
    }
    int64_t integer = 0;
    if (c->column->kind == PESS__FRAME_TIME || !whole(c, &integer)) return false;
    *out = (double)integer;
    return true;
}

/* A null is no flag, as an empty field of a CSV is none. */
static bool flag(const cell *c, bool *out) {
    static const char *const words[] = {"0", "false", "1", "true"};
    int64_t integer = 0;
    *out = false;
    if (pess__frame_is_null(c->column, c->row)) return c->column->kind != PESS__FRAME_OTHER;
    if (c->column->kind == PESS__FRAME_TEXT) {
        const char *text = text_of(c);
        if (text[0] == '\0') return true;
        for (int i = 0; i < 4; i++)
            if (strcasecmp(text, words[i]) == 0) {
                *out = i >= 2;
                return true;
            }
        return false;
    }
    if (c->column->kind == PESS__FRAME_TIME || !whole(c, &integer) || integer < 0 || integer > 1) return false;
    *out = integer == 1;
    return true;
}

/* The id that a value has by name: texts are looked up once, in the order in which rows show them. */
static pess_status name_id(frame_log *log, int role, int64_t row, pess_names *names, int64_t *id, pess_error *error) {
    const cell c = cell_of(log, role, row);
    char buffer[PESS__FRAME_VALUE_SIZE];
    const char *text = pess__frame_value(c.column, row, buffer);
    if (c.column->kind != PESS__FRAME_TEXT) return pess__names_add(names, text, strlen(text), id, error);
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
    const cell c = cell_of(log, role, row);
    int64_t id = 0;
    char expected[160];
    const bool empty =
        pess__frame_is_null(c.column, row) || (c.column->kind == PESS__FRAME_TEXT && text_of(&c)[0] == '\0');
    if (empty || (!named && (!whole(&c, &id) || id < 0 || id >= limit))) {
        (void)snprintf(expected, sizeof expected, "%s: a whole number from 0 to %lld%s",
                       action ? "an action" : "a state", (long long)limit - 1,
                       declared ? ", as declared" : " or a name");
        return wrong(&c, expected, error);
    }
    if (named) PESS_TRY(name_id(log, role, row, action ? stream->action_names : stream->state_names, &id, error));
    if (id >= limit) {
        (void)snprintf(expected, sizeof expected, "at most %lld different ones%s", (long long)limit,
                       declared ? ", as declared" : "");
        return wrong(&c, expected, error);
    }
    *out = (uint32_t)id;
    *most = *out > *most ? *out : *most;
    return PESS_OK;
}

static pess_status read_number(frame_log *log, int role, int64_t row, double *out, pess_error *error) {
    const cell c = cell_of(log, role, row);
    if (number(&c, out)) return PESS_OK;
    return wrong(&c, "a finite number", error);
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
        const cell c = cell_of(log, (int)ends[i].role, row);
        if (!flag(&c, &set)) return wrong(&c, "0, 1, true, false or nothing", error);
        if (set) *end = ends[i].end;
    }
    return PESS_OK;
}

static pess_status read_episode(pess__stream *stream, frame_log *log, int64_t row, int64_t *out, pess_error *error) {
    const cell c = cell_of(log, PESS__ROLE_EPISODE, row);
    if (log->named[PESS__EPISODES] && !pess__frame_is_null(c.column, row))
        return name_id(log, PESS__ROLE_EPISODE, row, stream->episode_names, out, error);
    return whole(&c, out) ? PESS_OK : wrong(&c, "a whole number or a name", error);
}

/* The columns that a log may do without. */
static pess_status read_optional(pess__stream *stream, frame_log *log, int64_t row, pess__block *block, int64_t i,
                                 pess_error *error) {
    if (stream->has_episode) PESS_TRY(read_episode(stream, log, row, &block->episode[i], error));
    if (stream->has_step) {
        const cell c = cell_of(log, PESS__ROLE_STEP, row);
        if (!whole(&c, &block->step[i])) return wrong(&c, "a whole number or a time", error);
    }
    if (stream->has_probability) {
        const cell c = cell_of(log, PESS__ROLE_PROBABILITY, row);
        if (!number(&c, &block->probability[i]) || block->probability[i] < 0 || block->probability[i] > 1)
            return wrong(&c, "a probability from 0 to 1", error);
    }
    return PESS_OK;
}

static pess_status read_counts(frame_log *log, int64_t row, pess__block *block, int64_t i, pess_error *error) {
    const cell count = cell_of(log, PESS__ROLE_COUNT, row);
    if (!whole(&count, &block->count[i]) || block->count[i] < 1 || block->count[i] > PESS__MAX_TRANSITIONS)
        return wrong(&count, "a count: a whole number from 1", error);
    if (block->square != NULL) {
        PESS_TRY(read_number(log, PESS__ROLE_REWARD_SQUARE_SUM, row, &block->square[i], error));
        const cell square = cell_of(log, PESS__ROLE_REWARD_SQUARE_SUM, row);
        if (block->square[i] < 0) return wrong(&square, "a sum of squares: a number that is not negative", error);
    }
    if (block->low == NULL) return PESS_OK;
    PESS_TRY(read_number(log, PESS__ROLE_REWARD_MIN, row, &block->low[i], error));
    return read_number(log, PESS__ROLE_REWARD_MAX, row, &block->high[i], error);
}

static pess_status read_row(pess__stream *stream, frame_log *log, int64_t row, pess__block *block, pess_error *error) {
    const int64_t i = block->rows;
    PESS_TRY(read_id(stream, log, PESS__ROLE_STATE, row, &block->state[i], &block->max_state, error));
    PESS_TRY(read_id(stream, log, PESS__ROLE_ACTION, row, &block->action[i], &block->max_action, error));
    PESS_TRY(read_id(stream, log, PESS__ROLE_NEXT_STATE, row, &block->next_state[i], &block->max_state, error));
    PESS_TRY(read_number(log, block->count != NULL ? PESS__ROLE_REWARD_SUM : PESS__ROLE_REWARD, row, &block->reward[i],
                         error));
    PESS_TRY(read_end(log, row, &block->end[i], error));
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
