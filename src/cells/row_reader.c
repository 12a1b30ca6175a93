#include "cells/row_reader.h"

#include "core/memory.h"
#include "data/latin1.h"
#include "data/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES_PER_THREAD = 16 };

static const pess__role role_of_column[PESS__COLUMN_COUNT] = {
    PESS__ROLE_EPISODE, PESS__ROLE_ACTION,   PESS__ROLE_STATE,     PESS__ROLE_REWARD,
    PESS__ROLE_STEP,    PESS__ROLE_TERMINAL, PESS__ROLE_TRUNCATED, PESS__ROLE_PROBABILITY};

/* ---- lists of names */

pess_status pess__name_list_create(const char *text, pess__name_list *out, pess_error *error) {
    pess__name_list list = {0};
    int64_t commas = 0;
    if (text == NULL || text[0] == '\0')
        return pess__fail(error, PESS_ARGUMENT, "features: found none, expected names of columns, \"age,lactate\"");
    for (const char *c = text; *c != '\0'; c++) commas += *c == ',';
    if (commas >= PESS_MAX_FEATURES)
        return pess__fail(error, PESS_LIMIT, "features: found %lld, expected at most %d", (long long)commas + 1,
                          PESS_MAX_FEATURES);
    PESS_TRY(pess__allocate(&list.text, (int64_t)strlen(text) + 1, 1, "names of features", error));
    pess_status status = pess__allocate(&list.names, commas + 1, sizeof *list.names, "names of features", error);
    memcpy(list.text, text, strlen(text) + 1);
    for (char *at = list.text; status == PESS_OK && at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL) *comma = '\0';
        if (*at == '\0')
            status = pess__fail(error, PESS_ARGUMENT, "features: found '%.200s', expected a name between commas", text);
        for (int64_t i = 0; status == PESS_OK && i < list.count; i++)
            if (strcmp(list.names[i], at) == 0)
                status = pess__fail(error, PESS_ARGUMENT, "features: found '%.200s' twice, expected it once", at);
        list.names[list.count++] = at;
        at = comma != NULL ? comma + 1 : NULL;
    }
    if (status == PESS_OK)
        *out = list;
    else
        pess__name_list_free(&list);
    return status;
}

void pess__name_list_free(pess__name_list *list) {
    free(list->text);
    free(list->names);
    *list = (pess__name_list){0};
}

/* ---- header */

static bool is_named(const pess__csv_field *field, const char *name) {
    return field->length == strlen(name) && memcmp(field->text, name, field->length) == 0;
}

static pess_status unknown_feature(const pess__row_reader *r, const char *name, const pess__csv_field *fields,
                                   pess_error *error) {
    char list[400] = "";
    for (int64_t i = 0, used = 0; i < r->columns && i < 12 && used < 300; i++) {
        char shown[PESS__SHOWN_SIZE];
        used += snprintf(list + used, sizeof list - (size_t)used, "%s%s", i > 0 ? ", " : "",
                         pess__shown(fields[i].text, fields[i].length, shown));
    }
    const pess_status status = pess__fail(
        error, PESS_INPUT, "%.300s:%lld:1: found no column '%.100s' among %s%s; expected one for each feature",
        pess__infile_name(r->text.file), (long long)fields[0].line, name, list, r->columns > 12 ? ", …" : "");
    return pess__fail_with_remedy(error, status, "features", name);
}

static pess_status check_twice(const pess__row_reader *r, const pess__csv_field *fields, int64_t i, pess_error *error) {
    for (int64_t j = 0; j < i; j++)
        if (fields[i].length > 0 && fields[i].length == fields[j].length &&
            memcmp(fields[i].text, fields[j].text, fields[i].length) == 0) {
            char shown[PESS__SHOWN_SIZE];
            return pess__fail(error, PESS_INPUT, "%s:%lld:%lld: found the column %s twice, expected it once",
                              pess__infile_name(r->text.file), (long long)fields[i].line, (long long)fields[i].column,
                              pess__shown(fields[i].text, fields[i].length, shown));
        }
    return PESS_OK;
}

static pess_status set_features(pess__row_reader *r, const pess__csv_field *fields, pess_error *error) {
    PESS_TRY(pess__allocate(&r->feature, r->columns, sizeof *r->feature, "a header", error));
    for (int64_t i = 0; i < r->columns; i++) {
        r->feature[i] = -1;
        PESS_TRY(check_twice(r, fields, i, error));
    }
    for (int64_t f = 0; f < r->features; f++) {
        int64_t i = 0;
        while (i < r->columns && !is_named(&fields[i], r->names[f])) i++;
        if (i == r->columns) return unknown_feature(r, r->names[f], fields, error);
        r->feature[i] = (int32_t)f;
    }
    return PESS_OK;
}

/* Takes the columns of a role away from it. */
static void unassign(pess_reading *reading, pess__role role) {
    for (int i = 0; i < reading->parts[role]; i++) {
        pess__used_column *used = &reading->used[reading->column_of[role][i]];
        used->role = used->suggested = PESS__ROLE_IGNORED;
        used->use = PESS_COLUMN_IGNORED;
    }
    reading->parts[role] = 0;
}

/* Roles that nobody asks for are played by no column, and measurements are called that. */
static void note_measurements(pess__row_reader *r, const bool wanted[PESS__COLUMN_COUNT]) {
    bool keep[PESS__ROLES] = {false};
    for (int c = 0; c < PESS__COLUMN_COUNT; c++) keep[role_of_column[c]] = wanted[c] && r->has[c];
    for (int role = 0; role < PESS__ROLES; role++)
        if (!keep[role]) unassign(r->reading, (pess__role)role);
    for (int64_t i = 0; i < r->columns; i++) {
        pess__used_column *used = &r->reading->used[i];
        if (r->feature[i] < 0 || used->role != PESS__ROLE_IGNORED) continue;
        used->use = PESS_COLUMN_MEASURED;
        used->suggested = PESS__ROLE_IGNORED;
    }
}

/* A measurement plays another role only where it is declared to, or called so. */
static pess_status set_columns(pess__row_reader *r, const pess__csv_field *fields,
                               const bool wanted[PESS__COLUMN_COUNT], pess_error *error) {
    PESS_TRY(pess__allocate(&r->column, r->columns, sizeof *r->column, "a header", error));
    PESS_TRY(pess__reading_assign(r->reading, pess__infile_name(r->text.file), fields, r->columns, error));
    for (int64_t i = 0; i < r->columns; i++) r->column[i] = -1;
    for (int c = 0; c < PESS__COLUMN_COUNT; c++) {
        const pess__role role = role_of_column[c];
        const int64_t first = r->reading->column_of[role][0];
        if (!wanted[c] || r->reading->parts[role] == 0 ||
            (r->feature[first] >= 0 && r->reading->used[first].use == PESS_COLUMN_ALIAS))
            continue;
        r->column[first] = (int8_t)c;
        r->has[c] = true;
    }
    note_measurements(r, wanted);
    return PESS_OK;
}

static bool is_number(const void *reader, int64_t column) {
    const pess__row_reader *r = reader;
    return r->feature[column] >= 0 || r->column[column] == PESS__COLUMN_REWARD ||
           r->column[column] == PESS__COLUMN_PROBABILITY;
}

/* The first row tells what steps are: integers, numbers with decimals or times. */
static pess_status look_at_step(pess__row_reader *r, pess_error *error) {
    const size_t held = r->text.held - r->text.handed, most = 1 << 16, size = held < most ? held : most;
    char *copy = NULL;
    pess__csv_field *fields = NULL;
    pess__csv_problem problem = {0};
    int64_t count = 0, step = 0;
    if (!r->has[PESS__COLUMN_STEP]) return PESS_OK;
    pess_status status = pess__allocate(&copy, (int64_t)size, 1, "a look at the rows", error);
    if (status == PESS_OK) status = pess__allocate(&fields, r->columns, sizeof *fields, "a look at the rows", error);
    if (status == PESS_OK) {
        memcpy(copy, r->text.buffer + r->text.handed, size);
        pess__csv_cursor cursor = {copy, copy + size, 1, r->text.separator};
        const bool found =
            pess__csv_next(&cursor, fields, r->columns, &count, &problem) == PESS__CSV_ROW && count == r->columns;
        for (int unit = PESS_STEP_MICROSECONDS; found && unit >= PESS_STEP_INTEGERS; unit--) {
            const pess__csv_field *field = &fields[r->reading->column_of[PESS__ROLE_STEP][0]];
            if (pess__step_of((pess_step_unit)unit, r->decimal_comma, field->text, field->text + field->length, &step))
                r->step = (pess_step_unit)unit;
        }
    }
    free(copy);
    free(fields);
    return status;
}

/* What is declared about columns that nobody asks for does not have to be there. */
static void forget_unwanted(pess_reading *reading, const bool wanted[PESS__COLUMN_COUNT]) {
    bool keep[PESS__ROLES] = {false};
    for (int c = 0; c < PESS__COLUMN_COUNT; c++) keep[role_of_column[c]] = wanted[c];
    for (int role = 0; role < PESS__ROLES; role++) {
        pess__declared *declared = &reading->declared[role];
        if (keep[role]) continue;
        for (; declared->count > 0; declared->count--) free(declared->names[declared->count - 1]);
    }
}

static pess_status read_header(pess__row_reader *r, const pess__rows_wanted *wanted, pess_error *error) {
    static const char separators[] = {'\0', ',', ';', '\t', '|'};
    pess__csv_field *fields = NULL;
    pess_read_options options;
    PESS_TRY(pess__read_settle(wanted->read, &options, error));
    PESS_TRY(pess__reading_create(&options, &r->reading, error));
    r->reading->any_roles = true;
    forget_unwanted(r->reading, wanted->columns);
    r->text.separator = separators[r->reading->options.separator];
    PESS_TRY(pess__allocate(&fields, PESS__TEXT_COLUMNS, sizeof *fields, "a header", error));
    pess_status status = pess__csv_text_header(&r->text, fields, &r->columns, error);
    if (status == PESS_OK) status = set_features(r, fields, error);
    if (status == PESS_OK) status = set_columns(r, fields, wanted->columns, error);
    free(fields);
    if (status != PESS_OK) return status;
    r->reading->info.separator = r->text.separator;
    r->decimal_comma = r->reading->options.decimal == PESS_DECIMAL_COMMA;
    if (r->reading->options.decimal == PESS_DECIMAL_AUTO && r->text.separator != ',')
        PESS_TRY(pess__csv_text_decimal(&r->text, r->columns, is_number, r, &r->decimal_comma, error));
    r->reading->info.decimal_comma = r->decimal_comma;
    PESS_TRY(look_at_step(r, error));
    r->reading->info.step = r->step;
    return pess__reading_explain(r->reading, error);
}

pess_status pess__row_reader_open(pess__row_reader *reader, pess__infile *file, const pess__rows_wanted *wanted,
                                  int threads, bool at_once, pess_error *error) {
    *reader = (pess__row_reader){.names = wanted->names, .features = wanted->features, .threads = threads};
    const int64_t pieces = (int64_t)PIECES_PER_THREAD * threads;
    if (at_once) pess__infile_read_once(file);
    PESS_TRY(pess__csv_text_open(&reader->text, file, pieces, at_once, error));
    pess_status status = pess__allocate(&reader->blocks, pieces, sizeof *reader->blocks, "rows", error);
    if (status == PESS_OK) status = read_header(reader, wanted, error);
    if (status != PESS_OK) pess__row_reader_close(reader);
    return status;
}

static void block_free(pess__row_block *b) {
    free(b->values);
    for (int c = 0; c < PESS__COLUMN_NAMED; c++) {
        free(b->name[c]);
        pess_names_destroy(b->names[c]);
    }
    free(b->reward);
    free(b->probability);
    free(b->step);
    free(b->end);
    free(b->dropped);
    free(b->fields);
    free(b->text);
    *b = (pess__row_block){0};
}

void pess__row_reader_close(pess__row_reader *reader) {
    for (int64_t i = 0; reader->blocks != NULL && i < reader->text.pieces; i++) block_free(&reader->blocks[i]);
    pess__csv_text_close(&reader->text);
    free(reader->feature);
    free(reader->column);
    free(reader->blocks);
    pess__reading_destroy(reader->reading);
    *reader = (pess__row_reader){0};
}

/* ---- rows */

static pess_status block_create(const pess__row_reader *r, pess__row_block *b, pess_error *error) {
    PESS_TRY(pess__allocate(&b->fields, r->columns, sizeof *b->fields, "a row", error));
    for (int c = 0; c < PESS__COLUMN_NAMED; c++)
        if (r->has[c]) PESS_TRY(pess__names_create(&b->names[c], error));
    return PESS_OK;
}

static pess_status grow_to(void *array, int64_t rows, size_t element, pess_error *error) {
    int64_t capacity = 0;
    return pess__grow(array, &capacity, rows, element, "rows", error);
}

/* Room for one more row. */
static pess_status block_grow(const pess__row_reader *r, pess__row_block *b, pess_error *error) {
    if (b->rows < b->capacity) return PESS_OK;
    const int64_t rows = 2 * b->capacity + 256;
    PESS_TRY(grow_to(&b->values, rows * r->features + 1, sizeof *b->values, error));
    for (int c = 0; c < PESS__COLUMN_NAMED; c++)
        if (r->has[c]) PESS_TRY(grow_to(&b->name[c], rows, sizeof *b->name[c], error));
    if (r->has[PESS__COLUMN_REWARD]) PESS_TRY(grow_to(&b->reward, rows, sizeof *b->reward, error));
    if (r->has[PESS__COLUMN_PROBABILITY]) PESS_TRY(grow_to(&b->probability, rows, sizeof *b->probability, error));
    if (r->has[PESS__COLUMN_STEP]) PESS_TRY(grow_to(&b->step, rows, sizeof *b->step, error));
    PESS_TRY(grow_to(&b->end, rows, sizeof *b->end, error));
    PESS_TRY(grow_to(&b->dropped, rows, sizeof *b->dropped, error));
    b->capacity = rows;
    return PESS_OK;
}

static bool wrong(pess__row_block *b, const char *name, const pess__csv_field *field, const char *expected) {
    char shown[PESS__SHOWN_SIZE];
    pess__csv_set_problem(&b->problem, field->line, field->column, "column '%.100s': found %s, expected %s", name,
                          pess__shown(field->text, field->length, shown), expected);
    return false;
}

static bool read_feature(const pess__row_reader *r, pess__row_block *b, int32_t f, const pess__csv_field *field) {
    double *out = &b->values[b->rows * r->features + f];
    if (pess__number_of(r->decimal_comma, field->text, field->text + field->length, out)) return true;
    *out = NAN;
    return pess__is_missing(field->text, field->length) ||
           wrong(b, r->names[f], field, "a finite number, or nothing where it is missing; text cannot be a feature");
}

static const char *name_of_column(const pess__row_reader *r, int c) {
    return r->reading->used[r->reading->column_of[role_of_column[c]][0]].name;
}

static bool no_memory(pess__row_block *b, const pess__csv_field *field) {
    pess__csv_set_problem(&b->problem, field->line, field->column, "not enough memory for names");
    b->problem.status = PESS_MEMORY;
    return false;
}

/* The name that the columns of a role make; what is declared to be Latin-1 becomes UTF-8. */
static bool take_name(const pess__row_reader *r, pess__row_block *b, pess__role role, pess__csv_field *field) {
    if (r->reading->parts[role] > 1) {
        if (!pess__join(b->fields, r->reading, role, &b->text, &b->text_capacity, &field->length))
            return no_memory(b, field);
        field->text = b->text;
    } else {
        field->length = pess__id_length(field);
    }
    if (!r->reading->info.latin1 || pess__names_valid(field->text, field->length)) return true;
    const int64_t joined = field->text == b->text ? (int64_t)field->length : 0;
    if (pess__grow(&b->text, &b->text_capacity, joined + 3 * (int64_t)field->length, 1, "names", NULL) != PESS_OK)
        return no_memory(b, field);
    const char *from = joined > 0 ? b->text : field->text;
    field->length = pess__latin1_to_utf8(from, field->length, b->text + joined);
    field->text = b->text + joined;
    return true;
}

static bool read_name(const pess__row_reader *r, pess__row_block *b, int c, const pess__csv_field *found) {
    pess__csv_field field = *found;
    if (!take_name(r, b, role_of_column[c], &field)) return false;
    if (field.length == 0 || !pess__names_valid(field.text, field.length)) {
        (void)wrong(b, name_of_column(r, c), found, "a number or a name in UTF-8");
        if (field.length > 0) pess__csv_set_remedy(&b->problem, "encoding", "latin1");
        return false;
    }
    return pess__names_add(b->names[c], field.text, field.length, &b->name[c][b->rows], NULL) == PESS_OK ||
           no_memory(b, found);
}

static bool read_flag(const pess__row_reader *r, pess__row_block *b, int c, const pess__csv_field *field) {
    bool set = false;
    if (!pess__flag_of(field->text, field->length, &set))
        return wrong(b, name_of_column(r, c), field, "0, 1, true, false or nothing");
    uint8_t *end = &b->end[b->rows];
    const uint8_t winner = r->reading->cutoff_wins ? PESS_END_CUTOFF : PESS_END_TERMINAL;
    if (set && *end != winner) *end = c == PESS__COLUMN_TERMINAL ? PESS_END_TERMINAL : PESS_END_CUTOFF;
    return true;
}

static bool read_probability(const pess__row_reader *r, pess__row_block *b, const pess__csv_field *field) {
    double *p = &b->probability[b->rows];
    return (pess__number_of(r->decimal_comma, field->text, field->text + field->length, p) && *p >= 0 && *p <= 1) ||
           wrong(b, name_of_column(r, PESS__COLUMN_PROBABILITY), field, "a number from 0 to 1");
}

static bool read_column(const pess__row_reader *r, pess__row_block *b, int c, const pess__csv_field *field) {
    static const char *const steps[] = {"an integer", "a number", "a time as in 2024-05-17T08:30:00"};
    const char *end = field->text + field->length;
    switch (c) {
        case PESS__COLUMN_REWARD:
            return pess__number_of(r->decimal_comma, field->text, end, &b->reward[b->rows]) ||
                   wrong(b, name_of_column(r, c), field, "a finite decimal number");
        case PESS__COLUMN_PROBABILITY: return read_probability(r, b, field);
        case PESS__COLUMN_STEP:
            return pess__step_of(r->step, r->decimal_comma, field->text, end, &b->step[b->rows]) ||
                   wrong(b, name_of_column(r, c), field, steps[r->step]);
        case PESS__COLUMN_TERMINAL:
        case PESS__COLUMN_TRUNCATED: return read_flag(r, b, c, field);
        default: return read_name(r, b, c, field);
    }
}

/* Whether a column of the log has a value here, perhaps one that stands in for it. A state that is not there is for
 * those who read states. */
static bool there_is(const pess__row_reader *r, pess__row_block *b, int c, pess__csv_field *field) {
    const pess__role role = role_of_column[c];
    const pess__missing_rule *rule = &r->reading->missing[role];
    if (c == PESS__COLUMN_STATE || c == PESS__COLUMN_TERMINAL || c == PESS__COLUMN_TRUNCATED ||
        !pess__is_missing(field->text, field->length))
        return true;
    if (rule->kind == PESS__MISSING_VALUE) {
        field->text = rule->value;
        field->length = strlen(rule->value);
        b->stood_in++;
        return true;
    }
    if (b->missing[role].rows++ == 0) {
        b->missing[role].line = field->line;
        b->missing[role].column = field->column;
    }
    b->dropped[b->rows] = true;
    return false;
}

/* What a row that no transition begins in has for the values that it lacks. */
static void fill_in(pess__row_block *b, int c) {
    if (c == PESS__COLUMN_REWARD) b->reward[b->rows] = NAN;
    if (c == PESS__COLUMN_PROBABILITY) b->probability[b->rows] = NAN;
    if (c == PESS__COLUMN_ACTION) b->name[c][b->rows] = -1;
}

/* A row without a reward or an action still tells where the row before it led; one without its place does not. */
static bool read_row(const pess__row_reader *r, pess__row_block *b) {
    bool nowhere = false;
    b->end[b->rows] = PESS_END_NONE;
    b->dropped[b->rows] = false;
    for (int64_t i = 0; i < r->columns; i++) {
        const int32_t f = r->feature[i];
        const int8_t c = r->column[i];
        if (f >= 0 && !read_feature(r, b, f, &b->fields[i])) return false;
        if (c < 0) continue;
        const bool there = there_is(r, b, c, &b->fields[i]);
        nowhere |= !there && (c == PESS__COLUMN_EPISODE || c == PESS__COLUMN_STEP);
        if (!there)
            fill_in(b, c);
        else if (!read_column(r, b, c, &b->fields[i]))
            return false;
    }
    b->left_out += b->dropped[b->rows];
    b->met++;
    if (!nowhere) b->rows++;
    return true;
}

/* One piece of the text as a block; failures are in its problem. */
static void parse_piece(const pess__row_reader *r, const pess__csv_piece *piece, pess__row_block *b) {
    pess_error error;
    pess__csv_cursor cursor = {piece->begin, piece->end, 0, r->text.separator};
    b->problem.status = PESS_OK;
    b->rows = b->met = b->left_out = b->stood_in = 0;
    memset(b->missing, 0, sizeof b->missing);
    for (int c = 0; c < PESS__COLUMN_NAMED; c++)
        if (b->names[c] != NULL) pess__names_clear(b->names[c]);
    for (;;) {
        int64_t count = 0;
        if (pess__csv_next(&cursor, b->fields, r->columns, &count, &b->problem) != PESS__CSV_ROW) break;
        if (count != r->columns) {
            pess__csv_set_problem(&b->problem, b->fields[0].line, 1,
                                  "found %lld field%s, expected %lld as in the header", (long long)count,
                                  count == 1 ? "" : "s", (long long)r->columns);
            break;
        }
        if (block_grow(r, b, &error) != PESS_OK) {
            pess__csv_set_problem(&b->problem, b->fields[0].line, 1, "not enough memory for rows");
            b->problem.status = PESS_MEMORY;
            break;
        }
        if (!read_row(r, b)) break;
    }
    b->lines = cursor.line;
}

/* What the reading says about the rows of a block. */
static void add_up(pess__row_reader *reader, const pess__row_block *b) {
    pess_reading_info *info = &reader->reading->info;
    info->rows += b->met;
    info->missing_rows += b->left_out;
    info->missing_values += b->stood_in;
    for (int role = 0; role < PESS__ROLES; role++) {
        pess__missing_rows *to = &reader->reading->missing_rows[role];
        if (to->rows == 0 && b->missing[role].rows > 0)
            *to = (pess__missing_rows){0, reader->text.line + b->missing[role].line, b->missing[role].column};
        to->rows += b->missing[role].rows;
    }
}

pess_status pess__row_reader_next(pess__row_reader *reader, int64_t *count, pess_error *error) {
    PESS_TRY(pess__csv_text_next(&reader->text, count, error));
    for (int64_t i = 0; i < *count; i++)
        if (reader->blocks[i].fields == NULL) PESS_TRY(block_create(reader, &reader->blocks[i], error));
#pragma omp parallel for schedule(dynamic, 1) num_threads(reader->threads) if (*count > 1)
    for (int64_t i = 0; i < *count; i++) parse_piece(reader, &reader->text.piece[i], &reader->blocks[i]);
    for (int64_t i = 0; i < *count; i++) {
        pess__row_block *b = &reader->blocks[i];
        if (b->problem.status != PESS_OK) {
            b->problem.line += reader->text.line;
            return pess__csv_report(pess__infile_name(reader->text.file), &b->problem, error);
        }
        add_up(reader, b);
        reader->text.line += b->lines;
    }
    if (*count > 0) return PESS_OK;
    return pess__reading_check_missing(reader->reading, pess__infile_name(reader->text.file),
                                       reader->reading->info.rows, error);
}
