/* Learning curves: the log.csv of a training run, or several such logs in one table with a column `game`. */
#ifndef PESS_REPORT_LEARNING_H
#define PESS_REPORT_LEARNING_H

#include "data/table.h"
#include "report/figure.h"

/* Whether the table has the columns frame and return. */
bool pess__learning_is(const pess__table *table);
/* Adds a panel per game: greedy return over frames. Without a column `game` the whole table is one panel, named after
 * the file, or after its directory where the file is a log.csv. */
pess_status pess__learning_read(pess__table *table, const char *path, pess__figure *figure, pess_error *error);

#endif
