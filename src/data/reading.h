/* A reading: which columns of a log play which roles, and how its text is written. It begins with what the caller
 * declares, in options or in a reading file, and is completed when the columns of the log are known. */
#ifndef PESS_DATA_READING_H
#define PESS_DATA_READING_H

#include "data/csv_row.h"
#include "data/stream.h"

#include <stdatomic.h>

enum { PESS__MOST_PARTS = 16 };

/* Stands between the values of several columns that are one state or action. */
#define PESS__JOINT '|'

typedef enum pess__missing_kind { PESS__MISSING_REFUSE, PESS__MISSING_DROP, PESS__MISSING_VALUE } pess__missing_kind;

typedef struct pess__missing_rule {
    pess__missing_kind kind;
    char *value; /* what stands in for it */
} pess__missing_rule;

/* Rows in which a role has no value, and the first of them. */
typedef struct pess__missing_rows {
    int64_t rows, line, column;
} pess__missing_rows;

typedef struct pess__declared {
    bool given; /* also where it is declared to have no column */
    int count;
    char *names[PESS__MOST_PARTS];
} pess__declared;

typedef struct pess__used_column {
    char *name;
    uint8_t role;      /* pess__role */
    uint8_t suggested; /* of an ignored column: the role that it may play, or PESS__ROLE_IGNORED */
    uint8_t use;       /* pess_column_use */
} pess__used_column;

struct pess_reading {
    /* as declared */
    pess_read_options options; /* its texts are the reading's own */
    char *file_text;           /* of the reading file */
    pess__declared declared[PESS__ROLES];
    pess__missing_rule missing[PESS__ROLES];
    /* as found */
    pess__used_column *used;                          /* [info.columns] */
    int parts[PESS__ROLES];                           /* how many columns play the role; 0: none */
    int64_t column_of[PESS__ROLES][PESS__MOST_PARTS]; /* which */
    bool any_roles;                                   /* none has to be there */
    bool counted;                                     /* rows stand for several transitions */
    bool cutoff_wins;                                 /* `done` is also set where an episode was cut off */
    pess__missing_rows missing_rows[PESS__ROLES];     /* that are refused or dropped */
    pess_reading_info info;
    char *column_text, *missing_text; /* options that make the reading explicit */
    atomic_int sharers;               /* how many hold it beside the first */
};

/* Copies what it needs of the options, which are settled. */
pess_status pess__reading_create(const pess_read_options *options, pess_reading **out, pess_error *error);
void pess__reading_destroy(pess_reading *reading);        /* NULL is fine; those who share it go on */
pess_reading *pess__reading_share(pess_reading *reading); /* to be destroyed once more; NULL is fine */

/* Gives the columns of `file` their roles. Names have a line where they stand in a text, and line 0 elsewhere. A column
 * that must be there and is not, two columns for one role, or a declared one that is not there: PESS_INPUT. */
pess_status pess__reading_assign(pess_reading *reading, const char *file, const pess__csv_field *names, int64_t count,
                                 pess_error *error);
/* Where any_roles was set: refuses now what a log of states cannot do without. */
pess_status pess__reading_require(pess_reading *reading, const char *file, pess_error *error);
/* Writes the texts of pess_reading_options; called when the columns have their roles. */
pess_status pess__reading_explain(pess_reading *reading, pess_error *error);
/* Whether the log is to be seen as a whole before its rows are known: their next states or ends are told by others. */
bool pess__reading_needs_all_rows(const pess_reading *reading);
/* PESS_ARGUMENT where something is declared about the columns of a log that has none with names. */
pess_status pess__reading_check_unused(const pess_reading *reading, const char *file, pess_error *error);
/* PESS_INPUT where rows with missing values are to be refused and there are some. */
pess_status pess__reading_check_missing(const pess_reading *reading, const char *file, int64_t rows, pess_error *error);

/* Of the names that everybody uses, `done` is also set where an episode was cut off. */
enum { PESS__RANK_OF_DONE = 3 };

/* The role of a column of this name where nothing is declared, and how good a sign the name is: 0 is the role's own
 * name, then larger. PESS__ROLE_IGNORED: none. */
pess__role pess__role_of_name(const char *name, size_t length, int *rank);
/* The role that a column that nobody asked for may play, to ask about: patients are often episodes. */
pess__role pess__role_suggested(const char *name, size_t length);
pess__role pess__role_called(const char *name, size_t length); /* by its own name */

/* ---- values as text */

/* Empty, NA, N/A, NaN, null or None. */
bool pess__is_missing(const char *text, size_t length);
/* 0, 1, true, false, t, f, 0.0, 1.0 or nothing. */
bool pess__flag_of(const char *text, size_t length, bool *flag);
/* A finite number, with a decimal point or comma. */
bool pess__number_of(bool decimal_comma, const char *begin, const char *end, double *out);
/* An integer, also with decimals that are zero: "7", "-7", "7.0". */
bool pess__whole_of(bool decimal_comma, const char *begin, const char *end, int64_t *out);
bool pess__step_of(pess_step_unit unit, bool decimal_comma, const char *begin, const char *end, int64_t *out);
/* The length of an id without decimals that are zero: 1 of "7.0". */
size_t pess__id_length(const pess__csv_field *field);
/* The values of the columns of a role in one text, in *text until the next call. False: no memory. */
bool pess__join(const pess__csv_field *fields, const pess_reading *reading, pess__role role, char **text,
                int64_t *capacity, size_t *length);
/* ISO 8601, "2024-05-17", "2024-05-17T08:30", "2024-05-17 08:30:15.5+02:00", in microseconds since 1970-01-01T00:00Z.
 */
bool pess__parse_time(const char *text, size_t length, int64_t *micros);

#endif
