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
        return pess__fail(error, PESS_INPUT,
                          "%s:%lld:1: found a list, expected an object a line: {\"state\": …}; jq -c '.[]' FILE makes "
                          "lines of a list",
                          line->file, (long long)line->number);
    PESS_TRY(pess__json_parse_again(json, line->text, line->length, line->file, line->number, error));
    *object = pess__json_root(*json);
    if ((*object)->kind == PESS__JSON_OBJECT) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s:%lld:1: found a single value, expected an object a line: {\"state\": …}",
                      line->file, (long long)line->number);
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

/* `used` bytes of the name are those of the objects around the members. */
static pess_status walk_members(walk *w, const pess__json_value *object, size_t used, pess_error *error) {
    for (const pess__json_value *member = object->first; member != NULL; member = member->next) {
        const size_t length = strlen(member->key), all = used + length;
        if (all + 2 > LONGEST_NAME)
            return pess__json_line_fail(w->line, member->key,
                                        "found a name of more than 1000 bytes, expected a shorter one", error);
        memcpy(w->name + used, member->key, length + 1);
        if (!pess__names_valid(w->name, all))
            return pess__json_line_fail(w->line, "?", "found a name that is not UTF-8, expected text in UTF-8", error);
        if (member->kind == PESS__JSON_OBJECT) {
            w->name[all] = '.';
            PESS_TRY(walk_members(w, member, all + 1, error));
        } else {
            PESS_TRY(w->visit(w->user, w->name, all, member, error));
        }
    }
    return PESS_OK;
}

pess_status pess__json_line_visit(const pess__json_line *line, const pess__json_value *object, pess__json_visit visit,
                                  void *user, pess_error *error) {
    walk w = {.line = line, .visit = visit, .user = user};
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
    const int64_t column =
        likely != NULL && strcmp(likely, name) == 0 ? r->next : pess__names_find(r->names, name, length);
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
        case PESS__JSON_TEXT: field->text = (char *)(uintptr_t)value->text; break;
        case PESS__JSON_BOOL: field->text = value->number != 0 ? yes : no; break;
        case PESS__JSON_ARRAY: field->text = list; break;
        case PESS__JSON_NULL:
        case PESS__JSON_OBJECT: field->text = null; break;
    }
    field->length = strlen(field->text);
    return PESS_OK;
}

pess_status pess__json_line_fields(const pess__json_line *line, pess__json **json, const pess_names *names,
                                   pess__csv_field *fields, pess_error *error) {
    const pess__json_value *object = NULL;
    row r = {.line = line, .names = names, .fields = fields};
    for (int64_t i = 0; i < pess_names_count(names); i++)
        fields[i] = (pess__csv_field){.text = not_there, .line = line->number, .column = 1};
    PESS_TRY(pess__json_line_parse(line, json, &object, error));
    return pess__json_line_visit(line, object, take_field, &r, error);
}
