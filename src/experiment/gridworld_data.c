/* Figure 1b: datasets of 1 to 200000 transitions, collected at ε = 0.5. */
#include "experiment/gridworld.h"

#include <math.h>
#include <stdio.h>

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

static pess_status add_sizes(pess__trials *trials, double *x, pess_error *error) {
    pess__gridworld *grid = trials->context;
    const int64_t points = trials->options->points;
    const bool code = trials->options->preset == PESS_PRESET_CODE;
    int64_t count = 0;
    for (int64_t k = code && points > 1 ? 1 : 0; k < points; k++) {
        const double size = label_of(trials->options->preset, k, points);
        if (count > 0 && size == x[count - 1]) continue; /* small sizes coincide where there are many points */
        x[count++] = size;
        /* the authors' code makes each dataset one transition short of its label */
        PESS_TRY(pess__gridworld_add_case(grid, EPSILON, (int64_t)size - (code ? 1 : 0), error));
    }
    return PESS_OK;
}

static pess_status prepare(pess__trials *trials, pess_error *error) {
    char first[200];
    (void)snprintf(first, sizeof first, "Figure 1b: datasets of growing size, collected at ε = %g.%s ", EPSILON,
                   trials->options->preset == PESS_PRESET_CODE
                       ? " As in the authors' code, each dataset is one transition short of its label."
                       : "");
    return pess__gridworld_figure(trials, true, add_sizes, first, error);
}

static const pess__trial_kind trial = PESS__GRIDWORLD_TRIAL(prepare, pess__gridworld_judge_data);

const pess__experiment_kind pess__experiment_gridworld_data = {
    .info = {.name = "gridworld-data",
             .summary = "figure 1b: return against the size of the dataset",
             .title = "Figure 1b: return against the size of the dataset",
             .x = {.name = "transitions", .label = "transitions in the dataset", .log_scale = true},
             PESS__GRIDWORLD_FIGURE_INFO},
    PESS__GRIDWORLD_FIGURE,
    .trial = &trial};
