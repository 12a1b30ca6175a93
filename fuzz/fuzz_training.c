/* Checkpoints of trainings (.pessdqn and .pesstrain have one frame): version, settings and progress, then, as DQN has
 * them, saved environments, the replay memory and the log. Magic and checksum are put right, so that what lies behind
 * them is reached. */
#include "fuzz_files.h"

#include "deep/generations.h"
#include "deep/replay.h"

#include <zlib.h>

enum { CAPACITY = 8, ENVS = 2, MOST = 1 << 16 };

static pess_batch *batch;
static pess__replay replay;

static void make_parts(void) {
    pess_env_options options = pess_env_options_defaults();
    pess_error error;
    options.game = "breakout";
    if (pess_batch_create(&options, ENVS, 1, &batch, &error) != PESS_OK) abort();
    if (pess__replay_create(&replay, CAPACITY, 50, &error) != PESS_OK) abort();
}

/* As restore_body of deep/dqn_checkpoint.c does it. */
static pess_status restore(pess__cursor *cursor, pess__logtext *log, pess_error *error) {
    const int64_t size = pess__cursor_i64(cursor);
    if (size == pess_batch_save_size(batch) && (size_t)size <= cursor->left) {
        const pess_status status = pess_batch_restore(batch, cursor->at, size, error);
        if (status != PESS_OK) return status;
        cursor->at += size;
        cursor->left -= (size_t)size;
    }
    if (!pess__replay_restore(&replay, cursor, 6)) return pess__fail(error, PESS_INPUT, "the replay does not fit");
    for (int64_t i = 0; i < replay.count; i++)
        if (replay.actions[i] < 0 || replay.actions[i] >= 6 || replay.ends[i] > PESS_END_CUTOFF) abort();
    return pess__logtext_restore(log, cursor, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static uint8_t file[MOST + 12];
    char path[128];
    if (batch == NULL) make_parts();
    if (size > MOST) return 0;
    memcpy(file, "PESSDQN\n", 8);
    if (size > 0) memcpy(file + 8, bytes, size);
    const uint32_t crc = (uint32_t)crc32_z(crc32_z(0, NULL, 0), file, size + 8);
    memcpy(file + 8 + size, &crc, sizeof crc);
    fuzz_write("checkpoint-0.pessdqn", file, size + 12, path);
    const pess__generations generations = {.directory = fuzz_directory,
                                           .suffix = "pessdqn",
                                           .kind = "a checkpoint of DQN",
                                           .settings = "game=breakout\nseed=3\n",
                                           .magic = "PESSDQN\n",
                                           .version = 1,
                                           .resume = true};
    pess__cursor cursor;
    pess__logtext log = {0};
    pess_error error = {0};
    int64_t progress = 0;
    bool found = false;
    pess_status status = pess__generations_newest(&generations, &cursor, &progress, &found, &error);
    if (!found) abort();
    if (status == PESS_OK) status = restore(&cursor, &log, &error);
    if (status != PESS_OK) fuzz_refused(status, &error);
    pess__cursor_close(&cursor);
    free(log.text);
    return 0;
}
