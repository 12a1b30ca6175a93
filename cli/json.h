/* What commands print under --json: the object that every one of them begins with, and short names for the library's
 * writer (pess/json.h). */
#ifndef PESS_CLI_JSON_H
#define PESS_CLI_JSON_H

#include "pess.h"

typedef pess_json_writer json_writer;

/* On standard output, the top object begun: {"schema": 2, "command": …, "version": …, "build": … */
json_writer json_open(const char *command);
/* "horizon": null where there is none. */
void json_horizon(json_writer *json, int64_t horizon);
json_writer json_open_line(const char *command); /* the same on one line, for JSON lines */
void json_end(json_writer *json);                /* final newline and flush */

static inline void json_object(json_writer *json, const char *key) { pess_json_open_object(json, key); }
static inline void json_array(json_writer *json, const char *key) { pess_json_open_array(json, key); }
static inline void json_close(json_writer *json) { pess_json_close(json); }
static inline void json_text(json_writer *json, const char *key, const char *value) {
    pess_json_put_text(json, key, value);
}
static inline void json_number(json_writer *json, const char *key, double value) {
    pess_json_put_number(json, key, value);
}
static inline void json_count(json_writer *json, const char *key, int64_t value) {
    pess_json_put_count(json, key, value);
}
static inline void json_seed(json_writer *json, const char *key, uint64_t value) {
    pess_json_put_seed(json, key, value);
}
static inline void json_bool(json_writer *json, const char *key, bool value) { pess_json_put_bool(json, key, value); }

#endif
