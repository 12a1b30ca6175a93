/* Runs of hours: Ctrl-C in good order. */
#ifndef PESS_CLI_LONG_RUN_H
#define PESS_CLI_LONG_RUN_H

#include "command.h"

/* Ctrl-C and the signal of `kill` from now on ask the run to stop; a second one ends the program. Draws the progress
 * line of terminal_progress. */
pess_progress interruptible_progress(void);

/* As report_option_error, with a hint about resuming where the run was interrupted. */
int report_run_error(const char *command_name, const option_list *list, const pess_error *error);

#endif
