/* What the independent checkers of certificates share: they read the same files, and nothing of the library. */
#ifndef PESS_TESTS_CHECKER_H
#define PESS_TESTS_CHECKER_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

typedef long double real;

extern int S, A;
extern json_t *certificate;

/* Zeroed; the program ends where there is none. */
void *room(size_t count, size_t size);
/* state,action,probability into pi [S*A], which is zero. */
void read_policy(const char *path, real *pi);
/* A number of the certificate; what its ledger gave to `key`. */
real number(const char *key);
real share(const char *key);

#endif
