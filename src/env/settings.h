/* The settings of a game that every options struct with a game has: environments, players, collections. */
#ifndef PESS_ENV_SETTINGS_H
#define PESS_ENV_SETTINGS_H

#include "core/settings.h"

#define PESS__GAME_SETTINGS(type)                                                                                      \
    {.name = "game",                                                                                                   \
     .kind = PESS_SETTING_TEXT,                                                                                        \
     PESS__FIELD(type, game),                                                                                          \
     .argument = "GAME",                                                                                               \
     .sentence = "the game to act in"},                                                                                \
        {.name = "sticky",                                                                                             \
         .kind = PESS_SETTING_NUMBER,                                                                                  \
         PESS__FIELD(type, sticky),                                                                                    \
         .standard = "0.1",                                                                                            \
         PESS__FROM_TO(0, 1),                                                                                          \
         .argument = "P",                                                                                              \
         .sentence = "probability that the previous action is repeated"},                                              \
        {.name = "ramping",                                                                                            \
         .kind = PESS_SETTING_SWITCH,                                                                                  \
         PESS__FIELD(type, ramping),                                                                                   \
         .standard = "on",                                                                                             \
         .argument = "on|off",                                                                                         \
         .sentence = "the game grows harder as it goes on"},                                                           \
    {                                                                                                                  \
        .name = "minimal-actions", .kind = PESS_SETTING_SWITCH, PESS__FIELD(type, minimal_actions), .standard = "off", \
        .sentence = "offer only the actions that do something in the game"                                             \
    }

/* Of players and collections: without a limit an episode of a policy that stands still would never end. */
#define PESS__STEP_LIMIT_SETTING(type)                                                                                 \
    {                                                                                                                  \
        .name = "step-limit", .kind = PESS_SETTING_COUNT, PESS__FIELD(type, step_limit), .standard = "10000",          \
        PESS__FROM_TO(1, 1e15), .argument = "N", .sentence = "steps after which an episode is cut off"                 \
    }

#endif
