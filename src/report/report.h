/* What is written about an experiment: tables, figure, page, manifest. */
#ifndef PESS_REPORT_REPORT_H
#define PESS_REPORT_REPORT_H

#include "core/outfile.h"
#include "experiment/experiment.h"
#include "report/figure.h"

/* The experiment's figure. Results with several datasets per x (gridworld-alpha) get a panel per dataset. */
pess_status pess__report_figure(const pess_experiment *experiment, pess__figure *out, pess_error *error);
/* The same from a results.csv, or from the one in a directory; titles and labels come from the manifest.json beside it,
 * where there is one. A learning_curves.csv or a run's log.csv gives a panel per game. Adds its panels to the figure.
 */
pess_status pess__report_read(const char *path, pess__figure *figure, pess_error *error);

/* Each writes one file. */
pess_status pess__report_results(const pess_experiment *experiment, const char *path, pess_error *error);
pess_status pess__report_paired(const pess_experiment *experiment, const char *path, pess_error *error);
pess_status pess__report_trials(const pess_experiment *experiment, const char *path, pess_error *error);
pess_status pess__report_manifest(const pess_experiment *experiment, const char *command, const char *path,
                                  pess_error *error);
pess_status pess__report_page(const pess_experiment *experiment, const char *command, const char *path,
                              pess_error *error);

/* The settings as a line, e.g. "1000 trials · preset code · seed 1". */
void pess__report_note(const pess_experiment *experiment, char *out, size_t size);
bool pess__report_has_panels(const pess_experiment *experiment);

#endif
