/* From options to the rules of an environment: every value is checked here, once, for single environments and batches
 * alike. */
#include "env/env.h"
#include "env/settings.h"

static const pess_setting rows[] = {
    PESS__GAME_SETTINGS(pess_env_options),
    {.name = "step-limit",
     .kind = PESS_SETTING_COUNT,
     PESS__FIELD(pess_env_options, step_limit),
     .standard = "0",
     PESS__FROM_TO(0, 1e15),
     .argument = "N",
     .sentence = "steps after which an episode is cut off; 0: never"},
    PESS__SEED_SETTING(pess_env_options, "of all random numbers"),
    {.name = "stream",
     .kind = PESS_SETTING_SEED,
     PESS__FIELD(pess_env_options, stream),
     .standard = "0",
     .argument = "N",
     .sentence = "which of the independent environments of the seed"},
    {.name = "generator",
     .kind = PESS_SETTING_CHOICE,
     PESS__FIELD(pess_env_options, generator),
     .standard = "fast",
     .choices = "fast|numpy",
     .sentence = "numpy: draw for draw what numpy's RandomState(seed) gives"},
};

static const pess_setting_table table = PESS__SETTING_TABLE("env", pess_env_options, rows);

PESS__SETTINGS_OF(env, table)

pess_status pess__env_settle(const pess_env_options *options, pess_env_options *out, pess_error *error) {
    return pess__settle(&table, options, out, error);
}

static const uint8_t all_actions[PESS_ENV_ACTIONS] = {PESS__NOTHING, PESS__LEFT, PESS__UP,
                                                      PESS__RIGHT,   PESS__DOWN, PESS__FIRE};

pess__rules pess__rules_of(const pess__game *game, const pess_env_options *options) {
    const pess_env_info *info = &game->info;
    const pess_observation_shape shape = pess_env_shape(info);
    const bool all = !options->minimal_actions && info->kind == PESS_OBSERVATION_BITS;
    const int64_t own = info->step_limit > 0 ? info->step_limit : INT64_MAX;
    return (pess__rules){.sticky = options->sticky,
                         .ramping = options->ramping,
                         .step_limit = options->step_limit > 0 && options->step_limit < own ? options->step_limit : own,
                         .actions = all ? PESS_ENV_ACTIONS : info->minimal_count,
                         .action_map = all ? all_actions : info->minimal,
                         .bits = shape.length,
                         .bytes = pess_observation_bytes(&shape)};
}

pess_status pess__check_generator(const pess_env_options *options, int64_t count, pess_error *error) {
    if (options->generator == PESS_GENERATOR_FAST) return PESS_OK;
    const uint64_t seeds = (uint64_t)1 << 32, last = options->stream + (uint64_t)count - 1;
    if (options->seed >= seeds || options->stream >= seeds || last >= seeds - options->seed)
        return pess__fail(error, PESS_ARGUMENT,
                          "seed: %llu with stream %llu; numpy's generator takes seeds below 2^32 (seed + stream)",
                          (unsigned long long)options->seed, (unsigned long long)last);
    return PESS_OK;
}

void pess__source_seed(pess__source *source, pess__draw_hook *hook, pess__numpy_random *numpy,
                       const pess_env_options *options, uint64_t index) {
    source->rng = pess__rng_stream(options->seed, "env", options->stream + index);
    source->hook = hook;
    if (options->generator == PESS_GENERATOR_NUMPY) {
        pess__numpy_seed(numpy, (uint32_t)(options->seed + options->stream + index));
        hook->numpy = numpy;
    }
}
