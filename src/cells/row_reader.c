#include "cells/row_reader.h"

#include "core/memory.h"
#include "data/latin1.h"
#include "data/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PIECES_PER_THREAD = 16 };

pess_status pess__row_reader_open(pess__row_reader *reader, pess__infile *file, const pess__rows_wanted *wanted,
                                  int threads, bool at_once, pess_error *error) {
    *reader = (pess__row_reader){.names = wanted->names, .features = wanted->features, .threads = threads};
    const int64_t pieces = (int64_t)PIECES_PER_THREAD * threads;
    if (at_once) pess__infile_read_once(file);
    PESS_TRY(pess__csv_text_open(&reader->text, file, pieces, at_once, error));
    pess_status status = pess__allocate(&reader->blocks, pieces, sizeof *reader->blocks, "rows", error);
    if (status == PESS_OK) status = pess__row_header(reader, wanted, error);
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
    pess__json_destroy(b->json);
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
           (field->length == 4 && strncasecmp(field->text, "none", 4) == 0) ||
           wrong(b, r->names[f], field, "a finite number, or nothing where it is missing; text cannot be a feature");
}

static const char *name_of_column(const pess__row_reader *r, int c) {
    return r->reading->used[r->reading->column_of[pess__role_of_column[c]][0]].name;
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
    if (!take_name(r, b, pess__role_of_column[c], &field)) return false;
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

/* Whether a column of the log has a value here, perhaps one that stands in for it. A missing state counts as a value:
 * readers of states say what is wrong with it. */
static bool there_is(const pess__row_reader *r, pess__row_block *b, int c, pess__csv_field *field) {
    const pess__role role = pess__role_of_column[c];
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

/* Stands in for the values that are missing in a row in which no transition begins. */
static void fill_in(pess__row_block *b, int c) {
    if (c == PESS__COLUMN_REWARD) b->reward[b->rows] = NAN;
    if (c == PESS__COLUMN_PROBABILITY) b->probability[b->rows] = NAN;
    if (c == PESS__COLUMN_ACTION) b->name[c][b->rows] = -1;
}

/* A row without a reward or an action still tells where the row before it led; one without episode or step does not. */
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

/* Whether the row whose fields are known could be added. */
static bool add_row(const pess__row_reader *r, pess__row_block *b) {
    pess_error error;
    if (block_grow(r, b, &error) == PESS_OK) return read_row(r, b);
    pess__csv_set_problem(&b->problem, b->fields[0].line, 1, "not enough memory for rows");
    b->problem.status = PESS_MEMORY;
    return false;
}

static void parse_objects(const pess__row_reader *r, const pess__csv_piece *piece, pess__row_block *b) {
    pess_error error;
    pess__json_line line = {.file = pess__infile_name(r->text.file)};
    for (const char *at = piece->begin; at < piece->end; line.number++) {
        const char *stop = memchr(at, '\n', (size_t)(piece->end - at));
        line.text = at;
        line.length = (size_t)(stop - at);
        at = stop + 1;
        if (pess__json_line_is_blank(&line)) continue;
        b->problem.status = pess__json_line_fields(&line, &b->json, r->text.members, b->fields, &error);
        if (b->problem.status != PESS_OK) b->bad_line = line;
        if (b->problem.status != PESS_OK || !add_row(r, b)) return;
    }
    b->lines = line.number;
}

static void parse_csv(const pess__row_reader *r, const pess__csv_piece *piece, pess__row_block *b) {
    pess__csv_cursor cursor = {piece->begin, piece->end, 0, r->text.separator};
    for (;;) {
        int64_t count = 0;
        if (pess__csv_next(&cursor, b->fields, r->columns, &count, &b->problem) != PESS__CSV_ROW) break;
        if (count != r->columns) {
            pess__csv_set_problem(&b->problem, b->fields[0].line, 1,
                                  "found %lld field%s, expected %lld as in the header", (long long)count,
                                  count == 1 ? "" : "s", (long long)r->columns);
            break;
        }
        if (!add_row(r, b)) break;
    }
    b->lines = cursor.line;
}

/* One piece of the text as a block; failures are in its problem. */
static void parse_piece(const pess__row_reader *r, const pess__csv_piece *piece, pess__row_block *b) {
    b->problem.status = PESS_OK;
    b->bad_line.text = NULL;
    b->rows = b->met = b->left_out = b->stood_in = 0;
    memset(b->missing, 0, sizeof b->missing);
    for (int c = 0; c < PESS__COLUMN_NAMED; c++)
        if (b->names[c] != NULL) pess__names_clear(b->names[c]);
    if (r->text.members != NULL)
        parse_objects(r, piece, b);
    else
        parse_csv(r, piece, b);
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

/* Lines of a block count from the first one that the text holds. A bad line of JSON is read again, for a message with
 * its number in the file. */
static pess_status block_problem(const pess__row_reader *reader, pess__row_block *b, pess_error *error) {
    b->problem.line += reader->text.line;
    b->bad_line.number += reader->text.line;
    if (b->bad_line.text == NULL) return pess__csv_report(pess__infile_name(reader->text.file), &b->problem, error);
    const pess_status status = pess__json_line_fields(&b->bad_line, &b->json, reader->text.members, b->fields, error);
    return status != PESS_OK ? status : pess__fail(error, PESS_MEMORY, "not enough memory for rows");
}

pess_status pess__row_reader_next(pess__row_reader *reader, int64_t *count, pess_error *error) {
    PESS_TRY(pess__csv_text_next(&reader->text, count, error));
    for (int64_t i = 0; i < *count; i++)
        if (reader->blocks[i].fields == NULL) PESS_TRY(block_create(reader, &reader->blocks[i], error));
#pragma omp parallel for schedule(dynamic, 1) num_threads(reader->threads) if (*count > 1)
    for (int64_t i = 0; i < *count; i++) parse_piece(reader, &reader->text.piece[i], &reader->blocks[i]);
    for (int64_t i = 0; i < *count; i++) {
        pess__row_block *b = &reader->blocks[i];
        if (b->problem.status != PESS_OK) return block_problem(reader, b, error);
        add_up(reader, b);
        reader->text.line += b->lines;
    }
    if (*count > 0) return PESS_OK;
    return pess__reading_check_missing(reader->reading, pess__infile_name(reader->text.file),
                                       reader->reading->info.rows, error);
}
