#include "names.h"

#include "command.h"

#include <string.h>

#define NAME_IN(table)                                                                                                 \
    static const char *table##_name(size_t index) {                                                                    \
        const pess_##table##_info *info = pess_##table##_list(index);                                                  \
        return info != NULL ? info->name : NULL;                                                                       \
    }
NAME_IN(algorithm)
NAME_IN(uncertainty)
NAME_IN(format)
NAME_IN(learner)
NAME_IN(neural_uncertainty)
NAME_IN(network)
NAME_IN(protocol)
NAME_IN(experiment)

/* Games, then control problems. */
static const char *game_name(size_t index) {
    size_t games = 0;
    while (pess_env_list(games) != NULL) games++;
    const pess_env_info *info = index < games ? pess_env_list(index) : pess_control_list(index - games);
    return info != NULL ? info->name : NULL;
}

static const name_table tables[] = {
    {"ALGORITHM", "list algorithms", algorithm_name},
    {"UNCERTAINTY", "list uncertainties", uncertainty_name},
    {"FORMAT", "list formats", format_name},
    {"LEARNER", "list learners", learner_name},
    {"NEURAL-UNCERTAINTY", "list neural-uncertainties", neural_uncertainty_name},
    {"NETWORK", "list networks", network_name},
    {"PROTOCOL", "list protocols", protocol_name},
    {"EXPERIMENT", "list experiments", experiment_name},
    {"GAME", "env list", game_name},
};

const name_table *find_names(const char *word, size_t length) {
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        if (strlen(tables[i].word) == length && strncmp(tables[i].word, word, length) == 0) return &tables[i];
    return NULL;
}
