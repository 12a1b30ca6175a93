/* Logs that were counted, on the command line. */
#ifndef PESS_CLI_COUNTS_H
#define PESS_CLI_COUNTS_H

#include <stdbool.h>

/* Whether a file of this name gets counts. */
bool is_counts_file(const char *path);
/* pess help counts: what counts are, and how databases make them. */
int help_counts(void);

#endif
