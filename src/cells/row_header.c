/* The header of a CSV file with measurements: which column is which feature, and which plays a role in the log. */
#include "cells/row_reader.h"

#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const pess__role pess__role_of_column[PESS__COLUMN_COUNT] = {
    PESS__ROLE_EPISODE, PESS__ROLE_ACTION,   PESS__ROLE_STATE,     PESS__ROLE_REWARD,
    PESS__ROLE_STEP,    PESS__ROLE_TERMINAL, PESS__ROLE_TRUNCATED, PESS__ROLE_PROBABILITY};

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

/* Takes away the roles that are not wanted, and notes which columns are measurements. */
static void note_measurements(pess__row_reader *r, const bool wanted[PESS__COLUMN_COUNT]) {
    bool keep[PESS__ROLES] = {false};
    for (int c = 0; c < PESS__COLUMN_COUNT; c++) keep[pess__role_of_column[c]] = wanted[c] && r->has[c];
    for (int role = 0; role < PESS__ROLES; role++)
        if (!keep[role]) unassign(r->reading, (pess__role)role);
    for (int64_t i = 0; i < r->columns; i++) {
        pess__used_column *used = &r->reading->used[i];
        if (r->feature[i] < 0 || used->role != PESS__ROLE_IGNORED) continue;
        used->use = PESS_COLUMN_MEASURED;
        used->suggested = PESS__ROLE_IGNORED;
    }
}

/* A measurement also plays a role of the log only where that was declared or its name says so. */
static pess_status set_columns(pess__row_reader *r, const pess__csv_field *fields,
                               const bool wanted[PESS__COLUMN_COUNT], pess_error *error) {
    PESS_TRY(pess__allocate(&r->column, r->columns, sizeof *r->column, "a header", error));
    PESS_TRY(pess__reading_assign(r->reading, pess__infile_name(r->text.file), fields, r->columns, error));
    for (int64_t i = 0; i < r->columns; i++) r->column[i] = -1;
    for (int c = 0; c < PESS__COLUMN_COUNT; c++) {
        const pess__role role = pess__role_of_column[c];
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
    for (int c = 0; c < PESS__COLUMN_COUNT; c++) keep[pess__role_of_column[c]] = wanted[c];
    for (int role = 0; role < PESS__ROLES; role++) {
        pess__declared *declared = &reading->declared[role];
        if (keep[role]) continue;
        for (; declared->count > 0; declared->count--) free(declared->names[declared->count - 1]);
    }
}

pess_status pess__row_header(pess__row_reader *r, const pess__rows_wanted *wanted, pess_error *error) {
    static const char separators[] = {'\0', ',', ';', '\t', '|'};
    pess__csv_field *fields = NULL;
    pess_read_options options;
    PESS_TRY(pess__read_settle(wanted->read, &options, error));
    PESS_TRY(pess__reading_create(&options, &r->reading, error));
    r->reading->any_roles = true;
    forget_unwanted(r->reading, wanted->columns);
    r->text.separator = separators[r->reading->options.separator];
    PESS_TRY(pess__allocate(&fields, PESS__TEXT_COLUMNS, sizeof *fields, "a header", error));
    pess_status status = wanted->json_lines ? pess__csv_text_members(&r->text, fields, &r->columns, error)
                                            : pess__csv_text_header(&r->text, fields, &r->columns, error);
    if (status == PESS_OK) status = set_features(r, fields, error);
    if (status == PESS_OK) status = set_columns(r, fields, wanted->columns, error);
    free(fields);
    if (status != PESS_OK) return status;
    r->reading->info.separator = r->text.separator;
    r->decimal_comma = r->reading->options.decimal == PESS_DECIMAL_COMMA;
    if (r->reading->options.decimal == PESS_DECIMAL_AUTO && r->text.separator != ',' && !wanted->json_lines)
        PESS_TRY(pess__csv_text_decimal(&r->text, r->columns, is_number, r, &r->decimal_comma, error));
    r->reading->info.decimal_comma = r->decimal_comma;
    if (!wanted->json_lines) PESS_TRY(look_at_step(r, error));
    r->reading->info.step = r->step;
    return pess__reading_explain(r->reading, error);
}
