/* Rows that all long trainings share. */
#ifndef PESS_DEEP_RUN_SETTINGS_H
#define PESS_DEEP_RUN_SETTINGS_H

#include "core/settings.h"

#define PESS__RUN_SETTINGS(type)                                                                                       \
    {.name = "out",                                                                                                    \
     .letter = 'o',                                                                                                    \
     .kind = PESS_SETTING_TEXT,                                                                                        \
     PESS__FIELD(type, out),                                                                                           \
     .argument = "DIR",                                                                                                \
     .sentence = "directory for log, checkpoints and policy"},                                                         \
        {.name = "resume",                                                                                             \
         .kind = PESS_SETTING_SWITCH,                                                                                  \
         PESS__FIELD(type, resume),                                                                                    \
         .standard = "off",                                                                                            \
         .sentence = "continue from the newest checkpoint in the directory; start if there is none"},                  \
        PESS__SEED_SETTING(type, "of all random numbers"), PESS__THREADS_SETTING(type),                                \
        {.name = "kernels",                                                                                            \
         .kind = PESS_SETTING_TEXT,                                                                                    \
         PESS__FIELD(type, kernels),                                                                                   \
         .argument = "avx512|avx2|portable",                                                                           \
         .sentence = "which instruction set to compute with",                                                          \
         .where_unset = "the best there is"},                                                                          \
    {                                                                                                                  \
        .name = "gamma", .kind = PESS_SETTING_NUMBER, PESS__FIELD(type, gamma), .standard = "0.99",                    \
        PESS__FROM_TO(0, 1), .argument = "G", .sentence = "discount"                                                   \
    }

#endif
