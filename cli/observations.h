/* Datasets of observations (.pessdata), for the commands that make, read or show one. */
#ifndef PESS_CLI_OBSERVATIONS_H
#define PESS_CLI_OBSERVATIONS_H

#include "command.h"

/* -1, or the exit code after a message. */
int observations_read(const char *command_name, const char *path, pess_observations **out);
void observations_print(const char *path, const pess_observations *data, bool json);
/* Reads and prints; returns an exit code. */
int observations_inspect(const char *command_name, const char *path, bool json);

#endif
