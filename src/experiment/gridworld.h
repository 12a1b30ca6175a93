/* What the gridworld experiments share: settings of the presets, the list of algorithms, running blocks of trials. */
#ifndef PESS_EXPERIMENT_GRIDWORLD_H
#define PESS_EXPERIMENT_GRIDWORLD_H

#include "experiment/gridworld_trials.h"
#include "experiment/trials.h"

#define PESS__GRIDWORLD_SETTINGS "shard points preset rows cols gamma reward-beta state-dist clip"

typedef struct pess__gridworld {
    pess__grid_plan plan;
    int64_t case_room, method_room;
    pess__grid_case *cases;     /* plan.cases */
    pess__grid_method *methods; /* plan.methods */
    int64_t name_count, name_room;
    char (*names)[80]; /* [name_count] of the algorithms: "ua", "robust:l1", …; random and optimal first */
    char *words;       /* the list of algorithms, cut in pieces that methods point to */
    bool prepared;     /* plan holds memory */
} pess__gridworld;

/* Creates trials->context, resolves the preset's settings and reads the list of algorithms into methods and names.
 * `stationary_in_code` is the state distribution that the authors' code used. */
pess_status pess__gridworld_begin(pess__trials *trials, bool stationary_in_code, pess_error *error);
pess_status pess__gridworld_add_case(pess__gridworld *grid, double epsilon, int64_t transitions, pess_error *error);
pess_status pess__gridworld_add_method(pess__gridworld *grid, const pess__grid_method *method, pess_error *error);
/* After cases and methods: plans the elimination. */
pess_status pess__gridworld_ready(pess__trials *trials, pess_error *error);
/* Columns for curves over cases: algorithm m at x[case]. */
pess_status pess__gridworld_add_curves(pess__trials *trials, const double *x, pess_error *error);
/* Sentences on world, data and, unless it is the axis, α, for the description. */
void pess__gridworld_describe(const pess__trials *trials, bool along_alpha, char *out, size_t size);
/* The paper's predictions for figure 1a (exploration) or 1b. */
pess_status pess__gridworld_judge_exploration(pess__trials *trials, pess_error *error);
pess_status pess__gridworld_judge_data(pess__trials *trials, pess_error *error);

/* One of the paper's figures, from its beginning: `add_cases` adds the cases with the x of each; then come the plan of
 * the elimination, a curve per algorithm, and the description, in the words of `first` and those that all share. */
pess_status pess__gridworld_figure(pess__trials *trials, bool stationary_in_code,
                                   pess_status (*add_cases)(pess__trials *trials, double *x, pess_error *error),
                                   const char *first, pess_error *error);

/* Rows of the table of experiments. */
#define PESS__GRIDWORLD_TRIAL(prepare_with, judge_with)                                                                \
    {                                                                                                                  \
        .block = GRID_BLOCK, .prepare = (prepare_with), .workspace_create = pess__gridworld_workspace_create,          \
        .workspace_destroy = pess__gridworld_workspace_destroy, .run = pess__gridworld_run, .judge = (judge_with),     \
        .release = pess__gridworld_release                                                                             \
    }
/* Of the paper's figures: the same settings, defaults and tables. */
#define PESS__GRIDWORLD_FIGURE_INFO                                                                                    \
    .y_label = "expected return", .columns = PESS__TRIAL_COLUMNS,                                                      \
    .settings = PESS__GRIDWORLD_SETTINGS " absorbed-alpha", .findings = "What the paper predicts, and what came out"
#define PESS__GRIDWORLD_FIGURE                                                                                         \
    .defaults = (const pess__experiment_default[]){{"trials", "1000"},                                                 \
                                                   {"points", "25"},                                                   \
                                                   {"gamma", "0.99"},                                                  \
                                                   {"algorithms", "imitation,naive,ua,proximal"},                      \
                                                   {NULL, NULL}},                                                      \
    .tables = pess__trial_tables, .explanation = PESS__TRIAL_EXPLANATION, .engine = &pess__engine_trials
pess_status pess__gridworld_workspace_create(const pess__trials *trials, void **out, pess_error *error);
void pess__gridworld_workspace_destroy(void *workspace);
pess_status pess__gridworld_run(const pess__trials *trials, void *workspace, int64_t first, int64_t count, double *out,
                                pess_error *error);
void pess__gridworld_release(pess__trials *trials);

#endif
