/* Games along the number of transitions. */
#include "experiment/games.h"
#include "experiment/games_judge.h"

#include <stdio.h>

static void place(const pess_experiment_options *options, double x, pess__games_dataset *dataset) {
    dataset->epsilon = options->epsilon;
    dataset->transitions = (int64_t)x;
}

static void describe(const pess_experiment_options *options, char *out, size_t size) {
    (void)snprintf(out, size, "the data with ε = %g", options->epsilon);
}

/* What the paper says is about ε; here uncertainty-aware learning alone is judged. */
static pess_status judge(pess__games *m, pess_error *error) {
    const pess_experiment *e = m->experiment;
    pess_experiment_claim claims[PESS__GAMES_GOALS * (PESS__GAMES_LIMIT + 1)];
    const size_t found = pess__games_judge_data_goals(e->points, (size_t)e->point_count, m->games, m->game_count, m->x,
                                                      m->x_count, claims);
    return pess__games_add_claims(m, claims, found, error);
}

static const pess__games_axis axis = {.values = "sizes",
                                      .fixed = "epsilon",
                                      .symbol = "transitions",
                                      .least = 1,
                                      .most = 1e9,
                                      .whole = true,
                                      .largest_first = true,
                                      .place = place,
                                      .describe = describe,
                                      .judge = judge};

const pess__experiment_kind pess__experiment_minatar_data = {
    .info = {.name = "minatar-data",
             .summary = "games: return against the size of the dataset",
             .title = "Games: how many data there are",
             .x = {.name = "transitions", .label = "transitions in the dataset", .log_scale = true},
             PESS__GAMES_INFO,
             .settings = PESS__GAMES_SETTINGS " sizes epsilon",
             .findings = "What was expected, and what came out"},
    .defaults = pess__games_defaults,
    PESS__GAMES_ROW,
    .games = &axis};
