/* The frame of a program: pess, and pess-mpi. */
#ifndef PESS_CLI_PROGRAM_H
#define PESS_CLI_PROGRAM_H

/* Runs the command that the arguments name; returns the exit code. */
int run_program(int argc, char **argv, int (*run)(int argc, char **argv));

#endif
