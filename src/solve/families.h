/* Families of algorithms and the strengths that are worth trying of each: what choosing chooses among, whoever does. */
#ifndef PESS_SOLVE_FAMILIES_H
#define PESS_SOLVE_FAMILIES_H

#include "core/status.h"

enum { PESS__STRENGTHS = 10 };

/* Strengths ascend; those of absorbed-alpha are in units of reward. 0 ends the grid. */
typedef struct pess__family {
    const char *algorithm, *setting; /* setting NULL: the algorithm has no strength */
    double grid[PESS__STRENGTHS];
    bool costly; /* optimises over all policies at once: seconds rather than milliseconds where states are many */
} pess__family;

const pess__family *pess__family_list(size_t index);    /* NULL past the last */
int pess__family_strengths(const pess__family *family); /* at least 1: no strength counts as one */

/* An algorithm with a strength. */
typedef struct pess__family_member {
    const char *algorithm, *setting;
    double strength; /* NAN: none */
} pess__family_member;

/* `unit` is that of rewards. */
pess__family_member pess__family_member_of(const pess__family *family, int strength, double unit);
/* The options that fit it; everything else as in `base`. */
pess_solve_options pess__family_member_options(const pess__family_member *candidate, const pess_solve_options *base);

#endif
