/* π(a|s) as a table. */
#ifndef PESS_POLICY_POLICY_H
#define PESS_POLICY_POLICY_H

#include "core/status.h"

struct pess_policy {
    int64_t states, actions;
    double *probability; /* [S*A] */
};

/* All zero. */
pess_status pess__policy_allocate(int64_t states, int64_t actions, pess_policy **out, pess_error *error);

#endif
