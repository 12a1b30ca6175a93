#include "cells/row_reader.h"

#include "core/memory.h"
#include "core/text.h"
#include "data/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PIECES_PER_THREAD = 16 };

static const char *const column_name[PESS__COLUMN_COUNT] = {"episode", "action",   "state",    "reward",
                                                            "step",    "terminal", "truncated"};

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
    return pess__fail(
        error, PESS_INPUT, "%.300s:%lld:1: found no column '%.100s' among %s%s; expected one for each feature",
        pess__infile_name(r->text.file), (long long)fields[0].line, name, list, r->columns > 12 ? ", …" : "");
}

static pess_status set_columns(pess__row_reader *r, const pess__csv_field *fields,
                               const bool wanted[PESS__COLUMN_COUNT], pess_error *error) {
    PESS_TRY(pess__allocate(&r->feature, r->columns, sizeof *r->feature, "a header", error));
    PESS_TRY(pess__allocate(&r->column, r->columns, sizeof *r->column, "a header", error));
    for (int64_t i = 0; i < r->columns; i++) {
        r->feature[i] = -1;
        r->column[i] = -1;
        for (int64_t j = 0; j < i; j++)
            if (fields[i].length > 0 && fields[i].length == fields[j].length &&
                memcmp(fields[i].text, fields[j].text, fields[i].length) == 0) {
                char shown[PESS__SHOWN_SIZE];
                return pess__fail(error, PESS_INPUT, "%s:%lld:%lld: found the column %s twice, expected it once",
                                  pess__infile_name(r->text.file), (long long)fields[i].line,
                                  (long long)fields[i].column, pess__shown(fields[i].text, fields[i].length, shown));
            }
        for (int c = 0; c < PESS__COLUMN_COUNT; c++)
            if (wanted[c] && is_named(&fields[i], column_name[c])) {
                r->column[i] = (int8_t)c;
                r->has[c] = true;
            }
    }
    for (int64_t f = 0; f < r->features; f++) {
        int64_t i = 0;
        while (i < r->columns && !is_named(&fields[i], r->names[f])) i++;
        if (i == r->columns) return unknown_feature(r, r->names[f], fields, error);
        r->feature[i] = (int32_t)f;
    }
    return PESS_OK;
}

static pess_status read_header(pess__row_reader *r, const bool wanted[PESS__COLUMN_COUNT], pess_error *error) {
    pess__csv_field *fields = NULL;
    PESS_TRY(pess__allocate(&fields, PESS__TEXT_COLUMNS, sizeof *fields, "a header", error));
    pess_status status = pess__csv_text_header(&r->text, fields, &r->columns, error);
    if (status == PESS_OK) status = set_columns(r, fields, wanted, error);
    free(fields);
    return status;
}

pess_status pess__row_reader_open(pess__row_reader *reader, pess__infile *file, const char *const *names,
                                  int64_t features, const bool wanted[PESS__COLUMN_COUNT], int threads, bool at_once,
                                  pess_error *error) {
    *reader = (pess__row_reader){.names = names, .features = features, .threads = threads};
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
    free(b->step);
    free(b->end);
    free(b->fields);
    *b = (pess__row_block){0};
}

void pess__row_reader_close(pess__row_reader *reader) {
    for (int64_t i = 0; reader->blocks != NULL && i < reader->text.pieces; i++) block_free(&reader->blocks[i]);
    pess__csv_text_close(&reader->text);
    free(reader->feature);
    free(reader->column);
    free(reader->blocks);
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
    if (r->has[PESS__COLUMN_STEP]) PESS_TRY(grow_to(&b->step, rows, sizeof *b->step, error));
    PESS_TRY(grow_to(&b->end, rows, sizeof *b->end, error));
    b->capacity = rows;
    return PESS_OK;
}

static bool wrong(pess__row_block *b, const char *name, const pess__csv_field *field, const char *expected) {
    char shown[PESS__SHOWN_SIZE];
    pess__csv_set_problem(&b->problem, field->line, field->column, "column '%.100s': found %s, expected %s", name,
                          pess__shown(field->text, field->length, shown), expected);
    return false;
}

static bool is_missing(const pess__csv_field *field) {
    static const char *const words[] = {"na", "n/a", "nan", "null", "none"};
    if (field->length == 0) return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (field->length == strlen(words[i]) && strncasecmp(field->text, words[i], field->length) == 0) return true;
    return false;
}

static bool read_feature(pess__row_block *b, const char *name, const pess__csv_field *field, double *out) {
    if (pess__parse_double(field->text, field->text + field->length, out) && isfinite(*out)) return true;
    *out = NAN;
    return is_missing(field) ||
           wrong(b, name, field, "a finite number, or nothing where it is missing; text cannot be a feature");
}

static bool read_name(pess__row_block *b, int c, const pess__csv_field *field) {
    if (field->length == 0 || !pess__names_valid(field->text, field->length))
        return wrong(b, column_name[c], field, "a number or a name in UTF-8");
    if (pess__names_add(b->names[c], field->text, field->length, &b->name[c][b->rows], NULL) == PESS_OK) return true;
    pess__csv_set_problem(&b->problem, field->line, field->column, "not enough memory for names");
    b->problem.status = PESS_MEMORY;
    return false;
}

static bool read_flag(pess__row_block *b, int c, const pess__csv_field *field) {
    const bool set =
        (field->length == 1 && *field->text == '1') || (field->length == 4 && strncasecmp(field->text, "true", 4) == 0);
    const bool clear = field->length == 0 || (field->length == 1 && *field->text == '0') ||
                       (field->length == 5 && strncasecmp(field->text, "false", 5) == 0);
    if (!set && !clear) return wrong(b, column_name[c], field, "0, 1, true, false or nothing");
    uint8_t *end = &b->end[b->rows];
    if (set && *end != PESS_END_TERMINAL) *end = c == PESS__COLUMN_TERMINAL ? PESS_END_TERMINAL : PESS_END_CUTOFF;
    return true;
}

static bool read_column(pess__row_block *b, int c, const pess__csv_field *field) {
    const char *end = field->text + field->length;
    switch (c) {
        case PESS__COLUMN_REWARD:
            return (pess__parse_double(field->text, end, &b->reward[b->rows]) && isfinite(b->reward[b->rows])) ||
                   wrong(b, column_name[c], field, "a finite decimal number");
        case PESS__COLUMN_STEP:
            return pess__parse_int64(field->text, end, &b->step[b->rows]) ||
                   wrong(b, column_name[c], field, "an integer");
        case PESS__COLUMN_TERMINAL:
        case PESS__COLUMN_TRUNCATED: return read_flag(b, c, field);
        default: return read_name(b, c, field);
    }
}

static bool read_row(const pess__row_reader *r, pess__row_block *b) {
    b->end[b->rows] = PESS_END_NONE;
    for (int64_t i = 0; i < r->columns; i++) {
        const int32_t f = r->feature[i];
        if (f >= 0 && !read_feature(b, r->names[f], &b->fields[i], &b->values[b->rows * r->features + f])) return false;
        if (r->column[i] >= 0 && !read_column(b, r->column[i], &b->fields[i])) return false;
    }
    b->rows++;
    return true;
}

/* One piece of the text as a block; failures are in its problem. */
static void parse_piece(const pess__row_reader *r, const pess__csv_piece *piece, pess__row_block *b) {
    pess_error error;
    pess__csv_cursor cursor = {piece->begin, piece->end, 0, r->text.separator};
    b->problem.status = PESS_OK;
    b->rows = 0;
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
        reader->text.line += b->lines;
    }
    return PESS_OK;
}
