/* Pessimist: JSON, written as it goes. What the command line prints and what experiments and trainings keep is written
 * by these functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_JSON_H
#define PESS_JSON_H

#include "pess/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pess_json_style {
    PESS_JSON_INDENTED, /* a member a line */
    PESS_JSON_LINE,     /* everything on one line: JSON lines */
    PESS_JSON_PACKED    /* without blanks, and safe inside a script of a page */
} pess_json_style;

enum {
    PESS_JSON_DEPTH = 16, /* objects and arrays inside one another */
    PESS_JSON_PIECE = 512 /* bytes that go to the sink at once */
};

/* Where the text goes, in pieces, at the latest when the value at the top is whole. A failure is the sink's to keep. */
typedef struct pess_json_sink {
    void (*write)(void *to, const char *text, size_t length);
    void *to;
} pess_json_sink;

/* The writer is the caller's; its members are not. */
typedef struct pess_json_writer {
    pess_json_sink sink;
    pess_json_style style;
    int depth;
    struct {
        char bracket; /* that closes it */
        bool empty, row;
    } level[PESS_JSON_DEPTH];
    size_t held; /* bytes that have not gone to the sink */
    char piece[PESS_JSON_PIECE];
} pess_json_writer;

/* A writer at the beginning of a document. */
PESS_API pess_json_writer pess_json_begin(pess_json_sink sink, pess_json_style style);
/* Every value has a key inside objects, and NULL for one inside arrays and at the top. */
PESS_API void pess_json_open_object(pess_json_writer *json, const char *key);
/* A list of values. */
PESS_API void pess_json_open_array(pess_json_writer *json, const char *key);
/* An object that stays on one line though the members around it are indented. */
PESS_API void pess_json_open_row(pess_json_writer *json, const char *key);
PESS_API void pess_json_close(pess_json_writer *json);                                        /* what was opened last */
PESS_API void pess_json_put_text(pess_json_writer *json, const char *key, const char *value); /* NULL: null */
/* The shortest text that reads back the same; null where it is not finite. */
PESS_API void pess_json_put_number(pess_json_writer *json, const char *key, double value);
/* A whole number. */
PESS_API void pess_json_put_count(pess_json_writer *json, const char *key, int64_t value);
/* One without a sign. */
PESS_API void pess_json_put_seed(pess_json_writer *json, const char *key, uint64_t value);
/* true or false. */
PESS_API void pess_json_put_bool(pess_json_writer *json, const char *key, bool value);
/* null. */
PESS_API void pess_json_put_null(pess_json_writer *json, const char *key);
/* A setting under its key ("min-count" is min_count): numbers as numbers, switches as true and false, null where it is
 * not set. */
PESS_API void pess_json_put_setting(pess_json_writer *json, const pess_setting_table *table, const void *options,
                                    const char *name);
PESS_API void pess_json_end(pess_json_writer *json); /* the line feed behind the document */

#ifdef __cplusplus
}
#endif
#endif
