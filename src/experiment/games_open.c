/* Opening: the plan, the players that collect, and what the directory holds already. */
#include "experiment/games.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pess_status read_policies(pess_minatar *m, pess_error *error) {
    for (int i = 0; i < m->game_count; i++) {
        char path[PESS__GAMES_PATH + 80];
        const char *game = m->games[i]->name;
        pess_net_info info;
        (void)snprintf(path, sizeof path, "%s/%s.pessnet", m->policies, game);
        if (m->policies[0] == '\0' || access(path, R_OK) != 0)
            return pess__fail(error, PESS_IO,
                              "%s: no player of %s to collect data with (%s); give the directory that has %s.pessnet "
                              "with --policies, or train one: pess dqn %s --out DIR",
                              m->policies[0] != '\0' ? path : "policies", game,
                              m->policies[0] != '\0' ? strerror(errno) : "no directory is given", game, game);
        PESS_TRY(pess_net_read(path, NULL, &m->policy[i], error));
        PESS_TRY(pess_net_check_game(m->policy[i], path, m->games[i], error));
        PESS_TRY(pess_net_samples(m->policy[i], path, &m->policy_samples[i], error));
        pess_net_get_info(m->policy[i], &info);
        m->policy_sum[i] = info.checksum;
    }
    return PESS_OK;
}

/* What the directory holds must have been made with these settings. */
static pess_status read_directory(pess_minatar *m, pess_error *error) {
    bool used = false, found = false;
    PESS_TRY(pess__games_check_directory(m->out, &used, error));
    if (!used) return PESS_OK;
    if (!m->options.resume)
        return pess__fail(
            error, PESS_ARGUMENT,
            "%s: holds runs already; add --resume to go on with them (finished ones are not run again), or "
            "choose another directory",
            m->out);
    char path[PESS__GAMES_PATH + 20], there[PESS__GAMES_SETTINGS], here[PESS__GAMES_SETTINGS];
    (void)snprintf(path, sizeof path, "%s/settings.txt", m->out);
    PESS_TRY(pess__games_read_text(path, there, sizeof there, &found, error));
    pess__games_settings(m, here, sizeof here);
    PESS_TRY(pess__games_same_settings(m->out, there, here, false, error));
    m->data_kept = pess__games_data_kept(there);
    for (int64_t d = 0; d < m->dataset_count; d++)
        for (int c = 0; c < m->curve_count; c++) PESS_TRY(pess__games_read_result(m, m->out, d, c, error));
    return PESS_OK;
}

pess_status pess_minatar_create(const pess_minatar_options *options, pess_minatar **out, pess_error *error) {
    pess_minatar *m = NULL;
    if (options->out == NULL || *options->out == '\0')
        return pess__fail(error, PESS_ARGUMENT, "out: no directory is given");
    PESS_TRY(pess__games_plan(options, &m, error));
    pess_status status = read_policies(m, error);
    if (status == PESS_OK) status = read_directory(m, error);
    if (status != PESS_OK) {
        pess_minatar_destroy(m);
        return status;
    }
    *out = m;
    return PESS_OK;
}
