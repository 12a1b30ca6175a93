/* Any bytes as the state of a game, under a right checksum: refused, or a game that goes on without leaving its board.
 * The first byte chooses the game, the rest replaces the saved state from its beginning. */
#include "pess.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ENVELOPE = 56, SAVED_LIMIT = 4096 }; /* bytes before the state, which keep what save wrote */

static void play_on(pess_env *env) {
    pess_error error = {0};
    uint8_t bits[200];
    for (int i = 0; i < 60; i++) {
        pess_env_step_result result;
        const bool over = pess_env_ended(env) != PESS_END_NONE;
        if ((over ? pess_env_reset(env, &error) : pess_env_step(env, i % 6, &result, &error)) != PESS_OK) abort();
        pess_env_observe_bits(env, bits);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    pess_error error = {0};
    pess_env_options options = pess_env_options_defaults();
    options.game = pess_env_list(data[0] % 5)->name;
    pess_env *env = NULL;
    if (pess_env_create(&options, &env, &error) != PESS_OK) abort();
    uint8_t saved[SAVED_LIMIT];
    const int64_t length = pess_env_save_size(env);
    if (length > SAVED_LIMIT || pess_env_save(env, saved, length, &error) != PESS_OK) abort();
    const size_t body = (size_t)length - ENVELOPE - sizeof(uint32_t), part = size - 1 < body ? size - 1 : body;
    memcpy(saved + ENVELOPE, data + 1, part);
    const uint32_t crc = (uint32_t)crc32(0, saved, (unsigned)(length - (int64_t)sizeof crc));
    memcpy(saved + length - sizeof crc, &crc, sizeof crc);
    const pess_status status = pess_env_restore(env, saved, length, &error);
    if (status == PESS_OK)
        play_on(env);
    else if (status != PESS_INPUT || error.message[0] == '\0')
        abort();
    pess_env_destroy(env);
    return 0;
}
