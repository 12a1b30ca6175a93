/* A policy applied to a file of rows: blocks of rows are decided and written down side by side, and their answers go
 * out in the order of the rows. */
#include "core/json_writer.h"
#include "core/memory.h"
#include "core/outfile.h"
#include "core/text.h"
#include "core/threads.h"
#include "data/frame_text.h"
#include "data/names.h"
#include "policy/decider.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_AT_ONCE = 240 };

/* The answers of a block as text. */
typedef struct answers {
    char *text;
    int64_t length, capacity;
    double *raw;
    float *x;
    uint32_t *cell; /* [ROWS_AT_ONCE], like the two before times the coordinates */
    int64_t *state; /* [names of the block] the state of each name */
    int64_t state_capacity;
    bool failed; /* not enough memory */
} answers;

typedef struct acting {
    const pess_decider *decider;
    pess__row_reader reader;
    answers *answers; /* [pieces] */
    char **action;    /* [actions] names as they are written */
    size_t longest;   /* bytes that the answer to a row may have in CSV, but for the name of its state */
} acting;

static bool has_room(answers *out, int64_t bytes) {
    if (out->length + bytes > out->capacity && !out->failed)
        out->failed = pess__grow(&out->text, &out->capacity, out->length + bytes, 1, "answers", NULL) != PESS_OK;
    return !out->failed;
}

static void append(void *answers_of_block, const char *text, size_t length) {
    answers *out = answers_of_block;
    if (!has_room(out, (int64_t)length)) return;
    memcpy(out->text + out->length, text, length);
    out->length += (int64_t)length;
}

/* ---- names as CSV fields */

/* At most twice the bytes of the name, and two quotes. */
static char *put_name(char *to, const char *name) {
    const bool quotes = strpbrk(name, ",\"\r\n") != NULL || name[0] == ' ';
    if (quotes) *to++ = '"';
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '"') *to++ = '"';
        *to++ = *c;
    }
    if (quotes) *to++ = '"';
    return to;
}

/* Actions as they are written in CSV; in JSON, their names. */
static pess_status name_actions(acting *a, pess_error *error) {
    const pess_decider *decider = a->decider;
    size_t longest = 0;
    PESS_TRY(pess__allocate(&a->action, decider->actions, sizeof *a->action, "names", error));
    for (int64_t i = 0; i < decider->actions; i++) {
        char number[24];
        (void)snprintf(number, sizeof number, "%lld", (long long)i);
        const char *given = pess_decider_action_name(decider, i), *name = given != NULL ? given : number;
        PESS_TRY(pess__allocate(&a->action[i], 2 * (int64_t)strlen(name) + 3, 1, "names", error));
        if (decider->options.json)
            memcpy(a->action[i], name, strlen(name) + 1);
        else
            *put_name(a->action[i], name) = '\0';
        const size_t length = strlen(a->action[i]);
        longest = length > longest ? length : longest;
    }
    a->longest = 400 + longest;
    if (decider->options.probabilities) a->longest += (size_t)decider->actions * (longest + 40);
    return PESS_OK;
}

/* ---- a row's answer */

static char *put_text(char *to, const char *text) {
    while (*text != '\0') *to++ = *text++;
    return to;
}

static char *put_count(char *to, int64_t value) {
    char reversed[24];
    int length = 0;
    if (value < 0) return to; /* not known: an empty field */
    do reversed[length++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    while (length > 0) *to++ = reversed[--length];
    return to;
}

static char *put_probability(char *to, double value) {
    if (value == 1) return put_text(to, "1");
    return to + pess__format_double(value, to);
}

/* Six digits; nothing where it is not a number. */
static char *put_number(char *to, double value, const char *infinite) {
    if (isnan(value)) return to;
    if (isinf(value)) return put_text(to, infinite);
    if (value >= 1000) return to + snprintf(to, PESS__NUMBER_SIZE, "%.6g", value);
    const int64_t millionths = (int64_t)(value * 1e6 + 0.5);
    to = put_count(to, millionths / 1000000);
    int64_t rest = millionths % 1000000;
    if (rest == 0) return to;
    *to++ = '.';
    for (int64_t unit = 100000; rest > 0; unit /= 10) {
        *to++ = (char)('0' + rest / unit);
        rest %= unit;
    }
    return to;
}

/* state: as the row names it, also where the policy does not know it; NULL: with a map, the cell. */
static char *put_csv(const acting *a, const pess_decision *d, const char *state, int64_t number, char *to) {
    const pess_decider *decider = a->decider;
    to = put_count(to, number + 1);
    *to++ = ',';
    to = state != NULL ? put_name(to, state) : put_count(to, d->state);
    *to++ = ',';
    if (d->action >= 0) to = put_text(to, a->action[d->action]);
    *to++ = ',';
    if (d->action >= 0) to = put_probability(to, d->probability);
    *to++ = ',';
    if (decider->has_counts) {
        to = put_count(to, d->state_count);
        *to++ = ',';
        to = put_count(to, d->action_count);
        *to++ = ',';
    }
    if (decider->map != NULL) {
        to = put_number(to, d->outside, "inf");
        *to++ = ',';
    }
    to = put_text(to, pess__advice_words(d->advice));
    *to++ = ',';
    to = put_text(to, pess__advice_reason(d->advice));
    const double *row = d->state >= 0 ? pess_policy_row(decider->policy, d->state) : NULL;
    for (int64_t i = 0; decider->options.probabilities && i < decider->actions; i++) {
        *to++ = ',';
        if (row != NULL) to = put_probability(to, row[i]);
    }
    *to++ = '\n';
    return to;
}

/* Six digits, as put_number has them. */
static double rounded(double value) {
    const double unit = value < 1000 ? 1e6 : pow(10, 5 - floor(log10(value)));
    return round(value * unit) / unit;
}

static void put_known(pess_json_writer *json, const char *key, int64_t count) {
    if (count >= 0)
        pess_json_put_count(json, key, count);
    else
        pess_json_put_null(json, key);
}

/* A state that has no name is a number. */
static void put_json_state(const acting *a, pess_json_writer *json, const pess_decision *d, const char *name) {
    const char *key = a->decider->map != NULL ? "cell" : "state";
    int64_t number = 0;
    if (name == NULL)
        put_known(json, key, d->state);
    else if (!pess_names_given(a->decider->state_names) && pess__parse_int64(name, name + strlen(name), &number))
        pess_json_put_count(json, key, number);
    else
        pess_json_put_text(json, key, name);
}

static void put_json(const acting *a, const pess_decision *d, const char *state, int64_t number, answers *out) {
    const pess_decider *decider = a->decider;
    pess_json_writer json = pess_json_begin((pess_json_sink){append, out}, PESS_JSON_PACKED);
    pess_json_open_object(&json, NULL);
    pess_json_put_count(&json, "row", number + 1);
    put_json_state(a, &json, d, state);
    if (d->action >= 0 && pess_decider_action_name(decider, d->action) != NULL)
        pess_json_put_text(&json, "action", a->action[d->action]);
    else
        put_known(&json, "action", d->action);
    pess_json_put_number(&json, "probability", d->action >= 0 ? d->probability : NAN);
    if (decider->has_counts) {
        put_known(&json, "state_count", d->state_count);
        put_known(&json, "action_count", d->action_count);
    }
    if (decider->map != NULL) pess_json_put_number(&json, "outside", rounded(d->outside));
    pess_json_put_text(&json, "advice", pess__advice_words(d->advice));
    pess_json_put_text(&json, "reason", pess__advice_reason(d->advice));
    if (decider->options.probabilities) {
        const double *row = d->state >= 0 ? pess_policy_row(decider->policy, d->state) : NULL;
        pess_json_open_object(&json, "probabilities");
        for (int64_t i = 0; i < decider->actions; i++)
            pess_json_put_number(&json, a->action[i], row != NULL ? row[i] : NAN);
        pess_json_close(&json);
    }
    pess_json_close(&json);
    pess_json_end(&json);
}

/* state: its name in the row; NULL: the cell of its measurements. */
static void put_row(const acting *a, answers *out, const pess_decision *d, const char *state, int64_t number) {
    if (a->decider->options.json) {
        put_json(a, d, state, number, out);
    } else if (has_room(out, (int64_t)(a->longest + (state != NULL ? 2 * strlen(state) + 2 : 0)))) {
        const char *end = put_csv(a, d, state, number, out->text + out->length);
        out->length = end - out->text;
    }
}

/* ---- blocks of rows */

/* Rows of measurements: [from, to) of the block, of which the first has this number. */
static void act_measurements(const acting *a, const pess__row_block *b, int64_t from, int64_t to, int64_t number,
                             answers *out) {
    const pess_map *map = a->decider->map;
    const int64_t k = map->coordinates, features = map->names.count;
    bool missing[ROWS_AT_ONCE];
    for (int64_t i = from; i < to; i++) {
        double *raw = out->raw + (i - from) * k;
        float *x = out->x + (i - from) * k;
        missing[i - from] = pess__map_coordinates(map, b->values + i * features, raw, x) >= 0;
        if (!missing[i - from]) continue;
        memset(raw, 0, (size_t)k * sizeof *raw);
        memset(x, 0, (size_t)k * sizeof *x);
    }
    pess__map_method_of(map)->find(map, out->x, out->raw, to - from, out->cell);
    for (int64_t i = from; i < to; i++) {
        const pess_place place = pess__map_place(map, out->raw + (i - from) * k, out->cell[i - from]);
        pess_decision d = pess__decide(a->decider, missing[i - from] ? -1 : place.cell,
                                       missing[i - from] ? NAN : place.outside, number + i);
        if (missing[i - from]) d.advice = PESS_ADVICE_MISSING;
        put_row(a, out, &d, NULL, number + i);
    }
}

/* The state of each name of the block; -1: the policy does not know it. */
static void find_states(const pess_decider *decider, const pess_names *names, int64_t *state) {
    for (int64_t i = 0; i < pess_names_count(names); i++) {
        const char *name = pess_names_get(names, i);
        int64_t number = -1;
        if (pess_names_given(decider->state_names))
            number = pess_names_find(decider->state_names, name);
        else if (!pess__parse_int64(name, name + strlen(name), &number) || number >= decider->states)
            number = -1;
        state[i] = number < 0 ? -1 : number;
    }
}

static void act_states(const acting *a, const pess__row_block *b, int64_t number, answers *out) {
    const pess_names *names = b->names[PESS__COLUMN_STATE];
    if (pess__grow(&out->state, &out->state_capacity, pess_names_count(names), sizeof *out->state, "answers", NULL) !=
        PESS_OK) {
        out->failed = true;
        return;
    }
    find_states(a->decider, names, out->state);
    for (int64_t i = 0; i < b->rows; i++) {
        const int64_t name = b->name[PESS__COLUMN_STATE][i];
        const pess_decision d = pess__decide(a->decider, out->state[name], NAN, number + i);
        put_row(a, out, &d, pess_names_get(names, name), number + i);
    }
}

static void act_block(const acting *a, const pess__row_block *b, int64_t number, answers *out) {
    out->length = 0;
    if (a->decider->map == NULL) {
        act_states(a, b, number, out);
        return;
    }
    for (int64_t from = 0; from < b->rows && !out->failed; from += ROWS_AT_ONCE)
        act_measurements(a, b, from, from + ROWS_AT_ONCE < b->rows ? from + ROWS_AT_ONCE : b->rows, number, out);
}

/* ---- the file */

static void put_header(const acting *a, pess__outfile *file) {
    const pess_decider *decider = a->decider;
    if (decider->options.json) return;
    pess__outfile_print(file, "row,%s,action,probability%s%s,advice,reason", decider->map != NULL ? "cell" : "state",
                        decider->has_counts ? ",state_count,action_count" : "", decider->map != NULL ? ",outside" : "");
    for (int64_t i = 0; decider->options.probabilities && i < decider->actions; i++)
        pess__outfile_print(file, ",%s", a->action[i]);
    pess__outfile_print(file, "\n");
}

static pess_status answers_create(const acting *a, answers *out, pess_error *error) {
    const int64_t k = a->decider->map != NULL ? a->decider->map->coordinates : 0;
    PESS_TRY(pess__allocate(&out->raw, ROWS_AT_ONCE * k, sizeof *out->raw, "answers", error));
    PESS_TRY(pess__allocate(&out->x, ROWS_AT_ONCE * k, sizeof *out->x, "answers", error));
    return pess__allocate(&out->cell, ROWS_AT_ONCE, sizeof *out->cell, "answers", error);
}

static pess_status act_batch(acting *a, int64_t count, int64_t *rows, pess__outfile *file, pess_error *error) {
    const int64_t before = *rows;
    int64_t *first = NULL;
    PESS_TRY(pess__allocate(&first, count + 1, sizeof *first, "answers", error));
    first[0] = before;
    pess_status status = PESS_OK;
    for (int64_t i = 0; i < count && status == PESS_OK; i++) {
        first[i + 1] = first[i] + a->reader.blocks[i].rows;
        if (a->answers[i].cell == NULL) status = answers_create(a, &a->answers[i], error);
    }
    if (status == PESS_OK) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(a->reader.threads) if (count > 1)
        for (int64_t i = 0; i < count; i++) act_block(a, &a->reader.blocks[i], first[i], &a->answers[i]);
    }
    for (int64_t i = 0; i < count && status == PESS_OK; i++) {
        if (a->answers[i].failed)
            status = pess__fail(error, PESS_MEMORY, "not enough memory for answers");
        else
            pess__outfile_write(file, a->answers[i].text, (size_t)a->answers[i].length);
    }
    *rows = first[status == PESS_OK ? count : 0];
    free(first);
    return status;
}

static pess_status act_all(acting *a, int64_t *rows, pess__outfile *file, pess_error *error) {
    const pess_progress *progress = &a->decider->options.progress;
    put_header(a, file);
    for (int64_t count = 1; count > 0;) {
        PESS_TRY(pess__row_reader_next(&a->reader, &count, error));
        PESS_TRY(act_batch(a, count, rows, file, error));
        if (a->reader.text.at_once) PESS_TRY(pess__outfile_flush(file, error));
        if (progress->report != NULL && !progress->report(progress->user, "acting", (double)*rows, 0, "rows"))
            return pess__fail(error, PESS_INTERRUPTED, "acting was interrupted after %lld rows", (long long)*rows);
    }
    return PESS_OK;
}

/* as_they_come: each line of JSON for itself, if it is those; the first one then has to have all columns. Otherwise a
 * column is there that any line has. */
static pess_status open_text(acting *a, const char *input, pess__rows_wanted *wanted, bool as_they_come, bool *pipe,
                             pess_error *error) {
    pess__infile *file = NULL;
    wanted->json_lines = false;
    PESS_TRY(pess__open_table_text(input, wanted->read, &file, as_they_come ? &wanted->json_lines : NULL, error));
    *pipe = pess__infile_is_pipe(file);
    PESS_TRY(pess__row_reader_open(&a->reader, file, wanted, pess__threads(a->decider->options.threads), *pipe, error));
    if (!wanted->columns[PESS__COLUMN_STATE] || a->reader.has[PESS__COLUMN_STATE]) return PESS_OK;
    const pess_status status =
        pess__fail(error, PESS_INPUT, "%s: found no column 'state', expected one, or a map for its measurements",
                   pess__infile_name(file));
    pess__row_reader_close(&a->reader);
    return pess__fail_with_remedy(error, status, "column", "state=NAME");
}

static pess_status open_rows(acting *a, const char *input, pess_error *error) {
    const pess_map *map = a->decider->map;
    pess__rows_wanted wanted = {.read = a->decider->options.read};
    wanted.columns[PESS__COLUMN_STATE] = map == NULL;
    if (map != NULL) {
        wanted.names = map->names.names;
        wanted.features = map->names.count;
    }
    bool pipe = false;
    pess_status status = open_text(a, input, &wanted, true, &pipe, error);
    if (status == PESS_INPUT && wanted.json_lines && !pipe) status = open_text(a, input, &wanted, false, &pipe, error);
    PESS_TRY(status);
    PESS_TRY(name_actions(a, error));
    return pess__allocate(&a->answers, a->reader.text.pieces, sizeof *a->answers, "answers", error);
}

static void acting_free(acting *a) {
    for (int64_t i = 0; a->answers != NULL && i < a->reader.text.pieces; i++) {
        free(a->answers[i].text);
        free(a->answers[i].raw);
        free(a->answers[i].x);
        free(a->answers[i].cell);
        free(a->answers[i].state);
    }
    for (int64_t i = 0; a->action != NULL && i < a->decider->actions; i++) free(a->action[i]);
    free(a->action);
    free(a->answers);
    pess__row_reader_close(&a->reader);
}

pess_status pess_act_rows(const pess_decider *decider, const char *input, const char *output, int64_t *rows,
                          pess_error *error) {
    acting a = {.decider = decider};
    pess__outfile *file = NULL;
    int64_t count = 0;
    pess_status status = open_rows(&a, input, error);
    if (status == PESS_OK) status = pess__outfile_open(output, &file, error);
    if (status == PESS_OK) {
        status = act_all(&a, &count, file, error);
        if (status == PESS_OK)
            status = pess__outfile_commit(file, error);
        else
            pess__outfile_abandon(file);
    }
    acting_free(&a);
    if (status == PESS_OK && rows != NULL) *rows = count;
    return status;
}
