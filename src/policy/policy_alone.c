/* A policy table from a CSV file, without the model or the log that it was made from. */
#include "core/memory.h"
#include "core/text.h"
#include "data/names.h"
#include "data/sparse.h"
#include "data/table.h"
#include "policy/decider.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    int64_t state, action; /* of the names, in order of appearance */
    double probability;
} entry;

typedef struct reading {
    const char *path;
    pess__table *table;
    pess_names *states, *actions;
    entry *entries;
    int64_t count, capacity;
} reading;

static pess_status name_of(const reading *r, int64_t column, pess_names *names, int64_t *id, pess_error *error) {
    const pess__csv_field field = pess__table_field(r->table, column);
    if (field.length == 0 || !pess__names_valid(field.text, field.length))
        return pess__table_fail(r->table, column, error, "expected a number or a name in UTF-8");
    return pess__names_add(names, field.text, field.length, id, error);
}

static pess_status read_rows(reading *r, pess_error *error) {
    int64_t state = 0, action = 0, probability = 0;
    PESS_TRY(pess__table_require(r->table, "state", &state, error));
    PESS_TRY(pess__table_require(r->table, "action", &action, error));
    PESS_TRY(pess__table_require(r->table, "probability", &probability, error));
    if (pess__table_column(r->table, "step") >= 0)
        return pess__fail(error, PESS_INPUT,
                          "%s: a policy for a finite horizon (it has a column 'step'), expected one for all steps",
                          r->path);
    for (bool row = true;;) {
        PESS_TRY(pess__table_next(r->table, &row, error));
        if (!row) return PESS_OK;
        PESS_TRY(pess__grow(&r->entries, &r->capacity, r->count + 1, sizeof *r->entries, "a policy", error));
        entry *e = &r->entries[r->count++];
        PESS_TRY(name_of(r, state, r->states, &e->state, error));
        PESS_TRY(name_of(r, action, r->actions, &e->action, error));
        PESS_TRY(pess__table_double(r->table, probability, 0, 1, "a probability", &e->probability, error));
    }
}

/* Are all names integers from 0? Then they are their own numbers: *count becomes the largest plus one. */
static bool integers(const pess_names *names, int64_t limit, int64_t *count) {
    int64_t most = -1;
    for (int64_t i = 0; i < pess_names_count(names); i++) {
        const char *name = pess_names_get(names, i);
        int64_t number = 0;
        if (!pess__parse_int64(name, name + strlen(name), &number) || number < 0 || number >= limit) return false;
        most = number > most ? number : most;
    }
    *count = most + 1;
    return true;
}

/* Numbers of which few occur are names after all: a table of a row or two does not cost what its largest number does.
 */
static void name_if_sparse(const pess_names *names, int64_t others, bool *as_integers, int64_t *count) {
    const int64_t found = pess_names_count(names);
    if (!*as_integers || !pess__few_occur(found, *count, others)) return;
    *as_integers = false;
    *count = found;
}

static int64_t id_of(const pess_names *names, bool as_integer, int64_t id) {
    return as_integer ? atoll(pess_names_get(names, id)) : id;
}

static pess_status to_table(const reading *r, const char *path, int64_t wanted, pess_policy **out, bool *state_integers,
                            bool *action_integers, pess_error *error) {
    int64_t states = pess_names_count(r->states), actions = pess_names_count(r->actions);
    if (r->count == 0) return pess__fail(error, PESS_INPUT, "%s: found no rows, expected a policy", path);
    *state_integers = integers(r->states, PESS_MAX_STATES, &states);
    *action_integers = integers(r->actions, PESS_MAX_ACTIONS, &actions);
    if (wanted == 0) name_if_sparse(r->states, actions, state_integers, &states);
    name_if_sparse(r->actions, wanted > 0 ? wanted : states, action_integers, &actions);
    if (wanted > 0 && (!*state_integers || states > wanted))
        return pess__fail(error, PESS_INPUT,
                          "%s: a policy for another map: found %lld states%s, expected the cells 0 to %lld", path,
                          (long long)states, *state_integers ? "" : " with names", (long long)wanted - 1);
    if (wanted > 0) states = wanted;
    double *table = NULL;
    PESS_TRY(pess__allocate(&table, states * actions, sizeof *table, "a policy", error));
    for (int64_t i = 0; i < r->count; i++) {
        const int64_t s = id_of(r->states, *state_integers, r->entries[i].state);
        const int64_t a = id_of(r->actions, *action_integers, r->entries[i].action);
        table[s * actions + a] += r->entries[i].probability;
    }
    const pess_status status = pess_policy_create(states, actions, table, out, error);
    free(table);
    return status;
}

pess_status pess__policy_read_alone(const char *path, int64_t states, pess_policy **policy, pess_names **state_names,
                                    pess_names **action_names, pess_error *error) {
    reading r = {.path = path};
    bool state_integers = false, action_integers = false;
    pess_status status = pess__table_open(path, &r.table, error);
    if (status == PESS_OK) status = pess__names_create(&r.states, error);
    if (status == PESS_OK) status = pess__names_create(&r.actions, error);
    if (status == PESS_OK) status = read_rows(&r, error);
    if (status == PESS_OK) status = to_table(&r, path, states, policy, &state_integers, &action_integers, error);
    if (status == PESS_OK && !state_integers) {
        *state_names = r.states;
        r.states = NULL;
    }
    if (status == PESS_OK && !action_integers) {
        *action_names = r.actions;
        r.actions = NULL;
    }
    pess__table_close(r.table);
    pess_names_destroy(r.states);
    pess_names_destroy(r.actions);
    free(r.entries);
    return status;
}
