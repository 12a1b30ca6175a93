/* Logs that were counted, on the command line. */
#ifndef PESS_CLI_COUNTS_H
#define PESS_CLI_COUNTS_H

#include "pess.h"

/* Whether a file of this name gets counts. */
bool is_counts_file(const char *path);
/* pess inspect of a counted log: what counts tell, and what they cannot. Returns the exit code. */
int counts_inspect(const char *name, const pess_counts *counts, bool json);
/* pess help counts: what counts are, and how databases make them. */
int help_counts(void);

#endif
