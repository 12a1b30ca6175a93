/* The frame of a program: pess, and pess-mpi. */
#ifndef PESS_CLI_PROGRAM_H
#define PESS_CLI_PROGRAM_H

#include "command.h"

typedef struct program {
    const command *commands;
    size_t count;
    void (*print_overview)(FILE *stream);
    void (*print_version)(void);
} program;

/* Runs the command that the arguments name; returns the exit code. */
int run_program(int argc, char **argv, const program *frame);

#endif
