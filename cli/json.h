/* JSON for machines, written as it goes: shortest numbers that read back the same, null for what is not finite. */
#ifndef PESS_CLI_JSON_H
#define PESS_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json_writer {
    FILE *stream;
    int depth;
    bool compact;   /* one line, for JSON lines */
    bool first[16]; /* nothing written yet at this depth */
} json_writer;

json_writer json_begin(FILE *stream, bool compact);
/* On standard output, the top object begun: {"schema": 1, "command": …, "version": … */
json_writer json_open(const char *command);
void json_object(json_writer *json, const char *key); /* key NULL inside arrays and at the top */
void json_array(json_writer *json, const char *key);
void json_close(json_writer *json, char bracket);                      /* '}' or ']' */
void json_text(json_writer *json, const char *key, const char *value); /* NULL gives null */
void json_number(json_writer *json, const char *key, double value);
void json_count(json_writer *json, const char *key, int64_t value);
void json_seed(json_writer *json, const char *key, uint64_t value);
void json_bool(json_writer *json, const char *key, bool value);
/* "horizon": null where there is none. */
void json_horizon(json_writer *json, int64_t horizon);
void json_end(json_writer *json); /* final newline and flush */

#endif
