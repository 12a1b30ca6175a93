/* A choice among algorithms and strengths, as `choose` and `solve -a auto` print it. */
#ifndef PESS_CLI_CHOOSING_H
#define PESS_CLI_CHOOSING_H

#include "json.h"
#include "log_args.h"

/* Reads the log, holds a declared range of returns against it, and chooses. */
pess_status choose_from_log(const char *path, const char *command_name, log_args *args, pess_choose_options *options,
                            pess_choice **out, pess_error *error);
/* "ua, absorbed alpha 0.2" */
void candidate_text(const pess_candidate_score *candidate, char *text, size_t size);
/* A line: what was chosen, its score and how sure that is. */
void print_choice(FILE *out, const pess_choice *choice);
void json_choice(json_writer *json, const char *key, const pess_choice *choice);

#endif
