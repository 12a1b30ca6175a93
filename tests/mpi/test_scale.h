/* What the files of test_scale share. */
#ifndef TESTS_MPI_TEST_SCALE_H
#define TESTS_MPI_TEST_SCALE_H

#include <stdbool.h>

/* Ends all processes where it is not fine. */
void check(bool fine, const char *what, int problem, const char *detail);

/* certificates.c: counts of `alone` certified by one process, the files of `pattern` by all of them together. */
void certify_both(int problem, const char *pattern, const char *alone);

extern int promising, switching; /* certificates above the lowest value; those that recommend a switch */

#endif
