/* A line of JSON as a row: an object whose members are the columns; objects within it become columns `outer.inner`. */
#ifndef PESS_DATA_JSON_LINE_H
#define PESS_DATA_JSON_LINE_H

#include "core/json.h"
#include "data/csv_row.h"

typedef struct pess__json_line {
    const char *file; /* for messages */
    int64_t number;   /* of the line, from 1 */
    const char *text; /* without its line feed; a zero byte or a line feed is behind it */
    size_t length;
} pess__json_line;

/* Takes the mark that some programs put before UTF-8 off the first line of a file. */
void pess__json_line_skip_mark(pess__json_line *line);
bool pess__json_line_is_blank(const pess__json_line *line);
/* The object of a line that is not blank, in the memory of *json (pess__json_parse_again). */
pess_status pess__json_line_parse(const pess__json_line *line, pess__json **json, const pess__json_value **object,
                                  pess_error *error);

/* What is done with a member; `name` ends with a zero byte. */
typedef pess_status (*pess__json_visit)(void *user, const char *name, size_t length, const pess__json_value *value,
                                        pess_error *error);
/* Every member that is no object, in the order of the line. */
pess_status pess__json_line_visit(const pess__json_line *line, const pess__json_value *object, pess__json_visit visit,
                                  void *user, pess_error *error);
/* "found WHAT": the message about a member. */
pess_status pess__json_line_fail(const pess__json_line *line, const char *name, const char *what, pess_error *error);

/* The names of the members of a line that is not blank, added to `names`. */
pess_status pess__json_line_names(const pess__json_line *line, pess__json **json, pess_names *names, pess_error *error);
/* The same members as texts, to fields [names]: nothing where there is no such member or it is null. Other members are
 * passed over. The texts lie in the line, or in *json until it is used again; none needs to end with a zero byte. */
pess_status pess__json_line_fields(const pess__json_line *line, pess__json **json, const pess_names *names,
                                   pess__csv_field *fields, pess_error *error);

#endif
