#include "json.h"

#include "pess.h"

#include <math.h>
#include <stdlib.h>

json_writer json_begin(FILE *stream, bool compact) {
    return (json_writer){.stream = stream, .compact = compact, .first = {true}};
}

json_writer json_open(const char *command) {
    json_writer json = json_begin(stdout, false);
    json_object(&json, NULL);
    json_count(&json, "schema", 1); /* docs/json.md says what is in it */
    json_text(&json, "command", command);
    json_text(&json, "version", pess_build());
    return json;
}

static void indent(json_writer *json) {
    if (json->compact) return;
    (void)fputc('\n', json->stream);
    for (int i = 0; i < json->depth; i++) (void)fputs("  ", json->stream);
}

static void write_text(json_writer *json, const char *text) {
    (void)fputc('"', json->stream);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            (void)fprintf(json->stream, "\\%c", *c);
        else if (*c < 0x20)
            (void)fprintf(json->stream, "\\u%04x", *c);
        else
            (void)fputc(*c, json->stream);
    }
    (void)fputc('"', json->stream);
}

/* Comma, line break and key, whatever value follows. */
static void before_value(json_writer *json, const char *key) {
    if (!json->first[json->depth]) (void)fputs(json->compact ? ", " : ",", json->stream);
    json->first[json->depth] = false;
    if (json->depth > 0) indent(json);
    if (key != NULL) {
        write_text(json, key);
        (void)fputs(": ", json->stream);
    }
}

static void open_level(json_writer *json, const char *key, char bracket) {
    before_value(json, key);
    (void)fputc(bracket, json->stream);
    if (json->depth + 1 < (int)(sizeof json->first / sizeof json->first[0])) json->depth++;
    json->first[json->depth] = true;
}

void json_object(json_writer *json, const char *key) { open_level(json, key, '{'); }
void json_array(json_writer *json, const char *key) { open_level(json, key, '['); }

void json_close(json_writer *json, char bracket) {
    const bool empty = json->first[json->depth];
    json->depth--;
    if (!empty) indent(json);
    (void)fputc(bracket, json->stream);
}

void json_text(json_writer *json, const char *key, const char *value) {
    before_value(json, key);
    if (value == NULL)
        (void)fputs("null", json->stream);
    else
        write_text(json, value);
}

void json_number(json_writer *json, const char *key, double value) {
    before_value(json, key);
    if (!isfinite(value)) {
        (void)fputs("null", json->stream);
        return;
    }
    char text[40];
    for (int precision = 15; precision <= 17; precision++) {
        (void)snprintf(text, sizeof text, "%.*g", precision, value);
        if (strtod(text, NULL) == value) break;
    }
    (void)fputs(text, json->stream);
}

void json_count(json_writer *json, const char *key, int64_t value) {
    before_value(json, key);
    (void)fprintf(json->stream, "%lld", (long long)value);
}

void json_seed(json_writer *json, const char *key, uint64_t value) {
    before_value(json, key);
    (void)fprintf(json->stream, "%llu", (unsigned long long)value);
}

void json_bool(json_writer *json, const char *key, bool value) {
    before_value(json, key);
    (void)fputs(value ? "true" : "false", json->stream);
}

void json_horizon(json_writer *json, int64_t horizon) {
    if (horizon > 0)
        json_count(json, "horizon", horizon);
    else
        json_text(json, "horizon", NULL);
}

void json_end(json_writer *json) {
    (void)fputc('\n', json->stream);
    (void)fflush(json->stream);
}
