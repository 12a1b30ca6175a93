/* Checkpoints of a DQN training. Two files take turns; each is written under another name, flushed and renamed, so at
 * any moment at least one whole generation is there. */
#include "deep/dqn.h"

#include "core/memory.h"
#include "core/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char magic[8] = "PESSDQN\n";
enum { VERSION = 1 };
#define SIZE_LIMIT ((int64_t)1 << 36)

static void path_of(const char *directory, int generation, char path[PESS__PATH_SIZE]) {
    (void)snprintf(path, PESS__PATH_SIZE, "%s/checkpoint-%d.pessdqn", directory, generation);
}

bool pess__dqn_has_checkpoint(const char *directory) {
    char path[PESS__PATH_SIZE];
    for (int i = 0; i < 2; i++) {
        path_of(directory, i, path);
        if (access(path, F_OK) == 0) return true;
    }
    return false;
}

static void save_reals(pess__sink *sink, const pess__real *values, int64_t count) {
    pess__sink_write(sink, values, (size_t)count * sizeof *values);
}

/* Counters, streams and sums: plain numbers, in one order for saving and restoring. */
#define INTEGER_LIST(X)                                                                                                \
    X(frames)                                                                                                          \
    X(updates)                                                                                                         \
    X(evaluations)                                                                                                     \
    X(generation)                                                                                                      \
    X(loss_count)                                                                                                      \
    X(return_count)                                                                                                    \
    X(trainer->steps)
#define DOUBLE_LIST(X)                                                                                                 \
    X(loss_sum)                                                                                                        \
    X(output_sum)                                                                                                      \
    X(return_sum)

static pess_status save_body(const pess__dqn *dqn, double seconds, pess__sink *sink, pess_error *error) {
    const int64_t size = dqn->online->size, envs = dqn->options.envs, state = pess_batch_save_size(dqn->batch);
    uint8_t *games;
    PESS_TRY(pess__allocate(&games, state, 1, "the saved environments", error));
    const pess_status status = pess_batch_save(dqn->batch, games, state, error);
    pess__sink_u32(sink, VERSION);
    pess__sink_text(sink, dqn->settings);
#define SAVE_INTEGER(name) pess__sink_i64(sink, dqn->name);
    INTEGER_LIST(SAVE_INTEGER)
#define SAVE_DOUBLE(name) pess__sink_double(sink, dqn->name);
    DOUBLE_LIST(SAVE_DOUBLE)
    pess__sink_double(sink, seconds);
    pess__sink_write(sink, &dqn->act, sizeof dqn->act);
    pess__sink_write(sink, &dqn->sample, sizeof dqn->sample);
    save_reals(sink, dqn->online->parameters, size);
    save_reals(sink, dqn->target->parameters, size);
    save_reals(sink, dqn->average->parameters, size);
    save_reals(sink, dqn->trainer->first, size);
    save_reals(sink, dqn->trainer->second, size);
    for (int i = 0; i < PESS__SNAPSHOTS; i++) {
        pess__sink_double(sink, dqn->snapshots[i].score);
        pess__sink_i64(sink, dqn->snapshots[i].frame);
        save_reals(sink, dqn->snapshots[i].parameters, size);
    }
    pess__sink_write(sink, dqn->running, (size_t)envs * sizeof *dqn->running);
    pess__sink_i64(sink, state);
    pess__sink_write(sink, games, (size_t)state);
    pess__replay_save(&dqn->replay, sink);
    pess__sink_i64(sink, dqn->log_length);
    pess__sink_write(sink, dqn->log, (size_t)dqn->log_length);
    free(games);
    return status;
}

pess_status pess__dqn_save(pess__dqn *dqn, pess_error *error) {
    for (int64_t i = 0; i < dqn->online->size; i++)
        if (!isfinite(dqn->online->parameters[i]))
            return pess__fail(error, PESS_NOT_CONVERGED, "a parameter is not finite after update %lld",
                              (long long)dqn->updates);
    char path[PESS__PATH_SIZE];
    path_of(dqn->options.out, (int)(dqn->generation % 2), path);
    const double seconds = dqn->seconds_before + pess__clock() - dqn->begun;
    pess__sink sink;
    PESS_TRY(pess__sink_open(&sink, path, magic, error));
    dqn->generation++;
    pess_status status = save_body(dqn, seconds, &sink, error);
    if (status != PESS_OK) {
        pess__outfile_abandon(sink.file);
    } else {
        status = pess__sink_commit(&sink, error);
    }
    if (status != PESS_OK) dqn->generation--;
    return status;
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

static pess_status restore_games(pess__dqn *dqn, pess__cursor *cursor, pess_error *error) {
    const int64_t size = pess__cursor_i64(cursor);
    if (size != pess_batch_save_size(dqn->batch) || (size_t)size > cursor->left)
        return pess__fail(error, PESS_INPUT, "%s: the saved environments have another size", cursor->name);
    const pess_status status = pess_batch_restore(dqn->batch, cursor->at, size, error);
    cursor->at += size;
    cursor->left -= (size_t)size;
    return status;
}

static pess_status restore_body(pess__dqn *dqn, pess__cursor *cursor, pess_error *error) {
    const size_t size = (size_t)dqn->online->size * sizeof(pess__real);
#define RESTORE_INTEGER(name) dqn->name = pess__cursor_i64(cursor);
    INTEGER_LIST(RESTORE_INTEGER)
#define RESTORE_DOUBLE(name) dqn->name = pess__cursor_double(cursor);
    DOUBLE_LIST(RESTORE_DOUBLE)
    dqn->seconds_before = pess__cursor_double(cursor);
    pess__cursor_read(cursor, &dqn->act, sizeof dqn->act);
    pess__cursor_read(cursor, &dqn->sample, sizeof dqn->sample);
    pess__cursor_read(cursor, dqn->online->parameters, size);
    pess__cursor_read(cursor, dqn->target->parameters, size);
    pess__cursor_read(cursor, dqn->average->parameters, size);
    pess__cursor_read(cursor, dqn->trainer->first, size);
    pess__cursor_read(cursor, dqn->trainer->second, size);
    for (int i = 0; i < PESS__SNAPSHOTS; i++) {
        dqn->snapshots[i].score = pess__cursor_double(cursor);
        dqn->snapshots[i].frame = pess__cursor_i64(cursor);
        pess__cursor_read(cursor, dqn->snapshots[i].parameters, size);
    }
    pess__cursor_read(cursor, dqn->running, (size_t)dqn->options.envs * sizeof *dqn->running);
    PESS_TRY(restore_games(dqn, cursor, error));
    if (!pess__replay_restore(&dqn->replay, cursor, (int32_t)dqn->actions))
        return pess__fail(error, PESS_INPUT, "%s: the replay memory does not fit", cursor->name);
    const int64_t length = pess__cursor_i64(cursor);
    if (cursor->beyond || length < 0 || (size_t)length != cursor->left)
        return pess__fail(error, PESS_INPUT, "%s: the parts do not add up to the file", cursor->name);
    PESS_TRY(pess__grow(&dqn->log, &dqn->log_capacity, length + 1, 1, "the log", error));
    pess__cursor_read(cursor, dqn->log, (size_t)length);
    dqn->log[length] = '\0';
    dqn->log_length = length;
    return PESS_OK;
}

/* Opens a checkpoint and reads as far as its frame count; PESS_ARGUMENT where it belongs to other settings. */
static pess_status open_checkpoint(const pess__dqn *dqn, const char *path, pess__cursor *cursor, int64_t *frames,
                                   pess_error *error) {
    char settings[PESS__SETTINGS_SIZE];
    PESS_TRY(pess__cursor_open(cursor, path, magic, "a checkpoint of DQN", SIZE_LIMIT, error));
    pess_status status = PESS_OK;
    const uint32_t version = pess__cursor_u32(cursor);
    if (version != VERSION)
        status = pess__fail(error, PESS_INPUT, "%s: version %u of the format; this program reads version %d", path,
                            version, VERSION);
    else if (!pess__cursor_text(cursor, settings, sizeof settings))
        status = pess__fail(error, PESS_INPUT, "%s: the settings are too long or cut off", path);
    else
        status = check_settings(path, settings, dqn->settings, error);
    if (status == PESS_OK) {
        pess__cursor ahead = *cursor;
        *frames = pess__cursor_i64(&ahead); /* the first of the integers */
    } else {
        pess__cursor_close(cursor);
    }
    return status;
}

pess_status pess__dqn_restore(pess__dqn *dqn, bool *found, pess_error *error) {
    char paths[2][PESS__PATH_SIZE];
    pess__cursor cursors[2] = {{0}};
    pess_status status[2];
    pess_error errors[2] = {{0}};
    int64_t frames[2] = {-1, -1};
    *found = false;
    for (int i = 0; i < 2; i++) {
        path_of(dqn->options.out, i, paths[i]);
        status[i] = PESS_IO;
        if (access(paths[i], F_OK) != 0) continue;
        *found = true;
        status[i] = open_checkpoint(dqn, paths[i], &cursors[i], &frames[i], &errors[i]);
    }
    pess_status result = PESS_OK;
    if (*found && status[0] != PESS_OK && status[1] != PESS_OK) {
        const int which = errors[0].message[0] != '\0' ? 0 : 1;
        result = pess__fail(error, status[which], "%s", errors[which].message);
    } else if (*found) {
        const int newest = frames[0] > frames[1] ? 0 : 1;
        result = restore_body(dqn, &cursors[newest], error);
    }
    for (int i = 0; i < 2; i++) pess__cursor_close(&cursors[i]);
    return result;
}

pess_status pess__dqn_append_log(pess__dqn *dqn, const char *text, pess_error *error) {
    const int64_t length = (int64_t)strlen(text);
    PESS_TRY(pess__grow(&dqn->log, &dqn->log_capacity, dqn->log_length + length + 1, 1, "the log", error));
    memcpy(dqn->log + dqn->log_length, text, (size_t)length + 1);
    dqn->log_length += length;
    return PESS_OK;
}

pess_status pess__dqn_write_log(const pess__dqn *dqn, pess_error *error) {
    char path[PESS__PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/log.csv", dqn->options.out);
    pess__outfile *file;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_write(file, dqn->log, (size_t)dqn->log_length);
    return pess__outfile_commit(file, error);
}
