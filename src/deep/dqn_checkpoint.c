/* What a DQN training keeps in a checkpoint. */
#include "deep/dqn.h"

#include "core/memory.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>

static pess__generations generations_of(const pess__dqn *dqn) {
    return (pess__generations){.directory = dqn->options.out,
                               .suffix = "pessdqn",
                               .kind = "a checkpoint of DQN",
                               .settings = dqn->settings,
                               .magic = "PESSDQN\n",
                               .version = 1,
                               .resume = dqn->options.resume};
}

pess_status pess__dqn_open_directory(pess__dqn *dqn, pess_error *error) {
    const pess__generations generations = generations_of(dqn);
    return pess__generations_open(&generations, &dqn->lock, error);
}

static void save_reals(pess__sink *sink, const pess__real *values, int64_t count) {
    pess__sink_write(sink, values, (size_t)count * sizeof *values);
}

/* Counters, streams and sums: plain numbers, in one order for saving and restoring. */
#define INTEGER_LIST(X)                                                                                                \
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
    pess__logtext_save(&dqn->log, sink);
    free(games);
    return status;
}

pess_status pess__dqn_save(pess__dqn *dqn, pess_error *error) {
    for (int64_t i = 0; i < dqn->online->size; i++)
        if (!isfinite(dqn->online->parameters[i]))
            return pess__fail(error, PESS_NOT_CONVERGED, "a parameter is not finite after update %lld",
                              (long long)dqn->updates);
    const double seconds = dqn->seconds_before + pess__clock() - dqn->begun;
    const pess__generations generations = generations_of(dqn);
    pess__sink sink;
    PESS_TRY(pess__generations_begin(&generations, dqn->generation, dqn->frames, &sink, error));
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
#define VALUE_OF(name) dqn->name,
    const int64_t counts[] = {INTEGER_LIST(VALUE_OF) dqn->frames};
    PESS_TRY(pess__generations_check_counts(cursor, counts, sizeof counts / sizeof counts[0], error));
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
    return pess__logtext_restore(&dqn->log, cursor, error);
}

pess_status pess__dqn_restore(pess__dqn *dqn, bool *found, pess_error *error) {
    const pess__generations generations = generations_of(dqn);
    pess__cursor cursor;
    pess_status status = pess__generations_newest(&generations, &cursor, &dqn->frames, found, error);
    if (status == PESS_OK && *found) status = restore_body(dqn, &cursor, error);
    pess__cursor_close(&cursor);
    return status;
}
