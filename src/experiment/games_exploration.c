/* Games along ε: how exploratory the policy is that collects the data. */
#include "experiment/games.h"
#include "experiment/games_judge.h"

#include <stdio.h>

static void place(const pess_experiment_options *options, double x, pess__games_dataset *dataset) {
    dataset->epsilon = x;
    dataset->transitions = options->transitions;
}

static void describe(const pess_experiment_options *options, char *out, size_t size) {
    (void)snprintf(out, size, "datasets of %lld transitions", (long long)options->transitions);
}

/* What the paper says of every game, and what uncertainty-aware learning is held to. */
static pess_status judge(pess__games *m, pess_error *error) {
    const pess_experiment *e = m->experiment;
    pess_experiment_claim claims[PESS__GAMES_CLAIMS + PESS__GAMES_GOALS * (PESS__GAMES_LIMIT + 1)];
    const size_t count = (size_t)e->point_count;
    const char *proximal = pess__curve_of(e->points, count, "proximal");
    for (int g = 0; g < m->game_count; g++) {
        const size_t found = pess__games_judge(e->points, count, m->games[g]->name, m->x, m->x_count, proximal, claims);
        PESS_TRY(pess__games_add_claims(m, claims, found, error));
    }
    const size_t found =
        pess__games_judge_exploration_goals(e->points, count, m->games, m->game_count, m->x, m->x_count, claims);
    return pess__games_add_claims(m, claims, found, error);
}

#define ALONG_EPSILON                                                                                                  \
    .values = "epsilons", .fixed = "transitions", .symbol = "ε", .least = 0, .most = 1, .place = place,                \
    .describe = describe

static const pess__games_axis axis = {ALONG_EPSILON, .judge = judge};

const pess__experiment_kind pess__experiment_minatar_exploration = {
    .info = {.name = "minatar-exploration",
             .summary = "games: return against the randomness of the player that collected the data",
             .title = "Games: how exploratory the data are",
             .x = {.name = "epsilon", .label = "ε of the data policy"},
             PESS__GAMES_INFO,
             .settings = PESS__GAMES_SETTINGS " epsilons transitions",
             .findings = "What was expected, and what came out"},
    .defaults = pess__games_defaults,
    PESS__GAMES_ROW,
    .share_of = "behaviour",
    .games = &axis};

/* The same axis with values that have been fitted: everything about it was written down before the first run. ε = 0.66,
 * where the question is open, is run first. */
static const pess__games_axis settled_axis = {ALONG_EPSILON, .trivial = true, .first = 0.66,
                                              .judge = pess__games_verdict};

static const pess__experiment_default settled_defaults[] = {
    {"trials", "3"},
    {"seed", "23"},
    {"epsilons", "0,0.1,0.33,0.66,1"},
    {"protocol", "settled"},
    {"algorithms", "imitation,ua-propensity,naive,proximal:0.25,proximal:1,bcq,ua-imitation,cql"},
    {"controls", "off"},
    {NULL, NULL}};

const pess__experiment_kind pess__experiment_minatar_settled = {
    .info = {.name = "minatar-settled",
             .summary = "games: return against that randomness, with trainings that stop by held-out episodes and "
                        "rules of their own",
             .title = "Games: how exploratory the data are, with values that have been fitted",
             .x = {.name = "epsilon", .label = "ε of the data policy"},
             PESS__GAMES_INFO,
             .settings = PESS__GAMES_SETTINGS " epsilons transitions",
             .findings = "What was written down beforehand, and what came out"},
    .defaults = settled_defaults,
    PESS__GAMES_ROW,
    .share_of = "behaviour",
    .games = &settled_axis};
