/* Datasets of observations (.pessdata, .npz, HDF5, tables with feature columns), for the commands that make, read or
 * show one. */
#ifndef PESS_CLI_OBSERVATIONS_H
#define PESS_CLI_OBSERVATIONS_H

#include "command.h"

/* How a dataset is read. */
typedef struct data_source {
    pess_observations_options reading;
    pess_actions_options actions;  /* what becomes of actions that are vectors */
    const char *features;          /* the columns of a table that are observations; NULL: it is no table */
    const pess_read_options *read; /* of a table */
} data_source;

/* Defaults, and the options but those in `except`. The options of tables are the caller's to add: `read`. */
void data_source_begin(data_source *source, option_list *list, const pess_read_options *read, const char *except);
/* Whether the file is a dataset of observations, as the options say or by its bytes. */
bool data_source_is(const data_source *source, const char *path);
/* -1, or the exit code after a message. What became of vectors is told on standard error. */
int data_source_read(const char *command_name, const char *path, const data_source *source, pess_observations **out);
/* What is odd about data that are not of a game, on standard error: one episode, none that ends, features that never
 * change. */
void observations_warn(const char *command_name, const pess_observations *data);
int observations_print(const char *command_name, const char *path, const pess_observations *data, bool json);
/* Reads and prints; returns an exit code: with `strict` EXIT_NEGATIVE where something is odd. */
int observations_inspect(const char *command_name, const char *path, const data_source *source, bool json, bool strict);

#endif
