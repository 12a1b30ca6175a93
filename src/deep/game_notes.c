#include "deep/game_notes.h"

#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STICKY "sticky"
#define RAMPING "ramping"
#define MINIMAL_ACTIONS "minimal_actions"

static void add_switch(char *out, const char *key, bool value) {
    const size_t used = strlen(out);
    (void)snprintf(out + used, PESS__GAME_NOTES_SIZE - used, "%s=%d\n", key, value);
}

void pess__game_notes(const pess_env_options *env, bool all, char out[PESS__GAME_NOTES_SIZE]) {
    const pess_env_options usual = pess_env_options_defaults();
    const pess_env_info *game = env->game != NULL ? pess_env_find(env->game) : NULL;
    char sticky[PESS__NUMBER_SIZE];
    out[0] = '\0';
    if (game != NULL && game->kind != PESS_OBSERVATION_BITS) return; /* a control problem has no such rules */
    (void)pess__format_double(env->sticky, sticky);
    if (all || fabs(env->sticky - usual.sticky) > 0) (void)snprintf(out, PESS__GAME_NOTES_SIZE, STICKY "=%s\n", sticky);
    if (all || env->ramping != usual.ramping) add_switch(out, RAMPING, env->ramping);
    if (all || env->minimal_actions != usual.minimal_actions) add_switch(out, MINIMAL_ACTIONS, env->minimal_actions);
}

/* A number of the notes, from 0 to 1; *out stays where there is no such line. */
static pess_status read_number(const char *notes, const char *key, double *out, pess_error *error) {
    char value[64];
    double number;
    if (!pess__note(notes, key, value, sizeof value)) return PESS_OK;
    if (!pess__parse_double(value, value + strlen(value), &number) || !(number >= 0 && number <= 1))
        return pess__fail(error, PESS_INPUT, "the notes of the data say %s=%s; a number from 0 to 1 is expected", key,
                          value);
    *out = number;
    return PESS_OK;
}

static pess_status read_switch(const char *notes, const char *key, bool *out, pess_error *error) {
    double number = *out;
    PESS_TRY(read_number(notes, key, &number, error));
    *out = number > 0;
    return PESS_OK;
}

pess_status pess__game_notes_read(const char *notes, pess_env_options *env, pess_error *error) {
    PESS_TRY(read_number(notes, STICKY, &env->sticky, error));
    PESS_TRY(read_switch(notes, RAMPING, &env->ramping, error));
    return read_switch(notes, MINIMAL_ACTIONS, &env->minimal_actions, error);
}

pess_status pess__game_check_data(const pess_observations *data, const char *name, pess_error *error) {
    const pess_env_info *game = pess_env_find(data->game);
    if (game == NULL) return PESS_OK;
    const pess_observation_shape shape = pess_env_shape(game);
    if (shape.kind != data->shape.kind || shape.length != data->shape.length)
        return pess__fail(error, PESS_INPUT, "%s: observations of %lld %s; those of %s have %lld %s", name,
                          (long long)data->shape.length, pess_observation_kind_name(data->shape.kind), data->game,
                          (long long)shape.length, pess_observation_kind_name(shape.kind));
    if (data->actions != pess_env_full_actions(game) && data->actions != game->minimal_count)
        return pess__fail(error, PESS_INPUT, "%s: %lld actions; %s has %d", name, (long long)data->actions, data->game,
                          pess_env_full_actions(game));
    return PESS_OK;
}
