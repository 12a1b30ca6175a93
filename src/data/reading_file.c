/* What a reading tells: its columns, the options that make it explicit, and the small file that keeps them. */
#include "core/memory.h"
#include "core/outfile.h"
#include "core/settings.h"
#include "data/reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pess_reading_get_info(const pess_reading *reading, pess_reading_info *out) { *out = reading->info; }

void pess_reading_get_column(const pess_reading *reading, int64_t column, pess_reading_column *out) {
    const pess__used_column *used = &reading->used[column];
    const uint8_t role = used->role != PESS__ROLE_IGNORED ? used->role : used->suggested;
    *out = (pess_reading_column){.name = used->name,
                                 .use = (pess_column_use)used->use,
                                 .role = role != PESS__ROLE_IGNORED ? pess__role_name[role] : NULL};
}

/* ---- explicit options */

static void put(char **to, const char *text, size_t length) {
    memcpy(*to, text, length);
    *to += length;
}

/* A name of a list, quoted where it holds commas, quotes or blanks at its ends. */
static void put_name(char **to, const char *name) {
    const size_t length = strlen(name);
    if (strpbrk(name, ",\"") == NULL) {
        put(to, name, length);
        return;
    }
    *(*to)++ = '"';
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '"') *(*to)++ = '"';
        *(*to)++ = name[i];
    }
    *(*to)++ = '"';
}

/* Roles that are declared, and those whose columns are called differently. */
static bool is_told(const pess_reading *reading, int role) {
    if (reading->declared[role].given) return true;
    return reading->parts[role] > 0 &&
           strcmp(reading->used[reading->column_of[role][0]].name, pess__role_name[role]) != 0;
}

static void write_columns(const pess_reading *reading, char *to) {
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES; role++) {
        if (!is_told(reading, role)) continue;
        put(&to, pess__role_name[role], strlen(pess__role_name[role]));
        *to++ = '=';
        for (int i = 0; i < reading->parts[role]; i++) {
            if (i > 0) *to++ = ',';
            put_name(&to, reading->used[reading->column_of[role][i]].name);
        }
        *to++ = '\n';
    }
    *to = '\0';
}

static size_t columns_size(const pess_reading *reading) {
    size_t size = 64 * PESS__ROLES;
    for (int64_t i = 0; i < reading->info.columns; i++) size += 2 * strlen(reading->used[i].name) + 4;
    return size;
}

/* Rules for missing values as one text: one for all where it can be told from a rule for a role, then those that
 * differ. */
static void write_missing(const pess_reading *reading, char *text, size_t size) {
    static const char *const words[] = {"refuse", "drop"};
    static const pess__missing_rule refuse = {PESS__MISSING_REFUSE, NULL};
    const pess__missing_rule *all = &reading->missing[PESS__ROLE_STATE];
    if (all->kind == PESS__MISSING_VALUE && (all->value[0] == '\0' || strchr(all->value, '=') != NULL)) all = &refuse;
    size_t used = (size_t)snprintf(text, size, "%s", all->kind == PESS__MISSING_VALUE ? all->value : words[all->kind]);
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES && used < size; role++) {
        const pess__missing_rule *rule = &reading->missing[role];
        if (rule->kind == all->kind && (rule->kind != PESS__MISSING_VALUE || strcmp(rule->value, all->value) == 0))
            continue;
        used += (size_t)snprintf(text + used, size - used, ",%s=%s", pess__role_name[role],
                                 rule->kind == PESS__MISSING_VALUE ? rule->value : words[rule->kind]);
    }
}

pess_status pess__reading_explain(pess_reading *reading, pess_error *error) {
    size_t size = 64 * PESS__ROLES;
    for (int role = 0; role < PESS__ROLES; role++)
        if (reading->missing[role].value != NULL) size += strlen(reading->missing[role].value) + 32;
    free(reading->column_text); /* of an earlier call */
    free(reading->missing_text);
    reading->column_text = reading->missing_text = NULL;
    PESS_TRY(pess__allocate(&reading->column_text, (int64_t)columns_size(reading), 1, "a reading", error));
    PESS_TRY(pess__allocate(&reading->missing_text, (int64_t)size, 1, "a reading", error));
    write_columns(reading, reading->column_text);
    write_missing(reading, reading->missing_text, size);
    return PESS_OK;
}

static int separator_of(char separator) {
    static const char all[] = {'\0', ',', ';', '\t', '|'};
    int i = 0;
    while (all[i] != separator) i++;
    return i;
}

pess_read_options pess_reading_options(const pess_reading *reading) {
    pess_read_options options = reading->options;
    const bool text = reading->info.separator != '\0';
    if (reading->column_text != NULL && reading->column_text[0] != '\0') options.column = reading->column_text;
    if (reading->missing_text != NULL && strcmp(reading->missing_text, "refuse") != 0)
        options.missing = reading->missing_text;
    options.separator = separator_of(reading->info.separator);
    options.decimal = !text ? PESS_DECIMAL_AUTO : reading->info.decimal_comma ? PESS_DECIMAL_COMMA : PESS_DECIMAL_POINT;
    return options;
}

/* ---- the file */

static void write_lines(pess__outfile *file, const char *name, const char *lines) {
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        pess__outfile_print(file, "%s ", name);
        pess__outfile_write(file, lines, length);
        pess__outfile_write(file, "\n", 1);
        lines += length + (lines[length] == '\n');
    }
}

pess_status pess_reading_write(const pess_reading *reading, const char *path, pess_error *error) {
    const pess_read_options options = pess_reading_options(reading);
    const pess_setting_table *table = pess_read_settings();
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_print(file, "# How a log is read: an option and its value in each line.\n");
    if (options.column != NULL) write_lines(file, "column", options.column);
    if (options.missing != NULL) write_lines(file, "missing", options.missing);
    for (size_t i = 0; i < table->count; i++) {
        const char *name = table->rows[i].name;
        char value[64];
        if (!pess_setting_listed("last-row separator decimal encoding decimal-ids", name) ||
            pess_setting_is_default(table, &options, name))
            continue;
        pess_setting_get(table, &options, name, value, sizeof value);
        pess__outfile_print(file, "%s %s\n", name, value);
    }
    return pess__outfile_commit(file, error);
}
