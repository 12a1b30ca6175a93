/* How much pessimism: return of UA and proximal along α, at several ε and dataset sizes. x is α in absorbed units; the
 * theory's units are a constant factor away. */
#include "experiment/gridworld.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DELTA 0.05 /* at which Hoeffding's constants are taken */

static const double EPSILONS[] = {0, 0.5, 1};
static const int64_t SIZES[] = {200, 2000, 20000};

enum { EPSILON_COUNT = 3, SIZE_COUNT = 3 };

/* α = 10^-3 … 10^3 */
static double alpha_of(int64_t k, int64_t points) {
    return points > 1 ? pow(10, -3 + 6 * (double)k / (double)(points - 1)) : 1;
}

/* Absorbed α over theory's α. UA: α·u with u = W·√(ln(2·S·A/δ)/2)/√n. Proximal: α·TV/(1-γ)². */
static double unit_of(const pess_experiment_options *o, pess__grid_kind kind) {
    const double width = 1 / (1 - o->gamma);
    const double pairs = (double)(o->rows * o->cols * TORUS_ACTIONS);
    return kind == GRID_UA ? width * sqrt(log(2 * pairs / DELTA) / 2) : width * width;
}

/* Algorithms without α become constant curves; the others a method per α. first[i] is the first method of name i. */
static pess_status spread_methods(pess__trials *trials, int64_t *first, pess_error *error) {
    pess__gridworld *grid = trials->context;
    const int64_t points = trials->options->points, names = grid->name_count;
    pess__grid_method given[64];
    if (names > 64) return pess__fail(error, PESS_LIMIT, "at most 64 algorithms");
    memcpy(given, grid->methods, (size_t)names * sizeof *given);
    grid->plan.method_count = 0;
    for (int64_t i = 0; i < names; i++) {
        if (given[i].kind == GRID_SOLVER)
            return pess__fail(error, PESS_ARGUMENT,
                              "gridworld-alpha: found the algorithm '%s', expected imitation, naive, ua or proximal",
                              grid->names[i]);
        const bool has_alpha = given[i].kind == GRID_UA || given[i].kind == GRID_PROXIMAL;
        first[i] = grid->plan.method_count;
        for (int64_t k = 0; k < (has_alpha ? points : 1); k++) {
            if (has_alpha) given[i].alpha = alpha_of(k, points);
            PESS_TRY(pess__gridworld_add_method(grid, &given[i], error));
        }
    }
    return PESS_OK;
}

static pess_status add_columns(pess__trials *trials, const int64_t *first, pess_error *error) {
    const pess__gridworld *grid = trials->context;
    const int64_t points = trials->options->points, methods = grid->plan.method_count;
    for (int64_t c = 0; c < grid->plan.case_count; c++)
        for (int64_t i = 0; i < grid->name_count; i++)
            for (int64_t k = 0; k < points; k++) {
                const pess__grid_kind kind = grid->methods[first[i]].kind;
                const bool has_alpha = kind == GRID_UA || kind == GRID_PROXIMAL;
                pess__column column = {.x = alpha_of(k, points),
                                       .value = c * methods + first[i] + (has_alpha ? k : 0),
                                       .optimal = c * methods + 1,
                                       .epsilon = grid->cases[c].epsilon,
                                       .transitions = grid->cases[c].transitions,
                                       .alpha_theory = NAN};
                if (has_alpha) column.alpha_theory = column.x / unit_of(trials->options, kind);
                memcpy(column.algorithm, grid->names[i], sizeof column.algorithm);
                PESS_TRY(pess__trials_add_column(trials, &column, error));
            }
    return PESS_OK;
}

static pess_status prepare(pess__trials *trials, pess_error *error) {
    PESS_TRY(pess__gridworld_begin(trials, false, error));
    pess__gridworld *grid = trials->context;
    int64_t first[64];
    PESS_TRY(spread_methods(trials, first, error));
    for (int i = 0; i < EPSILON_COUNT; i++)
        for (int j = 0; j < SIZE_COUNT; j++) PESS_TRY(pess__gridworld_add_case(grid, EPSILONS[i], SIZES[j], error));
    PESS_TRY(pess__gridworld_ready(trials, error));
    PESS_TRY(add_columns(trials, first, error));
    const pess_experiment_options *o = trials->options;
    (void)snprintf(trials->experiment->description, sizeof trials->experiment->description,
                   "Return along the strength of pessimism α, in absorbed units. In the theory's units α is %.3g "
                   "times that for UA (Hoeffding, δ = %g) and %.3g times that for proximal. ",
                   1 / unit_of(o, GRID_UA), DELTA, 1 / unit_of(o, GRID_PROXIMAL));
    const size_t used = strlen(trials->experiment->description);
    pess__gridworld_describe(trials, true, trials->experiment->description + used,
                             sizeof trials->experiment->description - used);
    return PESS_OK;
}

/* The best α per panel is what a reader comes for. */
static pess_status judge(pess__trials *trials, pess_error *error) {
    const pess_experiment_point *best = NULL;
    for (int64_t c = 0; c < trials->column_count; c++) {
        const pess_experiment_point *point = &trials->experiment->points[c];
        if (isnan(point->values[PESS__ALPHA_THEORY])) continue;
        if (best == NULL || point->mean > best->mean) best = point;
        const bool last = (c + 1) % trials->options->points == 0; /* of this curve */
        if (!last) continue;
        pess_experiment_claim *row = pess__experiment_add_claim(
            trials->experiment, point->algorithm, "the α of the highest mean return in this panel", NULL, error);
        if (row == NULL) return PESS_MEMORY;
        row->judged = false;
        (void)snprintf(row->found, sizeof row->found,
                       "ε = %g, %lld transitions: best α %.3g (theory's units %.3g), return %.2f ± %.2f",
                       best->values[PESS__EPSILON], (long long)best->values[PESS__TRANSITIONS], best->x,
                       best->values[PESS__ALPHA_THEORY], best->mean, best->ci95);
        best = NULL;
    }
    return PESS_OK;
}

static const pess__trial_kind trial = PESS__GRIDWORLD_TRIAL(prepare, judge);

const pess__experiment_kind pess__experiment_gridworld_alpha = {
    .info = {.name = "gridworld-alpha",
             .summary = "return of UA and proximal along the strength of pessimism α",
             .title = "Return along the strength of pessimism",
             .x = {.name = "alpha", .label = "pessimism α (absorbed units)", .log_scale = true},
             .y_label = "expected return",
             .columns = PESS__TRIAL_COLUMNS,
             .settings = PESS__GRIDWORLD_SETTINGS,
             .findings = "The best α of every panel"},
    .defaults = (const pess__experiment_default[]){{"trials", "300"},
                                                   {"points", "19"},
                                                   {"gamma", "0.99"},
                                                   {"algorithms", "imitation,naive,ua,proximal"},
                                                   {NULL, NULL}},
    .results = "epsilon transitions alpha_theory",
    .panel_per_dataset = true,
    .tables = pess__trial_tables,
    .explanation = PESS__TRIAL_EXPLANATION,
    .engine = &pess__engine_trials,
    .trial = &trial};
