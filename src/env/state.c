/* Environments as plain bytes: a header that says what it is, the instances, a checksum. Restoring checks the checksum
 * and then every value, so that bytes made by hand cannot lead outside the board either. */
#include "env/env.h"

#include <string.h>
#include <zlib.h>

/* What is kept of an instance besides the game's state; no pointers, no padding. */
typedef struct kept {
    uint64_t rng[4];
    int64_t steps;
    uint8_t previous, end, unused[6];
} kept;

size_t pess__instance_size(const pess__game *game, bool numpy) {
    return sizeof(kept) + game->state_size + (numpy ? sizeof(pess__numpy_random) : 0);
}

void pess__instance_save(const pess__game *game, const pess__instance *instance, const pess__numpy_random *numpy,
                         uint8_t *out) {
    kept k = {.steps = instance->steps, .previous = instance->previous, .end = instance->end};
    memcpy(k.rng, instance->source.rng.state, sizeof k.rng);
    memcpy(out, &k, sizeof k);
    memcpy(out + sizeof k, (const uint8_t *)instance + PESS__STATE_OFFSET, game->state_size);
    if (numpy != NULL) memcpy(out + sizeof k + game->state_size, numpy, sizeof *numpy);
}

/* A copy of the game's state where it is aligned for it. */
typedef union aligned_state {
    max_align_t align;
    uint8_t bytes[2048];
} aligned_state;

bool pess__instance_valid(const pess__game *game, const pess__rules *rules, bool numpy, const uint8_t *bytes) {
    kept k;
    aligned_state state;
    if (game->state_size > sizeof state.bytes) return false;
    memcpy(&k, bytes, sizeof k);
    memcpy(state.bytes, bytes + sizeof k, game->state_size);
    if (k.steps < 0 || k.steps > rules->step_limit || k.previous >= PESS_ENV_ACTIONS || k.end > PESS_END_CUTOFF)
        return false;
    if (k.end == PESS_END_NONE && k.steps >= rules->step_limit) return false; /* it would have been cut off */
    if ((k.rng[0] | k.rng[1] | k.rng[2] | k.rng[3]) == 0) return false;       /* the one state xoshiro never leaves */
    if (numpy) {
        uint32_t position = 0;
        memcpy(&position, bytes + sizeof k + game->state_size + offsetof(pess__numpy_random, position),
               sizeof position);
        if (position > PESS__MT_WORDS) return false;
    }
    return game->valid(rules, state.bytes);
}

void pess__instance_load(const pess__game *game, pess__instance *instance, pess__numpy_random *numpy,
                         const uint8_t *bytes) {
    kept k;
    memcpy(&k, bytes, sizeof k);
    memcpy(instance->source.rng.state, k.rng, sizeof k.rng);
    instance->steps = k.steps;
    instance->previous = k.previous;
    instance->end = k.end;
    memcpy(pess__state(instance), bytes + sizeof k, game->state_size);
    if (numpy != NULL) memcpy(numpy, bytes + sizeof k + game->state_size, sizeof *numpy);
}

/* ---- the envelope */

typedef struct envelope {
    char magic[8];
    char game[16];
    uint32_t version, generator;
    int64_t count, body; /* instances, bytes between the envelope and the checksum */
    int64_t bits;        /* of an observation; tells MDPs of different sizes apart */
} envelope;

static envelope envelope_of(const pess__stored *what) {
    envelope e = {.magic = "PESSENV",
                  .version = 1,
                  .generator = (uint32_t)what->generator,
                  .count = what->count,
                  .body = what->body,
                  .bits = what->bits};
    (void)strncpy(e.game, what->game, sizeof e.game - 1);
    return e;
}

size_t pess__stored_offset(void) { return sizeof(envelope); }

int64_t pess__stored_size(const pess__stored *what) {
    return (int64_t)(sizeof(envelope) + sizeof(uint32_t)) + what->body;
}

static uint32_t checksum(const uint8_t *bytes, int64_t size) {
    uLong crc = crc32(0, NULL, 0);
    while (size > 0) {
        const uInt part = size < (1 << 30) ? (uInt)size : 1U << 30;
        crc = crc32(crc, bytes, part);
        bytes += part;
        size -= part;
    }
    return (uint32_t)crc;
}

pess_status pess__stored_begin(const pess__stored *what, uint8_t *out, int64_t size, pess_error *error) {
    if (size < pess__stored_size(what))
        return pess__fail(error, PESS_ARGUMENT, "saving takes %lld bytes, the buffer has %lld",
                          (long long)pess__stored_size(what), (long long)size);
    const envelope e = envelope_of(what);
    memcpy(out, &e, sizeof e);
    return PESS_OK;
}

void pess__stored_seal(const pess__stored *what, uint8_t *out) {
    const int64_t covered = (int64_t)sizeof(envelope) + what->body;
    const uint32_t crc = checksum(out, covered);
    memcpy(out + covered, &crc, sizeof crc);
}

pess_status pess__stored_open(const pess__stored *what, const uint8_t *bytes, int64_t size, pess_error *error) {
    envelope found;
    const envelope wanted = envelope_of(what);
    if (size < (int64_t)sizeof found)
        return pess__fail(error, PESS_INPUT, "saved environment: %lld bytes, too few", (long long)size);
    memcpy(&found, bytes, sizeof found);
    if (memcmp(found.magic, wanted.magic, sizeof found.magic) != 0)
        return pess__fail(error, PESS_INPUT, "these bytes are not a saved environment");
    if (found.version != wanted.version)
        return pess__fail(error, PESS_INPUT, "saved environment: version %u, expected %u", found.version,
                          wanted.version);
    if (memcmp(found.game, wanted.game, sizeof found.game) != 0 || found.bits != wanted.bits)
        return pess__fail(error, PESS_INPUT, "saved environment: found %.16s of %lld bits, expected %.16s of %lld",
                          found.game, (long long)found.bits, wanted.game, (long long)wanted.bits);
    if (found.generator != wanted.generator)
        return pess__fail(error, PESS_INPUT, "saved environment: it has another generator");
    if (found.count != wanted.count)
        return pess__fail(error, PESS_INPUT, "saved environment: found a batch of %lld, expected %lld",
                          (long long)found.count, (long long)wanted.count);
    if (found.body != wanted.body || size != pess__stored_size(what))
        return pess__fail(error, PESS_INPUT, "saved environment: found %lld bytes, expected %lld", (long long)size,
                          (long long)pess__stored_size(what));
    uint32_t crc = 0;
    memcpy(&crc, bytes + sizeof found + what->body, sizeof crc);
    if (crc != checksum(bytes, (int64_t)sizeof found + what->body))
        return pess__fail(error, PESS_INPUT, "saved environment: the checksum is wrong, the bytes are damaged");
    return PESS_OK;
}

/* ---- one environment */

static pess__stored stored_env(const pess_env *env) {
    const bool numpy = env->generator == PESS_GENERATOR_NUMPY;
    return (pess__stored){.game = env->game->info.name,
                          .generator = env->generator,
                          .count = 1,
                          .bits = env->rules.bits,
                          .body = (int64_t)pess__instance_size(env->game, numpy)};
}

int64_t pess_env_save_size(const pess_env *env) {
    const pess__stored what = stored_env(env);
    return pess__stored_size(&what);
}

pess_status pess_env_save(const pess_env *env, uint8_t *out, int64_t size, pess_error *error) {
    const pess__stored what = stored_env(env);
    if (env->hook.tape != NULL) return pess__fail(error, PESS_ARGUMENT, "an environment on a tape cannot be saved");
    PESS_TRY(pess__stored_begin(&what, out, size, error));
    pess__instance_save(env->game, env->instance, env->hook.numpy, out + pess__stored_offset());
    pess__stored_seal(&what, out);
    return PESS_OK;
}

pess_status pess_env_restore(pess_env *env, const uint8_t *bytes, int64_t size, pess_error *error) {
    const pess__stored what = stored_env(env);
    PESS_TRY(pess__stored_open(&what, bytes, size, error));
    const uint8_t *body = bytes + pess__stored_offset();
    if (!pess__instance_valid(env->game, &env->rules, env->hook.numpy != NULL, body))
        return pess__fail(error, PESS_INPUT, "saved environment: the bytes describe no possible state of %s",
                          env->game->info.name);
    pess__instance_load(env->game, env->instance, env->hook.numpy, body);
    return PESS_OK;
}
