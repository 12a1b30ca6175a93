/* Pessimist: status and errors, progress. The habits of the whole interface are told in pess.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_BASE_H
#define PESS_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version is stated here and nowhere else; the build reads it from here. */
#define PESS_VERSION "0.1.0"

#if defined(__GNUC__)
#define PESS_API __attribute__((visibility("default")))
#else
#define PESS_API
#endif

/* name, text */
#define PESS_STATUS_LIST(X)                                                                                            \
    X(OK, "fine")                                                                                                      \
    X(ARGUMENT, "an argument or setting is not valid")                                                                 \
    X(INPUT, "the input is not valid")                                                                                 \
    X(MEMORY, "not enough memory")                                                                                     \
    X(LIMIT, "a size is beyond the limits")                                                                            \
    X(IO, "a file cannot be read or written")                                                                          \
    X(NOT_CONVERGED, "the computation did not converge")                                                               \
    X(INTERRUPTED, "the computation was interrupted")

typedef enum pess_status {
#define PESS_STATUS_ENUM(name, text) PESS_##name,
    PESS_STATUS_LIST(PESS_STATUS_ENUM)
#undef PESS_STATUS_ENUM
        PESS_STATUS_COUNT
} pess_status;

/* What went wrong: which input, where, what was found and what was expected. Where something can be set so that it goes
 * well, `remedy` is its code: mostly the name of a setting ("separator"), and `value` what to set it to ("semicolon").
 * Front ends put that into words. */
typedef struct pess_error {
    pess_status status;
    char message[1000];
    const char *remedy; /* NULL: none is known */
    char value[120];
} pess_error;

PESS_API const char *pess_version(void);                   /* "0.1.0" */
PESS_API const char *pess_build(void);                     /* "0.1.0 (4f2a91c)": with the commit, where it is known */
PESS_API const char *pess_status_name(pess_status status); /* "INPUT" */
PESS_API const char *pess_status_text(pess_status status);

/* Long work reports here about ten times a second, from the calling thread. `done` and `total` are in `unit`s; total
 * is 0 where it is not known. Returning false asks the work to stop in good order with PESS_INTERRUPTED. */
typedef struct pess_progress {
    bool (*report)(void *user, const char *what, double done, double total, const char *unit);
    void *user;
} pess_progress;

/* ---- text from files */

/* Names and notes come from files, and a terminal obeys what it is sent. The first character of a text as it may be
 * shown: itself, or "\u001b" for a control character (of ASCII, of Latin-1, or one that turns the direction of
 * writing), or U+FFFD for a byte that is not UTF-8. */
typedef struct pess_shown {
    size_t taken; /* bytes of the text; 0 where `length` ends within a character */
    char text[8];
} pess_shown;

/* The first character of `length` bytes of text, as above. */
PESS_API pess_shown pess_show(const char *text, size_t length);

/* ---- memory */

/* What the process may take; beyond it, PESS_MEMORY before any is asked for. 0, the default: four fifths of what the
 * machine, or the container, has. */
PESS_API void pess_set_max_memory(int64_t bytes);
PESS_API int64_t pess_max_memory(void); /* in bytes */

/* ---- random numbers */

/* A small generator for those who choose actions: same seed, purpose and index, same numbers, everywhere. */
typedef struct pess_random {
    uint64_t state[4];
} pess_random;

/* The generator of this seed, purpose and index: a function of the three. */
PESS_API pess_random pess_random_create(uint64_t seed, const char *purpose, uint64_t index);
PESS_API double pess_random_uniform(pess_random *random);           /* [0,1) */
PESS_API int64_t pess_random_below(pess_random *random, int64_t n); /* 0 … n-1; n > 0 */

/* ---- files */

/* The library's binary files, told by their first bytes or, where a file is cut short, by the end of its name. Logs
 * have formats of their own (pess_format_list). */
typedef enum pess_file_kind {
    PESS_FILE_OTHER,
    PESS_FILE_OBSERVATIONS, /* .pessdata */
    PESS_FILE_NETWORK,      /* .pessnet */
    PESS_FILE_POLICY,       /* .pesspolicy */
    PESS_FILE_MAP,          /* .pessmap */
    PESS_FILE_MDP           /* .pessmdp */
} pess_file_kind;

/* What kind of file this is; PESS_FILE_OTHER for all else. */
PESS_API pess_file_kind pess_file_kind_of(const char *path);

/* Files appear whole or not at all, from a temporary name beside them. Removes those that are being written now: for a
 * program that is told to end, also from a signal handler. What a killed process left is removed by the next one that
 * writes into the same directory. */
PESS_API void pess_remove_temporaries(void);

/* ---- settings */

/* Every options struct begins with its size, which pess_X_options_defaults() sets, and is described by one table:
 * pess_X_settings(). Defaults, checks, settings in files, options of the command line, help and bindings are made from
 * its rows. Functions take NULL for all defaults; a struct of an earlier version, which is shorter, is filled up with
 * them. What has no form as text (callbacks, objects) is not in the table. */
typedef enum pess_setting_kind {
    PESS_SETTING_SWITCH, /* bool; "on" or "off" */
    PESS_SETTING_INT,    /* int */
    PESS_SETTING_COUNT,  /* int64_t; 1e6 is a count too */
    PESS_SETTING_SEED,   /* uint64_t; PESS_NO_SEED where it is not set */
    PESS_SETTING_NUMBER, /* double; NAN where it is not set */
    PESS_SETTING_RANGE,  /* double[2], "LO,HI", ascending; NAN where it is not set */
    PESS_SETTING_PAIR,   /* double[2], "A,B", in any order; NAN where it is not set */
    PESS_SETTING_TEXT,   /* const char *, borrowed; NULL where it is not set */
    PESS_SETTING_CHOICE  /* an enum, counted from 0 in the order of `choices`; -1 where it is not set */
} pess_setting_kind;

#define PESS_NO_SEED UINT64_MAX

/* Ends of a range that do not belong to it. BELOW_MOST of a seed: the largest number means that it is not set. */
enum { PESS_SETTING_ABOVE_LEAST = 1, PESS_SETTING_BELOW_MOST = 2 };

typedef struct pess_setting {
    const char *name; /* "min-count"; as a key of files and of JSON min_count */
    char letter;      /* of a short option, or 0 */
    pess_setting_kind kind;
    size_t offset;           /* in the struct */
    const char *standard;    /* the default as text; NULL: not set */
    double least, most;      /* of numbers; INFINITY: no end */
    unsigned open;           /* PESS_SETTING_ABOVE_LEAST, PESS_SETTING_BELOW_MOST */
    const char *choices;     /* "paper|worst|self-loop" */
    const char *argument;    /* how help shows the value, "G" or "FILE" */
    const char *unit;        /* "seconds"; NULL: none */
    const char *sentence;    /* what it does, without the default */
    const char *where_unset; /* what holds where it is not set: "as the log shows"; with a default, when that holds */
    bool specific;           /* read by some algorithms alone: those that name it among their settings */
    bool repeats;            /* a text of several lines; an option that may be given several times, once per line */
} pess_setting;

typedef struct pess_setting_table {
    const char *name; /* of the struct: "solve" */
    size_t size;      /* of the struct */
    const pess_setting *rows;
    size_t count;
} pess_setting_table;

PESS_API const pess_setting *pess_setting_find(const pess_setting_table *table, const char *name); /* NULL: none */
PESS_API void pess_setting_defaults(const pess_setting_table *table, void *options);
/* Sets one value from text. Texts are borrowed, not copied. PESS_ARGUMENT, beginning with the setting's name. */
PESS_API pess_status pess_setting_set(const pess_setting_table *table, void *options, const char *name,
                                      const char *text, pess_error *error);
/* The value as text, cut to size - 1 characters; "" where it is not set. */
PESS_API void pess_setting_get(const pess_setting_table *table, const void *options, const char *name, char *text,
                               size_t size);
/* Is the value the default? */
PESS_API bool pess_setting_is_default(const pess_setting_table *table, const void *options, const char *name);
/* What values are possible, in words: "a number from 0 to 1". */
PESS_API void pess_setting_expected(const pess_setting *setting, char *text, size_t size);
/* The same of a number without its noun, "from 0 to 1"; "" where any will do. */
PESS_API void pess_setting_range(const pess_setting *setting, char *text, size_t size);
/* The size of the struct and the range of every value. */
PESS_API pess_status pess_setting_check(const pess_setting_table *table, const void *options, pess_error *error);
/* Is `name` a word of the list "alpha min-count"? NULL is an empty list. */
PESS_API bool pess_setting_listed(const char *list, const char *name);

/* ---- assumptions */

/* What a result rests on and the data cannot show. Lists of them are asked by position: NULL past the last. */
typedef struct pess_assumption {
    const char *code; /* a fixed word, for programs: "states-from-log" */
    const char *text; /* a sentence, for people; it names no option of any program */
    double values[2]; /* the numbers of the sentence in their order; NAN past the last */
} pess_assumption;

#ifdef __cplusplus
}
#endif
#endif
