#include "data/csv_chunk.h"

#include "core/memory.h"
#include "core/text.h"
#include "data/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Every row is first tried by read_plain_row, which knows plain numbers and unquoted tokens and gives up on anything
 * else; then read_any_row tokenizes it properly and words the errors. Both give the same values. */

pess_status pess__csv_chunk_create(pess__csv_chunk *chunk, const pess__csv_layout *layout, int64_t bytes,
                                   pess_error *error) {
    /* A row has a comma or line feed behind each column and at least one byte in each of the four required ones. */
    const int64_t capacity = bytes / (layout->columns + 4) + 2;
    PESS_TRY(pess__block_create(&chunk->block, capacity, layout->has[PESS__ROLE_EPISODE], layout->has[PESS__ROLE_STEP],
                                layout->has[PESS__ROLE_PROBABILITY], error));
    if (layout->counted)
        PESS_TRY(pess__block_add_counts(&chunk->block, capacity, layout->has[PESS__ROLE_REWARD_SQUARE_SUM],
                                        layout->has[PESS__ROLE_REWARD_MIN] && layout->has[PESS__ROLE_REWARD_MAX],
                                        error));
    for (int numbering = 0; numbering < PESS__NUMBERINGS; numbering++)
        PESS_TRY(pess__names_create(&chunk->names[numbering], error));
    return pess__allocate(&chunk->fields, layout->columns, sizeof *chunk->fields, "a row", error);
}

void pess__csv_chunk_free(pess__csv_chunk *chunk) {
    pess__block_free(&chunk->block);
    for (int numbering = 0; numbering < PESS__NUMBERINGS; numbering++) {
        pess_names_destroy(chunk->names[numbering]);
        free(chunk->first[numbering]);
    }
    free(chunk->fields);
    *chunk = (pess__csv_chunk){0};
}

typedef struct parse {
    pess__csv_chunk *chunk;
    const pess__csv_layout *layout;
    int64_t core; /* layout->core where ids are integers, else -1 */
} parse;

static bool is_digit(char c) { return (unsigned)(c - '0') <= 9; }

static bool all_digits(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!is_digit(text[i])) return false;
    return length > 0;
}

/* The id of a name in the chunk's own table; -1 after a problem with memory. */
static int64_t add_name(parse *p, int numbering, const char *text, size_t length, int64_t line, int64_t column) {
    pess__csv_chunk *chunk = p->chunk;
    pess_names *names = chunk->names[numbering];
    const int64_t before = pess_names_count(names);
    int64_t id = -1;
    if (pess__names_add(names, text, length, &id, NULL) != PESS_OK ||
        pess__grow(&chunk->first[numbering], &chunk->first_capacity[numbering], before + 1,
                   sizeof *chunk->first[numbering], "names", NULL) != PESS_OK) {
        pess__csv_set_problem(&chunk->problem, line, column, "not enough memory for names");
        chunk->problem.status = PESS_MEMORY;
        return -1;
    }
    if (id == before) chunk->first[numbering][id] = (struct pess__csv_place){line, column};
    return id;
}

/* ------------------------------------------------------------------------------------------ the plain, fast row */

/* Up to nine digits; the byte behind them is *end. False: none, or more. */
static inline bool plain_integer(const char **at, uint32_t *out) {
    const char *c = *at;
    uint32_t value = (uint32_t)(*c - '0');
    if (value > 9) return false;
    unsigned digit = (unsigned)(c[1] - '0');
    int count = 1;
    for (c++; digit <= 9; digit = (unsigned)(*++c - '0')) {
        value = 10 * value + digit;
        if (++count > 9) return false;
    }
    *at = c;
    *out = value;
    return true;
}

/* End of an unquoted token without blanks. The chunk ends in a line feed, so the scan ends. */
static inline const char *token_end(const char *c) {
    while (*c != ',' && *c != '\n' && *c != '\r' && *c != '"' && *c != '\0' && *c != ' ' && *c != '\t') c++;
    return c;
}

static inline bool plain_number(const char **at, double *out) {
    const char *c = *at;
    uint32_t whole = 0;
    if (plain_integer(&c, &whole) && (*c == ',' || *c == '\n')) {
        *out = (double)whole;
    } else {
        c = token_end(*at);
        if (!pess__parse_double(*at, c, out) || !isfinite(*out)) return false;
    }
    *at = c;
    return true;
}

static inline bool plain_int64(const char **at, int64_t *out) {
    uint32_t small = 0;
    const char *c = *at;
    if (plain_integer(&c, &small)) {
        *out = small;
    } else {
        c = token_end(*at);
        if (!pess__parse_int64(*at, c, out)) return false;
    }
    *at = c;
    return true;
}

static bool flag_of(const char *text, size_t length, bool *flag) {
    if (length == 0 || (length == 1 && *text == '0') || (length == 5 && strncasecmp(text, "false", 5) == 0))
        *flag = false;
    else if ((length == 1 && *text == '1') || (length == 4 && strncasecmp(text, "true", 4) == 0))
        *flag = true;
    else
        return false;
    return true;
}

/* A name that is in the table already; new ones go the long way once, where they are checked. */
static inline bool known_name(parse *p, int numbering, const char **at, int64_t *id) {
    const char *end = token_end(*at);
    *id = pess__names_find(p->chunk->names[numbering], *at, (size_t)(end - *at));
    *at = end;
    return *id >= 0;
}

static inline bool plain_id(parse *p, int numbering, const char **at, uint32_t *out) {
    if (p->layout->named[numbering]) {
        int64_t id = 0;
        if (!known_name(p, numbering, at, &id)) return false;
        *out = (uint32_t)id;
        return true;
    }
    return plain_integer(at, out) && *out < p->layout->limit[numbering];
}

static inline bool plain_flag(const char **at, uint8_t end_if_set, uint8_t *end) {
    bool flag = false;
    const char *stop = token_end(*at);
    if (!flag_of(*at, (size_t)(stop - *at), &flag)) return false;
    *at = stop;
    if (flag && *end != PESS_END_TERMINAL) *end = end_if_set;
    return true;
}

static inline bool plain_field(parse *p, pess__role role, const char **at, int64_t i) {
    pess__block *block = &p->chunk->block;
    switch (role) {
        case PESS__ROLE_STATE: return plain_id(p, PESS__STATES, at, &block->state[i]);
        case PESS__ROLE_ACTION: return plain_id(p, PESS__ACTIONS, at, &block->action[i]);
        case PESS__ROLE_NEXT_STATE: return plain_id(p, PESS__STATES, at, &block->next_state[i]);
        case PESS__ROLE_REWARD:
        case PESS__ROLE_REWARD_SUM: return plain_number(at, &block->reward[i]);
        case PESS__ROLE_TERMINAL: return plain_flag(at, PESS_END_TERMINAL, &block->end[i]);
        case PESS__ROLE_TRUNCATED: return plain_flag(at, PESS_END_CUTOFF, &block->end[i]);
        case PESS__ROLE_EPISODE:
            return p->layout->named[PESS__EPISODES] ? known_name(p, PESS__EPISODES, at, &block->episode[i])
                                                    : plain_int64(at, &block->episode[i]);
        case PESS__ROLE_STEP: return plain_int64(at, &block->step[i]);
        case PESS__ROLE_PROBABILITY:
            return plain_number(at, &block->probability[i]) && block->probability[i] >= 0 && block->probability[i] <= 1;
        case PESS__ROLE_COUNT:
            return plain_int64(at, &block->count[i]) && block->count[i] >= 1 &&
                   block->count[i] <= PESS__MAX_TRANSITIONS;
        case PESS__ROLE_REWARD_SQUARE_SUM: return plain_number(at, &block->square[i]) && block->square[i] >= 0;
        case PESS__ROLE_REWARD_MIN: return plain_number(at, &block->low[i]);
        case PESS__ROLE_REWARD_MAX: return plain_number(at, &block->high[i]);
        case PESS__ROLE_IGNORED:
        case PESS__ROLES: break;
    }
    while (**at != ',' && **at != '\n' && **at != '\r' && **at != '"' && **at != '\0') ++*at;
    return true;
}

/* The four required columns in their usual order, as integers: without a switch between them, which is most of the work
 * of a plain log. Returns the place behind them, or NULL. */
static inline const char *plain_core(parse *p, const char *at, int64_t i) {
    const pess__csv_layout *layout = p->layout;
    pess__block *block = &p->chunk->block;
    uint32_t state = 0, action = 0, next_state = 0;
    double reward = 0;
    if (!plain_integer(&at, &state) || *at++ != ',' || !plain_integer(&at, &action) || *at++ != ',' ||
        !plain_number(&at, &reward) || *at++ != ',' || !plain_integer(&at, &next_state))
        return NULL;
    if (state >= layout->limit[PESS__STATES] || next_state >= layout->limit[PESS__STATES] ||
        action >= layout->limit[PESS__ACTIONS])
        return NULL;
    block->state[i] = state;
    block->action[i] = action;
    block->reward[i] = reward;
    block->next_state[i] = next_state;
    return at;
}

/* Returns the beginning of the next row, or NULL: this one is not plain. */
static inline const char *read_plain_row(parse *p, const char *at, int64_t i) {
    const int64_t last = p->layout->columns - 1, core = p->core;
    const char *row = at;
    p->chunk->block.end[i] = PESS_END_NONE;
    for (int64_t column = 0; column <= last; column++) {
        if (column == core) {
            at = plain_core(p, at, i);
            if (at == NULL) return NULL;
            column += 3;
        } else if (!plain_field(p, (pess__role)p->layout->role[column], &at, i)) {
            return NULL;
        }
        if (column < last && *at++ != ',') return NULL;
    }
    if (*at == '\r') at++;
    return *at == '\n' && at - row < PESS__CSV_LONGEST_ROW ? at + 1 : NULL;
}

/* ---------------------------------------------------------------------------------------------- the row in full */

static const char *const id_name[] = {"state", "action"};

static bool wrong(parse *p, pess__role role, const pess__csv_field *field, const char *expected) {
    char shown[PESS__SHOWN_SIZE];
    pess__csv_set_problem(&p->chunk->problem, field->line, field->column, "column '%s': found %s, expected %s",
                          pess__role_name[role], pess__shown(field->text, field->length, shown), expected);
    return false;
}

static bool wrong_id(parse *p, pess__role role, int numbering, const pess__csv_field *field) {
    char expected[160];
    const long long last = (long long)p->layout->limit[numbering] - 1;
    if (p->layout->declared[numbering])
        (void)snprintf(expected, sizeof expected, "an integer from 0 to %lld: %lld %s%s declared", last, last + 1,
                       id_name[numbering], last > 0 ? "s are" : " is");
    else
        (void)snprintf(expected, sizeof expected, "%s: an integer from 0 to %lld or a name that is not a number",
                       numbering == PESS__STATES ? "a state" : "an action", last);
    return wrong(p, role, field, expected);
}

/* The id of a state or action. Integers as long as the column holds nothing else; then names. Text that looks like a
 * number but is no id is an error in both cases, as it is more likely damage than a name. */
static bool read_id(parse *p, pess__role role, int numbering, const pess__csv_field *field, uint32_t *out) {
    double number = 0;
    int64_t id = 0;
    const bool digits = all_digits(field->text, field->length);
    if (digits && (!pess__parse_int64(field->text, field->text + field->length, &id) ||
                   id >= (p->layout->named[numbering] ? (numbering == PESS__STATES ? PESS_MAX_STATES : PESS_MAX_ACTIONS)
                                                      : p->layout->limit[numbering])))
        return wrong_id(p, role, numbering, field);
    if (!digits && (field->length == 0 || pess__parse_double(field->text, field->text + field->length, &number)))
        return wrong_id(p, role, numbering, field);
    if (!digits && !pess__names_valid(field->text, field->length)) return wrong(p, role, field, "text in UTF-8");
    if (!p->layout->named[numbering] && !digits) {
        p->chunk->switch_numbering = numbering;
        return false;
    }
    if (p->layout->named[numbering])
        id = add_name(p, numbering, field->text, field->length, field->line, field->column);
    *out = (uint32_t)id;
    return id >= 0;
}

/* Episodes are only told apart: any integer of 64 bits, or any name. */
static bool read_episode(parse *p, const pess__csv_field *field, int64_t *out) {
    if (field->length == 0) return wrong(p, PESS__ROLE_EPISODE, field, "an integer or a name");
    if (!p->layout->named[PESS__EPISODES]) {
        if (pess__parse_int64(field->text, field->text + field->length, out)) return true;
        if (pess__names_valid(field->text, field->length)) p->chunk->switch_numbering = PESS__EPISODES;
    }
    if (!pess__names_valid(field->text, field->length)) return wrong(p, PESS__ROLE_EPISODE, field, "text in UTF-8");
    if (p->chunk->switch_numbering >= 0) return false;
    *out = add_name(p, PESS__EPISODES, field->text, field->length, field->line, field->column);
    return *out >= 0;
}

static bool read_flag(parse *p, pess__role role, const pess__csv_field *field, uint8_t end_if_set, uint8_t *end) {
    bool flag = false;
    if (!flag_of(field->text, field->length, &flag)) return wrong(p, role, field, "0, 1, true, false or nothing");
    if (flag && *end != PESS_END_TERMINAL) *end = end_if_set;
    return true;
}

static bool read_number(parse *p, pess__role role, const pess__csv_field *field, double *out) {
    const bool parsed = pess__parse_double(field->text, field->text + field->length, out);
    if (role == PESS__ROLE_PROBABILITY)
        return (parsed && *out >= 0 && *out <= 1) || wrong(p, role, field, "a probability from 0 to 1");
    return (parsed && isfinite(*out)) || wrong(p, role, field, "a finite decimal number");
}

static bool read_field(parse *p, pess__role role, const pess__csv_field *field, int64_t i) {
    pess__block *block = &p->chunk->block;
    switch (role) {
        case PESS__ROLE_STATE: return read_id(p, role, PESS__STATES, field, &block->state[i]);
        case PESS__ROLE_ACTION: return read_id(p, role, PESS__ACTIONS, field, &block->action[i]);
        case PESS__ROLE_NEXT_STATE: return read_id(p, role, PESS__STATES, field, &block->next_state[i]);
        case PESS__ROLE_REWARD:
        case PESS__ROLE_REWARD_SUM: return read_number(p, role, field, &block->reward[i]);
        case PESS__ROLE_TERMINAL: return read_flag(p, role, field, PESS_END_TERMINAL, &block->end[i]);
        case PESS__ROLE_TRUNCATED: return read_flag(p, role, field, PESS_END_CUTOFF, &block->end[i]);
        case PESS__ROLE_EPISODE: return read_episode(p, field, &block->episode[i]);
        case PESS__ROLE_STEP:
            return pess__parse_int64(field->text, field->text + field->length, &block->step[i]) ||
                   wrong(p, role, field, "an integer");
        case PESS__ROLE_PROBABILITY: return read_number(p, role, field, &block->probability[i]);
        case PESS__ROLE_COUNT:
            return (pess__parse_int64(field->text, field->text + field->length, &block->count[i]) &&
                    block->count[i] >= 1 && block->count[i] <= PESS__MAX_TRANSITIONS) ||
                   wrong(p, role, field, "a whole number of transitions from 1 to 2^53");
        case PESS__ROLE_REWARD_SQUARE_SUM:
            return read_number(p, role, field, &block->square[i]) &&
                   (block->square[i] >= 0 || wrong(p, role, field, "a sum of squares, 0 or more"));
        case PESS__ROLE_REWARD_MIN: return read_number(p, role, field, &block->low[i]);
        case PESS__ROLE_REWARD_MAX: return read_number(p, role, field, &block->high[i]);
        case PESS__ROLE_IGNORED:
        case PESS__ROLES: break;
    }
    return true;
}

/* The state's name is numbered before the next state's, whatever the order of the columns. */
static bool read_fields(parse *p, const pess__csv_field *fields, int64_t i) {
    const int64_t columns = p->layout->columns;
    p->chunk->block.end[i] = PESS_END_NONE;
    for (int64_t column = 0; column < columns; column++)
        if (p->layout->role[column] == PESS__ROLE_STATE && !read_field(p, PESS__ROLE_STATE, &fields[column], i))
            return false;
    for (int64_t column = 0; column < columns; column++)
        if (p->layout->role[column] != PESS__ROLE_STATE &&
            !read_field(p, (pess__role)p->layout->role[column], &fields[column], i))
            return false;
    return true;
}

/* True: row i was read. False: the chunk is over, one way or the other. */
static bool read_any_row(parse *p, pess__csv_cursor *cursor, int64_t i) {
    int64_t count = 0;
    pess__csv_chunk *chunk = p->chunk;
    const char *begin = cursor->at;
    if (pess__csv_next(cursor, chunk->fields, p->layout->columns, &count, &chunk->problem) != PESS__CSV_ROW)
        return false;
    const pess__csv_field *first = &chunk->fields[0];
    if (cursor->at - begin >= PESS__CSV_LONGEST_ROW) {
        pess__csv_set_problem(&chunk->problem, first->line, 1,
                              "found a row of more than %d bytes, expected a shorter one; is a quote never closed?",
                              PESS__CSV_LONGEST_ROW);
        return false;
    }
    if (count != p->layout->columns) {
        pess__csv_set_problem(&chunk->problem, first->line, 1, "found %lld field%s, expected %lld as in the header",
                              (long long)count, count == 1 ? "" : "s", (long long)p->layout->columns);
        return false;
    }
    return read_fields(p, chunk->fields, i);
}

/* Whether count, sums and range of a counted row can belong together; sums may be rounded as databases do. */
static bool counts_agree(parse *p, int64_t i, int64_t line) {
    const pess__block *block = &p->chunk->block;
    const double n = (double)block->count[i], sum = block->reward[i], slack = 1e-9;
    if (block->low != NULL) {
        const double lo = block->low[i], hi = block->high[i], room = slack * n * fmax(fabs(lo), fabs(hi));
        if (!(lo <= hi && sum >= n * lo - room && sum <= n * hi + room)) {
            pess__csv_set_problem(&p->chunk->problem, line, 1,
                                  "found %lld rewards from %.9g to %.9g with the sum %.9g, which cannot be",
                                  (long long)block->count[i], lo, hi, sum);
            return false;
        }
    }
    if (block->square != NULL && !(block->square[i] >= sum / n * sum * (1 - slack))) {
        pess__csv_set_problem(&p->chunk->problem, line, 1,
                              "found %lld rewards with the sum %.9g and the sum of squares %.9g, which cannot be: "
                              "expected %.9g or more",
                              (long long)block->count[i], sum, block->square[i], sum / n * sum);
        return false;
    }
    return true;
}

void pess__csv_chunk_parse(pess__csv_chunk *chunk, const pess__csv_layout *layout) {
    const bool named = layout->named[PESS__STATES] || layout->named[PESS__ACTIONS];
    parse p = {chunk, layout, named ? -1 : layout->core};
    pess__block *block = &chunk->block;
    pess__csv_cursor cursor = {chunk->begin, chunk->end, 0};
    uint32_t max_state = 0, max_action = 0;
    int64_t rows = 0;
    chunk->problem.status = PESS_OK;
    chunk->switch_numbering = -1;
    for (int numbering = 0; numbering < PESS__NUMBERINGS; numbering++) pess__names_clear(chunk->names[numbering]);
    while (cursor.at < cursor.end) {
        const char *next = read_plain_row(&p, cursor.at, rows);
        if (next != NULL) {
            cursor.at = (char *)(uintptr_t)next;
            cursor.line++;
        } else if (!read_any_row(&p, &cursor, rows)) {
            break;
        }
        if (layout->counted && !counts_agree(&p, rows, cursor.line - 1)) break;
        rows++;
    }
    for (int64_t i = 0; i < rows; i++) {
        max_state = block->state[i] > max_state ? block->state[i] : max_state;
        max_state = block->next_state[i] > max_state ? block->next_state[i] : max_state;
        max_action = block->action[i] > max_action ? block->action[i] : max_action;
    }
    block->rows = rows;
    block->max_state = max_state;
    block->max_action = max_action;
    chunk->lines = cursor.line;
}
