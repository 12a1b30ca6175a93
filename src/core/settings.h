/* Options structs and the tables that describe them (pess/base.h). */
#ifndef PESS_CORE_SETTINGS_H
#define PESS_CORE_SETTINGS_H

#include "core/status.h"

#include <math.h>

/* A row's place in its struct, and the ends of ranges in words. */
#define PESS__FIELD(type, field) .offset = offsetof(type, field)
#define PESS__AT_LEAST(lo) .least = (lo), .most = INFINITY
#define PESS__ABOVE(lo) .least = (lo), .most = INFINITY, .open = PESS_SETTING_ABOVE_LEAST
#define PESS__FROM_TO(lo, hi) .least = (lo), .most = (hi)
#define PESS__BETWEEN(lo, hi) .least = (lo), .most = (hi), .open = PESS_SETTING_ABOVE_LEAST | PESS_SETTING_BELOW_MOST
#define PESS__ANY_NUMBER .least = -INFINITY, .most = INFINITY

#define PESS__SETTING_TABLE(what, type, array)                                                                         \
    { .name = (what), .size = sizeof(type), .rows = (array), .count = sizeof(array) / sizeof((array)[0]) }

/* The row that every table with threads has. */
#define PESS__THREADS_SETTING(type)                                                                                    \
    {                                                                                                                  \
        .name = "threads", .kind = PESS_SETTING_INT, PESS__FIELD(type, threads), .standard = "0",                      \
        PESS__FROM_TO(0, 4096), .argument = "N",                                                                       \
        .sentence = "number of threads, 0 for all; results do not depend on it"                                        \
    }

#define PESS__SEED_SETTING(type, what)                                                                                 \
    {                                                                                                                  \
        .name = "seed", .kind = PESS_SETTING_SEED, PESS__FIELD(type, seed), .standard = "0", .argument = "N",          \
        .sentence = "seed " what                                                                                       \
    }
#define PESS__REWARDS_SETTING(type)                                                                                    \
    {                                                                                                                  \
        .name = "rewards", .kind = PESS_SETTING_CHOICE, PESS__FIELD(type, rewards), .standard = "bernoulli",           \
        .choices = "bernoulli|mean", .sentence = "rewards are 0 or 1, or the mean itself"                              \
    }
/* What is declared of returns reads the same wherever values are bounded. */
#define PESS__RETURN_RANGE_SETTING(type)                                                                               \
    {                                                                                                                  \
        .name = "return-range", .kind = PESS_SETTING_RANGE, PESS__FIELD(type, return_range), PESS__ANY_NUMBER,         \
        .argument = "LO,HI",                                                                                           \
        .sentence = "declare the range of the discounted return, from any state to the end of its episode",            \
        .where_unset = "what rewards and discount allow"                                                               \
    }

/* The public functions of a table. */
#define PESS__SETTINGS_OF(what, setting_table)                                                                         \
    const pess_setting_table *pess_##what##_settings(void) { return &(setting_table); }                                \
    pess_##what##_options pess_##what##_options_defaults(void) {                                                       \
        pess_##what##_options options;                                                                                 \
        pess_setting_defaults(&(setting_table), &options);                                                             \
        return options;                                                                                                \
    }

/* Is the size with which a struct without a table begins the one that this version of the library knows? NULL has none.
 */
pess_status pess__check_struct(const char *what, const void *options, size_t expected, pess_error *error);
/* A copy of the options as the function will use them: defaults for NULL, filled up where the struct is of an earlier
 * version; checked. `settled` is of the table's struct. */
pess_status pess__settle(const pess_setting_table *table, const void *options, void *settled, pess_error *error);

/* The values of several settings, "rate rate-last", with commas between them. */
void pess__setting_values(const pess_setting_table *table, const void *options, const char *names, char *text,
                          size_t size);

enum { PESS__WORD_SIZE = 128 };
/* The next "name=value" of a list of them, with blanks or commas between; *words moves on. A word without "=" has no
 * value: "". Longer ones are cut. False at the end. */
bool pess__setting_word(const char **words, char name[PESS__WORD_SIZE], char value[PESS__WORD_SIZE]);
/* How a setting is called in files and JSON: min-count is min_count. */
void pess__setting_key(const char *name, char *key, size_t size);

#endif
