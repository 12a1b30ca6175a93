/* MDPs in files: CSV with the columns of CRAAM, idstatefrom,idaction,idstateto,probability,reward. */
#include "core/outfile.h"
#include "core/text.h"
#include "data/table.h"
#include "model/mdp.h"

#include <math.h>
#include <string.h>

typedef struct columns {
    int64_t from, action, to, probability, reward;
} columns;

static pess_status find_columns(const pess__table *table, columns *out, pess_error *error) {
    PESS_TRY(pess__table_require(table, "idstatefrom", &out->from, error));
    PESS_TRY(pess__table_require(table, "idaction", &out->action, error));
    PESS_TRY(pess__table_require(table, "idstateto", &out->to, error));
    PESS_TRY(pess__table_require(table, "probability", &out->probability, error));
    return pess__table_require(table, "reward", &out->reward, error);
}

static pess_status read_row(const pess__table *table, const columns *at, pess_outcome *out, pess_error *error) {
    PESS_TRY(pess__table_int64(table, at->from, 0, PESS_MAX_STATES - 1, "a state", &out->state, error));
    PESS_TRY(pess__table_int64(table, at->action, 0, PESS_MAX_ACTIONS - 1, "an action", &out->action, error));
    PESS_TRY(pess__table_int64(table, at->to, 0, PESS_MAX_STATES - 1, "a state", &out->next_state, error));
    PESS_TRY(pess__table_double(table, at->probability, 0, 1, "a probability", &out->probability, error));
    return pess__table_double(table, at->reward, -INFINITY, INFINITY, "a reward", &out->reward, error);
}

static pess_status read_rows(pess__table *table, pess__mdp_builder *builder, int64_t *states, int64_t *actions,
                             pess_error *error) {
    columns at = {0};
    PESS_TRY(find_columns(table, &at, error));
    for (bool row = true;;) {
        PESS_TRY(pess__table_next(table, &row, error));
        if (!row) return PESS_OK;
        pess_outcome o = {0};
        PESS_TRY(read_row(table, &at, &o, error));
        if (o.state >= *states) *states = o.state + 1;
        if (o.next_state >= *states) *states = o.next_state + 1;
        if (o.action >= *actions) *actions = o.action + 1;
        PESS_TRY(pess__mdp_builder_add(builder, (uint32_t)o.state, (uint32_t)o.action, (uint32_t)o.next_state,
                                       o.probability, o.reward, error));
    }
}

/* Ids are places in tables, so ids far beyond the number of rows are a mistake (and would take all memory). */
static pess_status check_ids(const char *name, int64_t rows, int64_t states, int64_t actions, pess_error *error) {
    const int64_t most = 64 + 4 * rows;
    if (rows == 0) return pess__fail(error, PESS_INPUT, "%s: found no rows, expected an MDP", name);
    if (states <= most && actions <= most) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: %lld rows name %s %lld, expected ids that run from 0 without large gaps",
                      name, (long long)rows, states > most ? "state" : "action",
                      (long long)(states > most ? states : actions) - 1);
}

pess_status pess__mdp_read_table(pess__table *table, const char *name, pess_mdp **out, pess_error *error) {
    pess__mdp_builder builder = {0};
    int64_t states = 0, actions = 0;
    pess_status status = read_rows(table, &builder, &states, &actions, error);
    if (status == PESS_OK) status = check_ids(name, builder.count, states, actions, error);
    if (status == PESS_OK) return pess__mdp_builder_finish(&builder, states, actions, name, out, error);
    pess__mdp_builder_clear(&builder);
    return status;
}

pess_status pess_mdp_read(const char *path, pess_mdp **out, pess_error *error) {
    pess__table *table = NULL;
    PESS_TRY(pess__table_open(path, &table, error));
    const pess_status status = pess__mdp_read_table(table, path, out, error);
    pess__table_close(table);
    return status;
}

/* Few different numbers make up most of a file (rewards, slip probabilities): their text is kept. */
enum { KEPT = 256, LINE_SIZE = 3 * 24 + 2 * PESS__NUMBER_SIZE };

typedef struct kept_text {
    uint64_t bits;
    size_t length; /* 0: empty place */
    char text[PESS__NUMBER_SIZE];
} kept_text;

static char *put_double(kept_text *kept, double value, char *to) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    kept_text *place = &kept[(bits * 0x9e3779b97f4a7c15U) >> 56];
    if (place->length == 0 || place->bits != bits) {
        place->bits = bits;
        place->length = pess__format_double(value, place->text);
    }
    memcpy(to, place->text, place->length);
    return to + place->length;
}

static char *put_id(int64_t id, char *to) {
    char digits[24];
    size_t length = 0;
    do digits[sizeof digits - ++length] = (char)('0' + id % 10);
    while ((id /= 10) > 0);
    memcpy(to, digits + sizeof digits - length, length);
    to[length] = ',';
    return to + length + 1;
}

static void write_outcome(pess__outfile *file, kept_text *kept, const pess_outcome *o) {
    char line[LINE_SIZE], *end = line;
    end = put_id(o->state, end);
    end = put_id(o->action, end);
    end = put_id(o->next_state, end);
    end = put_double(kept, o->probability, end);
    *end++ = ',';
    end = put_double(kept, o->reward, end);
    *end++ = '\n';
    pess__outfile_write(file, line, (size_t)(end - line));
}

/* A last state that is terminal and that nothing leads to would be lost with the file: an outcome of probability 0
 * names it. */
static bool last_state_is_named(const pess_mdp *mdp) {
    if (!mdp->terminal[mdp->states - 1]) return true;
    const int64_t count = pess_mdp_outcomes(mdp);
    for (int64_t k = 0; k < count; k++)
        if ((int64_t)mdp->next[k] == mdp->states - 1) return true;
    return false;
}

pess_status pess_mdp_write(const pess_mdp *mdp, const char *path, pess_error *error) {
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_print(file, "idstatefrom,idaction,idstateto,probability,reward\n");
    kept_text kept[KEPT] = {0};
    const int64_t pairs = mdp->states * mdp->actions;
    pess_outcome o = {0};
    for (int64_t pair = 0; pair < pairs; pair++)
        for (int64_t k = mdp->row[pair]; k < mdp->row[pair + 1]; k++) {
            o = (pess_outcome){pair / mdp->actions, pair % mdp->actions, (int64_t)mdp->next[k], mdp->probability[k],
                               mdp->reward[k]};
            write_outcome(file, kept, &o);
        }
    if (mdp->row[pairs] > 0 && !last_state_is_named(mdp)) {
        o = (pess_outcome){o.state, o.action, mdp->states - 1, 0, 0};
        write_outcome(file, kept, &o);
    }
    return pess__outfile_commit(file, error);
}
