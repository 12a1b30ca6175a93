/* Figure 1a: 2000 transitions, the collecting policy ε-greedy optimal with ε from 0 to 1. */
#include "experiment/gridworld.h"

#include <stdio.h>

enum { TRANSITIONS = 2000 };

static pess_status add_epsilons(pess__trials *trials, double *x, pess_error *error) {
    const int64_t points = trials->options->points;
    for (int64_t k = 0; k < points; k++) {
        x[k] = points > 1 ? (double)k / (double)(points - 1) : 0;
        PESS_TRY(pess__gridworld_add_case(trials->context, x[k], TRANSITIONS, error));
    }
    return PESS_OK;
}

static pess_status prepare(pess__trials *trials, pess_error *error) {
    char first[200];
    (void)snprintf(first, sizeof first,
                   "Figure 1a: datasets of %d transitions, collected by policies from optimal (ε = 0) to random "
                   "(ε = 1). ",
                   TRANSITIONS);
    return pess__gridworld_figure(trials, false, add_epsilons, first, error);
}

static const pess__trial_kind trial = PESS__GRIDWORLD_TRIAL(prepare, pess__gridworld_judge_exploration);

const pess__experiment_kind pess__experiment_gridworld_exploration = {
    .info = {.name = "gridworld-exploration",
             .summary = "figure 1a: return against the randomness of the policy that collected the data",
             .title = "Figure 1a: return against the exploration in the data",
             .x = {.name = "epsilon", .label = "exploration ε of the collecting policy"},
             PESS__GRIDWORLD_FIGURE_INFO},
    PESS__GRIDWORLD_FIGURE,
    .trial = &trial};
