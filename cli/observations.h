/* Datasets of observations (.pessdata, .npz), for the commands that make, read or show one. */
#ifndef PESS_CLI_OBSERVATIONS_H
#define PESS_CLI_OBSERVATIONS_H

#include "command.h"

/* -1, or the exit code after a message. options may be NULL. */
int observations_read(const char *command_name, const char *path, const pess_observations_options *options,
                      pess_observations **out);
int observations_print(const char *command_name, const char *path, const pess_observations *data, bool json);
/* Reads and prints; returns an exit code: with `strict` EXIT_NEGATIVE where something is odd. */
int observations_inspect(const char *command_name, const char *path, const pess_observations_options *options,
                         bool json, bool strict);

#endif
