/* From options to settings: every value is checked here, once, for single environments and batches alike. */
#include "env/env.h"

pess_env_options pess_env_options_defaults(void) { return (pess_env_options){.sticky = 0.1, .ramping = true}; }

static const uint8_t all_actions[PESS_ENV_ACTIONS] = {PESS__NOTHING, PESS__LEFT, PESS__UP,
                                                      PESS__RIGHT,   PESS__DOWN, PESS__FIRE};

pess_status pess__settings_create(const pess__game *game, const pess_env_options *options, pess__settings *out,
                                  pess_error *error) {
    if (!(options->sticky >= 0 && options->sticky <= 1))
        return pess__fail(error, PESS_ARGUMENT, "sticky: found %g, expected a probability from 0 to 1",
                          options->sticky);
    if (options->step_limit < 0)
        return pess__fail(error, PESS_ARGUMENT, "step limit: found %lld, expected 0 (none) or more",
                          (long long)options->step_limit);
    const int64_t bits = (int64_t)game->info.rows * game->info.cols * game->info.channels;
    *out = (pess__settings){.sticky = options->sticky,
                            .ramping = options->ramping,
                            .step_limit = options->step_limit > 0 ? options->step_limit : INT64_MAX,
                            .actions = options->minimal_actions ? game->info.minimal_count : PESS_ENV_ACTIONS,
                            .action_map = options->minimal_actions ? game->info.minimal : all_actions,
                            .bits = bits,
                            .bytes = (bits + 7) / 8};
    return PESS_OK;
}

pess_status pess__check_generator(const pess_env_options *options, int64_t count, pess_error *error) {
    if (options->generator == PESS_GENERATOR_FAST) return PESS_OK;
    if (options->generator != PESS_GENERATOR_NUMPY)
        return pess__fail(error, PESS_ARGUMENT, "generator: found %d, which is none", (int)options->generator);
    const uint64_t room = (uint64_t)1 << 32, last = options->stream + (uint64_t)count - 1;
    if (options->seed >= room || options->stream >= room || last >= room - options->seed)
        return pess__fail(error, PESS_ARGUMENT,
                          "seed: %llu with stream %llu; numpy's generator takes seeds below 2^32 (seed + stream)",
                          (unsigned long long)options->seed, (unsigned long long)last);
    return PESS_OK;
}

void pess__source_seed(pess__source *source, pess__door *door, pess__numpy_random *numpy,
                       const pess_env_options *options, uint64_t index) {
    source->rng = pess__rng_stream(options->seed, "env", options->stream + index);
    source->door = door;
    if (options->generator == PESS_GENERATOR_NUMPY) {
        pess__numpy_seed(numpy, (uint32_t)(options->seed + options->stream + index));
        door->numpy = numpy;
    }
}
