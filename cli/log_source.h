/* A log on the command line: how it is read, or the map that makes states of its measurements. Every command that reads
 * a log has these options. */
#ifndef PESS_CLI_LOG_SOURCE_H
#define PESS_CLI_LOG_SOURCE_H

#include "command.h"

typedef struct log_source {
    pess_read_options read;
    const char *map; /* NULL: the log has states */
    int part;        /* pess_part, of the episodes of a log of measurements */
} log_source;

/* Sets defaults and adds the options but those in `except`. `part`: which episodes of a log of measurements the command
 * takes unless told. */
void log_source_begin(log_source *source, option_list *list, const char *except, pess_part part);
/* Refuses options that do nothing together. Returns -1 to go on or an exit code. */
int log_source_check(const log_source *source, const option_list *list, const char *command_name);
/* Notes on how it was read go to standard error, as of `command_name`; NULL: none do. */
pess_status log_source_dataset(log_source *source, const char *path, const char *command_name, pess_dataset **out,
                               pess_error *error);
pess_status log_source_counts(log_source *source, const char *path, const char *command_name, pess_counts **out,
                              pess_error *error);
/* The name of the log as it is shown. */
const char *log_name(const char *path);
/* The rows or, of a counted log, its counts; the other one is NULL. */
pess_status log_source_read(log_source *source, const char *path, const char *command_name, pess_dataset **data,
                            pess_counts **counts, pess_error *error);

#endif
