/* JSON, written as it goes (pess/json.h). */
#include "core/json_writer.h"

#include "core/settings.h"
#include "core/text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

pess_json_writer pess_json_begin(pess_json_sink sink, pess_json_style style) {
    pess_json_writer json; /* the piece needs no zeros */
    json.sink = sink;
    json.style = style;
    json.depth = 0;
    json.level[0].bracket = '\0';
    json.level[0].row = false;
    json.level[0].empty = true;
    json.held = 0;
    return json;
}

static void write_to_file(void *to, const char *text, size_t length) { pess__outfile_write(to, text, length); }

pess_json_writer pess__json_begin(pess__outfile *file, pess_json_style style) {
    return pess_json_begin((pess_json_sink){write_to_file, file}, style);
}

/* ---- pieces */

static void flush(pess_json_writer *json) {
    if (json->held > 0) json->sink.write(json->sink.to, json->piece, json->held);
    json->held = 0;
}

static inline void put_byte(pess_json_writer *json, char byte) {
    if (json->held == sizeof json->piece) flush(json);
    json->piece[json->held++] = byte;
}

static void put_bytes(pess_json_writer *json, const char *text, size_t length) {
    for (size_t part = 0; length > 0; text += part, length -= part) {
        const size_t room = sizeof json->piece - json->held;
        part = length < room ? length : room;
        memcpy(json->piece + json->held, text, part);
        json->held += part;
        if (part == room) flush(json);
    }
}

static void put(pess_json_writer *json, const char *text) { put_bytes(json, text, strlen(text)); }

/* A value at the top goes out when it is whole. */
static void after_value(pess_json_writer *json) {
    if (json->depth == 0) flush(json);
}

/* ---- layout */

static bool on_one_line(const pess_json_writer *json) {
    return json->style != PESS_JSON_INDENTED || json->level[json->depth].row;
}

static void break_line(pess_json_writer *json) {
    if (json->depth == 0 && json->level[0].empty) return;
    put(json, "\n");
    for (int i = 0; i < json->depth; i++) put(json, "  ");
}

/* Most letters lie behind the last of them. */
static inline bool needs_escape(bool in_page, unsigned char byte) {
    return byte <= '\\' && (byte == '\\' || byte == '"' || byte < 0x20 || (byte == '<' && in_page));
}

/* Bytes that stand for themselves, as many as there is room for; the zero at the end of a text does not. */
static const char *put_plain_bytes(pess_json_writer *json, const char *text) {
    const bool in_page = json->style == PESS_JSON_PACKED;
    char *to = json->piece + json->held;
    const char *const end = json->piece + sizeof json->piece;
    while (to < end && !needs_escape(in_page, (unsigned char)*text)) *to++ = *text++;
    json->held = (size_t)(to - json->piece);
    return text;
}

/* Escaped as JSON asks for, and "<" where the text stands in a page: "</script>" would end it. */
static void put_quoted(pess_json_writer *json, const char *text) {
    put_byte(json, '"');
    while (*(text = put_plain_bytes(json, text)) != '\0') {
        char escape[8];
        if (json->held == sizeof json->piece) {
            flush(json);
            continue;
        }
        const unsigned char byte = (unsigned char)*text++;
        (void)snprintf(escape, sizeof escape, byte == '"' || byte == '\\' ? "\\%c" : "\\u%04x", byte);
        put(json, escape);
    }
    put_byte(json, '"');
}

/* Comma, line break and key, whatever value follows. */
static void before_value(pess_json_writer *json, const char *key) {
    const bool packed = json->style == PESS_JSON_PACKED, line = on_one_line(json);
    if (!json->level[json->depth].empty) {
        put_byte(json, ',');
        if (line && !packed) put_byte(json, ' ');
    }
    if (!line && json->depth > 0) break_line(json);
    json->level[json->depth].empty = false;
    if (key == NULL) return;
    put_quoted(json, key);
    put_byte(json, ':');
    if (!packed) put_byte(json, ' ');
}

/* ---- objects and arrays */

static void open_level(pess_json_writer *json, const char *key, const char *brackets, bool row) {
    assert(json->depth + 1 < PESS_JSON_DEPTH);
    before_value(json, key);
    put_byte(json, brackets[0]);
    row = row || on_one_line(json);
    json->depth++;
    json->level[json->depth].bracket = brackets[1];
    json->level[json->depth].empty = true;
    json->level[json->depth].row = row;
}

void pess_json_open_object(pess_json_writer *json, const char *key) { open_level(json, key, "{}", false); }
void pess_json_open_array(pess_json_writer *json, const char *key) { open_level(json, key, "[]", false); }
void pess_json_open_row(pess_json_writer *json, const char *key) { open_level(json, key, "{}", true); }

void pess_json_close(pess_json_writer *json) {
    assert(json->depth > 0);
    const bool broken = !json->level[json->depth].empty && !on_one_line(json);
    const char closing = json->level[json->depth].bracket;
    json->depth--;
    if (broken) break_line(json);
    put_byte(json, closing);
    after_value(json);
}

void pess_json_end(pess_json_writer *json) {
    put_byte(json, '\n');
    flush(json);
}

/* ---- values */

static void put_plain(pess_json_writer *json, const char *key, const char *value) {
    before_value(json, key);
    put(json, value);
    after_value(json);
}

void pess_json_put_null(pess_json_writer *json, const char *key) { put_plain(json, key, "null"); }

void pess_json_put_bool(pess_json_writer *json, const char *key, bool value) {
    put_plain(json, key, value ? "true" : "false");
}

void pess_json_put_text(pess_json_writer *json, const char *key, const char *value) {
    before_value(json, key);
    if (value == NULL)
        put(json, "null");
    else
        put_quoted(json, value);
    after_value(json);
}

void pess_json_put_number(pess_json_writer *json, const char *key, double value) {
    char text[PESS__NUMBER_SIZE] = "null";
    if (isfinite(value)) (void)pess__format_double(value, text);
    put_plain(json, key, text);
}

void pess_json_put_count(pess_json_writer *json, const char *key, int64_t value) {
    char text[24], *first = text + sizeof text - 1;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *first = '\0';
    do *--first = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0) *--first = '-';
    put_plain(json, key, first);
}

void pess_json_put_seed(pess_json_writer *json, const char *key, uint64_t value) {
    char text[24];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    put_plain(json, key, text);
}

void pess_json_put_setting(pess_json_writer *json, const pess_setting_table *table, const void *options,
                           const char *name) {
    const pess_setting *setting = pess_setting_find(table, name);
    char key[PESS__WORD_SIZE], text[1000];
    if (setting == NULL) return;
    pess__setting_key(name, key, sizeof key);
    pess_setting_get(table, options, name, text, sizeof text);
    if (text[0] == '\0') {
        pess_json_put_null(json, key);
        return;
    }
    switch (setting->kind) {
        case PESS_SETTING_SWITCH: pess_json_put_bool(json, key, strcmp(text, "on") == 0); break;
        case PESS_SETTING_INT:
        case PESS_SETTING_COUNT:
        case PESS_SETTING_SEED:
        case PESS_SETTING_NUMBER: put_plain(json, key, text); break;
        case PESS_SETTING_RANGE:
        case PESS_SETTING_PAIR:
        case PESS_SETTING_TEXT:
        case PESS_SETTING_CHOICE: pess_json_put_text(json, key, text); break;
    }
}
