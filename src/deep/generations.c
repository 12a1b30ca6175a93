#include "deep/generations.h"

#include "core/memory.h"
#include "core/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE_LIMIT ((int64_t)1 << 36)

static void path_of(const pess__generations *g, int64_t number, char path[PESS__PATH_SIZE]) {
    (void)snprintf(path, PESS__PATH_SIZE, "%s/checkpoint-%d.%s", g->directory, (int)(number % 2), g->suffix);
}

/* An empty file is none: so a file system that lost its power may leave a new one. */
static bool is_there(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 && found.st_size > 0;
}

pess_status pess__make_directory(const char *path, pess_error *error) {
    struct stat found;
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return pess__fail(error, PESS_IO, "%s: the directory cannot be created: %s", path, strerror(errno));
    if (stat(path, &found) != 0) return pess__fail(error, PESS_IO, "%s: cannot be examined: %s", path, strerror(errno));
    if (!S_ISDIR(found.st_mode))
        return pess__fail(error, PESS_IO, "%s: is a file; a directory for the results is expected", path);
    if (access(path, W_OK | X_OK) != 0)
        return pess__fail(error, PESS_IO, "%s: nothing can be written into this directory: %s", path, strerror(errno));
    return PESS_OK;
}

pess_status pess__generations_open(const pess__generations *g, pess__directory_lock *lock, pess_error *error) {
    PESS_TRY(pess__make_directory(g->directory, error));
    PESS_TRY(pess__directory_take(lock, g->directory, error));
    for (int i = 0; i < 2 && !g->resume; i++) {
        char path[PESS__PATH_SIZE];
        path_of(g, i, path);
        if (is_there(path))
            return pess__fail(error, PESS_ARGUMENT,
                              "%s: has checkpoints of an earlier run; resume it or name another directory",
                              g->directory);
    }
    return PESS_OK;
}

pess_status pess__generations_begin(const pess__generations *g, int64_t number, int64_t progress, pess__sink *sink,
                                    pess_error *error) {
    char path[PESS__PATH_SIZE];
    path_of(g, number, path);
    PESS_TRY(pess__sink_open(sink, path, g->magic, error));
    pess__sink_u32(sink, g->version);
    pess__sink_text(sink, g->settings);
    pess__sink_i64(sink, progress);
    return PESS_OK;
}

/* One way of comparing: settings of `these` that `others` have with another value or not at all. *other is then that
 * value, or NULL. Returns the first such line, or NULL. */
static const char *first_difference(const char *these, const char *others, const char **other, size_t *length) {
    for (const char *line = these; *line != '\0';) {
        const size_t whole = strcspn(line, "\n"), key = strcspn(line, "=\n");
        *other = pess__note_find(others, line, key, length);
        const bool same = *other != NULL && key + 1 + *length == whole && strncmp(*other, line + key + 1, *length) == 0;
        if (!same) return line;
        line += whole + (line[whole] == '\n');
    }
    return NULL;
}

/* Which setting differs, by its key: a setting that is left out at its default stands in one of the two alone. */
static pess_status check_settings(const char *path, const char *found, const char *wanted, pess_error *error) {
    const char *other;
    size_t length;
    const char *line = first_difference(found, wanted, &other, &length);
    if (line != NULL && other != NULL)
        return pess__fail(error, PESS_ARGUMENT, "%s: made with %.*s; this run has %.*s=%.*s", path,
                          (int)strcspn(line, "\n"), line, (int)strcspn(line, "="), line, (int)length, other);
    if (line != NULL)
        return pess__fail(error, PESS_ARGUMENT, "%s: made with %.*s; this run has no such setting", path,
                          (int)strcspn(line, "\n"), line);
    line = first_difference(wanted, found, &other, &length);
    if (line != NULL)
        return pess__fail(error, PESS_ARGUMENT, "%s: made without %.*s; this run has %.*s", path,
                          (int)strcspn(line, "="), line, (int)strcspn(line, "\n"), line);
    return PESS_OK;
}

static pess_status open_one(const pess__generations *g, const char *path, pess__cursor *cursor, int64_t *progress,
                            pess_error *error) {
    char settings[PESS__SETTINGS_SIZE];
    PESS_TRY(pess__cursor_open(cursor, path, g->magic, g->kind, SIZE_LIMIT, error));
    const uint32_t version = pess__cursor_u32(cursor);
    if (version != g->version)
        return pess__fail(error, PESS_INPUT, "%s: version %u of the format; this program reads version %u", path,
                          version, g->version);
    if (!pess__cursor_text(cursor, settings, sizeof settings))
        return pess__fail(error, PESS_INPUT, "%s: the settings are too long or cut off", path);
    PESS_TRY(check_settings(path, settings, g->settings, error));
    *progress = pess__cursor_i64(cursor);
    return PESS_OK;
}

/* Which of the two to go on from: the one that got farther. One that is damaged is passed over, if the other is whole.
 * One that cannot be read now, or is of another run, is not: it may have got farther, and would be written over. */
static pess_status newest_of(const pess_status status[2], const pess_error errors[2], const pess__cursor cursors[2],
                             const int64_t reached[2], int *newest, pess_error *error) {
    const bool whole[2] = {cursors[0].memory != NULL && status[0] == PESS_OK,
                           cursors[1].memory != NULL && status[1] == PESS_OK};
    *newest = whole[0] && (!whole[1] || reached[0] > reached[1]) ? 0 : 1;
    for (int i = 0; i < 2; i++)
        if (status[i] != PESS_OK && (status[i] != PESS_INPUT || !whole[*newest]))
            return pess__fail(error, status[i], "%s", errors[i].message);
    return PESS_OK;
}

pess_status pess__generations_newest(const pess__generations *g, pess__cursor *cursor, int64_t *progress, bool *found,
                                     pess_error *error) {
    pess__cursor cursors[2] = {{0}};
    pess_status status[2] = {PESS_OK, PESS_OK};
    pess_error errors[2] = {{0}};
    int64_t reached[2] = {0};
    *found = false;
    *cursor = (pess__cursor){0};
    for (int i = 0; i < 2; i++) {
        char path[PESS__PATH_SIZE];
        path_of(g, i, path);
        if (!is_there(path)) continue;
        *found = true;
        status[i] = open_one(g, path, &cursors[i], &reached[i], &errors[i]);
        cursors[i].name = g->directory; /* the path does not live as long */
    }
    if (!*found) return PESS_OK;
    int newest = 0;
    const pess_status result = newest_of(status, errors, cursors, reached, &newest, error);
    if (result == PESS_OK) {
        *cursor = cursors[newest];
        *progress = reached[newest];
        cursors[newest] = (pess__cursor){0};
    }
    for (int i = 0; i < 2; i++) pess__cursor_close(&cursors[i]);
    return result;
}

pess_status pess__generations_check_counts(const pess__cursor *cursor, const int64_t *counts, int size,
                                           pess_error *error) {
    for (int i = 0; i < size; i++)
        if (counts[i] < 0)
            return pess__fail(error, PESS_INPUT, "%s: the checkpoint counts %lld, expected 0 or more", cursor->name,
                              (long long)counts[i]);
    return PESS_OK;
}

pess_status pess__logtext_add(pess__logtext *log, const char *line, pess_error *error) {
    const int64_t length = (int64_t)strlen(line);
    PESS_TRY(pess__grow(&log->text, &log->capacity, log->length + length + 1, 1, "the log", error));
    memcpy(log->text + log->length, line, (size_t)length + 1);
    log->length += length;
    return PESS_OK;
}

pess_status pess__logtext_write(const pess__logtext *log, const char *directory, pess_error *error) {
    char path[PESS__PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/log.csv", directory);
    pess__outfile *file;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_write(file, log->text, (size_t)log->length);
    return pess__outfile_commit(file, error);
}

void pess__logtext_save(const pess__logtext *log, pess__sink *sink) {
    pess__sink_i64(sink, log->length);
    pess__sink_write(sink, log->text, (size_t)log->length);
}

/* The log is the last part of a checkpoint. */
pess_status pess__logtext_restore(pess__logtext *log, pess__cursor *cursor, pess_error *error) {
    const int64_t length = pess__cursor_i64(cursor);
    if (cursor->beyond || length < 0 || (size_t)length != cursor->left)
        return pess__fail(error, PESS_INPUT, "%s: the parts of the checkpoint do not add up to the file", cursor->name);
    PESS_TRY(pess__grow(&log->text, &log->capacity, length + 1, 1, "the log", error));
    pess__cursor_read(cursor, log->text, (size_t)length);
    log->text[length] = '\0';
    log->length = length;
    return PESS_OK;
}
