#include "data/csv_chunk.h"

#include "core/memory.h"
#include "core/text.h"
#include "data/csv_parse.h"
#include "data/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every row is first tried by read_plain_row, which knows plain numbers and unquoted tokens and gives up on anything
 * else; then pess__read_any_row tokenizes it properly and words the errors. Both give the same values. */

pess_status pess__csv_chunk_create(pess__csv_chunk *chunk, const pess__csv_layout *layout, int64_t bytes,
                                   pess_error *error) {
    /* A row has a separator or line feed behind each column. */
    const int64_t capacity = bytes / layout->columns + 2;
    const int *parts = layout->reading->parts;
    PESS_TRY(pess__block_create(&chunk->block, capacity, parts[PESS__ROLE_EPISODE] > 0, parts[PESS__ROLE_STEP] > 0,
                                parts[PESS__ROLE_PROBABILITY] > 0, error));
    if (layout->reading->counted)
        PESS_TRY(pess__block_add_counts(&chunk->block, capacity, parts[PESS__ROLE_REWARD_SQUARE_SUM] > 0,
                                        parts[PESS__ROLE_REWARD_MIN] > 0, error));
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
    free(chunk->text);
    *chunk = (pess__csv_chunk){0};
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
static inline const char *token_end(const char *c, char separator) {
    while (*c != separator && *c != '\n' && *c != '\r' && *c != '"' && *c != '\0' && *c != ' ' && *c != '\t') c++;
    return c;
}

static inline bool plain_number(const pess__parse *p, const char **at, double *out) {
    const char *c = *at;
    const char separator = p->layout->separator;
    uint32_t whole = 0;
    if (plain_integer(&c, &whole) && (*c == separator || *c == '\n')) {
        *out = (double)whole;
    } else {
        c = token_end(*at, separator);
        if (!pess__number_of(p->layout->decimal_comma, *at, c, out)) return false;
    }
    *at = c;
    return true;
}

static inline bool plain_int64(const pess__parse *p, const char **at, int64_t *out) {
    uint32_t small = 0;
    const char *c = *at;
    if (plain_integer(&c, &small)) {
        *out = small;
    } else {
        c = token_end(*at, p->layout->separator);
        if (!pess__parse_int64(*at, c, out)) return false;
    }
    *at = c;
    return true;
}

/* Times may hold a blank. */
static bool plain_step(const pess__parse *p, const char **at, int64_t *out) {
    if (p->layout->step == PESS_STEP_INTEGERS) return plain_int64(p, at, out);
    const char *c = *at;
    while (*c != p->layout->separator && *c != '\n' && *c != '\r' && *c != '"' && *c != '\0') c++;
    if (!pess__step_of(p->layout->step, p->layout->decimal_comma, *at, c, out)) return false;
    *at = c;
    return true;
}

/* A value of several columns: its parts are put together when the row is over. */
static inline bool keep_part(pess__parse *p, int64_t column, const char **at) {
    const char *end = token_end(*at, p->layout->separator);
    p->chunk->fields[column].text = (char *)(uintptr_t)*at;
    p->chunk->fields[column].length = (size_t)(end - *at);
    *at = end;
    return true;
}

/* A name that is in the table already; new ones go the long way once, where they are checked. */
static inline bool known_name(const pess__parse *p, int numbering, const char **at, int64_t *id) {
    const char *end = token_end(*at, p->layout->separator);
    *id = pess__names_find(p->chunk->names[numbering], *at, (size_t)(end - *at));
    *at = end;
    return *id >= 0;
}

/* "7" and "7.0"; decimals other than zeros are for the row in full. */
static inline bool plain_whole(pess__parse *p, const char **at, uint32_t *out) {
    if (!plain_integer(at, out)) return false;
    if (**at != '.') return true;
    const char *c = *at + 1;
    while (*c == '0') c++;
    *at = c;
    p->chunk->decimal_ids = true;
    return true;
}

static inline bool plain_id(pess__parse *p, pess__role role, int numbering, int64_t column, const char **at,
                            uint32_t *out) {
    if (p->layout->named[numbering]) {
        int64_t id = 0;
        if (p->layout->reading->parts[role] > 1) return keep_part(p, column, at);
        if (!known_name(p, numbering, at, &id)) return false;
        *out = (uint32_t)id;
        return true;
    }
    return plain_whole(p, at, out) && *out < p->layout->limit[numbering];
}

static inline bool plain_flag(const pess__parse *p, const char **at, uint8_t end_if_set, uint8_t *end) {
    bool flag = false;
    const char *stop = token_end(*at, p->layout->separator);
    if (!pess__flag_of(*at, (size_t)(stop - *at), &flag)) return false;
    *at = stop;
    const uint8_t winner = p->layout->reading->cutoff_wins ? PESS_END_CUTOFF : PESS_END_TERMINAL;
    if (flag && *end != winner) *end = end_if_set;
    return true;
}

static inline bool plain_episode(pess__parse *p, int64_t column, const char **at, int64_t *out) {
    if (!p->layout->named[PESS__EPISODES]) return plain_int64(p, at, out);
    if (p->layout->reading->parts[PESS__ROLE_EPISODE] > 1) return keep_part(p, column, at);
    return known_name(p, PESS__EPISODES, at, out);
}

static inline bool plain_field(pess__parse *p, int64_t column, const char **at, int64_t i) {
    pess__block *block = &p->chunk->block;
    const pess__role role = (pess__role)p->layout->role[column];
    switch (role) {
        case PESS__ROLE_STATE: return plain_id(p, role, PESS__STATES, column, at, &block->state[i]);
        case PESS__ROLE_ACTION: return plain_id(p, role, PESS__ACTIONS, column, at, &block->action[i]);
        case PESS__ROLE_NEXT_STATE: return plain_id(p, role, PESS__STATES, column, at, &block->next_state[i]);
        case PESS__ROLE_REWARD:
        case PESS__ROLE_REWARD_SUM: return plain_number(p, at, &block->reward[i]);
        case PESS__ROLE_TERMINAL: return plain_flag(p, at, PESS_END_TERMINAL, &block->end[i]);
        case PESS__ROLE_TRUNCATED: return plain_flag(p, at, PESS_END_CUTOFF, &block->end[i]);
        case PESS__ROLE_EPISODE: return plain_episode(p, column, at, &block->episode[i]);
        case PESS__ROLE_STEP: return plain_step(p, at, &block->step[i]);
        case PESS__ROLE_PROBABILITY:
            return plain_number(p, at, &block->probability[i]) && block->probability[i] >= 0 &&
                   block->probability[i] <= 1;
        case PESS__ROLE_COUNT:
            return plain_int64(p, at, &block->count[i]) && block->count[i] >= 1 &&
                   block->count[i] <= PESS__MAX_TRANSITIONS;
        case PESS__ROLE_REWARD_SQUARE_SUM: return plain_number(p, at, &block->square[i]) && block->square[i] >= 0;
        case PESS__ROLE_REWARD_MIN: return plain_number(p, at, &block->low[i]);
        case PESS__ROLE_REWARD_MAX: return plain_number(p, at, &block->high[i]);
        case PESS__ROLE_IGNORED:
        case PESS__ROLES: break;
    }
    const char separator = p->layout->separator;
    while (**at != separator && **at != '\n' && **at != '\r' && **at != '"' && **at != '\0') ++*at;
    return true;
}

/* The four required columns in their usual order, as integers: without a switch between them, which is most of the work
 * of a plain log. Returns the place behind them, or NULL. */
static inline const char *plain_core(pess__parse *p, const char *at, int64_t i) {
    const pess__csv_layout *layout = p->layout;
    const char separator = layout->separator;
    pess__block *block = &p->chunk->block;
    uint32_t state = 0, action = 0, next_state = 0;
    double reward = 0;
    if (!plain_whole(p, &at, &state) || *at++ != separator || !plain_whole(p, &at, &action) || *at++ != separator ||
        !plain_number(p, &at, &reward) || *at++ != separator || !plain_whole(p, &at, &next_state))
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

/* The names of values of several columns, where the table has them already. */
static bool find_joined(pess__parse *p, int64_t i) {
    static const struct {
        pess__role role;
        int numbering;
    } joined[] = {{PESS__ROLE_STATE, PESS__STATES},
                  {PESS__ROLE_ACTION, PESS__ACTIONS},
                  {PESS__ROLE_NEXT_STATE, PESS__STATES},
                  {PESS__ROLE_EPISODE, PESS__EPISODES}};
    pess__block *block = &p->chunk->block;
    for (size_t k = 0; k < sizeof joined / sizeof joined[0]; k++) {
        const pess__role role = joined[k].role;
        size_t length = 0;
        if (p->layout->reading->parts[role] < 2) continue;
        if (!pess__join(p->chunk->fields, p->layout->reading, role, &p->chunk->text, &p->chunk->text_capacity, &length))
            return false;
        const int64_t id = pess__names_find(p->chunk->names[joined[k].numbering], p->chunk->text, length);
        if (id < 0) return false;
        if (role == PESS__ROLE_EPISODE)
            block->episode[i] = id;
        else
            (role == PESS__ROLE_STATE    ? block->state
             : role == PESS__ROLE_ACTION ? block->action
                                         : block->next_state)[i] = (uint32_t)id;
    }
    return true;
}

/* Returns the beginning of the next row, or NULL: this one is not plain. */
static inline const char *read_plain_row(pess__parse *p, const char *at, int64_t i) {
    const int64_t last = p->layout->columns - 1, core = p->core;
    const char separator = p->layout->separator;
    const char *row = at;
    p->chunk->block.end[i] = PESS_END_NONE;
    for (int64_t column = 0; column <= last; column++) {
        if (column == core) {
            at = plain_core(p, at, i);
            if (at == NULL) return NULL;
            column += 3;
        } else if (!plain_field(p, column, &at, i)) {
            return NULL;
        }
        if (column < last && *at++ != separator) return NULL;
    }
    if (*at == '\r') at++;
    if (*at != '\n' || at - row >= PESS__PIECE_LONGEST_ROW) return NULL;
    return p->layout->joined && !find_joined(p, i) ? NULL : at + 1;
}

/* Whether count, sums and range of a counted row can belong together; sums may be rounded as databases do. */
static bool counts_agree(const pess__parse *p, int64_t i, int64_t line) {
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

static void find_largest(pess__block *block) {
    uint32_t max_state = 0, max_action = 0;
    for (int64_t i = 0; i < block->rows; i++) {
        max_state = block->state[i] > max_state ? block->state[i] : max_state;
        max_state = block->next_state[i] > max_state ? block->next_state[i] : max_state;
        max_action = block->action[i] > max_action ? block->action[i] : max_action;
    }
    block->max_state = max_state;
    block->max_action = max_action;
}

static void begin(pess__csv_chunk *chunk) {
    chunk->problem.status = PESS_OK;
    chunk->again = -1;
    chunk->rows = chunk->dropped = chunk->stood_in = chunk->ends_without_next = 0;
    chunk->decimal_ids = chunk->number_names = false;
    memset(chunk->missing, 0, sizeof chunk->missing);
    for (int numbering = 0; numbering < PESS__NUMBERINGS; numbering++) pess__names_clear(chunk->names[numbering]);
}

void pess__csv_chunk_parse(pess__csv_chunk *chunk, const pess__csv_layout *layout) {
    const bool named = layout->named[PESS__STATES] || layout->named[PESS__ACTIONS];
    pess__parse p = {.chunk = chunk, .layout = layout, .core = named ? -1 : layout->core};
    pess__csv_cursor cursor = {chunk->begin, chunk->end, 0, layout->separator};
    int64_t rows = 0;
    begin(chunk);
    while (cursor.at < cursor.end) {
        const char *next = layout->plain ? read_plain_row(&p, cursor.at, rows) : NULL;
        pess__row_read read = PESS__ROW_READ;
        if (next != NULL) {
            cursor.at = (char *)(uintptr_t)next;
            cursor.line++;
        } else {
            read = pess__read_any_row(&p, &cursor, rows);
        }
        if (read == PESS__ROW_NONE) break;
        chunk->rows++;
        if (read == PESS__ROW_DROPPED) continue;
        if (layout->reading->counted && !counts_agree(&p, rows, cursor.line - 1)) break;
        rows++;
    }
    chunk->block.rows = rows;
    find_largest(&chunk->block);
    chunk->lines = cursor.line;
}
