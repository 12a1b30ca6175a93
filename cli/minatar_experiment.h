/* pess experiment minatar-…, and what it shares with pess merge. */
#ifndef PESS_CLI_MINATAR_EXPERIMENT_H
#define PESS_CLI_MINATAR_EXPERIMENT_H

#include "command.h"

int experiment_minatar(int argc, char **argv); /* argv[0] is "experiment" */

/* Points and claims on standard output. */
void minatar_print(const pess_minatar *experiment, const char *out);
void minatar_write_json(const pess_minatar *experiment, const char *out);

#endif
