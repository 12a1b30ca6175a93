/* What is declared about the columns of a log: options, reading files, rules for missing values. */
#include "data/reading.h"

#include "core/infile.h"
#include "core/memory.h"
#include "core/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pess_reading *pess__reading_share(pess_reading *reading) {
    if (reading != NULL) (void)atomic_fetch_add(&reading->sharers, 1);
    return reading;
}

void pess__reading_destroy(pess_reading *reading) {
    if (reading == NULL || atomic_fetch_sub(&reading->sharers, 1) > 0) return;
    for (int role = 0; role < PESS__ROLES; role++) {
        for (int i = 0; i < reading->declared[role].count; i++) free(reading->declared[role].names[i]);
        free(reading->missing[role].value);
    }
    for (int64_t i = 0; reading->used != NULL && i < reading->info.columns; i++) free(reading->used[i].name);
    free(reading->used);
    free(reading->file_text);
    free(reading->column_text);
    free(reading->missing_text);
    free(reading);
}

static pess_status copy_text(const char *text, size_t length, char **out, pess_error *error) {
    PESS_TRY(pess__allocate(out, (int64_t)length + 1, 1, "a reading", error));
    if (length > 0) memcpy(*out, text, length);
    return PESS_OK;
}

/* ---- "role=name,name", a line each */

/* One name of the list at *at, quoted where it holds commas; *at goes on behind its comma. */
static pess_status next_name(const char **at, const char *end, char **out, pess_error *error) {
    const char *from = *at;
    if (from == end || *from != '"') {
        const char *comma = memchr(from, ',', (size_t)(end - from));
        const char *stop = comma != NULL ? comma : end;
        *at = comma != NULL ? comma + 1 : end;
        return copy_text(from, (size_t)(stop - from), out, error);
    }
    PESS_TRY(pess__allocate(out, end - from + 1, 1, "a reading", error));
    char *to = *out;
    for (from++; from < end && !(*from == '"' && (from + 1 == end || from[1] != '"')); from++) {
        *to++ = *from;
        if (*from == '"') from++;
    }
    from += from < end; /* the closing quote */
    *at = from < end ? from + 1 : end;
    return PESS_OK;
}

static pess_status wrong_line(const char *line, size_t length, const char *expected, pess_error *error) {
    const pess_status status = pess__fail(error, PESS_ARGUMENT, "column: found '%.*s', expected %s",
                                          (int)(length < 200 ? length : 200), line, expected);
    return pess__fail_with_remedy(error, status, "column", "state=NAME");
}

/* Both are wanted for one role: more often a slip than a wish for a state of two columns. */
static pess_status declared_twice(pess__role role, const pess__declared *before, const char *line, size_t length,
                                  pess_error *error) {
    const char *name = pess__role_name[role], *first = before->count > 0 ? before->names[0] : "";
    const pess_status status = pess__fail(
        error, PESS_ARGUMENT, "column: found '%.*s' beside '%s=%.100s', expected one declaration for the role %s",
        (int)(length < 100 ? length : 100), line, name, first, name);
    char both[100];
    (void)snprintf(both, sizeof both, "%s=%.40s,%.*s", name, first, (int)(length < 40 ? length : 40) - 1,
                   line + strlen(name) + 1);
    return pess__fail_with_remedy(error, status, "column", both);
}

static pess_status declare(pess_reading *reading, const char *line, size_t length, bool weak, pess_error *error) {
    const char *equals = memchr(line, '=', length), *end = line + length;
    const pess__role role = equals != NULL ? pess__role_called(line, (size_t)(equals - line)) : PESS__ROLE_IGNORED;
    if (role == PESS__ROLE_IGNORED)
        return wrong_line(line, length,
                          "ROLE=NAME with a role: state, action, reward, next_state, terminal, truncated, episode, "
                          "step, probability or one of a counted log",
                          error);
    pess__declared *declared = &reading->declared[role];
    if (declared->given && weak) return PESS_OK;
    if (declared->given) return declared_twice(role, declared, line, length, error);
    declared->given = true;
    for (const char *at = equals + 1; at < end;) {
        if (declared->count == PESS__MOST_PARTS)
            return wrong_line(line, length, "at most 16 columns for a role", error);
        PESS_TRY(next_name(&at, end, &declared->names[declared->count], error));
        if (declared->names[declared->count++][0] == '\0')
            return wrong_line(line, length, "a name between commas", error);
    }
    const bool may_be_several = role == PESS__ROLE_STATE || role == PESS__ROLE_ACTION ||
                                role == PESS__ROLE_NEXT_STATE || role == PESS__ROLE_EPISODE;
    if (declared->count > 1 && !may_be_several)
        return wrong_line(line, length, "one column: states, actions and episodes alone may be made of several", error);
    return PESS_OK;
}

/* weak: of a file, where options say the same they win. */
static pess_status declare_all(pess_reading *reading, const char *lines, bool weak, pess_error *error) {
    while (lines != NULL && *lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        if (length > 0) PESS_TRY(declare(reading, lines, length, weak, error));
        lines += length + (lines[length] == '\n');
    }
    return PESS_OK;
}

/* ---- "drop,reward=0": rules from left to right */

static pess_status set_missing(pess_reading *reading, const char *item, size_t length, pess_error *error) {
    const char *equals = memchr(item, '=', length), *end = item + length;
    const char *rule = equals != NULL ? equals + 1 : item;
    const size_t size = (size_t)(end - rule);
    const pess__role only = equals != NULL ? pess__role_called(item, (size_t)(equals - item)) : PESS__ROLE_IGNORED;
    if (equals != NULL && only == PESS__ROLE_IGNORED)
        return pess__fail(error, PESS_ARGUMENT,
                          "missing: found '%.*s', expected refuse, drop or a value, for all roles or as role=rule",
                          (int)(length < 100 ? length : 100), item);
    const bool refuse = size == 6 && memcmp(rule, "refuse", 6) == 0, drop = size == 4 && memcmp(rule, "drop", 4) == 0;
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES; role++) {
        if (only != PESS__ROLE_IGNORED && role != (int)only) continue;
        pess__missing_rule *to = &reading->missing[role];
        to->kind = refuse ? PESS__MISSING_REFUSE : drop ? PESS__MISSING_DROP : PESS__MISSING_VALUE;
        free(to->value);
        to->value = NULL;
        if (to->kind == PESS__MISSING_VALUE) PESS_TRY(copy_text(rule, size, &to->value, error));
    }
    return PESS_OK;
}

static pess_status set_all_missing(pess_reading *reading, const char *rules, pess_error *error) {
    while (rules != NULL && *rules != '\0') {
        const size_t length = strcspn(rules, ",");
        PESS_TRY(set_missing(reading, rules, length, error));
        rules += length + (rules[length] == ',');
    }
    return PESS_OK;
}

/* ---- reading files: a setting and its value in each line */

static const char kept_settings[] = "column missing last-row separator decimal encoding decimal-ids";

static pess_status load(const char *path, char **out, pess_error *error) {
    enum { LARGEST = 1 << 20 };
    pess__infile *file = NULL;
    size_t got = 0;
    PESS_TRY(pess__infile_open(path, &file, error));
    pess_status status = pess__allocate(out, LARGEST, 1, "a reading", error);
    if (status == PESS_OK) status = pess__infile_read(file, *out, LARGEST - 1, &got, error);
    pess__infile_close(file);
    if (status == PESS_OK && (got == LARGEST - 1 || memchr(*out, '\0', got) != NULL))
        status = pess__fail(error, PESS_INPUT,
                            "%.300s: found something other than a text of a few lines, expected a reading", path);
    return status;
}

/* One line "separator semicolon" into `options`; columns go to the reading. */
static pess_status read_line(pess_reading *reading, pess_read_options *options, char *line, pess_error *error) {
    char *value = line + strcspn(line, " ");
    if (*value != '\0') *value++ = '\0';
    if (!pess_setting_listed(kept_settings, line))
        return pess__fail(error, PESS_INPUT, "found '%.100s', expected one of %s and its value", line, kept_settings);
    if (strcmp(line, "column") == 0) return declare(reading, value, strlen(value), true, error);
    return pess_setting_set(pess_read_settings(), options, line, value, error);
}

static pess_status read_file(pess_reading *reading, const char *path, pess_read_options *options, pess_error *error) {
    PESS_TRY(load(path, &reading->file_text, error));
    int64_t number = 1;
    for (char *line = reading->file_text; *line != '\0'; number++) {
        char *next = line + strcspn(line, "\n");
        if (*next != '\0') *next++ = '\0';
        line[strcspn(line, "\r")] = '\0';
        pess_error problem = {0};
        if (line[0] != '#' && line[0] != '\0' && read_line(reading, options, line, &problem) != PESS_OK)
            return pess__fail(error, problem.status == PESS_MEMORY ? PESS_MEMORY : PESS_INPUT, "%.300s:%lld:1: %.600s",
                              path, (long long)number, problem.message);
        line = next;
    }
    return PESS_OK;
}

/* What is not set is as the file says. */
static void fill_up(pess_read_options *options, const pess_read_options *file) {
    if (options->missing == NULL) options->missing = file->missing;
    if (options->last_row == PESS_LAST_ROW_MARKED) options->last_row = file->last_row;
    if (options->separator == PESS_SEPARATOR_AUTO) options->separator = file->separator;
    if (options->decimal == PESS_DECIMAL_AUTO) options->decimal = file->decimal;
    if (options->encoding == PESS_ENCODING_UTF8) options->encoding = file->encoding;
    if (options->decimal_ids == PESS_DECIMAL_IDS_REFUSE) options->decimal_ids = file->decimal_ids;
}

static pess_status fill_reading(pess_reading *reading, pess_error *error) {
    pess_read_options *options = &reading->options;
    pess_read_options file = pess_read_options_defaults();
    PESS_TRY(declare_all(reading, options->column, false, error));
    if (options->reading != NULL) {
        PESS_TRY(read_file(reading, options->reading, &file, error));
        fill_up(options, &file);
    }
    PESS_TRY(set_all_missing(reading, options->missing, error));
    reading->info.latin1 = options->encoding == PESS_ENCODING_LATIN1;
    return PESS_OK;
}

pess_status pess__reading_create(const pess_read_options *options, pess_reading **out, pess_error *error) {
    pess_reading *reading = NULL;
    PESS_TRY(pess__allocate(&reading, 1, sizeof *reading, "a reading", error));
    reading->options = *options;
    const pess_status status = fill_reading(reading, error);
    reading->options.column = reading->options.missing = reading->options.reading = NULL; /* the caller's */
    reading->options.format = NULL;
    if (status == PESS_OK)
        *out = reading;
    else
        pess__reading_destroy(reading);
    return status;
}
