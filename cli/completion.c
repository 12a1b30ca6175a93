/* Shell completions, made from the same tables as the help: commands, options, and the words that a value can be. */
#include "describe.h"
#include "names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- words that a value can be: "a|b|FILE" has a and b, "GAME|all" every game and all */

static bool is_word(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (islower((unsigned char)text[i]) == 0 && isdigit((unsigned char)text[i]) == 0 && text[i] != '-')
            return false;
    return length > 0;
}

static const char *print_name(FILE *out, const char *before, const char *name, size_t length) {
    (void)fprintf(out, "%s%.*s", before, (int)length, name);
    return " ";
}

static const char *print_table(FILE *out, const char *before, const char *word, size_t length) {
    const name_table *table = find_names(word, length);
    const char *name;
    for (size_t i = 0; table != NULL && (name = table->name(i)) != NULL; i++)
        before = print_name(out, before, name, strlen(name));
    return before;
}

/* The first word of `shown`, which may stand in brackets: "[GAME|all] [options]", "GAME,…". */
static void print_values(FILE *out, const char *shown) {
    const char *before = "";
    if (shown == NULL) return;
    shown += *shown == '[';
    const size_t end = strcspn(shown, " ,]=");
    const bool several = memchr(shown, '|', end) != NULL;
    for (size_t at = 0; at < end;) {
        const size_t to_bar = strcspn(shown + at, "|"), length = to_bar < end - at ? to_bar : end - at;
        if (several && is_word(shown + at, length))
            before = print_name(out, before, shown + at, length);
        else
            before = print_table(out, before, shown + at, length);
        at += length + 1;
    }
}

static bool has_values(const char *shown) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL) return false;
    print_values(memory, shown);
    (void)fclose(memory);
    free(text);
    return size > 0;
}

static int words_in(const char *text) {
    int words = 1;
    for (; *text != '\0'; text++) words += *text == ' ';
    return words;
}

/* ---- bash and zsh */

static void print_commands(const command *commands, size_t count) {
    for (size_t i = 0; i < count; i++) (void)printf("%s%s", i > 0 ? " " : "", commands[i].name);
}

/* Cases by "command previous-word": the values of an option, else the options, or the values of the first argument. */
static void print_cases(void *user, const usage *use, const option *options, size_t count) {
    (void)user;
    for (size_t i = 0; i < count; i++) {
        const option *o = &options[i];
        if (!option_listed(options, i) || !has_values(o->argument)) continue;
        (void)printf("        '%s --%s'", use->command, o->name);
        if (o->letter != 0) (void)printf("|'%s -%c'", use->command, o->letter);
        (void)printf(") words='");
        print_values(stdout, o->argument);
        (void)printf("' ;;\n");
    }
    (void)printf("        '%s '*) if [[ $word == -* ]]; then words='", use->command);
    for (size_t i = 0; i < count; i++)
        if (option_listed(options, i)) (void)printf("--%s ", options[i].name);
    (void)printf("--help'");
    if (has_values(use->arguments)) {
        (void)printf("; elif [[ $at -eq %d ]]; then words='", words_in(use->command) + 1);
        print_values(stdout, use->arguments);
        (void)putchar('\'');
    }
    (void)printf("; fi ;;\n");
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
    print_parts(NULL, "help", commands, count);
    (void)printf("    esac\n    key=$first\n    [[ -n $parts ]] && key=\"$first $second\"\n"
                 "    case \"$key $previous\" in\n");
    visit_commands(commands, count, &(visitor){.command = print_cases});
    (void)printf("    esac\n    if [[ $at -eq 1 ]]; then words='");
    print_commands(commands, count);
    (void)printf("'; elif [[ $at -eq 2 && -n $parts ]]; then words=$parts; fi\n");
}

/* In a list, "naive,u", what comes after the last comma is completed. */
static void print_bash(const command *commands, size_t count) {
    (void)printf("# bash completion of pess, made by it\n_pess() {\n"
                 "    local at=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                 "    local first=${COMP_WORDS[1]} second=${COMP_WORDS[2]} parts= key= words= before=\n");
    print_shell(commands, count);
    (void)printf("    [[ $word == *,* ]] && before=${word%%,*},\n"
                 "    COMPREPLY=($(compgen -P \"$before\" -W \"$words\" -- \"${word##*,}\"))\n"
                 "}\ncomplete -o default -F _pess pess\n");
}

static void print_zsh(const command *commands, size_t count) {
    (void)printf("#compdef pess\n# zsh completion of pess, made by it\n"
                 "local at=$((CURRENT - 1)) word=${words[CURRENT]} previous=${words[CURRENT - 1]}\n"
                 "local first=${words[2]} second=${words[3]} parts= key=\n"
                 "_pess_words() {\n    local words=\n");
    print_shell(commands, count);
    (void)printf("    if [[ -n $words ]]; then compset -P '*,'; compadd -- ${=words}; else _files; fi\n"
                 "}\n_pess_words\n");
}

/* ---- fish */

/* "mdp solve" as the conditions of fish: both words have been typed. */
static void print_fish_condition(const char *of) {
    (void)printf("complete -c pess -n '__fish_seen_subcommand_from ");
    for (const char *c = of; *c != '\0'; c++)
        if (*c == ' ')
            (void)printf("; and __fish_seen_subcommand_from ");
        else
            (void)putchar(*c);
}

static void print_fish_values(const char *shown) {
    if (!has_values(shown)) return;
    const bool list = strchr(shown, ',') != NULL;
    (void)printf(" -f -a '%s", list ? "(__fish_append , " : "");
    print_values(stdout, shown);
    (void)printf("%s'", list ? ")" : "");
}

static void print_fish_command(void *user, const usage *use, const option *options, size_t count) {
    (void)user;
    for (size_t i = 0; i < count; i++) {
        const option *o = &options[i];
        if (!option_listed(options, i)) continue;
        print_fish_condition(use->command);
        (void)printf("' -l %s", o->name);
        if (o->letter != 0) (void)printf(" -s %c", o->letter);
        if (o->argument != NULL) (void)printf(" -r");
        print_fish_values(o->argument);
        (void)putchar('\n');
    }
    if (!has_values(use->arguments)) return;
    print_fish_condition(use->command);
    (void)printf("; and test (count (commandline -opc)) -eq %d'", words_in(use->command) + 1);
    print_fish_values(use->arguments);
    (void)putchar('\n');
}

static void print_fish_parts(void *user, const char *name, const command *parts, size_t count) {
    (void)user;
    for (size_t i = 0; i < count; i++) {
        print_fish_condition(name);
        (void)printf("; and test (count (commandline -opc)) -eq 2' -f -a %s\n", parts[i].name);
    }
}

static void print_fish(const command *commands, size_t count) {
    (void)printf("# fish completion of pess, made by it\n");
    for (size_t i = 0; i < count; i++)
        (void)printf("complete -c pess -n __fish_use_subcommand -f -a %s\n", commands[i].name);
    print_fish_parts(NULL, "help", commands, count);
    visit_commands(commands, count, &(visitor){.command = print_fish_command, .parts = print_fish_parts});
}

int describe_completion(const char *shell, const command *commands, size_t count) {
    static const struct {
        const char *name;
        void (*print)(const command *commands, size_t count);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < COUNT_OF(shells); i++) {
        if (strcmp(shells[i].name, shell) != 0) continue;
        shells[i].print(commands, count);
        return EXIT_FINE;
    }
    (void)fprintf(stderr, "pess help: --completion: found '%s', expected bash, zsh or fish\n", shell);
    return EXIT_USAGE;
}
