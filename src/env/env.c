/* One environment. */
#include "env/env.h"

#include "core/memory.h"
#include "core/memory_raw.h"
#include "env/planes.h"
#include "env/tables.h"

#include <stdlib.h>

static pess_status make(const pess__game *game, const pess__rules *rules, const pess_env_options *options,
                        pess_env **out, pess_error *error) {
    PESS_TRY(pess__check_generator(options, 1, error));
    pess_env *env = NULL;
    PESS_TRY(pess__allocate(&env, 1, sizeof *env, "an environment", error));
    env->own = *game;
    env->game = rules->callbacks != NULL ? &env->own : game;
    env->rules = *rules;
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
    pess__source_seed(&env->instance->source, &env->hook, &env->numpy, options, 0);
    env->game->reset(&env->rules, env->instance);
}

pess_status pess_env_create(const pess_env_options *options, pess_env **out, pess_error *error) {
    pess_env_options o;
    const pess__game *game = NULL;
    PESS_TRY(pess__env_settle(options, &o, error));
    PESS_TRY(pess__game_of(&o, &game, error));
    const pess__rules rules = pess__rules_of(game, &o);
    PESS_TRY(make(game, &rules, &o, out, error));
    start(*out, &o);
    return PESS_OK;
}

pess_status pess_env_create_mdp(const pess_mdp *mdp, const double *start_at, const pess_env_options *options,
                                pess_env **out, pess_error *error) {
    pess_env_options o;
    pess__rules rules;
    PESS_TRY(pess__env_settle(options, &o, error));
    PESS_TRY(pess__mdp_tables_create(mdp, start_at, &o, &rules, error));
    const pess_status status = make(&pess__game_mdp, &rules, &o, out, error);
    if (status == PESS_OK)
        start(*out, &o);
    else
        pess__mdp_tables_release(rules.tables);
    return status;
}

pess_status pess_env_create_own(const pess_env_callbacks *callbacks, const pess_env_options *options, pess_env **out,
                                pess_error *error) {
    pess_env_options o;
    pess__game game;
    pess__rules rules;
    PESS_TRY(pess__env_settle(options, &o, error));
    PESS_TRY(pess__own_game(callbacks, &o, &game, &rules, error));
    PESS_TRY(make(&game, &rules, &o, out, error));
    start(*out, &o);
    return PESS_OK;
}

void pess_env_destroy(pess_env *env) {
    if (env == NULL) return;
    pess__mdp_tables_release(env->rules.tables);
    free(env->instance);
    free(env);
}

pess_status pess_env_clone(const pess_env *env, pess_env **out, pess_error *error) {
    pess_env *copy = NULL;
    const pess_env_options options = {.generator = PESS_GENERATOR_FAST}; /* the generator's state is copied below */
    PESS_TRY(make(env->game, &env->rules, &options, &copy, error));
    pess__mdp_tables_share(env->rules.tables);
    memcpy(copy->instance, env->instance, pess__instance_stride(env->game));
    copy->generator = env->generator;
    copy->hook = env->hook;
    copy->numpy = env->numpy;
    if (env->hook.numpy != NULL) copy->hook.numpy = &copy->numpy;
    pess_env_record_draws(copy, NULL, 0); /* the recorder's buffer belongs to one environment only */
    copy->instance->source.hook = &copy->hook;
    *out = copy;
    return PESS_OK;
}

const pess_env_info *pess_env_get_info(const pess_env *env) {
    return env->rules.tables == NULL ? &env->game->info : NULL;
}
int64_t pess_env_actions(const pess_env *env) { return env->rules.actions; }
int64_t pess_env_bits(const pess_env *env) { return env->rules.bits; }
int64_t pess_env_bytes(const pess_env *env) { return env->rules.bytes; }
int64_t pess_env_steps(const pess_env *env) { return env->instance->steps; }
pess_end pess_env_ended(const pess_env *env) { return (pess_end)env->instance->end; }
int64_t pess_env_state(const pess_env *env) {
    return env->rules.tables != NULL ? pess__mdp_tables_state(pess__state(env->instance)) : -1;
}

/* ---- acting */

static pess_status check_tape(const pess_env *env, pess_error *error) {
    static const char *const faults[] = {"", "the tape has no draw left",
                                         "the tape holds a draw of the other kind (uniform, integer)",
                                         "the tape holds a value out of range"};
    if (env->hook.fault == PESS__TAPE_FINE) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "draw %lld: %s", (long long)env->hook.tape_used, faults[env->hook.fault]);
}

pess_status pess_env_reset(pess_env *env, pess_error *error) {
    env->hook.fault = PESS__TAPE_FINE;
    env->game->reset(&env->rules, env->instance);
    env->instance->steps = 0;
    env->instance->end = PESS_END_NONE;
    return check_tape(env, error);
}

pess_status pess_env_step(pess_env *env, int64_t action, pess_env_step_result *out, pess_error *error) {
    pess__instance *instance = env->instance;
    if (action < 0 || action >= env->rules.actions)
        return pess__fail(error, PESS_ARGUMENT, "action: found %lld, expected 0 to %lld", (long long)action,
                          (long long)(env->rules.actions - 1));
    if (instance->end != PESS_END_NONE)
        return pess__fail(error, PESS_ARGUMENT, "the episode has ended (%s): reset it first",
                          instance->end == PESS_END_TERMINAL ? "terminal" : "cut off");
    if (env->game->has_action != NULL && !env->game->has_action(&env->rules, pess__state(instance), action))
        return pess__fail(error, PESS_ARGUMENT, "action: found %lld, which state %lld does not have", (long long)action,
                          (long long)pess_env_state(env));
    env->hook.fault = PESS__TAPE_FINE;
    const pess__step_result outcome = env->game->step(&env->rules, instance, action);
    const bool late = ++instance->steps >= env->rules.step_limit;
    instance->end = outcome.terminal ? PESS_END_TERMINAL : late ? PESS_END_CUTOFF : PESS_END_NONE;
    if (out != NULL)
        *out = (pess_env_step_result){.reward = outcome.reward,
                                      .end = (pess_end)instance->end,
                                      .action = env->game->draw == NULL ? (int)action : instance->previous};
    return check_tape(env, error);
}

/* ---- observations */

void pess_env_observe_bits(const pess_env *env, uint8_t *out) {
    pess__observe(env->game, &env->rules, env->instance, &(pess_batch_out){.bits = out}, 0);
}

void pess_env_observe_bytes(const pess_env *env, pess_layout layout, uint8_t *out) {
    pess__observe(env->game, &env->rules, env->instance, &(pess_batch_out){.bytes = out, .layout = layout}, 0);
}

void pess_env_observe_floats(const pess_env *env, pess_layout layout, float *out) {
    pess__observe(env->game, &env->rules, env->instance, &(pess_batch_out){.floats = out, .layout = layout}, 0);
}

/* ---- draws: a tape in place of the generator, a record of them */

void pess_env_set_tape(pess_env *env, const pess_draw *draws, int64_t count) {
    env->hook.tape = draws;
    env->hook.tape_length = draws != NULL ? count : 0;
    env->hook.tape_used = 0;
    env->hook.fault = PESS__TAPE_FINE;
}

int64_t pess_env_tape_used(const pess_env *env) { return env->hook.tape_used; }

void pess_env_record_draws(pess_env *env, pess_draw *out, int64_t capacity) {
    env->hook.record = out;
    env->hook.record_capacity = out != NULL ? capacity : 0;
    env->hook.recorded = 0;
    env->hook.recording = out != NULL;
}

int64_t pess_env_drawn(const pess_env *env) { return env->hook.recorded; }
