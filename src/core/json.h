/* A strict reader of JSON (RFC 8259) for the files that the library writes itself: whole documents in memory, values in
 * a tree. What is not JSON is refused with line and column. */
#ifndef PESS_CORE_JSON_H
#define PESS_CORE_JSON_H

#include "core/status.h"

typedef enum pess__json_kind {
    PESS__JSON_NULL,
    PESS__JSON_BOOL,
    PESS__JSON_NUMBER,
    PESS__JSON_TEXT,
    PESS__JSON_ARRAY,
    PESS__JSON_OBJECT
} pess__json_kind;

typedef struct pess__json_value {
    pess__json_kind kind;
    bool truth;                /* of true and false */
    const char *key;           /* of a member of an object; else NULL */
    const char *text;          /* of a text: escapes resolved, no zero bytes. Of a number: as it is written */
    size_t key_length, length; /* of key and text, each of which ends with a zero byte */
    const struct pess__json_value *first, *next; /* members of an object or array; the next one beside it */
} pess__json_value;

typedef struct pess__json pess__json;

/* `name` is the file's, for messages. The bytes are not needed afterwards. */
pess_status pess__json_parse(const char *bytes, size_t length, const char *name, pess__json **out, pess_error *error);
/* The same into the memory of an earlier document, or of a new one where *json is NULL; messages count lines from
 * `line`. Where it fails *json is still to be destroyed. */
pess_status pess__json_parse_again(pess__json **json, const char *bytes, size_t length, const char *name, int64_t line,
                                   pess_error *error);
/* A file of at most a megabyte. PESS_IO where it cannot be read. */
pess_status pess__json_read(const char *path, pess__json **out, pess_error *error);
void pess__json_destroy(pess__json *json); /* NULL is fine */
const pess__json_value *pess__json_root(const pess__json *json);

/* The double nearest to a number. */
double pess__json_value_number(const pess__json_value *value);
/* The member of this name; NULL where there is none, or `value` is no object. */
const pess__json_value *pess__json_member(const pess__json_value *value, const char *key);
/* The member of this name and kind. */
const char *pess__json_text(const pess__json_value *value, const char *key);         /* NULL: none */
bool pess__json_number(const pess__json_value *value, const char *key, double *out); /* null gives NAN */
bool pess__json_integer(const pess__json_value *value, const char *key, int64_t *out);

#endif
