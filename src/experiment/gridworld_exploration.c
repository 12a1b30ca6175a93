/* Figure 1a: 2000 transitions, the collecting policy ε-greedy optimal with ε from 0 to 1. */
#include "core/memory.h"
#include "experiment/gridworld.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (status == PESS_OK) status = pess__gridworld_ready(trials, error);
    if (status == PESS_OK) status = pess__gridworld_add_curves(trials, x, error);
    free(x);
    (void)snprintf(trials->experiment->description, sizeof trials->experiment->description,
                   "Figure 1a: datasets of %d transitions, collected by policies from optimal (ε = 0) to random "
                   "(ε = 1). ",
                   TRANSITIONS);
    const size_t used = strlen(trials->experiment->description);
    pess__gridworld_describe(trials, false, trials->experiment->description + used,
                             sizeof trials->experiment->description - used);
    return status;
}

static const pess__trial_kind trial = {.block = GRID_BLOCK,
                                       .prepare = prepare,
                                       .workspace_create = pess__gridworld_workspace_create,
                                       .workspace_destroy = pess__gridworld_workspace_destroy,
                                       .run = pess__gridworld_run,
                                       .judge = pess__gridworld_judge_exploration,
                                       .release = pess__gridworld_release};

const pess__experiment_kind pess__experiment_gridworld_exploration = {
    .info = {.name = "gridworld-exploration",
             .summary = "figure 1a: return against the randomness of the policy that collected the data",
             .title = "Figure 1a: return against the exploration in the data",
             .x = {.name = "epsilon", .label = "exploration ε of the collecting policy"},
             .y_label = "expected return",
             .columns = PESS__TRIAL_COLUMNS,
             .settings = PESS__GRIDWORLD_SETTINGS " absorbed-alpha",
             .findings = "What the paper predicts, and what came out"},
    .defaults = (const pess__experiment_default[]){{"trials", "1000"},
                                                   {"points", "25"},
                                                   {"gamma", "0.99"},
                                                   {"algorithms", "imitation,naive,ua,proximal"},
                                                   {NULL, NULL}},
    .tables = pess__trial_tables,
    .explanation = PESS__TRIAL_EXPLANATION,
    .engine = &pess__engine_trials,
    .trial = &trial};
