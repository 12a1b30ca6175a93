#include "data/json_line.h"

#include "data/names.h"

#include <string.h>

enum { LONGEST_NAME = 1024 };

void pess__json_line_skip_mark(pess__json_line *line) {
    if (line->number != 1 || line->length < 3 || memcmp(line->text, "\xEF\xBB\xBF", 3) != 0) return;
    line->text += 3;
    line->length -= 3;
}

bool pess__json_line_is_blank(const pess__json_line *line) {
    for (size_t i = 0; i < line->length; i++)
        if (line->text[i] != ' ' && line->text[i] != '\t' && line->text[i] != '\r') return false;
    return true;
}

pess_status pess__json_line_parse(const pess__json_line *line, pess__json **json, const pess__json_value **object,
                                  pess_error *error) {
    if (line->text[strspn(line->text, " \t")] == '[')
        return pess__fail(
            error, PESS_INPUT,
            "%s:%lld:1: found a list, expected one object per line: {\"state\": …}; jq -c '.[]' FILE makes "
            "lines of a list",
            line->file, (long long)line->number);
    PESS_TRY(pess__json_parse_again(json, line->text, line->length, line->file, line->number, error));
    *object = pess__json_root(*json);
    if ((*object)->kind == PESS__JSON_OBJECT) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "%s:%lld:1: found a single value, expected one object per line: {\"state\": …}", line->file,
                      (long long)line->number);
}

pess_status pess__json_line_fail(const pess__json_line *line, const char *name, const char *what, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: line %lld, column '%.60s': %s", line->file, (long long)line->number, name,
                      what);
}

/* ---- members */

typedef struct walk {
    const pess__json_line *line;
    pess__json_visit visit;
    void *user;
    char name[LONGEST_NAME];
} walk;

/* `used` bytes of the name are those of the objects around the members: none of them at the top. */
static pess_status walk_members(walk *w, const pess__json_value *object, size_t used, pess_error *error) {
    for (const pess__json_value *member = object->first; member != NULL; member = member->next) {
        const size_t all = used + member->key_length;
        const bool has_members = member->kind == PESS__JSON_OBJECT;
        if (all + 2 > LONGEST_NAME)
            return pess__json_line_fail(w->line, member->key,
                                        "found a name of more than 1000 bytes, expected a shorter one", error);
        if (used > 0 || has_members) memcpy(w->name + used, member->key, member->key_length + 1);
        if (!pess__names_valid(member->key, member->key_length))
            return pess__json_line_fail(w->line, "?", "found a name that is not UTF-8, expected text in UTF-8", error);
        if (has_members) {
            w->name[all] = '.';
            PESS_TRY(walk_members(w, member, all + 1, error));
        } else {
            PESS_TRY(w->visit(w->user, used > 0 ? w->name : member->key, all, member, error));
        }
    }
    return PESS_OK;
}

pess_status pess__json_line_visit(const pess__json_line *line, const pess__json_value *object, pess__json_visit visit,
                                  void *user, pess_error *error) {
    walk w; /* the name needs no zeros */
    w.line = line;
    w.visit = visit;
    w.user = user;
    return walk_members(&w, object, 0, error);
}

/* ---- a row of fields */

static pess_status add_name(void *user, const char *name, size_t length, const pess__json_value *value,
                            pess_error *error) {
    int64_t id = 0;
    (void)value;
    return pess__names_add(user, name, length, &id, error);
}

pess_status pess__json_line_names(const pess__json_line *line, pess__json **json, pess_names *names,
                                  pess_error *error) {
    const pess__json_value *object = NULL;
    PESS_TRY(pess__json_line_parse(line, json, &object, error));
    return pess__json_line_visit(line, object, add_name, names, error);
}

static char not_there[] = "", null[] = "", yes[] = "true", no[] = "false", list[] = "[list]";

typedef struct row {
    const pess__json_line *line;
    const pess_names *names;
    pess__csv_field *fields;
    int64_t next; /* the column that is likely to come next */
} row;

/* Members mostly come in the same order, line after line. */
static int64_t column_of(row *r, const char *name, size_t length) {
    const char *likely = r->next < pess_names_count(r->names) ? pess_names_get(r->names, r->next) : NULL;
    const bool is_it = likely != NULL && strncmp(likely, name, length) == 0 && likely[length] == '\0';
    const int64_t column = is_it ? r->next : pess__names_find(r->names, name, length);
    if (column >= 0) r->next = column + 1;
    return column;
}

static pess_status take_field(void *user, const char *name, size_t length, const pess__json_value *value,
                              pess_error *error) {
    row *r = user;
    const int64_t column = column_of(r, name, length);
    if (column < 0) return PESS_OK;
    pess__csv_field *field = &r->fields[column];
    if (field->text != not_there)
        return pess__json_line_fail(r->line, name, "found it twice in one line, expected it once", error);
    switch (value->kind) {
        case PESS__JSON_NUMBER:
        case PESS__JSON_TEXT:
            field->text = (char *)(uintptr_t)value->text;
            field->length = value->length;
            return PESS_OK;
        case PESS__JSON_BOOL: field->text = value->truth ? yes : no; break;
        case PESS__JSON_ARRAY: field->text = list; break;
        case PESS__JSON_NULL:
        case PESS__JSON_OBJECT: field->text = null; break;
    }
    field->length = strlen(field->text);
    return PESS_OK;
}

/* ---- a row of plain members: numbers, words and texts without escapes, whose fields lie in the line itself. What is
 * anything else, or wrong, is left to the reader of whole documents. The byte behind a line ends every loop. */

static const char *skip_blanks(const char *at) {
    while (*at == ' ' || *at == '\t' || *at == '\r') at++;
    return at;
}

/* The closing quote, from behind the opening one; NULL: not plain. */
static const char *plain_text(const char *at) {
    for (; *at != '"'; at++)
        if (*at == '\\' || (unsigned char)*at < 0x20) return NULL;
    return at;
}

static const char *skip_digits(const char *at) {
    while (*at >= '0' && *at <= '9') at++;
    return at;
}

/* Behind a number without exponent; NULL: not plain. */
static const char *plain_number(const char *begin) {
    enum { LONGEST = 64 };
    const char *whole = begin + (*begin == '-'), *at = skip_digits(whole);
    if (at == whole || (*whole == '0' && at > whole + 1)) return NULL;
    if (*at == '.') {
        const char *fraction = at + 1;
        at = skip_digits(fraction);
        if (at == fraction) return NULL;
    }
    return at - begin <= LONGEST ? at : NULL;
}

static const char *plain_word(const char *at, pess__csv_field *field) {
    static const struct {
        const char *word;
        char *text;
    } words[] = {{"true", yes}, {"false", no}, {"null", null}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t length = strlen(words[i].word);
        if (strncmp(at, words[i].word, length) != 0) continue;
        field->text = words[i].text;
        field->length = strlen(words[i].text);
        return at + length;
    }
    return NULL;
}

/* Behind the value that begins here, which is the field's; NULL: not plain. */
static const char *plain_value(const char *at, pess__csv_field *field) {
    const bool quoted = *at == '"';
    if (*at >= 'a') return plain_word(at, field);
    const char *end = quoted ? plain_text(++at) : plain_number(at);
    if (end == NULL) return NULL;
    field->text = (char *)(uintptr_t)at;
    field->length = (size_t)(end - at);
    return end + quoted;
}

/* Behind the member that begins here; NULL: not plain. */
static const char *plain_member(row *r, const char *at) {
    const char *name = at + 1, *end = *at == '"' ? plain_text(name) : NULL;
    if (end == NULL || end - name > LONGEST_NAME - 2) return NULL;
    at = skip_blanks(end + 1);
    if (*at != ':') return NULL;
    pess__csv_field other = {.text = not_there};
    const int64_t column = column_of(r, name, (size_t)(end - name));
    pess__csv_field *field = column >= 0 ? &r->fields[column] : &other;
    if (field->text != not_there || (column < 0 && !pess__names_valid(name, (size_t)(end - name)))) return NULL;
    return plain_value(skip_blanks(at + 1), field);
}

static bool take_plain_row(row *r) {
    const char *at = skip_blanks(r->line->text);
    if (*at != '{') return false;
    do {
        at = plain_member(r, skip_blanks(at + 1));
        if (at == NULL) return false;
        at = skip_blanks(at);
    } while (*at == ',');
    return *at == '}' && skip_blanks(at + 1) == r->line->text + r->line->length;
}

static row begin_row(const pess__json_line *line, const pess_names *names, pess__csv_field *fields) {
    for (int64_t i = 0; i < pess_names_count(names); i++)
        fields[i] = (pess__csv_field){.text = not_there, .line = line->number, .column = 1};
    return (row){.line = line, .names = names, .fields = fields};
}

pess_status pess__json_line_fields(const pess__json_line *line, pess__json **json, const pess_names *names,
                                   pess__csv_field *fields, pess_error *error) {
    const pess__json_value *object = NULL;
    row r = begin_row(line, names, fields);
    if (take_plain_row(&r)) return PESS_OK;
    r = begin_row(line, names, fields);
    PESS_TRY(pess__json_line_parse(line, json, &object, error));
    return pess__json_line_visit(line, object, take_field, &r, error);
}
