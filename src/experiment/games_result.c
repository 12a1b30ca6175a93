/* result.json of a run: what it found and the settings it was made with. A member a line, so that reading it back needs
 * no more than finding the line. It appears whole or not at all: a run with such a file is finished. */
#include "core/outfile.h"
#include "core/text.h"
#include "experiment/games.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Members, in one order for writing and reading. */
#define RESULT_DOUBLES(X)                                                                                              \
    X(score, run->result.score)                                                                                        \
    X(score_final, run->result.score_final)                                                                            \
    X(score_best, run->result.score_best)                                                                              \
    X(score_spread, run->result.score_spread)                                                                          \
    X(control, run->result.control)                                                                                    \
    X(predicted, run->result.predicted)                                                                                \
    X(obtained, run->result.obtained)                                                                                  \
    X(outside, run->result.outside)                                                                                    \
    X(mean_target, run->result.mean_target)                                                                            \
    X(loss, run->result.loss)                                                                                          \
    X(seconds, run->result.seconds)                                                                                    \
    X(behaviour, run->behaviour)                                                                                       \
    X(data_return, run->data_return)
#define RESULT_INTEGERS(X)                                                                                             \
    X(updates, run->result.updates)                                                                                    \
    X(resumed_from, run->result.resumed_from)

static void write_double(pess__outfile *file, const char *key, double value) {
    pess__outfile_print(file, "  \"%s\": ", key);
    pess__outfile_json_number(file, value);
    pess__outfile_print(file, ",\n");
}

pess_status pess__games_write_result(const pess_minatar *m, int64_t dataset, int curve, pess_error *error) {
    const pess__games_run *run = pess__games_run_of(m, dataset, curve);
    char path[PESS__GAMES_PATH], signature[PESS__GAMES_SETTINGS];
    pess__outfile *file = NULL;
    pess__games_run_path(m, m->out, dataset, curve, "result.json", path);
    pess__games_signature(m, dataset, curve, signature, sizeof signature);
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_print(file, "{\n  \"format\": \"pess-minatar-run\",\n");
#define WRITE_DOUBLE(key, value) write_double(file, #key, value);
    RESULT_DOUBLES(WRITE_DOUBLE)
#define WRITE_INTEGER(key, value) pess__outfile_print(file, "  \"%s\": %lld,\n", #key, (long long)(value));
    RESULT_INTEGERS(WRITE_INTEGER)
    if (run->result.warning[0] != '\0') {
        pess__outfile_print(file, "  \"warning\": ");
        pess__outfile_json(file, run->result.warning);
        pess__outfile_print(file, ",\n");
    }
    pess__outfile_print(file, "  \"settings\": \"%s\"\n}\n", signature);
    return pess__outfile_commit(file, error);
}

/* ---- reading */

static const char *find_member(const char *text, const char *key) {
    char opening[64];
    (void)snprintf(opening, sizeof opening, "\n  \"%s\": ", key);
    const char *at = strstr(text, opening);
    return at != NULL ? at + strlen(opening) : NULL;
}

static bool read_double(const char *text, const char *key, double *out) {
    const char *at = find_member(text, key);
    if (at == NULL) return false;
    const char *end = at + strcspn(at, ",\n");
    if (end - at == 4 && memcmp(at, "null", 4) == 0) {
        *out = NAN;
        return true;
    }
    return pess__parse_double(at, end, out);
}

static bool read_integer(const char *text, const char *key, int64_t *out) {
    const char *at = find_member(text, key);
    return at != NULL && pess__parse_int64(at, at + strcspn(at, ",\n"), out);
}

/* A sentence without quotes of its own; most runs have none. */
static void read_warning(const char *text, char *out, size_t size) {
    const char *at = find_member(text, "warning");
    if (at == NULL || *at != '"') return;
    (void)snprintf(out, size, "%.*s", (int)strcspn(at + 1, "\"\n"), at + 1);
}

/* Words "key=value": the first in which they differ. */
static pess_status check_signature(const char *path, const char *found, const char *expected, pess_error *error) {
    while (*found != '\0' && *found != '"') {
        const size_t length = strcspn(found, " \""), other = strcspn(expected, " ");
        if (length != other || memcmp(found, expected, length) != 0)
            return pess__fail(error, PESS_ARGUMENT, "%s: made with %.*s; this run has %.*s", path, (int)length, found,
                              (int)other, expected);
        found += length + (found[length] == ' ');
        expected += other + (expected[other] == ' ');
    }
    return PESS_OK;
}

pess_status pess__games_read_result(pess_minatar *m, const char *root, int64_t dataset, int curve, pess_error *error) {
    char path[PESS__GAMES_PATH], text[PESS__GAMES_SETTINGS], signature[PESS__GAMES_SETTINGS];
    bool found = false;
    pess__games_run_path(m, root, dataset, curve, "result.json", path);
    PESS_TRY(pess__games_read_text(path, text, sizeof text, &found, error));
    if (!found) return PESS_OK;
    const char *settings = find_member(text, "settings");
    pess__games_run *run = pess__games_run_of(m, dataset, curve);
    bool whole = settings != NULL && *settings == '"';
#define READ_DOUBLE(key, value) whole = whole && read_double(text, #key, &(value));
    RESULT_DOUBLES(READ_DOUBLE)
#define READ_INTEGER(key, value) whole = whole && read_integer(text, #key, &(value));
    RESULT_INTEGERS(READ_INTEGER)
    read_warning(text, run->result.warning, sizeof run->result.warning);
    if (!whole) return pess__fail(error, PESS_INPUT, "%s: is damaged; remove it to have the run made again", path);
    pess__games_signature(m, dataset, curve, signature, sizeof signature);
    PESS_TRY(check_signature(path, settings + 1, signature, error));
    run->finished = true;
    return PESS_OK;
}

const char *pess__games_warning(const pess_minatar *m, int game, int curve, int64_t *runs) {
    const char *first = NULL;
    *runs = 0;
    for (int64_t d = 0; d < m->dataset_count; d++) {
        const pess__games_run *run = pess__games_run_of(m, d, curve);
        if (!run->finished || m->datasets[d].game != game || run->result.warning[0] == '\0') continue;
        if ((*runs)++ == 0) first = run->result.warning;
    }
    return first;
}
