/* Man pages and shell completions. */
#ifndef PESS_CLI_DESCRIBE_H
#define PESS_CLI_DESCRIBE_H

#include "command.h"

int describe_man(const char *directory, const command *commands, size_t count);    /* pess.1, pess-solve.1 … */
int describe_completion(const char *shell, const command *commands, size_t count); /* completion.c */

#endif
