/* Assumptions as the command line shows them: the library's sentence, and the option that changes it. */
#ifndef PESS_CLI_ASSUMPTIONS_H
#define PESS_CLI_ASSUMPTIONS_H

#include "command.h"

/* "  - There are 5 states: as many as the log shows (--states declares the number)." */
void print_assumption(FILE *out, const pess_assumption *assumption);

#endif
