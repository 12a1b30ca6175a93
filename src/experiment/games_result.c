/* result.json of a run: what it found and the settings it was made with. It appears whole or not at all: a run with
 * such a file is finished. */
#include "core/json.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "experiment/games.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FORMAT "pess-minatar-run"
#define SCHEMA 1 /* not there: 1 */

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

pess_status pess__games_write_result(const pess__games *m, int64_t dataset, int curve, pess_error *error) {
    const pess__games_run *run = pess__games_run_of(m, dataset, curve);
    char path[PESS__EXPERIMENT_PATH], signature[PESS__GAMES_SETTINGS_SIZE];
    pess__outfile *file = NULL;
    pess__games_run_path(m, m->options->out, dataset, curve, "result.json", path);
    pess__games_signature(m, dataset, curve, signature, sizeof signature);
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess_json_writer json = pess__json_begin(file, PESS_JSON_INDENTED);
    pess_json_open_object(&json, NULL);
    pess_json_put_text(&json, "format", FORMAT);
    pess_json_put_count(&json, "schema", SCHEMA);
#define WRITE_DOUBLE(key, value) pess_json_put_number(&json, #key, value);
    RESULT_DOUBLES(WRITE_DOUBLE)
#define WRITE_INTEGER(key, value) pess_json_put_count(&json, #key, value);
    RESULT_INTEGERS(WRITE_INTEGER)
    if (run->result.warning[0] != '\0') pess_json_put_text(&json, "warning", run->result.warning);
    pess_json_put_text(&json, "settings", signature);
    pess_json_close(&json);
    pess_json_end(&json);
    return pess__outfile_commit(file, error);
}

/* ---- reading */

static pess_status check_schema(const char *path, const pess__json_value *root, pess_error *error) {
    const char *format = pess__json_text(root, "format");
    int64_t schema = SCHEMA;
    if (format == NULL || strcmp(format, FORMAT) != 0)
        return pess__fail(error, PESS_INPUT, "%s: found the format '%.40s', expected " FORMAT, path,
                          format != NULL ? format : "");
    (void)pess__json_integer(root, "schema", &schema);
    if (schema == SCHEMA) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: found schema %lld, expected %d: a newer version of the program wrote it",
                      path, (long long)schema, SCHEMA);
}

/* A word "key=value" of the list, and on to the next one; the version is provenance and is passed over. */
static const char *take_word(const char *list, size_t *length) {
    if (pess__begins_with(list, "version=")) list += strcspn(list, " ");
    list += strspn(list, " ");
    *length = strcspn(list, " ");
    return list;
}

/* The first word in which they differ. */
static pess_status check_signature(const char *path, const char *found, const char *expected, pess_error *error) {
    size_t length, other;
    for (;;) {
        found = take_word(found, &length);
        expected = take_word(expected, &other);
        if (length == 0 && other == 0) return PESS_OK;
        if (length != other || memcmp(found, expected, length) != 0)
            return pess__fail(error, PESS_ARGUMENT, "%s: made with %.*s; this run has %.*s", path, (int)length, found,
                              (int)other, expected);
        found += length;
        expected += other;
    }
}

static pess_status read_members(const char *path, const pess__json_value *root, pess__games_run *run,
                                pess_error *error) {
    const char *warning = pess__json_text(root, "warning"), *missing = NULL;
#define READ_DOUBLE(key, value)                                                                                        \
    if (missing == NULL && !pess__json_number(root, #key, &(value))) missing = #key;
    RESULT_DOUBLES(READ_DOUBLE)
#define READ_INTEGER(key, value)                                                                                       \
    if (missing == NULL && !pess__json_integer(root, #key, &(value))) missing = #key;
    RESULT_INTEGERS(READ_INTEGER)
    if (missing != NULL)
        return pess__fail(error, PESS_INPUT, "%s: has no number '%s'; remove it to have the run made again", path,
                          missing);
    (void)snprintf(run->result.warning, sizeof run->result.warning, "%s", warning != NULL ? warning : "");
    return PESS_OK;
}

static pess_status read_run(pess__games *m, const char *path, const pess__json_value *root, int64_t dataset, int curve,
                            pess_error *error) {
    char signature[PESS__GAMES_SETTINGS_SIZE];
    const char *settings = pess__json_text(root, "settings");
    pess__games_run *run = pess__games_run_of(m, dataset, curve);
    PESS_TRY(check_schema(path, root, error));
    PESS_TRY(read_members(path, root, run, error));
    pess__games_signature(m, dataset, curve, signature, sizeof signature);
    PESS_TRY(check_signature(path, settings != NULL ? settings : "", signature, error));
    run->finished = true;
    return PESS_OK;
}

pess_status pess__games_read_result(pess__games *m, const char *root, int64_t dataset, int curve, pess_error *error) {
    char path[PESS__EXPERIMENT_PATH];
    pess__json *json = NULL;
    pess__games_run_path(m, root, dataset, curve, "result.json", path);
    if (access(path, F_OK) != 0) return PESS_OK;
    pess_error damage = {0};
    pess_status status = pess__json_read(path, &json, &damage);
    if (status != PESS_OK)
        return pess__fail(error, status, "%.700s; remove it to have the run made again", damage.message);
    status = read_run(m, path, pess__json_root(json), dataset, curve, error);
    pess__json_destroy(json);
    return status;
}

const char *pess__games_warning(const pess__games *m, int game, int curve, int64_t *runs) {
    const char *first = NULL;
    *runs = 0;
    for (int64_t d = 0; d < m->dataset_count; d++) {
        const pess__games_run *run = pess__games_run_of(m, d, curve);
        if (!run->finished || m->datasets[d].game != game || run->result.warning[0] == '\0') continue;
        if ((*runs)++ == 0) first = run->result.warning;
    }
    return first;
}
