/* Man pages and shell completions, made from the same tables as the help. */
#include "describe.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- words an option's value can be: "a|b|FILE" has a and b */

static bool is_word(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (islower((unsigned char)text[i]) == 0 && isdigit((unsigned char)text[i]) == 0 && text[i] != '-')
            return false;
    return length > 0;
}

static void print_values(FILE *out, const option *o, const char *separator) {
    const char *before = "";
    for (const char *at = o->argument; at != NULL && strchr(o->argument, '|') != NULL && *at != '\0';) {
        const size_t length = strcspn(at, "|");
        if (is_word(at, length)) {
            (void)fprintf(out, "%s%.*s", before, (int)length, at);
            before = separator;
        }
        at += length + (at[length] == '|');
    }
}

static bool has_values(const option *o) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL) return false;
    print_values(memory, o, " ");
    (void)fclose(memory);
    free(text);
    return size > 0;
}

/* ---- man pages */

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

/* ---- completions */

static void print_commands(const command *commands, size_t count) {
    for (size_t i = 0; i < count; i++) (void)printf("%s%s", i > 0 ? " " : "", commands[i].name);
}

static void print_option_names(const option *options, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (option_listed(options, i)) (void)printf("--%s ", options[i].name);
    (void)printf("--help");
}

/* Cases of a bash or zsh function: values by "command --option", option names by "command". */
static void print_cases(void *user, const usage *use, const option *options, size_t count) {
    (void)user;
    for (size_t i = 0; i < count; i++) {
        const option *o = &options[i];
        if (!option_listed(options, i) || !has_values(o)) continue;
        (void)printf("        '%s --%s'", use->command, o->name);
        if (o->letter != 0) (void)printf("|'%s -%c'", use->command, o->letter);
        (void)printf(") words='");
        print_values(stdout, o, " ");
        (void)printf("' ;;\n");
    }
    (void)printf("        '%s '-*) [[ $word == -* ]] && words='", use->command);
    print_option_names(options, count);
    (void)printf("' ;;\n        '%s '*) [[ $word == -* ]] && words='", use->command);
    print_option_names(options, count);
    (void)printf("' ;;\n");
}

static void print_parts(void *user, const char *name, const command *parts, size_t count) {
    (void)user;
    (void)printf("        %s) parts='", name);
    print_commands(parts, count);
    (void)printf("' ;;\n");
}

/* What both shells share: which words can stand here. `key` is the command with its part. */
static void print_shell(const command *commands, size_t count) {
    (void)printf("    case $first in\n");
    visit_commands(commands, count, &(visitor){.parts = print_parts});
    (void)printf("    esac\n    key=$first\n    [[ -n $parts ]] && key=\"$first $second\"\n"
                 "    case \"$key $previous\" in\n");
    visit_commands(commands, count, &(visitor){.command = print_cases});
    (void)printf("    esac\n    if [[ $at -eq 1 ]]; then words='");
    print_commands(commands, count);
    (void)printf("'; elif [[ $at -eq 2 && -n $parts ]]; then words=$parts; fi\n");
}

/* "mdp solve" as the conditions of fish: both words have been typed. */
static void print_fish_condition(const char *of) {
    (void)printf("complete -c pess -n '__fish_seen_subcommand_from ");
    for (const char *c = of; *c != '\0'; c++)
        if (*c == ' ')
            (void)printf("; and __fish_seen_subcommand_from ");
        else
            (void)putchar(*c);
    (void)putchar('\'');
}

static void print_fish(void *user, const usage *use, const option *options, size_t count) {
    (void)user;
    for (size_t i = 0; i < count; i++) {
        const option *o = &options[i];
        if (!option_listed(options, i)) continue;
        print_fish_condition(use->command);
        (void)printf(" -l %s", o->name);
        if (o->letter != 0) (void)printf(" -s %c", o->letter);
        if (o->argument != NULL) (void)printf(" -r");
        if (has_values(o)) {
            (void)printf(" -f -a '");
            print_values(stdout, o, " ");
            (void)putchar('\'');
        }
        (void)putchar('\n');
    }
}

static void print_fish_parts(void *user, const char *name, const command *parts, size_t count) {
    (void)user;
    for (size_t i = 0; i < count; i++)
        (void)printf("complete -c pess -n '__fish_seen_subcommand_from %s' -f -a %s\n", name, parts[i].name);
}

static void print_fish_commands(const command *commands, size_t count) {
    for (size_t i = 0; i < count; i++)
        (void)printf("complete -c pess -n __fish_use_subcommand -f -a %s\n", commands[i].name);
    visit_commands(commands, count, &(visitor){.command = print_fish, .parts = print_fish_parts});
}

int describe_completion(const char *shell, const command *commands, size_t count) {
    if (strcmp(shell, "bash") == 0) {
        (void)printf("# bash completion of pess, made by it\n_pess() {\n"
                     "    local at=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                     "    local first=${COMP_WORDS[1]} second=${COMP_WORDS[2]} parts= key= words=\n");
        print_shell(commands, count);
        (void)printf("    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\ncomplete -o default -F _pess pess\n");
        return EXIT_FINE;
    }
    if (strcmp(shell, "zsh") == 0) {
        (void)printf("#compdef pess\n# zsh completion of pess, made by it\n"
                     "local at=$((CURRENT - 1)) word=${words[CURRENT]} previous=${words[CURRENT - 1]}\n"
                     "local first=${words[2]} second=${words[3]} parts= key=\n"
                     "_pess_words() {\n    local words=\n");
        print_shell(commands, count);
        (void)printf("    if [[ -n $words ]]; then compadd -- ${=words}; else _files; fi\n}\n_pess_words\n");
        return EXIT_FINE;
    }
    if (strcmp(shell, "fish") == 0) {
        (void)printf("# fish completion of pess, made by it\n");
        print_fish_commands(commands, count);
        return EXIT_FINE;
    }
    (void)fprintf(stderr, "pess help: --completion: found '%s', expected bash, zsh or fish\n", shell);
    return EXIT_USAGE;
}
