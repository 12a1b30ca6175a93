/* The list of assumptions behind a result (pess_assumption). */
#ifndef PESS_CORE_ASSUMPTIONS_H
#define PESS_CORE_ASSUMPTIONS_H

#include "core/status.h"

typedef struct pess__assumptions {
    pess_assumption *list;
    int64_t count, capacity;
} pess__assumptions;

/* Adds one. {0} and {1} in the sentence stand for the values; `values` has as many as the sentence names, and may be
 * NULL where it names none. The code is borrowed. */
pess_status pess__assume(pess__assumptions *to, const char *code, const char *sentence, const double *values,
                         pess_error *error);
const pess_assumption *pess__assumption(const pess__assumptions *from, size_t index); /* NULL past the last */
void pess__assumptions_release(pess__assumptions *assumptions);

#endif
