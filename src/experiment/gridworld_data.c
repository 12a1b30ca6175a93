/* Figure 1b: datasets of 1 to 200000 transitions, collected at ε = 0.5. */
#include "core/memory.h"
#include "experiment/gridworld.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EPSILON 0.5
#define LARGEST 200000.0

/* Label of point k of n: in the authors' code the integer part of e^(ln(200000)·k/n), k = 1 … n, the first dropped; in
 * the paper's text 1 to 200000 evenly in the logarithm. */
static double label_of(pess_preset preset, int64_t k, int64_t n) {
    if (preset == PESS_PRESET_CODE) {
        /* the last one is 200000 itself, not what rounding makes of it */
        return k + 1 == n ? LARGEST : floor(exp(log(LARGEST) * (double)(k + 1) / (double)n) * (1 + 1e-12));
    }
    return n > 1 ? round(exp(log(LARGEST) * (double)k / (double)(n - 1))) : LARGEST;
}

static pess_status add_sizes(pess_experiment *experiment, double *x, pess_error *error) {
    pess__gridworld *grid = experiment->context;
    const int64_t points = experiment->options.points;
    const bool code = experiment->options.preset == PESS_PRESET_CODE;
    int64_t count = 0;
    for (int64_t k = code && points > 1 ? 1 : 0; k < points; k++) {
        const double size = label_of(experiment->options.preset, k, points);
        if (count > 0 && size == x[count - 1]) continue; /* small sizes coincide where there are many points */
        x[count++] = size;
        /* the authors' code makes each dataset one transition short of its label */
        PESS_TRY(pess__gridworld_add_case(grid, EPSILON, (int64_t)size - (code ? 1 : 0), error));
    }
    return PESS_OK;
}

static pess_status prepare(pess_experiment *experiment, pess_error *error) {
    PESS_TRY(pess__gridworld_begin(experiment, true, error));
    double *x = NULL;
    PESS_TRY(pess__allocate(&x, experiment->options.points, sizeof *x, "the points", error));
    pess_status status = add_sizes(experiment, x, error);
    if (status == PESS_OK) status = pess__gridworld_ready(experiment, error);
    if (status == PESS_OK) status = pess__gridworld_add_curves(experiment, x, error);
    free(x);
    (void)snprintf(experiment->description, sizeof experiment->description,
                   "Figure 1b: datasets of growing size, collected at ε = %g.%s ", EPSILON,
                   experiment->options.preset == PESS_PRESET_CODE
                       ? " As in the authors' code, each dataset is one transition short of its label."
                       : "");
    const size_t used = strlen(experiment->description);
    pess__gridworld_describe(experiment, false, experiment->description + used, sizeof experiment->description - used);
    return status;
}

const pess__experiment_kind pess__experiment_gridworld_data = {
    .info = {.name = "gridworld-data",
             .summary = "figure 1b: return against the size of the dataset",
             .title = "Figure 1b: return against the size of the dataset",
             .findings = "What the paper predicts, and what came out",
             .x_label = "transitions in the dataset",
             .y_label = "expected return",
             .log_x = true,
             .default_trials = 1000,
             .default_points = 25},
    .block = GRID_BLOCK,
    .prepare = prepare,
    .room_create = pess__gridworld_room_create,
    .room_destroy = pess__gridworld_room_destroy,
    .run = pess__gridworld_run,
    .judge = pess__gridworld_judge_data,
    .release = pess__gridworld_release};
