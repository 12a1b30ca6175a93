/* The tables of games and control problems. */
#include "env/env.h"

#include <stdio.h>
#include <string.h>

#define GAME_ROW(name) &pess__game_##name##_portable,
static const pess__game *const games[] = {PESS__GAMES(GAME_ROW)};
#undef GAME_ROW
#ifdef PESS__HAS_WIDE
#define GAME_ROW(name) &pess__game_##name##_wide,
static const pess__game *const games_wide[] = {PESS__GAMES(GAME_ROW)};
#undef GAME_ROW
#else
#define games_wide games
#endif

enum { GAME_COUNT = sizeof games / sizeof games[0] };

#define CONTROL_ROW(name) &pess__control_##name,
static const pess__game *const controls[] = {PESS__CONTROLS(CONTROL_ROW)};
#undef CONTROL_ROW
enum { CONTROL_COUNT = sizeof controls / sizeof controls[0] };

const pess__game *pess__game_find(const char *name) {
    for (int i = 0; name != NULL && i < GAME_COUNT; i++)
        if (strcmp(games[i]->info.name, name) == 0) return pess__cpu_wide() ? games_wide[i] : games[i];
    for (int i = 0; name != NULL && i < CONTROL_COUNT; i++)
        if (strcmp(controls[i]->info.name, name) == 0) return controls[i];
    return NULL;
}

const pess_env_info *pess_env_list(size_t index) { return index < GAME_COUNT ? &games[index]->info : NULL; }

const pess_env_info *pess_control_list(size_t index) { return index < CONTROL_COUNT ? &controls[index]->info : NULL; }

pess_observation_shape pess_env_shape(const pess_env_info *info) {
    pess_observation_shape shape = {.kind = info->kind, .length = (int64_t)info->rows * info->cols * info->channels};
    if (info->kind != PESS_OBSERVATION_FLOATS)
        shape.rows = info->rows, shape.cols = info->cols, shape.channels = info->channels;
    return shape;
}

int pess_env_full_actions(const pess_env_info *info) {
    return info->kind == PESS_OBSERVATION_BITS ? PESS_ENV_ACTIONS : info->minimal_count;
}

const pess_env_info *pess_env_find(const char *name) {
    const pess__game *game = pess__game_find(name);
    return game != NULL ? &game->info : NULL;
}

const char *pess_env_action_name(int action) {
    static const char *const names[PESS_ENV_ACTIONS] = {"nothing", "left", "up", "right", "down", "fire"};
    return action >= 0 && action < PESS_ENV_ACTIONS ? names[action] : NULL;
}

pess_status pess__game_of(const pess_env_options *options, const pess__game **out, pess_error *error) {
    if (options->game == NULL) return pess__fail(error, PESS_ARGUMENT, "no game is named");
    *out = pess__game_find(options->game);
    if (*out != NULL) return PESS_OK;
    char names[200] = "";
    size_t used = 0;
    for (int i = 0; i < GAME_COUNT + CONTROL_COUNT; i++) {
        const pess__game *game = i < GAME_COUNT ? games[i] : controls[i - GAME_COUNT];
        const int wrote = snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", game->info.name);
        if (wrote < 0 || (size_t)wrote >= sizeof names - used) break;
        used += (size_t)wrote;
    }
    return pess__fail(error, PESS_ARGUMENT, "no game '%.60s'; there are %s", options->game, names);
}
