/* Observations as data hold them, as floats and as bytes; and the unpacking of bits that were kept. */
#include "env/env.h"
#include "env/planes.h"
#include "env/tables.h"

/* A state of an MDP is one-hot: all clear but one. */
static void observe_state(const pess__rules *rules, int64_t state, const pess_batch_out *out, int64_t i) {
    const int64_t bits = rules->bits, bytes = rules->bytes;
    if (out->bits != NULL) {
        memset(out->bits + i * bytes, 0, (size_t)bytes);
        out->bits[i * bytes + state / 8] = (uint8_t)(1U << (state % 8));
    }
    if (out->floats != NULL) {
        memset(out->floats + i * bits, 0, (size_t)bits * sizeof *out->floats);
        out->floats[i * bits + state] = 1;
    }
    if (out->bytes != NULL) {
        memset(out->bytes + i * bits, 0, (size_t)bits);
        out->bytes[i * bits + state] = 1;
    }
    if (out->states != NULL) out->states[i] = state;
}

/* Floats and bytes as numbers are the observation itself, where it is made of them. */
static void observe_control(const pess__game *game, const pess__rules *rules, const void *state,
                            const pess_batch_out *out, int64_t i) {
    if (out->bits != NULL) game->observe(rules, state, out->bits + i * rules->bytes);
    if (out->floats != NULL && game->info.kind == PESS_OBSERVATION_FLOATS)
        game->observe(rules, state, out->floats + i * rules->bits);
    if (out->bytes != NULL && game->info.kind == PESS_OBSERVATION_BYTES)
        game->observe(rules, state, out->bytes + i * rules->bits);
}

void pess__observe(const pess__game *game, const pess__rules *rules, pess__instance *instance,
                   const pess_batch_out *out, int64_t i) {
    if (rules->tables != NULL) {
        observe_state(rules, pess__mdp_tables_state(pess__state(instance)), out, i);
        return;
    }
    if (out->states != NULL) out->states[i] = -1;
    if (game->observe != NULL) {
        observe_control(game, rules, pess__state(instance), out, i);
        return;
    }
    uint64_t words[PESS__WORDS];
    const unsigned channels = (unsigned)game->info.channels;
    game->draw(pess__state(instance), words);
    if (out->bits != NULL) memcpy(out->bits + i * rules->bytes, words, (size_t)rules->bytes);
    if (out->floats != NULL) pess__floats(words, channels, out->layout, out->floats + i * rules->bits);
    if (out->bytes != NULL) pess__bytes(words, channels, out->layout, out->bytes + i * rules->bits);
}

/* Index of bit `bit` in the layout. */
static int64_t place(int64_t bit, int64_t cells, int channels, pess_layout layout) {
    return layout == PESS_LAYOUT_HWC ? bit : bit % channels * cells + bit / channels;
}

void pess_bits_to_floats(const uint8_t *bits, int64_t cells, int channels, pess_layout layout, float *out) {
    const int64_t count = cells * channels;
    memset(out, 0, (size_t)count * sizeof *out);
    for (int64_t byte = 0; byte < (count + 7) / 8; byte++)
        for (unsigned left = bits[byte]; left != 0; left &= left - 1)
            out[place(8 * byte + __builtin_ctz(left), cells, channels, layout)] = 1;
}

void pess_bits_to_bytes(const uint8_t *bits, int64_t cells, int channels, pess_layout layout, uint8_t *out) {
    const int64_t count = cells * channels;
    memset(out, 0, (size_t)count);
    for (int64_t byte = 0; byte < (count + 7) / 8; byte++)
        for (unsigned left = bits[byte]; left != 0; left &= left - 1)
            out[place(8 * byte + __builtin_ctz(left), cells, channels, layout)] = 1;
}
