/* Does the answer depend on the cells? Maps with other starts and other numbers of cells are made of the same episodes,
 * a policy is found with each from the episodes held out, and the policies are compared where those episodes went. */
#include "cells/map.h"
#include "core/memory.h"
#include "core/settings.h"

#include <stdlib.h>
#include <string.h>

static const pess_setting settings[] = {
    {"starts", 0, PESS_SETTING_COUNT, PESS__FIELD(pess_trials_options, starts), "3", PESS__FROM_TO(1, PESS_MAX_STARTS),
     .argument = "N", .sentence = "how many starts of k-means to try for each number of cells"},
};
static const pess_setting_table table = PESS__SETTING_TABLE("trials", pess_trials_options, settings);
PESS__SETTINGS_OF(trials, table)

/* A map and what follows from it. */
typedef struct answer {
    int32_t *action; /* [rows of the measurements] the policy's action there */
    double value, naive_value;
    int64_t cells;
} answer;

static pess_status solve_log(const pess_dataset *log, const pess_solve_options *options, pess_solution **out,
                             pess_error *error) {
    pess_counts *counts = NULL;
    pess_model *model = NULL;
    double *start = NULL;
    pess_status status = pess_counts_create(log, options->threads, &counts, error);
    if (status == PESS_OK) status = pess_model_estimate(counts, NULL, &model, error);
    if (status == PESS_OK)
        status = pess__allocate(&start, pess_dataset_states(log), sizeof *start, "the start distribution", error);
    if (status == PESS_OK) status = pess_start_from_counts(counts, start, error);
    if (status == PESS_OK) status = pess_solve(counts, model, start, options, out, error);
    free(start);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    return status;
}

static void take_actions(const pess_policy *policy, const uint32_t *cell, int64_t rows, int32_t *action) {
    for (int64_t i = 0; i < rows; i++) {
        const double *row = pess_policy_row(policy, cell[i]);
        action[i] = 0;
        for (int32_t a = 1; a < pess_policy_actions(policy); a++)
            if (row[a] > row[action[i]]) action[i] = a;
    }
}

static pess_status answer_of(const pess_map *map, const pess_measurements *m, const pess_solve_options *options,
                             answer *out, pess_error *error) {
    uint32_t *cell = NULL;
    pess_dataset *log = NULL;
    pess_solution *solution = NULL;
    pess_status status = pess__allocate(&cell, m->rows, sizeof *cell, "cells", error);
    if (status == PESS_OK) status = pess__allocate(&out->action, m->rows, sizeof *out->action, "actions", error);
    if (status == PESS_OK) status = pess_map_apply(map, m, options->threads, cell, NULL, error);
    if (status == PESS_OK) status = pess_map_log(map, m, PESS_PART_HELD_OUT, options->threads, &log, error);
    if (status == PESS_OK) status = solve_log(log, options, &solution, error);
    if (status == PESS_OK) {
        pess_solution_info info;
        pess_solution_get_info(solution, &info);
        out->value = info.value;
        out->naive_value = info.naive_value;
        out->cells = map->cells;
        take_actions(pess_solution_policy(solution), cell, m->rows, out->action);
    }
    pess_solution_destroy(solution);
    pess_dataset_destroy(log);
    free(cell);
    return status;
}

/* The share of held-out rows at which both do the same. */
static double agreement(const pess_map *map, const pess_measurements *m, const answer *a, const answer *b) {
    int64_t rows = 0, same = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        if (pess_map_made_of(map, pess_names_get(m->episode_names, m->episode[i]))) continue;
        rows++;
        same += a->action[i] == b->action[i];
    }
    return (double)same / (double)rows;
}

static pess_status try_cells(const pess_map *map, const pess_measurements *m, const pess_cells_options *cells,
                             const pess_solve_options *solve, const answer *chosen, pess_cells_trial *out,
                             pess_error *error) {
    pess_map *other = NULL;
    answer a = {0};
    pess_status status = pess_map_make(m, NULL, cells, &other, error);
    if (status == PESS_OK) status = answer_of(other, m, solve, &a, error);
    if (status == PESS_OK)
        *out = (pess_cells_trial){.cells = a.cells,
                                  .seed = cells->seed,
                                  .value = a.value,
                                  .naive_value = a.naive_value,
                                  .agreement = agreement(map, m, &a, chosen)};
    free(a.action);
    pess_map_destroy(other);
    return status;
}

/* All starts of one size, from number `first` on. */
static pess_status try_size(const pess_map *map, const pess_measurements *m, pess_cells_options cells,
                            const pess_solve_options *solve, const answer *chosen, int64_t first, int64_t starts,
                            pess_cells_trial *out, int64_t *count, pess_error *error) {
    const uint64_t seed = cells.seed;
    if (cells.cells < 2 || cells.cells > PESS_MAX_CELLS) return PESS_OK;
    for (int64_t i = first; i < starts; i++) {
        cells.seed = seed + (uint64_t)i;
        PESS_TRY(try_cells(map, m, &cells, solve, chosen, &out[*count], error));
        ++*count;
    }
    return PESS_OK;
}

static pess_status try_sizes(const pess_map *map, const pess_measurements *m, const pess_cells_options *cells,
                             const pess_solve_options *solve, const answer *chosen, int64_t starts,
                             pess_cells_trial *out, int64_t *count, pess_error *error) {
    pess_cells_options varied = *cells;
    if (varied.method != PESS_CELLS_KMEANS) starts = 1; /* nothing else draws */
    PESS_TRY(try_size(map, m, varied, solve, chosen, 1, starts, out, count, error));
    varied.cells = cells->cells / 2;
    pess_status status = try_size(map, m, varied, solve, chosen, 0, starts, out, count, error);
    varied.cells = cells->cells * 2;
    if (status == PESS_OK || status == PESS_ARGUMENT) /* too few cells for the bins: no trial */
        status = try_size(map, m, varied, solve, chosen, 0, starts, out, count, error);
    return status == PESS_INPUT ? PESS_OK : status; /* too few rows for twice the cells: no trial */
}

pess_status pess_cells_trials(const pess_map *map, const pess_measurements *measurements,
                              const pess_cells_options *cells, const pess_solve_options *solve,
                              const pess_trials_options *options, pess_cells_trial *out, int64_t *count,
                              pess_error *error) {
    const pess_cells_options made = cells != NULL ? *cells : pess_cells_options_defaults();
    const pess_solve_options solving = solve != NULL ? *solve : pess_solve_options_defaults();
    pess_trials_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    answer chosen = {0};
    *count = 0;
    pess_status status = answer_of(map, measurements, &solving, &chosen, error);
    if (status == PESS_OK) {
        out[(*count)++] = (pess_cells_trial){.cells = chosen.cells,
                                             .seed = made.seed,
                                             .value = chosen.value,
                                             .naive_value = chosen.naive_value,
                                             .agreement = 1};
        status = try_sizes(map, measurements, &made, &solving, &chosen, settled.starts, out, count, error);
    }
    free(chosen.action);
    return status;
}
