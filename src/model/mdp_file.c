/* MDPs in files: CSV with the columns of CRAAM, idstatefrom,idaction,idstateto,probability,reward, or .pessmdp
 * (mdp_binary.c). */
#include "core/filekind.h"
#include "core/memory.h"
#include "core/outfile.h"
#include "core/text.h"
#include "core/threads.h"
#include "data/table.h"
#include "model/mdp.h"

#include <math.h>
#include <stdlib.h>
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

static pess_status read_row(const pess__table *table, const columns *at, pess_mdp_transition *out, pess_error *error) {
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
        pess_mdp_transition t = {0};
        PESS_TRY(read_row(table, &at, &t, error));
        if (t.state >= *states) *states = t.state + 1;
        if (t.next_state >= *states) *states = t.next_state + 1;
        if (t.action >= *actions) *actions = t.action + 1;
        PESS_TRY(pess__mdp_builder_add(builder, (uint32_t)t.state, (uint32_t)t.action, (uint32_t)t.next_state,
                                       t.probability, t.reward, error));
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

static pess_status read_binary(const char *path, pess_mdp **out, pess_error *error) {
    pess__infile *file = NULL;
    PESS_TRY(pess__infile_open(path, &file, error));
    const pess_status status = pess__mdp_read_binary(file, out, error);
    pess__infile_close(file);
    return status;
}

pess_status pess_mdp_read(const char *path, pess_mdp **out, pess_error *error) {
    if (pess_file_kind_of(path) == PESS_FILE_MDP) return read_binary(path, out, error);
    pess__table *table = NULL;
    PESS_TRY(pess__table_open(path, &table, error));
    const pess_status status = pess__mdp_read_table(table, path, out, error);
    pess__table_close(table);
    return status;
}

/* Few different numbers make up most of a file (rewards, slip probabilities): their text is kept. */
enum { KEPT = 256, LINE_SIZE = 3 * 24 + 2 * PESS__NUMBER_SIZE, LINES = 1 << 14 };

/* What one thread writes: the text of up to LINES transitions, the first of them `begin`. */
typedef struct block {
    int64_t begin, end;
    size_t length;
    struct {
        uint64_t bits;
        size_t length; /* 0: empty place */
        char text[PESS__NUMBER_SIZE];
    } kept[KEPT];
    char text[LINES * LINE_SIZE];
} block;

static char *put_double(block *b, double value, char *to) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    const size_t place = (size_t)((bits * 0x9e3779b97f4a7c15U) >> 56);
    if (b->kept[place].length == 0 || b->kept[place].bits != bits) {
        b->kept[place].bits = bits;
        b->kept[place].length = pess__format_double(value, b->kept[place].text);
    }
    memcpy(to, b->kept[place].text, b->kept[place].length);
    return to + b->kept[place].length;
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

static int64_t pair_of(const pess_mdp *mdp, int64_t transition) {
    int64_t lo = 0, hi = mdp->states * mdp->actions - 1;
    while (lo < hi) { /* the first pair that ends behind it */
        const int64_t middle = lo + (hi - lo) / 2;
        if (mdp->row[middle + 1] > transition)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

static void format_block(const pess_mdp *mdp, block *b) {
    char *end = b->text;
    int64_t pair = pair_of(mdp, b->begin);
    for (int64_t k = b->begin; k < b->end; k++) {
        while (mdp->row[pair + 1] <= k) pair++;
        end = put_id(pair / mdp->actions, end);
        end = put_id(pair % mdp->actions, end);
        end = put_id((int64_t)mdp->next[k], end);
        end = put_double(b, mdp->probability[k], end);
        *end++ = ',';
        end = put_double(b, mdp->reward[k], end);
        *end++ = '\n';
    }
    b->length = (size_t)(end - b->text);
}

/* A last state that is terminal and that nothing leads to would be lost with the file: a transition of probability 0
 * names it. */
static void name_last_state(const pess_mdp *mdp, pess__outfile *file) {
    const int64_t count = pess_mdp_transitions(mdp), last = mdp->states - 1;
    if (count == 0 || !mdp->terminal[last]) return;
    for (int64_t k = 0; k < count; k++)
        if ((int64_t)mdp->next[k] == last) return;
    const int64_t pair = pair_of(mdp, count - 1);
    pess__outfile_print(file, "%lld,%lld,%lld,0,0\n", (long long)(pair / mdp->actions),
                        (long long)(pair % mdp->actions), (long long)last);
}

pess_status pess_mdp_write(const pess_mdp *mdp, const char *path, int threads, pess_error *error) {
    const int64_t count = pess_mdp_transitions(mdp);
    if (pess__ends_with(path, pess__file_row_of(PESS_FILE_MDP)->ending))
        return pess__mdp_write_binary(mdp, path, error);
    threads = count > LINES ? pess__threads(threads) : 1;
    block *blocks = NULL;
    pess__outfile *file = NULL;
    PESS_TRY(pess__allocate(&blocks, threads, sizeof *blocks, "the text of an MDP", error));
    pess_status status = pess__outfile_open(path, &file, error);
    if (status == PESS_OK) {
        pess__outfile_print(file, "idstatefrom,idaction,idstateto,probability,reward\n");
        for (int64_t done = 0; done < count; done += (int64_t)threads * LINES) {
#pragma omp parallel for num_threads(threads)
            for (int t = 0; t < threads; t++) {
                const int64_t begin = done + (int64_t)t * LINES, end = begin + LINES;
                blocks[t].begin = begin < count ? begin : count;
                blocks[t].end = end < count ? end : count;
                format_block(mdp, &blocks[t]);
            }
            for (int t = 0; t < threads; t++) pess__outfile_write(file, blocks[t].text, blocks[t].length);
        }
        name_last_state(mdp, file);
        status = pess__outfile_commit(file, error);
    }
    free(blocks);
    return status;
}
