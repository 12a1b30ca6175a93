#include "deep/generations.h"

#include "core/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SIZE_LIMIT ((int64_t)1 << 36)

static void path_of(const pess__generations *g, int64_t number, char path[PESS__PATH_SIZE]) {
    (void)snprintf(path, PESS__PATH_SIZE, "%s/checkpoint-%d.%s", g->directory, (int)(number % 2), g->suffix);
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

/* Which setting differs, by its line. */
static pess_status check_settings(const char *path, const char *found, const char *wanted, pess_error *error) {
    if (strcmp(found, wanted) == 0) return PESS_OK;
    while (*found != '\0' && *wanted != '\0') {
        const size_t a = strcspn(found, "\n"), b = strcspn(wanted, "\n");
        if (a != b || strncmp(found, wanted, a) != 0)
            return pess__fail(error, PESS_ARGUMENT, "%s: made with %.*s; this run has %.*s", path, (int)a, found,
                              (int)b, wanted);
        found += a + (found[a] == '\n');
        wanted += b + (wanted[b] == '\n');
    }
    return pess__fail(error, PESS_ARGUMENT, "%s: made with other settings", path);
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

pess_status pess__generations_newest(const pess__generations *g, pess__cursor *cursor, int64_t *progress, bool *found,
                                     pess_error *error) {
    pess__cursor cursors[2] = {{0}};
    pess_status status[2] = {PESS_IO, PESS_IO};
    pess_error errors[2] = {{0}};
    int64_t reached[2] = {-1, -1};
    *found = false;
    *cursor = (pess__cursor){0};
    for (int i = 0; i < 2; i++) {
        char path[PESS__PATH_SIZE];
        path_of(g, i, path);
        if (access(path, F_OK) != 0) continue;
        if (!g->resume)
            return pess__fail(error, PESS_ARGUMENT,
                              "%s: has checkpoints of an earlier run; go on with --resume or name another directory",
                              g->directory);
        *found = true;
        status[i] = open_one(g, path, &cursors[i], &reached[i], &errors[i]);
        cursors[i].name = g->directory; /* the path does not live as long */
    }
    if (!*found) return PESS_OK;
    pess_status result = PESS_OK;
    if (status[0] != PESS_OK && status[1] != PESS_OK) {
        const int which = errors[0].message[0] != '\0' ? 0 : 1;
        result = pess__fail(error, status[which], "%s", errors[which].message);
    } else {
        const int newest = status[1] != PESS_OK || (status[0] == PESS_OK && reached[0] > reached[1]) ? 0 : 1;
        *cursor = cursors[newest];
        *progress = reached[newest];
        cursors[newest] = (pess__cursor){0};
    }
    for (int i = 0; i < 2; i++) pess__cursor_close(&cursors[i]);
    return result;
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
