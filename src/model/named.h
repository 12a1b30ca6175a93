/* States and actions in files and messages: by name where there are names, else by number. */
#ifndef PESS_MODEL_NAMED_H
#define PESS_MODEL_NAMED_H

#include "core/outfile.h"

/* As a CSV field. */
void pess__write_id(pess__outfile *file, const pess_names *names, int64_t id);

#define PESS__ID_SIZE 64
/* For messages; long names are shortened. */
const char *pess__show_id(const pess_names *names, int64_t id, char buffer[PESS__ID_SIZE]);

/* How far `count` probabilities may be from summing to one: each may have been written with six digits. Never more than
 * 1e-4. */
double pess__sum_tolerance(int64_t count);

/* Probabilities that must sum to one: nothing is done within 1e-12, they are scaled within the tolerance, and the
 * result is false otherwise. *sum is what was found. */
bool pess__normalise(double *values, int64_t count, double *sum);

#endif
