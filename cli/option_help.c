/* The help of a command, from its rows of options. */
#include "command.h"
#include "names.h"

#include <math.h>
#include <string.h>

enum { HELP_COLUMN = 34, HELP_WIDTH = 110 };

/* Characters of UTF-8: all bytes but those that go on with one. */
static int width_of(const char *text, size_t length) {
    int width = 0;
    for (size_t i = 0; i < length; i++) width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

/* One paragraph, from `column` on. */
static void print_wrapped(const char *text, size_t length, int column) {
    const char *const end = text + length;
    int at = column;
    while (text < end) {
        const char *const space = memchr(text, ' ', (size_t)(end - text));
        const size_t word = (size_t)((space != NULL ? space : end) - text);
        const int width = width_of(text, word);
        if (at > column && at + 1 + width > HELP_WIDTH) {
            (void)printf("\n%*s", column, "");
            at = column;
        } else if (at > column) {
            (void)putchar(' ');
            at++;
        }
        (void)fwrite(text, 1, word, stdout);
        at += width;
        text += word + (space != NULL);
    }
    (void)putchar('\n');
}

/* Paragraphs, a line each; lines that begin with a space stay as they are. */
static void print_paragraphs(const char *text) {
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        if (*text == ' ')
            (void)printf("%.*s\n", (int)length, text);
        else
            print_wrapped(text, length, 0);
        text += length;
        text += *text == '\n';
    }
}

/* "pess list algorithms" where the value is a name of a table; both where it is of one of two. */
static void write_listed(const option *o, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (const char *word = o->argument; word != NULL && *word != '\0' && used < size;) {
        const size_t length = strcspn(word, "|,");
        const name_table *table = find_names(word, length);
        if (table != NULL)
            used += (size_t)snprintf(text + used, size - used, "%spess %s", used > 0 ? ", " : "", table->listed);
        word += length + (word[length] != '\0');
    }
}

/* "from 0 to 1": of a number between two ends of which the upper is no mere limit. */
static void write_range(const option *o, char *text, size_t size) {
    enum { TELLING = 1000 };
    const pess_setting *s = o->kind == OPTION_SETTING ? pess_setting_find(o->table, o->name) : NULL;
    text[0] = '\0';
    if (s == NULL || !isfinite(s->least) || !(s->most <= TELLING)) return;
    if (s->kind == PESS_SETTING_NUMBER || s->kind == PESS_SETTING_COUNT) pess_setting_range(s, text, size);
}

/* "default 5 seconds", "default: as the log shows"; a flag is off where it is not given. */
static void write_default(const option *o, char *text, size_t size) {
    const pess_setting *s = o->kind == OPTION_SETTING ? pess_setting_find(o->table, o->name) : NULL;
    text[0] = '\0';
    if (s == NULL || (s->kind == PESS_SETTING_SWITCH && o->argument == NULL)) return;
    if (s->standard != NULL)
        (void)snprintf(text, size, "default %s%s%s%s%s", s->where_unset != NULL ? s->where_unset : "",
                       s->where_unset != NULL ? ": " : "", s->standard, s->unit != NULL ? " " : "",
                       s->unit != NULL ? s->unit : "");
    else if (s->where_unset != NULL)
        (void)snprintf(text, size, "default: %s", s->where_unset);
}

/* The sentence, and behind it what lists its names, the range and the default that the table states. */
void option_help(const option *o, char *text, size_t size) {
    char notes[3][600];
    const char *before = " (";
    write_listed(o, notes[0], sizeof notes[0]);
    write_range(o, notes[1], sizeof notes[1]);
    write_default(o, notes[2], sizeof notes[2]);
    size_t used = (size_t)snprintf(text, size, "%s", o->help);
    for (size_t i = 0; i < COUNT_OF(notes) && used < size; i++) {
        if (notes[i][0] == '\0') continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", before, notes[i]);
        before = "; ";
    }
    if (before[0] == ';' && used < size) (void)snprintf(text + used, size - used, ")");
}

static void print_option(const option *o) {
    char left[200];
    (void)snprintf(left, sizeof left, "  %c%c%s --%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                   o->letter ? "," : " ", o->name, o->argument != NULL ? " " : "",
                   o->argument != NULL ? o->argument : "");
    const int width = width_of(left, strlen(left));
    if (width < HELP_COLUMN - 1)
        (void)printf("%s%*s", left, HELP_COLUMN - width, "");
    else
        (void)printf("%s\n%*s", left, HELP_COLUMN, "");
    char text[1000];
    option_help(o, text, sizeof text);
    print_wrapped(text, strlen(text), HELP_COLUMN);
}

static bool first_of_name(const option *options, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (strcmp(options[j].name, options[i].name) == 0) return false;
    return true;
}

bool option_listed(const option *options, size_t i) { return first_of_name(options, i) && !options[i].hidden; }

void print_help(const usage *use, const option *options, size_t count) {
    (void)printf("%s %s: %s\n\nUsage: %s %s %s\n", program_name, use->command, use->summary, program_name, use->command,
                 use->arguments);
    if (use->description != NULL) {
        (void)putchar('\n');
        print_paragraphs(use->description);
    }
    (void)puts("\nOptions:");
    for (size_t i = 0; i < count; i++)
        if (option_listed(options, i)) print_option(&options[i]);
    const option common[] = {
        {.name = "max-memory",
         .argument = "SIZE",
         .help = "take no more memory than this, as 500M or 4G (default: four fifths of what there is)"},
        {.name = "quiet", .help = "show no progress; if results go to files, print nothing but errors"},
        {.name = "help", .letter = 'h', .help = "show this help"}};
    for (size_t i = 0; i < COUNT_OF(common); i++) print_option(&common[i]);
    if (use->examples != NULL) (void)printf("\nExamples:\n%s\n", use->examples);
}
