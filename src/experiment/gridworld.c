#include "experiment/gridworld.h"

#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- settings */

static void resolve_preset(pess_experiment_options *o, bool stationary_in_code) {
    const bool code = o->preset == PESS_PRESET_CODE;
    if (isnan(o->reward_beta[0]) || isnan(o->reward_beta[1])) {
        o->reward_beta[0] = code ? 1 : 3;
        o->reward_beta[1] = code ? 3 : 1;
    }
    if (o->state_dist < 0)
        o->state_dist = code && !stationary_in_code ? PESS_STATE_DIST_START : PESS_STATE_DIST_STATIONARY;
    if (o->clip < 0) o->clip = code ? 1 : 0;
}

/* ---- the list of algorithms */

static pess_status add_name(pess__gridworld *grid, const char *name, pess_error *error) {
    for (int64_t i = 0; i < grid->name_count; i++)
        if (strcmp(grid->names[i], name) == 0)
            return pess__fail(error, PESS_ARGUMENT, "algorithms: '%s' is named twice", name);
    PESS_TRY(pess__grow(&grid->names, &grid->name_room, grid->name_count + 1, sizeof *grid->names,
                        "the list of algorithms", error));
    (void)snprintf(grid->names[grid->name_count++], sizeof *grid->names, "%.79s", name);
    return PESS_OK;
}

static pess_status no_algorithm(const char *word, pess_error *error) {
    char list[400] = "";
    size_t used = 0;
    const pess_algorithm_info *info;
    for (size_t i = 0; (info = pess_algorithm_list(i)) != NULL && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", info->name);
    return pess__fail(error, PESS_ARGUMENT, "algorithms: found '%.60s', expected random, optimal, %s", word, list);
}

/* "name" or "name:uncertainty"; `uncertainty` is NULL where there is none. */
static pess_status add_algorithm(pess__gridworld *grid, const char *word, const char *name, const char *uncertainty,
                                 double alpha, pess_error *error) {
    static const struct {
        const char *name;
        pess__grid_kind kind;
    } fast[] = {{"imitation", GRID_IMITATION}, {"naive", GRID_NAIVE}, {"ua", GRID_UA}, {"proximal", GRID_PROXIMAL}};
    pess__grid_method method = {.kind = GRID_SOLVER, .alpha = alpha, .algorithm = name, .uncertainty = uncertainty};
    const pess_algorithm_info *info = pess_algorithm_find(name);
    if (info == NULL) return no_algorithm(word, error);
    if (uncertainty != NULL) {
        const pess_uncertainty_info *bound = pess_uncertainty_find(uncertainty);
        if (bound == NULL)
            return pess__fail(error, PESS_ARGUMENT, "algorithms: found '%.60s', but there is no uncertainty '%.40s'",
                              word, uncertainty);
        if (info->default_uncertainty == NULL || (info->takes_sets_only && !bound->is_set))
            return pess__fail(error, PESS_ARGUMENT, "algorithms: %s does not take the uncertainty %s", name,
                              uncertainty);
    } else {
        for (size_t i = 0; i < sizeof fast / sizeof fast[0]; i++)
            if (strcmp(fast[i].name, name) == 0) method.kind = fast[i].kind;
    }
    PESS_TRY(add_name(grid, word, error));
    return pess__gridworld_add_method(grid, &method, error);
}

static pess_status read_algorithms(pess__trials *trials, pess__gridworld *grid, pess_error *error) {
    const char *list = trials->options->algorithms;
    const int64_t size = (int64_t)strlen(list) + 1;
    PESS_TRY(pess__allocate(&grid->words, 2 * size, 1, "the list of algorithms", error));
    memcpy(grid->words, list, (size_t)size);
    char *copy = grid->words + size, *rest = grid->words;
    while (rest != NULL) {
        char *word = rest, *comma = strchr(rest, ',');
        rest = comma != NULL ? comma + 1 : NULL;
        if (comma != NULL) *comma = '\0';
        if (strcmp(word, "random") == 0 || strcmp(word, "optimal") == 0) continue;
        if (*word == '\0' || strlen(word) > 70) return no_algorithm(word, error);
        char *name = copy + (word - grid->words); /* cut at the colon; the word itself stays whole, as the label */
        memcpy(name, word, strlen(word) + 1);
        char *colon = strchr(name, ':');
        if (colon != NULL) *colon = '\0';
        PESS_TRY(
            add_algorithm(grid, word, name, colon != NULL ? colon + 1 : NULL, trials->options->absorbed_alpha, error));
    }
    return PESS_OK;
}

/* ---- building up */

pess_status pess__gridworld_add_case(pess__gridworld *grid, double epsilon, int64_t transitions, pess_error *error) {
    pess__grid_plan *plan = &grid->plan;
    PESS_TRY(pess__grow(&grid->cases, &grid->case_room, plan->case_count + 1, sizeof *grid->cases, "the cases", error));
    grid->cases[plan->case_count++] = (pess__grid_case){epsilon, transitions};
    plan->cases = grid->cases;
    return PESS_OK;
}

pess_status pess__gridworld_add_method(pess__gridworld *grid, const pess__grid_method *method, pess_error *error) {
    pess__grid_plan *plan = &grid->plan;
    PESS_TRY(pess__grow(&grid->methods, &grid->method_room, plan->method_count + 1, sizeof *grid->methods,
                        "the methods", error));
    grid->methods[plan->method_count++] = *method;
    plan->methods = grid->methods;
    return PESS_OK;
}

pess_status pess__gridworld_begin(pess__trials *trials, bool stationary_in_code, pess_error *error) {
    pess_experiment_options *o = trials->options;
    resolve_preset(o, stationary_in_code);
    pess__gridworld *grid = NULL;
    PESS_TRY(pess__allocate(&grid, 1, sizeof *grid, "the gridworld experiment", error));
    trials->context = grid;
    const pess__grid_method random = {.kind = GRID_RANDOM}, optimal = {.kind = GRID_OPTIMAL};
    PESS_TRY(add_name(grid, "random", error));
    PESS_TRY(add_name(grid, "optimal", error));
    PESS_TRY(pess__gridworld_add_method(grid, &random, error));
    PESS_TRY(pess__gridworld_add_method(grid, &optimal, error));
    PESS_TRY(read_algorithms(trials, grid, error));
    for (int64_t i = 0; i < grid->name_count; i++)
        PESS_TRY(pess__trials_list_algorithm(trials, i == 0, grid->names[i], error));
    grid->plan.seed = o->seed;
    grid->plan.gamma = o->gamma;
    grid->plan.beta_a = o->reward_beta[0];
    grid->plan.beta_b = o->reward_beta[1];
    grid->plan.stationary = o->state_dist == PESS_STATE_DIST_STATIONARY;
    grid->plan.clip = o->clip == 1;
    return PESS_OK;
}

pess_status pess__gridworld_ready(pess__trials *trials, pess_error *error) {
    pess__gridworld *grid = trials->context;
    PESS_TRY(pess__grid_plan_prepare(&grid->plan, trials->options->rows, trials->options->cols, error));
    grid->prepared = true;
    trials->value_count = grid->plan.case_count * grid->plan.method_count;
    /* the generic solver takes long enough for a trial to be reported and kept on its own */
    for (int64_t m = 0; m < grid->plan.method_count; m++)
        if (grid->methods[m].kind == GRID_SOLVER) trials->block = 1;
    return PESS_OK;
}

pess_status pess__gridworld_add_curves(pess__trials *trials, const double *x, pess_error *error) {
    const pess__gridworld *grid = trials->context;
    const int64_t methods = grid->plan.method_count;
    for (int64_t m = 0; m < methods; m++)
        for (int64_t c = 0; c < grid->plan.case_count; c++) {
            pess__column column = {.x = x[c],
                                   .value = c * methods + m,
                                   .optimal = c * methods + 1,
                                   .epsilon = grid->cases[c].epsilon,
                                   .transitions = grid->cases[c].transitions,
                                   .alpha_theory = NAN};
            memcpy(column.algorithm, grid->names[m], sizeof column.algorithm);
            PESS_TRY(pess__trials_add_column(trials, &column, error));
        }
    return PESS_OK;
}

void pess__gridworld_describe(const pess__trials *trials, bool along_alpha, char *out, size_t size) {
    const pess_experiment_options *o = trials->options;
    const char *clipped = o->clip == 1 ? "UA's penalised rewards are clipped to [0,1]" : "";
    char pessimism[200];
    if (along_alpha)
        (void)snprintf(pessimism, sizeof pessimism, "%s%s", clipped, o->clip == 1 ? ". " : "");
    else
        (void)snprintf(pessimism, sizeof pessimism, "UA and proximal use α = %g in absorbed units%s%s. ",
                       o->absorbed_alpha, o->clip == 1 ? "; " : "", clipped);
    (void)snprintf(
        out, size,
        "World: a torus of %lld × %lld cells with four moves; with probability 0.2 the direction is drawn at "
        "random. Rewards are 0 or 1, their means drawn from Beta(%g,%g) for every trial; discount %g; "
        "starts are uniform. Data: independent transitions of an ε-greedy optimal policy, states from %s. "
        "Pairs that the data never show get a uniformly random reward and next state. %sReturns are exact, not "
        "simulated.",
        (long long)o->rows, (long long)o->cols, o->reward_beta[0], o->reward_beta[1], o->gamma,
        o->state_dist == PESS_STATE_DIST_START ? "the start distribution" : "the stationary law of that policy",
        pessimism);
}

/* ---- rows of the table */

pess_status pess__gridworld_workspace_create(const pess__trials *trials, void **out, pess_error *error) {
    const pess__gridworld *grid = trials->context;
    pess__grid_workspace *workspace = NULL;
    PESS_TRY(pess__grid_workspace_create(&grid->plan, &workspace, error));
    *out = workspace;
    return PESS_OK;
}

void pess__gridworld_workspace_destroy(void *workspace) { pess__grid_workspace_destroy(workspace); }

pess_status pess__gridworld_run(const pess__trials *trials, void *workspace, int64_t first, int64_t count, double *out,
                                pess_error *error) {
    const pess__gridworld *grid = trials->context;
    return pess__grid_block(&grid->plan, workspace, first, count, out, error);
}

void pess__gridworld_release(pess__trials *trials) {
    pess__gridworld *grid = trials->context;
    if (grid->prepared) pess__grid_plan_release(&grid->plan);
    free(grid->cases);
    free(grid->methods);
    free(grid->names);
    free(grid->words);
    free(grid);
    trials->context = NULL;
}

static pess_status add_curves(pess__trials *trials, const double *x, const char *first, pess_error *error) {
    char *const text = trials->experiment->description;
    const size_t size = sizeof trials->experiment->description;
    PESS_TRY(pess__gridworld_ready(trials, error));
    PESS_TRY(pess__gridworld_add_curves(trials, x, error));
    (void)snprintf(text, size, "%s", first);
    const size_t used = strlen(text);
    pess__gridworld_describe(trials, false, text + used, size - used);
    return PESS_OK;
}

pess_status pess__gridworld_figure(pess__trials *trials, bool stationary_in_code,
                                   pess_status (*add_cases)(pess__trials *trials, double *x, pess_error *error),
                                   const char *first, pess_error *error) {
    double *x = NULL;
    PESS_TRY(pess__gridworld_begin(trials, stationary_in_code, error));
    PESS_TRY(pess__allocate(&x, trials->options->points, sizeof *x, "the points", error));
    pess_status status = add_cases(trials, x, error);
    if (status == PESS_OK) status = add_curves(trials, x, first, error);
    free(x);
    return status;
}
