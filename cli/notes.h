/* The notes inside networks and datasets: lines "key=value". */
#ifndef PESS_CLI_NOTES_H
#define PESS_CLI_NOTES_H

#include "json.h"

/* Indented, below a title; nothing where there are no notes. */
void notes_print(const char *title, const char *notes);
/* As an object of texts. */
void notes_json(json_writer *json, const char *key, const char *notes);

#endif
