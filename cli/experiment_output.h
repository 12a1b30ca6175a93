/* What pess experiment and pess merge print about an experiment. */
#ifndef PESS_CLI_EXPERIMENT_OUTPUT_H
#define PESS_CLI_EXPERIMENT_OUTPUT_H

#include "command.h"

/* Description, curves and claims on standard output. */
void experiment_print(const pess_experiment *experiment);
void experiment_write_json(const char *command_name, const pess_experiment *experiment);

#endif
