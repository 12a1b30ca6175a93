/* Many environments stepped in one call: an array of instances, cut into one span per thread. Each instance has its own
 * stream, so the cut does not show. */
#include "env/env.h"

#include "core/memory.h"
#include "core/memory_raw.h"
#include "core/threads.h"
#include "env/tables.h"

#include <stdlib.h>
#include <string.h>

struct pess_batch {
    const pess__game *game;
    pess__game own; /* what `game` is of environments of the caller's own */
    pess__rules rules;
    int64_t count;
    int threads;
    size_t stride;
    uint8_t *instances; /* [count * stride] */
    pess_generator generator;
    pess__draw_hook *hooks;    /* [count] NULL: all draws come straight from our generator */
    pess__numpy_random *numpy; /* [count] NULL likewise */
    int64_t final_size;        /* bytes of a kept last observation */
    uint8_t *final, *ended;    /* [count * final_size], [count] */
};

static pess__instance *instance_at(const pess_batch *batch, int64_t i) {
    return (pess__instance *)(void *)(batch->instances + (size_t)i * batch->stride);
}

/* ---- setup */

static pess_status fill(pess_batch *batch, const pess_env_options *options, pess_error *error) {
    const int64_t count = batch->count;
    if (count > INT64_MAX / (int64_t)batch->stride)
        return pess__fail(error, PESS_LIMIT, "a batch of %lld environments is too large", (long long)count);
    PESS_TRY(pess__allocate(&batch->final, count, (size_t)batch->final_size, "the last observations", error));
    PESS_TRY(pess__allocate(&batch->ended, count, 1, "the ends of episodes", error));
    batch->instances = pess__raw_aligned(PESS__ALIGNMENT, (size_t)count * batch->stride);
    if (batch->instances == NULL)
        return pess__fail(error, PESS_MEMORY, "not enough memory for %lld environments", (long long)count);
    memset(batch->instances, 0, (size_t)count * batch->stride);
    if (options->generator == PESS_GENERATOR_NUMPY) {
        PESS_TRY(pess__allocate(&batch->hooks, count, sizeof *batch->hooks, "the generators", error));
        PESS_TRY(pess__allocate(&batch->numpy, count, sizeof *batch->numpy, "the generators", error));
    }
    for (int64_t i = 0; i < count; i++) {
        pess__instance *instance = instance_at(batch, i);
        const bool numpy = batch->numpy != NULL;
        pess__source_seed(&instance->source, numpy ? &batch->hooks[i] : NULL, numpy ? &batch->numpy[i] : NULL, options,
                          (uint64_t)i);
        batch->game->reset(&batch->rules, instance);
    }
    return PESS_OK;
}

/* Takes over the tables of the rules, also on failure. */
static pess_status make(const pess__game *game, const pess__rules *rules, const pess_env_options *options,
                        int64_t count, int threads, pess_batch **out, pess_error *error) {
    pess_batch *batch = NULL;
    pess_status status = PESS_OK;
    if (count < 1)
        status = pess__fail(error, PESS_ARGUMENT, "a batch of %lld environments; expected 1 or more", (long long)count);
    if (status == PESS_OK) status = pess__check_generator(options, count, error);
    if (status == PESS_OK) status = pess__allocate(&batch, 1, sizeof *batch, "a batch", error);
    if (status != PESS_OK) {
        pess__mdp_tables_release(rules->tables);
        return status;
    }
    batch->own = *game;
    batch->game = rules->callbacks != NULL ? &batch->own : game;
    batch->rules = *rules;
    batch->count = count;
    batch->threads = pess__threads(threads);
    batch->stride = pess__instance_stride(game);
    batch->generator = options->generator;
    batch->final_size = rules->tables != NULL ? (int64_t)sizeof(int64_t) : rules->bytes;
    status = fill(batch, options, error);
    if (status != PESS_OK) {
        pess_batch_destroy(batch);
        return status;
    }
    *out = batch;
    return PESS_OK;
}

pess_status pess_batch_create(const pess_env_options *options, int64_t count, int threads, pess_batch **out,
                              pess_error *error) {
    pess_env_options o;
    const pess__game *game = NULL;
    PESS_TRY(pess__env_settle(options, &o, error));
    PESS_TRY(pess__game_of(&o, &game, error));
    const pess__rules rules = pess__rules_of(game, &o);
    return make(game, &rules, &o, count, threads, out, error);
}

pess_status pess_batch_create_mdp(const pess_mdp *mdp, const double *start, const pess_env_options *options,
                                  int64_t count, int threads, pess_batch **out, pess_error *error) {
    pess_env_options o;
    pess__rules rules;
    PESS_TRY(pess__env_settle(options, &o, error));
    PESS_TRY(pess__mdp_tables_create(mdp, start, &o, &rules, error));
    return make(&pess__game_mdp, &rules, &o, count, threads, out, error);
}

pess_status pess_batch_create_own(const pess_env_callbacks *callbacks, const pess_env_options *options, int64_t count,
                                  int threads, pess_batch **out, pess_error *error) {
    pess_env_options o;
    pess__game game;
    pess__rules rules;
    PESS_TRY(pess__env_settle(options, &o, error));
    PESS_TRY(pess__own_game(callbacks, &o, &game, &rules, error));
    return make(&game, &rules, &o, count, threads, out, error);
}

void pess_batch_destroy(pess_batch *batch) {
    if (batch == NULL) return;
    pess__mdp_tables_release(batch->rules.tables);
    free(batch->instances);
    free(batch->hooks);
    free(batch->numpy);
    free(batch->final);
    free(batch->ended);
    free(batch);
}

int64_t pess_batch_count(const pess_batch *batch) { return batch->count; }
int64_t pess_batch_actions(const pess_batch *batch) { return batch->rules.actions; }
int64_t pess_batch_bits(const pess_batch *batch) { return batch->rules.bits; }
int64_t pess_batch_bytes(const pess_batch *batch) { return batch->rules.bytes; }
pess_observation_kind pess_batch_kind(const pess_batch *batch) { return batch->game->info.kind; }

/* ---- acting */

static pess_status check_actions(const pess_batch *batch, const int32_t *actions, pess_error *error) {
    const uint32_t most = (uint32_t)batch->rules.actions - 1; /* negative actions are large as unsigned ones */
    uint32_t worst = 0;
    for (int64_t i = 0; i < batch->count; i++) worst = (uint32_t)actions[i] > worst ? (uint32_t)actions[i] : worst;
    for (int64_t i = 0; worst > most && i < batch->count; i++)
        if ((uint32_t)actions[i] > most)
            return pess__fail(error, PESS_ARGUMENT, "environment %lld, action: found %ld, expected 0 to %lu",
                              (long long)i, (long)actions[i], (unsigned long)most);
    if (batch->game->has_action == NULL) return PESS_OK;
    for (int64_t i = 0; i < batch->count; i++) {
        const void *state = pess__state(instance_at(batch, i));
        if (!batch->game->has_action(&batch->rules, state, actions[i]))
            return pess__fail(error, PESS_ARGUMENT,
                              "environment %lld, action: found %ld, which state %lld does not have", (long long)i,
                              (long)actions[i], (long long)pess__mdp_tables_state(state));
    }
    return PESS_OK;
}

pess_status pess_batch_step(pess_batch *batch, const int32_t *actions, const pess_batch_out *out, pess_error *error) {
    PESS_TRY(check_actions(batch, actions, error));
    const pess__span whole = {.game = batch->game,
                              .rules = &batch->rules,
                              .instances = batch->instances,
                              .stride = batch->stride,
                              .last = batch->count,
                              .actions = actions,
                              .out = out,
                              .final = batch->final,
                              .ended = batch->ended,
                              .fast = batch->hooks == NULL};
    const int threads = pess__threads_still(batch->threads);
    const int64_t parts = threads < batch->count ? threads : batch->count;
    if (parts <= 1) {
        batch->game->run(&whole);
        return PESS_OK;
    }
#pragma omp parallel for num_threads((int)parts) schedule(static, 1)
    for (int64_t part = 0; part < parts; part++) {
        pess__span span = whole;
        span.first = batch->count * part / parts;
        span.last = batch->count * (part + 1) / parts;
        batch->game->run(&span);
    }
    return PESS_OK;
}

void pess_batch_observe(const pess_batch *batch, const pess_batch_out *out) {
    for (int64_t i = 0; i < batch->count; i++) {
        if (out->rewards != NULL) out->rewards[i] = 0;
        if (out->ends != NULL) out->ends[i] = PESS_END_NONE;
        pess__observe(batch->game, &batch->rules, instance_at(batch, i), out, i);
    }
}

bool pess_batch_final_bits(const pess_batch *batch, int64_t index, uint8_t *out) {
    if (index < 0 || index >= batch->count || batch->ended[index] == 0) return false;
    if (batch->rules.tables == NULL) {
        memcpy(out, batch->final + index * batch->final_size, (size_t)batch->final_size);
        return true;
    }
    const uint64_t state = (uint64_t)pess_batch_final_state(batch, index);
    memset(out, 0, (size_t)batch->rules.bytes);
    out[state / 8] = (uint8_t)(1U << (state % 8));
    return true;
}

int64_t pess_batch_final_state(const pess_batch *batch, int64_t index) {
    int64_t state = -1;
    if (index >= 0 && index < batch->count && batch->ended[index] != 0 && batch->rules.tables != NULL)
        memcpy(&state, batch->final + index * batch->final_size, sizeof state);
    return state;
}

/* ---- saving: the instances, then the kept observations and their flags */

static pess__stored stored_batch(const pess_batch *batch) {
    const int64_t size = (int64_t)pess__instance_size(batch->game, batch->numpy != NULL);
    return (pess__stored){.game = batch->game->info.name,
                          .generator = batch->generator,
                          .count = batch->count,
                          .bits = batch->rules.bits,
                          .body = batch->count * (size + batch->final_size + 1)};
}

int64_t pess_batch_save_size(const pess_batch *batch) {
    const pess__stored what = stored_batch(batch);
    return pess__stored_size(&what);
}

pess_status pess_batch_save(const pess_batch *batch, uint8_t *out, int64_t size, pess_error *error) {
    const pess__stored what = stored_batch(batch);
    const size_t one = pess__instance_size(batch->game, batch->numpy != NULL);
    PESS_TRY(pess__stored_begin(&what, out, size, error));
    uint8_t *to = out + pess__stored_offset();
    for (int64_t i = 0; i < batch->count; i++, to += one)
        pess__instance_save(batch->game, instance_at(batch, i), batch->numpy != NULL ? &batch->numpy[i] : NULL, to);
    memcpy(to, batch->final, (size_t)(batch->count * batch->final_size));
    memcpy(to + batch->count * batch->final_size, batch->ended, (size_t)batch->count);
    pess__stored_seal(&what, out);
    return PESS_OK;
}

static bool finals_valid(const pess_batch *batch, const uint8_t *final, const uint8_t *ended) {
    for (int64_t i = 0; i < batch->count; i++) {
        if (ended[i] > 1) return false;
        if (batch->rules.tables != NULL && !batch->game->valid(&batch->rules, final + i * batch->final_size))
            return false;
    }
    return true;
}

pess_status pess_batch_restore(pess_batch *batch, const uint8_t *bytes, int64_t size, pess_error *error) {
    const pess__stored what = stored_batch(batch);
    const size_t one = pess__instance_size(batch->game, batch->numpy != NULL);
    PESS_TRY(pess__stored_open(&what, bytes, size, error));
    const uint8_t *body = bytes + pess__stored_offset();
    for (int64_t i = 0; i < batch->count; i++)
        if (!pess__instance_valid(batch->game, &batch->rules, batch->numpy != NULL, body + (size_t)i * one))
            return pess__fail(error, PESS_INPUT, "saved batch: environment %lld is in no possible state of %s",
                              (long long)i, batch->game->info.name);
    const uint8_t *final = body + (size_t)batch->count * one, *ended = final + batch->count * batch->final_size;
    if (!finals_valid(batch, final, ended))
        return pess__fail(error, PESS_INPUT, "saved batch: the last observations are damaged");
    for (int64_t i = 0; i < batch->count; i++)
        pess__instance_load(batch->game, instance_at(batch, i), batch->numpy != NULL ? &batch->numpy[i] : NULL,
                            body + (size_t)i * one);
    memcpy(batch->final, final, (size_t)(batch->count * batch->final_size));
    memcpy(batch->ended, ended, (size_t)batch->count);
    return PESS_OK;
}
