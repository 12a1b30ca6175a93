/* What is written about an experiment: tables, figure, page, manifest. */
#ifndef PESS_REPORT_REPORT_H
#define PESS_REPORT_REPORT_H

#include "core/outfile.h"
#include "experiment/experiment.h"
#include "report/figure.h"

/* The experiment's figure: a panel per game, or per dataset where the row asks for that. */
pess_status pess__report_figure(const pess_experiment *experiment, pess__figure *out, pess_error *error);
/* The columns of a table of the page, drawn: curves "ALGORITHM-COLUMN" without bands. */
pess_status pess__report_second_figure(const pess_experiment *experiment, const pess__experiment_table *table,
                                       pess__figure *out, pess_error *error);
/* The figure of a results.csv, or of the one in a directory; titles and labels come from the manifest.json beside it,
 * where there is one. A learning_curves.csv or a run's log.csv gives a panel per game. Adds its panels to the figure.
 */
pess_status pess__report_read(const char *path, pess__figure *figure, pess_error *error);

/* The title of a point's panel; "" where there is one panel only. */
void pess__report_panel_title(const pess_experiment *experiment, const pess_experiment_point *point, char *out,
                              size_t size);
/* "ε = 0.5, 200 transitions" */
void pess__dataset_title(double epsilon, double transitions, char *out, size_t size);
/* "space_invaders" as "Space invaders". */
void pess__game_title(const char *game, char *out, size_t size);

/* Each writes one file. */
pess_status pess__report_results(const pess_experiment *experiment, const char *path, pess_error *error);
pess_status pess__report_paired(const pess_experiment *experiment, const char *path, pess_error *error);
pess_status pess__report_trials(const pess_experiment *experiment, const char *path, pess_error *error);
pess_status pess__report_runs(const pess_experiment *experiment, const char *path, pess_error *error);
pess_status pess__report_manifest(const pess_experiment *experiment, const char *command, const char *path,
                                  pess_error *error);
pess_status pess__report_page(const pess_experiment *experiment, const char *command, const char *path,
                              pess_error *error);

/* The tables of the page (page_tables.c). */
pess_status pess__page_table(pess__outfile *file, const pess_experiment *experiment,
                             const pess__experiment_table *table, pess_error *error);
void pess__page_averages(pess__outfile *file, const pess_experiment *experiment);
/* compare_page.c: interquartile means and probabilities of improvement over all games. */
pess_status pess__page_compared(pess__outfile *file, const pess_experiment *experiment, pess_error *error);

#endif
