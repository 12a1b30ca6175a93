/* Why a method was chosen, and what was found out about the graph of the model. */
#ifndef PESS_CLI_STRUCTURE_H
#define PESS_CLI_STRUCTURE_H

#include "json.h"

#include <stdio.h>

/* "converged after 3 iterations", or "stopped at the iteration limit after 3 iterations". */
void outcome_text(const pess_solution_info *info, char *text, size_t size);
/* The keys `reason` and `structure`; null where nothing was measured. */
void json_structure(json_writer *json, const pess_solution_info *info);
/* Lines that begin with `indent`; none where nothing was measured. */
void print_structure(FILE *out, const char *indent, const pess_solution_info *info);

#endif
