/* Environments of the caller's own: functions behind the table that games have. */
#include "core/settings.h"
#include "env/control.h"

enum { LARGEST_STATE = 2048, MOST_ACTIONS = 256 };

static void reset(const pess__rules *rules, pess__instance *instance) {
    const pess_env_callbacks *c = rules->callbacks;
    c->reset(c->user, pess__state(instance), (pess_random *)(void *)&instance->source.rng);
}

static pess__step_result step(const pess__rules *rules, pess__instance *instance, int64_t action) {
    const pess_env_callbacks *c = rules->callbacks;
    pess__step_result result = {0};
    result.reward =
        c->step(c->user, pess__state(instance), action, (pess_random *)(void *)&instance->source.rng, &result.terminal);
    return result;
}

static void observe(const pess__rules *rules, const void *state, void *out) {
    rules->callbacks->observe(rules->callbacks->user, state, out);
}

/* Nobody but the caller knows which states are possible. */
static bool valid(const pess__rules *rules, const void *state) {
    (void)rules, (void)state;
    return true;
}

static pess_status check(const pess_env_callbacks *c, pess_error *error) {
    PESS_TRY(pess__check_struct("the environment", c, sizeof *c, error));
    if (c->reset == NULL || c->step == NULL || c->observe == NULL)
        return pess__fail(error, PESS_ARGUMENT, "an environment needs reset, step and observe");
    if (c->actions < 1 || c->actions > MOST_ACTIONS)
        return pess__fail(error, PESS_ARGUMENT, "an environment of %lld actions; 1 to %d are possible",
                          (long long)c->actions, MOST_ACTIONS);
    if (c->state_size < 1 || c->state_size > LARGEST_STATE)
        return pess__fail(error, PESS_ARGUMENT, "a state of %lld bytes; 1 to %d are possible", (long long)c->state_size,
                          LARGEST_STATE);
    pess_observations *probe = NULL; /* says what is wrong with a shape */
    PESS_TRY(pess_observations_create("", "", &c->shape, c->actions, &probe, error));
    pess_observations_destroy(probe);
    return c->step_limit >= 0 ? PESS_OK : pess__fail(error, PESS_ARGUMENT, "a step limit below 0");
}

pess_status pess__own_game(const pess_env_callbacks *c, const pess_env_options *options, pess__game *game,
                           pess__rules *rules, pess_error *error) {
    PESS_TRY(check(c, error));
    const bool board = c->shape.channels > 0;
    *game = (pess__game){.info = {.name = "own",
                                  .summary = "an environment of the caller's own",
                                  .kind = c->shape.kind,
                                  .rows = board ? c->shape.rows : 1,
                                  .cols = board ? c->shape.cols : 1,
                                  .channels = board ? c->shape.channels : (int)c->shape.length,
                                  .minimal_count = (int)c->actions,
                                  .step_limit = c->step_limit},
                         .state_size = (size_t)c->state_size,
                         .reset = reset,
                         .step = step,
                         .observe = observe,
                         .valid = valid,
                         .run = pess__control_run};
    *rules = pess__rules_of(game, options);
    rules->actions = c->actions;
    rules->callbacks = c;
    return PESS_OK;
}
