/* Pessimist: what can be said about cells. Does the answer depend on them? And a page that shows it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_CELLS_REPORT_H
#define PESS_CELLS_REPORT_H

#include "pess/cells.h"
#include "pess/solving.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A policy found with other cells, made of the same episodes. */
typedef struct pess_cells_trial {
    int64_t cells;
    uint64_t seed;
    double value;       /* of its policy on the episodes held out, as the algorithm values it */
    double naive_value; /* the same at face value */
    double agreement;   /* share of the held-out rows at which it does what the policy of the map does */
} pess_cells_trial;

enum { PESS_CELLS_SIZES = 3, PESS_MAX_STARTS = 20 }; /* sizes: as many cells as asked for, half, twice as many */

typedef struct pess_trials_options {
    size_t size;
    int64_t starts; /* of each size; one where the method draws nothing */
} pess_trials_options;

/* The settings in pess_trials_options, a row each. */
PESS_API const pess_setting_table *pess_trials_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_trials_options pess_trials_options_defaults(void);

/* Trials to `out` [PESS_CELLS_SIZES * starts], the map itself first; *count is how many there are: sizes that the rows
 * do not allow are left out. cells: as the map was made; solve: for the policies. NULL: defaults. */
PESS_API pess_status pess_cells_trials(const pess_map *map, const pess_measurements *measurements,
                                       const pess_cells_options *cells, const pess_solve_options *solve,
                                       const pess_trials_options *options, pess_cells_trial *out, int64_t *count,
                                       pess_error *error);

/* What the page shows. */
typedef struct pess_cells_page {
    size_t size; /* sizeof(pess_cells_page) */
    const pess_map *map;
    const pess_markov *markov;
    const pess_cells_trial *trials;
    int64_t trial_count;
    const char *algorithm; /* of the trials */
    double gamma;
    const char *command; /* how to repeat it; NULL: not known */
} pess_cells_page;

/* Writes index.html into the directory, which is made where it is missing. */
PESS_API pess_status pess_cells_write_page(const pess_cells_page *page, const char *directory, pess_error *error);

#ifdef __cplusplus
}
#endif
#endif
