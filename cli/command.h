/* Subcommands: one cmd_<name>.c and one row in the table of main.c each. Options are tables too: parsing, checking and
 * the help text come from the same rows. The command line uses nothing of the library but pess.h. */
#ifndef PESS_CLI_COMMAND_H
#define PESS_CLI_COMMAND_H

#include "pess.h"

#include <stdio.h>

/* "pess", or "pess-mpi": how messages begin. */
extern const char *program_name;

/* Exit codes; exit_code says which one a status of the library has. */
enum {
    EXIT_FINE = 0,
    EXIT_NEGATIVE = 1,
    EXIT_USAGE = 2,
    EXIT_INPUT = 3,
    EXIT_LIMIT = 4,
    EXIT_IO = 5,
    EXIT_NOT_CONVERGED = 6,
    EXIT_KEEP = 7 /* certify: an improvement is not certain */
};
#define EXIT_CODES                                                                                                     \
    "0 success, 1 negative result, 2 usage error, 3 bad input, 4 limit or memory, 5 I/O error,\n"                      \
    "6 not converged or interrupted, 7 keep the present policy (certify)."

typedef struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
} command;

typedef enum option_kind {
    OPTION_FLAG,   /* bool *      no argument */
    OPTION_TEXT,   /* const char ** */
    OPTION_NUMBER, /* double *    finite */
    OPTION_COUNT,  /* int64_t *   whole, >= 0 */
    OPTION_SEED,   /* uint64_t * */
    OPTION_CHOICE, /* int *       index into choices */
    OPTION_PAIR,   /* double[2]   "LO,HI" */
    OPTION_SETTING /* an options struct of the library: kind, range, default and help come from its table */
} option_kind;

typedef struct option {
    const char *name; /* long name without dashes */
    char letter;      /* short name, or 0 */
    option_kind kind;
    void *target;
    const char *argument; /* how the help shows it: "G", "FILE", "uniform|log|FILE" */
    const char *help;
    const char *const *choices;      /* OPTION_CHOICE: NULL-terminated */
    bool *given;                     /* set to true where the option was used; may be NULL */
    const pess_setting_table *table; /* OPTION_SETTING */
    bool hidden;                     /* understood, but not shown in the help */
} option;

/* Options in the order of the help. Where two structs have a setting of the same name (seed, threads), the option sets
 * both, and the help shows the first. */
enum { OPTION_LIMIT = 128 };

typedef struct option_list {
    option rows[OPTION_LIMIT];
    bool given[OPTION_LIMIT];
    size_t count;
} option_list;

void options_add(option_list *list, option row);
/* Every setting of the table but those in the list `except` ("states actions"; NULL: none). */
void options_add_settings(option_list *list, const pess_setting_table *table, void *options, const char *except);
/* The option of one setting. */
option options_setting(const pess_setting_table *table, const pess_setting *setting, void *options);
/* A setting of which the command takes more than the library does. */
void options_widen(option_list *list, const char *name, const char *argument, const char *help);
bool options_given(const option_list *list, const char *name);
/* The first word that is neither an option nor an option's value; NULL: there is none. */
const char *options_first_word(const option_list *list, int argc, char **argv);

typedef struct usage {
    const char *command;           /* "solve", "mdp gridworld" */
    const char *summary;           /* one line */
    const char *arguments;         /* "LOG [options]" */
    const char *description;       /* paragraphs, a line each; lines that begin with a space are not wrapped; or NULL */
    const char *examples;          /* lines, or NULL */
    const char *const *positional; /* names of the arguments that must be there, NULL-terminated; or NULL */
    int more;                      /* how many further ones may follow; -1: any number */
} usage;

/* Walks through the commands instead of printing their help: `command` gets every command with its options, `parts` the
 * commands of a command ("mdp solve"). Either may be NULL. */
typedef struct visitor {
    void (*command)(void *user, const usage *use, const option *options, size_t count);
    void (*parts)(void *user, const char *name, const command *parts, size_t count);
    void *user;
} visitor;

void visit_commands(const command *commands, size_t count, const visitor *visit);
bool visit_help(const usage *use, const option *options, size_t count); /* false: nobody visits, print it */

const command *find_command(const command *commands, size_t count, const char *name);
size_t edit_distance(const char *a, const char *b);
/* A message with the nearest name; `of` is the command whose commands they are, "" for the program's. */
int unknown_command(const char *of, const command *commands, size_t count, const char *found);
/* Runs the command of a command that argv[1] names. */
int run_part(const char *name, const command *parts, size_t count, int argc, char **argv);

/* The sentence of an option, with its default. */
void option_help(const option *o, char *text, size_t size);
void print_help(const usage *use, const option *options, size_t count);
bool option_listed(const option *options, size_t i); /* shown in the help: not hidden, the first of its name */

/* Parses argv[1…]. Positional arguments go to `values` (in order, at most as many as usage allows; `count` may be
 * NULL). Returns -1 to go on, or an exit code: 0 after --help, 2 after a message about a wrong use. */
int options_parse(const usage *use, const option *options, size_t option_count, int argc, char **argv,
                  const char **values, int *count);

/* "pess solve: message" on stderr; returns the exit code of the status. */
int report_error(const char *command_name, const pess_error *error);
/* The same; a message that begins with an option's name ("trials: found …") gets its dashes. */
int report_option_error(const char *command_name, const option *options, size_t count, const pess_error *error);
int exit_code(pess_status status);
/* The error of a command that found no memory itself. */
void no_memory_for(const char *what, pess_error *error);
/* What main found among the arguments before anything is parsed. */
extern struct asked {
    bool json;     /* --json: errors are JSON on standard output too */
    bool quiet;    /* --quiet: no progress; no report where results go to files */
    bool together; /* several processes share the work (pess-mpi) */
} asked;
/* "pess: message" as it stands; returns EXIT_USAGE. */
int report_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A wrong use found by the command itself: message on stderr, returns EXIT_USAGE. */
int report_usage(const char *command_name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* On stderr, where a command has written results without figures, why: no cairo, no font. */
void note_missing_figures(const char *command_name);

/* 6300 as "1 h 45 min". */
void duration_text(double seconds, char *out, size_t size);

/* A progress line on stderr, shown only on a terminal and only for work that lasts over two seconds. */
pess_progress terminal_progress(void);
/* Clears the line where one was drawn. */
void terminal_progress_end(void);

/* The help of -o where a table is written. */
#define WRITE_POLICY "write the policy: state,action,probability; with a horizon also step"
/* The two arguments of "%lld row%s". */
#define COUNTED(n) (long long)(n), (n) == 1 ? "" : "s"
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

int cmd_help(int argc, char **argv);

#endif
