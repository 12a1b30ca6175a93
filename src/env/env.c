/* One environment. */
#include "env/env.h"

#include "core/memory.h"
#include "core/memory_raw.h"
#include "env/planes.h"
#include "env/tables.h"

#include <stdlib.h>

static pess_status make(const pess__game *game, const pess__settings *settings, const pess_env_options *options,
                        pess_env **out, pess_error *error) {
    PESS_TRY(pess__check_generator(options, 1, error));
    pess_env *env = NULL;
    PESS_TRY(pess__allocate(&env, 1, sizeof *env, "an environment", error));
    env->game = game;
    env->settings = *settings;
    env->generator = options->generator;
    const size_t size = pess__instance_stride(game);
    env->instance = pess__raw_aligned(PESS__ALIGNMENT, size);
    if (env->instance == NULL) {
        free(env);
        return pess__fail(error, PESS_MEMORY, "not enough memory for an environment");
    }
    memset(env->instance, 0, size);
    *out = env;
    return PESS_OK;
}

static void start(pess_env *env, const pess_env_options *options) {
    pess__source_seed(&env->instance->source, &env->door, &env->numpy, options, 0);
    env->game->reset(&env->settings, env->instance);
}

pess_status pess_env_create(const pess_env_options *options, pess_env **out, pess_error *error) {
    if (options->game == NULL) return pess__fail(error, PESS_ARGUMENT, "no game is named");
    const pess__game *game = pess__game_find(options->game);
    if (game == NULL) return pess__fail_game(options->game, error);
    pess__settings settings;
    PESS_TRY(pess__settings_create(game, options, &settings, error));
    PESS_TRY(make(game, &settings, options, out, error));
    start(*out, options);
    return PESS_OK;
}

pess_status pess_env_create_mdp(const pess_mdp *mdp, const double *start_at, const pess_env_options *options,
                                pess_env **out, pess_error *error) {
    pess__settings settings;
    PESS_TRY(pess__tables_create(mdp, start_at, options, &settings, error));
    const pess_status status = make(&pess__game_mdp, &settings, options, out, error);
    if (status == PESS_OK)
        start(*out, options);
    else
        pess__tables_release(settings.tables);
    return status;
}

void pess_env_destroy(pess_env *env) {
    if (env == NULL) return;
    pess__tables_release(env->settings.tables);
    free(env->instance);
    free(env);
}

pess_status pess_env_clone(const pess_env *env, pess_env **out, pess_error *error) {
    pess_env *copy = NULL;
    const pess_env_options options = {.generator = PESS_GENERATOR_FAST}; /* the generator's state is copied below */
    PESS_TRY(make(env->game, &env->settings, &options, &copy, error));
    pess__tables_share(env->settings.tables);
    memcpy(copy->instance, env->instance, pess__instance_stride(env->game));
    copy->generator = env->generator;
    copy->door = env->door;
    copy->numpy = env->numpy;
    if (env->door.numpy != NULL) copy->door.numpy = &copy->numpy;
    pess_env_record_draws(copy, NULL, 0); /* the recorder's buffer belongs to one environment only */
    copy->instance->source.door = &copy->door;
    *out = copy;
    return PESS_OK;
}

const pess_env_info *pess_env_get_info(const pess_env *env) {
    return env->settings.tables == NULL ? &env->game->info : NULL;
}
int64_t pess_env_actions(const pess_env *env) { return env->settings.actions; }
int64_t pess_env_bits(const pess_env *env) { return env->settings.bits; }
int64_t pess_env_bytes(const pess_env *env) { return env->settings.bytes; }
int64_t pess_env_steps(const pess_env *env) { return env->instance->steps; }
pess_end pess_env_ended(const pess_env *env) { return (pess_end)env->instance->end; }
int64_t pess_env_state(const pess_env *env) {
    return env->settings.tables != NULL ? pess__tables_state(pess__state(env->instance)) : -1;
}

/* ---- acting */

static pess_status check_tape(const pess_env *env, pess_error *error) {
    static const char *const faults[] = {"", "the tape has no draw left",
                                         "the tape holds a draw of the other kind (uniform, integer)",
                                         "the tape holds a value out of range"};
    if (env->door.fault == PESS__TAPE_FINE) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "draw %lld: %s", (long long)env->door.tape_used, faults[env->door.fault]);
}

pess_status pess_env_reset(pess_env *env, pess_error *error) {
    env->door.fault = PESS__TAPE_FINE;
    env->game->reset(&env->settings, env->instance);
    env->instance->steps = 0;
    env->instance->end = PESS_END_NONE;
    return check_tape(env, error);
}

pess_status pess_env_step(pess_env *env, int64_t action, pess_env_step_result *out, pess_error *error) {
    pess__instance *instance = env->instance;
    if (action < 0 || action >= env->settings.actions)
        return pess__fail(error, PESS_ARGUMENT, "action: found %lld, expected 0 to %lld", (long long)action,
                          (long long)(env->settings.actions - 1));
    if (instance->end != PESS_END_NONE)
        return pess__fail(error, PESS_ARGUMENT, "the episode has ended (%s): reset it first",
                          instance->end == PESS_END_TERMINAL ? "terminal" : "cut off");
    if (env->game->has_action != NULL && !env->game->has_action(&env->settings, pess__state(instance), action))
        return pess__fail(error, PESS_ARGUMENT, "action: found %lld, which state %lld does not have", (long long)action,
                          (long long)pess_env_state(env));
    env->door.fault = PESS__TAPE_FINE;
    const pess__outcome outcome = env->game->step(&env->settings, instance, action);
    const bool late = ++instance->steps >= env->settings.step_limit;
    instance->end = outcome.terminal ? PESS_END_TERMINAL : late ? PESS_END_CUTOFF : PESS_END_NONE;
    if (out != NULL)
        *out = (pess_env_step_result){.reward = outcome.reward,
                                      .end = (pess_end)instance->end,
                                      .action = env->settings.tables != NULL ? (int)action : instance->previous};
    return check_tape(env, error);
}

/* ---- observations */

void pess_env_observe_bits(const pess_env *env, uint8_t *out) {
    pess__observe(env->game, &env->settings, env->instance, &(pess_batch_out){.bits = out}, 0);
}

void pess_env_observe_bytes(const pess_env *env, pess_layout layout, uint8_t *out) {
    pess__observe(env->game, &env->settings, env->instance, &(pess_batch_out){.bytes = out, .layout = layout}, 0);
}

void pess_env_observe_floats(const pess_env *env, pess_layout layout, float *out) {
    pess__observe(env->game, &env->settings, env->instance, &(pess_batch_out){.floats = out, .layout = layout}, 0);
}

/* ---- the door */

void pess_env_set_tape(pess_env *env, const pess_draw *draws, int64_t count) {
    env->door.tape = draws;
    env->door.tape_length = draws != NULL ? count : 0;
    env->door.tape_used = 0;
    env->door.fault = PESS__TAPE_FINE;
}

int64_t pess_env_tape_used(const pess_env *env) { return env->door.tape_used; }

void pess_env_record_draws(pess_env *env, pess_draw *out, int64_t capacity) {
    env->door.record = out;
    env->door.record_capacity = out != NULL ? capacity : 0;
    env->door.recorded = 0;
    env->door.recording = out != NULL;
}

int64_t pess_env_drawn(const pess_env *env) { return env->door.recorded; }
