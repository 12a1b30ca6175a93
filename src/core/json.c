#include "core/json.h"

#include "core/memory.h"
#include "core/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_LIMIT = 64, FILE_LIMIT = 1 << 20, FIRST_VALUES = 1024, LONGEST_NUMBER = 399 };

struct pess__json {
    pess__json_value *values; /* values[0] is the root */
    char *texts;              /* all texts, each ended by a zero byte */
    int64_t value_capacity, text_capacity;
};

typedef struct parser {
    const char *name, *begin, *at, *end;
    int64_t line; /* of begin */
    pess__json *json;
    int64_t used, text_used;
    pess_error *error;
} parser;

/* ---- messages */

static pess_status fail(const parser *p, const char *expected) {
    int64_t line = p->line, column = 1;
    for (const char *c = p->begin; c < p->at; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    char found[24] = "the end";
    const unsigned char byte = p->at < p->end ? (unsigned char)*p->at : 0;
    if (p->at < p->end) (void)snprintf(found, sizeof found, byte >= 0x20 && byte < 0x7f ? "'%c'" : "byte 0x%02x", byte);
    return pess__fail(p->error, PESS_INPUT, "%s:%lld:%lld: found %s, expected %s", p->name, (long long)line,
                      (long long)column, found, expected);
}

/* ---- pieces */

static void skip_space(parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r')) p->at++;
}

static bool take(parser *p, char c) {
    if (p->at == p->end || *p->at != c) return false;
    p->at++;
    return true;
}

static bool take_word(parser *p, const char *word) {
    const size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0) return false;
    p->at += length;
    return true;
}

static bool take_digits(parser *p) {
    const char *begin = p->at, *at = begin;
    while (at < p->end && *at >= '0' && *at <= '9') at++;
    p->at = at;
    return at > begin;
}

static void put(parser *p, unsigned byte) { p->json->texts[p->text_used++] = (char)byte; }

/* ---- texts. What an escape becomes is never longer than itself, so that `texts` has room. */

static bool take_hex(parser *p, uint32_t *out) {
    *out = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        const char c = p->at < p->end ? *p->at : '\0';
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) return false;
        *out = *out * 16 + (uint32_t)digit;
    }
    return true;
}

/* UTF-8 of a code point below 0x110000. */
static void put_code(parser *p, uint32_t code) {
    if (code < 0x80) {
        put(p, code);
    } else if (code < 0x800) {
        put(p, 0xc0 | code >> 6);
        put(p, 0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        put(p, 0xe0 | code >> 12);
        put(p, 0x80 | (code >> 6 & 0x3f));
        put(p, 0x80 | (code & 0x3f));
    } else {
        put(p, 0xf0 | code >> 18);
        put(p, 0x80 | (code >> 12 & 0x3f));
        put(p, 0x80 | (code >> 6 & 0x3f));
        put(p, 0x80 | (code & 0x3f));
    }
}

/* Behind "\u": one unit, or two that are a pair. */
static pess_status parse_code(parser *p) {
    uint32_t code = 0, low = 0;
    if (!take_hex(p, &code)) return fail(p, "four hexadecimal digits");
    if (code == 0 || (code >= 0xdc00 && code < 0xe000)) return fail(p, "the number of a character");
    if (code >= 0xd800 && code < 0xdc00) {
        if (!take_word(p, "\\u") || !take_hex(p, &low) || low < 0xdc00 || low >= 0xe000)
            return fail(p, "the second half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    put_code(p, code);
    return PESS_OK;
}

static pess_status parse_escape(parser *p) {
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    if (take(p, 'u')) return parse_code(p);
    const char *name = p->at < p->end && *p->at != '\0' ? strchr(names, *p->at) : NULL;
    if (name == NULL) return fail(p, "an escape");
    p->at++;
    put(p, (unsigned char)bytes[name - names]);
    return PESS_OK;
}

/* Bytes that stand for themselves. */
static void take_plain(parser *p) {
    const char *at = p->at, *const end = p->end;
    char *to = p->json->texts + p->text_used;
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20) *to++ = *at++;
    p->text_used = to - p->json->texts;
    p->at = at;
}

static pess_status parse_text(parser *p, const char **out, size_t *length) {
    *out = p->json->texts + p->text_used;
    if (!take(p, '"')) return fail(p, "a text in quotes");
    for (take_plain(p); !take(p, '"'); take_plain(p)) {
        if (!take(p, '\\')) return fail(p, "the end of a text");
        PESS_TRY(parse_escape(p));
    }
    *length = (size_t)(p->json->texts + p->text_used - *out);
    put(p, 0);
    return PESS_OK;
}

/* ---- values */

/* As it is written: pess__json_value_number makes a double of it where one is asked for. */
static pess_status parse_number(parser *p, pess__json_value *value) {
    const char *begin = p->at;
    (void)take(p, '-');
    if (!take(p, '0') && !take_digits(p)) return fail(p, "a value");
    if (take(p, '.') && !take_digits(p)) return fail(p, "a digit");
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        p->at++;
        if (!take(p, '+')) (void)take(p, '-');
        if (!take_digits(p)) return fail(p, "a digit");
    }
    value->kind = PESS__JSON_NUMBER;
    value->text = p->json->texts + p->text_used;
    value->length = (size_t)(p->at - begin);
    if (value->length > LONGEST_NUMBER) return fail(p, "a number");
    memcpy(p->json->texts + p->text_used, begin, value->length);
    p->text_used += (int64_t)value->length;
    put(p, 0);
    return PESS_OK;
}

static pess_status parse_value(parser *p, pess__json_value *value, int depth);

/* The members between brackets: with keys, or without. */
static pess_status parse_members(parser *p, pess__json_value *value, bool keys, int depth) {
    const char close = keys ? '}' : ']';
    const pess__json_value **link = &value->first;
    if (depth == DEPTH_LIMIT) return fail(p, "brackets that are nested less deeply");
    skip_space(p);
    if (take(p, close)) return PESS_OK;
    do {
        pess__json_value *member = &p->json->values[p->used++];
        *member = (pess__json_value){0};
        *link = member;
        link = &member->next;
        skip_space(p);
        if (keys) {
            PESS_TRY(parse_text(p, &member->key, &member->key_length));
            skip_space(p);
            if (!take(p, ':')) return fail(p, "':'");
        }
        PESS_TRY(parse_value(p, member, depth + 1));
        skip_space(p);
    } while (take(p, ','));
    return take(p, close) ? PESS_OK : fail(p, keys ? "',' or '}'" : "',' or ']'");
}

static pess_status parse_word(parser *p, pess__json_value *value) {
    value->truth = take_word(p, "true");
    if (value->truth || take_word(p, "false"))
        value->kind = PESS__JSON_BOOL;
    else if (!take_word(p, "null"))
        return fail(p, "a value");
    return PESS_OK;
}

static pess_status parse_value(parser *p, pess__json_value *value, int depth) {
    skip_space(p);
    switch (p->at < p->end ? *p->at : '\0') {
        case 't':
        case 'f':
        case 'n': return parse_word(p, value);
        case '{':
            p->at++;
            value->kind = PESS__JSON_OBJECT;
            return parse_members(p, value, true, depth);
        case '[':
            p->at++;
            value->kind = PESS__JSON_ARRAY;
            return parse_members(p, value, false, depth);
        case '"': value->kind = PESS__JSON_TEXT; return parse_text(p, &value->text, &value->length);
        default: return parse_number(p, value);
    }
}

/* Every value but the first stands behind a comma or an opening bracket: they are counted where there is not room for
 * one a byte. A text or number takes at most its own bytes and a zero. */
static pess_status allocate(pess__json *json, const char *bytes, size_t length, pess_error *error) {
    int64_t values = 1;
    for (size_t i = 0; (int64_t)length >= json->value_capacity && i < length; i++)
        values += bytes[i] == ',' || bytes[i] == '{' || bytes[i] == '[';
    if (values < FIRST_VALUES) values = FIRST_VALUES;
    PESS_TRY(pess__grow(&json->values, &json->value_capacity, values, sizeof *json->values, "a JSON document", error));
    return pess__grow(&json->texts, &json->text_capacity, 2 * (int64_t)length + 2, 1, "a JSON document", error);
}

pess_status pess__json_parse_again(pess__json **json, const char *bytes, size_t length, const char *name, int64_t line,
                                   pess_error *error) {
    if (*json == NULL) PESS_TRY(pess__allocate(json, 1, sizeof **json, "a JSON document", error));
    PESS_TRY(allocate(*json, bytes, length, error));
    parser p = {.name = name,
                .begin = bytes,
                .at = bytes,
                .end = bytes + length,
                .line = line,
                .json = *json,
                .used = 1,
                .error = error};
    (*json)->values[0] = (pess__json_value){0};
    PESS_TRY(parse_value(&p, &(*json)->values[0], 0));
    skip_space(&p);
    return p.at < p.end ? fail(&p, "the end") : PESS_OK;
}

pess_status pess__json_parse(const char *bytes, size_t length, const char *name, pess__json **out, pess_error *error) {
    pess__json *json = NULL;
    const pess_status status = pess__json_parse_again(&json, bytes, length, name, 1, error);
    if (status == PESS_OK)
        *out = json;
    else
        pess__json_destroy(json);
    return status;
}

pess_status pess__json_read(const char *path, pess__json **out, pess_error *error) {
    char *bytes = NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL) return pess__fail(error, PESS_IO, "%s: cannot be read: %s", path, strerror(errno));
    pess_status status = pess__allocate(&bytes, FILE_LIMIT + 1, 1, "a JSON document", error);
    const size_t length = status == PESS_OK ? fread(bytes, 1, FILE_LIMIT + 1, file) : 0;
    if (status == PESS_OK && ferror(file) != 0) status = pess__fail(error, PESS_IO, "%s: cannot be read", path);
    if (status == PESS_OK && length > FILE_LIMIT)
        status = pess__fail(error, PESS_INPUT, "%s: is larger than a megabyte", path);
    (void)fclose(file);
    if (status == PESS_OK) status = pess__json_parse(bytes, length, path, out, error);
    free(bytes);
    return status;
}

void pess__json_destroy(pess__json *json) {
    if (json == NULL) return;
    free(json->values);
    free(json->texts);
    free(json);
}

/* ---- looking things up */

const pess__json_value *pess__json_root(const pess__json *json) { return &json->values[0]; }

double pess__json_value_number(const pess__json_value *value) {
    double number = NAN;
    (void)pess__parse_double(value->text, value->text + value->length, &number);
    return number;
}

const pess__json_value *pess__json_member(const pess__json_value *value, const char *key) {
    if (value == NULL || value->kind != PESS__JSON_OBJECT) return NULL;
    for (const pess__json_value *member = value->first; member != NULL; member = member->next)
        if (strcmp(member->key, key) == 0) return member;
    return NULL;
}

const char *pess__json_text(const pess__json_value *value, const char *key) {
    const pess__json_value *member = pess__json_member(value, key);
    return member != NULL && member->kind == PESS__JSON_TEXT ? member->text : NULL;
}

bool pess__json_number(const pess__json_value *value, const char *key, double *out) {
    const pess__json_value *member = pess__json_member(value, key);
    if (member == NULL || (member->kind != PESS__JSON_NUMBER && member->kind != PESS__JSON_NULL)) return false;
    *out = member->kind == PESS__JSON_NULL ? NAN : pess__json_value_number(member);
    return true;
}

bool pess__json_integer(const pess__json_value *value, const char *key, int64_t *out) {
    const pess__json_value *member = pess__json_member(value, key);
    return member != NULL && member->kind == PESS__JSON_NUMBER &&
           pess__parse_int64(member->text, member->text + member->length, out);
}
