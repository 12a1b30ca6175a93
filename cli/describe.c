/* Man pages, made from the same tables as the help. */
#include "describe.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Text for troff: dashes are dashes, and no line is a request by accident. */
static void print_escaped(FILE *out, const char *text) {
    bool start = true;
    for (; *text != '\0'; text++) {
        if (start && (*text == '.' || *text == '\'')) (void)fputs("\\&", out);
        if (*text == '\\')
            (void)fputs("\\e", out);
        else if (*text == '-')
            (void)fputs("\\-", out);
        else
            (void)fputc(*text, out);
        start = *text == '\n';
    }
}

static void print_literal(FILE *out, const char *title, const char *text) {
    if (text == NULL) return;
    (void)fprintf(out, ".SH %s\n.nf\n", title);
    print_escaped(out, text);
    (void)fputs("\n.fi\n", out);
}

/* A description: troff wraps its paragraphs and keeps lines that begin with a space. */
static void print_paragraphs(FILE *out, const char *text) {
    if (text == NULL) return;
    (void)fputs(".SH DESCRIPTION\n", out);
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        char line[4000];
        (void)snprintf(line, sizeof line, "%.*s", (int)length, text);
        print_escaped(out, line);
        (void)fputs(length > 0 ? *text == ' ' ? "\n.br\n" : "\n" : ".PP\n", out);
        text += length;
        text += *text == '\n';
    }
}

static void print_man_option(FILE *out, const option *o) {
    (void)fputs(".TP\n.B ", out);
    if (o->letter != 0) (void)fprintf(out, "\\-%c, ", o->letter);
    (void)fputs("\\-\\-", out);
    print_escaped(out, o->name);
    if (o->argument != NULL) {
        (void)fputs(" \\fI", out);
        print_escaped(out, o->argument);
        (void)fputs("\\fR", out);
    }
    char text[1000];
    option_help(o, text, sizeof text);
    (void)fputc('\n', out);
    print_escaped(out, text);
    (void)fputc('\n', out);
}

static const char exit_status[] = ".SH EXIT STATUS\n" EXIT_CODES "\n";

typedef struct man_pages {
    const char *directory;
    int code;
} man_pages;

static FILE *open_page(man_pages *pages, const char *of) {
    char path[4200], name[100];
    (void)snprintf(name, sizeof name, "%s", of);
    for (char *c = name; *c != '\0'; c++)
        if (*c == ' ') *c = '-';
    (void)snprintf(path, sizeof path, "%s/pess%s%s.1", pages->directory, *name != '\0' ? "-" : "", name);
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        (void)fprintf(stderr, "pess help: %s: %s\n", path, strerror(errno));
        pages->code = EXIT_IO;
        return NULL;
    }
    for (char *c = name; *c != '\0'; c++) *c = (char)toupper((unsigned char)*c);
    (void)fprintf(out, ".TH PESS%s%s 1 \"\" \"Pessimist %s\" \"Pessimist\"\n.SH NAME\npess", *name != '\0' ? "\\-" : "",
                  name, pess_version());
    return out;
}

static void write_page(void *user, const usage *use, const option *options, size_t count) {
    FILE *out = open_page(user, use->command);
    if (out == NULL) return;
    (void)fputs("\\-", out);
    for (const char *c = use->command; *c != '\0'; c++) (void)fputc(*c == ' ' ? '-' : *c, out);
    (void)fputs(" \\- ", out);
    print_escaped(out, use->summary);
    (void)fprintf(out, "\n.SH SYNOPSIS\n.nf\n\\fBpess %s\\fR ", use->command);
    print_escaped(out, use->arguments);
    (void)fputs("\n.fi\n", out);
    print_paragraphs(out, use->description);
    if (count > 0) (void)fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; i < count; i++)
        if (option_listed(options, i)) print_man_option(out, &options[i]);
    print_literal(out, "EXAMPLES", use->examples);
    (void)fprintf(out, "%s.SH SEE ALSO\n.BR pess (1)\n", exit_status);
    if (fclose(out) != 0) ((man_pages *)user)->code = EXIT_IO;
}

int describe_man(const char *directory, const command *commands, size_t count) {
    man_pages pages = {.directory = directory, .code = EXIT_FINE};
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        (void)fprintf(stderr, "pess help: %s: %s\n", directory, strerror(errno));
        return EXIT_IO;
    }
    FILE *out = open_page(&pages, "");
    if (out == NULL) return pages.code;
    (void)fputs(" \\- fixed\\-dataset policy optimization\n.SH SYNOPSIS\n.B pess\n.I COMMAND\n[arguments]\n.SH "
                "DESCRIPTION\nA log of decisions goes in; a policy comes out that is good in the worst world the log "
                "allows.\n.SH COMMANDS\n",
                out);
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, ".TP\n.BR pess\\-%s (1)\n", commands[i].name);
        print_escaped(out, commands[i].summary);
        (void)fputc('\n', out);
    }
    (void)fputs(exit_status, out);
    if (fclose(out) != 0) pages.code = EXIT_IO;
    visit_commands(commands, count, &(visitor){.command = write_page, .user = &pages});
    return pages.code;
}
