/* What is in a dataset of a game (.pessdata), for the commands that make or show one. */
#ifndef PESS_CLI_GAME_DATA_H
#define PESS_CLI_GAME_DATA_H

#include "command.h"

/* Told by the first bytes or the name. */
bool game_data_is(const char *path);
void game_data_print(const char *path, const pess_observations *data, bool json);
/* Reads and prints; returns an exit code. */
int game_data_inspect(const char *command_name, const char *path, bool json);

#endif
