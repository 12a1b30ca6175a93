/* Options from tables: parsing and checking; option_help.c makes the help of the same rows. */
#include "command.h"
#include "json.h"
#include "reading.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* status -> exit code; 1, a negative result, is no error */
int exit_code(pess_status status) {
    static const int codes[PESS_STATUS_COUNT] = {[PESS_OK] = EXIT_FINE,
                                                 [PESS_ARGUMENT] = EXIT_USAGE,
                                                 [PESS_INPUT] = EXIT_INPUT,
                                                 [PESS_MEMORY] = EXIT_LIMIT,
                                                 [PESS_LIMIT] = EXIT_LIMIT,
                                                 [PESS_IO] = EXIT_IO,
                                                 [PESS_NOT_CONVERGED] = EXIT_NOT_CONVERGED,
                                                 [PESS_INTERRUPTED] = EXIT_NOT_CONVERGED};
    return (unsigned)status < PESS_STATUS_COUNT ? codes[status] : EXIT_USAGE;
}

/* {"schema": 1, "command": …, "error": {…}} where the caller asked for JSON. */
static void print_error_json(const char *command_name, const pess_error *error) {
    if (!asked.json) return;
    json_writer json = json_open(command_name);
    json_object(&json, "error");
    json_text(&json, "status", pess_status_name(error->status));
    json_count(&json, "exit_code", exit_code(error->status));
    json_text(&json, "message", error->message);
    if (error->remedy != NULL) {
        json_text(&json, "remedy", error->remedy);
        json_text(&json, "value", error->value);
    }
    json_close(&json);
    json_close(&json);
    json_end(&json);
}

void no_memory_for(const char *what, pess_error *error) {
    *error = (pess_error){.status = PESS_MEMORY};
    (void)snprintf(error->message, sizeof error->message, "not enough memory for %s", what);
}

int report_error(const char *command_name, const pess_error *error) {
    terminal_progress_end();
    (void)fprintf(stderr, "%s %s: %s\n", program_name, command_name, error->message);
    remedy_print(stderr, error);
    print_error_json(command_name, error);
    return exit_code(error->status);
}

int report_wrong(const char *format, ...) {
    pess_error error = {.status = PESS_ARGUMENT};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error.message, sizeof error.message, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "%s\n", error.message);
    print_error_json("", &error);
    return EXIT_USAGE;
}

int report_option_error(const char *command_name, const option *options, size_t count, const pess_error *error) {
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(options[i].name);
        if (strncmp(error->message, options[i].name, length) != 0 || error->message[length] != ':') continue;
        pess_error dashed = *error;
        const char *rest = error->message + length; /* --alpha: found …, --alpha does nothing … */
        if (strncmp(rest, ": does nothing", strlen(": does nothing")) == 0) rest++;
        (void)snprintf(dashed.message, sizeof dashed.message, "--%s%.900s", options[i].name, rest);
        return report_error(command_name, &dashed);
    }
    return report_error(command_name, error);
}

int report_usage(const char *command_name, const char *format, ...) {
    pess_error error = {.status = PESS_ARGUMENT};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error.message, sizeof error.message, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "%s %s: %s\nTry '%s help %s'.\n", program_name, command_name, error.message, program_name,
                  command_name);
    print_error_json(command_name, &error);
    return EXIT_USAGE;
}

/* ---- lists */

void options_add(option_list *list, option row) {
    assert(list->count < OPTION_LIMIT);
    if (row.given == NULL) row.given = &list->given[list->count];
    list->rows[list->count++] = row;
}

option options_setting(const pess_setting_table *table, const pess_setting *setting, void *options) {
    return (option){.name = setting->name,
                    .letter = setting->letter,
                    .kind = OPTION_SETTING,
                    .target = options,
                    .argument = setting->argument != NULL ? setting->argument : setting->choices,
                    .help = setting->sentence,
                    .table = table};
}

void options_add_settings(option_list *list, const pess_setting_table *table, void *options, const char *except) {
    for (size_t i = 0; i < table->count; i++)
        if (!pess_setting_listed(except, table->rows[i].name))
            options_add(list, options_setting(table, &table->rows[i], options));
}

void options_widen(option_list *list, const char *name, const char *argument, const char *help) {
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->rows[i].name, name) != 0) continue;
        list->rows[i].argument = argument;
        list->rows[i].help = help;
    }
}

bool options_given(const option_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->rows[i].name, name) == 0 && *list->rows[i].given) return true;
    return false;
}

/* ---- values */

static int wrong(const usage *use, const option *o, const char *found, const char *expected) {
    return report_usage(use->command, "--%s: found '%s', expected %s", o->name, found, expected);
}

static bool read_number(const char *text, char **stop, double *out) {
    errno = 0;
    *out = strtod(text, stop);
    return *stop != text && isfinite(*out);
}

static int set_choice(const usage *use, const option *o, const char *value) {
    char expected[300] = "one of";
    for (int i = 0; o->choices[i] != NULL; i++) {
        if (strcmp(o->choices[i], value) == 0) {
            *(int *)o->target = i;
            return -1;
        }
        const size_t used = strlen(expected);
        (void)snprintf(expected + used, sizeof expected - used, "%s %s", i > 0 ? "," : "", o->choices[i]);
    }
    return wrong(use, o, value, expected);
}

/* The value of a text that may be given several times: what was there and one more line. */
static const char *add_line(const option *o, const char *value) {
    static char lines[1 << 16];
    static size_t used;
    char *const begin = lines + used;
    const size_t room = sizeof lines - used;
    pess_setting_get(o->table, o->target, o->name, begin, room);
    const size_t before = strlen(begin);
    const int added = snprintf(begin + before, room - before, "%s%s", before > 0 ? "\n" : "", value);
    if (added < 0 || (size_t)added >= room - before) return NULL;
    used += before + (size_t)added + 1;
    return begin;
}

static int set_value(const usage *use, const option *o, const char *value) {
    char *stop = NULL;
    switch (o->kind) {
        case OPTION_FLAG: *(bool *)o->target = true; return -1;
        case OPTION_TEXT: *(const char **)o->target = value; return -1;
        case OPTION_NUMBER:
            if (!read_number(value, &stop, (double *)o->target) || *stop != '\0')
                return wrong(use, o, value, "a number");
            return -1;
        case OPTION_COUNT: {
            double number = 0; /* 1e6 is a count too */
            if (!read_number(value, &stop, &number) || *stop != '\0' || number < 0 || number != floor(number) ||
                number > 9e15)
                return wrong(use, o, value, "a whole number, 0 or more");
            *(int64_t *)o->target = (int64_t)number;
            return -1;
        }
        case OPTION_SEED:
            errno = 0;
            *(uint64_t *)o->target = strtoull(value, &stop, 10);
            if (errno != 0 || stop == value || *stop != '\0' || value[0] < '0' || value[0] > '9')
                return wrong(use, o, value, "a whole number from 0 to 2^64-1");
            return -1;
        case OPTION_CHOICE: return set_choice(use, o, value);
        case OPTION_PAIR: {
            double *pair = o->target;
            if (!read_number(value, &stop, &pair[0]) || *stop != ',' || !read_number(stop + 1, &stop, &pair[1]) ||
                *stop != '\0')
                return wrong(use, o, value, "two numbers with a comma between them");
            return -1;
        }
        case OPTION_SETTING: {
            pess_error error;
            if (pess_setting_find(o->table, o->name)->repeats && (value = add_line(o, value)) == NULL)
                return report_usage(use->command, "--%s is given too many times", o->name);
            if (pess_setting_set(o->table, o->target, o->name, value, &error) == PESS_OK) return -1;
            return report_usage(use->command, "--%s", error.message);
        }
    }
    return EXIT_USAGE;
}

static bool takes_value(const option *o) {
    if (o->kind != OPTION_SETTING) return o->kind != OPTION_FLAG;
    return o->argument != NULL || pess_setting_find(o->table, o->name)->kind != PESS_SETTING_SWITCH;
}

/* Every row of this name takes the value. */
static int set_all(const usage *use, const option *options, size_t count, const option *first, const char *value) {
    for (size_t i = 0; i < count; i++) {
        const option *o = &options[i];
        if (strcmp(o->name, first->name) != 0) continue;
        const int code = set_value(use, o, value != NULL && takes_value(o) ? value : "on");
        if (code >= 0) return code;
        if (o->given != NULL) *o->given = true;
    }
    return -1;
}

/* ---- names */

static int unknown_option(const usage *use, const option *options, size_t count, const char *found) {
    const char *const name = found + strspn(found, "-"), *closest = NULL;
    size_t distance = (strlen(name) + 3) / 2; /* half of the letters are right … */
    if (distance > 4) distance = 4;           /* … and at most three are wrong */
    for (size_t i = 0; i < count; i++) {
        const size_t d = edit_distance(name, options[i].name);
        if (d < distance) {
            distance = d;
            closest = options[i].name;
        }
    }
    if (closest != NULL) return report_usage(use->command, "no option '%s'; did you mean --%s?", found, closest);
    return report_usage(use->command, "no option '%s'", found);
}

/* --no-ramping is --ramping off. */
static const option *find_switched_off(const option *options, size_t count, const char *word, const char **attached) {
    if (strncmp(word, "--no-", 5) != 0) return NULL;
    for (size_t i = 0; i < count; i++) {
        const option *o = &options[i];
        if (o->kind != OPTION_SETTING || strcmp(word + 5, o->name) != 0 || !takes_value(o)) continue;
        *attached = "off";
        return pess_setting_find(o->table, o->name)->kind == PESS_SETTING_SWITCH ? o : NULL;
    }
    return NULL;
}

static const option *find_option(const option *options, size_t count, const char *word, const char **attached) {
    *attached = NULL;
    char alias[4200];
    if (strncmp(word, "--output", 8) == 0 && (word[8] == '\0' || word[8] == '=')) { /* as it was once spelt */
        (void)snprintf(alias, sizeof alias, "--out%s", word + 8);
        const option *o = find_option(options, count, alias, attached);
        if (*attached != NULL) *attached = word + 9;
        return o;
    }
    for (size_t i = 0; i < count; i++) {
        const option *o = &options[i];
        if (word[1] == '-') {
            const size_t length = strlen(o->name);
            if (strncmp(word + 2, o->name, length) != 0) continue;
            if (word[2 + length] == '\0') return o;
            if (word[2 + length] == '=') {
                *attached = word + 3 + length;
                return o;
            }
        } else if (o->letter != 0 && word[1] == o->letter) {
            if (word[2] != '\0') *attached = word + 2;
            return o;
        }
    }
    return find_switched_off(options, count, word, attached);
}

const char *options_first_word(const option_list *list, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *value = NULL;
        if (argv[i][0] != '-' || argv[i][1] == '\0') return argv[i];
        if (strcmp(argv[i], "--") == 0) return i + 1 < argc ? argv[i + 1] : NULL;
        const option *o = find_option(list->rows, list->count, argv[i], &value);
        if (o != NULL && takes_value(o) && value == NULL) i++;
    }
    return NULL;
}

/* Whether --sql was given, which may name files itself. */
static bool reads_query(const option *options, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(options[i].name, "sql") == 0 && options[i].given != NULL && *options[i].given) return true;
    return false;
}

static int check_positional(const usage *use, int found) {
    int needed = 0;
    while (use->positional != NULL && use->positional[needed] != NULL) needed++;
    if (found < needed) return report_usage(use->command, "%s is missing", use->positional[found]);
    if (use->more >= 0 && found > needed + use->more)
        return report_usage(use->command, "%d arguments, expected %s%d", found, use->more > 0 ? "at most " : "",
                            needed + use->more);
    return -1;
}

int options_parse(const usage *use, const option *options, size_t option_count, int argc, char **argv,
                  const char **values, int *count) {
    int found = 0, needed = 0;
    while (use->positional != NULL && use->positional[needed] != NULL) needed++;
    const int room = use->more < 0 ? argc : needed + use->more;
    bool only_positional = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (only_positional || word[0] != '-' || word[1] == '\0') {
            if (found < room) values[found] = word;
            found++;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_positional = true;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            if (!visit_help(use, options, option_count)) print_help(use, options, option_count);
            return EXIT_FINE;
        }
        const char *value = NULL;
        const option *o = find_option(options, option_count, word, &value);
        if (o == NULL) return unknown_option(use, options, option_count, word);
        if (!takes_value(o) && value != NULL) return wrong(use, o, value, "no value");
        if (takes_value(o) && value == NULL) {
            if (i + 1 >= argc) return report_usage(use->command, "--%s needs a value (%s)", o->name, o->argument);
            value = argv[++i];
        }
        const int code = set_all(use, options, option_count, o, value);
        if (code >= 0) return code;
    }
    if (found + 1 == needed && strcmp(use->positional[found], "LOG") == 0 && reads_query(options, option_count))
        values[found++] = PESS_NO_FILE;
    if (count != NULL) *count = found;
    return check_positional(use, found);
}

void note_missing_figures(const char *command_name) {
    pess_error why = {0};
    if (pess_figure_possible(&why) == PESS_OK) return;
    (void)fprintf(stderr, "%s %s: note: no figures were written: %s\n", program_name, command_name, why.message);
}
