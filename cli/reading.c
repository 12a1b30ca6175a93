#include "reading.h"

#include "command.h"
#include "repeat.h"

#include <string.h>

/* ---- remedies */

static const struct {
    const char *code, *words; /* %s: the value */
} remedies[] = {
    {"column", "Try --column %s."},
    {"missing", "Try --missing %s, or a value to put in: --missing ROLE=VALUE."},
    {"measurements", "Measurements? 'pess discretize' turns them into states ('pess help discretize'). A few levels, "
                     "to be taken as names? Try --decimal-ids names."},
    {"rule", "Give the map a rule for it: 'pess discretize … --missing %s', or flag, or a number."},
    {"features", "The columns of measurements are those of --features, or those that the map was made for."},
    {"export", "Save it as text: CSV in UTF-8. Or DuckDB reads it, by its extension excel: --sql \"SELECT * FROM "
               "read_xlsx('FILE')\"."},
    {"utf8", "Save it as CSV in UTF-8: iconv -f UTF-16 -t UTF-8 FILE > NEW.csv"},
    {"convert", "'pess convert FILE -o rows.csv' makes a table of a log; a workbook is saved as CSV in UTF-8."},
    {NULL, NULL}, /* any other is a setting */
};

void remedy_print(FILE *out, const pess_error *error) {
    if (error->remedy == NULL) return;
    size_t i = 0;
    while (remedies[i].code != NULL && strcmp(remedies[i].code, error->remedy) != 0) i++;
    const char *value = remedies[i].words != NULL ? strstr(remedies[i].words, "%s") : NULL;
    if (remedies[i].code == NULL)
        (void)fprintf(out, "Try --%s %s.", error->remedy, error->value);
    else if (value == NULL)
        (void)fputs(remedies[i].words, out);
    else
        (void)fprintf(out, "%.*s%s%s", (int)(value - remedies[i].words), remedies[i].words, error->value, value + 2);
    if (strcmp(error->remedy, "column") == 0 && strcmp(error->value, "state=NAME") == 0)
        (void)fputs("\nA state made of measurements: 'pess help discretize'.", out);
    (void)fputc('\n', out);
}

/* ---- the reading in words */

static const char *separator_name(char separator) {
    switch (separator) {
        case ';': return "semicolons";
        case '\t': return "tabs";
        case '|': return "pipes";
        default: return "commas";
    }
}

/* The columns of one use, in one line. */
static void print_used(const pess_reading *reading, int64_t columns, pess_column_use use, const char *heading) {
    pess_reading_column column;
    int found = 0;
    for (int64_t i = 0; i < columns; i++) {
        pess_reading_get_column(reading, i, &column);
        if (column.use != use) continue;
        if (found++ == 0)
            (void)printf("  %-12s %s", heading, column.name);
        else
            (void)printf(", %s", column.name);
    }
    if (found > 0) (void)putchar('\n');
}

static void print_role(const pess_reading *reading, int64_t columns, const char *role) {
    pess_reading_column column;
    int found = 0;
    pess_column_use use = PESS_COLUMN_IGNORED;
    for (int64_t i = 0; i < columns; i++) {
        pess_reading_get_column(reading, i, &column);
        if ((column.use != PESS_COLUMN_DECLARED && column.use != PESS_COLUMN_ALIAS) || strcmp(column.role, role) != 0)
            continue;
        if (found++ == 0)
            (void)printf("  %-12s %s", role, column.name);
        else
            (void)printf(", %s", column.name);
        use = column.use;
    }
    if (found > 0) (void)puts(use == PESS_COLUMN_DECLARED ? ", as declared" : ", as it is often called");
}

static void print_ignored(const pess_reading *reading, int64_t columns) {
    pess_reading_column column;
    int found = 0;
    for (int64_t i = 0; i < columns; i++) {
        pess_reading_get_column(reading, i, &column);
        if (column.use != PESS_COLUMN_IGNORED) continue;
        (void)printf("%s%s", found++ == 0 ? "  ignored      " : ", ", column.name);
        if (column.role != NULL) (void)printf(" (the %s? --column %s=%s)", column.role, column.role, column.name);
    }
    if (found > 0) (void)putchar('\n');
}

static const char *const roles[] = {
    "state", "action",      "reward", "next_state", "terminal",          "truncated",  "episode",
    "step",  "probability", "count",  "reward_sum", "reward_square_sum", "reward_min", "reward_max"};

/* What is worth a sentence: each with its number, or 0. */
static void print_rest(FILE *out, const char *before, const pess_reading_info *i) {
    if (i->next_state_derived) (void)fprintf(out, "%snext_state is the state of the next row of the episode\n", before);
    if (i->last_rows > 0)
        (void)fprintf(
            out,
            "%srows left out because no row shows the state they lead to: %lld; those before them count as cut off\n",
            before, (long long)i->last_rows);
    if (i->declared_ends > 0)
        (void)fprintf(out, "%slast rows of episodes that end as declared: %lld\n", before, (long long)i->declared_ends);
    if (i->missing_rows > 0)
        (void)fprintf(out, "%srows dropped because of missing values: %lld of %lld\n", before,
                      (long long)i->missing_rows, (long long)i->rows);
    if (i->missing_values > 0)
        (void)fprintf(out, "%smissing values that were replaced: %lld\n", before, (long long)i->missing_values);
    if (i->ends_without_next > 0)
        (void)fprintf(out, "%sterminal rows without a next state, which lead nowhere: %lld\n", before,
                      (long long)i->ends_without_next);
    if (i->decimal_ids) (void)fprintf(out, "%sids such as 1.0 are read as integers\n", before);
    if (i->number_names)
        (void)fprintf(out, "%ssome integers are negative or very large, so all of them are read as names\n", before);
    if (i->step == PESS_STEP_MICROSECONDS)
        (void)fprintf(out, "%ssteps are times, kept in microseconds since 1970\n", before);
    if (i->step == PESS_STEP_MILLIONTHS) (void)fprintf(out, "%ssteps have decimals, kept in millionths\n", before);
}

/* The options that make the reading explicit, as a shell takes them; "" where there are none. */
static void explicit_options(const pess_reading *reading, char *text, size_t size) {
    const pess_read_options options = pess_reading_options(reading);
    const pess_setting_table *table = pess_read_settings();
    text[0] = '\0';
    for (size_t i = 0; i < table->count; i++) {
        const pess_setting *setting = &table->rows[i];
        char lines[4000], option_name[64];
        if (pess_setting_is_default(table, &options, setting->name) || strcmp(setting->name, "threads") == 0) continue;
        if (strcmp(setting->name, "separator") == 0 && options.separator == PESS_SEPARATOR_COMMA) continue;
        if (strcmp(setting->name, "decimal") == 0 && options.decimal == PESS_DECIMAL_POINT) continue;
        pess_setting_get(table, &options, setting->name, lines, sizeof lines);
        (void)snprintf(option_name, sizeof option_name, "--%s", setting->name);
        for (char *line = lines; *line != '\0';) {
            char *next = line + strcspn(line, "\n");
            if (*next != '\0') *next++ = '\0';
            repeat_word(text, size, option_name);
            repeat_word(text, size, line);
            line = next;
        }
    }
}

void reading_print(const pess_reading *reading) {
    pess_reading_info info;
    char options[6000];
    if (reading == NULL) return;
    pess_reading_get_info(reading, &info);
    (void)puts("\nHow it is read");
    if (info.separator != '\0')
        (void)printf("  text         fields between %s%s%s\n", separator_name(info.separator),
                     info.decimal_comma ? ", decimal commas" : "", info.latin1 ? ", Latin-1" : "");
    print_used(reading, info.columns, PESS_COLUMN_CALLED_SO, "by name");
    for (size_t i = 0; i < COUNT_OF(roles); i++) print_role(reading, info.columns, roles[i]);
    print_used(reading, info.columns, PESS_COLUMN_MEASURED, "measured");
    print_ignored(reading, info.columns);
    print_rest(stdout, "  - ", &info);
    explicit_options(reading, options, sizeof options);
    if (options[0] != '\0') (void)printf("  explicitly  %s\n", options);
}

void reading_json(json_writer *json, const pess_reading *reading) {
    static const char *const uses[] = {"ignored", "declared", "named", "alias", "measured"};
    static const char *const units[] = {"integers", "millionths", "microseconds"};
    pess_reading_info info;
    char options[6000];
    if (reading == NULL) return;
    pess_reading_get_info(reading, &info);
    json_object(json, "reading");
    json_array(json, "columns");
    for (int64_t i = 0; i < info.columns; i++) {
        pess_reading_column column;
        pess_reading_get_column(reading, i, &column);
        json_object(json, NULL);
        json_text(json, "name", column.name);
        json_text(json, "use", uses[column.use]);
        json_text(json, "role", column.role);
        json_close(json);
    }
    json_close(json);
    const char separator[2] = {info.separator, '\0'};
    json_text(json, "separator", info.separator != '\0' ? separator : NULL);
    json_bool(json, "decimal_comma", info.decimal_comma);
    json_bool(json, "latin1", info.latin1);
    json_bool(json, "next_state_derived", info.next_state_derived);
    json_text(json, "step", units[info.step]);
    json_count(json, "rows", info.rows);
    json_count(json, "missing_rows", info.missing_rows);
    json_count(json, "missing_values", info.missing_values);
    json_count(json, "ends_without_next", info.ends_without_next);
    json_count(json, "last_rows", info.last_rows);
    json_count(json, "declared_ends", info.declared_ends);
    explicit_options(reading, options, sizeof options);
    json_text(json, "options", options[0] != '\0' ? options + 1 : "");
    json_close(json);
}

void reading_notes(const char *command_name, const pess_reading *reading) {
    pess_reading_info info;
    char before[100];
    if (reading == NULL || asked.quiet) return;
    pess_reading_get_info(reading, &info);
    (void)snprintf(before, sizeof before, "%s %s: note: ", program_name, command_name);
    int aliases = 0;
    for (int64_t i = 0; i < info.columns; i++) {
        pess_reading_column column;
        pess_reading_get_column(reading, i, &column);
        if (column.use == PESS_COLUMN_ALIAS)
            (void)fprintf(stderr, "%s'%s' is read as %s", aliases++ == 0 ? before : ", ", column.name, column.role);
    }
    if (aliases > 0) (void)fputc('\n', stderr);
    for (int64_t i = 0; i < info.columns; i++) {
        pess_reading_column column;
        pess_reading_get_column(reading, i, &column);
        if (column.use == PESS_COLUMN_IGNORED && column.role != NULL)
            (void)fprintf(stderr, "%s %s: note: column '%s' is not used; the %s? --column %s=%s\n", program_name,
                          command_name, column.name, column.role, column.role, column.name);
    }
    print_rest(stderr, before, &info);
}
