/* Figure 1a: 2000 transitions, the collecting policy ε-greedy optimal with ε from 0 to 1. */
#include "core/memory.h"
#include "experiment/gridworld.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRANSITIONS = 2000 };

static pess_status prepare(pess_experiment *experiment, pess_error *error) {
    PESS_TRY(pess__gridworld_begin(experiment, false, error));
    pess__gridworld *grid = experiment->context;
    const int64_t points = experiment->options.points;
    double *x = NULL;
    PESS_TRY(pess__allocate(&x, points, sizeof *x, "the points", error));
    pess_status status = PESS_OK;
    for (int64_t k = 0; k < points && status == PESS_OK; k++) {
        x[k] = points > 1 ? (double)k / (double)(points - 1) : 0;
        status = pess__gridworld_add_case(grid, x[k], TRANSITIONS, error);
    }
    if (status == PESS_OK) status = pess__gridworld_ready(experiment, error);
    if (status == PESS_OK) status = pess__gridworld_add_curves(experiment, x, error);
    free(x);
    (void)snprintf(experiment->description, sizeof experiment->description,
                   "Figure 1a: datasets of %d transitions, collected by policies from optimal (ε = 0) to random "
                   "(ε = 1). ",
                   TRANSITIONS);
    const size_t used = strlen(experiment->description);
    pess__gridworld_describe(experiment, false, experiment->description + used, sizeof experiment->description - used);
    return status;
}

const pess__experiment_kind pess__experiment_gridworld_exploration = {
    .info = {.name = "gridworld-exploration",
             .summary = "figure 1a: return against the randomness of the policy that collected the data",
             .title = "Figure 1a: return against the exploration in the data",
             .findings = "What the paper predicts, and what came out",
             .x_label = "exploration ε of the collecting policy",
             .y_label = "expected return",
             .default_trials = 1000,
             .default_points = 25},
    .block = GRID_BLOCK,
    .prepare = prepare,
    .room_create = pess__gridworld_room_create,
    .room_destroy = pess__gridworld_room_destroy,
    .run = pess__gridworld_run,
    .judge = pess__gridworld_judge_exploration,
    .release = pess__gridworld_release};
