/* Figure 1a: 2000 transitions, the collecting policy ε-greedy optimal with ε from 0 to 1. */
#include "core/memory.h"
#include "experiment/gridworld.h"

#include <stdio.h>
#include <stdlib.h>

enum { TRANSITIONS = 2000 };

static pess_status prepare(pess__trials *trials, pess_error *error) {
    PESS_TRY(pess__gridworld_begin(trials, false, error));
    pess__gridworld *grid = trials->context;
    const int64_t points = trials->options->points;
    double *x = NULL;
    PESS_TRY(pess__allocate(&x, points, sizeof *x, "the points", error));
    pess_status status = PESS_OK;
    for (int64_t k = 0; k < points && status == PESS_OK; k++) {
        x[k] = points > 1 ? (double)k / (double)(points - 1) : 0;
        status = pess__gridworld_add_case(grid, x[k], TRANSITIONS, error);
    }
    char first[200];
    (void)snprintf(first, sizeof first,
                   "Figure 1a: datasets of %d transitions, collected by policies from optimal (ε = 0) to random "
                   "(ε = 1). ",
                   TRANSITIONS);
    if (status == PESS_OK) status = pess__gridworld_curves(trials, x, first, error);
    free(x);
    return status;
}

static const pess__trial_kind trial = PESS__GRIDWORLD_TRIAL(prepare, pess__gridworld_judge_exploration);

const pess__experiment_kind pess__experiment_gridworld_exploration = {
    .info = {.name = "gridworld-exploration",
             .summary = "figure 1a: return against the randomness of the policy that collected the data",
             .title = "Figure 1a: return against the exploration in the data",
             .x = {.name = "epsilon", .label = "exploration ε of the collecting policy"},
             .y_label = "expected return",
             .columns = PESS__TRIAL_COLUMNS,
             .settings = PESS__GRIDWORLD_SETTINGS " absorbed-alpha",
             .findings = "What the paper predicts, and what came out"},
    PESS__GRIDWORLD_FIGURE,
    .trial = &trial};
