/* Boards of games as text. */
#ifndef PESS_CLI_BOARD_H
#define PESS_CLI_BOARD_H

#include "pess.h"

#include <stdio.h>

/* Two boards beside each other in plain characters, with the legend; cells that differ are marked in the second. */
void board_print_pair(FILE *stream, const pess_env_info *info, const uint8_t *left, const char *left_title,
                      const uint8_t *right, const char *right_title);

#endif
