/* Runs from directories: runs.csv of an experiment with games, or manifest.json of a training. */
#include "compare/compare.h"

#include "core/json.h"
#include "core/memory.h"
#include "data/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH = 4300, SETTINGS = 4096, GAME = 40, DIRECTORIES = 4096 };

static bool there(const char *directory, const char *name, char path[PATH]) {
    struct stat about;
    (void)snprintf(path, PATH, "%.4000s/%s", directory, name);
    return stat(path, &about) == 0;
}

/* The directory's name without what leads to it. */
static void base_name(const char *directory, char *out, size_t size) {
    size_t end = strlen(directory);
    while (end > 1 && directory[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && directory[begin - 1] != '/') begin--;
    (void)snprintf(out, size, "%.*s", (int)(end - begin < 70 ? end - begin : 70), directory + begin);
}

/* ---- what stands in all directories, before names are given */

typedef struct found_run {
    int directory;
    char algorithm[80], game[GAME];
    char settings[SETTINGS]; /* of a training, but for seed and data; "" of an experiment */
    double x, score;
} found_run;

typedef struct found {
    found_run *runs;
    int64_t count, room;
} found;

static pess_status keep(found *f, const found_run *run, pess_error *error) {
    PESS_TRY(pess__grow(&f->runs, &f->room, f->count + 1, sizeof *f->runs, "runs to compare", error));
    f->runs[f->count++] = *run;
    return PESS_OK;
}

/* ---- an experiment */

static pess_status read_word(const pess__table *table, int64_t column, char *out, size_t size, pess_error *error) {
    const pess__csv_field field = pess__table_field(table, column);
    if (field.length == 0 || field.length >= size)
        return pess__table_fail(table, column, error, "expected a name of 1 to %zu bytes", size - 1);
    memcpy(out, field.text, field.length);
    out[field.length] = '\0';
    return PESS_OK;
}

static pess_status read_rows(pess__table *table, int directory, found *f, pess_error *error) {
    int64_t game, algorithm, x, score;
    PESS_TRY(pess__table_require(table, "game", &game, error));
    PESS_TRY(pess__table_require(table, "algorithm", &algorithm, error));
    PESS_TRY(pess__table_require(table, "x", &x, error));
    PESS_TRY(pess__table_require(table, "score", &score, error));
    for (bool row = true;;) {
        PESS_TRY(pess__table_next(table, &row, error));
        if (!row) return PESS_OK;
        found_run run = {.directory = directory};
        PESS_TRY(read_word(table, game, run.game, sizeof run.game, error));
        PESS_TRY(read_word(table, algorithm, run.algorithm, sizeof run.algorithm, error));
        PESS_TRY(pess__table_double(table, x, -INFINITY, INFINITY, "a number", &run.x, error));
        PESS_TRY(pess__table_double(table, score, -INFINITY, INFINITY, "a number", &run.score, error));
        PESS_TRY(keep(f, &run, error));
    }
}

static pess_status read_experiment(const char *path, int directory, found *f, pess_error *error) {
    pess__table *table = NULL;
    PESS_TRY(pess__table_open(path, &table, error));
    const pess_status status = read_rows(table, directory, f, error);
    pess__table_close(table);
    return status;
}

/* ---- a training */

/* All settings that make runs ones of the same algorithm: neither seed nor data nor what is learnt of them. */
static void join_settings(const pess__json_value *settings, char out[SETTINGS]) {
    size_t used = 0;
    out[0] = '\0';
    for (const pess__json_value *s = settings->first; s != NULL && used < SETTINGS; s = s->next) {
        if (strcmp(s->key, "seed") == 0 || strcmp(s->key, "data") == 0 || strcmp(s->key, "imitation") == 0) continue;
        used += (size_t)snprintf(out + used, SETTINGS - used, "%s=%s ", s->key, s->text != NULL ? s->text : "");
    }
}

static pess_status read_manifest(const char *path, const pess__json_value *root, int directory, found *f,
                                 pess_error *error) {
    const pess__json_value *settings = pess__json_member(root, "settings");
    const char *method = pess__json_text(settings, "method"), *game = pess__json_text(settings, "game"),
               *alpha = pess__json_text(settings, "alpha");
    found_run run = {.directory = directory, .x = NAN, .score = NAN};
    if (settings == NULL || method == NULL || game == NULL || !pess__json_number(root, "score", &run.score))
        return pess__fail(error, PESS_INPUT, "%s: is not the manifest of a training (settings, score)", path);
    if (!isfinite(run.score))
        return pess__fail(error, PESS_INPUT, "%s: the training was not scored: no episodes were played", path);
    const bool knob = alpha != NULL && strcmp(alpha, "nan") != 0 && alpha[0] != '\0';
    (void)snprintf(run.algorithm, sizeof run.algorithm, "%.40s%s%.20s", method, knob ? "-" : "", knob ? alpha : "");
    (void)snprintf(run.game, sizeof run.game, "%.39s", game[0] != '\0' ? game : "data");
    join_settings(settings, run.settings);
    return keep(f, &run, error);
}

static pess_status read_training(const char *path, int directory, found *f, pess_error *error) {
    pess__json *json = NULL;
    PESS_TRY(pess__json_read(path, &json, error));
    const pess_status status = read_manifest(path, pess__json_root(json), directory, f, error);
    pess__json_destroy(json);
    return status;
}

/* ---- all of them */

static pess_status read_directory(const char *directory, int index, found *f, pess_error *error) {
    char path[PATH];
    struct stat about;
    if (stat(directory, &about) != 0 || !S_ISDIR(about.st_mode))
        return pess__fail(error, PESS_INPUT, "%s: is not a directory; expected one of an experiment or a training",
                          directory);
    if (there(directory, "runs.csv", path)) return read_experiment(path, index, f, error);
    if (there(directory, "manifest.json", path)) return read_training(path, index, f, error);
    return pess__fail(error, PESS_INPUT,
                      "%s: has neither runs.csv (of an experiment with games) nor manifest.json (of a training); is it "
                      "finished?",
                      directory);
}

/* Does another directory, or a training with other settings, have an algorithm of this name? */
static bool ambiguous(const found *f, const found_run *run) {
    for (int64_t i = 0; i < f->count; i++) {
        const found_run *other = &f->runs[i];
        if (strcmp(other->algorithm, run->algorithm) != 0) continue;
        const bool both = run->settings[0] != '\0' && other->settings[0] != '\0';
        if (both ? strcmp(run->settings, other->settings) != 0 : other->directory != run->directory) return true;
    }
    return false;
}

/* The directory by which trainings of these settings are told: the first one. */
static int first_directory(const found *f, const found_run *run) {
    for (int64_t i = 0; run->settings[0] != '\0' && i < f->count; i++)
        if (strcmp(f->runs[i].settings, run->settings) == 0) return f->runs[i].directory;
    return run->directory;
}

static pess_status add_all(const found *f, const char *const *directories, pess_comparison *c, pess_error *error) {
    for (int64_t i = 0; i < f->count; i++) {
        const found_run *run = &f->runs[i];
        char name[PESS__COMPARE_NAME], base[80];
        base_name(directories[first_directory(f, run)], base, sizeof base);
        if (ambiguous(f, run))
            (void)snprintf(name, sizeof name, "%s (%s)", run->algorithm, base);
        else
            (void)snprintf(name, sizeof name, "%s", run->algorithm);
        PESS_TRY(pess__comparison_add(c, name, run->game, run->x, run->score, error));
    }
    return PESS_OK;
}

pess_status pess_compare_directories(const char *const *directories, size_t count, const pess_compare_options *options,
                                     pess_comparison **out, pess_error *error) {
    found f = {0};
    pess_comparison *c = NULL;
    pess_status status = pess__comparison_open(&c, error);
    if (status == PESS_OK && (count < 1 || count > DIRECTORIES))
        status = pess__fail(error, PESS_ARGUMENT, "%zu directories; 1 to %d are possible", count, DIRECTORIES);
    for (size_t i = 0; status == PESS_OK && i < count; i++) status = read_directory(directories[i], (int)i, &f, error);
    if (status == PESS_OK) status = add_all(&f, directories, c, error);
    if (status == PESS_OK) status = pess__comparison_finish(c, options, error);
    free(f.runs);
    if (status == PESS_OK)
        *out = c;
    else
        pess_comparison_destroy(c);
    return status;
}
