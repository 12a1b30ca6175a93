/* The row in full: quotes, names, missing values, values of several columns, and the errors in words. */
#include "core/memory.h"
#include "core/text.h"
#include "data/csv_parse.h"
#include "data/latin1.h"
#include "data/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- messages */

static bool wrong(pess__parse *p, pess__role role, const pess__csv_field *field, const char *expected) {
    char shown[PESS__SHOWN_SIZE];
    const pess_reading *reading = p->layout->reading;
    pess__csv_set_problem(&p->chunk->problem, field->line, field->column, "column '%.60s': found %s, expected %s",
                          reading->used[reading->column_of[role][0]].name,
                          pess__shown(field->text, field->length, shown), expected);
    return false;
}

static bool remedy(pess__parse *p, const char *code, const char *value) {
    pess__csv_set_remedy(&p->chunk->problem, code, value);
    return false;
}

static bool no_memory(pess__parse *p, const pess__csv_field *field) {
    pess__csv_set_problem(&p->chunk->problem, field->line, field->column, "not enough memory for names");
    p->chunk->problem.status = PESS_MEMORY;
    return false;
}

static bool wrong_id(pess__parse *p, pess__role role, int numbering, const pess__csv_field *field) {
    char expected[160];
    static const char *const one[] = {"a state", "an action"}, *const id_name[] = {"state", "action"};
    const long long last = (long long)p->layout->limit[numbering] - 1;
    if (p->layout->declared[numbering])
        (void)snprintf(expected, sizeof expected, "an integer from 0 to %lld: %lld %s%s declared", last, last + 1,
                       id_name[numbering], last > 0 ? "s are" : " is");
    else
        (void)snprintf(expected, sizeof expected, "%s: an integer or a name that is not a number", one[numbering]);
    return wrong(p, role, field, expected);
}

/* Bytes that are no UTF-8 are shown as they read in Latin-1. */
static bool wrong_text(pess__parse *p, pess__role role, const pess__csv_field *field) {
    char text[3 * 16 + 1], expected[120];
    const size_t length = pess__latin1_to_utf8(field->text, field->length < 16 ? field->length : 16, text);
    (void)snprintf(expected, sizeof expected, "text in UTF-8; in Latin-1 it reads '%.*s'", (int)length, text);
    (void)wrong(p, role, field, expected);
    return remedy(p, "encoding", "latin1");
}

/* ---- missing values, and values of several columns */

static bool is_flag(pess__role role) { return role == PESS__ROLE_TERMINAL || role == PESS__ROLE_TRUNCATED; }

/* Whether the role has a value here, perhaps one that stands in for it. */
static bool there_is(pess__parse *p, pess__role role, pess__csv_field *field) {
    const pess__missing_rule *rule = &p->layout->reading->missing[role];
    if ((field->length == 0 && is_flag(role)) || !pess__is_missing(field->text, field->length)) return true;
    if (rule->kind == PESS__MISSING_VALUE) {
        field->text = rule->value;
        field->length = strlen(rule->value);
        p->chunk->stood_in++;
        return true;
    }
    pess__missing_rows *missing = &p->chunk->missing[role];
    if (missing->rows++ == 0) {
        missing->line = field->line;
        missing->column = field->column;
    }
    p->drop = true;
    p->no_state |= role == PESS__ROLE_STATE;
    p->no_episode |= role == PESS__ROLE_EPISODE;
    return false;
}

/* The value of a role in this row: TAKEN into *field, MISSING, or a PROBLEM. */
typedef enum taking { TAKEN, MISSING, PROBLEM } taking;

static taking take_joined(pess__parse *p, pess__role role, pess__csv_field *field) {
    const pess_reading *reading = p->layout->reading;
    for (int i = 0; i < reading->parts[role]; i++) {
        pess__csv_field *part = &p->chunk->fields[reading->column_of[role][i]];
        if (!there_is(p, role, part)) return MISSING;
        if (memchr(part->text, PESS__JOINT, part->length) == NULL) continue;
        (void)wrong(p, role, part, "no '|' in a value that stands beside others: it is what joins them");
        return PROBLEM;
    }
    size_t length = 0;
    *field = p->chunk->fields[reading->column_of[role][0]];
    if (!pess__join(p->chunk->fields, reading, role, &p->chunk->text, &p->chunk->text_capacity, &length)) {
        (void)no_memory(p, field);
        return PROBLEM;
    }
    field->text = p->chunk->text;
    field->length = length;
    return TAKEN;
}

static taking take(pess__parse *p, pess__role role, pess__csv_field *field) {
    const pess_reading *reading = p->layout->reading;
    if (reading->parts[role] > 1) return take_joined(p, role, field);
    *field = p->chunk->fields[reading->column_of[role][0]];
    return there_is(p, role, field) ? TAKEN : MISSING;
}

/* ---- names and ids */

/* The id of a name in the chunk's own table. */
static bool add_name(pess__parse *p, int numbering, const pess__csv_field *field, int64_t *id) {
    pess__csv_chunk *chunk = p->chunk;
    pess_names *names = chunk->names[numbering];
    const int64_t before = pess_names_count(names);
    if (pess__names_add(names, field->text, field->length, id, NULL) != PESS_OK ||
        pess__grow(&chunk->first[numbering], &chunk->first_capacity[numbering], before + 1,
                   sizeof *chunk->first[numbering], "names", NULL) != PESS_OK)
        return no_memory(p, field);
    if (*id == before) chunk->first[numbering][*id] = (struct pess__csv_place){field->line, field->column};
    return true;
}

/* Makes the text UTF-8 where it is declared to be Latin-1. */
static bool make_readable(pess__parse *p, pess__role role, pess__csv_field *field) {
    if (pess__names_valid(field->text, field->length)) return true;
    if (!p->layout->reading->info.latin1 || memchr(field->text, '\0', field->length) != NULL)
        return wrong_text(p, role, field);
    pess__csv_chunk *chunk = p->chunk;
    const int64_t at = field->text == chunk->text ? (int64_t)field->length : 0; /* a joined text lies there already */
    if (pess__grow(&chunk->text, &chunk->text_capacity, at + 3 * (int64_t)field->length, 1, "names", NULL) != PESS_OK)
        return no_memory(p, field);
    const char *from = at > 0 ? chunk->text : field->text;
    field->length = pess__latin1_to_utf8(from, field->length, chunk->text + at);
    field->text = chunk->text + at;
    return true;
}

/* An integer that no id can be (negative, or too large) is a name, and so are all others then. */
static bool read_name(pess__parse *p, int numbering, const pess__csv_field *field, uint32_t *out) {
    int64_t id = 0;
    if (!p->layout->named[numbering]) {
        p->chunk->again = numbering;
        return false;
    }
    if (!add_name(p, numbering, field, &id)) return false;
    *out = (uint32_t)id;
    return true;
}

/* Numbers: whole ones are ids. */
static bool read_number_id(pess__parse *p, pess__role role, int numbering, pess__csv_field *field, double number,
                           uint32_t *out) {
    char text[PESS__NUMBER_SIZE];
    pess__csv_field name = *field;
    name.text = text;
    if (number != floor(number) || !(fabs(number) < 0x1p53)) {
        name.length = isfinite(number) ? pess__format_double(number, text) : 0;
        if (name.length > 0 && p->layout->reading->options.decimal_ids == PESS_DECIMAL_IDS_NAMES)
            return read_name(p, numbering, &name, out);
        (void)wrong_id(p, role, numbering, field);
        if (!isfinite(number)) return false;
        return numbering == PESS__STATES ? remedy(p, "measurements", "") : remedy(p, "decimal-ids", "names");
    }
    const bool is_id = number >= 0 && number < (double)p->layout->limit[numbering];
    if (!is_id && p->layout->declared[numbering]) return wrong_id(p, role, numbering, field);
    if (is_id && !p->layout->named[numbering]) {
        p->chunk->decimal_ids = true;
        *out = (uint32_t)number;
        return true;
    }
    name.length = (size_t)snprintf(text, sizeof text, "%lld", (long long)number);
    p->chunk->number_names |= !is_id;
    return read_name(p, numbering, &name, out);
}

static bool all_digits(const pess__csv_field *field) {
    size_t i = 0;
    while (i < field->length && field->text[i] >= '0' && field->text[i] <= '9') i++;
    return i == field->length;
}

/* The id of a state or action. Integers as long as the column holds nothing else; then names. Text that looks like a
 * number but is no whole one is an error in both cases: a measurement or damage, no name. */
static bool read_id(pess__parse *p, pess__role role, int numbering, pess__csv_field *field, uint32_t *out) {
    double number = 0;
    int64_t id = 0;
    const char *end = field->text + field->length;
    const bool digits = all_digits(field);
    if (field->length == 0) return wrong_id(p, role, numbering, field);
    if (p->layout->reading->parts[role] > 1)
        return make_readable(p, role, field) && read_name(p, numbering, field, out);
    if (!digits && (pess__parse_double(field->text, end, &number) ||
                    pess__number_of(p->layout->decimal_comma, field->text, end, &number)))
        return read_number_id(p, role, numbering, field, number, out);
    if (!digits) return make_readable(p, role, field) && read_name(p, numbering, field, out);
    if (p->layout->named[numbering]) return read_name(p, numbering, field, out);
    const bool is_id = pess__parse_int64(field->text, end, &id) && id < p->layout->limit[numbering];
    if (!is_id && p->layout->declared[numbering]) return wrong_id(p, role, numbering, field);
    if (!is_id) {
        p->chunk->number_names = true;
        return read_name(p, numbering, field, out);
    }
    *out = (uint32_t)id;
    return true;
}

/* Episodes are only told apart: any integer of 64 bits, or any name. */
static bool read_episode(pess__parse *p, pess__csv_field *field, int64_t *out) {
    const bool named = p->layout->named[PESS__EPISODES];
    if (field->length == 0) return wrong(p, PESS__ROLE_EPISODE, field, "an integer or a name");
    if (!named && pess__whole_of(p->layout->decimal_comma, field->text, field->text + field->length, out)) return true;
    if (!make_readable(p, PESS__ROLE_EPISODE, field)) return false;
    if (!named) {
        p->chunk->again = PESS__EPISODES;
        return false;
    }
    field->length = p->layout->reading->parts[PESS__ROLE_EPISODE] > 1 ? field->length : pess__id_length(field);
    return add_name(p, PESS__EPISODES, field, out);
}

/* ---- numbers */

static bool read_number(pess__parse *p, pess__role role, const pess__csv_field *field, double *out) {
    const char *end = field->text + field->length;
    const bool parsed = pess__number_of(p->layout->decimal_comma, field->text, end, out);
    const bool probability = role == PESS__ROLE_PROBABILITY;
    if (parsed && (!probability || (*out >= 0 && *out <= 1))) return true;
    if (field->text == p->layout->reading->missing[role].value)
        return wrong(p, role, field, "a number to stand in for the value that is missing here");
    (void)wrong(p, role, field,
                probability                ? "a probability from 0 to 1"
                : p->layout->decimal_comma ? "a finite decimal number with a decimal comma"
                                           : "a finite decimal number");
    if (parsed || !pess__number_of(!p->layout->decimal_comma, field->text, end, out)) return false;
    return remedy(p, "decimal", p->layout->decimal_comma ? "point" : "comma");
}

static bool read_flag(pess__parse *p, pess__role role, const pess__csv_field *field, uint8_t end_if_set, uint8_t *end) {
    bool flag = false;
    if (!pess__flag_of(field->text, field->length, &flag)) return wrong(p, role, field, "0, 1, true, false or nothing");
    const uint8_t winner = p->layout->reading->cutoff_wins ? PESS_END_CUTOFF : PESS_END_TERMINAL;
    if (flag && *end != winner) *end = end_if_set;
    return true;
}

/* Integers as long as the column holds nothing else; then numbers with decimals, or times. */
static bool read_step(pess__parse *p, const pess__csv_field *field, int64_t *out) {
    const char *end = field->text + field->length;
    double number = 0;
    int64_t micros = 0;
    static const char *const expected[] = {"an integer, a number or a time as in 2024-05-17T08:30:00",
                                           "a number, as steps before it", "a time as in 2024-05-17T08:30:00"};
    if (pess__step_of(p->layout->step, p->layout->decimal_comma, field->text, end, out)) return true;
    const bool first = p->layout->step == PESS_STEP_INTEGERS;
    if (first && pess__number_of(p->layout->decimal_comma, field->text, end, &number) && fabs(number) < 9e12)
        p->chunk->again = PESS__AGAIN_STEP_MILLIONTHS;
    else if (first && pess__parse_time(field->text, field->length, &micros))
        p->chunk->again = PESS__AGAIN_STEP_TIMES;
    else
        return wrong(p, PESS__ROLE_STEP, field, expected[p->layout->step]);
    return false;
}

static bool read_count(pess__parse *p, const pess__csv_field *field, int64_t *out) {
    return (pess__whole_of(p->layout->decimal_comma, field->text, field->text + field->length, out) && *out >= 1 &&
            *out <= PESS__MAX_TRANSITIONS) ||
           wrong(p, PESS__ROLE_COUNT, field, "a whole number of transitions from 1 to 2^53");
}

/* ---- rows */

static bool read_role(pess__parse *p, pess__role role, pess__csv_field *field, int64_t i) {
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
        case PESS__ROLE_STEP: return read_step(p, field, &block->step[i]);
        case PESS__ROLE_PROBABILITY: return read_number(p, role, field, &block->probability[i]);
        case PESS__ROLE_COUNT: return read_count(p, field, &block->count[i]);
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

/* A terminal row may leave its next state open: it leads nowhere, so its own state stands there. */
static bool ends_without_next(pess__parse *p, pess__role role, int64_t i) {
    const pess_reading *reading = p->layout->reading;
    const pess__csv_field *field = &p->chunk->fields[reading->column_of[role][0]];
    return role == PESS__ROLE_NEXT_STATE && p->chunk->block.end[i] == PESS_END_TERMINAL && !p->no_state &&
           reading->missing[role].kind != PESS__MISSING_VALUE && pess__is_missing(field->text, field->length);
}

/* Ends come first, as they say whether there is a next state; the state's name is numbered before the next state's. */
static bool read_fields(pess__parse *p, int64_t i) {
    static const uint8_t order[] = {PESS__ROLE_TERMINAL,    PESS__ROLE_TRUNCATED, PESS__ROLE_STATE,
                                    PESS__ROLE_ACTION,      PESS__ROLE_REWARD,    PESS__ROLE_REWARD_SUM,
                                    PESS__ROLE_NEXT_STATE,  PESS__ROLE_EPISODE,   PESS__ROLE_STEP,
                                    PESS__ROLE_PROBABILITY, PESS__ROLE_COUNT,     PESS__ROLE_REWARD_SQUARE_SUM,
                                    PESS__ROLE_REWARD_MIN,  PESS__ROLE_REWARD_MAX};
    pess__block *block = &p->chunk->block;
    block->end[i] = PESS_END_NONE;
    for (size_t k = 0; k < sizeof order; k++) {
        const pess__role role = (pess__role)order[k];
        pess__csv_field field = {0};
        if (p->layout->reading->parts[role] == 0) continue;
        if (ends_without_next(p, role, i)) {
            block->next_state[i] = block->state[i];
            p->chunk->ends_without_next++;
            continue;
        }
        const taking taken = take(p, role, &field);
        if (taken == PROBLEM || (taken == TAKEN && !read_role(p, role, &field, i))) return false;
    }
    return true;
}

/* A row that is dropped leaves a gap where next states are told by the rows that follow. */
static pess__row_read drop_row(pess__parse *p, int64_t i) {
    pess__block *block = &p->chunk->block;
    p->chunk->dropped++;
    if (!p->layout->reading->info.next_state_derived || p->no_episode) return PESS__ROW_DROPPED;
    if (p->no_state) block->state[i] = 0;
    block->action[i] = 0;
    block->reward[i] = 0;
    block->end[i] = p->no_state ? PESS__END_GAP : PESS__END_GAP_STATE;
    return PESS__ROW_READ;
}

/* Names the separator with which the row would have as many fields as the header. */
static const char *other_separator(const char *begin, const char *end, const pess__csv_layout *layout) {
    static const char separators[] = {',', ';', '\t', '|'};
    static const char *const names[] = {"commas", "semicolons", "tabs", "pipes"};
    for (size_t k = 0; k < sizeof separators; k++) {
        int64_t fields = 1;
        for (const char *c = begin; c < end; c++) fields += *c == separators[k];
        if (separators[k] != layout->separator && fields == layout->columns) return names[k];
    }
    return NULL;
}

static void wrong_count(pess__parse *p, const char *begin, const char *end, int64_t count) {
    const int64_t line = p->chunk->fields[0].line;
    const char *other = other_separator(begin, end, p->layout);
    char mixed[100] = "";
    if (other != NULL)
        (void)snprintf(mixed, sizeof mixed, "; it has as many with %s: the file mixes separators", other);
    pess__csv_set_problem(&p->chunk->problem, line, 1, "found %lld field%s, expected %lld as in the header%s",
                          (long long)count, count == 1 ? "" : "s", (long long)p->layout->columns, mixed);
    if (other == NULL && p->layout->separator == ',' && count > p->layout->columns)
        pess__csv_set_remedy(&p->chunk->problem, "separator", "semicolon|tab|pipe");
}

pess__row_read pess__read_any_row(pess__parse *p, pess__csv_cursor *cursor, int64_t i) {
    int64_t count = 0;
    pess__csv_chunk *chunk = p->chunk;
    const char *begin = cursor->at;
    p->drop = p->no_state = p->no_episode = false;
    if (pess__csv_next(cursor, chunk->fields, p->layout->columns, &count, &chunk->problem) != PESS__CSV_ROW)
        return PESS__ROW_NONE;
    if (cursor->at - begin >= PESS__PIECE_LONGEST_ROW) {
        pess__csv_set_problem(&chunk->problem, chunk->fields[0].line, 1,
                              "found a row of more than %d bytes, expected a shorter one; is a quote never closed?",
                              PESS__PIECE_LONGEST_ROW);
        return PESS__ROW_NONE;
    }
    if (count != p->layout->columns) {
        wrong_count(p, begin, cursor->at, count);
        return PESS__ROW_NONE;
    }
    if (!read_fields(p, i)) return PESS__ROW_NONE;
    return p->drop ? drop_row(p, i) : PESS__ROW_READ;
}
