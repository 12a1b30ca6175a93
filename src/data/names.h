/* Names of states, actions and episodes: a list in order of appearance with a hash index. */
#ifndef PESS_DATA_NAMES_H
#define PESS_DATA_NAMES_H

#include "core/status.h"

pess_status pess__names_create(pess_names **out, pess_error *error);
/* The id of the name, added at the end if it is new. `name` need not be terminated; it holds no NUL byte. */
pess_status pess__names_add(pess_names *names, const char *name, size_t length, int64_t *id, pess_error *error);
pess_status pess__names_clone(const pess_names *names, pess_names **out, pess_error *error); /* NULL gives NULL */
int64_t pess__names_find(const pess_names *names, const char *name, size_t length);          /* -1: not there */
/* Forgets all names and keeps the memory. */
void pess__names_clear(pess_names *names);
/* UTF-8 without NUL bytes: what a name has to be, as reports and JSON repeat it. */
bool pess__names_valid(const char *name, size_t length);

#endif
