/* The engine of experiments with games: opening a directory, and what the page shows. */
#include "experiment/games.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const pess__experiment_default pess__games_defaults[] = {
    {"trials", "3"}, {"algorithms", "imitation,naive,proximal:0.25,proximal:0.5"}, {"protocol", "quick"}, {NULL, NULL}};

const pess__experiment_table pess__games_tables[] = {
    {.title = "Predicted and obtained",
     .note = "What an algorithm expects in the first states of the evaluation episodes, and the discounted return that "
             "it got in the same episodes (thin dotted lines). Where the first is far above the second, the algorithm "
             "believes in rewards that the data do not show: the paper's point about overestimation.",
     .columns = "predicted obtained",
     .y_label = "discounted return",
     .folded = true},
    {.title = "Mean score (smallest … largest of the trials)", .columns = "mean"},
    {.title = "How steady the scores are",
     .note =
         "Score of the final update alone / best evaluation seen (not a result: it is chosen after the fact) / largest "
         "minus smallest of the scored updates / share of steps in states that are not in the data.",
     .columns = "final_mean best_mean spread outside%",
     .folded = true},
    {.title = NULL}};

const char pess__games_explanation[] =
    "The data policy is the player that collected the data, scored on episodes of its own. “Argmax” is a control: the "
    "algorithms that act by sampling, scored when they take their most probable action instead.";

static pess_status read_player(pess__games *m, int index, pess_error *error) {
    const char *game = m->games[index]->name, *directory = m->options->policies;
    char path[PESS__EXPERIMENT_PATH + 80];
    pess_policy_info info;
    if (directory == NULL)
        return pess__fail(error, PESS_IO,
                          "policies: no player of %s to collect data with; expected a directory with %s.pessnet", game,
                          game);
    (void)snprintf(path, sizeof path, "%s/%s.pessnet", directory, game);
    if (access(path, R_OK) != 0)
        return pess__fail(error, PESS_IO, "policies: no player of %s to collect data with: %s cannot be read: %s", game,
                          path, strerror(errno));
    PESS_TRY(pess_policy_read(path, NULL, NULL, NULL, &m->policy[index], error));
    PESS_TRY(pess_policy_check_game(m->policy[index], path, m->games[index], false, error));
    pess_policy_get_info(m->policy[index], &info);
    m->policy_sum[index] = info.checksum;
    return PESS_OK;
}

static pess_status read_players(pess_experiment *e, pess_error *error) {
    pess__games *m = e->plan;
    if (m->options->out == NULL)
        return pess__fail(error, PESS_ARGUMENT,
                          "out: found no directory; runs with games take long and are kept in one");
    for (int i = 0; i < m->game_count; i++) PESS_TRY(read_player(m, i, error));
    return PESS_OK;
}

/* What the directory holds must have been made with these settings. */
static pess_status read_directory(pess_experiment *e, pess_error *error) {
    pess__games *m = e->plan;
    const char *out = m->options->out;
    char path[PESS__EXPERIMENT_PATH], there[PESS__GAMES_SETTINGS_SIZE], here[PESS__GAMES_SETTINGS_SIZE];
    bool found = false;
    (void)snprintf(path, sizeof path, "%s/settings.txt", out);
    PESS_TRY(pess__games_read_text(path, there, sizeof there, &found, error));
    pess__games_settings(m, here, sizeof here);
    PESS_TRY(pess__games_same_settings(out, there, here, false, error));
    m->data_kept = pess__games_data_kept(there);
    for (int64_t d = 0; d < m->dataset_count; d++)
        for (int c = 0; c < m->curve_count; c++) PESS_TRY(pess__games_read_result(m, out, d, c, error));
    return PESS_OK;
}

static void facts(const pess_experiment *e, char *out, size_t size) { pess__games_settings(e->plan, out, size); }

static int64_t finished(const pess_experiment *e, double *seconds) {
    const pess__games *m = e->plan;
    int64_t count = 0;
    *seconds = 0;
    for (int64_t i = 0; i < m->dataset_count * m->curve_count; i++) {
        if (!m->runs[i].finished) continue;
        count++;
        *seconds += m->runs[i].result.seconds;
    }
    return count;
}

const pess__engine pess__engine_games = {.files = "runs.csv",
                                         .kept = "settings.txt runs",
                                         .plan = pess__games_plan,
                                         .open = read_players,
                                         .read = read_directory,
                                         .estimate = pess__games_estimate,
                                         .run = pess__games_execute,
                                         .facts = facts,
                                         .finished = finished,
                                         .merge = pess__games_merge,
                                         .destroy = pess__games_destroy};
