/* How a log was read, in words: for 'pess inspect', for notes of other commands, and what would help where it was
 * refused. */
#ifndef PESS_CLI_READING_H
#define PESS_CLI_READING_H

#include "json.h"
#include "pess.h"

#include <stdio.h>

/* "Try --separator semicolon." below an error; nothing where no remedy is known. */
void remedy_print(FILE *out, const pess_error *error);

/* Which columns were used, derived and ignored, and the options that make the reading explicit. NULL is fine. */
void reading_print(const pess_reading *reading);
void reading_json(json_writer *json, const pess_reading *reading);
/* What a user should know who did not ask: columns by other names, next states from next rows, rows left out. On
 * standard error. NULL is fine. */
void reading_notes(const char *command_name, const pess_reading *reading);

#endif
