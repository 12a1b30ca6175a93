/* Which column of a log plays which role: declared ones, those called as the role is, those that everybody calls so. */
#include "core/memory.h"
#include "core/text.h"
#include "data/latin1.h"
#include "data/names.h"
#include "data/reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns of a log while they get their roles. */
typedef struct header {
    pess_reading *reading;
    const char *file;
    const pess__csv_field *names; /* [count] */
    int64_t count;
} header;

/* ---- messages */

/* "file:line:column: " where the names stand in a text, else "file: ". */
static void place_of(const header *h, int64_t column, char text[500]) {
    if (h->count == 0 || h->names[column].line == 0)
        (void)snprintf(text, 500, "%.400s", h->file);
    else
        (void)snprintf(text, 500, "%.400s:%lld:%lld", h->file, (long long)h->names[column].line,
                       (long long)h->names[column].column);
}

static const char *shown(const header *h, int64_t column, char buffer[PESS__SHOWN_SIZE]) {
    return pess__shown(h->names[column].text, h->names[column].length, buffer);
}

static void list_columns(const header *h, char text[400]) {
    size_t used = 0;
    enum { MOST = 12 };
    text[0] = '\0';
    for (int64_t i = 0; i < h->count && i < MOST && used + PESS__SHOWN_SIZE + 8 < 400; i++) {
        char buffer[PESS__SHOWN_SIZE];
        used += (size_t)snprintf(text + used, 400 - used, "%s%s", i > 0 ? ", " : "", shown(h, i, buffer));
    }
    if (h->count > MOST && used + 10 < 400) (void)snprintf(text + used, 400 - used, ", …");
}

static pess_status no_such_column(const header *h, pess__role role, const char *name, pess_error *error) {
    char list[400], place[500], value[100];
    list_columns(h, list);
    place_of(h, 0, place);
    const pess_status status =
        pess__fail(error, PESS_INPUT, "%s: found no column '%.100s' among %s; expected the one declared as %s", place,
                   name, list, pess__role_name[role]);
    (void)snprintf(value, sizeof value, "%s=NAME", pess__role_name[role]);
    return pess__fail_with_remedy(error, status, "column", value);
}

/* Another separator in the header hints at a file that mixes them. */
static const char *mixed_separators(const header *h) {
    for (int64_t i = 0; i < h->count; i++) {
        const pess__csv_field *name = &h->names[i];
        if (name->line > 0 && h->count > 1 && memchr(name->text, ';', name->length) != NULL)
            return ". The line holds ';' too: it mixes separators";
        if (name->line > 0 && h->count > 1 && memchr(name->text, '\t', name->length) != NULL)
            return ". The line holds tabs too: it mixes separators";
    }
    return "";
}

/* The column of the role's name was declared to play another one; NULL: it was not. */
static const char *declared_otherwise(const header *h, pess__role role) {
    const pess__used_column *used = h->reading->used;
    for (int64_t i = 0; i < h->count; i++)
        if (used[i].use == PESS_COLUMN_DECLARED && strcmp(used[i].name, pess__role_name[role]) == 0)
            return pess__role_name[used[i].role];
    return NULL;
}

static pess_status role_missing(const header *h, pess__role role, pess_error *error) {
    char list[400], place[500], value[100];
    const char *other = declared_otherwise(h, role);
    place_of(h, 0, place);
    if (other != NULL) {
        const pess_status status =
            pess__fail(error, PESS_INPUT, "%s: the column '%s' is declared as %s, expected another for the %s", place,
                       pess__role_name[role], other, pess__role_name[role]);
        (void)snprintf(value, sizeof value, "%s=NAME", pess__role_name[role]);
        return pess__fail_with_remedy(error, status, "column", value);
    }
    list_columns(h, list);
    const bool derivable = role == PESS__ROLE_NEXT_STATE;
    const pess_status status = pess__fail(
        error, PESS_INPUT, "%s: found no column '%s' among %s; expected %s%s", place, pess__role_name[role], list,
        derivable ? "one, or the columns episode or terminal, by which the next row tells it"
                  : "columns named state, action, reward and next_state",
        mixed_separators(h));
    if (mixed_separators(h)[0] != '\0') return status;
    (void)snprintf(value, sizeof value, "%s=NAME", derivable ? "episode" : pess__role_name[role]);
    return pess__fail_with_remedy(error, status, "column", value);
}

static pess_status two_columns(const header *h, pess__role role, int64_t first, int64_t second, pess_error *error) {
    char place[500], one[PESS__SHOWN_SIZE], other[PESS__SHOWN_SIZE], value[100];
    const pess__csv_field *a = &h->names[first], *b = &h->names[second];
    place_of(h, second, place);
    if (a->length == b->length && memcmp(a->text, b->text, a->length) == 0)
        return pess__fail(error, PESS_INPUT, "%s: found the column %s twice, expected it once", place,
                          shown(h, second, other));
    const pess_status status =
        pess__fail(error, PESS_INPUT, "%s: found the columns %s and %s, expected one that can be the %s", place,
                   shown(h, first, one), shown(h, second, other), pess__role_name[role]);
    (void)snprintf(value, sizeof value, "%s=%.*s", pess__role_name[role], (int)(a->length < 60 ? a->length : 60),
                   a->text);
    return pess__fail_with_remedy(error, status, "column", value);
}

/* ---- roles */

static void give(header *h, int64_t column, pess__role role, pess_column_use use) {
    pess_reading *reading = h->reading;
    reading->used[column].role = (uint8_t)role;
    reading->used[column].use = (uint8_t)use;
    reading->column_of[role][reading->parts[role]++] = column;
}

/* By its very name, else in other letters. */
static int64_t find_column(const header *h, const char *name) {
    const pess__used_column *used = h->reading->used;
    for (int64_t i = 0; i < h->count; i++)
        if (strcmp(used[i].name, name) == 0) return i;
    for (int64_t i = 0; i < h->count; i++)
        if (pess__same_letters(used[i].name, name)) return i;
    return -1;
}

static pess_status give_declared(header *h, pess_error *error) {
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES; role++) {
        const pess__declared *declared = &h->reading->declared[role];
        for (int i = 0; i < declared->count; i++) {
            const int64_t column = find_column(h, declared->names[i]);
            if (column < 0) return no_such_column(h, (pess__role)role, declared->names[i], error);
            if (h->reading->used[column].role != PESS__ROLE_IGNORED) {
                char place[500];
                place_of(h, column, place);
                return pess__fail(
                    error, PESS_INPUT, "%s: found the column '%.100s' declared as %s and as %s, expected one role",
                    place, declared->names[i], pess__role_name[h->reading->used[column].role], pess__role_name[role]);
            }
            give(h, column, (pess__role)role, PESS_COLUMN_DECLARED);
        }
    }
    return PESS_OK;
}

/* The best name wins; two that are equally good are refused. */
static pess_status give_role(header *h, pess__role role, pess_error *error) {
    int64_t best = -1;
    int best_rank = 0;
    if (h->reading->declared[role].given) return PESS_OK;
    for (int64_t i = 0; i < h->count; i++) {
        int rank = 0;
        if (h->reading->used[i].role != PESS__ROLE_IGNORED ||
            pess__role_of_name(h->names[i].text, h->names[i].length, &rank) != role)
            continue;
        if (best >= 0 && rank == best_rank) return two_columns(h, role, best, i, error);
        if (best >= 0 && rank > best_rank) continue;
        best = i;
        best_rank = rank;
    }
    if (best < 0) return PESS_OK;
    give(h, best, role, best_rank == 0 ? PESS_COLUMN_CALLED_SO : PESS_COLUMN_ALIAS);
    return PESS_OK;
}

static void take_away(header *h, int role) {
    pess_reading *reading = h->reading;
    for (int i = 0; i < reading->parts[role]; i++) {
        pess__used_column *used = &reading->used[reading->column_of[role][i]];
        used->role = PESS__ROLE_IGNORED;
        used->use = PESS_COLUMN_IGNORED;
    }
    reading->parts[role] = 0;
}

/* A counted log has `count` and `reward_sum` instead of `reward`; columns of rows mean nothing there, and the other way
 * round. One end of the range of rewards says nothing without the other. */
static void settle_counted(header *h) {
    pess_reading *reading = h->reading;
    if (reading->any_roles)
        for (int role = PESS__LOG_ROLES; role < PESS__ROLES; role++) take_away(h, role);
    const int *parts = reading->parts;
    reading->counted = parts[PESS__ROLE_COUNT] > 0 && parts[PESS__ROLE_REWARD_SUM] > 0 && parts[PESS__ROLE_REWARD] == 0;
    for (int role = PESS__ROLE_EPISODE; role < PESS__ROLES; role++)
        if (reading->counted == (role < PESS__LOG_ROLES)) take_away(h, role);
    if (parts[PESS__ROLE_REWARD_MIN] != parts[PESS__ROLE_REWARD_MAX]) {
        take_away(h, PESS__ROLE_REWARD_MIN);
        take_away(h, PESS__ROLE_REWARD_MAX);
    }
    if (parts[PESS__ROLE_TERMINAL] == 0 || parts[PESS__ROLE_TRUNCATED] == 0) return;
    int rank = 0;
    const pess__csv_field *terminal = &h->names[reading->column_of[PESS__ROLE_TERMINAL][0]];
    (void)pess__role_of_name(terminal->text, terminal->length, &rank);
    reading->cutoff_wins = rank == PESS__RANK_OF_DONE;
}

static pess_status check_roles(header *h, pess_error *error) {
    pess_reading *reading = h->reading;
    const int *parts = reading->parts;
    for (int role = PESS__ROLE_STATE; role <= PESS__ROLE_REWARD; role++)
        if (parts[role] == 0 && !(reading->counted && role == PESS__ROLE_REWARD))
            return role_missing(h, (pess__role)role, error);
    if (parts[PESS__ROLE_NEXT_STATE] > 0) {
        if (parts[PESS__ROLE_STATE] == parts[PESS__ROLE_NEXT_STATE]) return PESS_OK;
        return pess__fail(error, PESS_INPUT,
                          "%.400s: found a state of %d columns and a next state of %d, expected as many for both",
                          h->file, parts[PESS__ROLE_STATE], parts[PESS__ROLE_NEXT_STATE]);
    }
    if (reading->counted ||
        (parts[PESS__ROLE_EPISODE] == 0 && parts[PESS__ROLE_TERMINAL] == 0 && parts[PESS__ROLE_TRUNCATED] == 0))
        return role_missing(h, PESS__ROLE_NEXT_STATE, error);
    reading->info.next_state_derived = true;
    const bool marked = parts[PESS__ROLE_TERMINAL] > 0 || parts[PESS__ROLE_TRUNCATED] > 0;
    if (marked || reading->options.last_row != PESS_LAST_ROW_MARKED) return PESS_OK;
    const pess_status status = pess__fail(
        error, PESS_INPUT,
        "%.400s: found no column 'terminal' or 'truncated', expected to be told how the last row of an episode ends: "
        "terminal (nothing follows) or cut off (what follows is not in the log)",
        h->file);
    return pess__fail_with_remedy(error, status, "last-row", "terminal|cutoff");
}

static pess_status describe(header *h, pess_error *error) {
    pess_reading *reading = h->reading;
    PESS_TRY(pess__allocate(&reading->used, h->count, sizeof *reading->used, "the columns", error));
    reading->info.columns = h->count;
    for (int64_t i = 0; i < h->count; i++) {
        const pess__csv_field *name = &h->names[i];
        char **to = &reading->used[i].name;
        PESS_TRY(pess__allocate(to, 3 * (int64_t)name->length + 1, 1, "the columns", error));
        if (pess__names_valid(name->text, name->length))
            memcpy(*to, name->text, name->length);
        else
            (void)pess__latin1_to_utf8(name->text, name->length, *to);
    }
    return PESS_OK;
}

pess_status pess__reading_assign(pess_reading *reading, const char *file, const pess__csv_field *names, int64_t count,
                                 pess_error *error) {
    header h = {reading, file, names, count};
    PESS_TRY(describe(&h, error));
    PESS_TRY(give_declared(&h, error));
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES; role++) PESS_TRY(give_role(&h, (pess__role)role, error));
    settle_counted(&h);
    for (int64_t i = 0; i < count && reading->parts[PESS__ROLE_EPISODE] == 0; i++)
        if (reading->used[i].role == PESS__ROLE_IGNORED)
            reading->used[i].suggested = (uint8_t)pess__role_suggested(names[i].text, names[i].length);
    if (!reading->any_roles) PESS_TRY(check_roles(&h, error));
    return pess__reading_explain(reading, error);
}

pess_status pess__reading_require(pess_reading *reading, const char *file, pess_error *error) {
    pess__csv_field *names = NULL;
    PESS_TRY(pess__allocate(&names, reading->info.columns, sizeof *names, "the columns", error));
    for (int64_t i = 0; i < reading->info.columns; i++) {
        names[i].text = reading->used[i].name;
        names[i].length = strlen(reading->used[i].name);
    }
    header h = {reading, file, names, reading->info.columns};
    const pess_status status = check_roles(&h, error);
    free(names);
    return status;
}

bool pess__reading_needs_all_rows(const pess_reading *reading) {
    const bool declared_ends =
        reading->options.last_row != PESS_LAST_ROW_MARKED && reading->parts[PESS__ROLE_EPISODE] > 0;
    return !reading->counted && (reading->info.next_state_derived || declared_ends);
}

pess_status pess__reading_check_unused(const pess_reading *reading, const char *file, pess_error *error) {
    bool used = reading->options.last_row != PESS_LAST_ROW_MARKED;
    for (int role = 0; role < PESS__ROLES; role++)
        used |= reading->declared[role].given || reading->missing[role].kind != PESS__MISSING_REFUSE;
    if (!used) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT,
                      "%.400s: found a file whose columns have their roles already, expected nothing declared about "
                      "them: column, missing, last-row, reading",
                      file);
}

pess_status pess__reading_check_missing(const pess_reading *reading, const char *file, int64_t rows,
                                        pess_error *error) {
    const bool lines = reading->info.separator != '\0';
    char text[700], place[400];
    size_t used = 0;
    const pess__missing_rows *first = NULL;
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES; role++) {
        const pess__missing_rows *m = &reading->missing_rows[role];
        if (m->rows == 0 || reading->missing[role].kind != PESS__MISSING_REFUSE) continue;
        if (first == NULL || m->line < first->line) first = m;
        if (used + 120 < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s'%.40s' in %lld row%s (first in %s %lld)",
                                     used > 0 ? ", " : "", reading->used[reading->column_of[role][0]].name,
                                     (long long)m->rows, m->rows == 1 ? "" : "s", lines ? "line" : "row",
                                     (long long)m->line);
    }
    if (first == NULL) return PESS_OK;
    (void)snprintf(place, sizeof place, "%.300s", file);
    if (lines)
        (void)snprintf(place, sizeof place, "%.300s:%lld:%lld", file, (long long)first->line, (long long)first->column);
    const pess_status status =
        pess__fail(error, PESS_INPUT, "%s: of %lld rows, found no value for %s; expected one in each", place,
                   (long long)rows, text);
    return pess__fail_with_remedy(error, status, "missing", "drop");
}
